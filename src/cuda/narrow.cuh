/* A whole step of a narrow net in one kernel. Each block of threads has one set for the whole step and keeps
 * its cells in shared memory; blocks meet only where a norm needs sums over the batch, and then send each
 * other nothing but these sums (exchange.cuh). So a step is bound neither by launches nor by the trips of
 * every tensor through memory between two norms.
 *
 * The phases are the operations of kernels/net.h. A kernel may run all of them or, for tests and where a
 * batch is looked at in between, some: then its first phase loads what it needs (`load`).
 *
 * Narrow: O and C of 16 channels (padded), H up to 128, n so small that N planes of cells fit into shared
 * memory, no more sets than multiprocessors. All else takes the kernels of encoder.cu and decoder.cu. */
#ifndef CUDA_NARROW_CUH
#define CUDA_NARROW_CUH

#include "exchange.cuh"
#include "launch.cuh"

enum {
    NT = 512,     /* threads a block */
    WIDE = 16,    /* O and C */
    LD = 20,      /* a cell's channels in shared memory: rows of 8 cells then have banks of their own */
    SQUARE = 768, /* weights between two blocks: [3][16][16] */
    DEEP = 8,     /* blocks of the encoder, and of the decoder, at most */
    ROWS = 5      /* rows a thread in products with few rows */
};

struct narrow_layout { /* offsets in shared memory, in floats */
    int x, start_q, norm1, fold1, norm2, slopes, dec, cst, zero, pools, dsteps, dx, steps, added, taken,
        dlogit, small;
    int mine, total, red; /* doubles */
    int places;           /* pos [n], order [n] */
    int scratch;          /* planes, weights, extra; in the encoder: */
    int planes, weights, extra;
    int ac, u, w, product, product_room;
    int du, dac, dc;
    int all;
};

struct narrow_encoder {
    int in, in4;
    const float *w1, *w1_back; /* [in4 + 1, 2H] with the bias last, [2H, in4] */
    float *ac, *u, *best, *dac, *g;
    int *arg;
    norms norm1, norm2;
    float *k0, *k1, *c0, *c1;
    size_t weight2, bias2;
    norm_at at1, at2;
};

struct narrow_args {
    int n, B, H, hidden, out, conv_out, M, N, D, D4, Q, d, lx, mean, train_vectors;
    divider by_n, by_lx, by_half, by_h, by_2h; /* n, lx, H/2, H, 2H */
    int first, last;                           /* phases */
    int keep; /* tensors go to memory too, for kernels that run other phases */
    int update;
    narrow_layout l;
    const uint32_t *index;
    const uint64_t *starts;
    const float *items, *vectors, *feature_mean, *feature_scale;
    const int32_t *word, *order_all;
    float *theta, *grad;
    size_t start, head;
    float *x, *dx, *gd;
    int ldx;
    int *pos, *order;
    float *q, *dq, *r, *dv, *praw, *step_dv, *step_count, *step_r;
    int *parg;
    float *logit, *dlogit, *item_d;
    float *start_part, *head_part, *conv_part, *pool_part, *bias_part;
    double *loss_part, *loss;
    narrow_encoder enc[DEEP];
    size_t dec_bias[DEEP];
    norm_at dec_at[DEEP];
    norms dec;
    float *dec_k0, *dec_k1;
    const float *rows_t, *rows_b; /* [D4, Q], [Q, D4] */
    const float *conv, *conv_t, *pool, *pool_t;
    exchange_args exchange;
    unsigned *counter;
    double each, sample, places; /* of a norm's cells; steps in the batch */
};

/* Phases in order. */
__host__ __device__ static inline int phase_encoder(int k) {
    return 1 + 2 * k; /* and the next: rows, then pairs */
}
__host__ __device__ static inline int phase_rows(const narrow_args &p) {
    return 1 + 2 * p.M;
}
__host__ __device__ static inline int phase_conv(const narrow_args &p, int m) {
    return 2 + 2 * p.M + m;
}
__host__ __device__ static inline int phase_head(const narrow_args &p) {
    return 2 + 2 * p.M + p.N;
}
__host__ __device__ static inline int phase_conv_back(const narrow_args &p, int m) {
    return phase_head(p) + p.N - m;
}
__host__ __device__ static inline int phase_rows_back(const narrow_args &p) {
    return phase_head(p) + p.N + 1;
}
__host__ __device__ static inline int phase_encoder_back(const narrow_args &p, int k) {
    return phase_rows_back(p) + p.M - k;
}

struct narrow {
    const narrow_args &p;
    float *sh;
    unsigned epoch;
    bool load; /* what the phase needs is not in shared memory */

    __device__ float *at(int offset) const { return sh + offset; }
    __device__ double *doubles(int offset) const { return (double *)(sh + offset); }
    __device__ norms norm1(int k) const { /* e only until the next block's is made */
        float *a = at(p.l.norm1) + k * 3 * p.H;
        return {a, a + p.H, a + 2 * p.H, at(p.l.fold1)};
    }
    __device__ norms norm2(int k) const {
        float *a = at(p.l.norm2) + k * 4 * WIDE;
        return {a, a + WIDE, a + 2 * WIDE, a + 3 * WIDE};
    }
    __device__ norms dec(int m) const {
        float *a = at(p.l.dec) + m * 4 * WIDE;
        return {a, a + WIDE, a + 2 * WIDE, a + 3 * WIDE};
    }
    __device__ float *slope0(int m) const { return at(p.l.slopes) + m * 2 * WIDE; }
    __device__ float *slope1(int m) const { return slope0(m) + WIDE; }
    __device__ float *plane(int m) const { return at(p.l.planes) + m * p.n * p.n * LD; }
    __device__ int *pos() const { return (int *)at(p.l.places); }
    __device__ int *order() const { return pos() + p.n; }
    __device__ size_t row0() const { return (size_t)blockIdx.x * p.n; } /* the first of this set */

    /* out(row, column, four of them) for xs [rows][lx] times w [K][N] in memory; K and N multiples of 4. A
     * thread has four columns and ROWS rows; where there are more threads they share K. They add up in `red`,
     * which has room for rows * N numbers or more. What is done with the results stands in one short loop:
     * code that runs once costs as long as it is, since it must be fetched first. */
    template <class OUT>
    __device__ void product(const float *xs, int lx, const float *w, int K, int N, int rows, float *red,
                            int room, OUT out) const {
        int quads = N / 4, groups = (rows + ROWS - 1) / ROWS, items = quads * groups;
        int share = min(min(max(NT / items, 1), room / (rows * N)), K / 4);
        int each = (K / 4 + share - 1) / share * 4;
#pragma unroll 1
        for (int item = threadIdx.x; item < items * share; item += NT) {
            int rest = item / quads, part = rest / groups, row0 = (rest - part * groups) * ROWS,
                c = (item - rest * quads) * 4, k0 = part * each, k1 = min(k0 + each, K);
            const float *from[ROWS], *wk = w + (size_t)k0 * N + c;
            float acc[ROWS][4] = {};
#pragma unroll
            for (int i = 0; i < ROWS; i++) from[i] = xs + min(row0 + i, rows - 1) * lx;
#pragma unroll 2
            for (int k = k0; k < k1; k += 4, wk += 4 * N) {
                float4 v[4];
#pragma unroll
                for (int i = 0; i < 4; i++) v[i] = __ldg((const float4 *)(wk + i * N));
#pragma unroll
                for (int i = 0; i < ROWS; i++) {
                    float4 a = load4(from[i] + k);
                    float b[4] = {a.x, a.y, a.z, a.w};
#pragma unroll
                    for (int j = 0; j < 4; j++) {
                        acc[i][0] += b[j] * v[j].x;
                        acc[i][1] += b[j] * v[j].y;
                        acc[i][2] += b[j] * v[j].z;
                        acc[i][3] += b[j] * v[j].w;
                    }
                }
            }
            float *to = red + (part * rows + row0) * N + c;
#pragma unroll
            for (int i = 0; i < ROWS; i++)
                if (row0 + i < rows)
                    store4(to + i * N, make_float4(acc[i][0], acc[i][1], acc[i][2], acc[i][3]));
        }
        __syncthreads();
        int next = rows * quads;
#pragma unroll 1
        for (int i = threadIdx.x; i < next; i += NT) {
            float4 v = load4(red + i * 4);
#pragma unroll 4
            for (int s = 1; s < share; s++) {
                float4 more = load4(red + (s * next + i) * 4);
                v.x += more.x;
                v.y += more.y;
                v.z += more.z;
                v.w += more.w;
            }
            int row = i / quads;
            out(row, (i - row * quads) * 4, v);
        }
        __syncthreads();
    }

    /* mine[c], mine[16 + c] = sums over the threads of channel c = tid & 15. */
    __device__ void gather(double a, double b) const {
        double *red = doubles(p.l.red), *mine = doubles(p.l.mine);
        a += __shfl_xor_sync(0xffffffff, a, 16);
        b += __shfl_xor_sync(0xffffffff, b, 16);
        int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
        red[warp * 32 + lane] = lane < 16 ? a : b;
        __syncthreads();
        if (threadIdx.x < 32) {
            double sum = 0;
#pragma unroll
            for (int w = 0; w < NT / 32; w++) sum += red[w * 32 + threadIdx.x];
            mine[threadIdx.x] = sum;
        }
    }

    /* The norm in shared memory from its totals; the first block leaves it in memory too. */
    __device__ void make_norm(norms b, norms outside, norm_at at, int width, int padded) const {
        const double *total = doubles(p.l.total);
        norm_forward f = {b, p.theta, at, width, p.update && blockIdx.x == 0, p.each, p.sample};
        int c = threadIdx.x;
        if (c < width)
            norm_make(f, c, total[c], total[padded + c]);
        else if (c < padded)
            b.mean[c] = b.inv[c] = b.g[c] = b.e[c] = 0;
        if (blockIdx.x == 0 && c < padded) {
            outside.mean[c] = b.mean[c];
            outside.inv[c] = b.inv[c];
            outside.g[c] = b.g[c];
            outside.e[c] = b.e[c];
        }
        __syncthreads();
    }

    /* Its way back, for channel c: k0 and k1 in shared memory; the first block leaves them, and the
     * gradients, in memory too. */
    __device__ void make_slopes(norms b, norm_at at, int c, double dy, double dy_xhat, float *k0, float *k1,
                                float *outside0, float *outside1) const {
        norm_backward f = {b, p.grad, at, 0, p.each, k0, k1};
        norm_back_total(f, c, dy, dy_xhat);
        if (blockIdx.x) return;
        norm_gradients(f, c, dy, dy_xhat);
        outside0[c] = k0[c];
        outside1[c] = k1[c];
    }

    __device__ void take_set();
    __device__ void load_set(int columns);
    __device__ void pooled_features(int k);
    __device__ void fold_weights(int k);
    __device__ void encoder_rows(int k);
    template <int CT, int OT> __device__ void pairs_of(int k);
    __device__ void encoder_pairs(int k);
    __device__ void pool_back(int k, double &dy, double &dy_xhat);
    __device__ void finish_pool_back(int k, double dy, double dy_xhat);
    __device__ void tally(const float *ac, float *totals) const;
    __device__ void encoder_back(int k);

    __device__ void load_plane(int m, bool back);
    __device__ void load_steps(int m, bool back);
    __device__ void decoder_rows();
    template <int CT, int OT, bool BACK> __device__ void cells_of(int m);
    template <bool BACK> __device__ void cells(int m);
    template <bool BACK> __device__ void finish_cells(int m);
    __device__ void conv(int m);
    __device__ void head();
    __device__ void conv_back(int m);
    __device__ void rows_back();
};

#endif
