/* Replaces the thread pool (engine/base/thread_pool.c) in the WebAssembly module: runs all jobs one after
 * another, since WebAssembly threads need HTTP headers that many web servers do not send. */
#include "engine/base/thread_pool.h"

#include <stddef.h>

thread_pool *thread_pool_new(int threads) {
    (void)threads;
    static char only;
    return (thread_pool *)(void *)&only;
}

void thread_pool_free(thread_pool *p) {
    (void)p;
}

int thread_pool_threads(const thread_pool *p) {
    (void)p;
    return 1;
}

void thread_pool_run(thread_pool *p, int jobs, thread_pool_job *fn, void *arg) {
    (void)p;
    for (int i = 0; i < jobs; i++) fn(arg, i, 0);
}

void thread_pool_hold(thread_pool *p) {
    (void)p;
}

void thread_pool_release(thread_pool *p) {
    (void)p;
}
