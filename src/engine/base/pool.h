/* Runs numbered tasks on a pool of threads. Which thread runs which task is not fixed; tasks that each write
 * only to their own memory give the same result for any number of threads. */
#ifndef BASE_POOL_H
#define BASE_POOL_H

typedef struct pool pool;

/* threads < 1: one per core that this process may run on. NULL if memory or threads run out. */
pool *pool_new(int threads);
void pool_free(pool *p);
int pool_threads(const pool *p);

/* Calls fn(arg, task, thread) for task = 0 .. tasks-1, thread = 0 .. pool_threads-1; returns when all are
 * done. p == NULL runs them here, in order. Not to be called from inside a task of the same pool. */
typedef void pool_task(void *arg, int task, int thread);
void pool_run(pool *p, int tasks, pool_task *fn, void *arg);

/* Between pool_hold and pool_release a task runs alone: others that call pool_hold wait. p may be NULL. */
void pool_hold(pool *p);
void pool_release(pool *p);

#endif
