/* Kinds of unknown word. A word without a row of its own is stood for by the row of its kind: what its
 * letters and digits show of the part it plays in a sentence. The rows have reserved names, so that a
 * vocabulary alone says how unknown words are treated. */
#ifndef WORDS_KIND_H
#define WORDS_KIND_H

#include <stdbool.h>
#include <stddef.h>

/* Every kind, for making their rows: names "<kind:year>", ..., "<kind:other>". */
int kind_count(void);
const char *kind_name(int kind);

/* The kind of a lower-case word; never fails. */
int kind_of(const char *word, size_t length);

/* The kind for all that has no other: its row alone serves for every unknown word when it is the only one. */
int kind_other(void);

/* Is this a reserved name? Such text from a user is an unknown word like any other. */
bool kind_reserved(const char *word, size_t length);

#endif
