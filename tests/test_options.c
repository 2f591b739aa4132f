/* Tests the option parser: what is accepted, what is refused with which message, and the defaults that help
 * shows. */
#include <stdio.h>
#include <string.h>

#include "app/options.h"
#include "unit.h"

typedef struct values {
    int flag, on, count;
    uint64_t seed;
    double rate;
    const char *file, *kernels;
    int decode;
    option_sizes sizes;
} values;

#define AT(field) offsetof(values, field)

static const onet_choice *kernels(void) {
    static const onet_choice list[] = {{.name = "auto"}, {.name = "plain"}, {0}};
    return list;
}

static const onet_choice *decodes(void) {
    static const onet_choice list[] = {{.name = "beam", .value = 0}, {.name = "greedy", .value = 4}, {0}};
    return list;
}

static const option table[] = {
    {.group = "First"},
    {.name = "flag", .kind = OPTION_FLAG, .field = AT(flag)},
    {.name = "no-on", .kind = OPTION_OFF, .field = AT(on)},
    {.name = "count", .kind = OPTION_INT, .argument = "N", .low = 1, .high = 10, .field = AT(count)},
    {.name = "seed", .kind = OPTION_U64, .argument = "N", .field = AT(seed)},
    {.group = "Second"},
    {.name = "rate", .kind = OPTION_DOUBLE, .argument = "X", .low = 0, .high = 1, .field = AT(rate)},
    {.name = "file", .kind = OPTION_STRING, .argument = "FILE", .required = true, .field = AT(file)},
    {.name = "kernels", .kind = OPTION_NAME, .argument = "SET", .choices = kernels, .field = AT(kernels)},
    {.name = "decode", .kind = OPTION_CHOICE, .argument = "HOW", .choices = decodes, .field = AT(decode)},
    {.name = "n", .kind = OPTION_SIZES, .argument = "SIZES", .low = 1, .high = 500, .field = AT(sizes)},
    {0},
};

static values v;
static onet_error err;
static char *arguments[16];
static int operands;
static bool help, given[OPTIONS_MAX];

/* Parses a line of words separated by blanks. */
static onet_status parse(const char *line) {
    static char copy[256];
    int count = 0;
    snprintf(copy, sizeof copy, "%s", line);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) arguments[count++] = word;
    v = (values){.on = 1, .count = 3};
    err.text[0] = 0;
    return options_parse(table, &v, count, arguments, &operands, &help, given, &err);
}

static void refused(const char *line, const char *sentence) {
    assert_int_equal(parse(line), ONET_USAGE);
    assert_string_equal(err.text, sentence);
}

static void accepts(void **state) {
    assert_int_equal(parse("a --file f --count=7 b --seed 18446744073709551615 --rate 0.5 - --flag --no-on"),
                     0);
    assert_int_equal(operands, 3);
    assert_string_equal(arguments[0], "a");
    assert_string_equal(arguments[1], "b");
    assert_string_equal(arguments[2], "-");
    assert_string_equal(v.file, "f");
    assert_int_equal(v.count, 7);
    assert_true(v.seed == UINT64_MAX && v.rate == 0.5 && v.flag && !v.on);
    assert_int_equal(parse("--file= --kernels plain --decode greedy --count 2 --flag --flag -- --flag"), 0);
    assert_string_equal(v.file, "");
    assert_string_equal(v.kernels, "plain");
    assert_int_equal(v.decode, 4);
    assert_int_equal(v.count, 2);
    assert_int_equal(operands, 1);
    assert_string_equal(arguments[0], "--flag");
    assert_true(v.flag);
}

static void tells_what_is_given(void **state) {
    (void)state;
    assert_int_equal(parse("--file f --count 3 --flag"), 0); /* the default of --count */
    for (const option *o = table; o->name || o->group; o++) {
        const char *name = o->name ? o->name : "";
        bool is_given = !strcmp(name, "file") || !strcmp(name, "count") || !strcmp(name, "flag");
        assert_int_equal(given[o - table], is_given);
    }
    assert_int_equal(parse("--file f"), 0);
    assert_false(given[1]);
}

static void asks_for_help(void **state) {
    assert_int_equal(parse("--help"), 0);
    assert_true(help);
    assert_int_equal(parse("--file x"), 0);
    assert_false(help);
}

static void refuses(void **state) {
    refused("--count 0 --file f", "option --count takes a whole number from 1 to 10, not '0'");
    refused("--count 3x", "option --count takes a whole number from 1 to 10, not '3x'");
    refused("--count 99999999999999999999", "option --count takes a whole number from 1 to 10, not "
                                            "'99999999999999999999'");
    refused("--count=", "option --count takes a whole number from 1 to 10, not ''");
    refused("--seed -1", "option --seed takes a whole number of 0 or more, not '-1'");
    refused("--rate nan", "option --rate takes a number from 0 to 1, not 'nan'");
    refused("--rate 1.01", "option --rate takes a number from 0 to 1, not '1.01'");
    refused("--decode bean", "option --decode is one of beam, greedy, not 'bean'");
    refused("--file f --count 1 --count=1", "option --count is given more than once; it takes one value");
    refused("--flag=1", "option --flag takes no argument");
    refused("--file", "option --file needs an argument: --file FILE");
    refused("--file --flag", "option --file needs an argument: --file FILE");
    refused("--flag", "option --file FILE is missing");
    refused("-x", "unknown option -x");
    refused("--cuont 3", "unknown option --cuont; did you mean --count?");
    refused("--deco=beam", "unknown option --deco; did you mean --decode?");
    refused("--hepl", "unknown option --hepl; did you mean --help?");
    refused("--somethingelse", "unknown option --somethingelse");
}

static void takes_sizes(void **state) {
    assert_int_equal(parse("--file f --n 5-7,10,20-21"), 0);
    static const int want[] = {5, 6, 7, 10, 20, 21};
    assert_int_equal(v.sizes.count, 6);
    assert_memory_equal(v.sizes.value, want, sizeof want);
    char text[64];
    assert_true(option_default(&table[10], &v, text, sizeof text));
    assert_string_equal(text, "5-7,10,20-21");
    assert_int_equal(parse("--file f --n 9,05"), 0);
    assert_int_equal(v.sizes.value[1], 5);
    refused("--n +5", "option --n takes sizes such as 10 or 5-20,25, from 1 to 500, not '+5'");
    refused("--n 7-5", "option --n takes sizes such as 10 or 5-20,25, from 1 to 500, not '7-5'");
    refused("--n 5,", "option --n takes sizes such as 10 or 5-20,25, from 1 to 500, not '5,'");
    refused("--n 0", "option --n takes sizes such as 10 or 5-20,25, from 1 to 500, not '0'");
    refused("--n 1-300", "option --n takes at most 256 sizes; '1-300' has more");
}

static void shows_defaults(void **state) {
    char text[64];
    assert_int_equal(parse("--file f --rate 0.25 --decode greedy"), 0);
    assert_false(option_default(&table[1], &v, text, sizeof text));
    assert_true(option_default(&table[3], &v, text, sizeof text));
    assert_string_equal(text, "3");
    assert_true(option_default(&table[6], &v, text, sizeof text));
    assert_string_equal(text, "0.25");
    assert_true(option_default(&table[9], &v, text, sizeof text));
    assert_string_equal(text, "greedy");
    assert_false(option_default(&table[8], &v, text, sizeof text));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts), cmocka_unit_test(tells_what_is_given), cmocka_unit_test(asks_for_help),
        cmocka_unit_test(refuses), cmocka_unit_test(takes_sizes),         cmocka_unit_test(shows_defaults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
