/* Computes the backward pass of an encoder block over its pairs of items, on the GPU, and cuts a batch into
 * tiles for it; the algebra is that of kernels/cpu_encoder.c.
 *
 * du (base/gpu.cuh) from u, then in one pass over the pairs G = sum h du and sum_o w du where h > 0; the last
 * thread block to finish adds up what the backward pass of norm1 needs: sum du, and sum_o w G.
 *
 * Both products are made on the tensor cores, by a warp for 16 hidden channels and, one after the other,
 * for an item i with 8 items j: w du [16, 8], and G [16, channels] += h [16, 8] du. The h of a lane are
 * those that mask the one product and are factors of the other. A sum may take its channels in any order,
 * so a lane has consecutive ones.
 *
 * Each thread block runs the code once, so that fetching instructions counts: loops are not unrolled, and
 * have no divisions. */
#include <algorithm>

#include "engine/cuda/base/mma.cuh"
#include "engine/cuda/layers/pairs.cuh"

enum { BACK_ITEMS = 64 /* items j at a time */, BACK_DU = 16384 /* floats of du, about */ };

/* Shared memory, for some rows i and jc items j at a time: du [rows][jc][channels + 4], gd and arg [rows]
 * [channels], a [rows][KB + 4] and c [rows of the sets, or jc, and 8 more][KB + 4], da [rows][KB]; each
 * thread's weights, sums of du by warp [warps][channels]; at the end, in place of all, sums over the tiles.
 */
static size_t back_shared(const gpu *s, const back_plan *p, int S, int rows, int jc) {
    if (precision_of(s) == ONET_BF16) return back_shared_bf16(s, p, S, rows, jc);
    size_t W = (size_t)pairs_width(s), KB = 16 * (size_t)p->warps, R = (size_t)rows,
           C = (S > 1 ? R : (size_t)jc) + 8;
    size_t floats = R * jc * (W + 4) + 2 * R * W + (R + C) * (KB + 4) + R * KB + 18 * W * p->warps;
    return std::max(floats, 4 * (size_t)(s->H + s->O)) * sizeof(float);
}

/* Floats of du of a pair in shared memory. */
static int back_pair_floats(const gpu *s) {
    return precision_of(s) == ONET_BF16 ? (pairs_width(s) + 8) / 2 : pairs_width(s) + 4;
}

/* Warps of a thread block: all hidden channels are divided among them, in as few rounds as possible. */
static int back_warps(const gpu *s) {
    int hidden = s->H / 16;
    return up(hidden, up(hidden, BACK_WARPS));
}

/* Returns the bytes of shared memory that a thread block may use: half of a multiprocessor's, where two
 * thread blocks share its registers. */
static size_t back_limit(const gpu *s, int warps) {
    return warps <= BACK_WARPS / 2 ? s->shared_all / 2 - 2048 : s->shared;
}

/* Sets how many sets of n items a tile has, at most S, and how many of its `own` rows (of one set) it takes
 * at a time: as many as fit into `limit` bytes. Returns false where not even one row fits. */
static bool back_tile_fit(const gpu *s, back_plan *p, int n, int own, int S, size_t limit) {
    p->jc = std::min(up(n, 8) * 8, (int)BACK_ITEMS);
    int room = std::max(BACK_DU / (p->jc * back_pair_floats(s)), 1);
    p->S = n > BACK_ITEMS ? 1 : std::max(1, std::min(S, room / n));
    while (p->S > 1 && back_shared(s, p, p->S, p->S * n, p->jc) > limit) p->S--;
    p->rows = p->S > 1 ? p->S * n : up(own, up(own, room));
    while (p->rows > 1 && back_shared(s, p, p->S, p->rows, p->jc) > limit) p->rows = up(p->rows, 2);
    p->shared = std::max(p->shared, back_shared(s, p, p->S, p->rows, p->jc));
    return p->shared <= limit;
}

bool back_plan_make(const gpu *s, int B, int n, back_plan *p) {
    p->shared = 0;
    p->warps = back_warps(s);
    if (precision_of(s) == ONET_BF16) {
        int S = up(B, s->multiprocessors * (BACK_WARPS / p->warps));
        bool fits =
            back_tile_fit(s, p, n, n, S, back_limit(s, p->warps)) || back_tile_fit(s, p, n, n, S, s->shared);
        p->tiles = up(B, p->S);
        return fits;
    }
    p->jc = std::min(up(n, 8) * 8, (int)BACK_ITEMS);
    for (int room = BACK_DU / (p->jc * back_pair_floats(s));; room /= 2) { /* rows at a time */
        p->S = up(B, s->multiprocessors * (BACK_WARPS / p->warps));
        p->S = std::max(1, n > BACK_ITEMS ? 1 : std::min(p->S, room / n));
        p->rows = p->S > 1 ? p->S * n : up(n, up(n, std::max(room, 1)));
        p->tiles = up(B, p->S);
        p->shared = back_shared(s, p, p->S, p->rows, p->jc);
        if (p->shared <= s->shared || room <= 1) return p->shared <= s->shared;
    }
}

int back_tiles_most(const gpu *s, int sets) {
    return std::max(sets, std::min(4 * sets, 2 * s->multiprocessors));
}

/* Returns the rows i per tile of a set of n items, an even number where they are not all. A large set is cut
 * since the kernel ends with its largest tile. The contributions to dc of all tiles of a set but the first
 * need rows of their own: `more` of these rows are left, and `tiles` tiles beyond the first. */
static int back_rows_of(int n, int cells, int more, int tiles) {
    int all = n * (up(n, 8) * 8), parts = 4 * all > 5 * cells ? up(all, cells) : 1;
    parts = std::max(std::min({parts, 1 + more / n, 1 + tiles}), 1);
    return parts == 1 ? n : std::min(up(up(n, parts), 2) * 2, n);
}

/* Returns about how many cells a tile gets (items j padded): enough that all tiles run at once if that makes
 * them at most 1.5 times as large; otherwise the average per multiprocessor. */
static int back_cells(const set_run *runs, int count, int at_once) {
    int all = 0;
    for (int k = 0; k < count; k++) all += runs[k].sets * runs[k].n * (up(runs[k].n, 8) * 8);
    const int least = up(all, at_once);
    for (int cells = least; 2 * cells <= 3 * least; cells += up(cells, 16)) {
        int tiles = 0;
        for (int k = 0; k < count; k++) {
            const set_run &r = runs[k];
            const int own = back_rows_of(r.n, cells, BACK_MORE * runs[count].row0, r.n),
                      S = own < r.n ? 1 : std::max(cells / (r.n * (up(r.n, 8) * 8)), 1);
            tiles += up(r.sets, S) * up(r.n, own);
        }
        if (tiles <= at_once) return cells;
    }
    return least;
}

bool back_tiles_make(const gpu *s, const set_run *runs, int count, set_place *places, back_plan *p,
                     back_tile *out) {
    const set_run &end = runs[count];
    *p = {};
    p->warps = back_warps(s);
    const int cells = back_cells(runs, count, s->multiprocessors * (BACK_WARPS / p->warps));
    for (size_t limit = back_limit(s, p->warps);; limit = s->shared) {
        bool fits = true;
        int more = 0, spare = back_tiles_most(s, end.sets) - end.sets, b = 0;
        p->tiles = 0;
        p->shared = 0;
        for (int k = 0; k < count && fits; k++) {
            const set_run &r = runs[k];
            int padded = up(r.n, 8) * 8, left = BACK_MORE * end.row0 - more,
                own = back_rows_of(r.n, cells, left / r.sets, spare / r.sets), parts = up(r.n, own);
            fits = back_tile_fit(s, p, r.n, own, parts > 1 ? 1 : cells / (r.n * padded), limit);
            spare -= (parts - 1) * r.sets;
            for (int set = 0; set < r.sets && fits; set += p->S) {
                for (int i = 0; i < p->S && set + i < r.sets; i++, b++) {
                    places[b].parts = parts;
                    places[b].more = more;
                }
                for (int part = 0; part < parts; part++) {
                    int sets = std::min(p->S, r.sets - set), i0 = part * own;
                    out[p->tiles++] = {.n = r.n,
                                       .row0 = r.row0 + set * r.n,
                                       .sets = sets,
                                       .pair0 = r.pair0 + (set * r.n + i0) * r.n,
                                       .i0 = i0,
                                       .own = parts > 1 ? std::min(own, r.n - i0) : sets * r.n,
                                       .rows = p->rows,
                                       .jc = p->jc,
                                       .more = part ? more : -1};
                    more += part ? r.n : 0;
                }
            }
        }
        if (fits || limit == s->shared) return fits;
    }
}

struct back_memory { /* back_shared says what is where */
    float *du, *gds, *args, *as, *das;
    float4 *kept;
    double *gbs;
};

/* Loads W2 for the lane's channels and hidden channels k and k + 8: unchanged into `kept`, multiplied by
 * norm1's scale into wf. */
template <int NT, bool ROUNDED>
__device__ static __forceinline__ void back_weights(const back_args &p, int o_own, int k, bool live,
                                                    float4 *kept, factor<4, ROUNDED> (&wf)[NT]) {
    float w[2][2 * NT];
#pragma unroll
    for (int q = 0; q < 2 * NT; q++) {
        const float *from = p.theta + p.weight + (size_t)(o_own + q) * p.hidden + k;
        w[0][q] = o_own + q < p.out && k < p.hidden ? __ldg(from) : 0.0f;
        w[1][q] = o_own + q < p.out && k + 8 < p.hidden ? __ldg(from + 8) : 0.0f;
    }
#pragma unroll
    for (int q = 0; q < NT; q++)
        kept[q * (int)blockDim.x + (int)threadIdx.x] =
            *(const float4 *)&w[q * 4 / (2 * NT)][q * 4 % (2 * NT)];
    float g0 = live ? load(p.norm1.g + k) : 0.0f, g1 = live ? load(p.norm1.g + k + 8) : 0.0f;
#pragma unroll
    for (int q = 0; q < NT; q++) {
        wf[q].set(0, g0 * w[0][2 * q]);
        wf[q].set(1, g1 * w[1][2 * q]);
        wf[q].set(2, g0 * w[0][2 * q + 1]);
        wf[q].set(3, g1 * w[1][2 * q + 1]);
    }
}

/* Starts the copy of u and, unless shared memory has them (`kept`), of a and c; the previous kernel writes
 * none of them. */
template <int W>
__device__ static __forceinline__ void back_fetch(const back_args &p, const back_work &c, const back_piece &x,
                                                  int o0, int kbase, bool kept, const back_memory &m) {
    constexpr int Q = W / 4, ldd = W + 4;
    const int T = (int)blockDim.x, tid = (int)threadIdx.x, quad = tid % Q * 4, KB = T / 2, ldk = KB + 4;
    const bool there = o0 + quad < p.O;
    const size_t cell0 = c.pair0 + (size_t)x.i0 * c.n + x.j0;
#pragma unroll 1
    for (int y = tid / Q; y < x.rs * x.jn; y += T / Q) {
        int r = y * x.inverse >> 20, j = y - r * x.jn;
        async_copy<4>(m.du + y * ldd + quad,
                      (const float *)p.u + (cell0 + (size_t)r * c.n + j) * p.O + o0 + quad,
                      j < x.jl && there ? 4 : 0);
    }
    if (kept) return;
#pragma unroll 1
    for (int r = tid >> 5; r < x.rs + x.others + 8; r += T >> 5) {
        bool own = r < x.rs;
        const float *from =
            p.ac + (size_t)(own ? x.row0 + r : x.other0 + r - x.rs) * 2 * p.H + (own ? 0 : p.H) + kbase;
#pragma unroll 1
        for (int k = (tid & 31) * 4; k < KB; k += 128)
            async_copy<4>(m.as + r * ldk + k, from + k, r < x.rs + x.others && kbase + k < p.H ? 4 : 0);
    }
}

/* Overwrites u with du, rounded once for all warps that multiply it; returns the thread's sums of it. */
template <int W, bool ROUNDED>
__device__ static __forceinline__ float4 back_du(const back_args &p, const back_work &c, const back_piece &x,
                                                 float4 k0, float4 k1, const back_memory &m) {
    constexpr int Q = W / 4, ldd = W + 4;
    const int T = (int)blockDim.x, quad = (int)threadIdx.x % Q * 4, n = c.n,
              inverse_n = ((1 << 20) + n - 1) / n;
    float4 add = make_float4(0, 0, 0, 0);
#pragma unroll 1
    for (int y = (int)threadIdx.x / Q; y < x.rs * x.jn; y += T / Q) {
        int r = y * x.inverse >> 20, j = x.j0 + y - r * x.jn, own = c.i0 + x.i0 + r;
        if (c.whole) own -= (own * inverse_n >> 20) * n;
        if (j >= n) continue;
        float4 u = load4(m.du + y * ldd + quad), d = load4(m.gds + r * W + quad);
        int4 arg = *(const int4 *)(m.args + r * W + quad);
        d = back_du_of(u, d, arg, own, j, p.pool, k0, k1);
        store4(m.du + y * ldd + quad, ROUNDED ? tf32_rounded(d) : d);
        add = make_float4(add.x + d.x, add.y + d.y, add.z + d.z, add.w + d.w);
    }
    return add;
}

/* Item i with the 8 items j whose du begins at d, c in `c` and a at `a`: G += h du, where ROUNDED by the
 * tensor cores, else with rounding; dc += w du where h > 0; returns the sum of w du over the 8 items, in
 * lanes with t < 2, of hidden channel k + 8 * t. */
template <int NT, bool ROUNDED>
__device__ static __forceinline__ float back_row(const float *d, const float *a, const float (&c)[4],
                                                 const factor<4, ROUNDED> (&wf)[NT], float (&G)[NT][4],
                                                 float (&dc)[4]) {
    constexpr int ldd = 8 * NT + 4;
    const int lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3;
    const float *d0 = d + g * ldd + 2 * NT * t, *d1 = d + 2 * t * ldd + NT * g;
    float h[4] = {relu(a[0] + c[0]), relu(a[0] + c[1]), relu(a[8] + c[2]), relu(a[8] + c[3])};
    float v[2 * NT], e[2][NT], back[2][4] = {};
#pragma unroll
    for (int q = 0; q < 2 * NT; q += 4) *(float4 *)(v + q) = load4(d0 + q);
#pragma unroll
    for (int x = 0; x < 2; x++)
        if constexpr (NT == 4)
            *(float4 *)e[x] = load4(d1 + x * ldd);
        else
            *(float2 *)e[x] = *(const float2 *)(d1 + x * ldd);
    factor<4, ROUNDED> hf;
    hf.set(0, h[0]);
    hf.set(1, h[2]);
    hf.set(2, h[1]);
    hf.set(3, h[3]);
#pragma unroll
    for (int q = 0; q < NT; q++) {
        factor<2, ROUNDED> b, x;
        b.set_stored(0, v[2 * q]);
        b.set_stored(1, v[2 * q + 1]);
        x.set_stored(0, e[0][q]);
        x.set_stored(1, e[1][q]);
        if constexpr (ROUNDED) {
            mma(back[q % 2], wf[q], b);
            mma(G[q], hf, x);
        } else {
            float fresh[4] = {};
            mma(back[q % 2], wf[q].small, b.big);
            mma(fresh, hf.small, x.big);
            mma(back[q % 2], wf[q].big, b.small);
            mma(fresh, hf.big, x.small);
            mma(back[q % 2], wf[q].big, b.big);
            mma(fresh, hf.big, x.big);
#pragma unroll
            for (int z = 0; z < 4; z++) G[q][z] += fresh[z];
        }
    }
    float m[4];
#pragma unroll
    for (int q = 0; q < 4; q++) {
        m[q] = h[q] > 0 ? back[0][q] + back[1][q] : 0.0f;
        dc[q] += m[q];
    }
    /* The sum over the four lanes: even ones have that of k, odd ones of k + 8. */
    float keep = t & 1 ? m[2] + m[3] : m[0] + m[1];
    float give = t & 1 ? m[0] + m[1] : m[2] + m[3];
    keep += __shfl_xor_sync(0xffffffff, give, 1);
    keep += __shfl_xor_sync(0xffffffff, keep, 2);
    return keep;
}

/* G += part, with rounding; part = 0. */
template <int NT> __device__ static __forceinline__ void back_add(float (&G)[NT][4], float (&part)[NT][4]) {
#pragma unroll
    for (int q = 0; q < 4 * NT; q++) {
        G[q / 4][q % 4] += part[q / 4][q % 4];
        part[q / 4][q % 4] = 0;
    }
}

/* G += h du over the piece, and its sums of w du where h > 0: over j to the a half of `sum`, over i to its c
 * half. later_j: items j before these have added to the a half already; later_i: rows before these to the c
 * half. The tensor cores truncate their sums: so one of them covers at most four rows, 32 pairs. */
template <int NT, bool ROUNDED, bool MIXED, bool RELATED>
__device__ static __forceinline__ void
back_pairs(const back_args &p, const back_work &c, const back_piece &x, bool later_j, bool later_i, int kbase,
           const factor<4, ROUNDED> (&wf)[NT], const back_memory &m, float (&G)[NT][4]) {
    constexpr int ldd = 8 * NT + 4;
    const int H = p.H, KB = (int)blockDim.x / 2, ldk = KB + 4, lane = threadIdx.x & 31, g = lane >> 2,
              t = lane & 3, kl = ((int)threadIdx.x >> 5) * 16 + g, k = kbase + kl;
    const size_t ld = 2 * (size_t)H;
#pragma unroll 1
    for (int set = 0; set < (c.whole ? c.sets : 1); set++)
#pragma unroll 1
        for (int j = 0; j < x.jn; j += 8) {
            const int first = set * c.n, last = c.whole ? first + c.n : x.rs;
            float dc[4] = {}, cs[4], part[NT][4] = {}; /* of G, where ROUNDED */
#pragma unroll
            for (int y = 0; y < 4; y++)
                cs[y] = m.as[(x.rs + first + j + 2 * t + y % 2) * ldk + kl + y / 2 * 8];
#pragma unroll 1
            for (int r = first; r < last; r++) {
                float own[4] = {cs[0], cs[1], cs[2], cs[3]};
                if constexpr (RELATED) { /* items beyond the last one have no gradient */
#pragma unroll
                    for (int y = 0; y < 4; y++) {
                        const int item = min(x.j0 + j + 2 * t + y % 2, c.n - 1);
                        const float *e = p.e + (c.pair0 + (size_t)(x.i0 + r) * c.n + item) * p.both;
                        own[y] = with_relations(own[y], e, p.related + k + y / 2 * 8, p.both, H);
                    }
                }
                float da = back_row<NT, ROUNDED>(m.du + (r * x.jn + j) * ldd, m.as + r * ldk + kl, own, wf,
                                                 ROUNDED ? part : G, dc);
                if (ROUNDED && (r - first) % 4 == 3) back_add<NT>(G, part);
                if (t >= 2) continue;
                float *so_far = m.das + r * KB + kl + 8 * t;
                if (j) da += *so_far;
                if (j + 8 < x.jn)
                    *so_far = da;
                else {
                    float *to = p.sum + (size_t)(x.row0 + r) * ld + k + 8 * t;
                    *to = later_j ? *to + da : da;
                }
            }
            if (ROUNDED) back_add<NT>(G, part);
#pragma unroll
            for (int y = 0; y < 4; y++) {
                int item = j + 2 * t + y % 2;
                float *to = back_dc<MIXED>(p, c, x.other0 - c.set0 + first + item, k + y / 2 * 8);
                if (x.j0 + item < c.n) *to = later_i ? *to + dc[y] : dc[y];
            }
        }
}

/* Adds G of the piece to that of the pieces before; with the last piece, writes the sums of w G. */
template <int NT>
__device__ static __forceinline__ void back_leave_G(const back_args &p, const float (&G)[NT][4], int o_own,
                                                    int k, bool again, bool complete, bool later_o,
                                                    const float4 *kept, float *part) {
    const int T = (int)blockDim.x, t = threadIdx.x & 3;
#pragma unroll
    for (int x = 0; x < 2; x++) {
        double sum = 0;
#pragma unroll
        for (int q = 0; q < 2 * NT && o_own < p.O; q += 4) {
            float *to = p.g + ((size_t)blockIdx.x * p.H + k + 8 * x) * p.O + o_own + q;
            float4 v =
                make_float4(G[q % NT][2 * x + q / NT], G[(q + 1) % NT][2 * x + (q + 1) / NT],
                            G[(q + 2) % NT][2 * x + (q + 2) / NT], G[(q + 3) % NT][2 * x + (q + 3) / NT]);
            if (again) {
                float4 old = load4(to);
                v = make_float4(old.x + v.x, old.y + v.y, old.z + v.z, old.w + v.w);
            }
            store4(to, v);
            float4 own = kept[(x * 2 * NT + q) / 4 * T + (int)threadIdx.x];
            sum += (double)own.x * (double)v.x + (double)own.y * (double)v.y + (double)own.z * (double)v.z +
                   (double)own.w * (double)v.w;
        }
        sum += __shfl_xor_sync(0xffffffff, sum, 1);
        sum += __shfl_xor_sync(0xffffffff, sum, 2);
        if (!t && complete) part[k + 8 * x] = later_o ? part[k + 8 * x] + (float)sum : (float)sum;
    }
}

template <int NT, bool ROUNDED, bool MIXED, bool RELATED>
__global__ void __launch_bounds__(BACK_WARPS * 32) pair_backward_kernel(back_args p) {
    constexpr int W = 8 * NT, Q = W / 4, ldd = W + 4; /* channels at a time */
    extern __shared__ float4 memory[];
    const back_work c = back_work_at<MIXED>(p);
    const int n = c.n, H = p.H, O = p.O, T = (int)blockDim.x, tid = (int)threadIdx.x, KB = T / 2;
    back_memory m;
    m.du = (float *)memory;
    m.gds = m.du + c.RS * c.JC * ldd;
    m.args = m.gds + c.RS * W;
    m.as = m.args + c.RS * W;
    m.das = m.as + (c.RS + (c.whole ? c.RS : c.JC) + 8) * (KB + 4);
    m.kept = (float4 *)(m.das + c.RS * KB);
    m.gbs = (double *)(m.kept + NT * T);
    const int kbase = (int)blockIdx.y * KB,
              k = kbase + (tid >> 5) * 16 + (tid & 31) / 4; /* this lane's: k and k + 8 */
    const bool live = kbase + (tid >> 5) * 16 < H;
    const int quad = tid % Q * 4;
    float *part = p.part + (size_t)blockIdx.x * (H + O);
#pragma unroll 1
    for (int o0 = 0; o0 < O; o0 += W) {
        const int o_own = o0 + 2 * NT * (tid & 3); /* this lane's: 2*NT from here */
        const bool there = o0 + quad < O;
        factor<4, ROUNDED> wf[NT];
        back_weights<NT, ROUNDED>(p, o_own, k, live, m.kept, wf);
        bool again = false; /* G has a part already */
#pragma unroll 1
        for (int i0 = 0; i0 < c.rows; i0 += c.RS)
#pragma unroll 1
            for (int j0 = 0; j0 < n; j0 += c.JC) {
                const back_piece x = back_piece_at(c, i0, j0);
                __syncthreads();
                back_fetch<W>(p, c, x, o0, kbase, o0 && x.rs == c.rows && x.jl == n, m);
                if (!o0 && !i0 && !j0) wait_turn(); /* the previous kernel writes gd, k0 and k1 */
                float4 k0 = make_float4(0, 0, 0, 0), k1 = k0, add = k0;
                if (there) {
                    k0 = load4(p.k0 + o0 + quad);
                    k1 = load4(p.k1 + o0 + quad);
                    back_fetch_pool<W>(p, x, o0, m.gds, m.args);
                }
                async_commit();
                async_wait<0>();
                __syncthreads();
                if (there) add = back_du<W, ROUNDED>(p, c, x, k0, k1, m);
                __syncthreads();
                if (blockIdx.y == 0) back_sum_du<W>(add, again, m.gbs);
                float G[NT][4] = {};
                if (live) {
                    back_pairs<NT, ROUNDED, MIXED, RELATED>(p, c, x, j0 || o0, i0 || o0, kbase, wf, m, G);
                    back_leave_G<NT>(p, G, o_own, k, again, i0 + c.RS >= c.rows && j0 + c.JC >= n, o0 > 0,
                                     m.kept, part);
                }
                again = true;
            }
        __syncthreads();
        if (blockIdx.y == 0 && tid < W && o0 + tid < O) {
            double add = 0;
#pragma unroll 4
            for (int z = 0; z < T >> 5; z++) add += m.gbs[z * W + tid];
            part[H + o0 + tid] = (float)add;
        }
    }
    if (last_block(p.counter, gridDim.x * gridDim.y)) back_norm(p, (double *)memory);
}

template <int NT, bool ROUNDED> static void pair_backward_launch(gpu *s, const back_args &p) {
    dim3 grid(p.plan.tiles, up(s->H / 16, p.plan.warps));
    int threads = p.plan.warps * 32;
    if (p.both) /* always with tables of several sizes */
        CHAIN(s, grid, threads, p.plan.shared, (pair_backward_kernel<NT, ROUNDED, true, true>), p);
    else if (s->ragged.mixed)
        CHAIN(s, grid, threads, p.plan.shared, (pair_backward_kernel<NT, ROUNDED, true, false>), p);
    else
        CHAIN(s, grid, threads, p.plan.shared, (pair_backward_kernel<NT, ROUNDED, false, false>), p);
}

void gpu_encoder_pairs_backward(gpu *s, int block) {
    encoder_block *e = &s->enc[block];
    back_args p = {pairs_of(s, block)};
    if (s->ragged.mixed) {
        p.plan = s->ragged.mixed->back;
        p.tiles = s->ragged.mixed->back_tiles;
    } else if (!back_plan_make(s, p.B, p.n, &p.plan))
        return;
    p.u = e->u;
    p.gd = s->step.gd;
    p.arg = e->arg;
    p.k0 = e->k0;
    p.k1 = e->k1;
    p.grad = s->weights.grad;
    p.sum = e->sum;
    p.more = s->step.sum_more;
    p.g = e->g;
    p.part = s->step.part_f;
    p.counter = s->result.counters;
    p.back = norms_first_back(s, block);
    onet_precision precision = precision_of(s);
    if (precision == ONET_BF16)
        pair_backward_bf16(s, p);
    else if (pairs_width(s) == 16)
        precision ? pair_backward_launch<2, true>(s, p) : pair_backward_launch<2, false>(s, p);
    else
        precision ? pair_backward_launch<4, true>(s, p) : pair_backward_launch<4, false>(s, p);
    gpu_fork(s, 1);
    gpu_sum_rows(s, s->queue.side[1], e->g, p.plan.tiles, s->H * s->O, e->g_total);
}
