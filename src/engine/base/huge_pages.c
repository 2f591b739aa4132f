/* Asks Linux for huge memory pages with madvise. src/front/wasm has the version for the browser, which does
 * nothing. */
#include "engine/base/huge_pages.h"

#include <stdint.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

void huge_pages_advise(void *p, size_t bytes) {
    uintptr_t first = ((uintptr_t)p + PAGE - 1) / PAGE * PAGE, last = ((uintptr_t)p + bytes) / PAGE * PAGE;
    (void)madvise((void *)first, last - first, MADV_HUGEPAGE);
}
