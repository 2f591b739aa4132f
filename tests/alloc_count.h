/* Test helper: counts the program's allocations and makes a chosen one fail. Linked into every test, where it
 * replaces malloc, calloc, realloc and aligned_alloc. */
#ifndef TESTS_ALLOC_COUNT_H
#define TESTS_ALLOC_COUNT_H

#include <stddef.h>

#include "unit.h"

/* Returns the number of allocations so far, by any thread. */
size_t alloc_count(void);
/* Makes allocation number `which` from now (0: the next one) fail, and all after it if `rest` is set;
 * SIZE_MAX: none. */
void alloc_fail(size_t which, int rest);
/* Returns whether the allocation that was to fail has been reached. */
int alloc_failed(void);
/* Returns 0 if a sanitizer owns malloc: nothing is counted then. */
int alloc_works(void);

static inline void alloc_works_or_skip(void) {
    if (!alloc_works()) skip_because("a sanitizer owns malloc in this build");
}

#endif
