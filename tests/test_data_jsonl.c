/* Tests JSON Lines: what is read, what is refused with which message, compared with jansson; and the output
 * of `order`. */
#include "data_help.h"

#include "engine/base/rng.h"
#include "engine/data/jsonl.h"
#include "json_oracle.h"

static void reads(void **state) {
    onet_sets *sets = help_read("a.jsonl",
                                "{\"items\": [[0.5, -2], [1e3, 4.25]], \"order\": [1, 0]}\n"
                                "\n"
                                "{\"order\":[0],\"id\":{\"deep\":[1,{}]},\"items\":[[3,4]]}\r\n",
                                NULL);
    assert_int_equal(sets->count, 2);
    assert_int_equal(sets->width, 2);
    const float items[] = {0.5f, -2, 1000, 4.25f, 3, 4};
    assert_memory_equal(sets->items, items, sizeof items);
    const int32_t order[] = {1, 0, 0};
    assert_memory_equal(sets->order, order, sizeof order);
    const size_t start[] = {0, 2, 3};
    assert_memory_equal(sets->start, start, sizeof start);
    assert_int_equal(strlen(sets->hash), 64);
    onet_sets_free(sets);
}

static void reads_context(void **state) {
    onet_sets *sets = help_read("a.jsonl",
                                "{\"items\": [1, 2], \"order\": [1, 0], \"context\": []}\n"
                                "{\"context\": [3, 0], \"order\": [4, 1, 2], \"items\": [5, 6, 7, 8, 9]}\n"
                                "{\"items\": [1, 2], \"order\": [1, 0], \"context\": null}\n",
                                NULL);
    const uint8_t context[] = {0, 0, 1, 0, 0, 1, 0, 0, 0};
    const int32_t order[] = {1, 0, 4, 1, 2, 0, 3, 1, 0};
    assert_memory_equal(sets->context, context, sizeof context);
    assert_memory_equal(sets->order, order, sizeof order);
    onet_sets_free(sets);
    sets = help_read("a.jsonl", "{\"items\": [1, 2], \"context\": [1]}\n", NULL);
    assert_null(sets->order);
    assert_int_equal(sets->context[1], 1);
    onet_sets_free(sets);
}

static void reads_bare_numbers(void **state) {
    onet_sets *sets =
        help_read("a.jsonl", "{\"items\": [3, 1, 2]}\n{\"items\": [[5]], \"order\": null}", NULL);
    assert_int_equal(sets->count, 2);
    assert_int_equal(sets->width, 1);
    assert_null(sets->order);
    assert_true(sets->items[0] == 3 && sets->items[2] == 2 && sets->items[3] == 5);
    onet_sets_free(sets);
}

static void reads_a_byte_order_mark(void **state) {
    onet_sets *sets = help_read("a.txt", "\xEF\xBB\xBF{\"items\": [1]}\n", NULL);
    assert_int_equal(sets->count, 1);
    onet_sets_free(sets);
}

static void refuses(void **state) {
#define REFUSED(text, sentence) help_refused("bad.jsonl", text, "FILE:1: " sentence)
    REFUSED("[1]",
            "not valid JSON at column 1: expected an object such as {\"items\": [[0.1, 0.2], [0.3, 0.4]]}");
    REFUSED("{\"items\": [[1, 2]", "not valid JSON at column 18: expected a comma or ]");
    REFUSED("{\"items\": [[1, 2]]} x",
            "not valid JSON at column 21: expected the end of the line: one set per line");
    REFUSED("{\"items\": [[1, 2],]}", "not valid JSON at column 19: expected an item");
    REFUSED("{\"items\": [[1, 01]]}", "not valid JSON at column 16: expected a number");
    REFUSED("{\"items\": [[1]], 'a': 1}", "not valid JSON at column 18: expected a key in quotes");
    REFUSED("{\"items\": [[1]], \"a\" 1}", "not valid JSON at column 22: expected a colon after the key");
    REFUSED("{\"items\": [[1]], \"a\": \"b}",
            "not valid JSON at column 26: expected the string's closing quote");
    REFUSED("{\"items\": [[1]], \"a\": \"\\x\"}",
            "not valid JSON at column 24: expected an escape such as \\n or "
            "\\u00e9 (not \\u0000, no half of a pair)");
    REFUSED("{\"items\": [[1]], \"a\": tru}", "not valid JSON at column 23: expected a value");
    REFUSED("{\"id\": 7}", "field `items` is missing; give the set's items");
    REFUSED("{}", "field `items` is missing; give the set's items");
    REFUSED("{\"items\": []}", "field `items`: an empty set; give it an item or leave it out");
    REFUSED("{\"items\": 5}",
            "field `items`: not an array; write [[0.1, 0.2], [0.3, 0.4]], or words in quotes");
    REFUSED("{\"items\": [[]]}", "field `items`[0]: no features; give every item at least one");
    REFUSED("{\"items\": [[1, 2], [3]]}",
            "field `items`[1]: fewer features than the 2 of the items before it; give each the same number");
    REFUSED("{\"items\": [[1, 2], [3, 4, 5]]}",
            "field `items`[1]: more features than the 2 of the items before it; give each the same number");
    REFUSED("{\"items\": [[1, NaN]]}", "`items`[0]: feature [1] has no value; fill it in, or choose how to "
                                       "replace it: mean or indicator (onet_read_options.missing)");
    REFUSED("{\"items\": [[1, 2], [-Infinity, 2]]}",
            "field `items`[1][0]: not a finite number; give a number or leave the set out");
    REFUSED("{\"items\": [[1, \"2\"]]}", "field `items`[0][1]: not a number; every feature must be a number");
    REFUSED("{\"items\": [[1, null], [null, 2]]}",
            "`items`[0]: feature [1] has no value, the first of 2 missing values; fill it in, or choose how "
            "to replace it: mean or indicator (onet_read_options.missing)");
    REFUSED("{\"items\": [[1, 1e39]]}",
            "field `items`[0][1]: out of range; features are 32-bit, at most 3.4e38 in size");
    REFUSED("{\"items\": [[1, -1e999]]}",
            "field `items`[0][1]: out of range; features are 32-bit, at most 3.4e38 in size");
    REFUSED("{\"items\": [[1], \"b\"]}",
            "field `items`[1]: not an array of features, as the items before it are");
    REFUSED("{\"items\": [\"a\", 1]}", "field `items`[1]: not a word in quotes, as the items before it are");
    REFUSED("{\"items\": [1, [2]]}", "field `items`[1]: not a number, as the items before it are");
    REFUSED("{\"items\": [\"a\", \"\"]}", "field `items`[1]: an empty word; leave it out");
    REFUSED("{\"items\": [\"a\"]}",
            "the items are words, and there are no vectors for words (onet_read_options.words)");
    REFUSED("{\"items\": [[1], [2]], \"order\": [0]}",
            "field `order`: 1 index for 2 items; give the index of each item once, or list those that are "
            "not placed under `context`");
    REFUSED("{\"items\": [[1]], \"order\": []}",
            "field `order`: 0 indices for 1 item; give the index of each item once");
    REFUSED("{\"items\": [[1], [2]], \"order\": [0, 2]}",
            "field `order`[1]: 2 is not the index of an item; they go from 0 to 1");
    REFUSED("{\"order\": [-1, 0], \"items\": [[1], [2]]}",
            "field `order`[0]: -1 is not the index of an item; they go from 0 to 1");
    REFUSED("{\"items\": [[1], [2]], \"order\": [1, 1]}",
            "field `order`[1]: item 1 appears twice; give the index of each item once");
    REFUSED("{\"items\": [[1], [2]], \"order\": [1, 0.5]}",
            "field `order`[1]: not a whole number; give the index of an item");
    REFUSED("{\"items\": [[1], [2]], \"order\": \"up\"}",
            "field `order`: not an array; write [1, 0, 2], or leave it out");
    REFUSED("{\"items\": [[1], [2], [3]], \"order\": [1, 0]}",
            "field `order`: 2 indices for 3 items; give the index of each item once, or list those that are "
            "not placed under `context`");
    REFUSED("{\"items\": [[1], [2]], \"context\": [0, 1]}",
            "field `context`: all items are context; leave the set out or place one");
    REFUSED("{\"items\": [[1], [2], [3]], \"context\": [2, 2]}",
            "field `context`[1]: item 2 appears twice; keep one");
    REFUSED("{\"items\": [[1], [2], [3]], \"context\": [3]}",
            "field `context`[0]: 3 is not the index of an item; they go from 0 to 2");
    REFUSED("{\"items\": [[1], [2], [3]], \"context\": 1}",
            "field `context`: not an array; write [1, 0, 2], or leave it out");
    REFUSED("{\"items\": [[1], [2], [3]], \"context\": [2], \"order\": [0]}",
            "field `order`: 1 index for 2 items that are not in `context`; give each of them once");
    REFUSED("{\"items\": [[1], [2], [3]], \"context\": [2], \"order\": [0, 2]}",
            "field `order`[1]: item 2 stands in `context` too; keep it in one of them");
    REFUSED("{\"items\": [[1]], \"items\": [[2]]}", "field `items` appears twice; keep one of them");
    REFUSED("{\"items\": [[1]], \"id\": 1, \"i\\u0064\": 2}", "field `id` appears twice; keep one of them");
    REFUSED("{\"items\": [[1]], \"a\": \"\xFF\"}",
            "byte 24 of the line (0xff) is not UTF-8; convert the file to UTF-8");
#undef REFUSED
    help_refused("bad.jsonl", "{\"items\": [[1]]}\n\n{\"items\": [[1, 2]]}",
                 "FILE:3: items have 2 features here and 1 in line 1; a file has one width");
    help_refused("bad.jsonl", "{\"items\": [[1]]}\n{\"items\": [\"a\"]}",
                 "FILE:2: items are words here and numbers in line 1; a file has one kind");
    help_refused("bad.jsonl", "{\"pairs\": [[null]]}\n{\"items\": [[1]], \"pairs\": [[null]]}",
                 "FILE:2: items have features here and relations alone in line 1; give the items of every "
                 "set features, or none");
    help_refused("bad.jsonl", "{\"pairs\": [[null]]}\n{\"items\": [\"a\"]}",
                 "FILE:2: items are words here and without features in line 1; a file has one kind");
    help_refused(
        "bad.jsonl", "{\"items\": [[1]], \"order\": [0]}\n{\"items\": [[1]]}",
        "FILE:2: the set has no order where those before it have one; give all sets an order or none");
    help_refused("bad.jsonl", "", "FILE: the file has no sets; expected at least one");
    help_refused("bad.jsonl", " \n\n", "FILE: the file has no sets; expected at least one");
    help_refused("bad", "", "FILE: the file is empty; expected at least one set");
}

static void refuses_what_is_too_much(void **state) {
    char text[20000], *p = text + sprintf(text, "{\"items\": [1], \"deep\": ");
    for (int i = 0; i < 600; i++) *p++ = '[';
    for (int i = 0; i < 600; i++) *p++ = ']';
    strcpy(p, "}");
    help_refused("bad.jsonl", text,
                 "FILE:1: not valid JSON at column 536: expected no more than 512 arrays and "
                 "objects in one another");
    p = text + sprintf(text, "{\"items\": [1]");
    for (int i = 0; i < 1000; i++) p += sprintf(p, ", \"k%d\": 0", i);
    strcpy(p, "}");
    help_refused("bad.jsonl", text, "FILE:1: more than 1000 fields in one set; leave some out");
}

/* ---- Against jansson --------------------------------------------------------------------------------- */

static void agrees(const char *line, size_t length) {
    record r = {0};
    onet_error err = {.text = ""};
    json_t *set;
    int expected = json_oracle(line, length, &set);
    assert_int_equal(record_line(&r, ONET_FORMAT_JSONL, line, length, 1, &err), ONET_OK);
    onet_status status = jsonl_parse(&r, NULL, "line", &err);
    if (expected >= 0 && (status == ONET_OK) != expected)
        print_error("%.*s: %s\n", (int)length, line, err.text);
    if (expected >= 0) assert_int_equal(status == ONET_OK, expected);
    if (expected == 1) {
        json_t *items = json_object_get(set, "items");
        json_t *pairs = json_object_get(set, "pairs");
        assert_int_equal(r.n, json_array_size(items ? items : pairs));
        for (int i = 0; r.relations && i < r.n * r.n; i++) {
            json_t *pair = json_array_get(json_array_get(pairs, (size_t)(i / r.n)), (size_t)(i % r.n));
            for (int k = 0; k < r.relations && i % r.n != i / r.n; k++)
                assert_true(
                    r.pairs[i * r.relations + k] ==
                    (float)json_real_value(json_is_array(pair) ? json_array_get(pair, (size_t)k) : pair));
        }
        for (int t = 0; r.order && t < record_placed(&r); t++)
            assert_true(r.order[t] ==
                        json_real_value(json_array_get(json_object_get(set, "order"), (size_t)t)));
        for (int i = 0; i < r.n; i++) {
            json_t *item = json_array_get(items, (size_t)i);
            if (r.word) {
                assert_string_equal(r.word[i], json_string_value(item));
            } else if (json_is_real(item)) {
                assert_true(r.items[i] == json_real_value(item));
            } else {
                for (int j = 0; j < r.width; j++)
                    assert_true(r.items[i * r.width + j] == json_real_value(json_array_get(item, (size_t)j)));
            }
        }
    }
    json_decref(set);
    record_free(&r);
}

/* Lines with a few characters changed, left out or put in. */
static void agrees_with_jansson(void **state) {
    static const char *const line[] = {
        "{\"items\": [[0.1, 0.2], [0.3, 0.4]], \"id\": \"a\\u00e9\\ud83d\\ude00\\n\"}",
        "{\"items\": [1, 2.5e-3, -0.0, 12345678901234567890123, 0.30000000000000004]}",
        ("{\"items\": [\"is\", \"an\", \"\\\"quoted\\\"\", \"caf\xC3\xA9\"], \"x\": [true, false, null, "
         "{\"y\": {}}]}"),
        "{\"items\": [[1], [2], [3]], \"order\": [2, 0, 1]}",
        "{\"context\": [3, 1], \"items\": [[1], [2], [3], [4]], \"order\": [2, 0]}",
        "{\"a\":[],\"items\":[[16777217],[3.4028235e38],[3.4028235677973366e38],[1e-46]],\"order\":null}",
        "{\"items\": [[1], [2]], \"pairs\": [[null, [1, 2]], [[3, 4], [null, 5]]], \"order\": [1, 0]}",
        "{\"order\": [1, 0], \"pairs\": [[null, 1.5], [-2, null]]}",
        "{\"pairs\": [[0, 1], [2, 1e60]], \"items\": [\"a\", \"b\"]}",
        "{\"pairs\": [[16777217, 16777218], [1, 0]]}",
    };
    static const char letters[] = "{}[]\",:0123456789.eE+-\\/u ntrfalse\xC3\xA9\x01\t";
    rng r;
    rng_seed(&r, 7, 0);
    for (size_t i = 0; i < sizeof line / sizeof *line; i++) {
        agrees(line[i], strlen(line[i]));
        for (int turn = 0; turn < 20000; turn++) {
            char text[300];
            size_t length = strlen(line[i]);
            memcpy(text, line[i], length);
            for (int change = 1 + (int)rng_below(&r, 3); change; change--) {
                size_t at = (size_t)rng_below(&r, length);
                char c = letters[rng_below(&r, sizeof letters - 1)];
                switch (rng_below(&r, 3)) {
                case 0:
                    text[at] = c;
                    break;
                case 1:
                    memmove(text + at, text + at + 1, --length - at);
                    break;
                default:
                    memmove(text + at + 1, text + at, length++ - at);
                    text[at] = c;
                }
            }
            agrees(text, length);
        }
    }
}

/* ---- Answers ----------------------------------------------------------------------------------------- */

static void answers(const char *line, const onet_write_options *parts, const char *expected) {
    record r = {0};
    onet_error err = {.text = ""};
    int32_t order[] = {1, 0, 0, 1};
    double logprob[] = {-0.25, -1.5};
    float step[] = {0.75f, 1, 0.25f, 1};
    onet_answer answer = {.found = 2, .order = order, .logprob = logprob, .step = step};
    output *out;
    const char *path = help_path("answer.jsonl");
    assert_int_equal(record_line(&r, ONET_FORMAT_JSONL, line, strlen(line), 1, &err), ONET_OK);
    assert_int_equal(jsonl_parse(&r, NULL, "line", &err), ONET_OK);
    assert_int_equal(output_open(&out, path, &err), ONET_OK);
    assert_int_equal(jsonl_write(out, &r, &answer, parts, &err), ONET_OK);
    assert_int_equal(output_commit(out, &err), ONET_OK);
    char *got = help_content(path);
    assert_string_equal(got, expected);
    free(got);
    record_free(&r);
}

static void writes_answers(void **state) {
    onet_write_options plain = {.logprob = true}, all = {.logprob = true, .steps = true, .top = 2};
    answers("{\"items\": [[0.10, 1e0], [3, 4]]}", &plain,
            "{\"items\": [[0.10, 1e0], [3, 4]], \"order\": [1, 0], \"logprob\": -0.25}\n");
    answers("{ \"order\":[0,1] ,\"id\":12345678901234567890, \"items\":[1,2] , \"top\": 5 }", &plain,
            "{ \"order\":[1, 0] ,\"id\":12345678901234567890, \"items\":[1,2] , \"top\": 5, \"logprob\": "
            "-0.25 }\n");
    answers("{\"items\": [\"b\", \"a\"], \"logprob\": 3, \"steps\": [], \"note\": \"\\u00e9\"}", &all,
            "{\"items\": [\"b\", \"a\"], \"logprob\": -0.25, \"steps\": [0.75, 1], \"note\": \"\\u00e9\", "
            "\"order\": [1, 0], \"top\": [{\"order\": [1, 0], \"logprob\": -0.25, \"steps\": [0.75, 1]}, "
            "{\"order\": [0, 1], \"logprob\": -1.5, \"steps\": [0.25, 1]}]}\n");
    answers("{\"items\": [1, 2], \"context\": [0]}", &all,
            "{\"items\": [1, 2], \"context\": [0], \"order\": [1], \"logprob\": -0.25, \"steps\": [0.75], "
            "\"top\": [{\"order\": [1], \"logprob\": -0.25, \"steps\": [0.75]}, {\"order\": [0], "
            "\"logprob\": -1.5, \"steps\": [0.25]}]}\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads),
        cmocka_unit_test(reads_context),
        cmocka_unit_test(reads_bare_numbers),
        cmocka_unit_test(reads_a_byte_order_mark),
        cmocka_unit_test(refuses),
        cmocka_unit_test(refuses_what_is_too_much),
        cmocka_unit_test(agrees_with_jansson),
        cmocka_unit_test(writes_answers),
    };
    return cmocka_run_group_tests(tests, NULL, help_clean);
}
