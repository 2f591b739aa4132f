/* Picks the fastest kernels (instruction set) that this CPU runs, or those with a given name, and lists them.
 */
#include <string.h>

#include "engine/base/choice.h"
#include "engine/kernels/kernels.h"
#include "ordernet_measure.h"

/* A faster set has a larger number. */
enum { AUTO, PLAIN, SIMD128, NEON, AVX2, AVX512, SETS };

/* NULL: the set is not built for this architecture. */
static const kernels *const sets[SETS] = {
    [PLAIN] = &kernels_plain,
#if defined(__x86_64__)
    [AVX2] = &kernels_avx2,
    [AVX512] = &kernels_avx512,
#elif defined(__aarch64__)
    [NEON] = &kernels_neon,
#elif defined(__wasm_simd128__)
    [SIMD128] = &kernels_simd128,
#endif
};

const onet_choice *onet_kernel_sets(void) {
    static const onet_choice list[] = {
        {"auto", "the fastest that this CPU runs", AUTO},
        {"plain", "portable C", PLAIN},
#if defined(__x86_64__)
        {"avx2", "x86-64 with AVX2 and FMA", AVX2},
        {"avx512", "x86-64 with AVX-512", AVX512},
#elif defined(__aarch64__)
        {"neon", "64-bit ARM with NEON", NEON},
#elif defined(__wasm_simd128__)
        {"simd128", "WebAssembly with 128-bit vectors", SIMD128},
#endif
        {0},
    };
    return list;
}

static int runs(int set) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (set == AVX512)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
    if (set == AVX2) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
    return sets[set] != NULL;
}

const kernels *kernels_pick(const char *name) {
    const onet_choice *named =
        choice_named(onet_kernel_sets(), name ? name : "auto", name ? strlen(name) : 4);
    for (int set = SETS - 1; named && set > AUTO; set--)
        if ((named->value == AUTO || named->value == set) && runs(set)) return sets[set];
    return NULL;
}

const char *const *kernels_available(void) {
    static _Thread_local const char *names[SETS];
    int count = 0;
    for (int set = SETS - 1; set > AUTO; set--)
        if (runs(set)) names[count++] = sets[set]->name;
    names[count] = NULL;
    return names;
}

const char *const *onet_kernels_here(void) {
    return kernels_available();
}
