/* Computes the backward pass from the decoder's cells to its rows on the GPU: dq, the gradient of q (sums of
 * dpre over the cells that read x'_i or y'_t), and the gradient of the learned start vector; the algebra is
 * that of kernels/cpu_decoder.c, the notation that of base/gpu.cuh.
 *
 * gpu_decoder_rows_backward launches this stage: also the gradients of the decoder's weights
 * (conv_weights.cu, relations.cu, weights.cu) and that of x' (inputs.cu). */
#include "engine/cuda/layers/decoder.cuh"

/* ---- gradients of the rows ---- */

/* Writes dq: the gradient by x'_i and by y'_t for each lag, in one decoder block (y of the grid), four
 * channels per thread. The start vector's part of each set goes to start_part. */
template <onet_precision P, bool MIXED>
__global__ void __launch_bounds__(256)
    decoder_dq(const __grid_constant__ conv_args p, stored<P> *dq, float *start_part) {
    wait_turn();
    const int C = p.C, Q = C / 4, m = blockIdx.y;
    int i = blockIdx.x * 256 + threadIdx.x, c = i % Q * 4, n, which, set;
    bool item; /* else a step */
    set_place at_set;
    if constexpr (MIXED) {
        which = i / Q;
        item = which < p.R;
        if (!item) which -= p.R;
        if (!item && which >= p.T) return;
        set = item ? p.row_at[which].y : p.step_set[which];
        at_set = p.places[set];
        which -= item ? at_set.row0 : at_set.step0;
        n = at_set.m;
    } else {
        n = p.n;
        which = i / Q % n;
        set = i / Q / n / 2;
        item = i / Q / n % 2 == 0;
        if (set >= p.B) return;
        at_set = place_of(nullptr, n, set);
    }
    const int *pos = p.pos + at_set.row0, *order = p.order + at_set.step0;
    const size_t row0 = (size_t)at_set.row0, from = m * p.plane + (size_t)at_set.cell0 * C + c;
    if (MIXED && item && which >= n) { /* the decoder does not see this item */
        for (int l = 0; l < 6; l++)
            put_four(dq + (row0 + which) * p.Q + (m * 6 + l) * C + c, make_float4(0, 0, 0, 0));
        return;
    }
    const float4 g = load4(p.norm.g + m * C + c), k0 = load4(p.k0 + m * C + c), k1 = load4(p.k1 + m * C + c);
    const int placed = item ? __ldg(pos + which) : 0;
    float4 sum[3] = {};
#pragma unroll 5
    for (int k = 0; k < n; k++) {
        size_t at = from + (size_t)(item ? k * n + which : which * n + k) * C;
        const float4 d = dpre_at<P>(p, m, at, g, k0, k1);
        int t = item ? k : which, last = item ? placed : __ldg(pos + k);
#pragma unroll
        for (int l = 0; l < 3; l++)
            if (t >= l && t - l <= last)
                sum[l] = make_float4(sum[l].x + d.x, sum[l].y + d.y, sum[l].z + d.z, sum[l].w + d.w);
    }
    if (item) {
#pragma unroll
        for (int l = 0; l < 3; l++) put_four(dq + (row0 + which) * p.Q + (m * 6 + l) * C + c, sum[l]);
        return;
    }
    const int t = which;
    const float4 none = {};
#pragma unroll
    for (int l = 0; l < 3; l++) {
        int col = (m * 6 + 3 + l) * C + c;
        float *start = start_part + ((size_t)set * p.N + m) * 3 * C + l * C + c;
        /* Step t saw y'_{t-l}; y'_{t} by lag l > n-1-t was seen by no step, nor was the last item's y'. */
        if (t > l) put_four(dq + (row0 + __ldg(order + t - l - 1)) * p.Q + col, sum[l]);
        if (t == l) store4(start, sum[l]);
        if (t + l >= n && t) put_four(dq + (row0 + __ldg(order + t - 1)) * p.Q + col, none);
        if (t + l >= n && !t) store4(start, none);
        if (t == n - 1) put_four(dq + (row0 + __ldg(order + n - 1)) * p.Q + col, none);
    }
}

/* Writes row R of dq: the gradient of the start vector as y', over all sets; as x' it has none. */
template <class E>
__global__ void __launch_bounds__(256) start_dq(const float *part, int B, int C, int N, E *dq) {
    __shared__ float sums[8][33];
    int lane = threadIdx.x & 31, slice = threadIdx.x >> 5, i = blockIdx.x * 32 + lane, width = 3 * N * C;
    float sum = 0;
    if (i < width)
#pragma unroll 8
        for (int b = slice; b < B; b += 8) sum += part[(size_t)b * width + i];
    sums[slice][lane] = sum;
    __syncthreads();
    if (slice || i >= width) return;
    for (int z = 1; z < 8; z++) sum += sums[z][lane];
    int m = i / (3 * C), rest = i % (3 * C);
    put_one(dq + m * 6 * C + rest, 0.0f);
    put_one(dq + m * 6 * C + 3 * C + rest, sum);
}

/* Writes the gradient of the start vector, one feature per thread block. */
template <class E>
__global__ void __launch_bounds__(128)
    start_gradient(const E *dq, const float *rows, int Q, feature_columns columns, float *grad) {
    __shared__ float sums[128];
    float sum = 0;
    int c = (int)blockIdx.x + ((int)blockIdx.x < columns.first ? 0 : columns.gap);
    for (int k = threadIdx.x; k < Q; k += 128) sum += float_of(dq[k]) * rows[k * columns.width + c];
    sums[threadIdx.x] = sum;
    for (int half = 64; half; half /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    if (!threadIdx.x) grad[blockIdx.x] = sums[0];
}

template <class E> static void start_gradient_of(gpu *s, cudaStream_t where, E *last) {
    const net_shape *sh = s->base.sh;
    LAUNCH(s, where, up(3 * s->N * s->C, 32), 256, 0, start_dq<E>, s->step.start_part, s->base.B, s->C, s->N,
           last);
    LAUNCH(s, where, sh->D, 128, 0, start_gradient<E>, last, s->weights.rows, s->Q, columns_of(sh, s->M),
           s->weights.grad + sh->start);
}

void gpu_start_gradient(gpu *s, cudaStream_t where) {
    size_t at = s->here.items * (size_t)s->Q;
    if (precision_of(s) == ONET_BF16)
        start_gradient_of(s, where, (bf16 *)s->step.dq + at);
    else
        start_gradient_of(s, where, s->step.dq + at);
}

void gpu_decoder_rows_backward(gpu *s) {
    const net_shape *sh = s->base.sh;
    int R = (int)s->here.items;
    if (s->N > 1) {
        gpu_fork(s, 1);
        s->step.conv_splits = gpu_conv_weights(s, s->queue.side[1], false, s->step.conv_part);
        gpu_fork(s, 2);
        s->step.pool_splits = gpu_conv_weights(s, s->queue.side[2], true, s->step.pool_part);
        s->step.conv_from = s->step.conv_part;
        s->step.pool_from = s->step.pool_part;
    }
    if (sh->s.relations) {
        gpu_fork(s, 1);
        gpu_last_weights(s, s->queue.side[1]);
    }
    if (s->N) {
        conv_args p = gpu_conv_args(s, -1, true);
        dim3 grid(up((p.R + p.T) * (s->C / 4), 256), s->N);
        with_precision(s, [&]<onet_precision P>() {
            if (s->ragged.mixed)
                CHAIN(s, grid, 256, 0, (decoder_dq<P, true>), p, (stored<P> *)s->step.dq, s->step.start_part);
            else
                CHAIN(s, grid, 256, 0, (decoder_dq<P, false>), p, (stored<P> *)s->step.dq,
                      s->step.start_part);
        });
        gpu_fork(s, 2);
        gpu_start_gradient(s, s->queue.side[2]);
        s->step.rows_splits =
            gpu_rows_weights(s, s->queue.side[2], s->step.dq, s->Q, R + 1, sh->D, 0, s->step.rows_part);
    }
    gpu_inputs(s, s->M, s->step.dq, s->weights.rows, s->Q);
}
