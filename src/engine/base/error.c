/* Writes the message of an error and the field of the options that it is about into an onet_error (numbers
 * as in the C locale, text from files escaped), and puts a prefix in front of a message. */
#include "engine/base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/number.h"
#include "engine/base/shown.h"

static void say(onet_error *err, const char *field, const char *format, va_list args) {
    char text[sizeof err->text];
    number_vprint(text, sizeof text, format, args);
    shown_text(err->text, sizeof err->text, text, strlen(text));
    error_field(err, field);
}

onet_status fail(onet_error *err, onet_status status, const char *format, ...) {
    if (!err) return status;
    va_list args;
    va_start(args, format);
    say(err, "", format, args);
    va_end(args);
    return status;
}

onet_status fail_field(onet_error *err, onet_status status, const char *field, const char *format, ...) {
    if (!err) return status;
    va_list args;
    va_start(args, format);
    say(err, field, format, args);
    va_end(args);
    return status;
}

void error_field(onet_error *err, const char *field) {
    if (err) snprintf(err->field, sizeof err->field, "%s", field);
}

onet_status fail_memory(onet_error *err, const char *what) {
    return fail(err, ONET_MEMORY, "not enough memory for %s", what);
}

void error_prefix(onet_error *err, const char *format, ...) {
    if (!err) return;
    char prefix[sizeof err->text];
    onet_error old = *err;
    va_list args;
    va_start(args, format);
    number_vprint(prefix, sizeof prefix, format, args);
    va_end(args);
    fail_field(err, ONET_FAILED, old.field, "%s: %s", prefix, old.text);
}
