/* Defines a vocabulary (words, and one vector of features for each) and finds the row of a word. Items that
 * are words are rows of its table. */
#ifndef WORDS_WORDS_H
#define WORDS_WORDS_H

#include <stdbool.h>

#include "engine/base/limits.h"
#include "ordernet.h"

struct onet_words {
    int count, width;
    size_t *at; /* [count + 1]: word w is text[at[w]] .. text[at[w+1]-1], UTF-8, not terminated */
    char *text;
    float *vectors; /* [count, width] */
    int32_t *table; /* hash table of `slots` entries (a power of two), -1 where empty */
    size_t slots;
};

/* Builds the hash table from count, at and text; of equal words the first is found. Returns false when memory
 * is short. A vocabulary has one word at least. */
bool words_build(onet_words *words);

/* Adds the new last row to the hash table, which grows if needed; returns false when memory is short. */
bool words_insert(onet_words *words, int32_t row);

/* Returns the row with exactly this name, or -1. */
int32_t words_exact(const onet_words *words, const char *text, size_t length);

/* Returns the row of a word as the user wrote it (case and spelling are folded here). Never fails: an unknown
 * word gets the row of its kind (a number, a word in -ing, ...). *known: whether the row is the word's own.
 */
int32_t words_find(const onet_words *words, const char *text, size_t length, bool *known);

/* Whether this is the row of a kind of unknown word. */
bool words_is_kind(const onet_words *words, int32_t row);

/* Whether both have the same words in the same rows. Their vectors may differ. */
bool words_same(const onet_words *a, const onet_words *b);

onet_words *words_copy(const onet_words *words);
void words_free(onet_words *words);

#endif
