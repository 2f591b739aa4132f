/* Multiplies sizes with a check for overflow, allocates aligned arrays (large ones in huge pages), and grows
 * arrays. */
#include "engine/base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/huge_pages.h"

bool size_mul(size_t count, size_t size, size_t *product) {
    if (size && count > SIZE_MAX / size) return false;
    *product = count * size;
    return true;
}

/* A training step uses tens of megabytes: with pages of 4 KB it would wait for address translation. */
enum { LARGE = 1 << 20 };

static void *room(size_t count, size_t size, size_t *bytes) {
    if (!size_mul(count, size, bytes) || *bytes > SIZE_MAX - 64) return NULL;
    *bytes = (*bytes + 63) / 64 * 64;
    if (!*bytes) *bytes = 64;
    void *p = aligned_alloc(64, *bytes);
    if (p && *bytes >= LARGE) huge_pages_advise(p, *bytes);
    return p;
}

void *array_room(size_t count, size_t size) {
    size_t bytes;
    return room(count, size, &bytes);
}

void *array_new(size_t count, size_t size) {
    size_t bytes;
    void *p = room(count, size, &bytes);
    if (p) memset(p, 0, bytes);
    return p;
}

bool array_reserve(void *array_pointer, size_t *capacity, size_t need, size_t size) {
    if (need <= *capacity) return true;
    size_t grown = *capacity + *capacity / 2 + 16, bytes;
    if (grown < need) grown = need;
    if (!size_mul(grown, size, &bytes)) return false;
    void *old;
    memcpy(&old, array_pointer, sizeof old);
    void *p = realloc(old, bytes);
    if (!p) return false;
    memcpy(array_pointer, &p, sizeof p);
    *capacity = grown;
    return true;
}
