/* Out-of-memory handling for libxml2, which does not report every failed allocation: it may crash, or report
 * malformed input instead. With guard_run, a failed allocation in the library ends the whole call. */
#ifndef LAYOUT_GUARD_H
#define LAYOUT_GUARD_H

#include "ordernet.h"

/* Call it once, before threads read pages and before the first call of libxml2. */
void guard_start(void);

typedef onet_status guarded(void *context, onet_error *err);
/* Returns what `call` returns, or ONET_MEMORY if an allocation of libxml2 failed in it. What the call
 * had allocated by then, beyond what the context holds, is lost: the program is about to end. Calls do not
 * nest. */
onet_status guard_run(guarded *call, void *context, onet_error *err);
/* Copies the text; running out of memory ends the call of guard_run. */
char *guard_copy(const char *text);

#endif
