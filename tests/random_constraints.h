/* Test helper: gives sets random context items and constraints, for tests of properties that hold for any
 * sets. */
#ifndef TESTS_RANDOM_CONSTRAINTS_H
#define TESTS_RANDOM_CONSTRAINTS_H

#include "engine/data/constraints.h"
#include "random_model.h"

/* Makes about a third of the items context, never all; the order is arranged as onet_sets says. */
static inline void add_context(onet_sets *sets, uint64_t seed) {
    rng r;
    onet_error err;
    rng_seed(&r, seed, 1);
    uint8_t *context = need(calloc(sets->start[sets->count], 1));
    for (size_t s = 0; s < sets->count; s++) {
        size_t first = sets->start[s], n = sets_size(sets, s), at = 0;
        int32_t *order = need(malloc(n * sizeof *order));
        for (size_t i = 0; i < n; i++) context[first + i] = !rng_below(&r, 3);
        context[first + rng_below(&r, n)] = 0;
        for (size_t t = 0; t < n; t++)
            if (!context[first + (size_t)sets->order[first + t]]) order[at++] = sets->order[first + t];
        for (size_t i = 0; i < n; i++)
            if (context[first + i]) order[at++] = (int32_t)i;
        memcpy(sets->order + first, order, n * sizeof *order);
        free(order);
    }
    assert_int_equal(onet_sets_set_context(sets, context, &err), ONET_OK);
    free(context);
}

/* Writes constraints that set s's own order satisfies to `list`; returns their number. */
static inline size_t add_constraints(const onet_sets *sets, size_t s, rng *r, onet_constraint *list) {
    size_t first = sets->start[s], placed = sets_placed(sets, s), count = 0;
    const int32_t *order = sets->order + first;
    size_t prefix = rng_below(r, 2) ? rng_below(r, placed < 3 ? placed + 1 : 3) : 0;
    for (size_t t = 0; t < prefix; t++)
        list[count++] = (onet_constraint){ONET_PLACE, first + (size_t)order[t], t};
    if (!rng_below(r, 3)) list[count++] = (onet_constraint){ONET_LAST, first + (size_t)order[placed - 1], 0};
    for (int k = (int)rng_below(r, 4); k && placed > 1; k--) {
        size_t b = 1 + rng_below(r, placed - 1), a = rng_below(r, b);
        list[count++] = (onet_constraint){ONET_BEFORE, first + (size_t)order[a], first + (size_t)order[b]};
    }
    for (int k = (int)rng_below(r, 3); k && placed > 1; k--) {
        size_t a = rng_below(r, placed - 1);
        list[count++] = (onet_constraint){ONET_NEXT, first + (size_t)order[a], first + (size_t)order[a + 1]};
    }
    return count;
}

enum { MOST = 10 }; /* constraints of a set */

static inline void constrain(onet_sets *sets, uint64_t seed) {
    rng r;
    onet_error err = {.text = ""};
    rng_seed(&r, seed, 2);
    onet_constraint *list = need(malloc(sets->count * MOST * sizeof *list));
    size_t count = 0;
    for (size_t s = 0; s < sets->count; s++) count += add_constraints(sets, s, &r, list + count);
    assert_int_equal(onet_sets_set_constraints(sets, list, count, &err), ONET_OK);
    assert_true(count > sets->count / 2);
    free(list);
}

#endif
