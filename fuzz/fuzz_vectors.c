/* Fuzz target: reads word vectors from any bytes. It must not crash; either there is an error, or each word
 * of the vocabulary is found at its own row. */
#include "bytes.h"
#include "engine/words/vectors.h"
#include "ordernet_words.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    bytes b = {data, size};
    onet_words *words;
    onet_error err;
    size_t repeated;
    if (vectors_from(&words, bytes_input(&b), &repeated, &err) == ONET_OK) {
        for (int32_t w = 0; w < words->count; w++) {
            const char *word = words->text + words->at[w];
            size_t length = words->at[w + 1] - words->at[w];
            if (words_exact(words, word, length) != w) abort();
            if (onet_words_find(words, word, length, NULL) >= words->count) abort();
        }
        words_free(words);
    }
    return 0;
}
