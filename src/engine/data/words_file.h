/* Stores a vocabulary as two tensors of a safetensors file: words.text (U8, the words joined by newlines) and
 * words.vectors (F16 or F32, [words, width]). */
#ifndef DATA_WORDS_FILE_H
#define DATA_WORDS_FILE_H

#include "engine/data/safetensors.h"
#include "engine/words/words.h"

/* Checks and reads the two tensors. */
onet_status words_file_read(onet_words **words, const safetensors *file, onet_error *err);

/* The two tensors to write, valid as long as this struct and words. */
typedef struct words_tensors {
    st_tensor tensor[2];
    char *text;
    uint16_t *half;
} words_tensors;

/* Makes the tensors; vectors are in half precision if `half` is set and all of them fit. */
onet_status words_tensors_make(words_tensors *w, const onet_words *words, bool half, onet_error *err);
void words_tensors_free(words_tensors *w);

/* Whether all vectors are within the range of half precision. */
bool words_fit_half(const onet_words *words);

#endif
