/* Numbers as text, the same in every locale. */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

typedef enum number_grammar {
    NUMBER_JSON, /* as RFC 8259 has it: -1, 0.5, 1e-3; not +1, .5, 1. or 01 */
    NUMBER_LOOSE /* those too */
} number_grammar;

/* Reads the number that starts at text (before end). Gives back the first character after it, or text itself
 * where no number starts. *value is the nearest double, infinite where the number is out of range. */
const char *number_scan(const char *text, const char *end, number_grammar grammar, double *value);

/* The nearest float; false where that is infinite, or value is no number. */
bool number_to_float(double value, float *result);

/* Whether text is one of the names of what is not a finite number: nan, inf, infinity, with or without a
 * sign, in any case; gives its length, or 0. */
size_t number_not_finite(const char *text, const char *end);

enum { NUMBER_TEXT = 32 };
/* The shortest text, with its end mark, that reads back as the same value; its length. */
size_t number_text_float(char text[NUMBER_TEXT], float value);
/* The same in 9 digits, enough for a log-probability. */
size_t number_text_double(char text[NUMBER_TEXT], double value);

#endif
