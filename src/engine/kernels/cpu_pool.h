/* Completes the pool (max or mean) of an encoder block on the CPU, for training and for ordering: makes the
 * pooled features from the best or the sum that the kernels found, and their gradient. onet_pool lists the
 * pools. */
#ifndef KERNELS_CPU_POOL_H
#define KERNELS_CPU_POOL_H

#include <stdbool.h>

#include "engine/kernels/weights.h"
#include "ordernet.h"

/* Whether the pool is made from the sum of the cells u_ij over j != i; if not, from the best of them. */
bool cpu_pool_sums(onet_pool how);

/* Computes y [O], the pooled features of an item of a set of n, from best [O], its best u or sum of u; b:
 * norm2. */
void cpu_pool_forward(onet_pool how, int n, int O, const norm *b, const real *best, real *y);

/* Writes gd [O], the gradient g*dz of each cell that the pool took. Adds to sum and sum_xhat [O] what the
 * backward pass of norm2 needs: the sums over those cells of dz and of dz*x-hat. */
void cpu_pool_backward(onet_pool how, int n, int O, const norm *b, const real *best, const real *dy, real *gd,
                       double *sum, double *sum_xhat);

#endif
