/* Compiles the SIMD kernels (simd.h) for 64-bit ARM: NEON, 32 registers of 4 floats. */
#if defined(__aarch64__)
#include <arm_neon.h>

#include "engine/kernels/simd_macros.h"

#define KERNELS      kernels_neon
#define KERNELS_NAME "neon"
#define VL           4

typedef float32x4_t vec;
typedef int32x4_t ivec;
typedef uint32x4_t vmask;

#define vload(p)          vld1q_f32(p)
#define vstore(p, x)      vst1q_f32(p, x)
#define vset1(x)          vdupq_n_f32(x)
#define vzero()           vdupq_n_f32(0)
#define vadd(x, y)        vaddq_f32(x, y)
#define vsub(x, y)        vsubq_f32(x, y)
#define vmul(x, y)        vmulq_f32(x, y)
#define vdiv(x, y)        vdivq_f32(x, y)
#define vsqrt(x)          vsqrtq_f32(x)
#define vmax(x, y)        vmaxnmq_f32(x, y)  /* the number if the other one is NaN, as plain C's relu */
#define vfma(x, y, z)     vfmaq_f32(z, x, y) /* z + x*y */
#define vfnma(x, y, z)    vfmsq_f32(z, x, y) /* z - x*y */
#define vkeep(m, x)       vreinterpretq_f32_u32(vandq_u32(m, vreinterpretq_u32_f32(x))) /* m ? x : 0 */
#define vmask_if(b)       vdupq_n_u32((uint32_t) - (b))
#define ivload(p)         vld1q_s32(p)
#define ivstore(p, x)     vst1q_s32(p, x)
#define ivset1(x)         vdupq_n_s32(x)
#define ivequal(x, y)     vceqq_s32(x, y)
#define ivmax(x, y)       vmaxq_s32(x, y)
#define ivxor(x, y)       veorq_s32(x, y)
#define ivgreater(x, y)   vcgtq_s32(x, y)
#define ivbits(x)         vreinterpretq_s32_f32(x)
#define ivfloat(x)        vreinterpretq_f32_s32(x)
#define ivsign(x)         vshrq_n_s32(vreinterpretq_s32_f32(x), 31) /* all bits of the sign */
#define ivselect(m, x, y) vbslq_s32(m, x, y)
#define vsum(x)           vaddvq_f32(x)

static inline void vadd_double(double *p, vec x) {
    vst1q_f64(p, vaddq_f64(vld1q_f64(p), vcvt_f64_f32(vget_low_f32(x))));
    vst1q_f64(p + 2, vaddq_f64(vld1q_f64(p + 2), vcvt_high_f64_f32(x)));
}

/* The most rows of a register tile that is 1, 2 or 4 vectors wide, and the lists of them all; widths are
 * multiples of 4 vectors here, so that the narrow tiles are rare. */
#define TILE_ONE     7
#define TILE_TWO     14
#define TILE_FOUR    7
#define ROWS_FOUR(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#define ROWS_TWO(X)  ROWS_FOUR(X) X(8) X(9) X(10) X(11) X(12) X(13) X(14)
#define ROWS_ONE(X)  ROWS_FOUR(X)

/* The tile of the encoder's weight gradient: outputs x vectors of hidden channels. */
#define PAIR_VECTORS 2
#define PAIR_ROWS    ROWS_TWO

#include "engine/kernels/simd.h"

#else
typedef int kernels_neon_absent; /* a file must not be empty */
#endif
