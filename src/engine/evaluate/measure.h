/* Declares what the files of this folder share: whether items are equal, the inversions of an order, the
 * expected measures of sorting by a score, calibration, and means over sets of which some are equal. */
#ifndef EVALUATE_MEASURE_H
#define EVALUATE_MEASURE_H

#include <stdbool.h>

#include "ordernet_measure.h"

/* Whether two items, counted over all sets, are interchangeable: their features or words are equal, in the
 * data too (lost.h), and the sets have no relations. */
bool items_same(const onet_sets *sets, size_t a, size_t b);

/* onet_measure_mean of sets of which some are equal: the means are over all, the intervals those of own *
 * count different sets. */
void measure_mean(onet_report *report, const onet_set_measure *each, const size_t *which, size_t count,
                  double own);

/* The part of measure_mean for the probabilities of the answers (calibration.c). */
void measure_calibration(onet_report *report, const onet_set_measure *each, const size_t *which, size_t count,
                         double own);

/* Makes the report of these measures of the sets, with equal sets counted as one in the intervals. */
onet_status measure_distinct(onet_report *report, const onet_set_measure *each, const onet_sets *sets,
                             onet_error *err);

/* Returns the number of pairs of v [n] in falling order, by merge sort; v is sorted afterwards. scratch: [n].
 */
double measure_inversions(int32_t *v, int32_t *scratch, size_t n);

/* Computes the expected measures of sorting set s by a score of its items, highest first, with items of equal
 * score in random order: exact is the probability of the right order, tau its mean. The same score for all
 * items is guessing. score: [n], by item; those of context items are ignored. loglik, probability, position
 * and neighbours are NaN. False when memory is short. */
bool measure_scores(onet_set_measure *m, const onet_sets *sets, size_t s, const double *score);

#endif
