/* The way back of an encoder block's pairs on the GPU; the algebra is that of kernels/cpu_encoder.c.
 *
 * du from u, then in one pass over the pairs G = sum h du and sum_o w du where h > 0; the last block adds up
 * what norm1's way back needs: sum du, and sum_o w G.
 *
 * Both products are made on the tensor cores, by a warp for 16 hidden channels and, one after the other, for
 * an item i with 8 items j: w du [16, 8], and G [16, channels] += h [16, 8] du. What a lane has of h is what
 * it needs to mask the one and to make the other. Which channels a lane has is all the same to a sum, so it
 * has some that follow each other.
 *
 * The code is run once by each block, so fetching it takes its time too: loops are rolled up, and there are
 * no divisions in them. */
#include <algorithm>

#include "cuda/common/mma.cuh"
#include "cuda/layers/pairs.cuh"

enum { BACK_WARPS = 16, BACK_ITEMS = 64 /* items j at a time */, BACK_DU = 16384 /* floats of du */ };

struct back_args : pairs_of_block {
    back_plan plan;
    const float *u, *gd;
    const int *arg;
    const float *k0, *k1; /* [O] */
    float *grad;
    float *sum;  /* [R, 2H] */
    float *g;    /* [tiles, H, O] */
    float *part; /* [tiles, H + O] */
    unsigned *counter;
    norm_backward back;
};

/* Shared memory, for some rows i and jc items j at a time: du [rows][jc][channels + 4], gd and arg [rows]
 * [channels], a [rows][KB + 4] and c [rows of the sets, or jc, and 8 more][KB + 4], da [rows][KB]; each
 * thread's weights, sums of du by warp [warps][channels]; at the end, in place of all, sums over the tiles.
 */
static size_t back_shared(const gpu *s, const back_plan *p) {
    size_t W = (size_t)pairs_width(s), KB = 16 * (size_t)p->warps, R = (size_t)p->rows,
           C = (p->S > 1 ? R : (size_t)p->jc) + 8;
    size_t floats = R * p->jc * (W + 4) + 2 * R * W + (R + C) * (KB + 4) + R * KB + 18 * W * p->warps;
    return std::max(floats, 4 * (size_t)(s->H + s->O)) * sizeof(float);
}

bool back_plan_make(const gpu *s, int B, int n, back_plan *p) {
    int tiles = s->H / 16;
    p->warps = up(tiles, up(tiles, BACK_WARPS));
    p->jc = std::min(up(n, 8) * 8, (int)BACK_ITEMS);
    for (int room = BACK_DU / (p->jc * (pairs_width(s) + 4));; room /= 2) { /* rows at a time */
        p->S = up(B, s->multiprocessors * (BACK_WARPS / p->warps));
        p->S = std::max(1, n > BACK_ITEMS ? 1 : std::min(p->S, room / n));
        p->rows = p->S > 1 ? p->S * n : up(n, up(n, std::max(room, 1)));
        p->tiles = up(B, p->S);
        p->shared = back_shared(s, p);
        if (p->shared <= s->shared || room <= 1) return p->shared <= s->shared;
    }
}

template <int NT> __global__ void __launch_bounds__(BACK_WARPS * 32) pair_backward_kernel(back_args p) {
    constexpr int W = 8 * NT, Q = W / 4, ldd = W + 4; /* channels at a time */
    extern __shared__ float4 memory[];
    const int n = p.n, H = p.H, O = p.O, T = (int)blockDim.x, tid = (int)threadIdx.x, warps = T >> 5,
              KB = T / 2, ldk = KB + 4, RS = p.plan.rows, JC = p.plan.jc;
    const bool whole = p.plan.S > 1; /* sets at a time */
    const size_t ld = 2 * (size_t)H;
    float *du = (float *)memory, *gds = du + RS * JC * ldd, *args = gds + RS * W, *as = args + RS * W,
          *das = as + (RS + (whole ? RS : JC) + 8) * ldk;
    float4 *kept = (float4 *)(das + RS * KB);
    double *gbs = (double *)(kept + NT * T);
    const int set0 = (int)blockIdx.x * p.plan.S, sets = min(p.plan.S, p.B - set0), rows = sets * n;
    const int lane = tid & 31, g = lane >> 2, t = lane & 3, warp = tid >> 5, kl = warp * 16 + g;
    const int kbase = (int)blockIdx.y * KB, k = kbase + kl; /* this lane's: k and k + 8 */
    const bool live = kbase + warp * 16 < H;
    const int quad = tid % Q * 4, inverse_n = ((1 << 20) + n - 1) / n;
    float *part = p.part + (size_t)blockIdx.x * (H + O);
#pragma unroll 1
    for (int o0 = 0; o0 < O; o0 += W) {
        const int o_own = o0 + 2 * NT * t; /* this lane's: 2*NT from here */
        const bool there = o0 + quad < O;
        float w[2][2 * NT];
#pragma unroll
        for (int q = 0; q < 2 * NT; q++) {
            const float *from = p.theta + p.weight + (size_t)(o_own + q) * p.hidden + k;
            w[0][q] = o_own + q < p.out && k < p.hidden ? __ldg(from) : 0.0f;
            w[1][q] = o_own + q < p.out && k + 8 < p.hidden ? __ldg(from + 8) : 0.0f;
        }
#pragma unroll
        for (int q = 0; q < NT; q++)
            kept[q * T + tid] = *(const float4 *)&w[q * 4 / (2 * NT)][q * 4 % (2 * NT)];
        factor<4, false> wf[NT];
        float g0 = live ? get(p.norm1.g + k) : 0.0f, g1 = live ? get(p.norm1.g + k + 8) : 0.0f;
#pragma unroll
        for (int q = 0; q < NT; q++) {
            wf[q].set(0, g0 * w[0][2 * q]);
            wf[q].set(1, g1 * w[1][2 * q]);
            wf[q].set(2, g0 * w[0][2 * q + 1]);
            wf[q].set(3, g1 * w[1][2 * q + 1]);
        }
        bool again = false; /* G has a part already */
#pragma unroll 1
        for (int i0 = 0; i0 < rows; i0 += RS)
#pragma unroll 1
            for (int j0 = 0; j0 < n; j0 += JC) {
                const int rs = min(RS, rows - i0), jn = min(JC, (n - j0 + 7) & ~7), jl = min(JC, n - j0);
                const int inverse = ((1 << 20) + jn - 1) / jn; /* x / jn is x * inverse >> 20 */
                const int row0 = set0 * n + i0, others = whole ? rs : jl,
                          other0 = whole ? row0 : set0 * n + j0;
                /* All but gd, k0 and k1 is older than the kernel before this one. */
                __syncthreads();
#pragma unroll 1
                for (int x = tid / Q; x < rs * jn; x += T / Q) {
                    int r = x * inverse >> 20, j = x - r * jn;
                    async_copy<4>(du + x * ldd + quad,
                                  p.u + ((size_t)(row0 + r) * n + j0 + j) * O + o0 + quad,
                                  j < jl && there ? 4 : 0);
                }
#pragma unroll 1
                for (int r = warp; r < rs + others + 8; r += warps) {
                    bool own = r < rs;
                    const float *from =
                        p.ac + (size_t)(own ? row0 + r : other0 + r - rs) * ld + (own ? 0 : H) + kbase;
#pragma unroll 1
                    for (int kk = lane * 4; kk < KB; kk += 128)
                        async_copy<4>(as + r * ldk + kk, from + kk,
                                      r < rs + others && kbase + kk < H ? 4 : 0);
                }
                if (!o0 && !i0 && !j0) wait_turn();
                float4 k0 = make_float4(0, 0, 0, 0), k1 = k0, add = k0;
                if (there) {
                    k0 = load4(p.k0 + o0 + quad);
                    k1 = load4(p.k1 + o0 + quad);
#pragma unroll 1
                    for (int r = tid / Q; r < rs; r += T / Q) {
                        size_t at = (size_t)(row0 + r) * O + o0 + quad;
                        async_copy(gds + r * W + quad, p.gd + at);
                        async_copy(args + r * W + quad, (const float *)p.arg + at);
                    }
                }
                async_commit();
                async_wait<0>();
                __syncthreads();
                if (there)
#pragma unroll 1
                    for (int x = tid / Q; x < rs * jn; x += T / Q) {
                        int r = x * inverse >> 20, j = j0 + x - r * jn, own = i0 + r;
                        if (whole) own -= (own * inverse_n >> 20) * n;
                        if (j >= n) continue;
                        float4 u = load4(du + x * ldd + quad), d = load4(gds + r * W + quad);
                        int4 arg = *(const int4 *)(args + r * W + quad);
                        if (p.mean) arg.x = arg.y = arg.z = arg.w = own == j ? -1 : j;
                        d.x = u.x > 0 ? (arg.x == j ? d.x : 0.0f) - k0.x - k1.x * u.x : 0.0f;
                        d.y = u.y > 0 ? (arg.y == j ? d.y : 0.0f) - k0.y - k1.y * u.y : 0.0f;
                        d.z = u.z > 0 ? (arg.z == j ? d.z : 0.0f) - k0.z - k1.z * u.z : 0.0f;
                        d.w = u.w > 0 ? (arg.w == j ? d.w : 0.0f) - k0.w - k1.w * u.w : 0.0f;
                        store4(du + x * ldd + quad, d);
                        add = make_float4(add.x + d.x, add.y + d.y, add.z + d.z, add.w + d.w);
                    }
                __syncthreads();
                if (blockIdx.y == 0) {
                    double sums[4] = {(double)add.x, (double)add.y, (double)add.z, (double)add.w};
#pragma unroll
                    for (int q = 0; q < 4; q++) {
#pragma unroll
                        for (int z = Q; z < 32; z *= 2) sums[q] += __shfl_xor_sync(0xffffffff, sums[q], z);
                        double *to = gbs + warp * W + quad + q;
                        if (lane < Q) *to = again ? *to + sums[q] : sums[q];
                    }
                }
                float G[NT][4] = {};
                if (live)
#pragma unroll 1
                    for (int set = 0; set < (whole ? sets : 1); set++)
#pragma unroll 1
                        for (int j = 0; j < jn; j += 8) {
                            const int first = set * n, last = whole ? first + n : rs;
                            float dc[4] = {}, c[4];
#pragma unroll
                            for (int x = 0; x < 4; x++)
                                c[x] = as[(rs + first + j + 2 * t + x % 2) * ldk + kl + x / 2 * 8];
#pragma unroll 1
                            for (int r = first; r < last; r++) {
                                const float *d = du + (r * jn + j) * ldd, *a = as + r * ldk + kl,
                                            *d0 = d + g * ldd + 2 * NT * t, *d1 = d + 2 * t * ldd + NT * g;
                                float h[4] = {relu(a[0] + c[0]), relu(a[0] + c[1]), relu(a[8] + c[2]),
                                              relu(a[8] + c[3])};
                                float v[2 * NT], e[2][NT], back[2][4] = {};
#pragma unroll
                                for (int q = 0; q < 2 * NT; q += 4) *(float4 *)(v + q) = load4(d0 + q);
#pragma unroll
                                for (int x = 0; x < 2; x++)
                                    if constexpr (NT == 4)
                                        *(float4 *)e[x] = load4(d1 + x * ldd);
                                    else
                                        *(float2 *)e[x] = *(const float2 *)(d1 + x * ldd);
                                factor<4, false> hf;
                                hf.set(0, h[0]);
                                hf.set(1, h[2]);
                                hf.set(2, h[1]);
                                hf.set(3, h[3]);
#pragma unroll
                                for (int q = 0; q < NT; q++) {
                                    factor<2, false> b, x;
                                    float fresh[4] = {};
                                    b.set(0, v[2 * q]);
                                    b.set(1, v[2 * q + 1]);
                                    x.set(0, e[0][q]);
                                    x.set(1, e[1][q]);
                                    mma(back[q % 2], wf[q].small, b.big);
                                    mma(fresh, hf.small, x.big);
                                    mma(back[q % 2], wf[q].big, b.small);
                                    mma(fresh, hf.big, x.small);
                                    mma(back[q % 2], wf[q].big, b.big);
                                    mma(fresh, hf.big, x.big);
#pragma unroll
                                    for (int z = 0; z < 4; z++) G[q][z] += fresh[z];
                                }
                                float m[4];
#pragma unroll
                                for (int q = 0; q < 4; q++) {
                                    m[q] = h[q] > 0 ? back[0][q] + back[1][q] : 0.0f;
                                    dc[q] += m[q];
                                }
                                /* da over the four lanes: even ones have that of k, odd ones of k + 8 */
                                float keep = t & 1 ? m[2] + m[3] : m[0] + m[1];
                                float give = t & 1 ? m[0] + m[1] : m[2] + m[3];
                                keep += __shfl_xor_sync(0xffffffff, give, 1);
                                keep += __shfl_xor_sync(0xffffffff, keep, 2);
                                if (t < 2) {
                                    float *so_far = das + r * KB + kl + 8 * t;
                                    if (j) keep += *so_far;
                                    if (j + 8 < jn)
                                        *so_far = keep;
                                    else {
                                        float *to = p.sum + (size_t)(row0 + r) * ld + k + 8 * t;
                                        *to = j0 || o0 ? *to + keep : keep;
                                    }
                                }
                            }
#pragma unroll
                            for (int x = 0; x < 4; x++) {
                                int item = j + 2 * t + x % 2;
                                float *to = p.sum + (size_t)(other0 + first + item) * ld + H + k + x / 2 * 8;
                                if (j0 + item < n) *to = i0 || o0 ? *to + dc[x] : dc[x];
                            }
                        }
                if (live) { /* G of these rows, to that of those before */
#pragma unroll
                    for (int x = 0; x < 2; x++) {
                        double sum = 0; /* of w G, when the last rows are in it */
#pragma unroll
                        for (int q = 0; q < 2 * NT && o_own < O; q += 4) {
                            float *to = p.g + ((size_t)blockIdx.x * H + k + 8 * x) * O + o_own + q;
                            float4 v = make_float4(
                                G[q % NT][2 * x + q / NT], G[(q + 1) % NT][2 * x + (q + 1) / NT],
                                G[(q + 2) % NT][2 * x + (q + 2) / NT], G[(q + 3) % NT][2 * x + (q + 3) / NT]);
                            if (again) {
                                float4 old = load4(to);
                                v = make_float4(old.x + v.x, old.y + v.y, old.z + v.z, old.w + v.w);
                            }
                            store4(to, v);
                            float4 own = kept[(x * 2 * NT + q) / 4 * T + tid];
                            sum += (double)own.x * (double)v.x + (double)own.y * (double)v.y +
                                   (double)own.z * (double)v.z + (double)own.w * (double)v.w;
                        }
                        sum += __shfl_xor_sync(0xffffffff, sum, 1);
                        sum += __shfl_xor_sync(0xffffffff, sum, 2);
                        if (!t && i0 + RS >= rows && j0 + JC >= n)
                            part[k + 8 * x] = o0 ? part[k + 8 * x] + (float)sum : (float)sum;
                    }
                }
                again = true;
            }
        __syncthreads();
        if (blockIdx.y == 0 && tid < W && o0 + tid < O) {
            double add = 0;
#pragma unroll 4
            for (int z = 0; z < warps; z++) add += gbs[z * W + tid];
            part[H + o0 + tid] = (float)add;
        }
    }
    if (!last_block(p.counter, gridDim.x * gridDim.y)) return;
    double *total = (double *)memory, *b_total = total + H;
    column_totals(p.part, (int)gridDim.x, H + O, total, total + H + O,
                  (int)(p.plan.shared / sizeof(double)) - H - O);
#pragma unroll 1
    for (int o = tid; o < p.out; o += T) p.grad[p.bias + o] = (float)b_total[o];
#pragma unroll 1
    for (int h = tid; h < p.hidden; h += T) {
        double dy = 0;
#pragma unroll 8
        for (int o = 0; o < p.out; o++)
            dy += (double)__ldg(p.theta + p.weight + (size_t)o * p.hidden + h) * b_total[o];
        norm_back(p.back, h, dy, (total[h] - (double)p.norm1.mean[h] * dy) * (double)p.norm1.inv[h]);
    }
}

void gpu_encoder_pairs_backward(gpu *s, int block) {
    encoder_block *e = &s->enc[block];
    back_args p = {pairs_of(s, block)};
    if (!back_plan_make(s, p.B, p.n, &p.plan)) return;
    p.u = e->u;
    p.gd = s->gd;
    p.arg = e->arg;
    p.k0 = e->k0;
    p.k1 = e->k1;
    p.grad = s->grad;
    p.sum = e->sum;
    p.g = e->g;
    p.part = s->part_f;
    p.counter = s->counters;
    p.back = norms_first_back(s, block);
    dim3 grid(p.plan.tiles, up(s->H / 16, p.plan.warps));
    if (pairs_width(s) == 16)
        CHAIN(s, grid, p.plan.warps * 32, p.plan.shared, pair_backward_kernel<2>, p);
    else
        CHAIN(s, grid, p.plan.warps * 32, p.plan.shared, pair_backward_kernel<4>, p);
    gpu_fork(s, 1);
    gpu_sum_rows(s, s->side[1], e->g, p.plan.tiles, s->H * s->O, e->g_total);
}
