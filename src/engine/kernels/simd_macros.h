/* Defines the loop macros and small helpers that the files of the SIMD kernels need before they define their
 * vectors. */
#include <math.h>
#include <string.h>

#include "engine/kernels/kernels.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* REPEAT(i, N): a loop whose count is known once it is inlined, unrolled whole, so that arrays become
 * registers. REPEAT_SOME: unrolled in part, where pointers would fill the registers otherwise. */
#ifdef __clang__
#define REPEAT(i, N)      _Pragma("clang loop unroll(full)") for (int i = 0; i < (N); i++)
#define REPEAT_SOME(i, N) _Pragma("clang loop unroll_count(5)") for (int i = 0; i < (N); i++)
#else
#define REPEAT(i, N)      _Pragma("GCC unroll 32") for (int i = 0; i < (N); i++)
#define REPEAT_SOME(i, N) _Pragma("GCC unroll 5") for (int i = 0; i < (N); i++)
#endif

static inline int least(int x, int y) {
    return x < y ? x : y;
}

/* Returns how many of `left` rows the next tile takes, at most `most`: rows are divided evenly, since a tile
 * of few rows is slow. */
static inline int share(ptrdiff_t left, int most) {
    ptrdiff_t tiles = (left + most - 1) / most;
    return (int)((left + tiles - 1) / tiles);
}
