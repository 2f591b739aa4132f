/* The processes that mpirun started for one command. */
#ifndef CLI_PROCESSES_H
#define CLI_PROCESSES_H

#include <stdbool.h>

#include "base/world.h"

/* For a command that can use them: opens the world where there are several processes. */
onet_status processes_start(onet_error *err);
/* NULL when this process runs alone. */
const world *processes(void);
/* Whether this process reads, writes and speaks; the others work in silence. */
bool processes_first(void);
/* The last call: one status and sentence for all. */
onet_status processes_end(onet_status status, onet_error *err);

#endif
