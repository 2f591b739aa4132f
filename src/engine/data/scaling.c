/* Applies a scaling to sets, and reads and writes it. */
#include "engine/data/scaling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/data/sets.h"

void scaling_free(scaling *s) {
    if (!s) return;
    free(s->kind);
    free(s->within);
    free(s->exact);
    free(s->centre);
    free(s->count);
    free(s->knot);
    free(s->level);
    free(s);
}

scaling *scaling_room(int width, size_t knots) {
    scaling *s = calloc(1, sizeof *s);
    size_t w = (size_t)width;
    if (!s) return NULL;
    s->width = width;
    s->knots = knots;
    if ((s->kind = array_new(w, 1)) && (s->within = array_new(w, 1)) && (s->exact = array_new(w, 1)) &&
        (s->centre = array_new(w, sizeof *s->centre)) && (s->count = array_new(w, sizeof *s->count)) &&
        (s->knot = array_new(knots ? knots : 1, sizeof *s->knot)) &&
        (s->level = array_new(knots ? knots : 1, sizeof *s->level)))
        return s;
    scaling_free(s);
    return NULL;
}

onet_status scaling_copy(scaling **copy, const scaling *from, onet_error *err) {
    *copy = NULL;
    if (!from) return ONET_OK;
    size_t w = (size_t)from->width;
    scaling *s = scaling_room(from->width, from->knots);
    if (!s) return fail_memory(err, "the scaling of the features");
    s->inputs = from->inputs;
    memcpy(s->kind, from->kind, w);
    memcpy(s->within, from->within, w);
    memcpy(s->exact, from->exact, w);
    memcpy(s->centre, from->centre, w * sizeof *s->centre);
    memcpy(s->count, from->count, w * sizeof *s->count);
    memcpy(s->knot, from->knot, s->knots * sizeof *s->knot);
    memcpy(s->level, from->level, s->knots * sizeof *s->level);
    *copy = s;
    return ONET_OK;
}

bool scaling_same(const scaling *a, const scaling *b) {
    if (!a || !b) return a == b;
    size_t w = (size_t)a->width;
    return a->width == b->width && a->knots == b->knots && !memcmp(a->kind, b->kind, w) &&
           !memcmp(a->within, b->within, w) && !memcmp(a->exact, b->exact, w) &&
           !memcmp(a->centre, b->centre, w * sizeof *a->centre) &&
           !memcmp(a->count, b->count, w * sizeof *a->count) &&
           !memcmp(a->knot, b->knot, a->knots * sizeof *a->knot) &&
           !memcmp(a->level, b->level, a->knots * sizeof *a->level);
}

/* ---- Use --------------------------------------------------------------------------------------------- */

/* Beyond the training data the quantile goes on rising, so that values stay in order, and ends at 0.1 more.
 */
static double beyond(double distance, double range) {
    double share = range > 0 ? distance / range : 1;
    return isfinite(share) ? 0.1 * (share / (1 + share)) : 0.1;
}

/* knot, level [count], count >= 1. */
static double quantile(const double *knot, const double *level, int count, double x) {
    int low = 0, high = count - 1;
    double range = knot[high] - knot[0];
    if (x > knot[high]) return level[high] + beyond(x - knot[high], range);
    if (x < knot[0]) return level[0] - beyond(knot[0] - x, range);
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (knot[middle] <= x)
            low = middle;
        else
            high = middle;
    }
    if (x == knot[high]) return level[high];
    if (x == knot[low]) return level[low];
    double share = (x - knot[low]) / (knot[high] - knot[low]);
    return level[low] + (level[high] - level[low]) * share;
}

static float scaled(const scaling *s, int j, size_t first, double x) {
    if (s->kind[j] == SCALING_CENTRED) return (float)(x - s->centre[j]);
    if (s->kind[j] == SCALING_QUANTILE)
        return (float)quantile(s->knot + first, s->level + first, s->count[j], x);
    return (float)x;
}

typedef struct place {
    double value;
    size_t item;
} place;

static int by_value(const void *a, const void *b) {
    double x = ((const place *)a)->value, y = ((const place *)b)->value;
    return (x > y) - (x < y);
}

/* The rank of feature j of each of the n items from `first` on, from 0 to 1, equal values alike: to every
 * `step`-th number of to. */
static void ranks(const scaling *s, const onet_sets *sets, size_t first, size_t n, int j, place *at,
                  float *to, size_t step) {
    for (size_t i = 0; i < n; i++) at[i] = (place){scaling_value(s, sets, first + i, j), i};
    qsort(at, n, sizeof *at, by_value);
    for (size_t k = 0, end; k < n; k = end) {
        for (end = k + 1; end < n && at[end].value == at[k].value;) end++;
        double rank = n > 1 ? (double)(k + end - 1) / 2 / (double)(n - 1) : 0.5;
        for (size_t i = k; i < end; i++) to[at[i].item * step] = (float)rank;
    }
}

onet_status scaling_apply(const scaling *s, const onet_sets *sets, onet_sets *view, onet_error *err) {
    size_t end = sets->start[sets->count], inputs = (size_t)s->inputs, most = 1, numbers;
    *view = *sets;
    view->items = NULL;
    view->exact = NULL;
    view->columns = NULL;
    view->width = s->inputs;
    for (size_t k = 0; k < sets->count; k++)
        if (sets_size(sets, k) > most) most = sets_size(sets, k);
    place *at = array_new(most, sizeof *at);
    if (!at || !size_mul(end, inputs * sizeof *view->items, &numbers) || !(view->items = malloc(numbers))) {
        free(at);
        return fail_memory(err, "the scaled features");
    }
    for (size_t k = 0; k < sets->count; k++) {
        size_t from = sets->start[k], n = sets_size(sets, k), knot = 0;
        float *to = view->items + from * inputs, *rank = to + s->width;
        for (int j = 0; j < s->width; j++) {
            for (size_t i = 0; i < n; i++)
                to[i * inputs + (size_t)j] = scaled(s, j, knot, scaling_value(s, sets, from + i, j));
            if (s->within[j]) ranks(s, sets, from, n, j, at, rank++, inputs);
            knot += (size_t)s->count[j];
        }
    }
    free(at);
    return ONET_OK;
}

/* ---- In a file --------------------------------------------------------------------------------------- */

size_t scaling_tensors(const scaling *s, st_tensor t[SCALING_TENSORS]) {
    if (!s) return 0;
    size_t w = (size_t)s->width, k = s->knots;
    t[0] = (st_tensor){.name = "scaling.kind", .type = ST_U8, .dims = 1, .shape = {w}, .data = s->kind};
    t[1] = (st_tensor){.name = "scaling.within", .type = ST_U8, .dims = 1, .shape = {w}, .data = s->within};
    t[2] = (st_tensor){.name = "scaling.exact", .type = ST_U8, .dims = 1, .shape = {w}, .data = s->exact};
    t[3] = (st_tensor){.name = "scaling.centre", .type = ST_F64, .dims = 1, .shape = {w}, .data = s->centre};
    t[4] = (st_tensor){.name = "scaling.count", .type = ST_I32, .dims = 1, .shape = {w}, .data = s->count};
    t[5] = (st_tensor){.name = "scaling.knots", .type = ST_F64, .dims = 1, .shape = {k}, .data = s->knot};
    t[6] = (st_tensor){.name = "scaling.levels", .type = ST_F64, .dims = 1, .shape = {k}, .data = s->level};
    return k ? 7 : 5;
}

static onet_status corrupt(const safetensors *file, onet_error *err) {
    return fail(err, ONET_BAD,
                "%s: the tensors of its scaling (scaling.kind, ...) do not go together; train the model "
                "again or use an earlier one",
                safetensors_name(file));
}

/* What scaling_apply relies on. */
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

onet_status scaling_read(scaling **result, const safetensors *file, int inputs, onet_error *err) {
    const size_t any = SIZE_MAX;
    const st_tensor *kind, *within, *exact, *centre, *count, *knot = NULL, *level = NULL;
    *result = NULL;
    if (!safetensors_find(file, "scaling.kind")) return ONET_OK;
    onet_status status = safetensors_expect(file, "scaling.kind", ST_U8, 1, &any, &kind, err);
    if (status) return status;
    if (kind->shape[0] < 1 || kind->shape[0] > (size_t)inputs) return corrupt(file, err);
    if ((status = safetensors_expect(file, "scaling.within", ST_U8, 1, kind->shape, &within, err)) ||
        (status = safetensors_expect(file, "scaling.exact", ST_U8, 1, kind->shape, &exact, err)) ||
        (status = safetensors_expect(file, "scaling.centre", ST_F64, 1, kind->shape, &centre, err)) ||
        (status = safetensors_expect(file, "scaling.count", ST_I32, 1, kind->shape, &count, err)))
        return status;
    if (safetensors_find(file, "scaling.knots") &&
        ((status = safetensors_expect(file, "scaling.knots", ST_F64, 1, &any, &knot, err)) ||
         (status = safetensors_expect(file, "scaling.levels", ST_F64, 1, knot->shape, &level, err))))
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
    if (!status && !sound(s, inputs)) status = corrupt(file, err);
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
