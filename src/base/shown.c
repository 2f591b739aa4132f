/* Escapes control characters and broken UTF-8 in text that is shown. */
#include "base/shown.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <utf8proc.h>

/* C0, DEL and C1; line and paragraph separators; marks that turn the direction of writing. */
static bool is_control(utf8proc_int32_t c) {
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2066 && c <= 0x2069);
}

/* What stands for the first character of text [length], and how many bytes that is. */
static size_t escape(const char *text, size_t length, char out[16]) {
    utf8proc_int32_t c;
    utf8proc_ssize_t used =
        utf8proc_iterate((const utf8proc_uint8_t *)text, length > 4 ? 4 : (utf8proc_ssize_t)length, &c);
    if (used <= 0) {
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
    return (size_t)used;
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
