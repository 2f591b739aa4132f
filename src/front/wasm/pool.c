/* Tasks without threads: those of WebAssembly need headers that many web servers do not send. */
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
