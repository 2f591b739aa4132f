/* Allocates and grows arrays. Sizes are checked before they are multiplied; arrays for the kernels are
 * aligned to 64 bytes, a cache line. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* count * size; false if that overflows. */
bool size_mul(size_t count, size_t size, size_t *product);

/* Zeroed, 64-byte aligned memory for count elements; NULL if there is not enough. Free with free(). */
void *array_new(size_t count, size_t size);
/* The same, not zeroed. */
void *array_room(size_t count, size_t size);

/* Grows *array (any realloc-able block) so that it holds at least `need` elements; false, and the block
 * unchanged, if memory runs out. */
bool array_reserve(void *array_pointer, size_t *capacity, size_t need, size_t size);

#endif
