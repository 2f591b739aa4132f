/* Many arrays in one block of memory. A layout is a function that places array after array; it runs twice:
 * first without memory, to add up the sizes, then to set the pointers. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

typedef struct arena {
    unsigned char *base; /* NULL: sizes are only added up */
    size_t used;
    bool overflow; /* the sizes are more than size_t can hold */
} arena;

/* Room for count elements of `size` bytes, on a 64-byte line; its address to *pointer (any object pointer),
 * NULL while sizes are only added up. */
void arena_place(arena *a, void *pointer, size_t count, size_t size);
#define ARENA_PLACE(a, pointer, count) arena_place(a, &(pointer), count, sizeof *(pointer))

/* Runs the layout twice, with zeroed memory in between. Returns the memory, for free(), or NULL (and all
 * pointers NULL) if there is not enough. */
void *arena_make(void (*layout)(void *context, arena *a), void *context);

#endif
