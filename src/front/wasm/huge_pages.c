/* WebAssembly has no huge memory pages. */
#include "engine/base/huge_pages.h"

void huge_pages_advise(void *p, size_t bytes) {
    (void)p, (void)bytes;
}
