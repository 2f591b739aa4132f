/* Converts half precision from and to float and bfloat16 to float, bit by bit; and arrays of half precision
 * with the instructions of x86-64 where the CPU has them. */
#include "engine/base/half.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#endif

uint16_t half_from_float(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) return (uint16_t)(sign | 0x7e00);  /* NaN */
    if (magnitude >= 0x47800000) return (uint16_t)(sign | 0x7c00); /* 2^16 and over */
    int shift = 13;
    uint32_t mantissa = magnitude;
    if (magnitude < 0x38800000) {
        /* Below 2^-14, the smallest normal half: steps of 2^-24, by shifting the whole mantissa. */
        int exponent = (int)(magnitude >> 23);
        if (exponent < 102) return (uint16_t)sign; /* below 2^-25, half of the smallest step */
        mantissa = (magnitude & 0x7fffff) | 0x800000;
        shift = 126 - exponent;
    } else
        mantissa -= (127 - 15) << 23;
    uint32_t rest = mantissa & (((uint32_t)1 << shift) - 1), half = (uint32_t)1 << (shift - 1);
    uint32_t h = mantissa >> shift;
    if (rest > half || (rest == half && (h & 1))) h++; /* a carry goes up into the exponent, as it should */
    return (uint16_t)(sign | h);
}

float half_to_float(uint16_t h) {
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 31, mantissa = h & 0x3ff, bits;
    if (exponent == 31)
        bits = sign | 0x7f800000 | mantissa << 13;
    else if (exponent)
        bits = sign | (exponent + 127 - 15) << 23 | mantissa << 13;
    else {
        float x = (float)mantissa * 0x1p-24f;
        return sign ? -x : x;
    }
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

float bfloat_to_float(uint16_t b) {
    uint32_t bits = (uint32_t)b << 16;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

#ifdef __x86_64__
/* widen and narrow convert eight numbers at a time and return how many they have converted; the caller
 * converts the last count % 8. */
__attribute__((target("avx,f16c"))) static size_t widen(float *to, const char *from, size_t count) {
    size_t i = 0;
    for (; i + 8 <= count; i += 8)
        _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(from + 2 * i))));
    return i;
}

__attribute__((target("avx,f16c"))) static size_t narrow(uint16_t *to, const float *from, size_t count) {
    size_t i = 0;
    for (; i + 8 <= count; i += 8)
        _mm_storeu_si128((__m128i *)(to + i), _mm256_cvtps_ph(_mm256_loadu_ps(from + i), 0)); /* to nearest */
    return i;
}

static bool has_f16c(void) {
    enum { UNKNOWN, NO, YES };
    static atomic_int known = UNKNOWN;
    int how = atomic_load_explicit(&known, memory_order_relaxed);
    if (how == UNKNOWN) {
        unsigned a, b, c, d;
        __builtin_cpu_init();
        how = __builtin_cpu_supports("avx") && __get_cpuid(1, &a, &b, &c, &d) && c & bit_F16C ? YES : NO;
        atomic_store_explicit(&known, how, memory_order_relaxed);
    }
    return how == YES;
}
#else
static size_t widen(float *to, const char *from, size_t count) {
    (void)to, (void)from, (void)count;
    return 0;
}

static size_t narrow(uint16_t *to, const float *from, size_t count) {
    (void)to, (void)from, (void)count;
    return 0;
}

static bool has_f16c(void) {
    return false;
}
#endif

void half_to_floats(float *to, const void *from, size_t count) {
    for (size_t i = has_f16c() ? widen(to, from, count) : 0; i < count; i++) {
        uint16_t h;
        memcpy(&h, (const char *)from + 2 * i, sizeof h);
        to[i] = half_to_float(h);
    }
}

void half_from_floats(uint16_t *to, const float *from, size_t count) {
    for (size_t i = has_f16c() ? narrow(to, from, count) : 0; i < count; i++)
        to[i] = half_from_float(from[i]);
}
