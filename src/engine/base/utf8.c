/* Checks that text is valid UTF-8, eight ASCII bytes at a time. */
#include "engine/base/utf8.h"

#include <stdint.h>
#include <string.h>
#include <utf8proc.h>

size_t utf8_valid(const char *text, size_t length) {
    size_t at = 0;
    while (at < length) {
        uint64_t eight;
        if (length - at >= sizeof eight) { /* most text is plain ASCII */
            memcpy(&eight, text + at, sizeof eight);
            if (!(eight & UINT64_C(0x8080808080808080))) {
                at += sizeof eight;
                continue;
            }
        }
        utf8proc_int32_t code;
        utf8proc_ssize_t used =
            utf8proc_iterate((const utf8proc_uint8_t *)text + at,
                             length - at > 4 ? 4 : (utf8proc_ssize_t)(length - at), &code);
        if (used <= 0) return at;
        at += (size_t)used;
    }
    return at;
}
