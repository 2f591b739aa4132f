/* Runs numbered jobs on a pool of threads, which several callers may share in turn (thread_pool_hold). Which
 * thread runs which job is not fixed; jobs that each write only to their own memory give the same result for
 * any number of threads. */
#ifndef BASE_THREAD_POOL_H
#define BASE_THREAD_POOL_H

typedef struct thread_pool thread_pool;

/* threads < 1: one per core that this process may run on. NULL if memory or threads run out. */
thread_pool *thread_pool_new(int threads);
void thread_pool_free(thread_pool *p);
int thread_pool_threads(const thread_pool *p);

/* Calls fn(arg, job, thread) for job = 0 .. jobs-1, thread = 0 .. thread_pool_threads-1; returns when all
 * are done. p == NULL runs them here, in order. Not to be called from inside a job of the same thread pool.
 */
typedef void thread_pool_job(void *arg, int job, int thread);
void thread_pool_run(thread_pool *p, int jobs, thread_pool_job *fn, void *arg);

/* A lock for callers that share the pool: between thread_pool_hold and thread_pool_release no other thread
 * gets past thread_pool_hold. p may be NULL: no lock. */
void thread_pool_hold(thread_pool *p);
void thread_pool_release(thread_pool *p);

#endif
