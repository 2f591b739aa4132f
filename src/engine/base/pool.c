/* Runs the tasks of a thread pool: its threads wait for numbered tasks and draw them from a shared counter.
 */
#include "engine/base/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* The phases of a training step follow each other within microseconds, so a waiting thread first spins, then
 * yields a few times, and only then sleeps: spinning longer would take cores from an idle program's
 * neighbours, and on a busy machine from the thread that is waited for. */
enum { SPINS = 500, YIELDS = 50, LONG_WAIT = 20000 };

struct pool {
    int threads;
    pthread_t *worker;
    pthread_mutex_t mutex, held; /* held: of pool_hold */
    pthread_cond_t wake;
    atomic_uint run;     /* number of the run; workers wait for it to change */
    atomic_int next;     /* next task of this run */
    atomic_int working;  /* workers that have not yet finished this run */
    atomic_int sleeping; /* workers asleep on `wake` */
    int stop;
    int tasks;
    pool_task *fn;
    void *arg;
};

typedef struct start {
    pool *p;
    int thread;
} start;

static inline void pause_cpu(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

static void do_tasks(pool *p, int thread) {
    for (;;) {
        int task = atomic_fetch_add_explicit(&p->next, 1, memory_order_relaxed);
        if (task >= p->tasks) return;
        p->fn(p->arg, task, thread);
    }
}

static void *work(void *arg) {
    start s = *(start *)arg;
    free(arg);
    pool *p = s.p;
    unsigned seen = 0;
    for (;;) {
        int spins = 0;
        while (atomic_load_explicit(&p->run, memory_order_acquire) == seen) {
            if (++spins < SPINS + YIELDS) {
                if (spins < SPINS)
                    pause_cpu();
                else
                    sched_yield();
                continue;
            }
            pthread_mutex_lock(&p->mutex);
            atomic_fetch_add(&p->sleeping, 1);
            while (atomic_load(&p->run) == seen) pthread_cond_wait(&p->wake, &p->mutex);
            atomic_fetch_sub(&p->sleeping, 1);
            pthread_mutex_unlock(&p->mutex);
        }
        seen = atomic_load_explicit(&p->run, memory_order_acquire);
        if (p->stop) return NULL;
        do_tasks(p, s.thread);
        atomic_fetch_sub_explicit(&p->working, 1, memory_order_release);
    }
}

static void announce(pool *p) {
    atomic_fetch_add(&p->run, 1);
    if (atomic_load(&p->sleeping)) {
        pthread_mutex_lock(&p->mutex);
        pthread_cond_broadcast(&p->wake);
        pthread_mutex_unlock(&p->mutex);
    }
}

pool *pool_new(int threads) {
    if (threads < 1) {
        /* The affinity mask, since mpirun and taskset may restrict this process to some cores. */
        cpu_set_t own;
        long n = sched_getaffinity(0, sizeof own, &own) ? sysconf(_SC_NPROCESSORS_ONLN) : CPU_COUNT(&own);
        if (n < 1) n = 1;
        threads = n > 1024 ? 1024 : (int)n;
    }
    pool *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->threads = 1;
    pthread_mutex_init(&p->mutex, NULL);
    pthread_mutex_init(&p->held, NULL);
    pthread_cond_init(&p->wake, NULL);
    p->worker = calloc((size_t)threads, sizeof *p->worker);
    if (!p->worker) {
        pool_free(p);
        return NULL;
    }
    for (int i = 1; i < threads; i++) {
        start *s = malloc(sizeof *s);
        if (s) *s = (start){p, i};
        if (!s || pthread_create(&p->worker[i], NULL, work, s)) {
            free(s);
            pool_free(p);
            return NULL;
        }
        p->threads++;
    }
    return p;
}

void pool_free(pool *p) {
    if (!p) return;
    p->stop = 1;
    announce(p);
    for (int i = 1; i < p->threads; i++) pthread_join(p->worker[i], NULL);
    pthread_cond_destroy(&p->wake);
    pthread_mutex_destroy(&p->mutex);
    pthread_mutex_destroy(&p->held);
    free(p->worker);
    free(p);
}

int pool_threads(const pool *p) {
    return p ? p->threads : 1;
}

void pool_run(pool *p, int tasks, pool_task *fn, void *arg) {
    if (!p || p->threads == 1 || tasks < 2) {
        for (int i = 0; i < tasks; i++) fn(arg, i, 0);
        return;
    }
    p->tasks = tasks;
    p->fn = fn;
    p->arg = arg;
    atomic_store_explicit(&p->next, 0, memory_order_relaxed);
    atomic_store_explicit(&p->working, p->threads - 1, memory_order_relaxed);
    announce(p);
    do_tasks(p, 0);
    for (int spins = 0; atomic_load_explicit(&p->working, memory_order_acquire); spins++)
        if (spins < SPINS)
            pause_cpu();
        else if (spins < LONG_WAIT)
            sched_yield();
        else
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL); /* the task takes seconds */
}

void pool_hold(pool *p) {
    if (p) pthread_mutex_lock(&p->held);
}

void pool_release(pool *p) {
    if (p) pthread_mutex_unlock(&p->held);
}
