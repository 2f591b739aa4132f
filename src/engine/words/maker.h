/* A vocabulary in the making: words are added one by one and found again at once. */
#ifndef WORDS_MAKER_H
#define WORDS_MAKER_H

#include "engine/words/words.h"

typedef struct words_maker {
    onet_words *words; /* whole after each call; its vectors need not start on a 64-byte line */
    size_t room_at, room_text, room_vectors;
} words_maker;

/* False when memory is short; maker_free may be called in any case. */
bool maker_start(words_maker *maker, int width);

/* The row of the word, which is added, with a vector of zeros, if it is new. -1 when memory is short. */
int32_t maker_add(words_maker *maker, const char *text, size_t length, bool *added);

/* The vocabulary, for the caller to free; NULL when memory is short. The maker is empty afterwards. */
onet_words *maker_finish(words_maker *maker);
void maker_free(words_maker *maker);

#endif
