/* Which kernels this processor runs. */
#include <string.h>

#include "kernels/kernels.h"

/* Fastest first. */
#if defined(__x86_64__)
static const kernels *const sets[] = {&kernels_avx512, &kernels_avx2, &kernels_plain};
#else
static const kernels *const sets[] = {&kernels_plain};
#endif
enum { SETS = sizeof sets / sizeof *sets };

static int runs(const kernels *k) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (k == &kernels_avx512)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
    if (k == &kernels_avx2) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
    return k != NULL;
}

const kernels *kernels_pick(const char *name) {
    int best = !name || strcmp(name, "auto") == 0;
    for (int s = 0; s < SETS; s++)
        if ((best || strcmp(name, sets[s]->name) == 0) && runs(sets[s])) return sets[s];
    return NULL;
}

const char *const *kernels_available(void) {
    static _Thread_local const char *names[SETS + 1];
    int count = 0;
    for (int s = 0; s < SETS; s++)
        if (runs(sets[s])) names[count++] = sets[s]->name;
    names[count] = NULL;
    return names;
}
