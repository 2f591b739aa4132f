/* Allocates and grows arrays. Sizes are checked before they are multiplied; arrays for the kernels are
 * aligned to 64 bytes, a cache line. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* *product = count * size; returns false if that overflows. */
bool size_mul(size_t count, size_t size, size_t *product);

/* Returns zeroed, 64-byte aligned memory for count elements; NULL if there is not enough. Free with free().
 */
void *array_new(size_t count, size_t size);
/* As array_new, but not zeroed. */
void *array_room(size_t count, size_t size);

/* Grows the array whose pointer is at array_pointer (NULL, or any block that realloc takes) to at least
 * `need` elements; returns false, with the array unchanged, if memory runs out. */
bool array_reserve(void *array_pointer, size_t *capacity, size_t need, size_t size);

#endif
