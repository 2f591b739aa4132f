/* Test helper: writes small temporary files for the tests of src/engine/words. */
#ifndef TESTS_WORDS_FILES_H
#define TESTS_WORDS_FILES_H

#include <string.h>

#include "unit.h"

static char words_file_names[8][64];

static inline void remove_words_files(void) {
    for (int i = 0; i < 8; i++)
        if (words_file_names[i][0]) unlink(words_file_names[i]);
}

/* Writes the bytes to a new file, which is removed by the eighth call from now or at the end of the program.
 */
static inline const char *file_with_bytes(const char *bytes, size_t length) {
    static int next;
    char *name = words_file_names[next % 8];
    if (!next++) atexit(remove_words_files);
    if (name[0]) unlink(name);
    snprintf(name, sizeof words_file_names[0], "/tmp/ordernet_words_XXXXXX");
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
