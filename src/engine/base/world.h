/* Connects the ranks (MPI processes, started by mpirun or srun) that work on one run: all-reduce, broadcast,
 * send, receive; lets them agree on the first error and compare data. The MPI code is in a library of its
 * own (src/engine/mpi), loaded only if the environment says that there are several ranks, so that a single
 * process needs no MPI. */
#ifndef BASE_WORLD_H
#define BASE_WORLD_H

#include <stdbool.h>
#include <stddef.h>

#include "ordernet.h"

/* All functions except send and receive are collective: all ranks call them in the same order with the same
 * counts, from one thread at a time. If MPI fails, for example because a rank died, MPI's error handler ends
 * all ranks. */

typedef struct onet_world world;
struct onet_world {
    int rank, size;
    int local_rank; /* among the ranks on the same machine */
    int processors; /* this rank's share of the machine's cores, at least 1 */
    /* All-reduce (sum), in place, in a fixed order: the same bits in each rank. */
    void (*sum)(const world *w, double *values, size_t count);
    void (*sum_floats)(const world *w, float *values, size_t count);
    /* Copies data of rank `root` to all ranks. */
    void (*broadcast)(const world *w, int root, void *data, size_t bytes);
    void (*send)(const world *w, int to, const void *data, size_t bytes);
    void (*receive)(const world *w, int from, void *data, size_t bytes);
    /* Waits for all ranks and ends MPI; no call may follow. */
    void (*close)(const world *w);
};

/* Sets *w = NULL if there is one rank. After a failure, which the other ranks need not have met, this rank
 * must call world_abandon and exit, which ends the others. */
onet_status world_open(const world **w, onet_error *err);
/* Ends the other ranks, which may wait in world_open. The last call before this rank exits with that status
 * after world_open failed. */
void world_abandon(onet_status status);
/* Returns the number of this rank from the environment, without loading MPI; 0 if there is one rank. */
int world_rank(void);

/* Returns the status of the first rank that failed, with its error message in every rank's err, or ONET_OK.
 * With one rank (w is NULL) it returns status. All ranks call it after anything that may fail in one of them,
 * before they wait for each other. */
onet_status world_agree(const world *w, onet_status status, onet_error *err);

/* Whether this rank has the same bytes as rank 0. Only a hash is sent, so `bytes` may differ. */
bool world_same(const world *w, const void *data, size_t bytes);

/* The function that libordernet-mpi.so exports. On failure it writes an error message to sentence [room] and
 * returns a status. */
#define WORLD_LIBRARY  "libordernet-mpi.so"
#define WORLD_VARIABLE "ORDERNET_MPI"
#define WORLD_OPEN     "ordernet_mpi_1" /* the number changes with struct world */
typedef onet_status world_open_fn(const world **w, char *sentence, size_t room);

#endif
