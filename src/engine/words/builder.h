/* Builds a vocabulary word by word; a word can be looked up as soon as it has been added. */
#ifndef WORDS_BUILDER_H
#define WORDS_BUILDER_H

#include "engine/words/words.h"

typedef struct words_builder {
    onet_words *words; /* valid after each call; its vectors need not start on a 64-byte line */
    size_t room_at, room_text, room_vectors;
} words_builder;

/* Returns false when memory is short; words_builder_free may be called in any case. */
bool words_builder_start(words_builder *builder, int width);

/* Returns the row of the word; a new word is added, with a vector of zeros, and *added set. -1 when memory is
 * short or there are 2^28 words. */
int32_t words_builder_add(words_builder *builder, const char *text, size_t length, bool *added);

/* Returns the vocabulary, which the caller frees, and empties the builder; NULL when memory is short. */
onet_words *words_builder_finish(words_builder *builder);
void words_builder_free(words_builder *builder);

#endif
