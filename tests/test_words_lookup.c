/* Tests how a word is looked up in a vocabulary: exact, folded, by kind, and as unknown. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/word_form.h"
#include "engine/words/builder.h"
#include "engine/words/kind.h"
#include "ordernet_words.h"
#include "unit.h"

static onet_words *vocabulary_of(const char *const *names, size_t count) {
    words_builder builder;
    assert_true(words_builder_start(&builder, 2));
    for (size_t i = 0; i < count; i++) {
        bool added;
        assert_int_equal(words_builder_add(&builder, names[i], strlen(names[i]), &added), (int32_t)i);
        assert_true(added);
    }
    onet_words *words = words_builder_finish(&builder);
    assert_non_null(words);
    return words;
}

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void finds(void **state) {
    static const char *const names[] = {"the",          "café",          "<unk>", "@-@",   "lobster",    "do",
                                        "<kind:other>", "<kind:year>",   "t",     "'t",    "<kind:ing>", "no",
                                        "brien",        "<kind:hyphen>", "world", "straße"};
    static const struct {
        const char *text, *row;
        bool known;
    } cases[] = {
        {"the", "the", true},
        {"THE", "the", true},
        {"CAFÉ", "café", true},
        {"cafe\xCC\x81", "café", true}, /* the accent as a code point of its own */
        {"STRASSE", "<kind:other>", false},
        {"Straße", "straße", true},
        {"<unk>", "<unk>", true},
        {"<UNK>", "<unk>", true},
        {"@-@", "@-@", true},
        {"lobster's", "lobster", false},
        {"Lobster\xE2\x80\x99s", "lobster", false}, /* a typographic apostrophe */
        {"don't", "do", false},
        {"lobster.", "lobster", false},
        {"(\"Lobster\"),", "lobster", false},
        {"rock-lobster", "lobster", false},
        {"-the", "<kind:hyphen>", false},
        {"'t", "'t", true},
        {"'brien", "<kind:other>", false}, /* no row for its kind: what a tokeniser leaves is no lone word */
        {"1987", "<kind:year>", false},
        {"zumbing", "<kind:ing>", false},
        {"xyzzy", "<kind:other>", false},
        {"<kind:ing>", "<kind:other>", false}, /* a reserved name is not a word */
        {"", "<kind:other>", false},
        {"...", "<kind:other>", false},
        {"\xFF\xFE", "<kind:other>", false},
        {"\xC3", "<kind:other>", false},
    };
    onet_words *words = vocabulary_of(names, COUNT(names));
    for (size_t i = 0; i < COUNT(cases); i++) {
        bool known;
        int32_t row = words_find(words, cases[i].text, strlen(cases[i].text), &known);
        assert_in_range(row, 0, COUNT(names) - 1);
        if (strcmp(names[row], cases[i].row)) print_message("\"%s\" gave %s\n", cases[i].text, names[row]);
        assert_string_equal(names[row], cases[i].row);
        assert_int_equal(known, cases[i].known);
    }
    char *endless = malloc(100000);
    assert_non_null(endless);
    memset(endless, 'a', 100000);
    assert_string_equal(names[onet_words_find(words, endless, 100000, NULL)], "<kind:other>");
    free(endless);
    words_free(words);
}

static void falls_back(void **state) {
    static const char *const with_unk[] = {"the", "<unk>"}, *const bare[] = {"the", "a"};
    onet_words *words = vocabulary_of(with_unk, 2);
    assert_int_equal(onet_words_find(words, "xyzzy", 5, NULL), 1);
    words_free(words);
    words = vocabulary_of(bare, 2);
    assert_int_equal(onet_words_find(words, "xyzzy", 5, NULL), 0);
    words_free(words);
}

static void tells_kinds(void **state) {
    static const char *const cases[][2] = {
        {"1987", "<kind:year>"},     {"2013", "<kind:year>"},      {"3456", "<kind:number>"},
        {"12,345", "<kind:number>"}, {"$40", "<kind:number>"},     {"10:30", "<kind:number>"},
        {"154th", "<kind:ordinal>"}, {"1870s", "<kind:decade>"},   {"csi5", "<kind:code>"},
        {"x.25", "<kind:code>"},     {"→", "<kind:symbol>"},       {"×", "<kind:symbol>"},
        {"--", "<kind:symbol>"},     {"'t", "<kind:apostrophe>"},  {"e.j.h.", "<kind:initials>"},
        {"mid-", "<kind:hyphen>"},   {"стойков", "<kind:script>"}, {"公卿", "<kind:script>"},
        {"zumbing", "<kind:ing>"},   {"zing", "<kind:other>"},     {"zumbed", "<kind:ed>"},
        {"zumbly", "<kind:ly>"},     {"zumbation", "<kind:tion>"}, {"zumbist", "<kind:ist>"},
        {"zumbest", "<kind:est>"},   {"zumber", "<kind:er>"},      {"zumbal", "<kind:al>"},
        {"zumbic", "<kind:ic>"},     {"zumbian", "<kind:ian>"},    {"zumbidae", "<kind:idae>"},
        {"zumbus", "<kind:us>"},     {"zumbs", "<kind:s>"},        {"zumbass", "<kind:other>"},
        {"zumba", "<kind:a>"},       {"zumbi", "<kind:i>"},        {"żebry", "<kind:other>"},
        {"", "<kind:symbol>"},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_string_equal(kind_name(kind_of(cases[i][0], strlen(cases[i][0]))), cases[i][1]);
    for (int k = 0; k < kind_count(); k++) {
        assert_non_null(kind_name(k));
        assert_true(kind_reserved(kind_name(k), strlen(kind_name(k))));
    }
}

static void folds(void **state) {
    static const char *const cases[][2] = {
        {"ABC xyz", "abc xyz"},
        {"ÀÉ", "àé"},
        {"Σ", "σ"},
        {"Ⱥ", "ⱥ"}, /* two bytes become three */
        {"K", "k"}, /* three become one */
        {"", ""},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        size_t length = strlen(cases[i][0]), want = strlen(cases[i][1]);
        char out[64];
        assert_int_equal(word_lower(cases[i][0], length, out, word_form_room(length)), want);
        assert_memory_equal(out, cases[i][1], want);
        assert_int_equal(word_lower(cases[i][0], length, out, want), want);
        if (want) assert_int_equal(word_lower(cases[i][0], length, out, want - 1), WORD_TOO_LONG);
    }
    char out[8];
    assert_int_equal(word_lower("a\xC3(", 3, out, sizeof out), WORD_INVALID);
    assert_int_equal(word_lower("\xED\xA0\x80", 3, out, sizeof out),
                     WORD_INVALID); /* half a surrogate pair */
}

static void holds_many(void **state) {
    enum { MANY = 100000 };
    words_builder builder;
    assert_true(words_builder_start(&builder, 1));
    char name[16];
    bool added;
    for (int i = 0; i < MANY; i++) {
        int length = snprintf(name, sizeof name, "w%d", i);
        assert_int_equal(words_builder_add(&builder, name, (size_t)length, &added), i);
        builder.words->vectors[i] = (float)i;
    }
    assert_int_equal(words_builder_add(&builder, "w77", 3, &added), 77);
    assert_false(added);
    onet_words *words = words_builder_finish(&builder), *copy = words_copy(words);
    assert_non_null(copy);
    words_free(words);
    for (int i = 0; i < MANY; i++) {
        int length = snprintf(name, sizeof name, "W%d", i);
        assert_int_equal(onet_words_find(copy, name, (size_t)length, NULL), i);
        assert_true(copy->vectors[i] == (float)i);
    }
    assert_int_equal(words_exact(copy, "w100000", 7), -1);
    words_free(copy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds), cmocka_unit_test(falls_back), cmocka_unit_test(tells_kinds),
        cmocka_unit_test(folds), cmocka_unit_test(holds_many),
    };
    return cmocka_run_group_tests_name("words: look-up", tests, NULL, NULL);
}
