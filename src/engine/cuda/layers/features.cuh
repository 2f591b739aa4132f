/* Multiplies the items' features by the first weights of an encoder block or of the decoder; the outputs of
 * the block before are normed as they are loaded. inputs.cu has the backward pass. */
#ifndef CUDA_LAYERS_FEATURES_CUH
#define CUDA_LAYERS_FEATURES_CUH

#include "engine/cuda/layers/layers.cuh"

/* The features of a row as an encoder block (or the decoder) sees them. The last of them, from column `first`
 * on, are the pool of the block before, normed here as they are loaded. */
struct features {
    float *x; /* [R + 1, D padded]; row R is the start vector */
    int ldx, rows;
    const float *best; /* [R, O] */
    int ldb;
    feature_columns columns;
    norms norm;
    onet_pool pool;
    int n;
    const int2 *row_at; /* where the batch has several sizes: .x is n of the row's set */
    dropout drop;
};

/* Returns the features that encoder block `block` multiplies; block M: those of the decoder. */
static inline features gpu_features(const gpu *s, int block) {
    const net_shape *sh = s->base.sh;
    features f = {.x = s->step.x, .ldx = s->D, .rows = (int)s->here.items};
    f.columns = columns_of(sh, block);
    f.n = s->n;
    if (s->ragged.mixed) f.row_at = s->ragged.mixed->row_at;
    f.pool = sh->s.pool;
    if (!block) return f;
    f.best = s->enc[block - 1].best;
    f.ldb = s->O;
    f.norm = s->enc[block - 1].norm2;
    f.drop = dropout_of(s);
    return f;
}

/* Multiplies the features of the rows from row0 on (`last` is the last row) by weights, into s.
 * weights(column in tile) returns the address of a column's weights; early: no kernel that may still run
 * writes them. Chunks of the pooled columns come first; the other columns are in x already. The first `keep`
 * rows of the tile write their pooled features to x. */
template <bool MIXED, class T, class W>
__device__ static inline void features_product(T &s, const features &f, int row0, int last, int keep,
                                               bool early, W weights) {
    constexpr int BK = T::BK, STEP = T::THREADS / BK, U = 4; /* loads in flight at once */
    const int first = f.columns.first, in = f.columns.in, gap = f.columns.gap,
              made = (in - first + BK - 1) / BK, chunks = made + (first + BK - 1) / BK;
    if (!early) wait_turn();
    static_assert(T::BM % (U * STEP) == 0, "tile");
    product(
        s, chunks,
        [&](int q, float *to) {
            if (q >= made) {
                fetch_along<T, T::BM, 4>(to, (q - made) * BK, first,
                                         [&](int m) { return f.x + (size_t)min(row0 + m, last) * f.ldx; });
                return;
            }
            int kk = (int)threadIdx.x % BK, o = q * BK + kk, c = first + o;
            bool there = c < in;
            const float norm_g = load(f.norm.g + (there ? o : 0)), norm_e = load(f.norm.e + (there ? o : 0));
            pooled make(norm_g, norm_e, f.pool, f.n);
            rolled<1, T::BM, U * STEP>((int)threadIdx.x / BK, [&](int m0) {
                float v[U];
                int items[U];
#pragma unroll
                for (int u = 0; u < U; u++) {
                    int row = min(row0 + m0 + u * STEP, last);
                    const float *from =
                        row < f.rows ? f.best + (size_t)row * f.ldb + o : f.x + (size_t)row * f.ldx + c;
                    v[u] = there ? load(from) : 0.0f;
                    if (MIXED && there && row < f.rows) items[u] = f.row_at[row].x;
                }
#pragma unroll
                for (int u = 0; u < U; u++) {
                    int m = m0 + u * STEP;
                    if (MIXED && there && row0 + m < f.rows) make = pooled(norm_g, norm_e, f.pool, items[u]);
                    if (there && row0 + m < f.rows) v[u] = make(v[u]) * f.drop.factor(row0 + m, c);
                    to[m * T::LDA + kk] = v[u];
                    if (there && m < keep) f.x[(size_t)(row0 + m) * f.ldx + c] = v[u];
                }
            });
        },
        [&](int q, float *to) {
            bool pool = q < made;
            fetch_along<T, T::BN, 4>(to, pool ? first + gap + q * BK : (q - made) * BK,
                                     pool ? in + gap : first, weights);
        });
}

/* Writes the pooled features of a row to x, by all threads of the thread block. */
__device__ static inline void features_keep(const features &f, int row) {
    const int n = f.row_at ? f.row_at[row].x : f.n;
    for (int o = threadIdx.x; o < f.columns.in - f.columns.first; o += blockDim.x) {
        pooled make(load(f.norm.g + o), load(f.norm.e + o), f.pool, n);
        const int c = f.columns.first + o;
        f.x[(size_t)row * f.ldx + c] = make(f.best[(size_t)row * f.ldb + o]) * f.drop.factor(row, c);
    }
}

#endif
