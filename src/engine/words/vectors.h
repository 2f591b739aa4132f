/* Reads word vectors as text, in the format of Stanford's GloVe: one word per line, the word and then its
 * numbers, separated by single blanks. The first line determines how many numbers there are. */
#ifndef WORDS_VECTORS_H
#define WORDS_VECTORS_H

#include "engine/base/file.h"
#include "engine/words/words.h"

/* Reads a file (.gz, .xz and "-" as well). A broken line is an error that names its number: too few or too
 * many columns, a column that is not a finite number, bytes that are not UTF-8. If a word occurs twice, the
 * first vector is used, since Stanford's own larger files have such words; *repeated counts them. A word may
 * have blanks in it, as in those files, but none of its parts after the first may be a number. The line
 * "words width" that word2vec writes first is skipped. */
onet_status vectors_read(onet_words **words, const char *path, size_t *repeated, onet_error *err);
/* As vectors_read, from an input, which it closes. */
onet_status vectors_from(onet_words **words, input *in, size_t *repeated, onet_error *err);

#endif
