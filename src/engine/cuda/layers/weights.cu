/* Computes the gradients of weights that multiply rows (items), in parts over the rows (rows_weights), and
 * adds up the rows of a matrix of parts (sum_rows); both on side streams. */
#include <algorithm>

#include "engine/cuda/layers/layers.cuh"

struct weights_args {
    const float *d; /* [rows, width] */
    int width, R, rows_split;
    const float *x;
    int ldx, in, ones; /* ones: one more column, of ones, gives the bias */
    float *part;       /* [splits, width, in + ones] */
};

/* part[split] = d^T x over some of the rows. */
template <class T> __global__ void __launch_bounds__(T::THREADS, T::RESIDENT) rows_weights(weights_args p) {
    extern __shared__ float4 memory[];
    T &s = *(T *)memory;
    int m0 = blockIdx.x * T::BM, n0 = blockIdx.y * T::BN, columns = p.in + p.ones;
    int k0 = blockIdx.z * p.rows_split, k1 = min(p.R, k0 + p.rows_split);
    product(
        s, (k1 - k0 + T::BK - 1) / T::BK,
        [&](int q, float *to) {
            fetch_across<T, T::BM, 4>(to, k0 + q * T::BK, k1, p.width - m0,
                                      [&](int k) { return p.d + (size_t)k * p.width + m0; });
        },
        [&](int q, float *to) {
            fetch_across<T, T::BN, 4>(to, k0 + q * T::BK, k1, p.ldx - n0,
                                      [&](int k) { return p.x + (size_t)k * p.ldx + n0; });
        },
        [&](int c, float v) { return n0 + c < p.in ? v : 1.0f; });
    float *part = p.part + (size_t)blockIdx.z * p.width * columns;
    int c = (int)threadIdx.x % T::BN;
    rolled<2, T::BM, T::THREADS / T::BN>((int)threadIdx.x / T::BN, [&](int m) {
        if (m0 + m < p.width && n0 + c < columns) part[(m0 + m) * columns + n0 + c] = s.out[0][m * T::LD + c];
    });
}

template <onet_precision P>
static int rows_weights_launch(gpu *s, cudaStream_t where, const float *d, int width, int R, int in, int ones,
                               float *part) {
    typedef tile<128, 64, 4, 2, 1, false, false, P> wide;
    typedef tile<64, 64, 2, 2, 1, false, false, P> narrow;
    bool large = (long)width * (in + ones) >= 128 * 1024;
    int x = up(width, large ? 128 : 64), y = up(in + ones, 64), splits = up(s->multiprocessors, x * y);
    if (splits > up(R, 64)) splits = up(R, 64);
    if (splits > SPLITS) splits = SPLITS;
    int each = up(up(R, splits), 32) * 32; /* whole chunks */
    splits = up(R, each);
    weights_args p = {.d = d,
                      .width = width,
                      .R = R,
                      .rows_split = each,
                      .x = s->step.x,
                      .ldx = s->D,
                      .in = in,
                      .ones = ones,
                      .part = part};
    if (large)
        LAUNCH(s, where, dim3(x, y, splits), wide::THREADS, sizeof(wide), rows_weights<wide>, p);
    else
        LAUNCH(s, where, dim3(x, y, splits), narrow::THREADS, sizeof(narrow), rows_weights<narrow>, p);
    return splits;
}

/* rows_weights in bfloat16, where x has a column of ones. */
template <class T>
__global__ void __launch_bounds__(T::THREADS, T::RESIDENT)
    rows_weights_bf16(weights_args p, half_columns half) {
    extern __shared__ float4 memory[];
    T &s = *(T *)memory;
    const int m0 = blockIdx.x * T::BM, n0 = blockIdx.y * T::BN, columns = p.in + p.ones;
    const int k0 = blockIdx.z * p.rows_split, k1 = min(p.R, k0 + p.rows_split);
    const bf16 *d = (const bf16 *)p.d, *x = (const bf16 *)p.x;
    product_of_bf16(
        s, (k1 - k0 + T::BK - 1) / T::BK,
        [&](int q, bf16 *to) {
            fetch_across_bf16<T, T::BM>(to, k0 + q * T::BK, k1, p.width - m0,
                                        [&](int k) { return d + (size_t)k * p.width + m0; });
        },
        [&](int q, bf16 *to) {
            fetch_across_bf16<T, T::BN>(to, k0 + q * T::BK, k1, half.width - n0,
                                        [&](int k) { return x + (size_t)k * p.ldx + n0; });
        });
    float *part = p.part + (size_t)blockIdx.z * p.width * columns;
    const int column = n0 + (int)threadIdx.x % T::BN;
    int c = own_column(half, column);
    if (p.ones && column == half.inputs) c = p.in;
    if (c < 0) return;
#pragma unroll 2
    for (int m = (int)threadIdx.x / T::BN; m < T::BM && m0 + m < p.width; m += T::THREADS / T::BN)
        part[(size_t)(m0 + m) * columns + c] = s.out[0][m * T::LD + column - n0];
}

static int rows_weights_bf16_launch(gpu *s, cudaStream_t where, const float *d, int width, int R, int in,
                                    int ones, float *part) {
    typedef tile_bf16<128, 128, 2, 4, false, false> large;
    typedef tile_bf16<64, 64, 2, 2, false, false> small;
    int block = 0;
    while (half_columns_of(s, block).inputs + block * s->base.sh->s.encoder_out < in) block++;
    const half_columns half = half_columns_of(s, block);
    const bool wide = (long)width * in >= 128 * 1024;
    int each = wide ? 128 : 64, x = up(width, each), y = up(half.width, each),
        splits = up((wide ? 2 : 4) * s->multiprocessors, x * y);
    splits = std::min(std::min(splits, up(R, 128)), (int)SPLITS);
    int rows = up(up(R, splits), 64) * 64; /* whole chunks */
    splits = up(R, rows);
    weights_args p = {.d = d,
                      .width = width,
                      .R = R,
                      .rows_split = rows,
                      .x = (const float *)s->half.x,
                      .ldx = half_columns_of(s, s->M).width,
                      .in = in,
                      .ones = ones,
                      .part = part};
    if (wide)
        LAUNCH(s, where, dim3(x, y, splits), large::THREADS, sizeof(large), rows_weights_bf16<large>, p,
               half);
    else
        LAUNCH(s, where, dim3(x, y, splits), small::THREADS, sizeof(small), rows_weights_bf16<small>, p,
               half);
    return splits;
}

int gpu_rows_weights(gpu *s, cudaStream_t where, const float *d, int width, int R, int in, int ones,
                     float *part) {
    if (precision_of(s) == ONET_BF16) return rows_weights_bf16_launch(s, where, d, width, R, in, ones, part);
    return precision_of(s) == ONET_TF32
               ? rows_weights_launch<ONET_TF32>(s, where, d, width, R, in, ones, part)
               : rows_weights_launch<ONET_FLOAT32>(s, where, d, width, R, in, ones, part);
}

/* out [width] = sum over the rows of part [rows, width], in a fixed order. */
__global__ void __launch_bounds__(256) sum_rows(const float *part, int rows, int width, float *out) {
    __shared__ float sums[8][33];
    int lane = threadIdx.x & 31, slice = threadIdx.x >> 5, c = blockIdx.x * 32 + lane;
    float sum = 0;
    if (c < width)
#pragma unroll 8
        for (int r = slice; r < rows; r += 8) sum += part[(size_t)r * width + c];
    sums[slice][lane] = sum;
    __syncthreads();
    if (slice || c >= width) return;
    for (int z = 1; z < 8; z++) sum += sums[z][lane];
    out[c] = sum;
}

void gpu_sum_rows(gpu *s, cudaStream_t where, const float *part, int rows, int width, float *out) {
    LAUNCH(s, where, up(width, 32), 256, 0, sum_rows, part, rows, width, out);
}
