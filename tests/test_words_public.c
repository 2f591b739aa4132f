/* Tests vocabularies through ordernet.h: made from arrays and from a file of vectors, looked up, refused;
 * shared by several sets; and sets whose items are words. */
#include "ordernet_io.h"
#include "ordernet_words.h"
#include "unit.h"
#include "words_files.h"

static onet_error err;

static void made_of_arrays(void **state) {
    const char *const text[] = {"red", "bluegreen", "caf\xC3\xA9"};
    const size_t length[] = {3, 4, 5};
    const float vectors[] = {1, 2, 3, 4, 5, 6};
    onet_words *words;
    assert_int_equal(onet_words_from(&words, 3, 2, text, length, vectors, &err), ONET_OK);
    assert_int_equal(onet_words_count(words), 3);
    assert_int_equal(onet_words_width(words), 2);
    size_t bytes;
    assert_memory_equal(onet_words_text(words, 1, &bytes), "blue", 4);
    assert_int_equal(bytes, 4);
    assert_true(onet_words_vector(words, 2)[1] == 6);
    assert_null(onet_words_text(words, 3, &bytes));
    assert_null(onet_words_vector(words, -1));
    int known;
    assert_int_equal(onet_words_find(words, "BLUE", 4, &known), 1);
    assert_true(known);
    assert_int_equal(onet_words_find(words, "pink", 4, &known), 0); /* there is no row for its kind */
    assert_false(known);
    assert_int_equal(onet_words_exact(words, "BLUE", 4), -1);
    onet_words *copy;
    assert_int_equal(onet_words_copy(&copy, words, &err), ONET_OK);
    onet_words_free(words);
    assert_int_equal(onet_words_exact(copy, "blue", 4), 1);
    onet_words_free(copy);
    onet_words_free(NULL);
}

static void arrays_refused(void **state) {
    const char *const twice[] = {"a", "b", "a"}, *const broken[] = {"a", "\xE9"};
    onet_words *words;
    assert_int_equal(onet_words_from(&words, 3, 1, twice, NULL, NULL, &err), ONET_BAD);
    assert_string_equal(err.text, "word 2, \"a\", is there twice");
    assert_null(words);
    assert_int_equal(onet_words_from(&words, 2, 1, broken, NULL, NULL, &err), ONET_BAD);
    assert_string_equal(err.text, "word 1 is not UTF-8");
    assert_int_equal(onet_words_from(&words, 0, 1, twice, NULL, NULL, &err), ONET_USAGE);
    assert_int_equal(onet_words_from(&words, 1, 0, twice, NULL, NULL, &err), ONET_USAGE);
}

static void read_from_a_file(void **state) {
    onet_words *words;
    const char *path = file_with("the 1 0\nrunning 4 8\n");
    assert_int_equal(onet_words_read(&words, path, &err), ONET_OK);
    int known;
    int32_t row = onet_words_find(words, "The", 3, &known);
    assert_true(known && onet_words_vector(words, row)[0] == 1);
    assert_int_not_equal(onet_words_find(words, "jumping", 7, &known), row); /* the row of words in -ing */
    assert_false(known);
    onet_words_free(words);
    assert_int_equal(onet_words_read(&words, "no/such/file", &err), ONET_IO);
    assert_null(words);
    size_t repeated;
    assert_int_equal(onet_vectors_read(&words, file_with("a 1\nb 2\na 3\n"), &repeated, &err), ONET_OK);
    assert_int_equal(repeated, 1);
    assert_int_equal(onet_words_count(words), 2);
    onet_vocabulary_options options;
    onet_vocabulary_defaults(&options, sizeof options);
    options.unknown = (onet_unknown)7;
    const uint64_t times[] = {1, 1};
    onet_words *chosen;
    assert_int_equal(onet_words_choose(&chosen, words, words, times, &options, &err), ONET_USAGE);
    options.unknown = ONET_UNKNOWN_ZERO;
    assert_int_equal(onet_words_choose(&chosen, words, words, times, &options, &err), ONET_OK);
    assert_int_equal(onet_words_count(chosen), 3); /* one row for all unknown words */
    onet_words_free(chosen);
    onet_words_free(words);
}

/* Two sets share a vocabulary, which outlives both. */
static void lent_words(void **state) {
    const char *const text[] = {"a", "b"};
    const int32_t rows[] = {1, 0};
    onet_words *words;
    assert_int_equal(onet_words_from(&words, 2, 4, text, NULL, NULL, &err), ONET_OK);
    const onet_words *shown = words;
    for (int i = 0; i < 2; i++) {
        onet_sets *sets;
        assert_int_equal(onet_sets_new(&sets, 0, &err), ONET_OK);
        onet_sets_lend_words(sets, shown);
        assert_int_equal(onet_sets_append_words(sets, 2, rows, NULL, &err), ONET_OK);
        assert_int_equal(onet_sets_check(sets, &err), ONET_OK);
        onet_sets_free(sets);
    }
    assert_int_equal(onet_words_exact(words, "b", 1), 1);
    onet_words_free(words);
}

static void sets_of_words(void **state) {
    const char *const text[] = {"a", "b"};
    onet_sets *sets;
    onet_words *words;
    const int32_t rows[] = {1, 0, 1}, order[] = {2, 0, 1};
    assert_int_equal(onet_sets_new(&sets, 0, &err), ONET_OK);
    assert_int_equal(onet_sets_append_words(sets, 3, rows, order, &err), ONET_USAGE);
    assert_int_equal(onet_words_from(&words, 2, 4, text, NULL, NULL, &err), ONET_OK);
    sets->words = words;
    assert_int_equal(onet_sets_append_words(sets, 3, rows, order, &err), ONET_OK);
    assert_int_equal(onet_sets_append_words(sets, 0, rows, order, &err), ONET_BAD);
    assert_int_equal(sets->width, 4);
    onet_record *record;
    assert_int_equal(onet_record_new(&record, &err), ONET_OK);
    assert_int_equal(onet_sets_record(sets, 0, record, &err), ONET_OK);
    assert_int_equal(onet_record_size(record), 3);
    assert_int_equal(onet_record_width(record), 0);
    assert_null(onet_record_values(record));
    assert_string_equal(onet_record_word(record, 0), "b");
    assert_null(onet_record_word(record, 3));
    assert_int_equal(onet_record_order(record)[0], 2);
    assert_int_equal(onet_sets_record(sets, 1, record, &err), ONET_USAGE);
    onet_record_free(record);
    onet_sets_free(sets);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(made_of_arrays),   cmocka_unit_test(arrays_refused),
        cmocka_unit_test(read_from_a_file), cmocka_unit_test(lent_words),
        cmocka_unit_test(sets_of_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
