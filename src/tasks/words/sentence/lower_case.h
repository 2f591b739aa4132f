/* The words that are written in lower case anywhere but at the start of a sentence. */
#ifndef WORDS_LOWER_CASE_H
#define WORDS_LOWER_CASE_H

#include <stdbool.h>

/* Whether a word, given in lower case, is such a word: hardly ever part of a name. */
bool lower_case_word(const char *lower);

#endif
