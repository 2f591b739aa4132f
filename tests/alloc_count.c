/* Replaces malloc and its relatives in the test programs by versions that count the calls and can make a
 * chosen one fail. */
#include "alloc_count.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OWNED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define OWNED 1
#endif
#endif

static atomic_size_t count, target = SIZE_MAX;
static atomic_int failed, all_after;

size_t alloc_count(void) {
    return atomic_load(&count);
}

void alloc_fail(size_t which, int rest) {
    atomic_store(&failed, 0);
    atomic_store(&all_after, rest);
    atomic_store(&target, which == SIZE_MAX ? SIZE_MAX : atomic_load(&count) + which);
}

int alloc_failed(void) {
    return atomic_load(&failed);
}

#ifdef OWNED
int alloc_works(void) {
    return 0;
}
#else
int alloc_works(void) {
    return 1;
}

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t align, size_t size);

static int refuse(void) {
    size_t number = atomic_fetch_add(&count, 1), which = atomic_load(&target);
    if (number == which || (number > which && atomic_load(&all_after))) {
        atomic_store(&failed, 1);
        errno = ENOMEM;
        return 1;
    }
    return 0;
}

void *malloc(size_t size) {
    return refuse() ? NULL : __libc_malloc(size);
}
void *calloc(size_t n, size_t size) {
    return refuse() ? NULL : __libc_calloc(n, size);
}
void *realloc(void *p, size_t size) {
    return refuse() ? NULL : __libc_realloc(p, size);
}
void *aligned_alloc(size_t align, size_t size) {
    return refuse() ? NULL : __libc_memalign(align, size);
}
#endif
