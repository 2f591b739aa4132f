/* Classifies unknown words by kind. A word without a row of its own gets the row of its kind, which is
 * determined by its letters and digits: a year, a word in -ing, a Latin name. The rows have reserved names,
 * so that a vocabulary alone says how unknown words are treated. */
#ifndef WORDS_KIND_H
#define WORDS_KIND_H

#include <stdbool.h>
#include <stddef.h>

/* The number of kinds, and the name of each, which its row has: "<kind:year>", ..., "<kind:other>". */
int kind_count(void);
const char *kind_name(int kind);

/* Returns the kind of a lower-case word; never fails. */
int kind_of(const char *word, size_t length);

/* Returns the kind of words that have no other kind. If its row is the only one, every unknown word gets it.
 */
int kind_other(void);

/* Whether this is a reserved name. Such text from a user is an unknown word like any other. */
bool kind_reserved(const char *word, size_t length);

#endif
