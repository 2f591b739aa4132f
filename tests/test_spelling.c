/* Tests which texts are numbers, dates or times spelt otherwise, and which columns are made of them. */
#include "engine/data/spelling.h"

#include <stdint.h>
#include <string.h>

#include "unit.h"

static void texts(void **state) {
    static const struct {
        const char *text, *how;
    } known[] = {
        {"48,85", "write the decimal point as a dot"},
        {"1.234,5", "write the decimal point as a dot"},
        {"1,234", "write it without the commas"},
        {"5%", "write it without the sign of per cent"},
        {"0.5 %", "write it without the sign of per cent"},
        {"$5", "write it without the currency"},
        {"1 000 \u20ac", "write it without the currency"},
        {"EUR 5", "write it without the currency"},
        {"1 000", "write it without the blanks, as 1000"},
        {"-12 345 678,9", "write it without the blanks, as 1000"},
        {"1\u00a0000", "write it without the blanks, as 1000"},
        {"1\u202f000", "write it without the blanks, as 1000"},
        {"12 ", "write it without the blanks, as 1000"},
        {"\u00a05", "write it without the blanks, as 1000"},
        {"1'000", "write it without the marks between thousands, as 1000"},
        {"1\u2019000.5", "write it without the marks between thousands, as 1000"},
        {"1_000_000", "write it without the marks between thousands, as 1000"},
        {"\u22125", "write the minus as a hyphen, as -5"},
        {"\u22121,5", "write the minus as a hyphen, as -5"},
        {"5 kg", "write it without the unit"},
        {"7.5kg", "write it without the unit"},
        {"1,000 km/h", "write it without the unit"},
        {"21 \u00b0C", "write it without the unit"},
        {"0x10", "write it as a decimal number"},
        {"31.12.2024", "write dates as 2024-12-31"},
        {"31.12.24", "write dates as 2024-12-31"},
        {"1/2/2024", "write dates as 2024-12-31"},
        {"1/2/24", "write dates as 2024-12-31"},
        {"31-12-2024", "write dates as 2024-12-31"},
        {"2024/01/01", "write dates as 2024-12-31"},
        {"2024-1-5", "write dates as 2024-12-31"},
        {"31.12.2024 10:30", "write dates as 2024-12-31"},
        {"12/31/2024, 9:05 PM", "write dates as 2024-12-31"},
        {"2024-12", "write a day of the month, as 2024-12-01"},
        {"12/2024", "write a day of the month, as 2024-12-01"},
        {"10:30", "write the minutes since midnight, or date and time as 2024-12-31T10:30"},
        {"9:05 pm", "write the minutes since midnight, or date and time as 2024-12-31T10:30"},
        {"10:30:15.5", "write the minutes since midnight, or date and time as 2024-12-31T10:30"},
    };
    static const char *const others[] = {
        "",
        "5",
        "-5.5e3",
        "1e400",
        "2024-12-31",
        "2024-12-31T10:30",
        "true",
        "red",
        "3rd",
        "2XL",
        "3a",
        "5g",
        "5m",
        "A4",
        "1.2.3",
        "1.2.24",
        "16:9",
        "4:3",
        "25:00",
        "10:60",
        "1/2",
        "13/13/2024",
        "0/1/2024",
        "2024-02-30",
        "2024-13",
        "12 34",
        "1 00",
        "1'00",
        "1_0",
        "0x",
        "0xgg",
        "7 Eleven",
        "kg",
        "10:30 noon",
        "31.12.2024 noon",
        "192.168.0.1",
        "-",
        "%",
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const char *how = spelling(known[i].text, strlen(known[i].text));
        if (!how || strcmp(how, known[i].how) != 0) fail_msg("%s: %s", known[i].text, how ? how : "none");
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const char *how = spelling(others[i], strlen(others[i]));
        if (how) fail_msg("%s: %s", others[i], how);
    }
}

/* Most texts decide, dashes aside. */
static void columns(void **state) {
    static const char *const value[] = {"10:30", "noon", "9:05", "-"};
    names values = {0};
    size_t number;
    for (size_t k = 0; k < 4; k++) assert_true(names_add(&values, value[k], strlen(value[k]), &number));
    assert_int_equal(spelling_first(&values, (size_t[]){1, SIZE_MAX, 2, 0, 3, 3}, 6), 2);
    assert_int_equal(spelling_first(&values, (size_t[]){1, 0, 1, 0}, 4), SIZE_MAX);
    assert_int_equal(spelling_first(&values, (size_t[]){3, 3}, 2), SIZE_MAX);
    assert_int_equal(spelling_first(&values, (size_t[]){SIZE_MAX}, 1), SIZE_MAX);
    names_free(&values);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(texts), cmocka_unit_test(columns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
