/* Out-of-memory handling for libxml2 and jansson. Neither reports every failed allocation: libxml2 may crash,
 * and both may report malformed input instead. With guard_run, a failed allocation in either library ends the
 * whole call. */
#ifndef LAYOUT_GUARD_H
#define LAYOUT_GUARD_H

#include "ordernet.h"

/* Once, before threads read pages and before the first call of either library. */
void guard_start(void);

typedef onet_status guarded(void *context, onet_error *err);
/* Returns what `call` does, or ONET_MEMORY where an allocation of these libraries failed in it. What the call
 * had allocated by then, beyond what the context holds, is lost: the program is about to end. Calls do not
 * nest. */
onet_status guard_run(guarded *call, void *context, onet_error *err);
/* A copy of the text; memory that runs out ends the call. */
char *guard_copy(const char *text);

#endif
