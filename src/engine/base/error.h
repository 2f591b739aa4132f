/* Reports errors: fail, fail_field and fail_memory write a message for the user, which says what is wrong,
 * where, and what to do, and the name of the wrong option's field into an onet_error; they return a status,
 * which is also the program's exit status. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include "ordernet.h"

/* Formats the error message into err (unless it is NULL) and returns status. */
onet_status fail(onet_error *err, onet_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* As fail, and records the field of the options that is wrong (or two, separated by a blank). The message
 * must make sense without their names. */
onet_status fail_field(onet_error *err, onet_status status, const char *field, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Sets the field that the message in err is about; "": none. */
void error_field(onet_error *err, const char *field);

/* Reports a failed allocation, with ONET_MEMORY. what: what the memory was for. */
onet_status fail_memory(onet_error *err, const char *what);

/* Puts "prefix: " in front of the message in err; its field stays. */
void error_prefix(onet_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
