/* Applies a scaling to the features of sets: centres them or replaces them by quantiles, and adds the ranks
 * of items within their set. Also copies, compares and frees scalings. scaling_learn.c learns them,
 * scaling_file.c reads and writes them. */
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

static bool is_plain(const scaling *s) {
    for (int j = 0; j < s->width; j++)
        if (s->kind[j] != SCALING_PLAIN) return false;
    return true;
}

bool scaling_agrees(const scaling *a, const scaling *b) {
    if (!a || !b) return a == b || is_plain(a ? a : b);
    size_t w = (size_t)a->width;
    return a->width == b->width && a->knots == b->knots && !memcmp(a->kind, b->kind, w) &&
           !memcmp(a->exact, b->exact, w) && !memcmp(a->centre, b->centre, w * sizeof *a->centre) &&
           !memcmp(a->count, b->count, w * sizeof *a->count) &&
           !memcmp(a->knot, b->knot, a->knots * sizeof *a->knot) &&
           !memcmp(a->level, b->level, a->knots * sizeof *a->level);
}

bool scaling_same(const scaling *a, const scaling *b) {
    if (!a || !b) return a == b;
    return scaling_agrees(a, b) && !memcmp(a->within, b->within, (size_t)a->width);
}

/* ---- Use --------------------------------------------------------------------------------------------- */

/* Returns how far the quantile of a value lies beyond that of the training data: it goes on rising, so that
 * values stay in order, up to 0.1. */
static double beyond(double distance, double range) {
    double share = range > 0 ? distance / range : 1;
    return isfinite(share) ? 0.1 * (share / (1 + share)) : 0.1;
}

/* Returns the quantile of x, interpolated between the knots; knot, level [count], count >= 1. */
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

void scaling_values(const scaling *s, float *x) {
    size_t knot = 0;
    for (int j = 0; j < s->width; knot += (size_t)s->count[j++]) x[j] = scaled(s, j, knot, (double)x[j]);
}

static int by_value(const void *a, const void *b) {
    double x = ((const scaling_place *)a)->value, y = ((const scaling_place *)b)->value;
    return (x > y) - (x < y);
}

void scaling_ranks(scaling_place *at, size_t n, float *to, size_t step) {
    qsort(at, n, sizeof *at, by_value);
    for (size_t k = 0, end; k < n; k = end) {
        for (end = k + 1; end < n && at[end].value == at[k].value;) end++;
        double rank = n > 1 ? (double)(k + end - 1) / 2 / (double)(n - 1) : 0.5;
        for (size_t i = k; i < end; i++) to[at[i].item * step] = (float)rank;
    }
}

/* Writes the ranks of feature j of the n items from `first` on. */
static void ranks(const scaling *s, const onet_sets *sets, size_t first, size_t n, int j, scaling_place *at,
                  float *to, size_t step) {
    for (size_t i = 0; i < n; i++) at[i] = (scaling_place){scaling_value(s, sets, first + i, j), i};
    scaling_ranks(at, n, to, step);
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
    scaling_place *at = array_new(most, sizeof *at);
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
