/* Runs numbered tasks on a pool of threads. Which thread runs which task is not fixed; tasks that each write
 * only to their own memory give the same result for any number of threads. */
#ifndef BASE_THREAD_POOL_H
#define BASE_THREAD_POOL_H

typedef struct thread_pool thread_pool;

/* threads < 1: one per core that this process may run on. NULL if memory or threads run out. */
thread_pool *thread_pool_new(int threads);
void thread_pool_free(thread_pool *p);
int thread_pool_threads(const thread_pool *p);

/* Calls fn(arg, task, thread) for task = 0 .. tasks-1, thread = 0 .. thread_pool_threads-1; returns when all
 * are done. p == NULL runs them here, in order. Not to be called from inside a task of the same thread pool.
 */
typedef void thread_pool_task(void *arg, int task, int thread);
void thread_pool_run(thread_pool *p, int tasks, thread_pool_task *fn, void *arg);

/* Between thread_pool_hold and thread_pool_release a task runs alone: others that call thread_pool_hold wait.
 * p may be NULL. */
void thread_pool_hold(thread_pool *p);
void thread_pool_release(thread_pool *p);

#endif
