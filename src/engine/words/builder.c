/* Builds a vocabulary word by word (builder.h). */
#include "engine/words/builder.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

enum { MOST_WORDS = 1 << 28 };

bool words_builder_start(words_builder *builder, int width) {
    *builder = (words_builder){.words = calloc(1, sizeof *builder->words)};
    if (!builder->words) return false;
    builder->words->width = width;
    if (!array_reserve(&builder->words->at, &builder->room_at, 1, sizeof *builder->words->at)) return false;
    builder->words->at[0] = 0;
    return words_build(builder->words);
}

int32_t words_builder_add(words_builder *builder, const char *text, size_t length, bool *added) {
    onet_words *words = builder->words;
    int32_t row = words_exact(words, text, length);
    *added = row < 0;
    if (row >= 0) return row;
    size_t used = words->at[words->count], width = (size_t)words->width, numbers;
    if (words->count >= MOST_WORDS || length > PTRDIFF_MAX - used) return -1;
    if (!size_mul((size_t)words->count + 1, width, &numbers)) return -1;
    if (!array_reserve(&words->at, &builder->room_at, (size_t)words->count + 2, sizeof *words->at) ||
        !array_reserve(&words->text, &builder->room_text, used + length, 1) ||
        !array_reserve(&words->vectors, &builder->room_vectors, numbers, sizeof *words->vectors))
        return -1;
    if (length) memcpy(words->text + used, text, length);
    if (width) memset(words->vectors + numbers - width, 0, width * sizeof *words->vectors);
    words->at[words->count + 1] = used + length;
    row = words->count++;
    if (words_insert(words, row)) return row;
    words->count--;
    return -1;
}

onet_words *words_builder_finish(words_builder *builder) {
    onet_words *words = builder->words;
    size_t numbers = (size_t)words->count * (size_t)words->width;
    float *vectors = array_new(numbers, sizeof *vectors);
    if (!vectors) return NULL;
    if (numbers) memcpy(vectors, words->vectors, numbers * sizeof *vectors);
    free(words->vectors);
    words->vectors = vectors;
    *builder = (words_builder){.words = NULL};
    return words;
}

void words_builder_free(words_builder *builder) {
    words_free(builder->words);
    *builder = (words_builder){.words = NULL};
}
