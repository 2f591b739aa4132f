/* Runs a function once per process, whichever thread comes first (pthread_once, or a plain flag where there
 * are no threads). */
#ifndef BASE_ONCE_H
#define BASE_ONCE_H

#if defined(__wasi__) /* WASI has one thread, and no pthread.h */
typedef int once;
#define ONCE_INIT 0

static inline void once_run(once *o, void (*run)(void)) {
    if (!*o) run();
    *o = 1;
}
#else
#include <pthread.h>

typedef pthread_once_t once;
#define ONCE_INIT PTHREAD_ONCE_INIT

static inline void once_run(once *o, void (*run)(void)) {
    pthread_once(o, run);
}
#endif
#endif
