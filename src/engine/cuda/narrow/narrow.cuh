/* Declares the arguments, shared-memory layout and device functions (struct narrow) of narrow_step
 * (narrow.cu), one CUDA kernel that runs the forward and backward pass of a training step of a narrow net
 * (encoder and decoder blocks put out at most 16 channels) on small sets; defines its matrix product, sums
 * over thread blocks and norms. It replaces many launches and keeps tensors out of device memory.
 * base/gpu.cuh has the notation. */
/* clang-format off */
/* The narrow family. Each thread block has one set for the whole step and keeps its cells in shared
 * memory; blocks wait for each other only where a norm needs sums over the batch, and then send each other
 * nothing but these sums (exchange.cuh). So a step is limited neither by launches nor by writing
 * every tensor to device memory and reading it back between two norms.
 *
 * Takes nets with O and C of 16 channels (padded), H up to 128, 1 to 8 blocks in the encoder and in the
 * decoder; batches of n*n <= 512 cells per set, so small that N planes of cells fit into shared memory, no
 * more sets than multiprocessors, and all sets on this rank; all items placed, no relations, relative features or
 * dropout. step/step.cu asks gpu_narrow first.
 *
 * Kernels of a step (narrow.cu), and the phases of narrow_step:
 *
 * kernel or phase                  reads                           writes
 * narrow_pack                      theta                           w1, w1_back, rows_t, rows_b, conv, pool, ...
 * narrow_step                      all in shared memory except:
 *   take_set                       the sets                        x, pos, order
 *   encoder_rows, encoder_pairs    w1, W2                          ac, u, best, arg, norm1, norm2
 *   decoder_rows                   rows_t                          (q stays in shared memory)
 *   conv                           conv, pool                      (planes and pools stay in shared memory)
 *   head                                                           head_part, loss_part
 *   conv_back                      conv_t, pool_t                  conv_part, pool_part, bias_part
 *   rows_back                      rows_b                          dq, start_part, start_d
 *   encoder_back                   ac, u, best, arg, w1_back       dac, g, dx
 * narrow_rest                      dq, dac, x; all parts per set   rows_part, weight_part; sums of the parts
 * finish, move (step/optimise.cu)  all parts                       the gradient; the parameters
 *
 * The phases are the operations of a step in the order of kernels/cpu.c. A kernel may run all of them or, for
 * tests and where the loss is read before the backward pass, some: then its first phase loads what it needs
 * (`load`), and tensors go to device memory too (`keep`). */
/* clang-format on */
#ifndef CUDA_NARROW_NARROW_CUH
#define CUDA_NARROW_NARROW_CUH

#include "engine/cuda/base/mma.cuh"
#include "engine/cuda/layers/layers.cuh"
#include "engine/cuda/narrow/exchange.cuh"

enum {
    NT = 512,     /* threads per block */
    WIDE = 16,    /* O and C */
    LD = 20,      /* distance of cells in shared memory: 8 consecutive cells are then in different banks */
    SQUARE = 768, /* weights between two blocks: [3][16][16] */
    ROWS = 5,     /* rows per thread in sums over pairs */
    WARPS = NT / 32,
    CONV_SLICES = 10, /* of the cells, in sums for the weights between two blocks */
    LG = WIDE + 1     /* a hidden channel's sums of h du */
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

/* What depends on the net and on the size of a batch. */
struct narrow_plan {
    int n, B, H, M, N, Q;                      /* as in struct gpu */
    int D, D8;                                 /* columns of x, also up to a multiple of 8 */
    int lx, ldx;                               /* distance of rows of x in shared and in device memory */
    divider by_n, by_lx, by_half, by_h, by_2h; /* n, lx, H/2, H, 2H */
    double places;                             /* steps in the batch */
    double each, sample;                       /* as in norm_forward, for every norm */
    int update;
    narrow_layout l;
};

/* What kernels work on: a plan, and whole groups of struct gpu and of the shape; copies, since kernels read
 * their arguments from constant memory. A group of which they need a number or two is not copied. */
struct narrow_args : narrow_plan {
    int first, last; /* phases */
    int keep;        /* 1: tensors go to device memory too, for kernels that run other phases */
    onet_settings net;
    encoder_at enc_at[DEEP];
    decoder_at dec_at[DEEP];
    size_t start, head; /* offsets of the start vector and of the head's weights in the parameter array */
    given_arrays given;
    const uint32_t *index; /* [B]: which of the given sets */
    weight_arrays weights;
    encoder_block enc[DEEP];
    step_arrays step;
    double *results; /* these two as in step_results */
    unsigned *counters;
    narrow_memory own;
};
static_assert(sizeof(narrow_args) <= 4096, "the most bytes of arguments that every CUDA version takes");

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

/* Returns the place of number (k, column) of a matrix [16 * twos][.] that is packed for mma: for 8 columns
 * and 16 of K, the four numbers of each lane together. */
__device__ static inline int packed_at(int twos, int k, int column) {
    int lane = column % 8 * 4 + k % 4;
    return ((column / 8 * twos + k / 16) * 32 + lane) * 4 + k / 4 % 4;
}

/* high + low += a b, in three steps of the tensor cores. The tensor cores truncate their sums, an error that
 * grows with each mma: so after a few the caller adds high + low (get) to a float32 sum. */
template <int K> struct two_sums {
    float high[K][4], low[K][4];
    __device__ void add(int i, const factor<4, false> &a, const factor<2, false> &b) {
        mma(low[i], a.small, b.big);
        mma(low[i], a.big, b.small);
        mma(high[i], a.big, b.big);
    }
    __device__ float get(int i, int j) const { return high[i][j] + low[i][j]; }
};

/* red [share][rows][8 * tiles] = xs [rows][lx] times packed weights, each share over a part of K. A warp has
 * 8 * W columns and 16 * T rows. */
template <int T, int W>
__device__ static __forceinline__ void product_of(const float *xs, int lx, const float *w, int twos,
                                                  int tiles, int rows, float *red, int share) {
    const int lane = threadIdx.x & 31, g = lane / 4, t = lane % 4, each = (twos + share - 1) / share,
              groups = (tiles + W - 1) / W;
#pragma unroll 1
    for (int unit = threadIdx.x / 32; unit < groups * share; unit += WARPS) {
        int part = unit / groups, tile = (unit - part * groups) * W, first = part * each,
            last = min(first + each, twos);
        const float4 *b[W];
        const float *from[2 * T];
        float4 next[W];
        float sum[W * T][4] = {};
#pragma unroll
        for (int i = 0; i < W; i++) {
            b[i] = (const float4 *)w + (min(tile + i, tiles - 1) * twos + first) * 32 + lane;
            next[i] = __ldg(b[i]);
        }
#pragma unroll
        for (int i = 0; i < 2 * T; i++) from[i] = xs + min(i * 8 + g, rows - 1) * lx + t + first * 16;
#pragma unroll 1
        for (int k = first; k < last; k++) {
            float4 v[W];
#pragma unroll
            for (int i = 0; i < W; i++) {
                v[i] = next[i];
                b[i] += 32;
                if (k + 1 < last) next[i] = __ldg(b[i]);
            }
            two_sums<W *T> c = {};
#pragma unroll
            for (int u = 0; u < 2; u++) {
                factor<4, false> left[T];
#pragma unroll
                for (int i = 0; i < 4 * T; i++)
                    left[i / 4].set(i % 4, from[i / 4 * 2 + i % 2][u * 8 + i % 4 / 2 * 4]);
#pragma unroll
                for (int i = 0; i < W; i++) {
                    factor<2, false> right;
                    right.set(0, u ? v[i].z : v[i].x);
                    right.set(1, u ? v[i].w : v[i].y);
#pragma unroll
                    for (int j = 0; j < T; j++) c.add(i * T + j, left[j], right);
                }
            }
#pragma unroll
            for (int i = 0; i < 4 * W * T; i++) sum[i / 4][i % 4] += c.get(i / 4, i % 4);
#pragma unroll
            for (int i = 0; i < 2 * T; i++) from[i] += 16;
        }
        float *to = red + (part * rows * tiles + tile) * 8 + 2 * t;
#pragma unroll
        for (int i = 0; i < 2 * T * W; i++) {
            int row = i / W * 8 + g, column = i % W;
            const float *own = sum[column * T + i / W / 2] + i / W % 2 * 2;
            if (row < rows && tile + column < tiles)
                *(float2 *)(to + (row * tiles + column) * 8) = make_float2(own[0], own[1]);
        }
    }
}

/* Not inlined: all phases share this code, since fetching instructions that run once takes longer than
 * running them. */
__device__ static __noinline__ void narrow_product(const float *xs, int lx, const float *w, int twos,
                                                   int tiles, int rows, float *red, int share) {
    if (rows > 16)
        product_of<2, 2>(xs, lx, w, twos, tiles, rows, red, share);
    else
        product_of<1, 3>(xs, lx, w, twos, tiles, rows, red, share);
}

struct narrow {
    const narrow_args &p;
    float *sh;
    unsigned epoch;
    bool load; /* what the phase needs is not in shared memory yet */

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

    /* Calls out(row, column, four results) for xs [rows][lx] times packed weights [16 * twos][8 * tiles].
     * Where there are more warps than groups of columns, they share K. The results go to `red`, which has
     * room for one share or more, and from there to `out`, which keeps the code short. */
    template <class OUT>
    __device__ void product(const float *xs, int lx, const float *w, int twos, int tiles, int rows,
                            float *red, int room, OUT out) const {
        int quads = 2 * tiles, next = rows * quads;
        int groups = rows > 16 ? (tiles + 1) / 2 : (tiles + 2) / 3;
        int share = min(min(max(WARPS / groups, 1), room / (next * 4)), twos);
        narrow_product(xs, lx, w, twos, tiles, rows, red, share);
        __syncthreads();
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

    /* total[c], total[16 + c] = sums over the threads of all blocks that have channel c = tid & 15. */
    __device__ void sum_few(double a, double b) {
        double *red = doubles(p.l.red);
        unsigned tag = ++epoch;
        a += __shfl_xor_sync(0xffffffff, a, 16);
        b += __shfl_xor_sync(0xffffffff, b, 16);
        int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
        red[warp * 32 + lane] = lane < 16 ? a : b;
        __syncthreads();
        if (threadIdx.x < 32) {
            double sum = 0;
#pragma unroll
            for (int w = 0; w < NT / 32; w++) sum += red[w * 32 + threadIdx.x];
            send(words_of(p.own.exchange, tag, blockIdx.x, FEW) + threadIdx.x, (float)sum, tag);
        }
        receive_few(words_of(p.own.exchange, tag, 0, FEW), tag, doubles(p.l.total), red);
    }

    /* Sends `mine` [count]; receive_sent writes the totals over all blocks to `total`. */
    __device__ void send_many(int count) {
        const double *mine = doubles(p.l.mine);
        epoch++;
#pragma unroll 1
        for (int i = threadIdx.x; i < count; i += NT)
            send(words_of(p.own.exchange, epoch, blockIdx.x, EXCHANGE_MOST) + i, (float)mine[i], epoch);
    }
    __device__ void receive_sent(int count) const {
        receive_many(words_of(p.own.exchange, epoch, 0, EXCHANGE_MOST),
                     p.own.exchange.answer + (epoch & 1) * 2 * EXCHANGE_MOST, epoch, count,
                     doubles(p.l.total));
    }

    /* Computes the norm in shared memory from `total`; the first thread block writes it to device memory too.
     */
    __device__ void make_norm(norms b, norms outside, norm_at at, int width, int padded) const {
        const double *total = doubles(p.l.total);
        norm_forward f = {.b = b,
                          .theta = p.weights.theta,
                          .at = at,
                          .width = width,
                          .update = p.update && blockIdx.x == 0,
                          .each = p.each,
                          .sample = p.sample};
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

    /* Computes the backward pass of a norm for channel c: k0 and k1 in shared memory; the first thread block
     * writes them, and the gradients, to device memory too. */
    __device__ void make_slopes(norms b, norm_at at, int c, double dy, double dy_xhat, float *k0, float *k1,
                                float *outside0, float *outside1) const {
        norm_backward f = {.b = b, .grad = p.weights.grad, .at = at, .each = p.each, .k0 = k0, .k1 = k1};
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
    __device__ void pairs_of(int share);
    __device__ void encoder_pairs(int k);
    __device__ void pool_back(int k, double &dy, double &dy_xhat);
    __device__ void finish_pool_back(int k, double dy, double dy_xhat);
    __device__ void pairs_back(const factor<4, false> (&w)[2], int tile, int slice, int slices,
                               float *gs) const;
    __device__ void tally(const float *ac, float *totals) const;
    __device__ void load_norms_back(int k);
    __device__ void make_du(int k, double (&own)[4]);
    __device__ void add_slices(int k, int slices, float *gs, const double (&own)[4]);
    __device__ void make_slopes1(int k, float *c0, float *c1);
    __device__ void correct_dac(int k, const float *c0, const float *c1, const float *totals);
    __device__ void add_dx(int k);
    __device__ void encoder_back(int k);

    __device__ void load_plane(int m, bool back);
    __device__ void load_steps(int m, bool back);
    __device__ void decoder_rows();
    template <int CT, int OT, bool BACK> __device__ void cells_of(int m);
    template <bool BACK> __device__ void cells(int m);
    template <bool BACK> __device__ void finish_cells(int m);
    __device__ void conv(int m);
    __device__ void head();
    __device__ void conv_weights(int m, int slices, float *red) const;
    __device__ void conv_back(int m);
    __device__ void rows_back();
};

#endif
