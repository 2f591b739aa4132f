/* Test helper for src/engine/data: makes files from strings and checks the result of reading them; also
 * switches the locale. */
#ifndef TESTS_DATA_HELP_H
#define TESTS_DATA_HELP_H

#include <locale.h>
#include <string.h>

#include "engine/data/sets_io.h"
#include "unit.h"

/* help_path returns the path of a file in the test's own folder, which is made on first use and removed by
 * help_clean. */
static char help_folder[] = "/tmp/ordernet-test-XXXXXX";
static int help_made;

static inline const char *help_path(const char *name) {
    static char path[16][200];
    static int turn;
    if (!help_made) assert_non_null(mkdtemp(help_folder));
    help_made = 1;
    turn = (turn + 1) % 16;
    snprintf(path[turn], sizeof path[turn], "%s/%s", help_folder, name);
    return path[turn];
}

static inline int help_clean(void **state) {
    char command[300];
    snprintf(command, sizeof command, "rm -rf %s", help_folder);
    return help_made ? system(command) : 0;
}

/* Makes a locale in a folder of the test and switches to it. */
static inline void use_locale(const char *name) {
    char command[1024];
    const char *folder = help_path("locales");
    snprintf(command, sizeof command,
             "mkdir -p %s && localedef --no-archive -i %s -f UTF-8 %s/%s.UTF-8 >/dev/null 2>&1", folder, name,
             folder, name);
    int made = system(command);
    (void)made; /* localedef warns about much; setlocale tells whether there is one */
    setenv("LOCPATH", folder, 1);
    snprintf(command, sizeof command, "%s.UTF-8", name);
    if (!setlocale(LC_ALL, command))
        skip_because("no locale %s here, and localedef (package locales) cannot make it", name);
}

static inline const char *help_file_of(const char *name, const char *text, size_t length) {
    const char *path = help_path(name);
    remove(path); /* a file that is cut and written again is flushed to the disk by some file systems */
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, length, f), length);
    assert_int_equal(fclose(f), 0);
    return path;
}

static inline const char *help_file(const char *name, const char *text) {
    return help_file_of(name, text, strlen(text));
}

/* Returns the bytes of a file, followed by a NUL; the caller frees them. */
static inline char *help_bytes(const char *path, size_t *size) {
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    char *bytes = malloc(*size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, f), *size);
    bytes[*size] = 0;
    fclose(f);
    return bytes;
}

static inline char *help_content(const char *path) {
    size_t size;
    return help_bytes(path, &size);
}

/* Asserts that reading the text fails with ONET_BAD and this error message, in which FILE stands for the
 * path. */
static inline void help_refused_with(const char *name, const char *text, size_t length,
                                     const onet_read_options *options, const char *sentence) {
    const char *path = help_file_of(name, text, length);
    char expected[2000] = "";
    onet_sets *sets;
    onet_error err = {.text = ""};
    for (const char *p = sentence; *p; p++) {
        size_t used = strlen(expected);
        if (!strncmp(p, "FILE", 4)) {
            snprintf(expected + used, sizeof expected - used, "%s", path);
            p += 3;
        } else {
            expected[used] = *p;
            expected[used + 1] = 0;
        }
    }
    onet_status status = onet_sets_read(&sets, path, options, &err);
    if (status != ONET_BAD) print_error("%s: read, but should be refused: %s\n", text, sentence);
    assert_int_equal(status, ONET_BAD);
    assert_null(sets);
    char said[sizeof err + 8]; /* the error message, and the fields that it is about */
    snprintf(said, sizeof said, "%s%s%s%s", err.text, err.field[0] ? " (" : "", err.field,
             err.field[0] ? ")" : "");
    assert_string_equal(said, expected);
}

static inline void help_refused(const char *name, const char *text, const char *sentence) {
    help_refused_with(name, text, strlen(text), NULL, sentence);
}

static inline onet_sets *help_read(const char *name, const char *text, const onet_read_options *options) {
    onet_sets *sets;
    onet_error err = {.text = ""};
    onet_status status = onet_sets_read(&sets, help_file(name, text), options, &err);
    if (status) print_error("%s\n", err.text);
    assert_int_equal(status, ONET_OK);
    return sets;
}

/* Converts the text and compares the result. */
static inline void help_converts(const char *from, const char *text, const char *to, const char *expected) {
    onet_error err = {.text = ""};
    const char *out = help_path(to);
    onet_status status = onet_sets_convert(help_file(from, text), out, NULL, NULL, &err);
    if (status) print_error("%s\n", err.text);
    assert_int_equal(status, ONET_OK);
    char *got = help_content(out);
    assert_string_equal(got, expected);
    free(got);
}

#endif
