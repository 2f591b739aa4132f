/* WebAssembly has no large pages to ask for. */
#include "engine/base/pages.h"

void pages_large(void *p, size_t bytes) {
    (void)p, (void)bytes;
}
