/* The way back of an encoder block's pairs on the GPU; the algebra is that of kernels/cpu_encoder.c.
 *
 * du from u, then in one pass over the pairs G = sum h du and sum_o w du where h > 0; the last block adds up
 * what norm1's way back needs: sum du, and sum_o w G.
 *
 * Both products are made on the tensor cores, by a warp for 32 hidden channels and 8 pairs after the other: w
 * du [32, 8], and G [32, channels] += h [32, 8] du. What a lane has of h is what it needs to mask the one and
 * to make the other. Which channels a lane has is all the same to a sum, so it has some that follow each
 * other. The sums over i and over j are made from the masked products of a few rows, in shared memory.
 *
 * The code is run once by each block, so fetching it takes its time too: loops are rolled up, and there are
 * no divisions in them. */
#include <algorithm>

#include "launch.cuh"
#include "mma.cuh"

enum {
    BACK_WARPS = 8,
    BACK_PAIRS = 64, /* of a few rows, or of a part of one */
    BACK_LD = 36,    /* from pair to pair of them */
    BACK_DU = 16384  /* floats of du at a time */
};

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

static int back_width(const gpu *s) { /* channels at a time */
    return s->O < 32 ? 16 : 32;
}

/* Shared memory, for some rows i and jc items j at a time: du [pairs][channels + 4], where a and c of each
 * pair are, gd and arg [rows][channels], a [rows][KB + 4] and c [rows of the sets, or jc][KB + 4], dc like c;
 * each warp's masked products; each thread's weights, sums of du by warp [warps][channels]; at the end, in
 * place of all, sums over the tiles. */
static size_t back_shared(const gpu *s, const back_plan *p) {
    size_t W = (size_t)back_width(s), KB = 32 * (size_t)p->warps, R = (size_t)p->rows,
           C = p->S > 1 ? R : (size_t)p->jc, pairs = R * p->jc + 8;
    size_t floats = pairs * (W + 5) + 2 * R * W + (R + 2 * C) * (KB + 4) +
                    (size_t)p->warps * (BACK_PAIRS * BACK_LD + 34 * W);
    return std::max(floats, 4 * (size_t)(s->H + s->O)) * sizeof(float);
}

bool back_plan_make(const gpu *s, int B, int n, back_plan *p) {
    int tiles = up(s->H, 32);
    p->warps = up(tiles, up(tiles, BACK_WARPS));
    p->jc = std::min(n, (int)BACK_PAIRS);
    for (int room = BACK_DU / (p->jc * (back_width(s) + 4));; room /= 2) { /* rows at a time */
        p->S = up(B, s->multiprocessors * (BACK_WARPS / p->warps));
        p->S = std::max(1, n > BACK_PAIRS ? 1 : std::min(p->S, room / n));
        p->rows = p->S > 1 ? p->S * n : up(n, up(n, std::max(room, 1)));
        p->tiles = up(B, p->S);
        p->shared = back_shared(s, p);
        if (p->shared <= s->shared || room <= 1) return p->shared <= s->shared;
    }
}

/* total [width] = sum over the rows of part [rows, width], by way of shared memory: so many numbers on their
 * way at once need no registers. memory has room for `room` floats; total is at its begin. */
__device__ static void part_totals(const float *part, int rows, int width, double *memory, int room) {
    const int T = (int)blockDim.x, tid = (int)threadIdx.x, quads = width / 4, slices = max(1, T / quads);
    double *sums = memory; /* [slices, width] */
    float *few = (float *)(sums + slices * width);
    const int most = (room - 2 * slices * width) / width;
#pragma unroll 1
    for (int r0 = 0; r0 < rows; r0 += most) {
        const int count = min(most, rows - r0);
        __syncthreads();
#pragma unroll 1
        for (int i = tid * 4; i < count * width; i += T * 4)
            async_copy(few + i, part + (size_t)r0 * width + i);
        async_commit();
        async_wait<0>();
        __syncthreads();
#pragma unroll 1
        for (int i = tid; i < quads * slices; i += T) {
            const int slice = i / quads;
            double *to = sums + i * 4, d[4] = {}; /* i * 4 = slice * width + column */
#pragma unroll 1
            for (int r = slice; r < count; r += 8 * slices) {
                const float *from = few + r * width + (i - slice * quads) * 4;
                float4 f = make_float4(0, 0, 0, 0);
#pragma unroll
                for (int z = 0; z < 8; z++)
                    if (r + z * slices < count) {
                        float4 v = load4(from + z * slices * width);
                        f = make_float4(f.x + v.x, f.y + v.y, f.z + v.z, f.w + v.w);
                    }
                d[0] += (double)f.x;
                d[1] += (double)f.y;
                d[2] += (double)f.z;
                d[3] += (double)f.w;
            }
#pragma unroll
            for (int z = 0; z < 4; z++) to[z] = r0 ? to[z] + d[z] : d[z];
        }
    }
    __syncthreads();
#pragma unroll 1
    for (int c = tid; c < width; c += T) {
        double sum = sums[c];
#pragma unroll 2
        for (int z = 1; z < slices; z++) sum += sums[z * width + c];
        sums[c] = sum;
    }
    __syncthreads();
}

template <int NT> __global__ void __launch_bounds__(BACK_WARPS * 32) pair_backward_kernel(back_args p) {
    constexpr int W = 8 * NT, Q = W / 4, ldd = W + 4; /* channels at a time */
    extern __shared__ float4 memory[];
    const int n = p.n, H = p.H, O = p.O, T = (int)blockDim.x, tid = (int)threadIdx.x, warps = T >> 5, KB = T,
              ldk = KB + 4, RS = p.plan.rows, JC = p.plan.jc, room = RS * JC + 8;
    const bool whole = p.plan.S > 1; /* sets at a time */
    const int C = whole ? RS : JC;
    const size_t ld = 2 * (size_t)H;
    float *du = (float *)memory, *gds = du + room * ldd, *args = gds + RS * W, *as = args + RS * W,
          *dcs = as + (RS + C) * ldk, *mine = dcs + C * ldk + (tid >> 5) * BACK_PAIRS * BACK_LD;
    float4 *kept = (float4 *)(dcs + C * ldk + warps * BACK_PAIRS * BACK_LD);
    double *gbs = (double *)(kept + 2 * NT * T);
    unsigned *place = (unsigned *)(gbs + warps * W); /* [room]: of c and of a, 16 bits each */
    const int set0 = (int)blockIdx.x * p.plan.S, sets = min(p.plan.S, p.B - set0), rows = sets * n;
    const int lane = tid & 31, g = lane >> 2, t = lane & 3, warp = tid >> 5, kl = warp * 32 + g;
    const int kbase = (int)blockIdx.y * KB, k = kbase + kl, k_sum = kbase + tid; /* this lane's: k + 8*x */
    const int quad = tid % Q * 4, inverse_n = ((1 << 20) + n - 1) / n;
    float *part = p.part + (size_t)blockIdx.x * (H + O);
#pragma unroll 1
    for (int o0 = 0; o0 < O; o0 += W) {
        const int o_own = o0 + 2 * NT * t; /* this lane's: 2*NT from here */
        const bool there = o0 + quad < O;
        factor<4, false> wf[2][NT];
        /* kept: of each k the channels, as this lane has them */
#pragma unroll 1
        for (int x = 0; x < 4; x++) {
            const float *from = p.theta + p.weight + (size_t)o_own * p.hidden + k + 8 * x;
            int count = k + 8 * x < p.hidden ? p.out - o_own : 0;
#pragma unroll 1
            for (int q = 0; q < 2 * NT; q++, from += p.hidden)
                async_copy<1>((float *)(kept + (x * 2 * NT + q) / 4 * T + tid) + q % 4, from, count - q);
        }
        bool again = false; /* G has a part already */
#pragma unroll 1
        for (int i0 = 0; i0 < rows; i0 += RS)
#pragma unroll 1
            for (int j0 = 0; j0 < n; j0 += JC) {
                const int rs = min(RS, rows - i0), jn = min(JC, n - j0), pairs = rs * jn;
                const int inverse = ((1 << 20) + jn - 1) / jn; /* x / jn is x * inverse >> 20 */
                const int row0 = set0 * n + i0, others = whole ? rs : jn,
                          other0 = whole ? row0 : set0 * n + j0;
                /* All but gd, k0 and k1 is older than the kernel before this one. */
                __syncthreads();
#pragma unroll 1
                for (int x = tid / Q; x < pairs + 8; x += T / Q) {
                    int r = x * inverse >> 20, j = x - r * jn, other = whole ? (r * inverse_n >> 20) * n : 0;
                    async_copy<4>(du + x * ldd + quad,
                                  p.u + ((size_t)(row0 + r) * n + j0 + j) * O + o0 + quad,
                                  x < pairs && there ? 4 : 0);
                    if (!quad) place[x] = x < pairs ? (unsigned)(rs + other + j) << 16 | (unsigned)r : 0u;
                }
#pragma unroll 1
                for (int r = warp; r < rs + others; r += warps) {
                    bool own = r < rs;
                    const float *from =
                        p.ac + (size_t)(own ? row0 + r : other0 + r - rs) * ld + (own ? 0 : H) + kbase;
#pragma unroll 1
                    for (int kk = lane * 4; kk < KB; kk += 128)
                        async_copy<4>(as + r * ldk + kk, from + kk, kbase + kk < H ? 4 : 0);
                }
                if (!again) {
                    async_commit();
                    async_wait<0>();
#pragma unroll
                    for (int x = 0; x < 4; x++) {
                        float scale = k + 8 * x < H ? get(p.norm1.g + k + 8 * x) : 0.0f;
#pragma unroll
                        for (int q = 0; q < NT; q += 2) {
                            float4 w = kept[(x * NT + q) / 2 * T + tid];
                            wf[x / 2][q].set(x % 2, scale * w.x);
                            wf[x / 2][q].set(2 + x % 2, scale * w.y);
                            wf[x / 2][q + 1].set(x % 2, scale * w.z);
                            wf[x / 2][q + 1].set(2 + x % 2, scale * w.w);
                        }
                    }
                    if (!o0) wait_turn();
                }
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
                    for (int x = tid / Q; x < pairs; x += T / Q) {
                        int r = x * inverse >> 20, j = j0 + x - r * jn, own = i0 + r;
                        if (whole) own -= (own * inverse_n >> 20) * n;
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
                    float sums[4] = {add.x, add.y, add.z, add.w};
#pragma unroll
                    for (int q = 0; q < 4; q++) {
#pragma unroll
                        for (int z = Q; z < 32; z *= 2) sums[q] += __shfl_xor_sync(0xffffffff, sums[q], z);
                        double *to = gbs + warp * W + quad + q;
                        if (lane < Q) *to = (again ? *to : 0.0) + (double)sums[q];
                    }
                }
                float G[2][NT][4] = {};
                /* Some rows at a time: of one set, or of several whole ones */
                const bool several = whole && n * n <= BACK_PAIRS;
                const int few = several ? BACK_PAIRS / (n * n) * n : max(1, (int)BACK_PAIRS / jn);
#pragma unroll 1
                for (int r0 = 0, r1; r0 < rs; r0 = r1) {
                    r1 = min(rs, r0 + few);
                    const int set_first = whole ? (r0 * inverse_n >> 20) * n : 0;
                    if (whole && !several) r1 = min(r1, set_first + n);
                    const int first = r0 * jn, last = r1 * jn;
#pragma unroll 1
                    for (int x0 = first; x0 < last; x0 += 8) {
                        const float *d0 = du + (x0 + g) * ldd + 2 * NT * t,
                                    *d1 = du + (x0 + 2 * t) * ldd + NT * g;
                        const unsigned at0 = place[x0 + 2 * t], at1 = place[x0 + 2 * t + 1];
                        const bool in0 = x0 + 2 * t < last, in1 = x0 + 2 * t + 1 < last;
                        float v[2 * NT], e[2][NT], h[2][4], back[2][2][4] = {};
#pragma unroll
                        for (int q = 0; q < 2 * NT; q += 4) *(float4 *)(v + q) = load4(d0 + q);
#pragma unroll
                        for (int x = 0; x < 2; x++)
                            if constexpr (NT == 4)
                                *(float4 *)e[x] = load4(d1 + x * ldd);
                            else
                                *(float2 *)e[x] = *(const float2 *)(d1 + x * ldd);
                        factor<4, false> hf[2];
#pragma unroll
                        for (int m = 0; m < 2; m++)
#pragma unroll
                            for (int x = 0; x < 2; x++) {
                                const float *ac = as + kl + 16 * m + 8 * x;
                                h[m][2 * x] =
                                    in0 ? relu(ac[(at0 & 0xffff) * ldk] + ac[(at0 >> 16) * ldk]) : 0.0f;
                                h[m][2 * x + 1] =
                                    in1 ? relu(ac[(at1 & 0xffff) * ldk] + ac[(at1 >> 16) * ldk]) : 0.0f;
                                hf[m].set(x, h[m][2 * x]);
                                hf[m].set(2 + x, h[m][2 * x + 1]);
                            }
#pragma unroll
                        for (int q = 0; q < NT; q++) {
                            factor<2, false> b, x;
                            float fresh[2][4] = {};
                            b.set(0, v[2 * q]);
                            b.set(1, v[2 * q + 1]);
                            x.set(0, e[0][q]);
                            x.set(1, e[1][q]);
                            mma(back[0][q % 2], wf[0][q].small, b.big);
                            mma(back[1][q % 2], wf[1][q].small, b.big);
                            mma(fresh[0], hf[0].small, x.big);
                            mma(fresh[1], hf[1].small, x.big);
                            mma(back[0][q % 2], wf[0][q].big, b.small);
                            mma(back[1][q % 2], wf[1][q].big, b.small);
                            mma(fresh[0], hf[0].big, x.small);
                            mma(fresh[1], hf[1].big, x.small);
                            mma(back[0][q % 2], wf[0][q].big, b.big);
                            mma(back[1][q % 2], wf[1][q].big, b.big);
                            mma(fresh[0], hf[0].big, x.big);
                            mma(fresh[1], hf[1].big, x.big);
#pragma unroll
                            for (int z = 0; z < 4; z++) {
                                G[0][q][z] += fresh[0][z];
                                G[1][q][z] += fresh[1][z];
                            }
                        }
                        float *to = mine + (x0 - first + 2 * t) * BACK_LD + g;
#pragma unroll
                        for (int m = 0; m < 2; m++)
#pragma unroll
                            for (int z = 0; z < 4; z++)
                                to[z % 2 * BACK_LD + 16 * m + z / 2 * 8] =
                                    h[m][z] > 0 ? back[m][0][z] + back[m][1][z] : 0.0f;
                    }
                    __syncwarp();
                    /* da of these rows, and dc, or what they add to it: a channel a lane */
                    const int items = several ? r1 - r0 : jn, deep = several ? n : r1 - r0;
#pragma unroll 1
                    for (int x = 0; x < max(r1 - r0, items); x++) {
                        const int across = x < r1 - r0 ? jn : 0, down = x < items ? deep : 0,
                                  set = several ? x * inverse_n >> 20 : 0;
                        const float *one = mine + x * jn * BACK_LD + lane,
                                    *other = mine + (set * (n - 1) * n + x) * BACK_LD + lane;
                        float da = 0, dc = 0;
#pragma unroll 1
                        for (int y = 0; y < max(across, down); y += 8)
#pragma unroll
                            for (int z = 0; z < 8; z++) {
                                if (y + z < across) da += one[(y + z) * BACK_LD];
                                if (y + z < down) dc += other[(y + z) * jn * BACK_LD];
                            }
                        float *to = p.sum + (size_t)(row0 + r0 + x) * ld + k_sum;
                        if (across && k_sum < H) *to = j0 || o0 ? *to + da : da;
                        if (several) {
                            if (k_sum < H) to[H] = o0 ? to[H] + dc : dc;
                        } else if (down) {
                            float *so_far = dcs + (set_first + x) * ldk + tid;
                            *so_far = r0 > set_first ? *so_far + dc : dc;
                        }
                    }
                    __syncwarp();
                }
                if (!several && k_sum < H)
#pragma unroll 1
                    for (int r = 0; r < others; r++) {
                        float *to = p.sum + (size_t)(other0 + r) * ld + H + k_sum, sum = dcs[r * ldk + tid];
                        *to = i0 || o0 ? *to + sum : sum;
                    }
                    /* G of these rows, to that of those before */
#pragma unroll
                for (int x = 0; x < 4; x++) {
                    float sum = 0; /* of w G, when the last rows are in it */
#pragma unroll
                    for (int q = 0; q < 2 * NT && o_own < O && k + 8 * x < H; q += 4) {
                        float *to = p.g + ((size_t)blockIdx.x * H + k + 8 * x) * O + o_own + q;
                        auto part_of = [&](int z) { return G[x / 2][z % NT][x % 2 * 2 + z / NT]; };
                        float4 v = make_float4(part_of(q), part_of(q + 1), part_of(q + 2), part_of(q + 3));
                        if (again) {
                            float4 old = load4(to);
                            v = make_float4(old.x + v.x, old.y + v.y, old.z + v.z, old.w + v.w);
                        }
                        store4(to, v);
                        float4 own = kept[(x * 2 * NT + q) / 4 * T + tid];
                        sum += own.x * v.x + own.y * v.y + own.z * v.z + own.w * v.w;
                    }
                    sum += __shfl_xor_sync(0xffffffff, sum, 1);
                    sum += __shfl_xor_sync(0xffffffff, sum, 2);
                    if (!t && k + 8 * x < H && i0 + RS >= rows && j0 + JC >= n)
                        part[k + 8 * x] = o0 ? part[k + 8 * x] + sum : sum;
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
    part_totals(p.part, (int)gridDim.x, H + O, total, (int)(p.plan.shared / sizeof(float)));
#pragma unroll 1
    for (int o = tid; o < p.out; o += T) p.grad[p.bias + o] = (float)b_total[o];
#pragma unroll 1
    for (int h = tid; h < p.hidden; h += T) {
        const float *w = p.theta + p.weight + h;
        double dy = 0;
#pragma unroll 1
        for (int o0 = 0; o0 < O; o0 += 16) /* b_total is 0 in the padding */
#pragma unroll
            for (int o = o0; o < o0 + 16; o++)
                dy += (double)__ldg(w + (size_t)(unsigned)(min(o, p.out - 1) * p.hidden)) * b_total[o];
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
    dim3 grid(p.plan.tiles, up(up(s->H, 32), p.plan.warps));
    if (back_width(s) == 16)
        CHAIN(s, grid, p.plan.warps * 32, p.plan.shared, pair_backward_kernel<2>, p);
    else
        CHAIN(s, grid, p.plan.warps * 32, p.plan.shared, pair_backward_kernel<4>, p);
    gpu_fork(s, 1);
    gpu_sum_rows(s, s->side[1], e->g, p.plan.tiles, s->H * s->O, e->g_total);
}
