/* Tests the tokenisation of typed text: cut into the vocabulary's words, pieces kept together, and written as
 * a sentence again. */
#include <string.h>

#include "engine/base/file.h"
#include "ordernet_words.h"
#include "unit.h"

static onet_error err;

/* WikiText's vocabulary, small: frequent words first. */
static onet_words *wikitext(void) {
    static const char *const text[] = {
        "<unk>", "@-@", "@,@",    "@.@",  "the",          ",",      ".",    "in",     "he",  "\"",
        "'s",    "(",   ")",      "was",  "no",           "it",     "a",    "born",   "don", "'t",
        "mr.",   "mr",  "no.",    "u.s.", "known",        "well",   "i",    "smith",  "j.",  "first",
        "?",     "!",   "'",      "...",  "\xe2\x80\x93", "/",      ":",    "%",      "$",   "&",
        "of",    "o",   "'brien", "and",  "or",           "london", "team", "players"};
    onet_words *words;
    assert_int_equal(onet_words_from(&words, sizeof text / sizeof *text, 1, text, NULL, NULL, &err), ONET_OK);
    return words;
}

static onet_words *penn(void) {
    static const char *const text[] = {"do", "n't", "'s", "it", "-", "well-known"};
    onet_words *words;
    assert_int_equal(onet_words_from(&words, sizeof text / sizeof *text, 1, text, NULL, NULL, &err), ONET_OK);
    return words;
}

static onet_bag *bag_of(const onet_words *words, const char *text) {
    onet_bag *bag;
    assert_int_equal(onet_bag_new(&bag, words, &err), ONET_OK);
    assert_int_equal(onet_bag_add(bag, text, 1000, &err), ONET_OK);
    return bag;
}

/* Writes the words of a bag as "born|,|in". */
static void words_of(const onet_bag *bag, char *text, size_t room) {
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < onet_bag_count(bag); i++)
        used += (size_t)snprintf(text + used, room - used, "%s%s", i ? "|" : "", onet_bag_word(bag, i, NULL));
}

static void cuts(const onet_words *words, const char *text, const char *expected) {
    char found[500];
    onet_bag *bag = bag_of(words, text);
    words_of(bag, found, sizeof found);
    if (strcmp(found, expected)) fail_msg("%s gives %s, not %s", text, found, expected);
    onet_bag_free(bag);
}

static void cut_as_the_vocabulary_has_it(void **state) {
    onet_words *words = wikitext();
    cuts(words, "born, in London.", "born|,|in|London|.");
    cuts(words, "  He\twas \n born ", "He|was|born");
    cuts(words, "don't", "don|'t");
    cuts(words, "Don\xe2\x80\x99t", "Don|\xe2\x80\x99t");
    cuts(words, "it's O'Brien's", "it|'s|O|'Brien|'s");
    cuts(words, "players' team", "players|'|team");
    cuts(words, "well-known", "well|@-@|known");
    cuts(words, "1,000,000 3.5 1.2.3", "1|@,@|000|@,@|000|3|@.@|5|1.2.3");
    cuts(words, "Mr. no. J. U.S. Q. e.g.", "Mr.|no|.|J.|U.S.|Q.|e.g.");
    cuts(words, "Zzz. he.", "Zzz|.|he|.");
    cuts(words, "U.S., (born 1902)", "U.S.|,|(|born|1902|)");
    cuts(words, "\"He was?\" 'no'", "\"|He|was|?|\"|'|no|'");
    cuts(words,
         "and/or 50% $40 5\xe2\x80\x93"
         "6 10:30 AT&T",
         "and|/|or|50|%|$|40|5|\xe2\x80\x93|6|10|:|30|AT|&|T");
    cuts(words, "well... no.. no?!", "well|...|no|..|no|?|!");
    cuts(words, "a@b.org http://c.org/d,e", "a@b.org|http://c.org/d,e");
    cuts(words, "- -w mid- -- .", "-|-w|mid-|--|.");
    cuts(words,
         "\xc3\xbc"
         "ber \xe5\xad\xa6\xe7\x94\x9f\xe3\x80\x82",
         "\xc3\xbc"
         "ber|\xe5\xad\xa6\xe7\x94\x9f|\xe3\x80\x82");
    cuts(words, "born\xc2\xa0in\xe3\x80\x80the", "born|in|the");
    cuts(words, "he 's @-@ 't", "he|'s|@-@|'t");
    cuts(words, "", "");
    onet_words_free(words);
    words = penn();
    cuts(words, "don't it's well-known other-words 1,000", "do|n't|it|'s|well-known|other-words|1,000");
    cuts(words, "wa't", "wa|'t"); /* 't of another word than not */
    onet_words_free(words);
}

static void knows_and_refuses(void **state) {
    onet_words *words = wikitext();
    onet_bag *bag = bag_of(words, "He zzz");
    int known;
    assert_string_equal(onet_bag_word(bag, 0, &known), "He");
    assert_true(known);
    assert_string_equal(onet_bag_word(bag, 1, &known), "zzz");
    assert_false(known);
    assert_int_equal(onet_bag_add(bag, "was born", 4, &err), ONET_OK);
    assert_int_equal(onet_bag_count(bag), 4);
    assert_int_equal(onet_bag_add(bag, "in", 4, &err), ONET_USAGE);
    assert_non_null(strstr(err.text, "4 words at most"));
    onet_bag_clear(bag);
    assert_int_equal(onet_bag_count(bag), 0);
    assert_null(onet_bag_set(bag));
    assert_int_equal(onet_bag_add(bag, "a\xff", 9, &err), ONET_BAD);
    assert_non_null(strstr(err.text, "not UTF-8"));
    onet_bag_free(bag);
    onet_words_free(words);
}

/* "0>1 1>2 5!": item 1 directly after 0, 2 after 1, 5 last; "0<3": 0 before 3. */
static void constrains(const onet_words *words, const char *text, const char *expected) {
    onet_bag *bag = bag_of(words, text);
    const onet_sets *set = onet_bag_set(bag);
    char found[200] = "";
    size_t used = 0;
    for (size_t k = 0; k < set->constraint_count; k++) {
        const onet_constraint *c = &set->constraints[k];
        used += (size_t)snprintf(found + used, sizeof found - used, "%s%zu", k ? " " : "", c->item);
        used += c->kind == ONET_LAST ? (size_t)snprintf(found + used, sizeof found - used, "!")
                                     : (size_t)snprintf(found + used, sizeof found - used, "%c%zu",
                                                        c->kind == ONET_NEXT ? '>' : '<', c->other);
    }
    if (strcmp(found, expected)) fail_msg("%s gives %s, not %s", text, found, expected);
    assert_int_equal(onet_sets_check(set, &err), ONET_OK);
    onet_bag_free(bag);
}

static void keeps_together(void **state) {
    onet_words *words = wikitext();
    constrains(words, "in he was", "");
    constrains(words, "in . was", "1!");
    constrains(words, "don't was", "0>1");
    constrains(words, "in was he.", "3!");      /* the line's own full stop */
    constrains(words, "in was he?!", "3>4 4!"); /* two of them */
    constrains(words, "in. was he", "0>1 1!");  /* that of the last word */
    constrains(words, "in was, he .", "1>2 4!");
    constrains(words, "no. he was.", "0>1 4!");     /* two sentences */
    constrains(words, "he was?\"", "2>3 3!");       /* the mark after it is last with it */
    constrains(words, "\"he was\"", "0>1 2>3 0<3"); /* opens before it closes */
    constrains(words, ") in ( was", "2<0");
    constrains(words, "(he) was", "0>1 1>2");
    constrains(words, "(he] [was)", "0>1 1>2 3>4 4>5 0<5"); /* crossed: of one kind alone */
    constrains(words, "(. he )", "0>1 1!");
    constrains(words, "u.s. mr.", "");
    constrains(words, "he was?no", "1>2 2>3"); /* a sign inside a piece ends nothing */
    onet_words_free(words);
}

static void writes(const onet_words *words, const char *text, const int32_t *order, onet_letters letters,
                   const char *expected) {
    int32_t same[64];
    onet_bag *bag = bag_of(words, text);
    for (int32_t i = 0; i < 64; i++) same[i] = i;
    if (!order) order = same;
    char found[200], cut[6];
    size_t length = onet_bag_write(bag, order, letters, found, sizeof found);
    if (strcmp(found, expected)) fail_msg("%s gives %s, not %s", text, found, expected);
    assert_int_equal(length, strlen(expected));
    assert_int_equal(onet_bag_write(bag, order, letters, NULL, 0), length);
    memset(cut, 'x', sizeof cut);
    assert_int_equal(onet_bag_write(bag, order, letters, cut, 4), length);
    assert_true(!strncmp(cut, expected, strlen(cut)) && strlen(cut) == (length < 3 ? length : 3) &&
                cut[5] == 'x');
    onet_bag_free(bag);
}

static void written_as_a_person_would(void **state) {
    onet_words *words = wikitext();
    const int32_t london[] = {4, 1, 2, 3, 0, 5};
    writes(words, "London was born in he .", london, ONET_CASE_SENTENCE, "He was born in London.");
    writes(words, "London was born in he .", london, ONET_CASE_KEEP, "he was born in London.");
    writes(words, "London was born in He .", london, ONET_CASE_LOWER, "he was born in london.");
#define SENTENCE(text, expected) writes(words, text, NULL, ONET_CASE_SENTENCE, expected)
    SENTENCE("in The U.S. He was First", "In the U.S. he was first");
    SENTENCE("smith and Smith , i was", "Smith and Smith, I was");
    SENTENCE("it Don't was", "It don't was");
    SENTENCE("the Don was", "The Don was");
    SENTENCE("\xc3\xbc"
             "ber Der",
             "\xc3\x9c"
             "ber Der");
    SENTENCE("\" he was ? \" \" no \"", "\"He was?\" \"No\"");
    SENTENCE("he ( 1902 ) was [ no ]", "He (1902) was [no]");
    SENTENCE("he 's a well @-@ known smith", "He's a well-known smith");
    SENTENCE("1 @,@ 000 and 3 @.@ 5 % or $ 40", "1,000 and 3.5% or $40");
    SENTENCE("was $ or", "Was $ or"); /* of no number */
    SENTENCE("5 \xe2\x80\x93 6 and london \xe2\x80\x93 smith", "5\xe2\x80\x93"
                                                               "6 and london \xe2\x80\x93 smith");
    SENTENCE("at 10 : 30 : no", "At 10:30: no");
    SENTENCE("the players ' team", "The players' team");
    SENTENCE("he ' was ' no", "He 'was' no");
    SENTENCE("and / or ...", "And/or...");
    SENTENCE("no. the was born!", "No. The was born!");
    SENTENCE("iPhone was", "iPhone was");
    SENTENCE("\xe5\xad\xa6 \xe7\x94\x9f \xe3\x80\x82", "\xe5\xad\xa6 \xe7\x94\x9f\xe3\x80\x82");
    SENTENCE(".", ".");
    SENTENCE("was @ @ he", "Was @ @ he");
    SENTENCE("in @he was", "In @he was");
#undef SENTENCE
    onet_words_free(words);
}

/* Tokens of real sentences, written as text and cut again, are the same tokens but for a few that text does
 * not tell apart, such as " - " and "-". */
static void round_trip(void **state) {
    enum { LINES = 20000 };
    char path[SHARED_PATH];
    shared_file(path, "sentences/featured_good.txt.xz");
    onet_model *model;
    onet_bag *first, *second;
    input *in;
    size_t same = 0, kept = 0, count = 0;
    assert_int_equal(onet_model_load(&model, "models/words.safetensors", &err), ONET_OK);
    assert_int_equal(onet_bag_new(&first, onet_model_words(model), &err), ONET_OK);
    assert_int_equal(onet_bag_new(&second, onet_model_words(model), &err), ONET_OK);
    assert_int_equal(input_open(&in, path, &err), ONET_OK);
    for (; count < LINES; count++) {
        char *line, text[4096], tokens[4096], again[4096];
        int32_t order[200];
        long number;
        assert_int_equal(input_line(in, &line, NULL, &number, &err), ONET_OK);
        if (!line) break;
        if (!strncmp(line, "^ ", 2)) line += 2;
        onet_bag_clear(first);
        onet_bag_clear(second);
        assert_int_equal(onet_bag_add(first, line, 200, &err), ONET_OK);
        for (int i = 0; i < onet_bag_count(first); i++) order[i] = i;
        assert_true(onet_bag_write(first, order, ONET_CASE_KEEP, text, sizeof text) < sizeof text);
        assert_int_equal(onet_bag_add(second, text, 200, &err), ONET_OK);
        words_of(first, tokens, sizeof tokens);
        words_of(second, again, sizeof again);
        same += !strcmp(tokens, again);
        for (char *c = tokens; *c; c++)
            if (*c == '|') *c = ' ';
        kept += !strcmp(tokens, line);
    }
    printf(
        "%zu sentences: %.1f%% of them stay as they are cut, %.1f%% are the same after writing and cutting\n",
        count, 100.0 * (double)kept / (double)count, 100.0 * (double)same / (double)count);
    assert_true(kept >= count * 99 / 100 && same >= count * 95 / 100);
    input_close(in);
    onet_bag_free(first);
    onet_bag_free(second);
    onet_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_as_the_vocabulary_has_it),
        cmocka_unit_test(knows_and_refuses),
        cmocka_unit_test(keeps_together),
        cmocka_unit_test(written_as_a_person_would),
        cmocka_unit_test(round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
