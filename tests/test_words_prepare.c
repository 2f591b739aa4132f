/* Tests making sets from text: which lines are kept, how windows are cut, which words get rows of the
 * vocabulary, and that the right order is that of the text. */
#include <stdio.h>

#include "data_help.h"
#include "engine/words/kind.h"
#include "engine/words/words.h"
#include "ordernet_words.h"
#include "tasks/words/prepare.h"
#include "unit.h"
#include "words_files.h"

static const char raw[] =
    " \n = Lobsters = \n \n The Lobster is BLUE and red . \n = = Habitat = = \n"
    " It lives \n The lobster lives @-@ zumbing 1987 <unk> \n\n = is not a header , only odd\n";
static const char vectors[] =
    "the 1 0\nlobster 0 1\nis 2 2\nblue 3 0\nlives 0 3\nit 5 5\n- 7 7\nrunning 4 8\n"
    "unseen 9 9\nand 1 1\n";

static prepare_options of_files(void) {
    prepare_options o;
    prepare_defaults(&o);
    o.text = file_with(raw);
    o.vectors = file_with(vectors);
    o.keep_words = true;
    return o;
}

static void keeps_lines(void **state) {
    prepare_options o;
    prepare_defaults(&o);
    o.text = file_with(raw);
    o.first = 4;
    o.lines = file_with("");
    prepared made;
    assert_int_equal(prepare_words(&made, &o, NULL), ONET_OK);
    assert_null(made.sets);
    char *text = help_content(o.lines);
    assert_string_equal(text, "the lobster is blue\nthe lobster lives @-@\n= is not a\n");
    free(text);
    assert_int_equal(made.report.read, 9);
    assert_int_equal(made.report.blank, 3);
    assert_int_equal(made.report.headers, 2);
    assert_int_equal(made.report.shorter, 1);
    assert_int_equal(made.report.kept, 3);
    assert_int_equal(made.report.words, 12);
    assert_int_equal(made.report.distinct, 9);
    prepare_free(&made);
}

static void check_sets(const prepared *made) {
    const onet_sets *s = made->sets;
    size_t first = made->report.words / made->report.kept;
    for (size_t i = 0; i < s->count; i++)
        for (size_t t = 0; t < first; t++) {
            int32_t id = made->word[i * first + t];
            const char *word = made->distinct->text + made->distinct->at[id];
            size_t length = made->distinct->at[id + 1] - made->distinct->at[id];
            int32_t row = s->word[s->start[i] + (size_t)s->order[s->start[i] + t]];
            assert_int_equal(row, onet_words_find(s->words, word, length, NULL));
        }
}

static const float *vector_of(const onet_words *w, const char *name) {
    int32_t row = words_exact(w, name, strlen(name));
    assert_true(row >= 0);
    return w->vectors + 2 * row;
}

static void makes_kinds(void **state) {
    prepare_options o = of_files();
    o.first = 7;
    o.unk_share = 0;
    prepared made;
    assert_int_equal(prepare_words(&made, &o, NULL), ONET_OK);
    assert_int_equal(made.sets->count, 3);
    check_sets(&made);
    const onet_words *w = made.sets->words;
    assert_true(vector_of(w, "lobster")[1] == 1);
    assert_true(vector_of(w, "@-@")[0] == 7);
    assert_true(vector_of(w, "<kind:ing>")[0] == 4 && vector_of(w, "<kind:ing>")[1] == 8);
    assert_true(vector_of(w, "unseen")[0] == 9); /* a vector without a word in the text has its row too */
    float mean[2] = {3.2f, 3.6f};
    assert_near(vector_of(w, "<unk>")[0], mean[0], 1e-6);
    assert_near(vector_of(w, "<kind:year>")[1], mean[1], 1e-6); /* no rare word of that kind: of all */
    assert_int_equal(made.report.special, 1);
    assert_int_equal(made.report.unk, 1);
    assert_int_equal(made.report.with_vector + made.report.special + made.report.unk + made.report.kind +
                         made.report.own_row,
                     made.report.words);
    prepare_free(&made);

    o.vocabulary.own_row = 1;
    assert_int_equal(prepare_words(&made, &o, NULL), ONET_OK);
    assert_true(vector_of(made.sets->words, "zumbing")[0] == 4);
    assert_int_equal(made.report.kind, 0);
    prepare_free(&made);

    o.vectors = file_with("- 7 7\nthe 1 0\nlobster 0 1\n"); /* its first word gives @-@ its vector */
    assert_int_equal(prepare_words(&made, &o, NULL), ONET_OK);
    assert_true(vector_of(made.sets->words, "@-@")[0] == 7);
    prepare_free(&made);

    o = of_files();
    o.first = 7;
    o.unk_share = 1;
    assert_int_equal(prepare_words(&made, &o, NULL), ONET_OK);
    int32_t unk = words_exact(made.sets->words, "<unk>", 5);
    for (size_t i = 0; i < made.report.words; i++)
        assert_false(words_is_kind(made.sets->words, made.sets->word[i]));
    assert_true(unk >= 0);
    prepare_free(&made);
}

static void makes_one_row(void **state) {
    prepare_options o = of_files();
    o.first = 7;
    prepared made;
    o.vocabulary.unknown = ONET_UNKNOWN_MEAN;
    assert_int_equal(prepare_words(&made, &o, NULL), ONET_OK);
    assert_int_equal(made.sets->words->count, 11);
    assert_near(vector_of(made.sets->words, "<kind:other>")[0], 3.2, 1e-6);
    assert_int_equal(onet_words_find(made.sets->words, "@-@", 3, NULL),
                     onet_words_find(made.sets->words, "zumbing", 7, NULL));
    check_sets(&made);
    prepare_free(&made);
    o.vocabulary.unknown = ONET_UNKNOWN_ZERO;
    assert_int_equal(prepare_words(&made, &o, NULL), ONET_OK);
    assert_true(vector_of(made.sets->words, "<kind:other>")[0] == 0);
    prepare_free(&made);
}

static void limits_rows(void **state) {
    prepare_options o = of_files();
    o.vocabulary.limit = kind_count() + 6;
    o.unk_share = 0;
    prepared made;
    assert_int_equal(prepare_words(&made, &o, NULL), ONET_OK);
    const onet_words *w = made.sets->words;
    assert_int_equal(w->count, kind_count() + 6);
    assert_true(words_exact(w, "the", 3) >= 0 && words_exact(w, "lobster", 7) >= 0); /* the most frequent */
    assert_int_equal(words_exact(w, "unseen", 6), -1);
    check_sets(&made);
    prepare_free(&made);
    o.vocabulary.limit = 10;
    onet_error err;
    assert_int_equal(prepare_words(&made, &o, &err), ONET_USAGE);
    prepare_free(&made);
}

static void uses_a_vocabulary(void **state) {
    prepare_options o = of_files();
    prepared train, valid, again;
    assert_int_equal(prepare_words(&train, &o, NULL), ONET_OK);
    o.vectors = NULL;
    o.words = train.sets->words;
    o.unk_share = 0;
    assert_int_equal(prepare_words(&valid, &o, NULL), ONET_OK);
    assert_int_equal(prepare_words(&again, &o, NULL), ONET_OK);
    assert_int_equal(valid.sets->words->count, train.sets->words->count);
    check_sets(&valid);
    size_t bytes = valid.report.words * sizeof(int32_t);
    assert_memory_equal(valid.sets->word, again.sets->word, bytes);
    assert_memory_equal(valid.sets->order, again.sets->order, bytes);
    assert_memory_equal(valid.sets->order, train.sets->order, bytes);
    prepare_free(&train);
    prepare_free(&valid);
    prepare_free(&again);
}

static const char story[] =
    "^ Herons stand in shallow water .\nthey wait for fish to come near .\n\nno .\n^ the end is near .\n";

/* Writes a window as text, in its right order. */
static void window_text(char text[64], const prepared *made, size_t s) {
    const onet_sets *sets = made->sets;
    text[0] = '\0';
    for (size_t t = sets->start[s]; t < sets->start[s + 1]; t++) {
        int32_t row = sets->word[sets->start[s] + (size_t)sets->order[t]];
        size_t length;
        const char *word = onet_words_text(sets->words, row, &length);
        if (*text) strcat(text, " ");
        strncat(text, word, length);
    }
}

static void cuts_windows(void **state) {
    prepare_options o;
    prepare_defaults(&o);
    o.text = file_with(story);
    o.vectors = file_with("herons 1\nstand 2\nin 3\nshallow 4\nwater 5\n. 6\nthey 7\nwait 8\nfor 9\nfish 10\n"
                          "to 11\ncome 12\nnear 13\nthe 14\nend 15\nis 16\n");
    prepared made;
    char text[64];
    assert_int_equal(windows_parse(&o.windows, "paragraph", "3", NULL), ONET_OK);
    assert_int_equal(prepare_words(&made, &o, NULL), ONET_OK);
    assert_int_equal(made.sets->count, 2);
    window_text(text, &made, 0);
    assert_string_equal(text, "herons stand in");
    window_text(text, &made, 1);
    assert_string_equal(text, "the end is");
    assert_int_equal(made.report.kept, 3);
    assert_int_equal(made.report.blank, 1);
    assert_int_equal(made.report.shorter, 1);
    assert_null(made.word); /* held once, as rows of the vocabulary */
    prepare_free(&made);

    assert_int_equal(windows_parse(&o.windows, "sentence:2,whole", "3,6", NULL), ONET_OK);
    assert_int_equal(prepare_words(&made, &o, NULL), ONET_OK);
    assert_int_equal(made.report.sorts[WINDOW_SENTENCE],
                     2);                                  /* of one sentence, the others open a paragraph */
    assert_int_equal(made.report.sorts[WINDOW_WHOLE], 1); /* the others have 8 words, and 5 */
    window_text(text, &made, 0);
    assert_string_equal(text, "herons stand in shallow water .");
    for (size_t s = 1; s < 3; s++) {
        window_text(text, &made, s);
        assert_int_equal(strncmp("they wait for fish to come near .", text, strlen(text)), 0);
    }
    prepare_free(&made);

    assert_int_equal(windows_parse(&o.windows, "anywhere:40", "3-5", NULL), ONET_OK);
    prepared again;
    assert_int_equal(prepare_words(&made, &o, NULL), ONET_OK);
    assert_int_equal(prepare_words(&again, &o, NULL), ONET_OK);
    assert_int_equal(made.sets->count, 120);
    assert_int_equal(again.sets->count, 120);
    assert_memory_equal(made.sets->start, again.sets->start, 121 * sizeof *made.sets->start);
    assert_memory_equal(made.sets->word, again.sets->word, made.report.words * sizeof(int32_t));
    assert_memory_equal(made.sets->order, again.sets->order, made.report.words * sizeof(int32_t));
    int lengths[6] = {0}, at_end = 0;
    for (size_t s = 0; s < 120; s++) {
        window_text(text, &made, s);
        assert_non_null(strstr(
            "herons stand in shallow water . they wait for fish to come near . the end is near .", text));
        lengths[onet_sets_size(made.sets, s)]++;
        at_end += text[strlen(text) - 1] == '.';
    }
    assert_true(lengths[3] > 15 && lengths[4] > 15 && lengths[5] > 15);
    assert_true(at_end > 5 && at_end < 90);
    o.seed = 2;
    prepare_free(&again);
    assert_int_equal(prepare_words(&again, &o, NULL), ONET_OK);
    assert_true(again.report.words != made.report.words ||
                memcmp(made.sets->word, again.sets->word, made.report.words * sizeof(int32_t)));
    prepare_free(&made);
    prepare_free(&again);
}

/* A fraction is a probability, and a weight that of each length of its range. */
static void draws_by_weight(void **state) {
    windows w;
    window list[WINDOWS_OF_SENTENCE];
    rng r;
    rng_seed(&r, 1, 0);
    assert_int_equal(windows_parse(&w, "sentence:0.25,anywhere:1.5", "2-3:4,10", NULL), ONET_OK);
    int sorts[WINDOW_SORTS] = {0}, lengths[11] = {0};
    for (int k = 0; k < 4000; k++)
        for (int i = windows_sample(&w, &r, 12, false, list) - 1; i >= 0; i--) {
            sorts[list[i].sort]++;
            lengths[list[i].count]++;
            assert_true(list[i].from >= 0 && list[i].from + list[i].count <= 12);
        }
    assert_in_range(sorts[WINDOW_SENTENCE], 900, 1100);
    assert_in_range(sorts[WINDOW_ANYWHERE], 5880, 6120);
    assert_in_range(lengths[2], 2900, 3320); /* 4 of 9 in 7,000 */
    assert_in_range(lengths[3], 2900, 3320);
    assert_in_range(lengths[10], 660, 900);
    for (int k = 0; k < 100; k++) /* a sentence of five words has no window of ten */
        for (int i = windows_sample(&w, &r, 5, false, list) - 1; i >= 0; i--) assert_true(list[i].count <= 3);
    assert_int_equal(windows_sample(&w, &r, 1, false, list), 0);
    onet_error err;
    assert_int_equal(windows_parse(&w, "sentence:101", "5", &err), ONET_USAGE);
    assert_int_equal(windows_parse(&w, "sentence,", "5", &err), ONET_USAGE);
    assert_int_equal(windows_parse(&w, "sentence", "1-5", &err), ONET_USAGE);
    assert_int_equal(windows_parse(&w, "sentence", "5-4", &err), ONET_USAGE);
    assert_int_equal(windows_parse(&w, "sentence", "5:0", &err), ONET_USAGE);
    assert_non_null(strstr(err.text, "all its weights are 0"));
}

static void refuses(void **state) {
    prepare_options o;
    prepare_defaults(&o);
    onet_error err;
    prepared made;
    o.text = file_with("a good line of words\n\n a bad \xC3( line of words\n");
    assert_int_equal(prepare_words(&made, &o, &err), ONET_BAD);
    assert_non_null(strstr(err.text, ":3: word 3 is not UTF-8"));
    prepare_free(&made);
    o.text = file_with("too short\n");
    assert_int_equal(prepare_words(&made, &o, &err), ONET_BAD);
    assert_non_null(strstr(err.text, "no line has 5 words"));
    prepare_free(&made);
    o.first = 0;
    assert_int_equal(prepare_words(&made, &o, &err), ONET_USAGE);
    prepare_free(&made);
}

static void builds_wikitext_valid(void **state) {
    char lines[SHARED_PATH], text[SHARED_PATH];
    shared_file(lines, "words/valid.txt");
    shared_file(text, "wikitext/wikitext103.valid.tokens");
    prepare_options o;
    prepare_defaults(&o);
    o.text = text;
    o.lines = file_with("");
    prepared made;
    assert_int_equal(prepare_words(&made, &o, NULL), ONET_OK);
    assert_int_equal(made.report.kept, 1794);
    char *built = help_content(o.lines), *want = help_content(lines);
    assert_string_equal(built, want);
    free(built);
    free(want);
    prepare_free(&made);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_lines),           cmocka_unit_test(makes_kinds),
        cmocka_unit_test(makes_one_row),         cmocka_unit_test(limits_rows),
        cmocka_unit_test(uses_a_vocabulary),     cmocka_unit_test(refuses),
        cmocka_unit_test(builds_wikitext_valid), cmocka_unit_test(cuts_windows),
        cmocka_unit_test(draws_by_weight),
    };
    return cmocka_run_group_tests_name("words: prepare", tests, NULL, NULL);
}
