/* A vocabulary as two tensors of a safetensors file: words.text (U8, the words joined by newlines) and
 * words.vectors (F16 or F32, [words, width]). */
#ifndef DATA_WORDS_FILE_H
#define DATA_WORDS_FILE_H

#include "data/safetensors.h"
#include "words/words.h"

typedef struct words_file {
    onet_words *words; /* being read */
    char *text;
    size_t text_size;
    uint16_t *half;
} words_file;

/* Before safetensors_load: checks the two tensors and makes room for them. */
onet_status words_file_begin(words_file *w, const safetensors *file, onet_error *err);
/* After it: checks and gives the vocabulary, which is then the caller's. */
onet_status words_file_end(words_file *w, const safetensors *file, onet_words **words, onet_error *err);

/* The two tensors, to be written: they live as long as w and words. Half precision where it is wanted and
 * all vectors fit. */
onet_status words_file_make(words_file *w, const onet_words *words, bool half, st_tensor pair[2],
                            onet_error *err);

void words_file_free(words_file *w);

/* Do all vectors fit half precision? */
bool words_fit_half(const onet_words *words);

#endif
