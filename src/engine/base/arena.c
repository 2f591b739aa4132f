/* Places many arrays in one block of memory. */
#include "engine/base/arena.h"

#include <stdint.h>
#include <string.h>

#include "engine/base/memory.h"

enum { LINE = 64 };

void arena_place(arena *a, void *pointer, size_t count, size_t size) {
    size_t bytes;
    void *p = a->base ? a->base + a->used : NULL;
    memcpy(pointer, &p, sizeof p);
    if (!size_mul(count, size, &bytes) || bytes > SIZE_MAX / 2 - a->used - LINE) {
        a->overflow = true;
        return;
    }
    a->used += (bytes + LINE - 1) / LINE * LINE;
}

void *arena_make(void (*layout)(void *context, arena *a), void *context) {
    arena a = {0};
    layout(context, &a);
    void *memory = a.overflow ? NULL : array_new(a.used, 1);
    if (!memory) return NULL;
    a = (arena){.base = memory};
    layout(context, &a);
    return memory;
}
