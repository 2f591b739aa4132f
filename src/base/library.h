/* Libraries that are opened at run time: parts that not every machine has what they need. */
#ifndef BASE_LIBRARY_H
#define BASE_LIBRARY_H

#include <stdbool.h>

#include "ordernet.h"

/* The file that the environment's `variable` names; NULL: none. */
const char *library_named(const char *variable);

/* Opens the file that the environment's `variable` names, or else `name` from the folder of this code (the
 * program, or libordernet.so), from ../lib beside that folder, or from where the loader looks. The symbol's
 * address to *address. `how` ends the sentence of a failure: what to do to get the library. It stays open:
 * threads may live in it. */
onet_status library_symbol(void **address, const char *name, const char *variable, const char *symbol,
                           const char *how, onet_error *err);

#endif
