/* The ranks (processes) that mpirun started for one command. */
#ifndef CLI_PROCESSES_H
#define CLI_PROCESSES_H

#include <stdbool.h>

#include "app/command.h"
#include "engine/base/world.h"

/* For a command that can use them: opens the world where there are several ranks. */
onet_status processes_start(onet_error *err);
/* NULL when this rank runs alone. */
const world *processes(void);
/* Whether this is rank 0, which reads, writes and prints; the others print nothing. */
bool processes_first(void);
/* After a failure before the ranks knew of each other. All may have met it, a wrong command or a missing
 * library: then the first tells of it, and mpirun ends the others while they wait here. A rank that fails
 * alone reports it itself, with its number and machine in err. */
void processes_await_first(onet_error *err);
/* Whether all were given the same command and options; a sentence in all where one was not. File names, and
 * what a machine computes with, may differ between machines. */
onet_status processes_same_task(const command *c, const void *values, bool help, onet_error *err);
/* The last call: no rank ends before all are here, so that none is stopped by mpirun for the failed end
 * of another before it has spoken. */
void processes_end(void);

#endif
