/* Copies the structs of options of the public API. Each begins with its own size, so that a later version can
 * add fields without breaking programs compiled with an earlier one. */
#ifndef BASE_SIZED_H
#define BASE_SIZED_H

#include "ordernet.h"

/* Copies the caller's options over the defaults in `own` [own_size]. Both structs begin with a size_t, the
 * size of the caller's struct. Fields that a shorter struct lacks keep their defaults. A longer one comes
 * from a newer header: fields that this library does not know must be zero. given may be NULL. ONET_USAGE,
 * naming `type`, if the size is not set, or a field that this library does not know is. */
onet_status sized_take(void *own, size_t own_size, const void *given, const char *type, onet_error *err);

/* Copies defaults to the caller: as much of `own` [own_size] as fits the caller's struct of `size` bytes,
 * zeros in the rest of it, and its size. */
void sized_give(void *given, size_t size, const void *own, size_t own_size);

#endif
