/* Compiles the SIMD kernels (simd.h) for AVX2 with FMA: 16 registers of 8 floats. */
#if defined(__x86_64__)
#include <immintrin.h>

#include "engine/kernels/simd_macros.h"

#define KERNELS      kernels_avx2
#define KERNELS_NAME "avx2"
#define VL           8

typedef __m256 vec;
typedef __m256i ivec;
typedef __m256 vmask;

#define vload(p)          _mm256_loadu_ps(p)
#define vstore(p, x)      _mm256_storeu_ps(p, x)
#define vset1(x)          _mm256_set1_ps(x)
#define vzero()           _mm256_setzero_ps()
#define vadd(x, y)        _mm256_add_ps(x, y)
#define vsub(x, y)        _mm256_sub_ps(x, y)
#define vmul(x, y)        _mm256_mul_ps(x, y)
#define vdiv(x, y)        _mm256_div_ps(x, y)
#define vsqrt(x)          _mm256_sqrt_ps(x)
#define vmax(x, y)        _mm256_max_ps(x, y)
#define vfma(x, y, z)     _mm256_fmadd_ps(x, y, z)  /* z + x*y */
#define vfnma(x, y, z)    _mm256_fnmadd_ps(x, y, z) /* z - x*y */
#define vkeep(m, x)       _mm256_and_ps(m, x)       /* m ? x : 0 */
#define vmask_if(b)       _mm256_castsi256_ps(_mm256_set1_epi32(-(b)))
#define ivload(p)         _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define ivstore(p, x)     _mm256_storeu_si256((__m256i *)(void *)(p), x)
#define ivset1(x)         _mm256_set1_epi32(x)
#define ivequal(x, y)     _mm256_castsi256_ps(_mm256_cmpeq_epi32(x, y))
#define ivmax(x, y)       _mm256_max_epi32(x, y)
#define ivxor(x, y)       _mm256_xor_si256(x, y)
#define ivgreater(x, y)   _mm256_castsi256_ps(_mm256_cmpgt_epi32(x, y))
#define ivbits(x)         _mm256_castps_si256(x)
#define ivfloat(x)        _mm256_castsi256_ps(x)
#define ivsign(x)         _mm256_srai_epi32(_mm256_castps_si256(x), 31) /* all bits of the sign */
#define ivselect(m, x, y) _mm256_blendv_epi8(y, x, _mm256_castps_si256(m))

static inline float vsum(vec x) {
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}

static inline void vadd_double(double *p, vec x) {
    __m256d low = _mm256_cvtps_pd(_mm256_castps256_ps128(x));
    __m256d high = _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1));
    _mm256_storeu_pd(p, _mm256_add_pd(_mm256_loadu_pd(p), low));
    _mm256_storeu_pd(p + 4, _mm256_add_pd(_mm256_loadu_pd(p + 4), high));
}

/* The most rows of a register tile that is 1, 2 or 4 vectors wide, and the lists of them all; widths are even
 * numbers of vectors here. */
#define TILE_ONE     3
#define TILE_TWO     6
#define TILE_FOUR    3
#define ROWS_FOUR(X) X(1) X(2) X(3)
#define ROWS_TWO(X)  ROWS_FOUR(X) X(4) X(5) X(6)
#define ROWS_ONE(X)  ROWS_FOUR(X)

/* The tile of the encoder's weight gradient: outputs x vectors of hidden channels. */
#define PAIR_VECTORS 2
#define PAIR_ROWS    ROWS_TWO

#include "engine/kernels/simd.h"

#else
typedef int kernels_avx2_absent; /* a file must not be empty */
#endif
