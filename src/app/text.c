/* Appends to a growing text buffer: formatted text and JSON strings, numbers and arrays. The server writes
 * its answers with it. */
#include "app/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/base/number.h"
#include "engine/base/utf8.h"

void text_add(text *t, const char *bytes, size_t length) {
    if (t->failed || !array_reserve(&t->data, &t->room, t->length + length, 1)) {
        t->failed = true;
        return;
    }
    if (length) memcpy(t->data + t->length, bytes, length);
    t->length += length;
}

void text_put(text *t, const char *string) {
    text_add(t, string, strlen(string));
}

void text_printf(text *t, const char *format, ...) {
    char small[512];
    va_list list;
    va_start(list, format);
    int need = vsnprintf(small, sizeof small, format, list);
    va_end(list);
    if (need >= 0 && (size_t)need < sizeof small) {
        text_add(t, small, (size_t)need);
        return;
    }
    if (need < 0 || t->failed || !array_reserve(&t->data, &t->room, t->length + (size_t)need + 1, 1)) {
        t->failed = true;
        return;
    }
    va_start(list, format);
    vsnprintf(t->data + t->length, (size_t)need + 1, format, list);
    va_end(list);
    t->length += (size_t)need;
}

void text_string(text *t, const char *string, size_t length) {
    text_put(t, "\"");
    while (length) {
        size_t valid = utf8_valid(string, length), from = 0;
        for (size_t i = 0; i < valid; i++) {
            unsigned char c = (unsigned char)string[i];
            if (c >= 0x20 && c != 0x7f && !strchr("\"\\<>&'", c)) continue;
            text_add(t, string + from, i - from);
            text_printf(t, c == '"' || c == '\\' ? "\\%c" : "\\u%04x", c);
            from = i + 1;
        }
        text_add(t, string + from, valid - from);
        string += valid;
        length -= valid;
        if (!length) break;
        text_put(t, "\\ufffd");
        string++;
        length--;
    }
    text_put(t, "\"");
}

void text_order(text *t, const int32_t *order, size_t length) {
    enum { INT_TEXT = 12 };
    char number[INT_TEXT];
    text_put(t, "[");
    for (size_t i = 0; i < length; i++) {
        uint32_t value = (uint32_t)order[i];
        char *end = number + sizeof number, *at = end;
        do *--at = (char)('0' + value % 10);
        while (value /= 10);
        if (i) *--at = ',';
        text_add(t, at, (size_t)(end - at));
    }
    text_put(t, "]");
}

void text_double(text *t, double value) {
    char number[NUMBER_TEXT];
    if (isfinite(value))
        text_add(t, number, number_text_double(number, value));
    else
        text_put(t, "null");
}

void text_floats(text *t, const float *value, size_t length) {
    char number[NUMBER_TEXT];
    text_put(t, "[");
    for (size_t i = 0; i < length; i++) {
        if (i) text_put(t, ",");
        text_add(t, number, number_text_float(number, value[i]));
    }
    text_put(t, "]");
}
