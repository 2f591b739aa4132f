/* Makes parameters and batches by formula, for golden files and benchmarks (generated.h). */
#include "engine/model/generated.h"

#include <math.h>
#include <string.h>

static uint64_t mix(uint64_t z) {
    z += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint64_t generated_u64(uint64_t seed, uint64_t stream, uint64_t element) {
    return mix(mix(mix(seed) + stream) + element);
}

double generated_uniform(uint64_t seed, uint64_t stream, uint64_t element) {
    return (double)(generated_u64(seed, stream, element) >> 11) * 0x1p-53;
}

static bool ends(const char *name, const char *end) {
    size_t n = strlen(name), m = strlen(end);
    return n >= m && strcmp(name + n - m, end) == 0;
}

static double fan_in(const tensor *t) {
    return (double)t->shape[1] * (t->dims > 2 ? t->shape[2] : 1);
}

/* Fills one tensor. Every step is a correctly rounded double operation, so that Python gets the same bits. */
static void fill(const net_shape *sh, int index, uint64_t seed, float *out) {
    const tensor *t = &sh->tensor[index];
    bool norm = strstr(t->name, ".norm") != NULL;
    bool gamma = norm && ends(t->name, ".weight"), beta = norm && ends(t->name, ".bias");
    bool mean = ends(t->name, ".running_mean"), var = ends(t->name, ".running_var");
    double width = 1; /* the range of weights, biases (each right after its weight) and the start vector */
    if (!norm && t->dims > 1) width = 2 / sqrt(fan_in(t));
    if (!norm && ends(t->name, ".bias")) width = 2 / sqrt(fan_in(t - 1));
    for (size_t i = 0; i < t->size; i++) {
        uint64_t z = generated_u64(seed, (uint64_t)index, i);
        double u = (double)(z >> 11) * 0x1p-53;
        double value = (2 * u - 1) * width;
        if (gamma) value = (z & 3) == 0 ? -(0.5 + u) : 0.5 + u;
        if (beta) value = u - 0.5;
        if (mean) value = 0.5 * u;
        if (var) value = 0.25 + u;
        out[i] = (float)value;
    }
}

void generated_theta(const net_shape *sh, uint64_t seed, float *theta) {
    for (int k = 0; k < sh->tensors; k++) fill(sh, k, seed, theta + sh->tensor[k].offset);
}

void generated_batch(uint64_t seed, int step, int B, int n, int d, float *x, int32_t *y) {
    uint64_t items = ((uint64_t)1 << 32) + 2 * (uint64_t)step, orders = items + 1;
    size_t numbers = (size_t)B * (size_t)n * (size_t)d;
    for (size_t i = 0; i < numbers; i++) x[i] = (float)(2 * generated_uniform(seed, items, i) - 1);
    for (int b = 0; b < B; b++) {
        int32_t *order = y + (size_t)b * (size_t)n;
        for (int i = 0; i < n; i++) order[i] = i;
        for (int i = n - 1; i > 0; i--) {
            uint64_t at = (uint64_t)b * (uint64_t)n + (uint64_t)i;
            int j = (int)(generated_u64(seed, orders, at) % ((uint64_t)i + 1));
            int32_t keep = order[i];
            order[i] = order[j];
            order[j] = keep;
        }
    }
}

void generated_pairs(uint64_t seed, int step, int B, int n, int R, float *e) {
    size_t numbers = (size_t)B * (size_t)n * (size_t)n * (size_t)R, pair = (size_t)R, items = (size_t)n;
    for (size_t i = 0; i < numbers; i++) {
        bool itself = i / pair % items == i / pair / items % items;
        e[i] = itself ? 0 : (float)(2 * generated_uniform(seed, ((uint64_t)1 << 33) + (uint64_t)step, i) - 1);
    }
}
