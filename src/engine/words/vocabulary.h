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
 * Unknown words: ONET_UNKNOWN_KINDS gives rows to <unk> (the mean of the rare words' vectors), to WikiText's
 * @-@
 * @,@ and @.@ (the vectors of - , and .) and to each kind of word (kind.h; the mean over rare words of that
 * kind). ONET_UNKNOWN_MEAN and ONET_UNKNOWN_ZERO have one row for all of them: the mean of all vectors, or
 * zeros. */
#ifndef WORDS_VOCABULARY_H
#define WORDS_VOCABULARY_H

#include "engine/words/words.h"
#include "ordernet_words.h"

/* onet_words_choose with options whose size was checked. */
onet_status vocabulary_make(onet_words **words, const onet_words *vectors, const onet_words *seen,
                            const uint64_t *seen_times, const onet_vocabulary_options *options,
                            onet_error *err);

#endif
