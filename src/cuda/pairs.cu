/* The pairs of an encoder block forward on the GPU (a, c and norm1 are there: encoder.cu).
 *
 * u = relu(W2 norm1(h) + b2) for tiles of pairs, h = relu(a_i + c_j) made in registers from a and c in shared
 * memory; best over j; sums; the last block makes norm2. */
#include "launch.cuh"

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

bool gpu_pairs_limits(gpu *s) {
    int most = (int)s->shared;
    cudaFuncAttribute what = cudaFuncAttributeMaxDynamicSharedMemorySize;
    return gpu_ok(s, cudaFuncSetAttribute(pair_forward_kernel<1, 4>, what, most), "shared memory") &&
           gpu_ok(s, cudaFuncSetAttribute(pair_forward_kernel<1, 8>, what, most), "shared memory") &&
           gpu_ok(s, cudaFuncSetAttribute(pair_forward_kernel<2, 8>, what, most), "shared memory") &&
           gpu_ok(s, cudaFuncSetAttribute(pair_forward_kernel<4, 8>, what, most), "shared memory") &&
           gpu_pairs_back_limits(s);
}
