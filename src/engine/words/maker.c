/* Builds a vocabulary word by word, with its vectors. */
#include "engine/words/maker.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

enum { MOST_WORDS = 1 << 28 };

bool maker_start(words_maker *maker, int width) {
    *maker = (words_maker){.words = calloc(1, sizeof *maker->words)};
    if (!maker->words) return false;
    maker->words->width = width;
    if (!array_reserve(&maker->words->at, &maker->room_at, 1, sizeof *maker->words->at)) return false;
    maker->words->at[0] = 0;
    return words_build(maker->words);
}

int32_t maker_add(words_maker *maker, const char *text, size_t length, bool *added) {
    onet_words *words = maker->words;
    int32_t row = words_exact(words, text, length);
    *added = row < 0;
    if (row >= 0) return row;
    size_t used = words->at[words->count], width = (size_t)words->width, numbers;
    if (words->count >= MOST_WORDS || length > PTRDIFF_MAX - used) return -1;
    if (!size_mul((size_t)words->count + 1, width, &numbers)) return -1;
    if (!array_reserve(&words->at, &maker->room_at, (size_t)words->count + 2, sizeof *words->at) ||
        !array_reserve(&words->text, &maker->room_text, used + length, 1) ||
        !array_reserve(&words->vectors, &maker->room_vectors, numbers, sizeof *words->vectors))
        return -1;
    if (length) memcpy(words->text + used, text, length);
    if (width) memset(words->vectors + numbers - width, 0, width * sizeof *words->vectors);
    words->at[words->count + 1] = used + length;
    row = words->count++;
    if (words_insert(words, row)) return row;
    words->count--;
    return -1;
}

onet_words *maker_finish(words_maker *maker) {
    onet_words *words = maker->words;
    size_t numbers = (size_t)words->count * (size_t)words->width;
    float *vectors = array_new(numbers, sizeof *vectors);
    if (!vectors) return NULL;
    if (numbers) memcpy(vectors, words->vectors, numbers * sizeof *vectors);
    free(words->vectors);
    words->vectors = vectors;
    *maker = (words_maker){.words = NULL};
    return words;
}

void maker_free(words_maker *maker) {
    words_free(maker->words);
    *maker = (words_maker){.words = NULL};
}
