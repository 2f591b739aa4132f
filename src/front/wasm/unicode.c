/* Replaces utf8proc in the WebAssembly module, with the functions that the library calls: UTF-8 is decoded
 * and encoded here; lower case, capitals and normal form C come from JavaScript's string methods, since
 * utf8proc's tables would make up most of the download. */
#include <utf8proc.h>

/* Return the lower case of a code point, and its capital. */
__attribute__((import_module("ordernet"), import_name("lower"))) int32_t host_lower(int32_t point);
__attribute__((import_module("ordernet"), import_name("title"))) int32_t host_title(int32_t point);
/* Writes the code points of text [length] in normal form C to points [room]; returns their number, -1 if the
 * text is not UTF-8. */
__attribute__((import_module("ordernet"), import_name("compose"))) ptrdiff_t
host_compose(const uint8_t *text, size_t length, int32_t *points, size_t room);

utf8proc_ssize_t utf8proc_iterate(const utf8proc_uint8_t *text, utf8proc_ssize_t length,
                                  utf8proc_int32_t *point) {
    static const int32_t least[5] = {0, 0, 0x80, 0x800, 0x10000}; /* smallest code point with so many bytes */
    *point = -1;
    if (!length) return 0;
    if (length < 0) length = 4;
    int bytes = text[0] < 0x80   ? 1
                : text[0] < 0xc0 ? 0
                : text[0] < 0xe0 ? 2
                : text[0] < 0xf0 ? 3
                : text[0] < 0xf8 ? 4
                                 : 0;
    if (!bytes || bytes > length) return UTF8PROC_ERROR_INVALIDUTF8;
    int32_t code = bytes == 1 ? text[0] : text[0] & (0x7f >> bytes);
    for (int i = 1; i < bytes; i++) {
        if ((text[i] & 0xc0) != 0x80) return UTF8PROC_ERROR_INVALIDUTF8;
        code = code << 6 | (text[i] & 0x3f);
    }
    if (code < least[bytes] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return UTF8PROC_ERROR_INVALIDUTF8;
    *point = code;
    return bytes;
}

utf8proc_ssize_t utf8proc_encode_char(utf8proc_int32_t point, utf8proc_uint8_t *text) {
    int bytes = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    if (bytes == 1) {
        text[0] = (uint8_t)point;
        return 1;
    }
    for (int i = bytes - 1; i > 0; i--, point >>= 6) text[i] = (uint8_t)(0x80 | (point & 0x3f));
    text[0] = (uint8_t)(0xf00 >> bytes | point);
    return bytes;
}

utf8proc_int32_t utf8proc_tolower(utf8proc_int32_t point) {
    return host_lower(point);
}

utf8proc_int32_t utf8proc_totitle(utf8proc_int32_t point) {
    return host_title(point);
}

utf8proc_ssize_t utf8proc_decompose(const utf8proc_uint8_t *text, utf8proc_ssize_t length,
                                    utf8proc_int32_t *points, utf8proc_ssize_t room,
                                    utf8proc_option_t options) {
    (void)options;
    ptrdiff_t count = host_compose(text, (size_t)length, points, (size_t)room);
    return count < 0 ? UTF8PROC_ERROR_INVALIDUTF8 : count;
}

/* The points are composed already. */
utf8proc_ssize_t utf8proc_normalize_utf32(utf8proc_int32_t *points, utf8proc_ssize_t length,
                                          utf8proc_option_t options) {
    (void)points, (void)options;
    return length;
}
