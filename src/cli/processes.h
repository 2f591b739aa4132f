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
/* The last call: no process ends before all are here, so that none is stopped by mpirun for the failed end
 * of another before it has spoken. */
void processes_end(void);

#endif
