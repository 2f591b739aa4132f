/* Test helper for training by several ranks: makes sets of numbers with their ascending order (as words, each
 * number is a row of a vocabulary of 40), reverses their orders, and measures how far two models' parameters
 * are apart. */
#ifndef TESTS_NUMBER_SETS_H
#define TESTS_NUMBER_SETS_H

#include <math.h>

#include "engine/base/rng.h"
#include "engine/data/sets.h"
#include "engine/words/builder.h"

enum { NUMBER_WORDS = 40 };

/* order [n]: the items 0 .. n-1 by key[i * stride], the smallest first. */
static inline void order_by(int32_t *order, int n, const float *key, int stride) {
    for (int i = 0; i < n; i++) {
        int at = i;
        for (; at > 0 && key[order[at - 1] * stride] > key[i * stride]; at--) order[at] = order[at - 1];
        order[at] = i;
    }
}

/* Reverses the orders: the better a model of the sets, the less likely are these. */
static inline onet_sets *turn_orders(onet_sets *sets) {
    for (size_t s = 0; s < sets->count; s++)
        for (size_t a = sets->start[s], b = sets->start[s + 1] - 1; a < b; a++, b--) {
            int32_t swap = sets->order[a];
            sets->order[a] = sets->order[b];
            sets->order[b] = swap;
        }
    return sets;
}

static inline onet_words *number_words(void) {
    words_builder builder;
    bool added;
    if (!words_builder_start(&builder, 1)) return NULL;
    for (int i = 0; i < NUMBER_WORDS; i++) {
        char text[] = {(char)('a' + i / 8), (char)('a' + i % 8)};
        if (words_builder_add(&builder, text, sizeof text, &added) != i) return NULL;
    }
    onet_words *words = words_builder_finish(&builder);
    for (int i = 0; words && i < NUMBER_WORDS; i++) words->vectors[i] = (float)i / NUMBER_WORDS;
    return words;
}

/* Returns NULL when memory runs out. */
static inline onet_sets *number_sets(int count, int as_words, uint64_t seed) {
    onet_sets *sets;
    onet_error err;
    rng r;
    rng_seed(&r, seed, 0);
    if (sets_new(&sets, 1, &err)) return NULL;
    if (as_words && !(sets->words = number_words())) return NULL;
    for (int s = 0; s < count; s++) {
        int32_t word[9], order[9];
        float item[9];
        int n = 3 + (int)rng_below(&r, 7);
        for (int i = 0; i < n; i++) {
            word[i] = (int32_t)rng_below(&r, NUMBER_WORDS);
            item[i] = (float)word[i] / NUMBER_WORDS;
        }
        order_by(order, n, item, 1);
        if (as_words ? sets_append_words(sets, (size_t)n, word, order, &err)
                     : sets_append(sets, (size_t)n, 1, item, order, &err))
            return NULL;
    }
    return sets;
}

/* Returns the mean difference of two models' numbers, relative to the mean of a. */
static inline double relative_difference(const float *a, const float *b, size_t count) {
    double apart = 0, size = 0;
    for (size_t i = 0; i < count; i++) {
        apart += fabs((double)a[i] - (double)b[i]);
        size += fabs((double)a[i]);
    }
    return apart / size;
}

#endif
