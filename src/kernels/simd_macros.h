/* What the vector files share before they define their vectors. */
#include <math.h>
#include <string.h>

#include "kernels/kernels.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* Before a loop whose count is known once it is inlined: unrolled whole, so that arrays become registers. */
#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 32")
#endif
