/* The vector kernels for AVX-512: 32 registers of 16 floats. */
#include <immintrin.h>

#include "kernels/simd_macros.h"

#define KERNELS      kernels_avx512
#define KERNELS_NAME "avx512"
#define VL           16

typedef __m512 vec;
typedef __m512i ivec;
typedef __mmask16 vmask;

#define vload(p)          _mm512_loadu_ps(p)
#define vstore(p, x)      _mm512_storeu_ps(p, x)
#define vset1(x)          _mm512_set1_ps(x)
#define vzero()           _mm512_setzero_ps()
#define vadd(x, y)        _mm512_add_ps(x, y)
#define vsub(x, y)        _mm512_sub_ps(x, y)
#define vmul(x, y)        _mm512_mul_ps(x, y)
#define vdiv(x, y)        _mm512_div_ps(x, y)
#define vsqrt(x)          _mm512_sqrt_ps(x)
#define vmax(x, y)        _mm512_max_ps(x, y)
#define vfma(x, y, z)     _mm512_fmadd_ps(x, y, z)  /* z + x*y */
#define vfnma(x, y, z)    _mm512_fnmadd_ps(x, y, z) /* z - x*y */
#define vgreater(x, y)    _mm512_cmp_ps_mask(x, y, _CMP_GT_OQ)
#define vselect(m, x, y)  _mm512_mask_blend_ps(m, y, x) /* m ? x : y */
#define vkeep(m, x)       _mm512_maskz_mov_ps(m, x)     /* m ? x : 0 */
#define vmask_if(b)       ((vmask) - (b))
#define ivload(p)         _mm512_loadu_si512(p)
#define ivstore(p, x)     _mm512_storeu_si512(p, x)
#define ivset1(x)         _mm512_set1_epi32(x)
#define ivequal(x, y)     _mm512_cmpeq_epi32_mask(x, y)
#define ivselect(m, x, y) _mm512_mask_blend_epi32(m, y, x)
#define vsum(x)           _mm512_reduce_add_ps(x)

static inline void vadd_double(double *p, vec x) {
    __m512d low = _mm512_cvtps_pd(_mm512_castps512_ps256(x));
    __m512d high = _mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1));
    _mm512_storeu_pd(p, _mm512_add_pd(_mm512_loadu_pd(p), low));
    _mm512_storeu_pd(p + 8, _mm512_add_pd(_mm512_loadu_pd(p + 8), high));
}

/* Register tiles of up to 28 rows x 1 vector, or 14 rows x 2. */
#define TILE_ONE 28
#define TILE_TWO 14
#define TILES_TWO(X)                                                                                         \
    X(1, 2)                                                                                                  \
    X(2, 2)                                                                                                  \
    X(3, 2) X(4, 2) X(5, 2) X(6, 2) X(7, 2) X(8, 2) X(9, 2) X(10, 2) X(11, 2) X(12, 2) X(13, 2) X(14, 2)
#define TILES_ONE(X)                                                                                         \
    X(1, 1)                                                                                                  \
    X(2, 1)                                                                                                  \
    X(3, 1) X(4, 1) X(5, 1) X(6, 1) X(7, 1) X(8, 1) X(9, 1) X(10, 1) X(11, 1) X(12, 1) X(13, 1) X(14, 1)     \
        X(15, 1) X(16, 1) X(17, 1) X(18, 1) X(19, 1) X(20, 1) X(21, 1) X(22, 1) X(23, 1) X(24, 1) X(25, 1)   \
            X(26, 1) X(27, 1) X(28, 1)

#include "kernels/simd.h"
