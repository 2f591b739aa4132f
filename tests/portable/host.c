/* Defines the Unicode functions that src/front/wasm/unicode.c calls in JavaScript (lower and title case,
 * composition), for tests on other CPUs: for ASCII alone, which is all that the names in these tests have. */
#include <stddef.h>
#include <stdint.h>

int32_t host_lower(int32_t point);
int32_t host_title(int32_t point);
ptrdiff_t host_compose(const uint8_t *text, size_t length, int32_t *points, size_t room);

int32_t host_lower(int32_t point) {
    return point >= 'A' && point <= 'Z' ? point + ('a' - 'A') : point;
}

int32_t host_title(int32_t point) {
    return point >= 'a' && point <= 'z' ? point - ('a' - 'A') : point;
}

ptrdiff_t host_compose(const uint8_t *text, size_t length, int32_t *points, size_t room) {
    for (size_t i = 0; i < length; i++) {
        if (text[i] >= 0x80) return -1;
        if (i < room) points[i] = text[i];
    }
    return (ptrdiff_t)length;
}
