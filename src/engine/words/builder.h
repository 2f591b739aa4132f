/* Builds a vocabulary word by word; a word can be looked up as soon as it has been added. */
#ifndef WORDS_BUILDER_H
#define WORDS_BUILDER_H

#include "engine/words/words.h"

typedef struct words_builder {
    onet_words *words; /* whole after each call; its vectors need not start on a 64-byte line */
    size_t room_at, room_text, room_vectors;
} words_builder;

/* False when memory is short; words_builder_free may be called in any case. */
bool words_builder_start(words_builder *builder, int width);

/* The row of the word, which is added, with a vector of zeros, if it is new. -1 when memory is short. */
int32_t words_builder_add(words_builder *builder, const char *text, size_t length, bool *added);

/* The vocabulary, for the caller to free; NULL when memory is short. The builder is empty afterwards. */
onet_words *words_builder_finish(words_builder *builder);
void words_builder_free(words_builder *builder);

#endif
