/* Measures the peak speed of this CPU: multiply-adds in registers on all threads. */
#include "engine/kernels/peak.h"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include "engine/base/clock.h"
#include "engine/base/thread_pool.h"
#include "engine/kernels/simd_macros.h"

enum { CHAINS = 12, ROUNDS = 1 << 14 }; /* chains enough to hide the latency of a multiply-add */

/* The empty asm tells the compiler that the sum may have changed: no step is left out or merged. */
#define PEAK_LOOP(vec, fma, set1, held)                                                                      \
    vec x = set1(0.5f), y = set1(0.25f), s[CHAINS];                                                          \
    REPEAT (c, CHAINS) s[c] = set1((float)c);                                                                \
    for (int round = 0; round < ROUNDS; round++)                                                             \
        REPEAT (c, CHAINS) {                                                                                 \
            s[c] = fma(s[c], x, y);                                                                          \
            __asm__ volatile("" : "+" held(s[c]));                                                           \
        }

#if defined(__x86_64__)
__attribute__((target("avx512f"))) static void loop_avx512(void) {
    PEAK_LOOP(__m512, _mm512_fmadd_ps, _mm512_set1_ps, "v")
}

__attribute__((target("avx2,fma"))) static void loop_avx2(void) {
    PEAK_LOOP(__m256, _mm256_fmadd_ps, _mm256_set1_ps, "v")
}

#define MULTIPLY_ADD(x, y, z) _mm_add_ps(_mm_mul_ps(x, y), z)

static void loop_plain(void) {
    PEAK_LOOP(__m128, MULTIPLY_ADD, _mm_set1_ps, "v")
}
enum { PLAIN_LANES = 4 };
#elif defined(__aarch64__)
#define MULTIPLY_ADD(x, y, z) vfmaq_f32(z, x, y)

static void loop_plain(void) {
    PEAK_LOOP(float32x4_t, MULTIPLY_ADD, vdupq_n_f32, "w")
}
enum { PLAIN_LANES = 4 };
#else
#define MULTIPLY_ADD(x, y, z) ((x) * (y) + (z))
#define ITSELF(x)             (x)

static void loop_plain(void) {
    PEAK_LOOP(float, MULTIPLY_ADD, ITSELF, "g")
}
enum { PLAIN_LANES = 1 };
#endif

typedef struct work {
    void (*loop)(void);
    double seconds, flops; /* flops: of one loop */
    double rate[256];      /* of each job, flops per second */
} work;

static void run(void *arg, int job, int thread) {
    work *w = arg;
    (void)thread;
    double start = clock_seconds(), before = start, after;
    do {
        w->loop();
        after = clock_seconds();
        double rate = w->flops / (after - before);
        if (rate > w->rate[job]) w->rate[job] = rate;
        before = after;
    } while (after - start < w->seconds);
}

double peak_gflops(int threads, double seconds) {
    work w = {.loop = loop_plain, .seconds = seconds};
    int lanes = PLAIN_LANES;
#if defined(__x86_64__)
    const kernels *best = kernels_pick(NULL);
    if (best == &kernels_avx512) {
        w.loop = loop_avx512;
        lanes = 16;
    } else if (best == &kernels_avx2) {
        w.loop = loop_avx2;
        lanes = 8;
    }
#endif
    w.flops = 2.0 * lanes * CHAINS * ROUNDS;
    if (threads > 256) threads = 256;
    thread_pool *p = threads > 1 ? thread_pool_new(threads) : NULL;
    int jobs = p ? thread_pool_threads(p) : 1;
    thread_pool_run(p, jobs, run, &w);
    thread_pool_free(p);
    double sum = 0;
    for (int t = 0; t < jobs; t++) sum += w.rate[t];
    return sum / 1e9;
}
