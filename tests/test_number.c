/* Tests parsing and printing numbers: against the C library, and the same in every locale; and the check for
 * valid UTF-8. */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "data_help.h"
#include "engine/base/number.h"
#include "engine/base/rng.h"
#include "engine/base/utf8.h"

static void same(const char *text) {
    double value;
    const char *end = text + strlen(text);
    assert_ptr_equal(number_scan(text, end, NUMBER_JSON, &value), end);
    double expected = strtod(text, NULL);
    if (memcmp(&value, &expected, sizeof value)) print_error("%s: %.17g and %.17g\n", text, value, expected);
    assert_memory_equal(&value, &expected, sizeof value);
}

static void reads_as_strtod(void **state) {
    static const char *const hard[] = {"0",
                                       "-0",
                                       "1e0",
                                       "9007199254740993",
                                       "9007199254740992.999",
                                       "1e22",
                                       "1e23",
                                       "8.5e-5",
                                       "123456789012345678901",
                                       "2.2250738585072011e-308",
                                       "4.9406564584124654e-324",
                                       "2.4703282292062327e-324",
                                       "1.7976931348623157e308",
                                       "1.7976931348623159e308",
                                       "1e400",
                                       "-1e-400",
                                       "0.000000000000000000000000000000000000000000001e45",
                                       "179769313486231580793728971405301e276",
                                       "0e999999999999999999999",
                                       "1e-99999999999999999999"};
    for (size_t i = 0; i < sizeof hard / sizeof *hard; i++) same(hard[i]);
    rng r;
    rng_seed(&r, 3, 0);
    for (int i = 0; i < 200000; i++) {
        char text[64];
        double exponent = rng_uniform(&r) * 60 - 30;
        snprintf(text, sizeof text, "%.*g", 1 + (int)rng_below(&r, 20), rng_normal(&r) * pow(10, exponent));
        same(text);
    }
    /* Thousands of digits, of which the last decides. */
    char *text = malloc(5000);
    memset(text, '0', 4000);
    memcpy(text, "9007199254740993.", 17);
    text[3999] = '1';
    text[4000] = 0;
    same(text);
    text[3999] = '0';
    same(text);
    free(text);
}

static bool rounded(const char *text) {
    double value;
    const char *end = text + strlen(text);
    assert_ptr_equal(number_scan(text, end, NUMBER_LOOSE, &value), end);
    return number_is_rounded(text, end, value);
}

static void knows_what_float_rounds(void **state) {
    static const double yes[] = {16777217, -16777217, 33554435, 123456790, 2147483647, 1e12, 0x1p53 - 1},
                        no[] = {0,    1,    16777216, 16777218, 123456792, 0.1,      16777217.5, 1e10,
                                1e20, -1e9, NAN,      INFINITY, 0x1p53,    6.022e23, 3e300};
    (void)state;
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) assert_true(number_rounds_in_float(yes[i]));
    for (size_t i = 0; i < sizeof no / sizeof *no; i++) assert_false(number_rounds_in_float(no[i]));
}

static void knows_what_double_rounds(void **state) {
    static const char *const yes[] = {
        "9007199254740993",      "-9007199254740993",    "+0009007199254740993",   "1700000000000000001",
        "18446744073709551615",  "123456789012345678",   "9007199254740993.0",     "9007199254740993.",
        "9007199254740993e0",    "9.007199254740993e15", "0.9007199254740993E+16", "90071992547409930.00e-1",
        "900719925474099300e-02"};
    /* Exact ones; the shortest text of a double, as JavaScript or Python writes it; those that are not whole.
     */
    static const char *const no[] = {"0",
                                     "-0",
                                     "9007199254740991",
                                     "9007199254740992",
                                     "9007199254740994",
                                     "1152921504606846976",
                                     "9223372036854775808",
                                     "1700000000000000000",
                                     "123456789012345680000",
                                     "12345678901234567000",
                                     "9007199254740992.0",
                                     "9.007199254740994e+15",
                                     "9007199254740993.5",
                                     "90071992547409935e-1",
                                     "1.7e9",
                                     "1.2345678901234567e+19",
                                     "1.7976931348623157e+308",
                                     "1e22",
                                     "1e300",
                                     "1e99999999999999999999"};
    char large[400];
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) assert_true(rounded(yes[i]));
    for (size_t i = 0; i < sizeof no / sizeof *no; i++) assert_false(rounded(no[i]));
    snprintf(large, sizeof large, "%.0f", 0x1.fffffffffffffp1023);
    assert_false(rounded(large));
    large[308] ^= 1;
    assert_true(rounded(large));
    snprintf(large, sizeof large, "%.50e", 0x1.fffffffffffffp1023);
    assert_false(rounded(large));
    memset(large, '9', 399); /* infinite */
    large[399] = 0;
    assert_false(rounded(large));
}

static void keeps_to_the_grammar(void **state) {
    static const char *const bad[] = {"", "-", "+1", ".5", "1.", "01", "1e", "1e+", "-.5", "a", " 1"};
    static const char *const loose[] = {"+1", ".5", "1.", "01", "-.5", "007.50e+01"};
    double value;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_ptr_equal(number_scan(bad[i], bad[i] + strlen(bad[i]), NUMBER_JSON, &value), bad[i]);
    for (size_t i = 0; i < sizeof loose / sizeof *loose; i++) {
        const char *end = loose[i] + strlen(loose[i]);
        assert_ptr_equal(number_scan(loose[i], end, NUMBER_LOOSE, &value), end);
        assert_true(value == strtod(loose[i], NULL));
    }
    static const char *const none[] = {"", "-", ".", "+.", "e5", "nan", "0x10" /* reads the 0 alone */};
    for (size_t i = 0; i < 6; i++)
        assert_ptr_equal(number_scan(none[i], none[i] + strlen(none[i]), NUMBER_LOOSE, &value), none[i]);
    assert_ptr_equal(number_scan(none[6], none[6] + 4, NUMBER_LOOSE, &value), none[6] + 1);
    assert_int_equal(number_not_finite("-Infinity", strchr("-Infinity", 0)), 9);
}

static void writes_back(void **state) {
    rng r;
    rng_seed(&r, 4, 0);
    char text[NUMBER_TEXT];
    for (int i = 0; i < 100000; i++) {
        uint32_t bits = (uint32_t)rng_u64(&r);
        float value;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value)) continue;
        number_text_float(text, value);
        assert_true(strtof(text, NULL) == value);
    }
    number_text_float(text, 0.1f);
    assert_string_equal(text, "0.1");
    number_text_double(text, -0.0);
    assert_string_equal(text, "0");
}

/* Doubles: random bits, decimals as people write them, and what is near a power of ten. */
static void writes_exactly(void **state) {
    rng r;
    rng_seed(&r, 5, 0);
    char text[NUMBER_TEXT], digits[NUMBER_TEXT];
    for (int i = 0; i < 100000; i++) {
        uint64_t bits = rng_u64(&r);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (i % 2) value = (double)(int64_t)(bits >> 24) / pow(10, i % 19) * (i % 4 == 1 ? 1 : -1);
        if (!isfinite(value)) continue;
        size_t length = number_text_exact(text, value);
        assert_int_equal(length, strlen(text));
        assert_true(strtod(text, NULL) == value);
        snprintf(digits, sizeof digits, "%.15g", value);
        if (strtod(digits, NULL) == value) assert_true(strlen(text) <= strlen(digits) + 11);
    }
    static const char *const same[] = {
        "0.1",     "500000.1",        "1700000000",          "-0",    "0", "1e+300", "999999999999999",
        "-0.0001", "12345.678901234", "0.30000000000000004", "5e-324"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        number_text_exact(text, strtod(same[i], NULL));
        if (i < 10) assert_string_equal(text, same[i]);
        assert_true(strtod(text, NULL) == strtod(same[i], NULL));
    }
}

/* Expects the fewest digits of "%.*g", from 6 on, that read back as the same value. */
static void expect_text(float value) {
    char text[NUMBER_TEXT], expected[NUMBER_TEXT];
    int digits = 6;
    do snprintf(expected, sizeof expected, "%.*g", digits, (double)value);
    while (strtof(expected, NULL) != value && digits++ < 9);
    assert_int_equal(number_text_float(text, value), strlen(expected));
    assert_string_equal(text, expected);
}

static void writes_as_printf(void **state) {
    rng r;
    rng_seed(&r, 5, 0);
    for (int i = 0; i < 200000; i++) {
        uint64_t bits = rng_u64(&r);
        double unit = (double)(bits >> 40) * 0x1p-24;
        expect_text((float)unit);
        expect_text((float)ldexp(unit, (int)(bits % 40) - 20));
        expect_text(-(float)((double)(bits % 2000001) / 1000));
    }
    /* Around powers of ten, where rounding adds a digit; exact ties; the ends of the usual sizes. */
    for (int exponent = -6; exponent <= 7; exponent++)
        for (int ulps = -40; ulps <= 40; ulps++) {
            float value = (float)pow(10, exponent);
            for (int i = 0; i < abs(ulps); i++) value = nextafterf(value, ulps < 0 ? 0 : INFINITY);
            expect_text(value);
            expect_text(-value);
        }
    static const float some[] = {0,         -0.0f,          0.5f,  100000,  99999.5f,
                                 999999.5f, 0.00048828125f, 1e-4f, 16777216};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) expect_text(some[i]);
    static const int64_t whole[] = {0, 7, -10, 1234567890, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        char text[NUMBER_TEXT], expected[NUMBER_TEXT];
        snprintf(expected, sizeof expected, "%lld", (long long)whole[i]);
        assert_int_equal(number_text_int(text, whole[i]), strlen(expected));
        assert_string_equal(text, expected);
    }
}

/* A decimal comma in the user's locale changes nothing. */
static void ignores_the_locale(void **state) {
    use_locale("de_DE");
    char text[NUMBER_TEXT];
    double value;
    number_text_float(text, 0.5f);
    assert_string_equal(text, "0.5");
    number_scan("0.12345678901234567890123", strchr("0.12345678901234567890123", 0), NUMBER_JSON, &value);
    assert_true(value == 0x1.f9add3746f65fp-4);
    setlocale(LC_ALL, "C");
}

static void knows_utf8(void **state) {
    static const struct {
        const char *text;
        size_t valid;
    } cases[] = {{"plain text, longer than eight bytes", 35},
                 {"caf\xC3\xA9", 5},
                 {"12345678\xF0\x9F\x98\x80", 12},
                 {"a\xC3", 1},
                 {"a\xC0\x80", 1},
                 {"12345678\xED\xA0\x80", 8},
                 {"\x80", 0},
                 {"\xF4\x90\x80\x80", 0},
                 {"1234567\xE2\x82\xAC", 10}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(utf8_valid(cases[i].text, strlen(cases[i].text)), cases[i].valid);
}

/* All pairs of first bytes, followed by bytes at the limits of what may follow. */
static void utf8_agrees_with_utf8proc(void **state) {
    (void)state;
    static const unsigned char limits[] = {0x00, 0x7F, 0x80, 0xBF, 0xC0, 0xFF};
    for (unsigned first = 0x80; first < 0x100; first++)
        for (unsigned second = 0; second < 0x100; second++)
            for (size_t i = 0; i < sizeof limits * sizeof limits; i++)
                for (size_t length = 1; length <= 4; length++) {
                    unsigned char text[4] = {(unsigned char)first, (unsigned char)second,
                                             limits[i / sizeof limits], limits[i % sizeof limits]};
                    utf8proc_int32_t code;
                    utf8proc_ssize_t used = utf8proc_iterate(text, (utf8proc_ssize_t)length, &code);
                    size_t valid = utf8_valid((char *)text, length);
                    if ((used > 0) != (valid > 0) || (used > 0 && valid < (size_t)used))
                        fail_msg("%02x %02x %02x %02x, %zu bytes: %zu, utf8proc %td", first, second, text[2],
                                 text[3], length, valid, used);
                }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(utf8_agrees_with_utf8proc),
        cmocka_unit_test(reads_as_strtod),
        cmocka_unit_test(keeps_to_the_grammar),
        cmocka_unit_test(knows_what_float_rounds),
        cmocka_unit_test(knows_what_double_rounds),
        cmocka_unit_test(writes_back),
        cmocka_unit_test(writes_exactly),
        cmocka_unit_test(writes_as_printf),
        cmocka_unit_test(ignores_the_locale),
        cmocka_unit_test(knows_utf8),
    };
    return cmocka_run_group_tests(tests, NULL, help_clean);
}
