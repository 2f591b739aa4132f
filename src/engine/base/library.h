/* Loads shared libraries at run time and finds a function in them, since not every machine has what they
 * need (CUDA, MPI). Also finds the folder that the running program or library was loaded from. */
#ifndef BASE_LIBRARY_H
#define BASE_LIBRARY_H

#include <stddef.h>

#include "ordernet.h"

/* Writes to path [room] the folder of the file that this code was loaded from (the program, or
 * libordernet.so), links resolved, with a slash at its end; "" if it is unknown. */
void library_folder(char *path, size_t room);

/* Returns the value of the environment variable; NULL if it is not set or empty. */
const char *library_named(const char *variable);

/* Loads the file that the environment variable names, or else `name` from the folder of this code (the
 * program, or libordernet.so), from ../lib beside that folder, or from the loader's path, and writes the
 * symbol's address to *address. `how` ends the error message: how to get the library. It is never unloaded,
 * since its threads may still run. */
onet_status library_symbol(void **address, const char *name, const char *variable, const char *symbol,
                           const char *how, onet_error *err);

#endif
