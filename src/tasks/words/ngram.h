/* An n-gram model of ordered sets of words: what a model that only counts neighbours makes of the same lines.
 * Interpolated Kneser-Ney with one discount for each length, a start mark before each line. */
#ifndef SENTENCES_NGRAM_H
#define SENTENCES_NGRAM_H

#include "ordernet.h"

enum { NGRAM_LONGEST = 6, NGRAM_MOST_ITEMS = 10 };

typedef struct ngram ngram;

/* Counts over the right orders of the sets; length: 1 to NGRAM_LONGEST words a gram. */
onet_status ngram_train(ngram **model, const onet_sets *sets, int length, onet_error *err);
void ngram_free(ngram *model);

/* P(word | start of line, before[count]). */
double ngram_probability(const ngram *model, const int32_t *before, int count, int32_t word);

/* The most probable of all n! orders of the words, n at most NGRAM_MOST_ITEMS; of equal ones the first. */
void ngram_order(const ngram *model, const int32_t *word, int n, int32_t *order, double *logprob);
/* The same by beam search, for any n: the `beam` most probable beginnings are kept at each step. */
onet_status ngram_beam(const ngram *model, const int32_t *word, int n, int beam, int32_t *order,
                       double *logprob, onet_error *err);

#endif
