/* Writes error sentences: numbers as in the C locale, text from files escaped. */
#include "engine/base/error.h"

#include <stdarg.h>
#include <string.h>

#include "engine/base/number.h"
#include "engine/base/shown.h"

onet_status fail(onet_error *err, onet_status status, const char *format, ...) {
    if (!err) return status;
    char text[sizeof err->text];
    va_list args;
    va_start(args, format);
    number_vprint(text, sizeof text, format, args);
    va_end(args);
    shown_text(err->text, sizeof err->text, text, strlen(text));
    return status;
}

onet_status fail_memory(onet_error *err, const char *what) {
    return fail(err, ONET_MEMORY, "not enough memory for %s", what);
}

void error_prefix(onet_error *err, const char *format, ...) {
    if (!err) return;
    char old[sizeof err->text], prefix[sizeof err->text];
    memcpy(old, err->text, sizeof old);
    va_list args;
    va_start(args, format);
    number_vprint(prefix, sizeof prefix, format, args);
    va_end(args);
    fail(err, ONET_FAILED, "%s: %s", prefix, old);
}
