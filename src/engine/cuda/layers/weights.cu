/* Computes the gradients of weights that multiply rows (items), in parts over the rows, and adds up such
 * parts; both on side streams. */
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

int gpu_rows_weights(gpu *s, cudaStream_t where, const float *d, int width, int R, int in, int ones,
                     float *part) {
    int splits = 0;
    with_precision(s, [&]<onet_precision P>() {
        splits = rows_weights_launch<P>(s, where, d, width, R, in, ones, part);
    });
    return splits;
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
