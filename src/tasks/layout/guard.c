/* Out-of-memory handling for libxml2: allocators that longjmp back to guard_run when malloc
 * fails. What the abandoned call had allocated is leaked; the program is about to exit. */
#include "tasks/layout/guard.h"

#include <libxml/xmlmemory.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"

static _Thread_local jmp_buf *leave; /* of the call under way; NULL: none */

static void *checked(void *p) {
    if (!p && leave) longjmp(*leave, 1);
    return p;
}

static void *allocate(size_t size) {
    return checked(malloc(size));
}

static void *reallocate(void *p, size_t size) {
    return checked(realloc(p, size));
}

char *guard_copy(const char *text) {
    return checked(strdup(text));
}

void guard_start(void) {
    xmlMemSetup(free, allocate, reallocate, guard_copy);
}

onet_status guard_run(guarded *call, void *context, onet_error *err) {
    jmp_buf here;
    onet_status status;
    if (setjmp(here)) {
        status = fail_memory(err, "a file of pages");
    } else {
        leave = &here;
        status = call(context, err);
    }
    leave = NULL;
    return status;
}
