/* Test helper: turns some items of sets into context items (items that the network sees but does not
 * place). */
#ifndef TESTS_CONTEXT_HELP_H
#define TESTS_CONTEXT_HELP_H

#include <stdlib.h>
#include <string.h>

#include "engine/data/sets.h"
#include "unit.h"

/* Every `every`-th item of each set becomes context: seen, never placed. The other items keep their order.
 * Returns the same sets. */
static inline onet_sets *give_context(onet_sets *sets, size_t every) {
    onet_error err;
    size_t items = sets->start[sets->count];
    uint8_t *context = calloc(items, 1);
    int32_t *order = malloc(items * sizeof *order), *to = order;
    assert_true(context && order);
    for (size_t s = 0; s < sets->count; s++) {
        size_t from = sets->start[s], n = sets_size(sets, s);
        for (size_t i = every - 1; i < n; i += every) context[from + i] = 1;
        for (size_t t = 0; t < n; t++)
            if (!context[from + (size_t)sets->order[from + t]]) *to++ = sets->order[from + t];
        for (size_t i = 0; i < n; i++)
            if (context[from + i]) *to++ = (int32_t)i;
    }
    memcpy(sets->order, order, items * sizeof *order);
    assert_int_equal(onet_sets_set_context(sets, context, &err), ONET_OK);
    free(order);
    free(context);
    return sets;
}

#endif
