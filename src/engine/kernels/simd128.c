/* Compiles the SIMD kernels (simd.h) for WebAssembly's simd128: vectors of 4 floats, without fused
 * multiply-adds. */
#if defined(__wasm_simd128__)
#include <wasm_simd128.h>

#include "engine/kernels/simd_macros.h"

#define KERNELS      kernels_simd128
#define KERNELS_NAME "simd128"
#define VL           4

typedef v128_t vec;
typedef v128_t ivec;
typedef v128_t vmask;

#define vload(p)          wasm_v128_load(p)
#define vstore(p, x)      wasm_v128_store(p, x)
#define vset1(x)          wasm_f32x4_splat(x)
#define vzero()           wasm_i32x4_const(0, 0, 0, 0)
#define vadd(x, y)        wasm_f32x4_add(x, y)
#define vsub(x, y)        wasm_f32x4_sub(x, y)
#define vmul(x, y)        wasm_f32x4_mul(x, y)
#define vdiv(x, y)        wasm_f32x4_div(x, y)
#define vsqrt(x)          wasm_f32x4_sqrt(x)
#define vmax(x, y)        wasm_f32x4_pmax(y, x) /* y < x ? x : y: one instruction of x86, where max is several */
#define vfma(x, y, z)     vadd(z, vmul(x, y)) /* z + x*y */
#define vfnma(x, y, z)    vsub(z, vmul(x, y)) /* z - x*y */
#define vkeep(m, x)       wasm_v128_and(m, x) /* m ? x : 0 */
#define vmask_if(b)       wasm_i32x4_splat(-(b))
#define ivload(p)         wasm_v128_load(p)
#define ivstore(p, x)     wasm_v128_store(p, x)
#define ivset1(x)         wasm_i32x4_splat(x)
#define ivequal(x, y)     wasm_i32x4_eq(x, y)
#define ivmax(x, y)       wasm_i32x4_max(x, y)
#define ivxor(x, y)       wasm_v128_xor(x, y)
#define ivgreater(x, y)   wasm_i32x4_gt(x, y)
#define ivbits(x)         (x)
#define ivfloat(x)        (x)
#define ivsign(x)         wasm_i32x4_shr(x, 31) /* all bits of the sign */
#define ivselect(m, x, y) wasm_v128_bitselect(x, y, m)

static inline float vsum(vec x) {
    vec s = vadd(x, wasm_i32x4_shuffle(x, x, 2, 3, 2, 3));
    return wasm_f32x4_extract_lane(s, 0) + wasm_f32x4_extract_lane(s, 1);
}

static inline void vadd_double(double *p, vec x) {
    v128_t low = wasm_f64x2_promote_low_f32x4(x);
    v128_t high = wasm_f64x2_promote_low_f32x4(wasm_i32x4_shuffle(x, x, 2, 3, 2, 3));
    wasm_v128_store(p, wasm_f64x2_add(wasm_v128_load(p), low));
    wasm_v128_store(p + 2, wasm_f64x2_add(wasm_v128_load(p + 2), high));
}

/* The most rows of a register tile that is 1, 2 or 4 vectors wide, and the lists of them all, for the 16
 * registers of x86-64; widths are multiples of 4 vectors here. */
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
typedef int kernels_simd128_absent; /* a file must not be empty */
#endif
