/* Classifies, lower-cases and compares ASCII characters; unlike the functions of <ctype.h>, these do not
 * depend on the locale. */
#ifndef BASE_ASCII_H
#define BASE_ASCII_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static inline bool ascii_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static inline bool ascii_digit(char c) {
    return c >= '0' && c <= '9';
}

static inline char ascii_lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Whether the first `length` bytes are equal, ignoring case. */
static inline bool ascii_same(const char *a, const char *b, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (ascii_lower(a[i]) != ascii_lower(b[i])) return false;
    return true;
}

/* Whether text, such as a file's name, is longer than `ending` and ends in it, ignoring case. */
static inline bool ascii_ends_in(const char *text, size_t length, const char *ending) {
    size_t n = strlen(ending);
    return length > n && ascii_same(text + length - n, ending, n);
}

#endif
