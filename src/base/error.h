/* Errors: a status that doubles as the program's exit status, and one sentence for the user that
 * says what is wrong, where, and what to do. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include "ordernet.h"

/* Writes the sentence into err (when it is not NULL) and gives the status back. */
onet_status fail(onet_error *err, onet_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The sentence for memory that could not be had: what it was for. */
onet_status fail_memory(onet_error *err, const char *what);

/* Puts "prefix: " in front of the sentence that is already there. */
void error_prefix(onet_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
