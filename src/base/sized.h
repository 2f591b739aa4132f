/* Options that begin with their own size, so that the struct can grow without breaking a compiled caller. */
#ifndef BASE_SIZED_H
#define BASE_SIZED_H

#include "ordernet.h"

/* Takes the caller's options over the defaults that `own` [own_size] holds. Both structs begin with a size_t:
 * the caller's size. A shorter struct leaves the defaults of what it lacks. A longer one is a newer header's:
 * what this library does not know must be zero. given may be NULL. ONET_USAGE, with `type` in the sentence,
 * for a size that was not set. */
onet_status sized_take(void *own, size_t own_size, const void *given, const char *type, onet_error *err);

/* Gives defaults out: as much of `own` [own_size] as the caller's struct of `size` bytes holds, zeros in the
 * rest of it, and its size. */
void sized_give(void *given, size_t size, const void *own, size_t own_size);

#endif
