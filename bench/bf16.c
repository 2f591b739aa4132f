/* bfloat16 with float sums against float: the rate of multiply-adds in registers, and the error of a sum of
 * 128 products like those of the encoder when both factors are rounded. */
#include <math.h>
#include <stdio.h>

#if defined(__x86_64__)
#include <immintrin.h>

#include "engine/base/clock.h"
#include "engine/base/rng.h"
#include "engine/kernels/peak.h"
#include "engine/kernels/simd_macros.h"

enum { CHAINS = 12, ROUNDS = 1 << 14, STRETCHES = 2000, H = 128, SUMS = 10000 };

__attribute__((target("avx512f,avx512bf16"))) static void loop_bf16(void) {
    __m512bh x = _mm512_cvtne2ps_pbh(_mm512_set1_ps(0.5f), _mm512_set1_ps(0.25f));
    __m512 s[CHAINS];
    REPEAT (c, CHAINS) s[c] = _mm512_set1_ps((float)c);
    for (int round = 0; round < ROUNDS; round++)
        REPEAT (c, CHAINS) {
            s[c] = _mm512_dpbf16_ps(s[c], x, x);
            __asm__ volatile("" : "+v"(s[c]));
        }
}

/* The nearest number with 8 bits of mantissa. */
static float rounded(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u;
    memcpy(&x, &bits, sizeof x);
    return x;
}

int main(void) {
    if (!__builtin_cpu_supports("avx512bf16")) return puts("this CPU has no bfloat16 instructions"), 0;
    double best = 0, peak = peak_gflops(1, 0.3);
    for (int i = 0; i < STRETCHES; i++) {
        double before = clock_seconds();
        loop_bf16();
        double rate = 2.0 * 32 * CHAINS * ROUNDS / (clock_seconds() - before) / 1e9;
        if (rate > best) best = rate;
    }
    rng r;
    rng_seed(&r, 1, 0);
    double error = 0, size = 0;
    for (int i = 0; i < SUMS; i++) {
        double exact = 0, coarse = 0;
        for (int k = 0; k < H; k++) {
            float h = (float)rng_normal(&r), w = (float)(rng_normal(&r) / sqrt(H));
            if (h < 0) h = 0;
            exact += (double)h * (double)w;
            coarse += (double)rounded(h) * (double)rounded(w);
        }
        error += (exact - coarse) * (exact - coarse);
        size += exact * exact;
    }
    printf("float    %7.1f GFLOP/s in registers, one thread\n", peak);
    printf("bfloat16 %7.1f GFLOP/s, %.2f times as many\n", best, best / peak);
    printf("error of a sum of %d products, relative to its size: %.2g\n", H, sqrt(error / size));
    return 0;
}
#else
int main(void) {
    puts("bench-bf16 measures x86-64 instructions; this CPU has none");
    return 0;
}
#endif
