/* The decoder's way back to its inputs and weights on the GPU; the algebra is that of kernels/cpu_decoder.c.
 *
 * decoder_dq: sums of dpre over the cells that saw x'_i or y'_t.
 *
 * decoder_inputs: dq times the weights, the gradient of x'. */
#include "decoder.cuh"

/* ---- the way back to the rows ---- */

/* One set and one block: what x'_i and y'_t got through each lag. The start vector's part goes to start_part.
 * dpre [n, n, C] goes through shared memory where it fits. */
__global__ void __launch_bounds__(1024)
    decoder_dq(const __grid_constant__ conv_args p, float *dq, float *start_part, int fits) {
    wait_turn();
    extern __shared__ float4 memory[];
    float *shared = (float *)memory;
    int set = blockIdx.x, m = blockIdx.y, n = p.n, C = p.C;
    const int *pos = p.pos + set * n, *order = p.order + set * n;
    size_t at = (size_t)m * p.plane + (size_t)set * n * n * C, row0 = (size_t)set * n;
    const float *dv = p.dv + at, *r = p.r + at;
    if (fits) {
        struct loaded {
            float4 d, r;
        };
        staged<4>(
            n * n * (C / 4),
            [&](int i) {
                return loaded{load4(dv + i * 4), load4(r + i * 4)};
            },
            [&](int i, const loaded &x) {
                int c = m * C + i % (C / 4) * 4;
                float4 g = load4(p.norm.g + c), k0 = load4(p.k0 + c), k1 = load4(p.k1 + c);
                store4(shared + i * 4, make_float4(x.r.x > 0 ? g.x * x.d.x - k0.x - k1.x * x.r.x : 0.0f,
                                                   x.r.y > 0 ? g.y * x.d.y - k0.y - k1.y * x.r.y : 0.0f,
                                                   x.r.z > 0 ? g.z * x.d.z - k0.z - k1.z * x.r.z : 0.0f,
                                                   x.r.w > 0 ? g.w * x.d.w - k0.w - k1.w * x.r.w : 0.0f));
            });
        __syncthreads();
    }
    for (int i = threadIdx.x; i < 2 * n * C; i += blockDim.x) {
        int c = i % C, which = i / C % n;
        bool item = i < n * C; /* else a step */
        float g = get(p.norm.g + m * C + c), k0 = get(p.k0 + m * C + c), k1 = get(p.k1 + m * C + c);
        float sum[3] = {0, 0, 0};
        int placed = item ? __ldg(pos + which) : 0;
        size_t cell = (size_t)which * (item ? C : n * C) + c, next = item ? (size_t)n * C : C;
#pragma unroll 4
        for (int k = 0; k < n; k++) {
            float d;
            if (fits)
                d = shared[cell + k * next];
            else {
                float v = get(r + cell + k * next);
                d = v > 0 ? g * get(dv + cell + k * next) - k0 - k1 * v : 0.0f;
            }
            int t = item ? k : which, last = item ? placed : __ldg(pos + k);
#pragma unroll
            for (int l = 0; l < 3; l++)
                if (t >= l && t - l <= last) sum[l] += d;
        }
        if (item) {
            for (int l = 0; l < 3; l++) dq[(row0 + which) * p.Q + (m * 6 + l) * C + c] = sum[l];
            continue;
        }
        int t = which;
        for (int l = 0; l < 3; l++) {
            int col = (m * 6 + 3 + l) * C + c;
            float *start = start_part + ((size_t)set * p.N + m) * 3 * C + l * C + c;
            /* Step t saw y'_{t-l}; y'_{t} by lag l > n-1-t was seen by no step, nor was the last item's y'.
             */
            if (t > l) dq[(row0 + order[t - l - 1]) * p.Q + col] = sum[l];
            if (t == l) *start = sum[l];
            if (t + l >= n && t) dq[(row0 + order[t - 1]) * p.Q + col] = 0;
            if (t + l >= n && !t) *start = 0;
            if (t == n - 1) dq[(row0 + order[n - 1]) * p.Q + col] = 0;
        }
    }
}

struct dx_args {
    const float *dq, *rows;
    int Q, D, R;
    float *dx;
    int ldx;
    const float *item_d, *head;
    pool_backward pool;
};

template <class T> __global__ void __launch_bounds__(T::THREADS, T::RESIDENT) decoder_inputs(dx_args p) {
    extern __shared__ float4 memory[];
    T &s = *(T *)memory;
    int m0 = blockIdx.x * T::BM, n0 = blockIdx.y * T::BN;
    product(
        s, (p.Q + T::BK - 1) / T::BK,
        [&](int q, float *to) {
            fetch_along<T, T::BM, 4>(to, q * T::BK, p.Q,
                                     [&](int m) { return p.dq + (size_t)min(m0 + m, p.R - 1) * p.Q; });
        },
        [&](int q, float *to) {
            fetch_across<T, T::BN, 4>(to, q * T::BK, p.Q, p.ldx - n0,
                                      [&](int k) { return p.rows + (size_t)k * p.ldx + n0; });
        });
    gradient_epilogue(s, m0, n0, p.R, p.D, p.dx, p.ldx, false, p.item_d, p.head, p.pool);
}

/* Row R of dq: what the start vector got as y' in all sets; it is no x'. */
__global__ void __launch_bounds__(256) start_dq(const float *part, int B, int C, int N, float *dq) {
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
    dq[m * 6 * C + rest] = 0;
    dq[m * 6 * C + 3 * C + rest] = sum;
}

/* Gradient of the start vector: one feature a block. */
__global__ void __launch_bounds__(128)
    start_gradient(const float *dq, const float *rows, int Q, int D, float *grad) {
    __shared__ float sums[128];
    float sum = 0;
    for (int k = threadIdx.x; k < Q; k += 128) sum += dq[k] * rows[(size_t)k * D + blockIdx.x];
    sums[threadIdx.x] = sum;
    for (int half = 64; half; half /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    if (!threadIdx.x) grad[blockIdx.x] = sums[0];
}

void gpu_start_gradient(gpu *s, cudaStream_t where, float *last) {
    const shape *sh = s->base.sh;
    LAUNCH(s, where, up(3 * s->N * s->C, 32), 256, 0, start_dq, s->start_part, s->base.B, s->C, s->N, last);
    LAUNCH(s, where, sh->D, 128, 0, start_gradient, last, s->rows, s->Q, s->D, s->grad + sh->start);
}

template <bool TF32> static void decoder_inputs_launch(gpu *s, const dx_args &p) {
    typedef inputs_tile<64, TF32> large;
    typedef inputs_tile<32, TF32> middle;
    typedef inputs_tile<16, TF32> small;
    int y = up(p.D, 64), rows = inputs_rows(s, p.R, y);
    dim3 grid(up(p.R, rows), y);
    if (rows == 64)
        CHAIN(s, grid, large::THREADS, sizeof(large), decoder_inputs<large>, p);
    else if (rows == 32)
        CHAIN(s, grid, middle::THREADS, sizeof(middle), decoder_inputs<middle>, p);
    else
        CHAIN(s, grid, small::THREADS, sizeof(small), decoder_inputs<small>, p);
}

void gpu_decoder_rows_backward(gpu *s) {
    const shape *sh = s->base.sh;
    int n = s->base.n, B = s->base.B, R = B * n;
    gpu_join(s, 0); /* the sums of h, which the encoder's way back needs */
    if (s->N > 1) {
        gpu_fork(s, 1);
        s->conv_splits = gpu_conv_weights(s, s->side[1], false, s->conv_part);
        gpu_fork(s, 2);
        s->pool_splits = gpu_conv_weights(s, s->side[2], true, s->pool_part);
        s->conv_from = s->conv_part;
        s->pool_from = s->pool_part;
    }
    if (s->N) {
        conv_args p = gpu_conv_args(s, -1, true);
        int threads = up(2 * n * s->C, 32) * 32;
        size_t shared = (size_t)n * n * s->C * sizeof(float);
        int fits = shared <= 100000;
        CHAIN(s, dim3(B, s->N), threads < 1024 ? threads : 1024, fits ? shared : 0, decoder_dq, p, s->dq,
              s->start_part, fits);
        gpu_fork(s, 2);
        float *last = s->dq + (size_t)R * s->Q;
        gpu_start_gradient(s, s->side[2], last);
        s->rows_splits = gpu_rows_weights(s, s->side[2], s->dq, s->Q, R + 1, sh->D, 0, s->rows_part);
    }
    dx_args p = {s->dq,
                 s->rows,
                 s->Q,
                 sh->D,
                 R,
                 s->dx,
                 s->D,
                 s->item_d,
                 s->theta + sh->head_weight,
                 gpu_pool_backward(s, s->M - 1)};
    if (s->base.tf32)
        decoder_inputs_launch<true>(s, p);
    else
        decoder_inputs_launch<false>(s, p);
}

bool gpu_decoder_back_limits(gpu *s) {
    return gpu_ok(s, cudaFuncSetAttribute(decoder_dq, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000),
                  "shared memory");
}
