/* Replaces the thread pool (engine/base/pool.c) in the WebAssembly module: runs all tasks one after another,
 * since WebAssembly threads need HTTP headers that many web servers do not send. */
#include "engine/base/pool.h"

#include <stddef.h>

pool *pool_new(int threads) {
    (void)threads;
    static char only;
    return (pool *)(void *)&only;
}

void pool_free(pool *p) {
    (void)p;
}

int pool_threads(const pool *p) {
    (void)p;
    return 1;
}

void pool_run(pool *p, int tasks, pool_task *fn, void *arg) {
    (void)p;
    for (int i = 0; i < tasks; i++) fn(arg, i, 0);
}

void pool_hold(pool *p) {
    (void)p;
}

void pool_release(pool *p) {
    (void)p;
}
