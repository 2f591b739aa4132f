/* What the vector files share before they define their vectors. */
#include <math.h>
#include <string.h>

#include "kernels/kernels.h"

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
