/* Implements the sums, broadcasts and messages between ranks (src/engine/base/world.h) with MPI, and shares
 * the cores of a machine among its ranks; built as libordernet-mpi.so. */
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "engine/base/world.h"

/* MPI counts in int: longer blocks are sent in pieces. */
enum { PIECE = 1 << 28 };

/* Reduced to rank 0 and broadcast from it: MPI_Allreduce may add in another order in each rank, and the
 * ranks' parameters would drift apart. */
static void sum_all(void *values, size_t count, size_t size, MPI_Datatype type) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (size_t done = 0; done < count;) {
        int here = count - done < PIECE ? (int)(count - done) : PIECE;
        void *at = (char *)values + done * size;
        MPI_Reduce(rank ? at : MPI_IN_PLACE, rank ? NULL : at, here, type, MPI_SUM, 0, MPI_COMM_WORLD);
        MPI_Bcast(at, here, type, 0, MPI_COMM_WORLD);
        done += (size_t)here;
    }
}

static void sum(const world *w, double *values, size_t count) {
    (void)w;
    sum_all(values, count, sizeof *values, MPI_DOUBLE);
}

static void sum_floats(const world *w, float *values, size_t count) {
    (void)w;
    sum_all(values, count, sizeof *values, MPI_FLOAT);
}

static void broadcast(const world *w, int root, void *data, size_t bytes) {
    (void)w;
    for (size_t done = 0; done < bytes;) {
        int here = bytes - done < PIECE ? (int)(bytes - done) : PIECE;
        MPI_Bcast((char *)data + done, here, MPI_BYTE, root, MPI_COMM_WORLD);
        done += (size_t)here;
    }
}

static void send_bytes(const world *w, int to, const void *data, size_t bytes) {
    (void)w;
    for (size_t done = 0; done < bytes;) {
        int here = bytes - done < PIECE ? (int)(bytes - done) : PIECE;
        MPI_Send((const char *)data + done, here, MPI_BYTE, to, 0, MPI_COMM_WORLD);
        done += (size_t)here;
    }
}

/* MPI waits by spinning. A rank may wait long for a message while rank 0 reads a pipe or a file, so after a
 * while it polls with pauses. */
static void await(int from) {
    int there = 0;
    for (long looks = 0; !there; looks++) {
        MPI_Iprobe(from, 0, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
        if (!there && looks > 1000)
            nanosleep(&(struct timespec){.tv_nsec = looks > 10000 ? 1000000 : 20000}, NULL);
    }
}

static void receive_bytes(const world *w, int from, void *data, size_t bytes) {
    (void)w;
    for (size_t done = 0; done < bytes;) {
        int here = bytes - done < PIECE ? (int)(bytes - done) : PIECE;
        await(from);
        MPI_Recv((char *)data + done, here, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        done += (size_t)here;
    }
}

static void close_world(const world *w) {
    (void)w;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
}

/* Returns this rank's share of the machine's cores, at least 1: a core that k ranks of this machine may run
 * on counts 1/k. */
static int share(MPI_Comm machine, int local) {
    cpu_set_t own, *all = malloc((size_t)local * sizeof *all);
    if (!all) return 1;
    CPU_ZERO(&own);
    sched_getaffinity(0, sizeof own, &own);
    MPI_Allgather(&own, sizeof own, MPI_BYTE, all, sizeof own, MPI_BYTE, machine);
    double processors = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &own)) continue;
        int users = 0;
        for (int p = 0; p < local; p++) users += CPU_ISSET(cpu, &all[p]) != 0;
        processors += 1.0 / users;
    }
    free(all);
    return processors + 1e-6 < 1 ? 1 : (int)(processors + 1e-6);
}

extern world_open_fn ordernet_mpi_1;

__attribute__((visibility("default"))) onet_status ordernet_mpi_1(const world **w, char *sentence,
                                                                  size_t room) {
    static world self = {.sum = sum,
                         .sum_floats = sum_floats,
                         .broadcast = broadcast,
                         .send = send_bytes,
                         .receive = receive_bytes,
                         .close = close_world};
    int given, local;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &given) != MPI_SUCCESS ||
        given < MPI_THREAD_FUNNELED) {
        snprintf(sentence, room, "MPI cannot be started for a program with threads");
        return ONET_FAILED;
    }
    MPI_Comm machine;
    MPI_Comm_rank(MPI_COMM_WORLD, &self.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &self.size);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_rank(machine, &self.local_rank);
    MPI_Comm_size(machine, &local);
    self.processors = share(machine, local);
    MPI_Comm_free(&machine);
    *w = &self;
    return ONET_OK;
}
