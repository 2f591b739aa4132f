/* Out-of-memory handling for the XML parser in WebAssembly, which has no longjmp (../guard.c elsewhere):
 * if memory runs out, the module stops, and the browser page says that it failed. */
#include "tasks/layout/guard.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"

char *guard_copy(const char *text) {
    char *copy = strdup(text);
    if (!copy) abort();
    return copy;
}

void guard_start(void) {}

onet_status guard_run(guarded *call, void *context, onet_error *err) {
    return call(context, err);
}
