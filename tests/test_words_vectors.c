/* Tests reading word vectors as text: the forms that several programs write, compressed files, numbers equal
 * to those of the C library, and malformed lines, refused with the line's number. */
#include <locale.h>
#include <math.h>
#include <stdio.h>

#include "engine/base/file.h"
#include "engine/words/vectors.h"
#include "ordernet_words.h"
#include "unit.h"
#include "words_files.h"

static onet_words *read_good(const char *path, size_t *repeated) {
    onet_words *words;
    onet_error err = {.text = ""};
    onet_status status = vectors_read(&words, path, repeated, &err);
    if (status) print_message("%s\n", err.text);
    assert_int_equal(status, ONET_OK);
    unlink(path);
    return words;
}

static void reads(void **state) {
    setlocale(LC_ALL, ""); /* whatever the user's decimal point is */
    size_t repeated;
    onet_words *w = read_good(file_with("the 0.418 -1e-3 +2\n, 0.013441 .5 7.\ncafé 1 2 3\n"), &repeated);
    static const float want[] = {0.418f, -1e-3f, 2, 0.013441f, 0.5f, 7, 1, 2, 3};
    assert_int_equal(w->count, 3);
    assert_int_equal(w->width, 3);
    assert_int_equal(repeated, 0);
    for (int i = 0; i < 9; i++) assert_true(w->vectors[i] == want[i]);
    assert_int_equal(onet_words_find(w, "CAFÉ", 5, NULL), 2);
    words_free(w);
}

static void reads_other_makers(void **state) {
    size_t repeated;
    onet_words *w = read_good(file_with("2 3\r\na 1 2 3\r\nb 4 5 6\r\n"), &repeated); /* word2vec's header */
    assert_int_equal(w->count, 2);
    assert_true(w->vectors[5] == 6);
    words_free(w);
    w = read_good(file_with("a 1 2 3 \nb 4 5 6 \n"), &repeated); /* fastText's blank at the end */
    assert_int_equal(w->width, 3);
    words_free(w);
    w = read_good(file_with("a 1 2\n. . . 3 4\na 5 6\n"), &repeated); /* as in Stanford's largest file */
    assert_int_equal(w->count, 2);
    assert_int_equal(repeated, 1);
    assert_int_equal(words_exact(w, ". . .", 5), 1);
    assert_true(w->vectors[0] == 1 && w->vectors[2] == 3);
    words_free(w);
    w = read_good(file_with("5 6\na 1 2 3 4 5 6"), &repeated); /* no newline at the end */
    assert_int_equal(w->width, 6);
    words_free(w);
}

static void reads_compressed(void **state) {
    char path[80];
    const char *plain = file_with("");
    snprintf(path, sizeof path, "%s.gz", plain);
    output *out;
    assert_int_equal(output_open(&out, path, NULL), ONET_OK);
    output_put(out, "a 1 2\nb 3 4\n");
    assert_int_equal(output_commit(out, NULL), ONET_OK);
    size_t repeated;
    onet_words *w = read_good(path, &repeated);
    assert_int_equal(w->count, 2);
    words_free(w);
}

/* The numbers of the fast path are those of the C library. */
static void numbers_are_exact(void **state) {
    enum { MANY = 3000 };
    char *text = malloc(MANY * 40);
    size_t used = 0;
    unsigned seed = 7;
    assert_non_null(text);
    for (int i = 0; i < MANY; i++) {
        seed = seed * 1103515245u + 12345u;
        int digits = 1 + (int)(seed >> 16) % 12;
        used += (size_t)sprintf(text + used, "w%d %.*g\n", i, digits,
                                ((double)(seed >> 8) / 8388608 - 1) * pow(10, (int)(seed >> 20) % 12 - 6));
    }
    size_t repeated;
    onet_words *w = read_good(file_with_bytes(text, used), &repeated);
    const char *line = text;
    for (int i = 0; i < MANY; i++) {
        const char *number = strchr(line, ' ') + 1;
        assert_true(w->vectors[i] == strtof(number, NULL));
        line = strchr(line, '\n') + 1;
    }
    words_free(w);
    free(text);
}

static void names_broken_lines(void **state) {
    static const struct {
        const char *text, *says; /* text that the error message contains */
        onet_status status;
    } cases[] = {
        {"", "no word vectors", ONET_BAD},
        {"2 3\n", "no word vectors", ONET_BAD},
        {"\n", ":1: ", ONET_BAD},
        {"word\n", ":1: ", ONET_BAD},
        {"a 1 2\nb 1\n", ":2: 2 columns instead of 3", ONET_BAD},
        {"a 1 2\nb 1 2 3\n", ":2: 4 columns instead of 3", ONET_BAD},
        {"a 1 2\n\nb 1 2\n", ":2: 1 columns instead of 3", ONET_BAD},
        {"a 1 2\nb 1 x\n", ":2: column 3, \"x\"", ONET_BAD},
        {"a 1 2\nb 1 2x\n", ":2: column 3, \"2x\"", ONET_BAD},
        {"a 1 2\nb 1 nan\n", ":2: column 3, \"nan\"", ONET_BAD},
        {"a 1 2\nb inf 1\n", ":2: column 2, \"inf\"", ONET_BAD},
        {"a 1 2\nb 1e999 1\n", ":2: column 2, \"1e999\"", ONET_BAD},
        {"a 1 2\nb 1e39 1\n", ":2: column 2, \"1e39\"", ONET_BAD},
        {"a 1 2\nb  2\n", ":2: column 2 is empty", ONET_BAD},
        {"a 1 2\n 1 2\n", ":2: there is no word", ONET_BAD},
        {"a 1 2\n\xC3( 1 2\n", ":2: the word is not UTF-8", ONET_BAD},
        {"2 99999\na 1\n", ":1: ", ONET_BAD},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = file_with(cases[i].text);
        onet_words *words;
        onet_error err = {.text = ""};
        size_t repeated;
        assert_int_equal(vectors_read(&words, path, &repeated, &err), cases[i].status);
        assert_null(words);
        if (!strstr(err.text, cases[i].says)) print_message("%zu: %s\n", i, err.text);
        assert_non_null(strstr(err.text, cases[i].says));
        assert_non_null(strstr(err.text, path));
        unlink(path);
    }
    onet_words *words;
    onet_error err;
    size_t repeated;
    assert_int_equal(vectors_read(&words, "/nowhere/at/all", &repeated, &err), ONET_IO);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads),
        cmocka_unit_test(reads_other_makers),
        cmocka_unit_test(reads_compressed),
        cmocka_unit_test(numbers_are_exact),
        cmocka_unit_test(names_broken_lines),
    };
    return cmocka_run_group_tests_name("words: vectors", tests, NULL, NULL);
}
