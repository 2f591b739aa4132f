/* Converts between float and the 16-bit floating-point formats of files, bit by bit. */
#include "engine/base/half.h"

#include <string.h>

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
