/* Computes the gradient of the items' features on the GPU: dac of an encoder block, or dq of the decoder,
 * times the weights; then the backward pass of the pool of the block before, whose outputs are the last
 * columns, with the sums for its norm2. base/gpu.cuh defines dac, q and rows. */
#include "engine/cuda/layers/layers.cuh"

struct inputs_args {
    const float *d,
        *w; /* [R, K], [K, columns]; in bfloat16 both hold bfloat16, w with the columns of `half` */
    feature_columns columns;
    half_columns half;
    int K, R;
    float *dx; /* [R, D padded] */
    int ldx;
    const float *item_d, *head; /* dx starts as their product or, if NULL, is added to */
    /* The pool: */
    int width; /* 0: no pool before */
    int O, n;
    onet_pool pool;
    const int2 *row_at; /* where the batch has several sizes: .x is n of the row's set */
    const float *x, *best;
    dropout drop;
    norms norm;
    float *gd;
    double *part; /* [row tiles, 2*O] */
    unsigned *counter;
    norm_backward back;
};

/* ROWS rows and 64 columns per thread block. */
template <int ROWS, onet_precision P>
using inputs_tile = tile<ROWS, 64, ROWS == 64 ? 2 : 1, 2, ROWS == 64 ? 2 : 4, true, false, P>;

/* After the product: one column per thread, every SLICES-th row. */
template <bool MIXED, class T>
__device__ static inline void finish_inputs(T &s, const inputs_args &p, int m0, int n0) {
    constexpr int SLICES = T::THREADS / T::BN, U = 4;
    static_assert(T::BM % (U * SLICES) == 0, "tile");
    const feature_columns &columns = p.columns;
    int column = (int)threadIdx.x % T::BN, slice = (int)threadIdx.x / T::BN, packed = n0 + column,
        c = packed < columns.first ? packed : packed - columns.gap;
    if (T::P == ONET_BF16) c = own_column(p.half, packed);
    const int o = c - columns.first;
    bool there = c >= 0 && c < columns.in && (T::P == ONET_BF16 || packed < columns.first || o >= 0),
         pooled = there && o >= 0 && o < p.width;
    float weight = there && p.head ? load(p.head + c) : 0.0f, mu = 0, inv = 0, g = 0;
    const bool sums = pool_sums(p.pool);
    float share = 1.0f / pool_divisor(p.pool, p.n), others = sums ? (float)(p.n - 1) : 1.0f;
    if (pooled) {
        mu = load(p.norm.mean + o);
        if (!MIXED) mu *= others; /* mean of the sum over the other items, or of the best alone */
        inv = load(p.norm.inv + o);
        g = load(p.norm.g + o);
    }
    double dy = 0, dy_xhat = 0;
    rolled<1, T::BM, U * SLICES>(slice, [&](int r0) {
        float d[U], best[U], x[U];
        int items[U];
#pragma unroll
        for (int u = 0; u < U; u++) {
            int row = min(m0 + r0 + u * SLICES, p.R - 1);
            bool own = there && row == m0 + r0 + u * SLICES;
            d[u] = !own ? 0.0f : p.head ? load(p.item_d + row) * weight : p.dx[(size_t)row * p.ldx + c];
            best[u] = pooled ? load(p.best + (size_t)row * p.O + o) : 0.0f;
            x[u] = pooled ? load(p.x + (size_t)row * p.ldx + c) : 0.0f;
            if (MIXED && pooled) items[u] = p.row_at[row].x;
        }
#pragma unroll
        for (int u = 0; u < U; u++) {
            int r = r0 + u * SLICES, row = m0 + r;
            if (!there || row >= p.R) continue;
            float sum = s.out[0][r * T::LD + column];
#pragma unroll
            for (int k = 1; k < T::G; k++) sum += s.out[k][r * T::LD + column];
            d[u] += sum;
            if (pooled) d[u] *= p.drop.factor(row, c);
            p.dx[(size_t)row * p.ldx + c] = d[u];
            if (!pooled) continue;
            if (MIXED) {
                share = 1.0f / pool_divisor(p.pool, items[u]);
                others = sums ? (float)(items[u] - 1) : 1.0f;
            }
            float dz = sums || x[u] > 0 ? share * d[u] : 0.0f;
            dy += MIXED ? (double)dz * (double)others : (double)dz;
            dy_xhat += (double)dz * (double)((best[u] - (MIXED ? others * mu : mu)) * inv);
            p.gd[(size_t)row * p.O + o] = g * dz;
        }
    });
    if (!p.width) return;
    double(*parts)[T::THREADS] = (double(*)[T::THREADS]) & s;
    static_assert(sizeof(T) >= 2 * sizeof *parts && sizeof(T) >= 768 * sizeof(double), "room for sums");
    __syncthreads();
    parts[0][threadIdx.x] = MIXED ? dy : dy * (double)others;
    parts[1][threadIdx.x] = dy_xhat;
    __syncthreads();
    if (slice < 2 && pooled) {
        double sum = 0;
        for (int k = 0; k < SLICES; k++) sum += parts[slice][k * T::BN + column];
        p.part[(size_t)blockIdx.x * 2 * p.O + slice * p.O + o] = sum;
    }
    if (!last_block(p.counter, gridDim.x * gridDim.y)) return;
    double *total = (double *)&s, *scratch = total + 256;
    column_totals(p.part, (int)gridDim.x, 2 * p.O, total, scratch, 512);
    for (int k = threadIdx.x; k < p.width; k += T::THREADS) norm_back(p.back, k, total[k], total[p.O + k]);
}

template <bool MIXED, class T>
__global__ void __launch_bounds__(T::THREADS, T::RESIDENT) inputs(inputs_args p) {
    extern __shared__ float4 memory[];
    T &s = *(T *)memory;
    int m0 = blockIdx.x * T::BM, n0 = blockIdx.y * T::BN;
    product(
        s, (p.K + T::BK - 1) / T::BK,
        [&](int q, float *to) {
            fetch_along<T, T::BM, 4>(to, q * T::BK, p.K,
                                     [&](int m) { return p.d + (size_t)min(m0 + m, p.R - 1) * p.K; });
        },
        [&](int q, float *to) {
            fetch_across<T, T::BN, 4>(to, q * T::BK, p.K, p.columns.width - n0,
                                      [&](int k) { return p.w + k * p.columns.width + n0; });
        });
    finish_inputs<MIXED>(s, p, m0, n0);
}

template <bool MIXED, class T>
__global__ void __launch_bounds__(T::THREADS, T::RESIDENT) inputs_bf16(inputs_args p) {
    extern __shared__ float4 memory[];
    T &s = *(T *)memory;
    const int m0 = blockIdx.x * T::BM, n0 = blockIdx.y * T::BN;
    const bf16 *d = (const bf16 *)p.d, *w = (const bf16 *)p.w;
    product_of_bf16(
        s, (p.K + T::BK - 1) / T::BK,
        [&](int q, bf16 *to) {
            fetch_along_bf16<T, T::BM>(to, q * T::BK, p.K,
                                       [&](int m) { return d + (size_t)min(m0 + m, p.R - 1) * p.K; });
        },
        [&](int q, bf16 *to) {
            fetch_across_bf16<T, T::BN>(to, q * T::BK, p.K, p.half.width - n0,
                                        [&](int k) { return w + (size_t)k * p.half.width + n0; });
        });
    finish_inputs<MIXED>(s, p, m0, n0);
}

template <bool MIXED> static void inputs_bf16_launch(gpu *s, const inputs_args &p) {
    typedef tile_bf16<128, 64, 4, 2, true, false> large;
    typedef tile_bf16<64, 64, 2, 2, true, false> middle;
    typedef tile_bf16<32, 64, 2, 2, true, false> small;
    int y = up(p.half.width, 64);
    if ((long)up(p.R, 128) * y >= 2 * s->multiprocessors)
        CHAIN(s, dim3(up(p.R, 128), y), large::THREADS, sizeof(large), (inputs_bf16<MIXED, large>), p);
    else if ((long)up(p.R, 64) * y >= s->multiprocessors)
        CHAIN(s, dim3(up(p.R, 64), y), middle::THREADS, sizeof(middle), (inputs_bf16<MIXED, middle>), p);
    else
        CHAIN(s, dim3(up(p.R, 32), y), small::THREADS, sizeof(small), (inputs_bf16<MIXED, small>), p);
}

/* Launches with the largest tiles that give every multiprocessor one. */
template <onet_precision P, bool MIXED> static void inputs_launch(gpu *s, const inputs_args &p) {
    typedef inputs_tile<64, P> large;
    typedef inputs_tile<32, P> middle;
    typedef inputs_tile<16, P> small;
    int y = up(p.columns.width, 64);
    if ((long)up(p.R, 64) * y >= s->multiprocessors)
        CHAIN(s, dim3(up(p.R, 64), y), large::THREADS, sizeof(large), (inputs<MIXED, large>), p);
    else if ((long)up(p.R, 32) * y >= s->multiprocessors)
        CHAIN(s, dim3(up(p.R, 32), y), middle::THREADS, sizeof(middle), (inputs<MIXED, middle>), p);
    else
        CHAIN(s, dim3(up(p.R, 16), y), small::THREADS, sizeof(small), (inputs<MIXED, small>), p);
}

void gpu_inputs(gpu *s, int block, const float *d, const float *w, int K) {
    const net_shape *sh = s->base.sh;
    inputs_args p = {.d = d,
                     .w = w,
                     .columns = columns_of(sh, block),
                     .K = K,
                     .R = (int)s->here.items,
                     .dx = s->step.dx,
                     .ldx = s->D};
    if (block == s->M) {
        p.item_d = s->step.item_d;
        p.head = s->weights.theta + sh->head_weight;
    }
    if (block) {
        const encoder_block *before = &s->enc[block - 1];
        p.width = sh->s.encoder_out;
        p.O = s->O;
        p.n = s->n;
        if (s->ragged.mixed) p.row_at = s->ragged.mixed->row_at;
        p.pool = sh->s.pool;
        p.x = s->step.x;
        p.best = before->best;
        p.drop = dropout_of(s);
        p.norm = before->norm2;
        p.gd = s->step.gd;
        p.part = s->step.part;
        p.counter = s->result.counters;
        p.back = norms_second_back(s, block - 1);
    }
    if (precision_of(s) == ONET_BF16) {
        p.half = half_columns_of(s, block);
        p.w = (const float *)(block < s->M ? s->half.block[block].w1 : s->half.rows);
        s->ragged.mixed ? inputs_bf16_launch<true>(s, p) : inputs_bf16_launch<false>(s, p);
    } else if (precision_of(s) == ONET_TF32)
        s->ragged.mixed ? inputs_launch<ONET_TF32, true>(s, p) : inputs_launch<ONET_TF32, false>(s, p);
    else
        s->ragged.mixed ? inputs_launch<ONET_FLOAT32, true>(s, p) : inputs_launch<ONET_FLOAT32, false>(s, p);
}
