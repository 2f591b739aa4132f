/* Declares how a batch is divided into tiles, one per thread block, for the kernels over pairs and cells: a
 * plan where all sets have one size, tables made for each batch where they have several. Also defines
 * division rounded up (up) and fast division on the device (divider). gpu.cuh defines rows, steps, pairs and
 * cells. */
#ifndef CUDA_BASE_BATCH_CUH
#define CUDA_BASE_BATCH_CUH

#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

__host__ __device__ static inline int up(int a, int b) {
    return (a + b - 1) / b;
}
/* A divisor that the host knows, for fast division of numbers from 0 to 65535 on the device. */
struct divider {
    int d;
    unsigned inverse; /* 2^32 / d, rounded up */
};
__device__ static inline int operator/(int a, const divider &b) {
    return b.d == 1 ? a : (int)__umulhi((unsigned)a, b.inverse);
}
__device__ static inline int operator%(int a, const divider &b) {
    return a - a / b * b.d;
}
static inline divider divider_of(int d) {
    return {d, (unsigned)((((uint64_t)1 << 32) + (uint64_t)d - 1) / (uint64_t)d)};
}

/* ---- a batch of one size ---- */

/* The plan of each kernel over pairs or cells. `tiles`: thread blocks, each of which leaves a part of the
 * sums. */
struct pair_plan {
    int S, rows, parts; /* S sets per tile; if S is 0, `rows` rows of one set, in `parts` tiles */
    int jc, kc;         /* items j and hidden channels at a time */
    int warps, groups, splits, tiles;
    size_t shared;
};
struct conv_layout {             /* offsets in shared memory, in floats */
    int plane, conv, pool, step; /* within a stage */
    int stage, stages;
    int zero, added, rows, last, total;
};
struct conv_plan {
    int steps, ic, pieces; /* of a tile: its steps, items of each at a time, pieces of its cells */
    int tiles;
    conv_layout forward, backward;
};
struct back_plan {
    int S, rows, jc, warps, tiles; /* S sets per tile; rows and items j at a time */
    size_t shared;
};

/* ---- a batch of several sizes ---- */

/* A batch whose sets have several sizes is sorted by size, the largest first. The host makes tables for each
 * batch (layers/mixed.cu), which tell a thread block what it works on; a tile has sets of one size. */
struct set_place { /* a set of the batch: n items, m of them placed */
    int n, row0, pair0;
    int m, step0, cell0;
    /* Number of pair_backward's tiles for this set; first row, in `more`, of the dc contributions of tiles 2,
     * 3, ... */
    int parts, more;
};
/* Returns the place of set b; places is NULL where the batch has one size. */
__device__ static inline set_place place_of(const set_place *places, int n, int b) {
    if (places) return places[b];
    return {n, b * n, b * n * n, n, b * n, b * n * n, 1, 0};
}
struct pair_tile {            /* of pair_forward */
    int n, row0, rows, pair0; /* its rows i; pair0: the first cell of row0 */
    int other0, whole;        /* its items j; whole: all rows of some sets, else some rows of one */
    int splits, groups;       /* warps that share the hidden channels; groups of 16 cells */
};
struct back_tile {            /* of pair_backward: all rows of some sets, or some rows of one */
    int n, row0, sets, pair0; /* row0: of the (first) set; pair0: the first cell of the tile */
    int i0, own;              /* its rows i, counted from row0 */
    int rows, jc;             /* rows i and items j at a time */
    int more;                 /* its contributions to dc: -1: in `sum`; else in `more` from this row on */
};
struct conv_span {           /* a tile of conv: some steps of one set, or all steps of some sets */
    int m, n, s0, steps, t0; /* t0: place of s0 in its set */
    int row0, cell0;         /* of the (first) set; of step s0 */
    int pair0;               /* of the (first) set */
    int ic, pieces;          /* items at a time; pieces of the tile's cells */
    divider by_m;
};
struct weight_tile { /* of conv_weights: some steps, and all their items, or some of one step's */
    int t0, steps, ic;
    int items, cell0; /* of a step in the plane (1 in that of the pools); two steps before the first */
    divider by_m, by_items;
};
struct weight_tiles {
    const weight_tile *tiles;
    int count, rows, cells; /* at most: rows of v, and cells, of a tile */
};
struct mixed_batch {
    const set_place *places; /* [B] */
    const int32_t *slot;     /* [R]: row, within its set, of an item; NULL: row i is item i */
    int2 *row_at;            /* [R]: n of the set that a row is in, and which set that is */
    int *step_set;           /* [T]: which set a step is in */
    const int2 *row_tiles; /* of encoder_rows: first row, and rows of whole sets; none where a set has more */
    int row_tile_count;
    pair_plan pair;
    const pair_tile *pair_tiles;
    back_plan back;
    const back_tile *back_tiles;
    conv_plan conv;
    const conv_span *conv_tiles;
    weight_tiles weights[2]; /* between cells, between pools */
    int largest;             /* n of the largest set */
};
/* Sets of one size that follow each other in a sorted batch. The entry after the last run has the totals of
 * the batch: its sets, rows, pairs, steps and cells. */
struct set_run {
    int n, m, sets;
    int row0, pair0, step0, cell0;
};
/* What the host knows of a sorted batch. */
struct sorted_sets {
    uint32_t *index;   /* [B] */
    int *from;         /* [B]: where each set was before */
    set_place *places; /* [B] */
    set_run *runs;     /* [runs + 1] */
    int32_t *slot;     /* [R], where there are context items */
};

#endif
