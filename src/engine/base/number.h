/* Parses and prints numbers, the same in every locale; also recognises whole numbers that a double or float
 * rounds, names such as inf and nan, and columns of numbers that look like ids. */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum number_grammar {
    NUMBER_JSON, /* RFC 8259: -1, 0.5, 1e-3; not +1, .5, 1. or 01 */
    NUMBER_LOOSE /* accepts +1, .5, 1. and 01 too */
} number_grammar;

/* Reads the number that starts at text (before end). Returns a pointer to the first character after it, or
 * text if no number starts there. *value is the nearest double, infinite if the number is out of range. */
const char *number_scan(const char *text, const char *end, number_grammar grammar, double *value);

/* Sets *result to the nearest float; returns false if that is infinite, or if value is NaN. */
bool number_to_float(double value, float *result);

/* Whether the text is a whole number that double cannot hold: value, its nearest double, differs from it even
 * when printed in as many digits. 9007199254740993 is such a number, and so are 9007199254740993.0 and
 * 9.007199254740993e15; 123456789012345680000, the shortest text of a double, is not. */
bool number_is_rounded(const char *text, const char *end, double value);
#define NUMBER_ROUNDED                                                                                       \
    "a whole number that double cannot hold exactly; subtract a common offset from all values"

/* Whether value is a whole number of at most 2^53 that float rounds, such as 16777217. Every larger double is
 * whole, so it does not count. For relations, which are floats. */
bool number_rounds_in_float(double value);
#define NUMBER_ROUNDED_IN_FLOAT                                                                              \
    "a whole number that float32 rounds; relations are kept with 7 digits: divide all of them by a common "  \
    "factor or subtract an offset"

/* Compares two doubles, for qsort. */
int number_ascending(const void *a, const void *b);

/* Whether value [count], which it sorts, looks like ids: whole numbers, all distinct, and closer to each
 * other than times or amounts are. False for fewer than NUMBERS_ENOUGH, which may be so by chance. */
enum { NUMBERS_ENOUGH = 20 };
bool numbers_are_ids(double *value, size_t count);

/* Returns the length of nan, inf or infinity (in any case, with or without a sign) at text; 0 if there is
 * none. */
size_t number_not_finite(const char *text, const char *end);

enum { NUMBER_TEXT = 32 };
/* Write the shortest text that reads back as the same float (_float) or double (_exact), NUL-terminated;
 * return its length. */
size_t number_text_float(char text[NUMBER_TEXT], float value);
size_t number_text_exact(char text[NUMBER_TEXT], double value);
/* Writes at most 9 digits, enough for a log-probability; returns the length. */
size_t number_text_double(char text[NUMBER_TEXT], double value);
/* Writes a whole number, faster than printf; returns the length. */
size_t number_text_int(char text[NUMBER_TEXT], int64_t value);

/* snprintf, vsnprintf and strtod in the C locale, whatever the program's locale is. */
int number_print(char *text, size_t room, const char *format, ...) __attribute__((format(printf, 3, 4)));
int number_vprint(char *text, size_t room, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));
double number_parse(const char *text, char **end);

#endif
