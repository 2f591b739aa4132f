/* Compiles the SIMD kernels (simd.h) for AVX-512: 32 registers of 16 floats. */
#if defined(__x86_64__)
#include <immintrin.h>

#include "engine/kernels/simd_macros.h"

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
#define vkeep(m, x)       _mm512_maskz_mov_ps(m, x) /* m ? x : 0 */
#define vmask_if(b)       ((vmask) - (b))
#define ivload(p)         _mm512_loadu_si512(p)
#define ivstore(p, x)     _mm512_storeu_si512(p, x)
#define ivset1(x)         _mm512_set1_epi32(x)
#define ivequal(x, y)     _mm512_cmpeq_epi32_mask(x, y)
#define ivmax(x, y)       _mm512_max_epi32(x, y)
#define ivxor(x, y)       _mm512_xor_si512(x, y)
#define ivgreater(x, y)   _mm512_cmpgt_epi32_mask(x, y)
#define ivbits(x)         _mm512_castps_si512(x)
#define ivfloat(x)        _mm512_castsi512_ps(x)
#define ivsign(x)         _mm512_srai_epi32(_mm512_castps_si512(x), 31) /* all bits of the sign */
#define ivselect(m, x, y) _mm512_mask_blend_epi32(m, y, x)
#define vsum(x)           _mm512_reduce_add_ps(x)

static inline void vadd_double(double *p, vec x) {
    __m512d low = _mm512_cvtps_pd(_mm512_castps512_ps256(x));
    __m512d high = _mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1));
    _mm512_storeu_pd(p, _mm512_add_pd(_mm512_loadu_pd(p), low));
    _mm512_storeu_pd(p + 8, _mm512_add_pd(_mm512_loadu_pd(p + 8), high));
}

/* The most rows of a register tile that is 1, 2 or 4 vectors wide, and the lists of them all. */
#define TILE_ONE     28
#define TILE_TWO     14
#define TILE_FOUR    7
#define ROWS_FOUR(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#define ROWS_TWO(X)  ROWS_FOUR(X) X(8) X(9) X(10) X(11) X(12) X(13) X(14)
#define ROWS_ONE(X)                                                                                          \
    ROWS_TWO(X) X(15) X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23) X(24) X(25) X(26) X(27) X(28)

/* The tile of the encoder's weight gradient: outputs x vectors of hidden channels. */
#define PAIR_VECTORS 1
#define PAIR_ROWS    ROWS_ONE

#include "engine/kernels/simd.h"

#else
typedef int kernels_avx512_absent; /* a file must not be empty */
#endif
