/* Normalises the spelling of words, so that a word of a text is found in the vocabulary: lower case, title
 * case, composed accents (Unicode NFC), plain quotes and dashes. */
#ifndef BASE_WORD_FORM_H
#define BASE_WORD_FORM_H

#include <stdbool.h>
#include <stddef.h>

enum { WORD_INVALID = -1, WORD_TOO_LONG = -2 };

/* Bytes of the longest word whose form is changed. */
enum { WORD_LONGEST = 256 };

/* Lower-cases UTF-8, code point by code point (Unicode's simple mapping). Gives the length of what was
 * written to out, which is not terminated; WORD_INVALID for bytes that are not UTF-8, and WORD_TOO_LONG when
 * the result does not fit. word_form_room(length) bytes always fit. */
ptrdiff_t word_lower(const char *text, size_t length, char *out, size_t capacity);

static inline size_t word_form_room(size_t length) {
    return 2 * length + 4;
}

/* Gives the first letter its capital (title case), and copies the rest. The same result codes. */
ptrdiff_t word_title(const char *text, size_t length, char *out, size_t capacity);

/* Whether the text has a letter that is upper or lower case. False for bytes that are not UTF-8. */
bool word_has_case(const char *text, size_t length);

/* For a user's own spelling, after word_lower: accents joined to their letters (NFC), typographic quotes and
 * dashes written as in plain text. The same result codes. */
ptrdiff_t word_plain(const char *text, size_t length, char *out, size_t capacity);

#endif
