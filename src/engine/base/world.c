/* Implements the onet_world functions of the public API: loads the MPI library if the environment says that
 * there are several ranks, makes the ranks agree on errors, compares their data, and ends the others after a
 * failed start. */
#include "engine/base/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/base/arguments.h"
#include "engine/base/error.h"
#include "engine/base/library.h"
#include "engine/base/sha256.h"
#include "ordernet_train.h"

/* The environment variables that each launcher sets. */
static const struct {
    const char *size, *rank;
} starters[] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"}, /* Open MPI's mpirun */
    {"PMI_SIZE", "PMI_RANK"},                         /* MPICH's, Intel's; srun with PMI-1 or PMI-2 */
    {"SLURM_STEP_NUM_TASKS", "PMIX_RANK"},            /* srun with PMIx */
};

static int number(const char *variable) {
    const char *text = getenv(variable);
    long value = text ? strtol(text, NULL, 10) : 0;
    return value > 0 && value < 1 << 20 ? (int)value : 0;
}

/* Returns the number of ranks that were started together (1 if the environment says nothing) and sets *rank.
 */
static int started(int *rank) {
    for (size_t i = 0; i < sizeof starters / sizeof *starters; i++) {
        int size = number(starters[i].size);
        if (!size || !getenv(starters[i].rank)) continue;
        *rank = number(starters[i].rank);
        return size;
    }
    *rank = 0;
    return 1;
}

int world_rank(void) {
    int rank;
    started(&rank);
    return rank;
}

onet_status world_open(const world **w, onet_error *err) {
    int rank, size = started(&rank);
    *w = NULL;
    if (size == 1) return ONET_OK;
    void *address;
    onet_status status = library_symbol(&address, WORLD_LIBRARY, WORLD_VARIABLE, WORLD_OPEN,
                                        "`make MPI=1` builds it, with MPICC=mpicc.mpich for MPICH", err);
    if (status) {
        error_prefix(err, "%d processes were started together", size);
        return status;
    }
    world_open_fn *open;
    memcpy(&open, &address, sizeof open);
    char sentence[512] = "";
    const world *found = NULL;
    status = open(&found, sentence, sizeof sentence);
    if (status) return fail(err, status, "%s", sentence);
    if (found->size != size) {
        int seen = found->size;
        found->close(found);
        return fail(
            err, ONET_FAILED,
            "%d processes were started together, but %s sees %d: it is built for another MPI than this "
            "mpirun's; build it again with that one's compiler, `make MPI=1 MPICC=mpicc.openmpi` or "
            "`make MPI=1 MPICC=mpicc.mpich`",
            size, library_named(WORLD_VARIABLE) ? library_named(WORLD_VARIABLE) : WORLD_LIBRARY, seen);
    }
    *w = found;
    return ONET_OK;
}

/* Open MPI's mpirun ends all ranks when one exits with a status other than 0; MPICH's does so before MPI_Init
 * only if it is asked to by its protocol, PMI-1. It then drops output that it has not forwarded yet, hence
 * the pause. */
void world_abandon(onet_status status) {
    int rank, fd = number("PMI_FD");
    if (started(&rank) == 1 || !fd) return;
    nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    dprintf(fd, "cmd=abort exitcode=%d\n", (int)status);
}

onet_status world_agree(const world *w, onet_status status, onet_error *err) {
    if (!w) return status;
    /* Finds the first rank that failed by summing a table in which each rank sets its own element. */
    enum { PLACES = 64 };
    for (int first = 0; first < w->size; first += PLACES) {
        double table[PLACES] = {0};
        if (w->rank >= first && w->rank < first + PLACES) table[w->rank - first] = status;
        w->sum(w, table, PLACES);
        for (int i = 0; i < PLACES; i++) {
            if (table[i] == 0) continue;
            onet_error text = {.text = ""};
            if (w->rank == first + i && err) text = *err;
            w->broadcast(w, first + i, &text, sizeof text);
            if (err) *err = text;
            return (onet_status)table[i];
        }
    }
    return ONET_OK;
}

bool world_same(const world *w, const void *data, size_t bytes) {
    sha256 sum;
    char own[65], first[65];
    sha256_start(&sum);
    sha256_add(&sum, data, bytes);
    sha256_hex(&sum, own);
    memcpy(first, own, sizeof first);
    w->broadcast(w, 0, first, sizeof first);
    return !strcmp(own, first);
}

/* ---- For callers ------------------------------------------------------------------------------------- */

onet_status onet_world_open(const onet_world **w, onet_error *err) {
    NEED(w, "world");
    return world_open(w, err);
}

int onet_world_rank(const onet_world *w) {
    return w ? w->rank : 0;
}

int onet_world_size(const onet_world *w) {
    return w ? w->size : 1;
}

onet_status onet_world_agree(const onet_world *w, onet_status status, onet_error *err) {
    return world_agree(w, status, err);
}

void onet_world_close(const onet_world *w) {
    if (w) w->close(w);
}
