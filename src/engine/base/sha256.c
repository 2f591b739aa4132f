/* Computes SHA-256 in plain C, and with the SHA instructions of x86-64 where the CPU has them. */
#include "engine/base/sha256.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#endif

static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t x, int bits) {
    return x >> bits | x << (32 - bits);
}

void sha256_blocks_plain(uint32_t h[8], const uint8_t *p, size_t blocks) {
    for (; blocks; blocks--, p += 64) {
        uint32_t w[64], v[8];
        for (int i = 0; i < 16; i++)
            w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 | (uint32_t)p[4 * i + 2] << 8 |
                   p[4 * i + 3];
        for (int i = 16; i < 64; i++) {
            uint32_t a = w[i - 15], b = w[i - 2];
            w[i] = w[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[i - 7] +
                   (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
        }
        memcpy(v, h, sizeof v);
        /* The eight variables rotate each round; after eight rounds they are in their places again. */
        for (int i = 0; i < 64; i += 8)
#pragma GCC unroll 8
            for (int j = 0; j < 8; j++) {
                uint32_t a = v[(8 - j) & 7], e = v[(12 - j) & 7], *last = &v[(15 - j) & 7];
                uint32_t b = v[(9 - j) & 7], c = v[(10 - j) & 7], f = v[(13 - j) & 7], g = v[(14 - j) & 7];
                uint32_t t1 = *last + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) +
                              K[i + j] + w[i + j];
                uint32_t t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
                v[(11 - j) & 7] += t1;
                *last = t1 + t2;
            }
        for (int i = 0; i < 8; i++) h[i] += v[i];
    }
}

#ifdef __x86_64__
/* The CPU's SHA instructions: two rounds each, on the state as two vectors, abef and cdgh. */
__attribute__((target("sha,sse4.1"))) static void blocks_sha(uint32_t h[8], const uint8_t *p, size_t blocks) {
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i badc = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)h), 0xb1);
    __m128i hgfe = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(h + 4)), 0x1b);
    __m128i abef = _mm_alignr_epi8(badc, hgfe, 8), cdgh = _mm_blend_epi16(hgfe, badc, 0xf0);
    for (; blocks; blocks--, p += 64) {
        __m128i w[4] = {_mm_setzero_si128()}, abef_before = abef, cdgh_before = cdgh;
#pragma GCC unroll 16
        for (int i = 0; i < 16;
             i++) { /* four rounds per iteration; w holds the last 16 words of the schedule */
            __m128i *now = &w[i & 3], one = w[(i + 1) & 3], two = w[(i + 2) & 3], three = w[(i + 3) & 3];
            if (i < 4)
                *now = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(p + 16 * i)), swap);
            else
                *now = _mm_sha256msg2_epu32(
                    _mm_add_epi32(_mm_sha256msg1_epu32(*now, one), _mm_alignr_epi8(three, two, 4)), three);
            __m128i k = _mm_add_epi32(*now, _mm_loadu_si128((const __m128i *)(K + 4 * i)));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, k);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(k, 0x0e));
        }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    __m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128((__m128i *)h, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128((__m128i *)(h + 4), _mm_alignr_epi8(dchg, feba, 8));
}

static bool has_sha(void) {
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && c & bit_SSE4_1 && __get_cpuid_count(7, 0, &a, &b, &c, &d) &&
           b & 1u << 29;
}

void sha256_blocks(uint32_t h[8], const uint8_t *p, size_t blocks) {
    enum { UNKNOWN, NO, YES };
    static atomic_int sha = UNKNOWN;
    int how = atomic_load_explicit(&sha, memory_order_relaxed);
    if (how == UNKNOWN) atomic_store_explicit(&sha, how = has_sha() ? YES : NO, memory_order_relaxed);
    if (how == YES)
        blocks_sha(h, p, blocks);
    else
        sha256_blocks_plain(h, p, blocks);
}
#else
void sha256_blocks(uint32_t h[8], const uint8_t *p, size_t blocks) {
    sha256_blocks_plain(h, p, blocks);
}
#endif

void sha256_start(sha256 *s) {
    static const uint32_t first[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(s->h, first, sizeof first);
    s->length = 0;
}

void sha256_add(sha256 *s, const void *data, size_t size) {
    const uint8_t *p = data;
    size_t held = s->length % 64;
    s->length += size;
    if (held) {
        size_t take = size < 64 - held ? size : 64 - held;
        memcpy(s->block + held, p, take);
        if (held + take < 64) return;
        sha256_blocks(s->h, s->block, 1);
        p += take;
        size -= take;
    }
    sha256_blocks(s->h, p, size / 64);
    if (size % 64) memcpy(s->block, p + size / 64 * 64, size % 64);
}

void sha256_hex(const sha256 *s, char hex[65]) {
    uint32_t h[8];
    uint8_t last[128] = {0};
    size_t held = s->length % 64, size = held < 56 ? 64 : 128;
    memcpy(h, s->h, sizeof h);
    memcpy(last, s->block, held);
    last[held] = 0x80;
    for (int i = 0; i < 8; i++) last[size - 1 - (size_t)i] = (uint8_t)(s->length * 8 >> (8 * i));
    sha256_blocks(h, last, size / 64);
    for (int i = 0; i < 64; i++) hex[i] = "0123456789abcdef"[h[i / 8] >> (28 - i % 8 * 4) & 15];
    hex[64] = 0;
}
