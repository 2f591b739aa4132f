/* Which words lose the capital that they had as the first of a sentence. */
#ifndef WORDS_COMMON_H
#define WORDS_COMMON_H

#include <stdbool.h>

/* Is this lower-case word hardly ever part of a name? */
bool common_word(const char *lower);

#endif
