/* Escapes control characters and invalid UTF-8 in text that is shown to people, and widens printf's columns
 * for UTF-8. */
#include "engine/base/shown.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* C0, DEL and C1; line and paragraph separators; marks that turn the direction of writing. */
static bool is_control(uint32_t c) {
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2066 && c <= 0x2069);
}

/* Returns the number of bytes of the first character of text [length] and sets *c to its code point; 0: not
 * UTF-8. Without utf8proc, since the GPU library is built with this file too. */
static size_t decode(const unsigned char *text, size_t length, uint32_t *c) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800,
                                     0x10000}; /* longer forms of the same code point are invalid */
    unsigned first = text[0];
    size_t bytes = first < 0x80 ? 1 : first >> 5 == 6 ? 2 : first >> 4 == 14 ? 3 : first >> 3 == 30 ? 4 : 0;
    if (!bytes || bytes > length) return 0;
    *c = bytes == 1 ? first : first & (0x7fu >> bytes);
    for (size_t i = 1; i < bytes; i++) {
        if (text[i] >> 6 != 2) return 0;
        *c = *c << 6 | (text[i] & 0x3fu);
    }
    bool surrogate = *c >= 0xd800 && *c < 0xe000;
    return *c < least[bytes] || *c > 0x10ffff || surrogate ? 0 : bytes;
}

/* Writes the escaped form of the first character of text [length] to out; returns the number of bytes of the
 * character. */
static size_t escape(const char *text, size_t length, char out[16]) {
    uint32_t c;
    size_t used = decode((const unsigned char *)text, length, &c);
    if (!used) {
        snprintf(out, 16, "\\x%02x", (unsigned char)*text);
        return 1;
    }
    const char *short_form = c == '\n' ? "\\n" : c == '\t' ? "\\t" : c == '\r' ? "\\r" : NULL;
    if (short_form)
        snprintf(out, 16, "%s", short_form);
    else if (is_control(c))
        snprintf(out, 16, c < 0x80 ? "\\x%02x" : "\\u%04x", (unsigned)c);
    else
        snprintf(out, 16, "%.*s", (int)used, text);
    return used;
}

char *shown_text(char *to, size_t room, const char *text, size_t length) {
    size_t at = 0;
    while (length) {
        if (*text >= ' ' && *text < 0x7f) { /* most text is plain ASCII */
            if (at + 1 >= room) break;
            to[at++] = *text++;
            length--;
            continue;
        }
        char out[16];
        size_t used = escape(text, length, out), need = strlen(out);
        if (at + need >= room) break;
        memcpy(to + at, out, need);
        at += need;
        text += used;
        length -= used;
    }
    if (room) to[at] = 0;
    return to;
}

char *shown(char to[SHOWN], const char *text) {
    return shown_text(to, SHOWN, text, strlen(text));
}

int shown_width(const char *text, int columns) {
    for (; *text; text++) columns += (*text & 0xC0) == 0x80;
    return columns;
}

char *shown_copy(const char *text) {
    size_t length = strlen(text), room = 4 * length + 1; /* a byte becomes 4 characters at most: \xff */
    char *copy = length < SIZE_MAX / 4 ? malloc(room) : NULL;
    return copy ? shown_text(copy, room, text, length) : NULL;
}
