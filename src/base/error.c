/* Writes error sentences without control characters. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Text from a file may reach a terminal in a sentence; control characters must not. */
static void no_control(char *text) {
    for (; *text; text++)
        if (((unsigned char)*text < ' ' && *text != '\n') || *text == 0x7f) *text = '?';
}

onet_status fail(onet_error *err, onet_status status, const char *format, ...) {
    if (err) {
        va_list args;
        va_start(args, format);
        vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
        no_control(err->text);
    }
    return status;
}

onet_status fail_memory(onet_error *err, const char *what) {
    return fail(err, ONET_MEMORY, "not enough memory for %s", what);
}

void error_prefix(onet_error *err, const char *format, ...) {
    if (!err) return;
    char old[sizeof err->text];
    memcpy(old, err->text, sizeof old);
    va_list args;
    va_start(args, format);
    int used = vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    if (used < 0) used = 0;
    if ((size_t)used < sizeof err->text)
        snprintf(err->text + used, sizeof err->text - (size_t)used, ": %s", old);
}
