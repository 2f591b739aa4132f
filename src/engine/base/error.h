/* Errors: a status that doubles as the program's exit status, and one sentence for the user that
 * says what is wrong, where, and what to do. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include "ordernet.h"

/* Writes the sentence into err (unless it is NULL) and returns the status. */
onet_status fail(onet_error *err, onet_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for a failed allocation; what: what the memory was for. */
onet_status fail_memory(onet_error *err, const char *what);

/* Puts "prefix: " in front of the sentence in err. */
void error_prefix(onet_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
