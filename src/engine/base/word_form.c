/* Changes UTF-8 words with utf8proc: lower case, title case, accents joined to their letters (NFC); tells
 * whether text has upper and lower case; replaces typographic quotes and hyphens by plain ones. */
#include "engine/base/word_form.h"

#include <string.h>
#include <utf8proc.h>

enum { MAX_POINTS = 256 }; /* longest word, in code points, whose accents are joined */

static int is_ascii(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] >= 0x80) return 0;
    return 1;
}

ptrdiff_t word_lower(const char *text, size_t length, char *out, size_t capacity) {
    if (length > PTRDIFF_MAX) return WORD_TOO_LONG;
    size_t used = 0;
    for (size_t i = 0; i < length;) {
        unsigned char c = (unsigned char)text[i];
        if (c < 0x80) {
            if (used == capacity) return WORD_TOO_LONG;
            out[used++] = (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
            i++;
            continue;
        }
        utf8proc_int32_t point;
        utf8proc_uint8_t bytes[4];
        utf8proc_ssize_t read =
            utf8proc_iterate((const utf8proc_uint8_t *)text + i, (utf8proc_ssize_t)(length - i), &point);
        if (read <= 0) return WORD_INVALID;
        size_t wrote = (size_t)utf8proc_encode_char(utf8proc_tolower(point), bytes);
        if (wrote > capacity - used) return WORD_TOO_LONG;
        memcpy(out + used, bytes, wrote);
        used += wrote;
        i += (size_t)read;
    }
    return (ptrdiff_t)used;
}

ptrdiff_t word_title(const char *text, size_t length, char *out, size_t capacity) {
    utf8proc_int32_t point;
    utf8proc_uint8_t bytes[4];
    if (!length) return 0;
    if (length > PTRDIFF_MAX) return WORD_TOO_LONG;
    utf8proc_ssize_t read =
        utf8proc_iterate((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)length, &point);
    if (read <= 0) return WORD_INVALID;
    size_t wrote = (size_t)utf8proc_encode_char(utf8proc_totitle(point), bytes), rest = length - (size_t)read;
    if (wrote > capacity || rest > capacity - wrote) return WORD_TOO_LONG;
    memcpy(out, bytes, wrote);
    memcpy(out + wrote, text + read, rest);
    return (ptrdiff_t)(wrote + rest);
}

bool word_has_case(const char *text, size_t length) {
    for (size_t i = 0; i < length;) {
        utf8proc_int32_t point;
        utf8proc_ssize_t read =
            utf8proc_iterate((const utf8proc_uint8_t *)text + i, (utf8proc_ssize_t)(length - i), &point);
        if (read <= 0) return false;
        if (utf8proc_tolower(point) != point || utf8proc_totitle(point) != point) return true;
        i += (size_t)read;
    }
    return false;
}

/* Returns the plain character for a typographic quote or hyphen, and others as they are. */
static utf8proc_int32_t plain_point(utf8proc_int32_t point) {
    switch (point) {
    case 0x2018: /* quotation marks */
    case 0x2019:
    case 0x02BC:
        return '\'';
    case 0x201C:
    case 0x201D:
        return '"';
    case 0x2010: /* hyphens */
    case 0x2011:
        return '-';
    default:
        return point;
    }
}

ptrdiff_t word_plain(const char *text, size_t length, char *out, size_t capacity) {
    if (is_ascii(text, length)) {
        if (length > capacity) return WORD_TOO_LONG;
        memcpy(out, text, length);
        return (ptrdiff_t)length;
    }
    if (length > MAX_POINTS) return WORD_TOO_LONG;
    /* On the stack: a look-up must not fail for lack of memory. */
    utf8proc_int32_t points[MAX_POINTS * 4];
    utf8proc_ssize_t count = utf8proc_decompose((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)length,
                                                points, MAX_POINTS * 4, UTF8PROC_STABLE | UTF8PROC_COMPOSE);
    if (count < 0) return WORD_INVALID;
    if (count > MAX_POINTS * 4) return WORD_TOO_LONG;
    count = utf8proc_normalize_utf32(points, count, UTF8PROC_STABLE | UTF8PROC_COMPOSE);
    if (count < 0) return WORD_INVALID;
    size_t used = 0;
    for (utf8proc_ssize_t i = 0; i < count; i++) {
        utf8proc_uint8_t bytes[4];
        size_t wrote = (size_t)utf8proc_encode_char(plain_point(points[i]), bytes);
        if (wrote > capacity - used) return WORD_TOO_LONG;
        memcpy(out + used, bytes, wrote);
        used += wrote;
    }
    return (ptrdiff_t)used;
}
