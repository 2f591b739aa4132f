/* Runs the jobs of a thread pool: its threads wait for numbered jobs and take them from a shared counter. A
 * run ends when its jobs are done, whether or not each thread has woken up to take one. */
#include "engine/base/thread_pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* The phases of a training step follow each other within microseconds, so a waiting thread first spins, then
 * yields a few times, and only then sleeps: spinning longer would take cores from an idle program's
 * neighbours, and on a busy machine from the thread that is waited for. */
enum { SPINS = 500, YIELDS = 50, LONG_WAIT = 20000 };

/* The state: the number of a run and its next job. A thread takes a job by replacing a state that it has
 * read. Between two runs no job is left, under a number of its own, and only then do fn, arg and jobs change:
 * a thread that wakes up late and reads one of the new values can no longer take a job under the old number.
 */
static inline uint64_t state_of(uint32_t run, uint32_t next) {
    return (uint64_t)run << 32 | next;
}
static inline uint32_t run_of(uint64_t state) {
    return (uint32_t)(state >> 32);
}

struct thread_pool {
    int threads;
    pthread_t *worker;
    pthread_mutex_t mutex, held; /* held: of thread_pool_hold */
    pthread_cond_t wake;
    _Atomic uint64_t state; /* workers wait for its run to change */
    atomic_int done;        /* jobs of this run */
    atomic_int sleeping;    /* workers asleep on `wake` */
    atomic_int stop;
    atomic_int jobs;
    thread_pool_job *_Atomic fn;
    void *_Atomic arg;
};

typedef struct start {
    thread_pool *p;
    int thread;
} start;

static inline void pause_cpu(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

static void do_tasks(thread_pool *p, uint32_t run, int thread) {
    thread_pool_job *fn = atomic_load_explicit(&p->fn, memory_order_acquire);
    void *arg = atomic_load_explicit(&p->arg, memory_order_acquire);
    uint32_t jobs = (uint32_t)atomic_load_explicit(&p->jobs, memory_order_acquire);
    uint64_t state = atomic_load_explicit(&p->state, memory_order_acquire);
    while (run_of(state) == run && (uint32_t)state < jobs) {
        if (!atomic_compare_exchange_weak_explicit(&p->state, &state, state + 1, memory_order_acq_rel,
                                                   memory_order_acquire))
            continue;
        fn(arg, (int)(uint32_t)state, thread);
        atomic_fetch_add_explicit(&p->done, 1, memory_order_release);
        state = atomic_load_explicit(&p->state, memory_order_acquire);
    }
}

static void *work(void *arg) {
    start s = *(start *)arg;
    free(arg);
    thread_pool *p = s.p;
    uint32_t seen = 0;
    for (;;) {
        int spins = 0;
        while (run_of(atomic_load_explicit(&p->state, memory_order_acquire)) == seen) {
            if (++spins < SPINS + YIELDS) {
                if (spins < SPINS)
                    pause_cpu();
                else
                    sched_yield();
                continue;
            }
            pthread_mutex_lock(&p->mutex);
            atomic_fetch_add(&p->sleeping, 1);
            while (run_of(atomic_load(&p->state)) == seen) pthread_cond_wait(&p->wake, &p->mutex);
            atomic_fetch_sub(&p->sleeping, 1);
            pthread_mutex_unlock(&p->mutex);
        }
        seen = run_of(atomic_load_explicit(&p->state, memory_order_acquire));
        if (atomic_load(&p->stop)) return NULL;
        do_tasks(p, seen, s.thread);
    }
}

/* Begins a run with job 0; returns its number. */
static uint32_t announce(thread_pool *p) {
    uint32_t run = run_of(atomic_load(&p->state)) + 1;
    atomic_store(&p->state, state_of(run, 0));
    if (atomic_load(&p->sleeping)) {
        pthread_mutex_lock(&p->mutex);
        pthread_cond_broadcast(&p->wake);
        pthread_mutex_unlock(&p->mutex);
    }
    return run;
}

thread_pool *thread_pool_new(int threads) {
    if (threads < 1) {
        /* The affinity mask, since mpirun and taskset may restrict this process to some cores. */
        cpu_set_t own;
        long n = sched_getaffinity(0, sizeof own, &own) ? sysconf(_SC_NPROCESSORS_ONLN) : CPU_COUNT(&own);
        if (n < 1) n = 1;
        threads = n > 1024 ? 1024 : (int)n;
    }
    thread_pool *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->threads = 1;
    pthread_mutex_init(&p->mutex, NULL);
    pthread_mutex_init(&p->held, NULL);
    pthread_cond_init(&p->wake, NULL);
    p->worker = calloc((size_t)threads, sizeof *p->worker);
    if (!p->worker) {
        thread_pool_free(p);
        return NULL;
    }
    for (int i = 1; i < threads; i++) {
        start *s = malloc(sizeof *s);
        if (s) *s = (start){p, i};
        if (!s || pthread_create(&p->worker[i], NULL, work, s)) {
            free(s);
            thread_pool_free(p);
            return NULL;
        }
        p->threads++;
    }
    return p;
}

void thread_pool_free(thread_pool *p) {
    if (!p) return;
    atomic_store(&p->stop, 1);
    announce(p);
    for (int i = 1; i < p->threads; i++) pthread_join(p->worker[i], NULL);
    pthread_cond_destroy(&p->wake);
    pthread_mutex_destroy(&p->mutex);
    pthread_mutex_destroy(&p->held);
    free(p->worker);
    free(p);
}

int thread_pool_threads(const thread_pool *p) {
    return p ? p->threads : 1;
}

void thread_pool_run(thread_pool *p, int jobs, thread_pool_job *fn, void *arg) {
    if (!p || p->threads == 1 || jobs < 2) {
        for (int i = 0; i < jobs; i++) fn(arg, i, 0);
        return;
    }
    atomic_store_explicit(&p->jobs, jobs, memory_order_release);
    atomic_store_explicit(&p->fn, fn, memory_order_release);
    atomic_store_explicit(&p->arg, arg, memory_order_release);
    atomic_store_explicit(&p->done, 0, memory_order_release);
    uint32_t run = announce(p);
    do_tasks(p, run, 0);
    for (int spins = 0; atomic_load_explicit(&p->done, memory_order_acquire) < jobs; spins++)
        if (spins < SPINS)
            pause_cpu();
        else if (spins < LONG_WAIT)
            sched_yield();
        else
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL); /* the job takes seconds */
    atomic_store_explicit(&p->state, state_of(run + 1, UINT32_MAX), memory_order_release);
}

void thread_pool_hold(thread_pool *p) {
    if (p) pthread_mutex_lock(&p->held);
}

void thread_pool_release(thread_pool *p) {
    if (p) pthread_mutex_unlock(&p->held);
}
