/* Reads the relations (pair features e_ij) of a set, standardised, and adds them to the first layer of an
 * encoder block, on the CPU, forward only: makes the rows c_j + We [e_ij e_ji] of item i, which the pair
 * kernels take in place of c_j (formula: cpu_encoder.c). Used by training and ordering. */
#ifndef KERNELS_RELATIONS_H
#define KERNELS_RELATIONS_H

#include "engine/kernels/kernels.h"
#include "ordernet.h"

/* The relations of one set; item [n] maps rows to items of the set. */
typedef struct relations {
    const onet_pairs *pairs;  /* NULL: the set has none */
    size_t first;             /* the set's first item, counted over all sets */
    const int32_t *item;      /* [n] */
    const real *mean, *scale; /* [R]: the network sees (e - mean) * scale, and 0 from an item to itself */
} relations;

/* Writes the relations from one item of the set to another, both numbered within the set, to `to` [R]. */
static inline void relations_of(const relations *x, int from, int other, real *to) {
    int R = x->pairs->width;
    const float *e = x->pairs->value + (x->pairs->row[x->first + (size_t)from] + (size_t)other) * (size_t)R;
    for (int r = 0; r < R; r++) to[r] = from == other ? 0 : ((real)e[r] - x->mean[r]) * x->scale[r];
}

/* Makes row i: e [n, 2R] = [e_ij e_ji], and the first H of each row of to [n, 2H] = c_j + w^T [e_ij e_ji]. c
 * has rows 2H apart, w is [2R, H]. */
static inline void relations_row(const relations *x, const kernels *k, int n, int H, int i, const real *c,
                                 const real *w, real *e, real *to) {
    int R = x->pairs->width;
    for (int j = 0; j < n; j++) {
        relations_of(x, x->item[i], x->item[j], e + (size_t)j * 2 * R);
        relations_of(x, x->item[j], x->item[i], e + (size_t)j * 2 * R + R);
        for (int h = 0; h < H; h++) to[(size_t)j * 2 * H + h] = c[(size_t)j * 2 * H + h];
    }
    k->gemm(n, H, 2 * R, e, 2 * (size_t)R, 1, (matrix){w, (size_t)H, PANEL}, to, 2 * (size_t)H, 1);
}

/* Returns how many numbers e and `to` need together for sets of n items; e comes first. */
static inline size_t relations_room(int R, int H, int n) {
    return R ? (size_t)n * (size_t)(2 * R + 2 * H) : 0;
}

#endif
