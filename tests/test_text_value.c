/* Tests text that is read as a number: true, false, dates and times. */
#include <string.h>

#include "engine/data/text_value.h"
#include "unit.h"

static void values(void **state) {
    static const struct {
        const char *text;
        double value;
    } good[] = {{"true", 1},
                {"FALSE", 0},
                {"1970-01-01", 0},
                {"1969-12-31", -86400},
                {"2000-02-29", 951782400},
                {"2024-05-31", 1717113600},
                {"2024-05-31T18:30", 1717180200},
                {"2024-05-31 18:30:15Z", 1717180215},
                {"2024-05-31T18:30:15.25+02:00", 1717173015.25},
                {"2024-05-31T18:30:15-0130", 1717185615},
                {"2024-05-31T18:30:15+05", 1717162215},
                {"2016-12-31T23:59:60Z", 1483228800},
                {"2024-05-31T24:00:00", 1717200000},
                {"0001-01-01", -62135596800}};
    static const char *const bad[] = {"",
                                      "yes",
                                      "truely",
                                      "2024",
                                      "2024-5-1",
                                      "2024-13-01",
                                      "2024-00-01",
                                      "2023-02-29",
                                      "1900-02-29",
                                      "2024-04-31",
                                      "0000-01-01",
                                      "2024-05-31T",
                                      "2024-05-31T18",
                                      "2024-05-31T18:60",
                                      "2024-05-31T25:00",
                                      "2024-05-31T24:59:60",
                                      "2024-05-31T24:30",
                                      "2024-05-31T24:00:00.5",
                                      "2024-05-31T18:30:60",
                                      "2024-05-31T18:59:61",
                                      "2024-05-31T18:30:",
                                      "2024-05-31T18:30:15.",
                                      "2024-05-31T18:30+2",
                                      "2024-05-31T18:30+24:00",
                                      "2024-05-31T18:30:15.1234567890123456",
                                      "2024-05-31T18:30Zulu",
                                      "2024-05-31x"};
    double value;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!text_value(good[i].text, strlen(good[i].text), &value) || value != good[i].value)
            fail_msg("%s: %f", good[i].text, value);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (text_value(bad[i], strlen(bad[i]), &value)) fail_msg("%s is %f", bad[i], value);
    /* Not a byte beyond the end. */
    assert_true(text_value("2024-05-31T18:30:15", 10, &value) && value == 1717113600);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
