/* Checks the arguments of public functions (NULL pointers, numbers of threads). Each argument is checked
 * once, in the function that the caller calls. */
#ifndef BASE_ARGUMENTS_H
#define BASE_ARGUMENTS_H

#include "engine/base/error.h"
#include "engine/base/limits.h"

/* Returns ONET_USAGE from a function that has `err` if the caller gave NULL for the argument that
 * ordernet.h calls `name`. */
#define NEED(argument, name)                                                                                 \
    do {                                                                                                     \
        if (!(argument)) return fail(err, ONET_USAGE, "%s: %s is NULL", __func__, name);                     \
    } while (0)

/* Returns ONET_USAGE unless threads is from 0 (one for each CPU) to MAX_THREADS. field: the field of the
 * options that has it. */
static inline onet_status check_threads(int threads, const char *field, onet_error *err) {
    if (threads >= 0 && threads <= MAX_THREADS) return ONET_OK;
    return fail_field(err, ONET_USAGE, field, "%d threads: 0 (one for each CPU) to %d are possible", threads,
                      MAX_THREADS);
}

#endif
