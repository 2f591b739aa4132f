/* Computes the mean and scale of features and relations and the deviations for the noise of --jitter, and
 * draws the initial parameters (initial.h). */
#include "engine/train/initial.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/rng.h"
#include "engine/data/scaling.h"
#include "engine/data/sets.h"
#include "ordernet_train.h"

/* Computes the mean and standard deviation of each feature over all items, [width] each, which must be zeros.
 */
static void moments(const onet_sets *sets, double *mean, double *deviation) {
    size_t d = (size_t)sets->width, items = sets->start[sets->count];
    for (size_t i = 0; i < items; i++) {
        const float *x = sets_item(sets, i);
        for (size_t c = 0; c < d; c++) mean[c] += (double)x[c];
    }
    for (size_t c = 0; c < d; c++) mean[c] /= (double)items;
    for (size_t i = 0; i < items; i++) {
        const float *x = sets_item(sets, i);
        for (size_t c = 0; c < d; c++) deviation[c] += ((double)x[c] - mean[c]) * ((double)x[c] - mean[c]);
    }
    for (size_t c = 0; c < d; c++) deviation[c] = sqrt(deviation[c] / (double)items);
}

onet_status initial_scale(onet_model *model, const onet_sets *sets, const onet_feature *feature,
                          onet_error *err) {
    size_t d = (size_t)sets->width;
    double *mean = array_new(2 * d, sizeof *mean), *deviation = mean + d;
    if (!mean) return fail_memory(err, "the features' statistics");
    moments(sets, mean, deviation);
    for (size_t c = 0; c < d; c++) {
        if (feature && c < (size_t)model_width(model) && feature[c].scale == ONET_SCALE_NONE) continue;
        /* Equal values may have a mean that is rounded; a deviation of denormals an infinite inverse. */
        bool varies = deviation[c] > 1e-12 * fabs(mean[c]);
        model->mean[c] = (float)mean[c];
        model->scale[c] = varies ? (float)fmin(1 / deviation[c], FLT_MAX) : 1;
    }
    free(mean);
    return ONET_OK;
}

onet_status initial_relations(onet_model *model, const onet_sets *sets, const char *names, const char *scale,
                              onet_error *err) {
    size_t R = (size_t)sets_relations(sets);
    onet_scale wish[MAX_RELATIONS];
    onet_status status = R ? scaling_parse_relations(scale, names, wish, err) : ONET_OK;
    if (status) return status;
    for (size_t r = 0; r < R; r++) {
        if (wish[r] == ONET_SCALE_NONE) continue;
        /* sum[0]: of the values; sum[1]: of their squared deviations from the mean */
        double sum[2] = {0}, mean = 0, count = 0;
        for (int squares = 0; squares < 2; squares++) {
            count = 0;
            for (size_t s = 0; s < sets->count; s++)
                for (size_t i = 0, n = sets_size(sets, s); i < n; i++) {
                    const float *e = sets_pairs(sets, sets->start[s] + i);
                    for (size_t j = 0; j < n; j++) {
                        double x = (double)e[j * R + r] - mean;
                        if (i != j) sum[squares] += squares ? x * x : x;
                        count += i != j;
                    }
                }
            if (count > 0) mean = sum[0] / count;
        }
        double deviation = count > 0 ? sqrt(sum[1] / count) : 0;
        size_t at = (size_t)model->sh.s.width + r;
        model->mean[at] = (float)mean;
        model->scale[at] = deviation > 1e-12 * fabs(mean) ? (float)fmin(1 / deviation, FLT_MAX) : 1;
    }
    return ONET_OK;
}

/* Whether feature c has more than two values. */
static bool many_values(const onet_sets *sets, size_t c) {
    float one = sets_item(sets, 0)[c], other = one;
    for (size_t i = 1; i < sets->start[sets->count]; i++) {
        float x = sets_item(sets, i)[c];
        if (x == one || x == other) continue;
        if (other != one) return true;
        other = x;
    }
    return false;
}

onet_status feature_spread(const onet_sets *sets, float *spread, onet_error *err) {
    size_t d = (size_t)sets->width;
    double *mean = array_new(2 * d, sizeof *mean), *deviation = mean + d;
    if (!mean) return fail_memory(err, "the features' statistics");
    moments(sets, mean, deviation);
    for (size_t c = 0; c < d; c++) spread[c] = many_values(sets, c) ? (float)deviation[c] : 0;
    free(mean);
    return ONET_OK;
}

void initial_parameters(const net_shape *sh, uint64_t seed, float *theta) {
    double bound = 1;
    for (int k = 0; k < sh->tensors; k++) {
        const tensor *t = &sh->tensor[k];
        float *to = theta + t->offset;
        rng r;
        rng_seed(&r, seed, UINT64_C(0x696e697400000000) + (uint64_t)k);
        if (strstr(t->name, "norm")) {
            int one = strstr(t->name, ".weight") || strstr(t->name, "running_var");
            for (size_t i = 0; i < t->size; i++) to[i] = one ? 1 : 0;
            continue;
        }
        /* A bias has the fan-in of the weight before it. */
        if (t->dims > 1)
            bound = 1 / sqrt((double)t->shape[1] * (t->dims > 2 ? t->shape[2] : 1));
        else if (!strcmp(t->name, "decoder.start"))
            bound = 1 / sqrt((double)t->shape[0]);
        for (size_t i = 0; i < t->size; i++) to[i] = (float)((2 * rng_uniform(&r) - 1) * bound);
    }
}
