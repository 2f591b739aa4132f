/* Many processes on one task, started by mpirun. MPI itself is in a library of its own (src/mpi) that is
 * opened when the environment says that there are several processes, so that nothing of it is needed to build
 * or run alone.
 *
 * All functions but send and receive are called by all processes, in the same order, with the same counts; by
 * one thread at a time. When MPI fails, a process that died among its reasons, MPI's own handling ends all
 * processes. */
#ifndef BASE_WORLD_H
#define BASE_WORLD_H

#include <stdbool.h>
#include <stddef.h>

#include "ordernet.h"

typedef struct world world;
struct world {
    int rank, size;
    int local_rank; /* among the processes of the same machine */
    int processors; /* this process's share of its machine's, at least 1 */
    /* Sums over all processes, in place: added up in a fixed order, the same bits in each process. */
    void (*sum)(const world *w, double *values, size_t count);
    void (*sum_floats)(const world *w, float *values, size_t count);
    /* From process `root` to all. */
    void (*broadcast)(const world *w, int root, void *data, size_t bytes);
    void (*send)(const world *w, int to, const void *data, size_t bytes);
    void (*receive)(const world *w, int from, void *data, size_t bytes);
    /* The last call: waits for all. */
    void (*close)(const world *w);
};

/* *w = NULL when this process runs alone. After a failure, which the other processes need not have met, this
 * one has to end, and its end has to end them: world_abandon. */
onet_status world_open(const world **w, onet_error *err);
/* The last call before this process exits with that status, where it has not opened the world and the others
 * may wait for it there. */
void world_abandon(onet_status status);
/* This process's number as the environment tells it; 0 when alone. */
int world_rank(void);

/* The status of all processes: that of the first where it is not ONET_OK, with its sentence. Alone (w is
 * NULL), status. A call that may fail in one process is followed by this in all, before they wait for each
 * other. */
onet_status world_agree(const world *w, onet_status status, onet_error *err);

/* Whether this process has the same bytes as process 0. The number may differ, and only a hash is sent. */
bool world_same(const world *w, const void *data, size_t bytes);

/* What libordernet-mpi.so gives. A function that fails writes its sentence and gives a status back. */
#define WORLD_LIBRARY  "libordernet-mpi.so"
#define WORLD_VARIABLE "ORDERNET_MPI"
#define WORLD_OPEN     "ordernet_mpi_1" /* the number changes with struct world */
typedef onet_status world_open_fn(const world **w, char *sentence, size_t room);

#endif
