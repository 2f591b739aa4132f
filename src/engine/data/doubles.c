/* Decides for which features float32 loses too much precision, and drops the double values of sets where none
 * does (doubles.h). */
#include "engine/data/doubles.h"

#include <math.h>
#include <stdlib.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/number.h"
#include "engine/data/sets.h"

/* Rounding errors above this share of the deviation blur a feature. */
#define BLURRED (1.0 / 65536)

bool float_blurs(const onet_sets *sets, size_t j) {
    size_t first = sets->start[0], end = sets->start[sets->count];
    double error = 0, mean = 0, square = 0, items = (double)(end - first);
    if (!sets->exact) return false;
    for (size_t i = first; i < end; i++) {
        double x = sets_value(sets, i, j);
        error = fmax(error, fabs(x - (double)(float)x)); /* fmax ignores NaN, a missing value */
    }
    if (error <= 0) return false;
    for (size_t i = first; i < end; i++) {
        double x = sets_value(sets, i, j);
        mean += isnan(x) ? 0 : x;
    }
    mean /= items;
    for (size_t i = first; i < end; i++) {
        double off = sets_value(sets, i, j) - mean;
        square += isnan(off) ? 0 : off * off;
    }
    return error > sqrt(square / items) * BLURRED;
}

bool float_collides(const onet_sets *sets, size_t j, double *scratch) {
    for (size_t s = 0; sets->exact && s < sets->count; s++) {
        size_t n = 0;
        for (size_t i = sets->start[s]; i < sets->start[s + 1]; i++) {
            double x = sets_value(sets, i, j);
            if (!isnan(x)) scratch[n++] = x;
        }
        qsort(scratch, n, sizeof *scratch, number_ascending);
        for (size_t i = 1; i < n; i++)
            if (scratch[i] != scratch[i - 1] && (float)scratch[i] == (float)scratch[i - 1]) return true;
    }
    return false;
}

/* Returns the number of items of the largest set. */
static size_t largest(const onet_sets *sets) {
    size_t most = 1;
    for (size_t s = 0; s < sets->count; s++)
        if (sets_size(sets, s) > most) most = sets_size(sets, s);
    return most;
}

onet_status doubles_settle(onet_sets *sets, onet_error *err) {
    if (!sets->exact) return ONET_OK;
    double *scratch = array_new(largest(sets), sizeof *scratch);
    if (!scratch) return fail_memory(err, "checking the features");
    bool needed = false;
    for (size_t j = 0; j < (size_t)sets->width && !needed; j++)
        needed = float_blurs(sets, j) || float_collides(sets, j, scratch);
    free(scratch);
    if (needed) return ONET_OK;
    free(sets->exact);
    sets->exact = NULL;
    sets_taken(sets);
    return ONET_OK;
}
