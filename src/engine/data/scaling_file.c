/* Reads and writes the scaling of features or relations as tensors of a model file, and adds it to the
 * model's checksum. */
#include <math.h>
#include <stdlib.h>

#include "engine/base/error.h"
#include "engine/data/scaling.h"

enum { KIND, WITHIN, EXACT, CENTRE, COUNT, KNOTS, LEVELS };
static const char *const names[][SCALING_TENSORS] = {
    [SCALING_OF_FEATURES] = {"scaling.kind", "scaling.within", "scaling.exact", "scaling.centre",
                             "scaling.count", "scaling.knots", "scaling.levels"},
    [SCALING_OF_RELATIONS] = {"relations.kind", "relations.within", "relations.exact", "relations.centre",
                              "relations.count", "relations.knots", "relations.levels"}};

size_t scaling_tensors(const scaling *s, scaling_of of, st_tensor t[SCALING_TENSORS]) {
    if (!s) return 0;
    const void *const data[] = {s->kind, s->within, s->exact, s->centre, s->count, s->knot, s->level};
    static const st_type type[] = {ST_U8, ST_U8, ST_U8, ST_F64, ST_I32, ST_F64, ST_F64};
    for (int k = 0; k < SCALING_TENSORS; k++)
        t[k] = (st_tensor){.name = names[of][k],
                           .type = type[k],
                           .dims = 1,
                           .shape = {k < KNOTS ? (size_t)s->width : s->knots},
                           .data = data[k]};
    return s->knots ? SCALING_TENSORS : KNOTS;
}

static onet_status corrupt(const safetensors *file, scaling_of of, onet_error *err) {
    return fail(err, ONET_BAD,
                "%s: the tensors of its scaling (%s, ...) contradict each other; train the model "
                "again or use an earlier one",
                safetensors_name(file), names[of][KIND]);
}

/* Whether the values are as scaling_apply needs them. */
static bool sound(const scaling *s, int inputs) {
    size_t knots = 0;
    int count = s->width;
    for (int j = 0; j < s->width; j++) {
        bool quantiles = s->kind[j] == SCALING_QUANTILE;
        if (s->kind[j] >= SCALING_KINDS || s->within[j] > 1 || s->exact[j] > 1 || !isfinite(s->centre[j]) ||
            s->count[j] < 0 || quantiles != (s->count[j] > 0) || (size_t)s->count[j] > s->knots - knots)
            return false;
        for (int i = 0; i < s->count[j]; i++) {
            const double *knot = s->knot + knots + i, *level = s->level + knots + i;
            if (!isfinite(*knot) || !(*level >= 0 && *level <= 1) ||
                (i && !(knot[-1] < *knot && level[-1] <= *level)))
                return false;
        }
        knots += (size_t)s->count[j];
        count += s->within[j];
    }
    return knots == s->knots && count == inputs;
}

onet_status scaling_read(scaling **result, const safetensors *file, scaling_of of, int inputs,
                         onet_error *err) {
    const size_t any = SIZE_MAX;
    const char *const *name = names[of];
    const st_tensor *kind, *within, *exact, *centre, *count, *knot = NULL, *level = NULL;
    *result = NULL;
    if (!safetensors_find(file, name[KIND])) return ONET_OK;
    onet_status status = safetensors_expect(file, name[KIND], ST_U8, 1, &any, &kind, err);
    if (status) return status;
    if (kind->shape[0] < 1 || kind->shape[0] > (size_t)inputs) return corrupt(file, of, err);
    if ((status = safetensors_expect(file, name[WITHIN], ST_U8, 1, kind->shape, &within, err)) ||
        (status = safetensors_expect(file, name[EXACT], ST_U8, 1, kind->shape, &exact, err)) ||
        (status = safetensors_expect(file, name[CENTRE], ST_F64, 1, kind->shape, &centre, err)) ||
        (status = safetensors_expect(file, name[COUNT], ST_I32, 1, kind->shape, &count, err)))
        return status;
    if (safetensors_find(file, name[KNOTS]) &&
        ((status = safetensors_expect(file, name[KNOTS], ST_F64, 1, &any, &knot, err)) ||
         (status = safetensors_expect(file, name[LEVELS], ST_F64, 1, knot->shape, &level, err))))
        return status;
    scaling *s = scaling_room((int)kind->shape[0], knot ? knot->shape[0] : 0);
    if (!s) return fail_memory(err, "the scaling of the features");
    s->inputs = inputs;
    status = safetensors_load(file, kind, s->kind, err);
    if (!status) status = safetensors_load(file, within, s->within, err);
    if (!status) status = safetensors_load(file, exact, s->exact, err);
    if (!status) status = safetensors_load(file, centre, s->centre, err);
    if (!status) status = safetensors_load(file, count, s->count, err);
    if (!status && knot) status = safetensors_load(file, knot, s->knot, err);
    if (!status && knot) status = safetensors_load(file, level, s->level, err);
    if (!status && !sound(s, inputs)) status = corrupt(file, of, err);
    if (status)
        scaling_free(s);
    else
        *result = s;
    return status;
}

void scaling_sum(sha256 *sum, const scaling *s) {
    size_t w = (size_t)s->width;
    sha256_add(sum, "scaling", sizeof "scaling");
    sha256_add(sum, s->kind, w);
    sha256_add(sum, s->within, w);
    sha256_add(sum, s->exact, w);
    sha256_add(sum, s->centre, w * sizeof *s->centre);
    sha256_add(sum, s->count, w * sizeof *s->count);
    sha256_add(sum, s->knot, s->knots * sizeof *s->knot);
    sha256_add(sum, s->level, s->knots * sizeof *s->level);
}
