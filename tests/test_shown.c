/* Tests how text from files is shown in messages: characters are escaped, long text is cut between
 * characters, and columns are aligned. */
#include "engine/base/shown.h"

#include <string.h>

#include "engine/base/error.h"
#include "unit.h"

static void escapes(void **state) {
    char to[SHOWN];
    assert_string_equal(shown(to, "plain, Z\xc3\xbcrich \xe2\x82\xac \xf0\x9f\x98\x80 \\"),
                        "plain, Z\xc3\xbcrich \xe2\x82\xac \xf0\x9f\x98\x80 \\");
    assert_string_equal(shown(to, "\x1b[31mred\x07\x7f"), "\\x1b[31mred\\x07\\x7f");
    assert_string_equal(shown(to, "a\nb\tc\rd"), "a\\nb\\tc\\rd");
    assert_string_equal(shown(to, "\xc2\x9b"
                                  "31m"),
                        "\\u009b31m"); /* C1's own way to begin an escape */
    assert_string_equal(shown(to, "a\xe2\x80\xae"
                                  "b\xe2\x81\xa6\xe2\x80\xa8"),
                        "a\\u202eb\\u2066\\u2028");
    assert_string_equal(shown(to, "\xff\xc3(\xe2\x82"), "\\xff\\xc3(\\xe2\\x82"); /* not UTF-8, cut short */
    assert_string_equal(shown(to, "\xed\xa0\x80"), "\\xed\\xa0\\x80");            /* half of a pair */
    assert_string_equal(shown(to, "\xc0\x80\xf5\x80\x80\x80"),
                        "\\xc0\\x80\\xf5\\x80\\x80\\x80"); /* too long a form; beyond Unicode */
    assert_string_equal(shown_text(to, sizeof to, "a\0b", 3), "a\\x00b");
}

/* Characters and escapes are not cut, whatever the size of the buffer. */
static void cuts(void **state) {
    const char text[] = "a\x1b\xe2\x82\xac"
                        "b";
    const char *const found[] = {"",
                                 "a",
                                 "a",
                                 "a",
                                 "a",
                                 "a\\x1b",
                                 "a\\x1b",
                                 "a\\x1b",
                                 "a\\x1b\xe2\x82\xac",
                                 "a\\x1b\xe2\x82\xac"
                                 "b",
                                 "a\\x1b\xe2\x82\xac"
                                 "b"};
    for (size_t room = 1; room <= sizeof found / sizeof *found; room++) {
        char *to = malloc(room); /* AddressSanitizer sees a byte too many */
        assert_string_equal(shown_text(to, room, text, strlen(text)), found[room - 1]);
        free(to);
    }
}

/* printf counts bytes. */
static void aligns(void **state) {
    char line[64];
    const char *const names[] = {"plain", "Z\xc3\xbcrich", "\xe2\x82\xac\xe2\x82\xac"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(line, sizeof line, "%-*s|", shown_width(names[i], 8), names[i]);
        assert_int_equal(shown_width(line, 9), strlen(line));
    }
}

/* Of any length. */
static void copies(void **state) {
    char text[2 * SHOWN + 1], *copy;
    memset(text, '\x1b', sizeof text - 1);
    text[sizeof text - 1] = 0;
    copy = shown_copy(text);
    assert_int_equal(strlen(copy), 4 * strlen(text));
    assert_string_equal(copy + strlen(copy) - 8, "\\x1b\\x1b");
    free(copy);
    copy = shown_copy("");
    assert_string_equal(copy, "");
    free(copy);
}

static void in_sentences(void **state) {
    onet_error err;
    (fail)(&err, ONET_BAD, "%s:%d: column `%s`", "a\x1b]0;b", 3, "x\xffy\n");
    assert_string_equal(err.text, "a\\x1b]0;b:3: column `x\\xffy\\n`");
    error_prefix(&err, "%s", "\x9b");
    assert_string_equal(err.text, "\\x9b: a\\x1b]0;b:3: column `x\\xffy\\n`");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(escapes), cmocka_unit_test(cuts),
                                       cmocka_unit_test(aligns), cmocka_unit_test(copies),
                                       cmocka_unit_test(in_sentences)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
