/* Computes the pooled features of an encoder block on the CPU, forward and backward, from the best or the
 * sum over the other items, which the kernels have found: applies the block's second batch norm and, for the
 * mean, divides. */
#include "engine/kernels/cpu_pool.h"

/* With z_ij = g*u_ij + e, norm2 of a cell, and over j != i:
 *
 *   max    y = max(0, max_j z_ij)            the norm is monotone per channel, so the best u is found first
 *   mean   y = sum_j z_ij / n                = (g * sum_j u_ij + (n - 1)*e) / n
 *
 * The zero of the diagonal, j = i, is a floor of the max and a term of the mean: an item alone in its set has
 * y = 0. The GPU has the same in src/engine/cuda/base/gpu.cuh (pooled). */

bool cpu_pool_sums(onet_pool how) {
    return how == ONET_POOL_MEAN;
}

/* Returns what the sum over j is divided by. */
static real divisor(onet_pool how, int n) {
    return how == ONET_POOL_MEAN ? (real)n : 1;
}

void cpu_pool_forward(onet_pool how, int n, int O, const norm *b, const real *restrict best,
                      real *restrict y) {
    const real *g = b->g, *e = b->e, by = divisor(how, n);
    if (cpu_pool_sums(how))
        for (int o = 0; o < O; o++) y[o] = (g[o] * best[o] + (real)(n - 1) * e[o]) / by;
    else
        for (int o = 0; o < O; o++) {
            real z = g[o] * best[o] + e[o];
            y[o] = n > 1 && z > 0 ? z : 0;
        }
}

void cpu_pool_backward(onet_pool how, int n, int O, const norm *b, const real *best, const real *dy,
                       real *restrict gd, double *restrict sum, double *restrict sum_xhat) {
    const real *g = b->g, *e = b->e, *mu = b->mean, *inv = b->inv, by = divisor(how, n);
    if (cpu_pool_sums(how))
        for (int o = 0; o < O; o++) {
            real dz = dy[o] / by;
            sum[o] += (double)dz * (n - 1);
            sum_xhat[o] += (double)(dz * inv[o]) * (double)(best[o] - (real)(n - 1) * mu[o]);
            gd[o] = g[o] * dz;
        }
    else
        for (int o = 0; o < O; o++) {
            real d = dy[o],
                 dz = n > 1 && g[o] * best[o] + e[o] > 0 ? d : 0; /* d is read in any case: no branch */
            sum[o] += (double)dz;
            sum_xhat[o] += (double)dz * (double)((best[o] - mu[o]) * inv[o]);
            gd[o] = g[o] * dz;
        }
}
