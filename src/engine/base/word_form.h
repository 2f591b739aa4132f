/* Normalises the spelling of words, so that a word of a text is found in the vocabulary: lower case, title
 * case, composed accents (Unicode NFC), plain quotes and dashes. */
#ifndef BASE_WORD_FORM_H
#define BASE_WORD_FORM_H

#include <stdbool.h>
#include <stddef.h>

enum { WORD_INVALID = -1, WORD_TOO_LONG = -2 };

/* Bytes of the longest word whose form is changed. */
enum { WORD_LONGEST = 256 };

/* Lower-cases UTF-8, code point by code point (Unicode's simple mapping). Returns the length of what was
 * written to out, which is not NUL-terminated; WORD_INVALID for bytes that are not UTF-8, WORD_TOO_LONG if
 * the result does not fit. word_form_room(length) bytes always fit. */
ptrdiff_t word_lower(const char *text, size_t length, char *out, size_t capacity);

static inline size_t word_form_room(size_t length) {
    return 2 * length + 4;
}

/* Writes the first letter in title case and copies the rest. Returns as word_lower does. */
ptrdiff_t word_title(const char *text, size_t length, char *out, size_t capacity);

/* Whether the text has a letter with an upper and a lower case. False for bytes that are not UTF-8. */
bool word_has_case(const char *text, size_t length);

/* Normalises the spelling of a lower-case word: accents joined to their letters (NFC), typographic quotes and
 * hyphens replaced by plain ones. Returns as word_lower does. */
ptrdiff_t word_plain(const char *text, size_t length, char *out, size_t capacity);

#endif
