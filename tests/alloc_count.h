/* Counts the program's allocations, and makes one of them fail. Linked into every test: malloc and its kin of
 * the C library are reached through these. */
#ifndef TESTS_ALLOC_COUNT_H
#define TESTS_ALLOC_COUNT_H

#include <stddef.h>

#include "unit.h"

/* Allocations so far, by any thread. */
size_t alloc_count(void);
/* From now on, allocation number `which` (0 is the next one) fails, and all after it when `rest` is set;
 * SIZE_MAX: none. */
void alloc_fail(size_t which, int rest);
/* Has the one that was to fail been reached? */
int alloc_failed(void);
/* 0 where a sanitizer owns malloc: nothing is counted then. */
int alloc_works(void);

static inline void alloc_works_or_skip(void) {
    if (!alloc_works()) skip_because("a sanitizer owns malloc in this build");
}

#endif
