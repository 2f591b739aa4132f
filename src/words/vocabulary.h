/* The choice of a vocabulary: which words get a row, and what stands for the others.
 *
 * Rows, first to last:
 *   1. what stands for unknown words, see below;
 *   2. words of the text that have a vector, the frequent ones first;
 *   3. words of the text without a vector that are frequent enough for a row of their own, which starts with
 *      the vector of their kind;
 *   4. words with a vector that the text does not have, in the order of the vectors' file;
 * cut off at `limit` rows.
 *
 * Unknown words: UNKNOWN_KINDS gives rows to <unk> (the mean of the rare words' vectors), to WikiText's @-@
 * @,@ and @.@ (the vectors of - , and .) and to each kind of word (kind.h; the mean over rare words of that
 * kind). UNKNOWN_MEAN and UNKNOWN_ZERO have one row for all of them: the mean of all vectors, or zeros. */
#ifndef WORDS_VOCABULARY_H
#define WORDS_VOCABULARY_H

#include "words/words.h"

typedef enum unknown_rows { UNKNOWN_KINDS = 0, UNKNOWN_MEAN, UNKNOWN_ZERO } unknown_rows;

const onet_choice *unknown_choices(void);

typedef struct vocabulary_options {
    unknown_rows unknown;
    int limit;      /* rows at most */
    int own_row;    /* times that a word without a vector must be seen for a row of its own; 0: never */
    int rare_until; /* a word seen this often or less is rare */
} vocabulary_options;

/* vectors: all words that have one. seen: the words of the text, seen_times[seen->count] how often each. */
onet_status vocabulary_make(onet_words **words, const onet_words *vectors, const onet_words *seen,
                            const uint64_t *seen_times, const vocabulary_options *options, onet_error *err);

#endif
