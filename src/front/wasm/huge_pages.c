/* Replaces engine/base/huge_pages.c in the WebAssembly module, which has no huge memory pages: does
 * nothing. */
#include "engine/base/huge_pages.h"

void huge_pages_advise(void *p, size_t bytes) {
    (void)p, (void)bytes;
}
