/* Manages the MPI ranks (processes) that mpirun started for one command: connects them, compares their
 * options, ends them together. */
#ifndef APP_PROCESSES_H
#define APP_PROCESSES_H

#include <stdbool.h>

#include "app/command.h"
#include "engine/base/world.h"

/* Connects the ranks, if there are several, for a command that can share its work. */
onet_status processes_start(onet_error *err);
/* Returns the connected ranks, NULL when this rank runs alone. */
const world *processes(void);
/* Whether this is rank 0, which reads, writes and prints; the others print nothing. */
bool processes_is_rank0(void);
/* Call it after a failure before the ranks were connected. If all have failed, by a wrong command or a
 * missing library, rank 0 reports it, and mpirun ends the others while they wait here. A rank that fails
 * alone reports it itself, with its number and machine in err. */
void processes_await_rank0(onet_error *err);
/* Whether all ranks were given the same command and options; if not, all get the error. File names, and
 * options of the machine (threads, kernels, device), may differ. */
onet_status processes_same_command(const command *c, const void *values, bool help, onet_error *err);
/* The last call: no rank exits before all are here, since mpirun stops the other ranks when one exits with a
 * failure, before they have printed their errors. */
void processes_end(void);

#endif
