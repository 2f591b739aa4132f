/* Checks that text is valid UTF-8 (RFC 3629), eight ASCII bytes at a time. Written here, since the tests of
 * the GPU link it where no other library is installed; tests/test_number.c compares it with utf8proc. */
#include "engine/base/utf8.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Returns the number of bytes of the character at text, which has `left` bytes; 0: not valid. */
static size_t character(const unsigned char *text, size_t left) {
    unsigned char first = text[0];
    if (first < 0x80) return 1;
    size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (first < 0xC2 || first > 0xF4 || length > left) return 0; /* 0xC0 and 0xC1 spell ASCII in two bytes */
    for (size_t i = 1; i < length; i++)
        if ((text[i] & 0xC0) != 0x80) return 0;
    bool longer = (first == 0xE0 && text[1] < 0xA0) || (first == 0xF0 && text[1] < 0x90); /* than needed */
    bool surrogate = first == 0xED && text[1] > 0x9F, beyond = first == 0xF4 && text[1] > 0x8F;
    return longer || surrogate || beyond ? 0 : length;
}

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
        size_t used = character((const unsigned char *)text + at, length - at);
        if (!used) return at;
        at += used;
    }
    return at;
}
