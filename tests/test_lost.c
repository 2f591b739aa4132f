/* Tests that values which the features do not tell apart stay different items: texts that have no feature of
 * their own, dates finer than a double, unknown words. Through every reader, through picking, joining and
 * filling, in the measures, in the division into parts, and in the relation `equal`. */
#include <string.h>

#include "data_help.h"
#include "engine/data/divide.h"
#include "engine/data/lost.h"
#include "engine/data/relating.h"
#include "engine/data/text_value.h"
#include "engine/evaluate/measure.h"
#include "ordernet_words.h"

static const char *const known_names[] = {"x", "brand=blue", "brand=red"};

/* Returns the read options of a model that knows x and the brands blue and red. */
static onet_read_options known(onet_columns **columns) {
    onet_error err;
    assert_int_equal(onet_columns_new(columns, 3, known_names, "set", "rank", &err), ONET_OK);
    return (onet_read_options){.size = sizeof(onet_read_options), .columns = *columns};
}

/* Set 0: amber, pink, amber, red and a missing brand; set 1: pink, amber. */
static void check_brands(const onet_sets *sets) {
    assert_non_null(sets->lost);
    assert_int_equal(sets->lost->width, 1);
    assert_int_equal(sets->lost->feature[0], 1);
    assert_int_equal(sets->lost->span[0], 2);
    const uint64_t *hash = sets->lost->hash;
    assert_true(hash[0] > LOST_MISSING && hash[1] > LOST_MISSING && hash[0] != hash[1]);
    assert_true(hash[2] == hash[0] && hash[5] == hash[1] && hash[6] == hash[0]);
    assert_true(hash[3] == LOST_NOTHING && hash[4] == LOST_MISSING);
    assert_true(items_same(sets, 0, 2));
    for (size_t i = 0; i < 5; i++)
        for (size_t k = 0; k < i; k++) assert_true(items_same(sets, i, k) == (i == 2 && k == 0));
}

static const char brands_csv[] = "set,x,brand,rank\na,1,amber,0\na,1,pink,1\nb,1,pink,0\na,1,amber,2\n"
                                 "a,1,red,3\na,1,,4\nb,1,amber,1\n";
static const char brands_jsonl[] =
    "{\"items\": [{\"x\": 1, \"brand\": \"amber\"}, {\"brand\": \"pink\", \"x\": 1}, {\"x\": 1, \"brand\": "
    "\"amber\"}, {\"x\": 1, \"brand\": \"red\"}, {\"x\": 1}], \"order\": [0, 1, 2, 3, 4]}\n"
    "{\"items\": [{\"x\": 1, \"brand\": \"pink\"}, {\"x\": 1, \"brand\": \"amber\"}], \"order\": [0, 1]}\n";

/* Unseen texts and missing ones, of sets that are read for a model, whole and one by one. */
static void unseen_texts_differ(void **state) {
    (void)state;
    onet_error err;
    onet_columns *columns;
    onet_read_options o = known(&columns);
    const char *const name[] = {"a.csv", "a.jsonl"}, *const text[] = {brands_csv, brands_jsonl};
    for (int f = 0; f < 2; f++) {
        onet_sets *sets = help_read(name[f], text[f], &o), *copy, *filled, *joined, *single;
        check_brands(sets);
        assert_int_equal(sets_copy(&copy, sets, &err), ONET_OK);
        check_brands(copy);
        assert_int_equal(onet_sets_fill(&filled, sets, NULL, ONET_MISSING_INDICATOR, &err), ONET_OK);
        check_brands(filled);
        /* The second set alone, then all. */
        const uint8_t take[] = {0, 1};
        assert_int_equal(onet_sets_pick(&single, sets, take, &err), ONET_OK);
        const onet_sets *const parts[] = {single, sets};
        assert_int_equal(onet_sets_join(&joined, parts, 2, &err), ONET_OK);
        assert_true(joined->lost->hash[0] == sets->lost->hash[5]);
        assert_true(joined->lost->hash[6] == LOST_MISSING);
        assert_false(items_same(joined, 0, 1));
        assert_int_equal(onet_sets_check(joined, &err), ONET_OK);

        onet_reader *in;
        onet_record *r;
        onet_sets *each;
        int end;
        assert_int_equal(onet_reader_open(&in, help_file(name[f], text[f]), &o, &err), ONET_OK);
        assert_int_equal(onet_record_new(&r, &err), ONET_OK);
        assert_int_equal(onet_sets_new(&each, 0, &err), ONET_OK);
        while (!onet_reader_next(in, r, &end, &err) && !end)
            assert_int_equal(onet_sets_append_record(each, r, NULL, 1, &err), ONET_OK);
        check_brands(each);
        onet_record_free(r);
        onet_reader_close(in);
        onet_sets_free(each);
        onet_sets_free(sets);
        onet_sets_free(copy);
        onet_sets_free(filled);
        onet_sets_free(single);
        onet_sets_free(joined);
    }
    onet_columns_free(columns);
}

/* Of 40 texts, 32 become features; rows of a set need not be adjacent. What is lost does not change the
 * features, and sets whose texts are all features have lost nothing. */
static void rare_texts_differ(void **state) {
    (void)state;
    char csv[8192] = "set,brand,rank\n", jsonl[16384] = "";
    for (int i = 0; i < 2; i++)
        for (int s = 0; s < 40; s++) {
            size_t used = strlen(csv);
            snprintf(csv + used, sizeof csv - used, "%d,b%d,%d\n", s, (s + 20 * i) % 40, i);
        }
    for (int s = 0; s < 40; s++) {
        size_t used = strlen(jsonl);
        snprintf(jsonl + used, sizeof jsonl - used,
                 "{\"items\": [{\"brand\": \"b%d\"}, {\"brand\": \"b%d\"}], \"order\": [0, 1]}\n", s,
                 (s + 20) % 40);
    }
    onet_sets *const both[] = {help_read("r.csv", csv, NULL), help_read("r.jsonl", jsonl, NULL)};
    for (int f = 0; f < 2; f++) {
        const onet_sets *sets = both[f];
        assert_int_equal(sets->width, 32);
        size_t lost = 0;
        for (size_t i = 0; i < 80; i++) {
            float sum = 0;
            for (size_t j = 0; j < 32; j++) sum += sets->items[i * 32 + j];
            assert_true((sum > 0) == (sets->lost->hash[i] == LOST_NOTHING));
            lost += sum == 0;
        }
        assert_int_equal(lost, 16);
        for (size_t s = 0; s < 40; s++) assert_false(items_same(sets, 2 * s, 2 * s + 1));
    }
    onet_sets_free(both[0]);
    onet_sets_free(both[1]);
    onet_sets *few =
        help_read("f.csv", "set,x,brand,rank\na,1,red,0\na,2,blue,1\nb,2,red,0\nb,1,blue,1\n", NULL);
    assert_int_equal(few->width, 3);
    assert_null(few->lost);
    onet_sets_free(few);
}

static uint64_t fraction(const char *text) {
    return text_value_lost(text, strlen(text));
}

/* A double tells microseconds; other spellings of one time are equal. */
static void fine_dates_differ(void **state) {
    (void)state;
    assert_true(fraction("2024-01-01T00:00:00.123456") == LOST_NOTHING);
    assert_true(fraction("2024-01-01T00:00:00.123456000") == LOST_NOTHING);
    assert_true(fraction("2024-01-01") == LOST_NOTHING && fraction("true") == LOST_NOTHING);
    assert_true(fraction("2024-01-01T00:00:00.000000001") > LOST_MISSING);
    assert_true(fraction("2024-01-01T00:00:00.000000001") ==
                fraction("2024-01-01T01:00:00.0000000010+01:00"));
    assert_true(fraction("2024-01-01T00:00:00.000000001") != fraction("2024-01-01T00:00:00.000000002"));
    assert_true(fraction("9000-01-01T00:00:00.000001") > LOST_MISSING);
    const char csv[] =
        "set,y,when,rank\na,0,2024-01-01T00:00:00.000000001,0\na,0,2024-01-01T00:00:00.000000002,1\n"
        "b,0,2024-01-01T00:00:00,1\nb,1,2024-01-02,0\n";
    const char jsonl[] =
        "{\"items\": [{\"y\": 0, \"when\": \"2024-01-01T00:00:00.000000001\"}, {\"y\": 0, \"when\": "
        "\"2024-01-01T00:00:00.000000002\"}]}\n{\"items\": [{\"y\": 0, \"when\": \"2024-01-01\"}, {\"y\": 1, "
        "\"when\": \"2024-01-02\"}]}\n";
    const onet_read_options named = {.size = sizeof named, .features = "y,when"};
    for (int f = 0; f < 4; f++) {
        onet_sets *sets = help_read(f < 2 ? "w.csv" : "w.jsonl", f < 2 ? csv : jsonl, f % 2 ? &named : NULL);
        assert_int_equal(sets->width, 2);
        assert_non_null(sets->lost);
        assert_int_equal(sets->lost->feature[0], 1);
        assert_false(items_same(sets, 0, 1));
        assert_true(sets->lost->hash[2] == LOST_NOTHING);
        onet_sets_free(sets);
    }
}

/* Words without a row of their own share that of a kind. */
static void unknown_words_differ(void **state) {
    (void)state;
    onet_error err;
    onet_words *words;
    const char *const text[] = {"<kind:other>", "one", "two"};
    assert_int_equal(onet_words_from(&words, 3, 2, text, NULL, NULL, &err), ONET_OK);
    onet_read_options o = {.size = sizeof o, .words = words, .format = ONET_FORMAT_TEXT};
    onet_sets *sets = help_read("w.txt", "one zxqv wfrp zxqv\none two\n", &o);
    assert_int_equal(sets->word[1], sets->word[2]);
    assert_false(items_same(sets, 1, 2));
    assert_true(items_same(sets, 1, 3));
    assert_true(sets->lost->hash[0] == LOST_NOTHING && sets->lost->hash[4] == LOST_NOTHING);
    assert_int_equal(onet_sets_check(sets, &err), ONET_OK);
    onet_sets_free(sets);
    onet_words_free(words);
}

/* Sets whose texts differ are not equal, and sets of other data are found again. */
static void division_sees_texts(void **state) {
    (void)state;
    onet_error err;
    onet_columns *columns;
    onet_read_options o = known(&columns);
    onet_sets *sets = help_read("d.csv",
                                "set,x,brand,rank\na,1,amber,0\na,2,pink,1\nb,2,pink,0\nb,1,amber,1\n"
                                "c,1,pink,0\nc,2,amber,1\nd,1,red,0\nd,2,blue,1\n",
                                &o);
    onet_sets *test =
        help_read("e.csv", "set,x,brand,rank\nq,2,blue,1\nq,1,red,0\nr,2,amber,0\nr,1,amber,1\n", &o);
    size_t part[4], equal;
    assert_int_equal(onet_sets_divide(part, sets, NULL, 3, 1, &err), ONET_OK);
    assert_int_equal(part[0], part[1]);
    assert_int_not_equal(part[0], part[2]);
    assert_int_equal(sets_count_equal(&equal, sets, test, &err), ONET_OK);
    assert_int_equal(equal, 1);
    onet_sets_free(sets);
    onet_sets_free(test);
    onet_columns_free(columns);
}

/* Texts without a feature are equal if they are the same text; what is missing equals nothing. */
static void equal_compares_texts(void **state) {
    (void)state;
    static const struct {
        const char *relate;
        float from_first[4]; /* to pink, amber, red and the missing one */
        float missing;       /* between two missing ones */
    } cases[] = {
        {"equal:brand", {0, 1, 0, 0}, 0},
        {"equal:x+brand", {0, 1, 0, 0}, 0},
        {"equal:brand=blue", {1, 1, 1, 1}, 1}, /* a single feature, as before */
        {"equal:x", {1, 1, 1, 1}, 1},
    };
    onet_error err;
    onet_columns *columns;
    onet_read_options o = known(&columns);
    onet_sets *sets = help_read("q.csv",
                                "set,x,brand,rank\na,1,amber,0\na,1,pink,1\na,1,amber,2\na,1,red,3\na,1,,4\n"
                                "a,1,NA,5\n",
                                &o);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        relating *r;
        onet_sets view;
        assert_int_equal(relating_new(&r, cases[k].relate, 0, NULL, 3, columns, &err), ONET_OK);
        assert_int_equal(seen_make(&view, NULL, r, sets, 0, &err), ONET_OK);
        for (size_t j = 0; j < 4; j++) assert_true(view.pairs->value[j + 1] == cases[k].from_first[j]);
        assert_true(view.pairs->value[4 * 6 + 5] == cases[k].missing);
        seen_free(&view, sets);
        relating_free(r);
    }
    onet_sets_free(sets);
    onet_columns_free(columns);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unseen_texts_differ), cmocka_unit_test(rare_texts_differ),
        cmocka_unit_test(fine_dates_differ),   cmocka_unit_test(unknown_words_differ),
        cmocka_unit_test(division_sees_texts), cmocka_unit_test(equal_compares_texts),
    };
    return cmocka_run_group_tests(tests, NULL, help_clean);
}
