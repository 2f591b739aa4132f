/* Replaces engine/base/library.c (dlopen) in the WebAssembly module: refuses to load shared libraries such as
 * CUDA. */
#include "engine/base/library.h"

#include <stddef.h>

#include "engine/base/error.h"

const char *library_named(const char *variable) {
    (void)variable;
    return NULL;
}

onet_status library_symbol(void **address, const char *name, const char *variable, const char *symbol,
                           const char *how, onet_error *err) {
    (void)variable, (void)symbol, (void)how;
    *address = NULL;
    return fail(err, ONET_FAILED, "%s cannot be loaded in WebAssembly; choose the device cpu", name);
}
