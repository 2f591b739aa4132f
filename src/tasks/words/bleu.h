/* BLEU of lines put back in order, over all lines together: the geometric mean of the shares of the answers'
 * runs of 1 to 4 words that stand in the right line too. An answer has the words of its line, so there is no
 * penalty for length. */
#ifndef SENTENCES_BLEU_H
#define SENTENCES_BLEU_H

#include "ordernet_measure.h"

enum { BLEU_LONGEST = 4 };

/* Of one line: runs of each length that the answer shares with the right line, and all its runs. */
typedef struct bleu_counts {
    uint32_t shared[BLEU_LONGEST], all[BLEU_LONGEST];
} bleu_counts;

/* right, answer: [n] words, as numbers. */
bleu_counts bleu_count(const int32_t *right, const int32_t *answer, int n);

/* Over each[which[k]] for k < count. The 95% interval is that of 400 draws of as many lines, always the same;
 * runs that no line is long enough for are left out. */
onet_measure bleu_measure(const bleu_counts *each, const size_t *which, size_t count);

#endif
