/* Word vectors from any bytes: no crash, and either an error or a vocabulary in which each word is found. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "words/vectors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    int fd = memfd_create("vectors", 0);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size) abort();
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    onet_words *words;
    onet_error err;
    size_t repeated;
    if (vectors_read(&words, path, &repeated, &err) == ONET_OK) {
        for (int32_t w = 0; w < words->count; w++) {
            const char *word = words->text + words->at[w];
            size_t length = words->at[w + 1] - words->at[w];
            if (words_exact(words, word, length) != w) abort();
            if (words_find(words, word, length) >= words->count) abort();
        }
        words_free(words);
    }
    close(fd);
    return 0;
}
