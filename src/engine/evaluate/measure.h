/* Measures of one set. */
#ifndef EVALUATE_MEASURE_H
#define EVALUATE_MEASURE_H

#include <stdbool.h>

#include "ordernet_measure.h"

/* Whether two items, counted over all sets, are interchangeable: equal features, or the same word. */
bool items_same(const onet_sets *sets, size_t a, size_t b);

/* Pairs of v [n] in falling order, by merge sort; v is sorted afterwards. scratch: [n]. */
double measure_inversions(int32_t *v, int32_t *scratch, size_t n);

/* What sorting set s by a score of its items, highest first, is worth on average when items of equal score
 * come in random order: exact is the probability of the right order, tau its mean. With one score for all
 * that is guessing. score: [n], by item; the scores of context items are not looked at. loglik, position and
 * neighbours are NaN. False when memory is short. */
bool measure_scores(onet_set_measure *m, const onet_sets *sets, size_t s, const double *score);

#endif
