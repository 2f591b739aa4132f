/* An encoder block on the GPU; the algebra is that of kernels/cpu_encoder.c.
 *
 *   encoder_rows    a and c for tiles of whole sets, and the sums of h = relu(a_i + c_j) over their pairs;
 * the last block makes norm1 pair_sums       total and count of h for each row, which only the way back needs
 * (beside the main line) pair_forward    u = relu(W2 norm1(h) + b2) for tiles of pairs, h made in registers
 * from a and c in shared memory; best over j; sums; the last block makes norm2 pair_backward   du from u,
 * then in one pass over the pairs G = sum h du and sum_o w du where h > 0; the last block adds up what
 * norm1's way back needs: sum du, and sum_o w G encoder_inputs  dac = sum - c0*count - c1*total as it is
 * loaded, times W1: the gradient of the features, and the way back through the pool of the block before
 *   encoder_weights dac^T x in parts (beside the main line) */
#include "launch.cuh"

template <bool TF32> using rows_tile = tile<64, 64, 8, 4, 1, TF32>;

struct rows_args {
    features f;
    int in, H, hidden, tile_rows, R;
    const float *theta;
    size_t weight, bias;
    float *ac;
    double *part; /* [groups of 32 channels, tiles, 64] */
    unsigned *counters;
    norm_forward norm;
};

/* The last block of a group of 32 channels makes their norm. */
__device__ static void finish_group(const double *part, int tiles, unsigned *counter, int h0,
                                    const norm_forward &norm) {
    if (!last_block(counter, (unsigned)tiles)) return;
    __shared__ double total[64], scratch[256];
    column_totals(part, tiles, 64, total, scratch, 256);
    int h = h0 + (int)threadIdx.x;
    if (threadIdx.x < 32 && h < norm.width) norm_make(norm, h, total[threadIdx.x], total[32 + threadIdx.x]);
}

template <bool STATS, class T> __global__ void __launch_bounds__(128) encoder_rows(rows_args p) {
    wait_turn();
    __shared__ T s;
    __shared__ float out[64][68];
    int row0 = blockIdx.x * p.tile_rows, rows = min(p.tile_rows, p.R - row0), h0 = blockIdx.y * 32;
    bool write = blockIdx.y == 0;
    float acc[8][4];
    product<true, true>(
        s, 0, p.in, [&](int m, int k) { return feature_load(p.f, min(row0 + m, p.R - 1), k); },
        [&](int m, int k, raw_feature x) { return m < rows ? feature_value(p.f, row0 + m, k, x) : 0.0f; },
        [&](int c, int k) {
            int h = min(h0 + (c & 31), p.hidden - 1);
            return __ldg(p.theta + p.weight + ((size_t)h * 2 + (c >> 5)) * p.in + k);
        },
        [&](int c, int, float v) { return h0 + (c & 31) < p.hidden ? v : 0.0f; }, acc,
        [&](int m, int k, float y) {
            if (write && m < rows) keep_feature(p.f, row0 + m, k, y);
        });
#pragma unroll
    for (int i = 0; i < 8; i++) {
        int m = T::row(i), c = T::column(0), h = h0 + (c & 31);
        float4 v = make_float4(acc[i][0], acc[i][1], acc[i][2], acc[i][3]);
        if (c < 32) {
            if (h < p.hidden) v.x += p.theta[p.bias + h];
            if (h + 1 < p.hidden) v.y += p.theta[p.bias + h + 1];
            if (h + 2 < p.hidden) v.z += p.theta[p.bias + h + 2];
            if (h + 3 < p.hidden) v.w += p.theta[p.bias + h + 3];
        }
        if (STATS) store4(&out[m][c], v);
        if (m < rows && h < p.H) store4(p.ac + (size_t)(row0 + m) * 2 * p.H + (c >> 5) * p.H + h, v);
    }
    if (!STATS) return;
    __syncthreads();
    int ch = threadIdx.x & 31, group = threadIdx.x >> 5, n = p.f.n;
    double sum = 0, square = 0;
    for (int m = group; m < rows; m += 4) {
        float a = out[m][ch], s0 = 0, s1 = 0;
        const float(*c)[68] = out + m / n * n;
#pragma unroll 4
        for (int j = 0; j < n; j++) {
            float h = relu(a + c[j][32 + ch]);
            s0 += h;
            s1 += h * h;
        }
        sum += (double)s0;
        square += (double)s1;
    }
    __shared__ double sums[4][64];
    sums[group][ch] = sum;
    sums[group][32 + ch] = square;
    __syncthreads();
    double *part = p.part + (size_t)blockIdx.y * gridDim.x * 64;
    if (threadIdx.x < 64) {
        int c = threadIdx.x;
        part[(size_t)blockIdx.x * 64 + c] = sums[0][c] + sums[1][c] + sums[2][c] + sums[3][c];
    }
    finish_group(part, (int)gridDim.x, p.counters + blockIdx.y, h0, p.norm);
}

struct sums_args {
    int n, H;
    const float *ac;
    float *total, *count;
    double *part; /* [groups of 32 channels, B, 64] */
    unsigned *counters;
    norm_forward norm;
};

/* One set and 32 channels a block. With STATS (sets too large for a tile of encoder_rows) norm1 too. */
template <bool STATS> __global__ void __launch_bounds__(128) pair_sums(sums_args p) {
    wait_turn();
    int ch = threadIdx.x & 31, group = threadIdx.x >> 5, h = blockIdx.y * 32 + ch, n = p.n;
    size_t row0 = (size_t)blockIdx.x * n, ld = 2 * (size_t)p.H;
    double sum = 0, square = 0;
    if (h < p.H)
        for (int side = 0; side < 2; side++) {
            const float *own = p.ac + row0 * ld + side * p.H + h,
                        *other = p.ac + row0 * ld + (1 - side) * p.H + h;
            for (int i = group; i < n; i += 4) {
                float a = own[i * ld], s0 = 0, s1 = 0, count = 0;
#pragma unroll 4
                for (int j = 0; j < n; j++) {
                    float x = relu(a + other[j * ld]);
                    s0 += x;
                    count += x > 0 ? 1.0f : 0.0f;
                    if (STATS) s1 += x * x;
                }
                p.total[(row0 + i) * ld + side * p.H + h] = s0;
                p.count[(row0 + i) * ld + side * p.H + h] = count;
                if (STATS && !side) {
                    sum += (double)s0;
                    square += (double)s1;
                }
            }
        }
    if (!STATS) return;
    __shared__ double sums[4][64];
    sums[group][ch] = sum;
    sums[group][32 + ch] = square;
    __syncthreads();
    double *part = p.part + (size_t)blockIdx.y * gridDim.x * 64;
    if (threadIdx.x < 64) {
        int c = threadIdx.x;
        part[(size_t)blockIdx.x * 64 + c] = sums[0][c] + sums[1][c] + sums[2][c] + sums[3][c];
    }
    finish_group(part, (int)gridDim.x, p.counters + blockIdx.y, (int)blockIdx.y * 32, p.norm);
}

/* ---- pairs, forward ---- */

enum { PAIR_THREADS = 256, PAIR_K = 32 };

struct pair_args {
    pair_plan plan;
    int n, B, H, O, hidden, out;
    const float *ac, *theta;
    size_t weight, bias, gamma;
    norms norm1;
    float *u, *best;
    int *arg;
    int mean;
    double *part; /* [tiles, 2*O] */
    unsigned *counter;
    norm_forward norm2;
};

/* Shared memory: a [rows][kc + 4], c [rows of the sets][kc + 4], w [kc][O + 4] for kc hidden channels at a
 * time (all of them where they fit); in the same place afterwards u [cells][O + 4]; then the folded bias [O].
 */
static size_t pair_shared(const gpu *s, const pair_plan *p, int n, size_t *front) {
    int rows = p->S ? p->S * n : p->rows, others = p->S ? p->S * n : p->jc;
    size_t a = (size_t)(rows + others) * (p->kc + 4) + (size_t)p->kc * (s->O + 4);
    size_t u = (size_t)rows * p->jc * (s->O + 4);
    *front = a > u ? a : u;
    return (*front + s->O) * sizeof(float);
}

bool pair_plan_make(const gpu *s, int B, int n, pair_plan *p) {
    p->ot = 8;
    int slots = PAIR_THREADS / (s->O / 8), most = slots * 4;
    long set = (long)n * n;
    p->S = 0;
    p->parts = 1;
    p->jc = n;
    p->rows = n;
    if (set <= most) {
        int fill = up(B, s->multiprocessors);
        p->S = (int)(most / set < fill ? most / set : fill);
        p->tiles = up(B, p->S);
    } else {
        p->rows = most / n > 0 ? most / n : 1;
        if (most < n) p->jc = most;
        p->parts = up(n, p->rows);
        p->rows = up(n, p->parts);
        p->tiles = B * p->parts;
    }
    long cells = p->S ? p->S * set : (long)p->rows * p->jc;
    p->ct = cells <= slots ? 1 : cells <= 2L * slots ? 2 : 4;
    if (cells <= PAIR_THREADS / (s->O / 4)) p->ot = 4;
    size_t front;
    for (p->kc = s->H;; p->kc = PAIR_K) {
        p->shared = pair_shared(s, p, n, &front);
        if (p->shared <= s->shared || p->kc <= PAIR_K) return p->shared <= s->shared;
    }
}

template <int CT, int OT>
__global__ void __launch_bounds__(PAIR_THREADS) pair_forward_kernel(pair_args p, int front) {
    wait_turn();
    extern __shared__ float4 memory[];
    float *shared = (float *)memory, *bias = shared + front;
    const int n = p.n, H = p.H, O = p.O, ldw = O + 4, KC = p.plan.kc, lda = KC + 4, tid = threadIdx.x;
    int row0, rows, set0;
    if (p.plan.S) {
        set0 = blockIdx.x * p.plan.S;
        row0 = set0 * n;
        rows = min(p.plan.S, p.B - set0) * n;
    } else {
        set0 = blockIdx.x / p.plan.parts;
        int i0 = blockIdx.x % p.plan.parts * p.plan.rows;
        row0 = set0 * n + i0;
        rows = min(p.plan.rows, n - i0);
    }
    int groups = O / OT, slots = PAIR_THREADS / groups, og = tid % groups, slot = tid / groups;
    int lanes = PAIR_THREADS / O * O; /* threads that look for the best */
    int c_own = tid % O, r_own = tid / O, r_step = PAIR_THREADS / O;
    for (int o = tid >> 5; o < O; o += PAIR_THREADS / 32) {
        float b = 0;
        if (o < p.out) {
            if (!(tid & 31)) b = __ldg(p.theta + p.bias + o);
#pragma unroll 8
            for (int k = tid & 31; k < p.hidden; k += 32)
                b += __ldg(p.theta + p.weight + (size_t)o * p.hidden + k) * get(p.norm1.e + k);
        }
        for (int k = 16; k; k /= 2) b += __shfl_xor_sync(0xffffffff, b, k);
        if (!(tid & 31)) bias[o] = b;
    }
    double sum = 0, square = 0;
    for (int j0 = 0; j0 < n; j0 += p.plan.jc) {
        int jc = min(p.plan.jc, n - j0), cells = rows * jc;
        int others = p.plan.S ? rows : jc, other0 = p.plan.S ? row0 : set0 * n + j0;
        float *as = shared, *cs = as + rows * lda, *ws = cs + others * lda;
        float acc[CT][OT];
        int a_at[CT], c_at[CT];
#pragma unroll
        for (int x = 0; x < CT; x++) {
            int q = slot + x * slots, i = q / jc, j = q % jc;
            if (q >= cells || slot >= slots) i = j = 0;
            a_at[x] = i * lda;
            c_at[x] = (p.plan.S ? i / n * n + j : j) * lda;
#pragma unroll
            for (int o = 0; o < OT; o++) acc[x][o] = 0;
        }
        for (int k0 = 0; k0 < H; k0 += KC) {
            __syncthreads();
            staged<4>((rows + others) * (KC / 4),
                      [&](int i) {
                          int r = i / (KC / 4), k = k0 + i % (KC / 4) * 4;
                          bool own = r < rows;
                          size_t row = own ? row0 + r : other0 + r - rows;
                          return k < H ? get((const float4 *)(p.ac + row * 2 * H + (own ? 0 : H) + k))
                                       : make_float4(0, 0, 0, 0);
                      },
                      [&](int i, float4 v) {
                          store4(as + i / (KC / 4) * lda + i % (KC / 4) * 4, v);
                      }); /* c follows a */
            staged<4>(
                O * KC,
                [&](int i) {
                    int o = min(i / KC, p.out - 1), k = min(k0 + i % KC, p.hidden - 1);
                    return make_float2(__ldg(p.theta + p.weight + (size_t)o * p.hidden + k),
                                       get(p.norm1.g + k));
                },
                [&](int i, float2 v) {
                    bool there = i / KC < p.out && k0 + i % KC < p.hidden;
                    ws[i % KC * ldw + i / KC] = there ? v.x * v.y : 0.0f;
                });
            __syncthreads();
#pragma unroll 2
            for (int k = 0; k < KC; k += 4) {
                float h[CT][4];
#pragma unroll
                for (int x = 0; x < CT; x++) {
                    float4 a = load4(as + a_at[x] + k), c = load4(cs + c_at[x] + k);
                    h[x][0] = relu(a.x + c.x);
                    h[x][1] = relu(a.y + c.y);
                    h[x][2] = relu(a.z + c.z);
                    h[x][3] = relu(a.w + c.w);
                }
#pragma unroll
                for (int kk = 0; kk < 4; kk++) {
                    float w[OT];
#pragma unroll
                    for (int o = 0; o < OT; o += 4)
                        *(float4 *)&w[o] = load4(ws + (k + kk) * ldw + og * OT + o);
#pragma unroll
                    for (int x = 0; x < CT; x++)
#pragma unroll
                        for (int o = 0; o < OT; o++) acc[x][o] += h[x][kk] * w[o];
                }
            }
        }
        __syncthreads();
        float *us = shared;
#pragma unroll
        for (int x = 0; x < CT; x++) {
            int q = slot + x * slots;
            if (q >= cells || slot >= slots) continue;
            size_t to = ((size_t)(row0 + q / jc) * n + j0 + q % jc) * O + og * OT;
#pragma unroll
            for (int o = 0; o < OT; o += 4) {
                const float *b = bias + og * OT + o;
                float4 v = make_float4(relu(acc[x][o] + b[0]), relu(acc[x][o + 1] + b[1]),
                                       relu(acc[x][o + 2] + b[2]), relu(acc[x][o + 3] + b[3]));
                store4(us + q * ldw + og * OT + o, v);
                store4(p.u + to + o, v);
            }
        }
        __syncthreads();
        if (tid < lanes) {
            float sign = c_own < p.out && p.theta[p.gamma + c_own] < 0 ? -1.0f : 1.0f;
            for (int r = r_own; r < rows; r += r_step) {
                size_t at = (size_t)(row0 + r) * O + c_own;
                int i = (row0 + r) % n, arg = -1;
                float best = 0, s0 = 0, s1 = 0;
                if (j0) {
                    best = p.best[at];
                    arg = p.arg[at];
                }
#pragma unroll 4
                for (int j = 0; j < jc; j++) {
                    float u = us[(r * jc + j) * ldw + c_own];
                    s0 += u;
                    s1 += u * u;
                    if (j0 + j == i) continue;
                    if (p.mean)
                        best += u;
                    else if (arg < 0 || sign * u > sign * best) {
                        best = u;
                        arg = j0 + j;
                    }
                }
                p.best[at] = best;
                p.arg[at] = arg;
                sum += (double)s0;
                square += (double)s1;
            }
        }
    }
    __shared__ double sums[2 * PAIR_THREADS], total[2 * PAIR_THREADS];
    if (tid < lanes) {
        sums[tid] = sum;
        sums[PAIR_THREADS + tid] = square;
    }
    __syncthreads();
    for (int c = tid; c < 2 * O; c += PAIR_THREADS) {
        double add = 0;
        for (int k = 0; k < r_step; k++) add += sums[c / O * PAIR_THREADS + k * O + c % O];
        p.part[(size_t)blockIdx.x * 2 * O + c] = add;
    }
    if (!last_block(p.counter, gridDim.x)) return;
    column_totals(p.part, (int)gridDim.x, 2 * O, total, sums, 2 * PAIR_THREADS);
    if (tid < p.out) norm_make(p.norm2, tid, total[tid], total[O + tid]);
}

/* ---- pairs, backward ---- */

enum { CHANNELS = 16 };

struct back_args {
    back_plan plan;
    int n, B, H, O, hidden, out;
    const float *ac, *u, *gd;
    const int *arg;
    int mean;
    const float *k0, *k1; /* [O] */
    const float *theta;
    size_t weight, bias;
    float *grad;
    norms norm1;
    float *sum;  /* [R, 2H] */
    float *g;    /* [tiles, H, O] */
    float *part; /* [tiles, H + O] */
    unsigned *counter;
    norm_backward back;
};

/* Shared memory: dc [slices][n][KB], a and c [S*n][KB], du [S*rows*n][16] and in its place parts of G; at the
 * end, in place of all, sums over the tiles. */
bool back_plan_make(const gpu *s, int B, int n, back_plan *p) {
    for (p->S = B >= 256 ? 4 : B >= 200 ? 2 : 1;; p->S /= 2)
        for (p->slices = n < 8 ? 4 : 8; p->slices >= 2 && p->slices >= p->S; p->slices /= 2)
            for (int KB = 512 / p->slices; KB >= 16; KB /= 2) {
                p->KB = KB < s->H ? KB : s->H;
                p->sub = p->slices / p->S;
                long row = (long)p->S * n * CHANNELS, rows = 16384 / row; /* 64 KB of du at a time */
                p->rows = rows < 1 ? 1 : rows > n ? n : (int)rows;
                long du = row * p->rows, gs = (long)p->slices * p->KB * (CHANNELS + 1);
                long floats = (du > gs ? du : gs) + (long)(p->slices + 2 * p->S) * n * p->KB;
                long sums = 4L * (s->H + s->O);
                p->threads = p->slices * p->KB / 2;
                p->shared = (size_t)(floats > sums ? floats : sums) * sizeof(float);
                p->tiles = up(B, p->S);
                if (p->shared <= s->shared) return true;
                if (p->S == 1 && p->slices == 2 && KB == 16) return false;
            }
}

__global__ void __launch_bounds__(256, 2) pair_backward_kernel(back_args p) {
    wait_turn();
    extern __shared__ float4 memory[];
    const int n = p.n, H = p.H, O = p.O, S = p.plan.S, sub = p.plan.sub, KB = p.plan.KB,
              slices = p.plan.slices, T = blockDim.x, tid = threadIdx.x, RS = p.plan.rows;
    const size_t ld = 2 * (size_t)H;
    float *dc = (float *)memory, *as = dc + slices * n * KB, *cs = as + S * n * KB, *du = cs + S * n * KB,
          *gs = du;
    int set0 = blockIdx.x * S, sets = min(S, p.B - set0), kbase = blockIdx.y * KB;
    int half = KB / 2, slice = tid / half, kl = tid % half * 2, k = kbase + kl;
    int set = slice / sub, first = slice % sub;
    bool live = k < H && set < sets;
    size_t row0 = (size_t)(set0 + set) * n;
    __shared__ double gb[256 / 4][CHANNELS];
    double t_sum = 0; /* of w G, for channel kbase + tid */
    for (int i = tid; i < sets * n * (KB / 4); i += T) {
        int r = i / (KB / 4), c = i % (KB / 4) * 4;
        const float *from = p.ac + ((size_t)set0 * n + r) * ld + kbase + c;
        if (kbase + c < H) {
            async_copy(as + r * KB + c, from);
            async_copy(cs + r * KB + c, from + H);
        }
    }
    async_commit();
    for (int i = tid; i < slices * n * KB; i += T) dc[i] = 0;
    for (int o0 = 0; o0 < O; o0 += CHANNELS) {
        float w[2][CHANNELS], g[2][CHANNELS];
#pragma unroll
        for (int c = 0; c < 2; c++) {
            bool there = live && k + c < p.hidden;
            float scale = there ? p.norm1.g[k + c] : 0.0f;
#pragma unroll
            for (int o = 0; o < CHANNELS; o++) {
                w[c][o] = there && o0 + o < p.out
                              ? scale * __ldg(p.theta + p.weight + (size_t)(o0 + o) * p.hidden + k + c)
                              : 0.0f;
                g[c][o] = 0;
            }
        }
        double gb_own[4] = {};
        for (int i0 = 0; i0 < n; i0 += RS) {
            int rs = min(RS, n - i0), quad = (tid & 3) * 4;
            float4 k0 = get((const float4 *)(p.k0 + o0 + quad)), k1 = get((const float4 *)(p.k1 + o0 + quad));
            __syncthreads();
            struct loaded {
                float4 u, d;
                int4 arg;
            };
            auto place = [&](int i, int &j, int &ri, int &b) {
                int cell = i >> 2, row = cell / n;
                j = cell - row * n;
                b = row / rs;
                ri = row - b * rs;
            };
            staged<2>(
                sets * rs * n * 4,
                [&](int i) {
                    int j, ri, b;
                    place(i, j, ri, b);
                    size_t row = (size_t)(set0 + b) * n + i0 + ri, at = row * O + o0 + quad;
                    return loaded{four_of(p.u + (row * n + j) * O + o0 + quad), four_of(p.gd + at),
                                  *(const int4 *)(p.arg + at)};
                },
                [&](int i, const loaded &v) {
                    int j, ri, b;
                    place(i, j, ri, b);
                    float4 d = v.d;
                    bool other = i0 + ri != j;
                    if (p.mean ? !other : v.arg.x != j) d.x = 0;
                    if (p.mean ? !other : v.arg.y != j) d.y = 0;
                    if (p.mean ? !other : v.arg.z != j) d.z = 0;
                    if (p.mean ? !other : v.arg.w != j) d.w = 0;
                    d.x = v.u.x > 0 ? d.x - k0.x - k1.x * v.u.x : 0.0f;
                    d.y = v.u.y > 0 ? d.y - k0.y - k1.y * v.u.y : 0.0f;
                    d.z = v.u.z > 0 ? d.z - k0.z - k1.z * v.u.z : 0.0f;
                    d.w = v.u.w > 0 ? d.w - k0.w - k1.w * v.u.w : 0.0f;
                    store4(du + (size_t)((b * RS + ri) * n + j) * CHANNELS + quad, d);
                    gb_own[0] += (double)d.x;
                    gb_own[1] += (double)d.y;
                    gb_own[2] += (double)d.z;
                    gb_own[3] += (double)d.w;
                });
            async_wait<0>();
            __syncthreads();
            if (live)
                for (int i = first; i < rs; i += sub) {
                    float2 a = *(const float2 *)(as + (set * n + i0 + i) * KB + kl);
                    const float *c_own = cs + set * n * KB + kl,
                                *d = du + (size_t)(set * RS + i) * n * CHANNELS;
                    float *dcs = dc + slice * n * KB + kl, da0 = 0, da1 = 0;
#pragma unroll 1
                    for (int j = 0; j < n; j++) {
                        float2 c = *(const float2 *)(c_own + j * KB);
                        float h0 = relu(a.x + c.x), h1 = relu(a.y + c.y), p0 = 0, p1 = 0;
#pragma unroll
                        for (int q = 0; q < CHANNELS; q += 4) {
                            float4 v = load4(d + j * CHANNELS + q);
                            p0 = fmaf(w[0][q + 3], v.w,
                                      fmaf(w[0][q + 2], v.z, fmaf(w[0][q + 1], v.y, fmaf(w[0][q], v.x, p0))));
                            p1 = fmaf(w[1][q + 3], v.w,
                                      fmaf(w[1][q + 2], v.z, fmaf(w[1][q + 1], v.y, fmaf(w[1][q], v.x, p1))));
                            g[0][q] += h0 * v.x;
                            g[0][q + 1] += h0 * v.y;
                            g[0][q + 2] += h0 * v.z;
                            g[0][q + 3] += h0 * v.w;
                            g[1][q] += h1 * v.x;
                            g[1][q + 1] += h1 * v.y;
                            g[1][q + 2] += h1 * v.z;
                            g[1][q + 3] += h1 * v.w;
                        }
                        p0 = h0 > 0 ? p0 : 0.0f;
                        p1 = h1 > 0 ? p1 : 0.0f;
                        da0 += p0;
                        da1 += p1;
                        float2 *to = (float2 *)(dcs + j * KB), old = *to;
                        *to = make_float2(old.x + p0, old.y + p1);
                    }
                    float2 *to = (float2 *)(p.sum + (row0 + i0 + i) * ld + k);
                    if (o0) {
                        da0 += to->x;
                        da1 += to->y;
                    }
                    *to = make_float2(da0, da1);
                }
        }
        __syncthreads();
        if (blockIdx.y == 0) {
#pragma unroll
            for (int q = 0; q < 4; q++) gb[tid >> 2][(tid & 3) * 4 + q] = gb_own[q];
        }
        int lg = CHANNELS + 1;
        if (slice < slices)
#pragma unroll
            for (int c = 0; c < 2; c++)
#pragma unroll
                for (int o = 0; o < CHANNELS; o++) gs[(slice * KB + kl + c) * lg + o] = live ? g[c][o] : 0.0f;
        __syncthreads();
        if (blockIdx.y == 0)
            for (int o = tid; o < CHANNELS; o += T) {
                double add = 0;
                for (int i = 0; i < T / 4; i++) add += gb[i][o];
                p.part[(size_t)blockIdx.x * (H + O) + H + o0 + o] = (float)add;
            }
        for (int i = tid; i < KB * CHANNELS; i += T) {
            int kk = i / CHANNELS, o = i % CHANNELS;
            float add = 0;
            for (int z = 0; z < slices; z++) add += gs[(z * KB + kk) * lg + o];
            gs[kk * lg + o] = add;
            if (kbase + kk < H) p.g[((size_t)blockIdx.x * H + kbase + kk) * O + o0 + o] = add;
        }
        __syncthreads();
        for (int kk = tid; kk < KB; kk += T) {
            if (kbase + kk >= p.hidden) continue;
            for (int o = 0; o < CHANNELS && o0 + o < p.out; o++)
                t_sum += (double)__ldg(p.theta + p.weight + (size_t)(o0 + o) * p.hidden + kbase + kk) *
                         (double)gs[kk * lg + o];
        }
    }
    __syncthreads();
    if (tid < KB && kbase + tid < H) p.part[(size_t)blockIdx.x * (H + O) + kbase + tid] = (float)t_sum;
    for (int i = tid; i < sets * n * KB; i += T) {
        int kk = i % KB, j = i / KB % n, b = i / KB / n;
        float add = 0;
        for (int z = 0; z < sub; z++) add += dc[((b * sub + z) * n + j) * KB + kk];
        if (kbase + kk < H) p.sum[((size_t)(set0 + b) * n + j) * ld + H + kbase + kk] = add;
    }
    if (!last_block(p.counter, gridDim.x * gridDim.y)) return;
    double *total = (double *)memory, *b_total = total + H;
    column_totals(p.part, (int)gridDim.x, H + O, total, total + H + O,
                  (int)(p.plan.shared / sizeof(double)) - H - O);
    for (int o = tid; o < p.out; o += T) p.grad[p.bias + o] = (float)b_total[o];
    for (int h = tid; h < p.hidden; h += T) {
        double dy = 0;
#pragma unroll 16
        for (int o = 0; o < p.out; o++)
            dy += (double)__ldg(p.theta + p.weight + (size_t)o * p.hidden + h) * b_total[o];
        norm_back(p.back, h, dy, (total[h] - (double)p.norm1.mean[h] * dy) * (double)p.norm1.inv[h]);
    }
}

/* ---- rows, backward ---- */

struct inputs_args {
    const float *sum, *count, *total, *c0, *c1, *theta;
    size_t weight;
    float *dac;
    int H, hidden, in, R;
    float *dx;
    int ldx;
    pool_backward pool;
};

struct raw_sums {
    float sum, count, total, c0, c1;
};

__device__ static inline raw_sums sums_load(const inputs_args &p, int row, int k) {
    size_t at = (size_t)row * 2 * p.H + k;
    int h = k < p.H ? k : k - p.H;
    return {get(p.sum + at), get(p.count + at), get(p.total + at), get(p.c0 + h), get(p.c1 + h)};
}

__device__ static inline float sums_value(raw_sums x) {
    return x.sum - x.c0 * x.count - x.c1 * x.total;
}

template <class T> __global__ void __launch_bounds__(T::THREADS) encoder_inputs(inputs_args p) {
    wait_turn();
    __shared__ T s;
    int m0 = blockIdx.x * T::BM, n0 = blockIdx.y * T::BN;
    bool write = blockIdx.y == 0;
    float acc[T::TM][T::TN];
    product<true, false>(
        s, 0, 2 * p.H, [&](int m, int k) { return sums_load(p, min(m0 + m, p.R - 1), k); },
        [&](int, int, raw_sums x) { return sums_value(x); },
        [&](int c, int k) {
            int side = k >= p.H, h = min(k - side * p.H, p.hidden - 1);
            return __ldg(p.theta + p.weight + ((size_t)h * 2 + side) * p.in + min(n0 + c, p.in - 1));
        },
        [&](int, int k, float v) { return (k < p.H ? k : k - p.H) < p.hidden ? v : 0.0f; }, acc,
        [&](int m, int k, float d) {
            if (write && m0 + m < p.R) p.dac[(size_t)(m0 + m) * 2 * p.H + k] = d;
        });
    gradient_epilogue(s, acc, m0, n0, p.R, p.in, p.dx, p.ldx, true, nullptr, nullptr, p.pool);
}

/* The first block's input needs no gradient unless words' vectors are trained. */
__global__ void encoder_correct(inputs_args p) {
    wait_turn();
    int k = blockIdx.y * blockDim.x + threadIdx.x;
    if (k < 2 * p.H) p.dac[(size_t)blockIdx.x * 2 * p.H + k] = sums_value(sums_load(p, blockIdx.x, k));
}

struct weights_args {
    const float *d; /* [rows, width] */
    int width, R, rows_split;
    const float *x;
    int ldx, in, ones; /* ones: one more column, of ones, gives the bias */
    float *part;       /* [splits, width, in + ones] */
};

/* part[split] = d^T x over some of the rows. */
template <class T> __global__ void __launch_bounds__(T::THREADS) rows_weights(weights_args p) {
    __shared__ T s;
    int m0 = blockIdx.x * T::BM, n0 = blockIdx.y * T::BN, columns = p.in + p.ones;
    int k0 = blockIdx.z * p.rows_split, k1 = min(p.R, k0 + p.rows_split);
    float acc[T::TM][T::TN];
    product<false, false>(
        s, k0, k1, [&](int m, int k) { return get(p.d + (size_t)k * p.width + min(m0 + m, p.width - 1)); },
        as_loaded(), [&](int c, int k) { return get(p.x + (size_t)k * p.ldx + min(n0 + c, p.in - 1)); },
        [&](int c, int, float v) { return n0 + c < p.in ? v : 1.0f; }, acc);
    float *part = p.part + (size_t)blockIdx.z * p.width * columns;
#pragma unroll
    for (int i = 0; i < T::TM; i++)
#pragma unroll
        for (int j = 0; j < T::TN; j++) {
            int m = m0 + T::row(i), c = n0 + T::column(j);
            if (m < p.width && c < columns) part[(size_t)m * columns + c] = acc[i][j];
        }
}

template <bool TF32>
static int rows_weights_launch(gpu *s, cudaStream_t where, const float *d, int width, int R, int in, int ones,
                               float *part) {
    typedef tile<128, 64, 8, 8, 1, TF32> wide;
    typedef tile<64, 64, 8, 4, 1, TF32> narrow;
    bool large = (long)width * (in + ones) >= 128 * 1024;
    int x = up(width, large ? 128 : 64), y = up(in + ones, 64), splits = up(2 * s->multiprocessors, x * y);
    if (splits > up(R, 64)) splits = up(R, 64);
    if (splits > SPLITS) splits = SPLITS;
    int each = up(up(R, splits), 16) * 16;
    splits = up(R, each);
    weights_args p = {d, width, R, each, s->x, s->D, in, ones, part};
    if (large)
        LAUNCH(s, where, dim3(x, y, splits), wide::THREADS, 0, rows_weights<wide>, p);
    else
        LAUNCH(s, where, dim3(x, y, splits), narrow::THREADS, 0, rows_weights<narrow>, p);
    return splits;
}

int gpu_rows_weights(gpu *s, cudaStream_t where, const float *d, int width, int R, int in, int ones,
                     float *part) {
    return s->base.tf32 ? rows_weights_launch<true>(s, where, d, width, R, in, ones, part)
                        : rows_weights_launch<false>(s, where, d, width, R, in, ones, part);
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

/* ---- launches ---- */

features gpu_features(const gpu *s, int block) {
    features f = {s->x, s->D, s->base.B * s->base.n};
    const shape *sh = s->base.sh;
    f.start = s->theta + sh->start;
    f.first = block < s->M ? sh->enc[block].in : sh->D;
    f.n = s->base.n;
    f.mean = sh->s.pool == ONET_POOL_MEAN;
    f.norm.g = f.norm.e = s->theta; /* never used: no column is a pool's */
    f.best = s->x;
    if (!block) return f;
    f.first = sh->enc[block - 1].in;
    f.best = s->enc[block - 1].best;
    f.ldb = s->O;
    f.norm = s->enc[block - 1].norm2;
    return f;
}

pool_backward gpu_pool_backward(gpu *s, int block) {
    pool_backward p = {};
    if (block < 0) return p;
    const shape *sh = s->base.sh;
    encoder_block *e = &s->enc[block];
    p.first = sh->enc[block].in;
    p.width = sh->s.encoder_out;
    p.O = s->O;
    p.n = s->base.n;
    p.mean = sh->s.pool == ONET_POOL_MEAN;
    p.x = s->x;
    p.ldx = s->D;
    p.best = e->best;
    p.norm = e->norm2;
    p.gd = s->gd;
    p.part = s->part;
    p.counter = s->counters;
    p.back = norms_second_back(s, block);
    return p;
}

void gpu_encoder_rows(gpu *s, int block) {
    const shape *sh = s->base.sh;
    const encoder_at *at = &sh->enc[block];
    encoder_block *e = &s->enc[block];
    int n = s->base.n, B = s->base.B, R = B * n;
    norm_forward norm1 = norms_first(s, block);
    rows_args rows = {gpu_features(s, block),
                      at->in,
                      s->H,
                      sh->s.hidden,
                      n <= 64 ? 64 / n * n : 64,
                      R,
                      s->theta,
                      at->weight1,
                      at->bias1,
                      e->ac,
                      s->part,
                      s->counters,
                      norm1};
    dim3 grid(up(R, rows.tile_rows), up(s->H, 32));
    sums_args sums = {n, s->H, e->ac, e->total, e->count, s->part, s->counters, norm1};
    dim3 sums_grid(B, up(s->H, 32));
    if (n <= 64) {
        if (s->base.tf32)
            CHAIN(s, grid, 128, 0, (encoder_rows<true, rows_tile<true>>), rows);
        else
            CHAIN(s, grid, 128, 0, (encoder_rows<true, rows_tile<false>>), rows);
        gpu_fork(s, 0);
        LAUNCH(s, s->side[0], sums_grid, 128, 0, pair_sums<false>, sums);
    } else {
        if (s->base.tf32)
            CHAIN(s, grid, 128, 0, (encoder_rows<false, rows_tile<true>>), rows);
        else
            CHAIN(s, grid, 128, 0, (encoder_rows<false, rows_tile<false>>), rows);
        CHAIN(s, sums_grid, 128, 0, pair_sums<true>, sums);
    }
}

void gpu_encoder_pairs(gpu *s, int block) {
    const shape *sh = s->base.sh;
    const encoder_at *at = &sh->enc[block];
    encoder_block *e = &s->enc[block];
    int n = s->base.n, B = s->base.B;
    pair_args p = {};
    if (!pair_plan_make(s, B, n, &p.plan)) return;
    p.n = n;
    p.B = B;
    p.H = s->H;
    p.O = s->O;
    p.hidden = sh->s.hidden;
    p.out = sh->s.encoder_out;
    p.ac = e->ac;
    p.theta = s->theta;
    p.weight = at->weight2;
    p.bias = at->bias2;
    p.gamma = at->norm2.gamma;
    p.norm1 = e->norm1;
    p.u = e->u;
    p.best = e->best;
    p.arg = e->arg;
    p.mean = sh->s.pool == ONET_POOL_MEAN;
    p.part = s->part;
    p.counter = s->counters;
    p.norm2 = norms_second(s, block);
    size_t front;
    pair_shared(s, &p.plan, n, &front);
    int tiles = p.plan.tiles, ct = p.plan.ct;
    if (p.plan.ot == 4)
        CHAIN(s, tiles, PAIR_THREADS, p.plan.shared, (pair_forward_kernel<1, 4>), p, (int)front);
    else if (ct == 1)
        CHAIN(s, tiles, PAIR_THREADS, p.plan.shared, (pair_forward_kernel<1, 8>), p, (int)front);
    else if (ct == 2)
        CHAIN(s, tiles, PAIR_THREADS, p.plan.shared, (pair_forward_kernel<2, 8>), p, (int)front);
    else
        CHAIN(s, tiles, PAIR_THREADS, p.plan.shared, (pair_forward_kernel<4, 8>), p, (int)front);
}

void gpu_encoder_pairs_backward(gpu *s, int block) {
    const shape *sh = s->base.sh;
    const encoder_at *at = &sh->enc[block];
    encoder_block *e = &s->enc[block];
    int n = s->base.n, B = s->base.B;
    back_args p = {};
    if (!back_plan_make(s, B, n, &p.plan)) return;
    p.n = n;
    p.B = B;
    p.H = s->H;
    p.O = s->O;
    p.hidden = sh->s.hidden;
    p.out = sh->s.encoder_out;
    p.ac = e->ac;
    p.u = e->u;
    p.gd = s->gd;
    p.arg = e->arg;
    p.mean = sh->s.pool == ONET_POOL_MEAN;
    p.k0 = e->k0;
    p.k1 = e->k1;
    p.theta = s->theta;
    p.weight = at->weight2;
    p.bias = at->bias2;
    p.grad = s->grad;
    p.norm1 = e->norm1;
    p.sum = e->sum;
    p.g = e->g;
    p.part = s->part_f;
    p.counter = s->counters;
    p.back = norms_first_back(s, block);
    CHAIN(s, dim3(p.plan.tiles, up(s->H, p.plan.KB)), p.plan.threads, p.plan.shared, pair_backward_kernel, p);
    gpu_fork(s, 1);
    gpu_sum_rows(s, s->side[1], e->g, p.plan.tiles, s->H * s->O, e->g_total);
}

template <bool TF32> static void encoder_inputs_launch(gpu *s, const inputs_args &in) {
    typedef tile<64, 64, 8, 4, 2, TF32> large;
    typedef tile<16, 64, 4, 4, 4, TF32> small;
    int x = up(in.R, 64), y = up(in.in, 64);
    if ((long)x * y >= s->multiprocessors / 2)
        CHAIN(s, dim3(x, y), large::THREADS, 0, encoder_inputs<large>, in);
    else
        CHAIN(s, dim3(up(in.R, 16), y), small::THREADS, 0, encoder_inputs<small>, in);
}

void gpu_encoder_rows_backward(gpu *s, int block) {
    const shape *sh = s->base.sh;
    const encoder_at *at = &sh->enc[block];
    encoder_block *e = &s->enc[block];
    int R = s->base.B * s->base.n;
    inputs_args in = {e->sum,   e->count,    e->total, e->c0, e->c1,
                      s->theta, at->weight1, e->dac,   s->H,  sh->s.hidden,
                      at->in,   R,           s->dx,    s->D,  gpu_pool_backward(s, block - 1)};
    if (block == 0 && !s->train_vectors) {
        CHAIN(s, dim3(R, up(2 * s->H, 256)), 256, 0, encoder_correct, in);
    } else if (s->base.tf32)
        encoder_inputs_launch<true>(s, in);
    else
        encoder_inputs_launch<false>(s, in);
    gpu_fork(s, 2);
    e->splits = gpu_rows_weights(s, s->side[2], e->dac, 2 * s->H, R, at->in, 1, e->weight_part);
}

bool gpu_encoder_limits(gpu *s) {
    int most = (int)s->shared;
    cudaFuncAttribute what = cudaFuncAttributeMaxDynamicSharedMemorySize;
    return gpu_ok(s, cudaFuncSetAttribute(pair_forward_kernel<1, 4>, what, most), "shared memory") &&
           gpu_ok(s, cudaFuncSetAttribute(pair_forward_kernel<1, 8>, what, most), "shared memory") &&
           gpu_ok(s, cudaFuncSetAttribute(pair_forward_kernel<2, 8>, what, most), "shared memory") &&
           gpu_ok(s, cudaFuncSetAttribute(pair_forward_kernel<4, 8>, what, most), "shared memory") &&
           gpu_ok(s, cudaFuncSetAttribute(pair_backward_kernel, what, most), "shared memory");
}
