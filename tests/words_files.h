/* Small files for the tests of src/words. */
#ifndef TESTS_WORDS_FILES_H
#define TESTS_WORDS_FILES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Writes the bytes to a new file; its name is good until the next call but seven. */
static inline const char *file_with_bytes(const char *bytes, size_t length) {
    static char names[8][64];
    static int next;
    char *name = names[next++ % 8];
    snprintf(name, sizeof names[0], "/tmp/ordernet_words_XXXXXX");
    int fd = mkstemp(name);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, length), (ssize_t)length);
    close(fd);
    return name;
}

static inline const char *file_with(const char *text) {
    return file_with_bytes(text, strlen(text));
}

#endif
