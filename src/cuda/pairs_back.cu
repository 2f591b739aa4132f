/* The way back of an encoder block's pairs on the GPU; the algebra is that of kernels/cpu_encoder.c.
 *
 * du from u, then in one pass over the pairs G = sum h du and sum_o w du where h > 0; the last block adds up
 * what norm1's way back needs: sum du, and sum_o w G. */
#include "launch.cuh"

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
                    return loaded{load4(p.u + (row * n + j) * O + o0 + quad), load4(p.gd + at),
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
                        float2 back = pair_back(w, g, relu(a.x + c.x), relu(a.y + c.y), d + j * CHANNELS);
                        da0 += back.x;
                        da1 += back.y;
                        float2 *to = (float2 *)(dcs + j * KB), old = *to;
                        *to = make_float2(old.x + back.x, old.y + back.y);
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

bool gpu_pairs_back_limits(gpu *s) {
    return gpu_ok(s,
                  cudaFuncSetAttribute(pair_backward_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       (int)s->shared),
                  "shared memory");
}
