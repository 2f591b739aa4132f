/* Tests the JSON scanner and the tree of values of engine/base, against jansson where that gives the answer.
 */
#include "engine/base/json_tree.h"

#include <jansson.h>
#include <string.h>

#include "unit.h"

static const char *const texts[] = {
    "0",
    "-0.5e-3",
    "01",
    "1.",
    "+1",
    "-",
    "true",
    "tru",
    "null",
    "nul",
    "NaN",
    "[]",
    "[1, [2, {}]]",
    "[1,]",
    "[,1]",
    "[1 2]",
    "[1",
    "]",
    "{}",
    "{\"a\":1}",
    "{\"a\" 1}",
    "{\"a\":}",
    "{a:1}",
    "{\"a\":1,}",
    "{\"a\":[}",
    "\"\"",
    "\"a",
    "\"\\n\\/\"",
    "\"\\x\"",
    "\"\t\"",
    "\"\\u00e9\"",
    "\"\\u12\"",
    "\"\\uD83D\\uDE00\"",
    "\"\\uD83D\"",
    "\"\\uDE00\"",
    "\"\\u0000\"",
    "\"\\\"]\"",
    " [ 1 , 2 ] ",
    "",
};

static void values(void **state) {
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        json_scan s = scan_of(texts[i], strlen(texts[i])), e = s;
        json_t *value = json_loads(texts[i], JSON_DECODE_ANY, NULL);
        bool valid = scan_skip(&s, 0) && scan_end(&s, "the end");
        if (valid != (value != NULL) || valid != !s.expected) fail_msg("%s: %s", texts[i], s.expected);
        /* scan_extent accepts every valid value. */
        if (valid) assert_true(scan_extent(&e) && scan_end(&e, "the end"));
        if (json_is_string(value)) {
            char to[32];
            size_t length = json_unquote(texts[i], texts[i] + strlen(texts[i]), to);
            assert_int_equal(length, json_string_length(value));
            assert_memory_equal(to, json_string_value(value), length);
        }
        json_decref(value);
    }
}

static void depth(void **state) {
    char deep[1100];
    for (int levels = 512; levels <= 513; levels++) {
        memset(deep, '[', (size_t)levels);
        memset(deep + levels, ']', (size_t)levels);
        json_scan s = scan_of(deep, 2 * (size_t)levels);
        json_scan again = s;
        json_tree tree;
        assert_int_equal(scan_skip(&s, 0), levels == 512);
        assert_int_equal(json_tree_read(&tree, &again), levels == 512);
        if (levels == 512) json_tree_free(&tree);
    }
}

static bool same_value(const json_value *v, const json_t *other) {
    if (json_is_array(other)) {
        bool same = json_is(v, '[') && v->count == json_array_size(other);
        for (size_t i = 0; i < json_array_size(other) && same; i++)
            same = same_value(json_element(v, i), json_array_get(other, i));
        return same;
    }
    if (json_is_object(other)) {
        bool same = json_is(v, '{') && v->count == 2 * json_object_size(other);
        const char *key;
        json_t *value;
        json_object_foreach((json_t *)other, key, value) same =
            same && same_value(json_member(v, key), value);
        return same;
    }
    if (json_is_string(other)) return json_text(v) && !strcmp(json_text(v), json_string_value(other));
    if (json_is_number(other)) return json_is(v, '0') && v->number == json_number_value(other);
    return json_is(v, json_is_true(other) ? 't' : json_is_false(other) ? 'f' : 'n');
}

/* The tree has the values that jansson finds, each where it stands in the text. */
static void trees(void **state) {
    static const char *const more[] = {
        "[1, [2, {\"a\": [true, false, null], \"b\": {\"\": \"\"}}], \"x\\ny\"]",
        "{\"a\": {\"b\": [[], {}, -1.5e3]}, \"c\": \"\\u00e9\"} x", "[1] 2"};
    size_t count = sizeof texts / sizeof *texts, all = count + sizeof more / sizeof *more;
    for (size_t i = 0; i < all; i++) {
        const char *text = i < count ? texts[i] : more[i - count];
        json_scan s = scan_of(text, strlen(text));
        json_t *other = json_loads(text, JSON_DECODE_ANY, NULL);
        json_tree tree;
        bool read = json_tree_read(&tree, &s);
        if (read != (other != NULL) || read != !s.expected) fail_msg("%s: %s", text, s.expected);
        if (read && !same_value(&tree.root, other)) fail_msg("%s: other values", text);
        if (read) json_tree_free(&tree);
        json_decref(other);
    }
    const char text[] = " {\"a\": 1, \"b\": [ 2 , \"c\" ], \"a\": 3}";
    json_scan s = scan_of(text, strlen(text));
    json_tree tree;
    assert_true(json_tree_read(&tree, &s));
    const json_value *list = json_member(&tree.root, "b");
    assert_ptr_equal(tree.root.at, text + 1);
    assert_ptr_equal(tree.root.end, text + strlen(text));
    assert_memory_equal(list->at, "[ 2 , \"c\" ]", 11);
    assert_ptr_equal(list->end, list->at + 11);
    assert_ptr_equal(json_element(list, 1)->at, list->at + 6);
    assert_null(json_element(list, 2));
    assert_null(json_element(json_element(list, 0), 0));
    assert_true(json_member(&tree.root, "a")->number == 3);
    assert_true(json_is_twice(&tree.root, "a") && !json_is_twice(&tree.root, "b"));
    assert_null(json_member(list, "a"));
    json_tree_free(&tree);
}

static void whole_numbers(void **state) {
    static const struct {
        const char *text;
        bool good;
        uint64_t value;
    } cases[] = {{"0", true, 0},
                 {"18446744073709551615", true, UINT64_MAX},
                 {"18446744073709551616", false, 0},
                 {"00", false, 0},
                 {"-1", false, 0},
                 {"1.0", false, 0},
                 {"1e2", false, 0},
                 {"", false, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_scan s = scan_of(cases[i].text, strlen(cases[i].text));
        uint64_t value;
        assert_int_equal(scan_whole(&s, &value), cases[i].good);
        if (cases[i].good) assert_true(value == cases[i].value);
    }
}

/* In pieces of any size, cut anywhere but behind a backslash: a line does not end there in valid text. */
static void extents(void **state) {
    static const char text[] = "{\"a]\": [1, {\"\\\\\": \"}\"}], \"b\": []}, 7";
    const char *end = text + strlen(text) - 3;
    for (const char *cut = text + 1; cut < end; cut++) {
        json_extent e = {0};
        if (cut[-1] == '\\') continue;
        assert_ptr_equal(json_extent_end(&e, text, cut), cut);
        assert_ptr_equal(json_extent_end(&e, cut, text + strlen(text)), end);
        assert_true(!e.depth && !e.quoted);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(values), cmocka_unit_test(depth),
                                       cmocka_unit_test(trees), cmocka_unit_test(whole_numbers),
                                       cmocka_unit_test(extents)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
