/* Takes a set from the data and computes the encoder, forward and backward, in the one-kernel training step
 * of narrow nets: member functions of struct narrow (narrow.cuh). The algebra is that of
 * kernels/cpu_encoder.c and layers/encoder.cu, the notation (a, c, h, u, du, dac) that of base/gpu.cuh. */
#ifndef CUDA_NARROW_ENCODER_CUH
#define CUDA_NARROW_ENCODER_CUH

#include "engine/cuda/narrow/narrow.cuh"

/* Takes the set's items and order from the data. */
__device__ inline void narrow::take_set() {
    const int n = p.n, d = p.net.width, lx = p.lx, tid = threadIdx.x;
    size_t from = p.given.start[p.index[blockIdx.x]], row = row0();
    const float *vectors = p.given.train_vectors ? p.given.vectors : p.given.table;
    float *x = at(p.l.x);
#pragma unroll 1
    for (int i = tid; i < n; i += NT) {
        int item = p.given.order_all[from + i];
        order()[i] = p.step.order[row + i] = item;
        pos()[item] = p.step.pos[row + item] = i;
    }
#pragma unroll 1
    for (int i = tid; i < (n + 1) * lx; i += NT) {
        int item = i / p.by_lx, c = i - item * lx;
        float v = 0;
        if (item == n && c < p.D) v = p.weights.theta[p.start + c];
        if (item < n && c < d) {
            v = p.given.word ? vectors[(size_t)p.given.word[from + item] * d + c]
                             : p.given.items[(from + item) * d + c];
            v = (v - p.weights.mean[c]) * p.weights.scale[c];
            p.step.x[(row + item) * p.ldx + c] = v;
        }
        x[i] = v;
    }
    __syncthreads();
}

/* Loads what an earlier kernel has written: features up to `columns`, and the order. */
__device__ inline void narrow::load_set(int columns) {
    const int n = p.n, lx = p.lx, tid = threadIdx.x;
    size_t row = row0();
    float *x = at(p.l.x);
#pragma unroll 1
    for (int i = tid; i < n; i += NT) {
        order()[i] = p.step.order[row + i];
        pos()[i] = p.step.pos[row + i];
    }
#pragma unroll 1
    for (int i = tid; i < (n + 1) * lx; i += NT) {
        int item = i / p.by_lx, c = i - item * lx;
        float v = 0;
        if (item == n && c < p.D) v = p.weights.theta[p.start + c];
        if (item < n && c < columns) v = p.step.x[(row + item) * p.ldx + c];
        x[i] = v;
    }
    __syncthreads();
}

/* Writes the features that block k adds: its pool, normed. */
__device__ inline void narrow::pooled_features(int k) {
    const encoder_block &e = p.enc[k];
    const int n = p.n, tid = threadIdx.x;
    const float *best = at(p.l.added);
    norms norm = norm2(k);
#pragma unroll 1
    for (int i = tid; i < n * WIDE; i += NT) {
        int item = i / WIDE, o = i % WIDE;
        if (o >= p.net.encoder_out) continue;
        size_t row = row0() + item;
        float y = pooled(norm.g[o], norm.e[o], p.net.pool, n)(load ? e.best[row * WIDE + o] : best[i]);
        at(p.l.x)[item * p.lx + p.enc_at[k].in + o] = y;
        p.step.x[row * p.ldx + p.enc_at[k].in + o] = y;
    }
    __syncthreads();
}

/* Computes a and c, and norm1 from the sums of h. */
__device__ inline void narrow::encoder_rows(int k) {
    const encoder_block &e = p.enc[k];
    const int n = p.n, H = p.H, lda = 2 * H + 4, tid = threadIdx.x;
    int group = tid / p.by_h, h = tid - group * H, groups = NT / p.by_h;
    float *ac = at(p.l.ac);
    double sum = 0, square = 0;
    if (load) load_set(k ? p.enc_at[k - 1].in : p.enc_at[k].in);
    if (k) pooled_features(k - 1);
    product(at(p.l.x), p.lx, p.own.w1[k], (p.enc_at[k].in + 15) / 16, H / 4, n, at(p.l.product),
            p.l.product_room, [&](int row, int c, float4 v) {
                float4 add = __ldg((const float4 *)(p.own.bias1[k] + c));
                v = make_float4(v.x + add.x, v.y + add.y, v.z + add.z, v.w + add.w);
                store4(ac + row * lda + c, v);
                store4(e.ac + (row0() + row) * 2 * H + c, v);
            });
    if (group < groups)
#pragma unroll 1
        for (int i0 = group; i0 < n; i0 += ROWS * groups) {
            float a[ROWS], s0 = 0, s1 = 0;
#pragma unroll
            for (int u = 0; u < ROWS; u++) {
                int i = i0 + u * groups;
                a[u] = i < n ? ac[i * lda + h] : -INFINITY; /* h = 0 there */
            }
#pragma unroll 2
            for (int j = 0; j < n; j++) {
                float c = ac[j * lda + H + h];
#pragma unroll
                for (int u = 0; u < ROWS; u++) {
                    float x = relu(a[u] + c);
                    s0 += x;
                    s1 += x * x;
                }
            }
            sum += (double)s0;
            square += (double)s1;
        }
    double *red = doubles(p.l.product), *mine = doubles(p.l.mine);
    if (group < groups) {
        red[group * 2 * H + h] = sum;
        red[group * 2 * H + H + h] = square;
    }
    __syncthreads();
    if (tid < 2 * H) {
        double all = 0;
        for (int g = 0; g < groups; g++) all += red[g * 2 * H + tid];
        mine[tid] = all;
    }
    __syncthreads();
    send_many(2 * H);
    receive_sent(2 * H);
    make_norm(norm1(k), e.norm1, p.enc_at[k].norm1, p.net.hidden, H);
}

/* Writes W2 and b2 with norm1 folded in to `w` [H][16] and `small` [16], one output per warp. */
__device__ inline void narrow::fold_weights(int k) {
    const int H = p.H, lane = threadIdx.x & 31, o = threadIdx.x >> 5;
    static_assert(NT / 32 == WIDE, "a warp an output");
    norms norm = norm1(k);
    const float *from =
        p.weights.theta + p.enc_at[k].weight2 + (size_t)min(o, p.net.encoder_out - 1) * p.net.hidden;
    float add = 0;
#pragma unroll 4
    for (int h = lane; h < H; h += 32) {
        float v = from[min(h, p.net.hidden - 1)];
        if (o >= p.net.encoder_out || h >= p.net.hidden) v = 0;
        add += v * norm.e[h];
        at(p.l.w)[h * LD + o] = v * norm.g[h];
    }
    for (int s = 16; s; s /= 2) add += __shfl_xor_sync(0xffffffff, add, s);
    if (!lane) at(p.l.small)[o] = o < p.net.encoder_out ? add + p.weights.theta[p.enc_at[k].bias2 + o] : 0.0f;
    __syncthreads();
}

/* Writes W2 norm1(h) of all pairs to `product`, [share][n * n][16]; h is computed as it is needed. A warp has
 * 16 pairs and, where there are more warps than that takes, a share of the hidden channels. */
__device__ inline void narrow::pairs_of(int share) {
    const int n = p.n, H = p.H, lda = 2 * H + 4, count = n * n, tiles = (count + 15) / 16, twos = H / 16,
              each = (twos + share - 1) / share;
    const int lane = threadIdx.x & 31, g = lane / 4, t = lane % 4;
#pragma unroll 1
    for (int unit = threadIdx.x / 32; unit < tiles * share; unit += WARPS) {
        int part = unit / tiles, tile = unit - part * tiles, first = part * each * 16,
            last = min(first + each * 16, H);
        const float *a[2], *c[2], *w = at(p.l.w) + (first + t) * LD + g;
        float sum[2][4] = {};
#pragma unroll
        for (int i = 0; i < 2; i++) {
            int q = min(tile * 16 + i * 8 + g, count - 1), row = q / p.by_n;
            a[i] = at(p.l.ac) + row * lda + t;
            c[i] = at(p.l.ac) + (q - row * n) * lda + H + t;
        }
#pragma unroll 1
        for (int k = first; k < last; k += 16, w += 16 * LD) {
            two_sums<4> s = {}; /* one per mma: they do not wait for each other */
#pragma unroll
            for (int u = 0; u < 2; u++) {
                factor<4, false> left;
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    int h = k + u * 8 + j / 2 * 4;
                    left.set(j, relu(a[j % 2][h] + c[j % 2][h]));
                }
#pragma unroll
                for (int i = 0; i < 2; i++) {
                    factor<2, false> right;
                    right.set(0, w[u * 8 * LD + i * 8]);
                    right.set(1, w[(u * 8 + 4) * LD + i * 8]);
                    s.add(u * 2 + i, left, right);
                }
            }
#pragma unroll
            for (int i = 0; i < 8; i++) sum[i / 4][i % 4] += s.get(i / 4, i % 4) + s.get(2 + i / 4, i % 4);
        }
        float *to = at(p.l.product) + (part * count + tile * 16 + g) * WIDE + 2 * t;
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (tile * 16 + g + i % 2 * 8 < count)
                *(float2 *)(to + i % 2 * 8 * WIDE + i / 2 * 8) =
                    make_float2(sum[i / 2][i % 2 * 2], sum[i / 2][i % 2 * 2 + 1]);
    }
}

/* Computes u of all pairs, its pool and norm2. */
__device__ inline void narrow::encoder_pairs(int k) {
    const encoder_block &e = p.enc[k];
    const int n = p.n, H = p.H, lda = 2 * H + 4, tid = threadIdx.x;
    norms norm = norm1(k);
    float *us = at(p.l.u), *best_at = at(p.l.added);
    if (p.first == phase_encoder(k) + 1) { /* of an earlier kernel */
        for (int h = tid; h < H; h += NT) {
            norm.g[h] = e.norm1.g[h];
            norm.e[h] = e.norm1.e[h];
        }
        __syncthreads();
    }
    fold_weights(k);
    double sum = 0, square = 0;
    int o = tid % WIDE;
    float sign = o < p.net.encoder_out && p.weights.theta[p.enc_at[k].norm2.gamma + o] < 0 ? -1.0f : 1.0f;
    if (load) {
        for (int i = tid; i < n * (H / 2); i += NT) {
            int row = i / p.by_half, c = (i - row * (H / 2)) * 4;
            store4(at(p.l.ac) + row * lda + c, load4(e.ac + (row0() + row) * 2 * H + c));
        }
        __syncthreads();
    }
    int count = n * n, share = max(WARPS * 16 / (count + 15), 1);
    share = min(min(share, p.l.product_room / (count * WIDE)), H / 16);
    pairs_of(share);
    __syncthreads();
    float4 bias = load4(at(p.l.small) + tid % 4 * 4);
#pragma unroll 1
    for (int i = tid; i < count * 4; i += NT) { /* tid % 4 are the channels */
        float4 v = bias;
        const float *from = at(p.l.product) + i * 4;
#pragma unroll 2
        for (int z = 0; z < share; z++, from += count * WIDE) {
            float4 more = load4(from);
            v = make_float4(v.x + more.x, v.y + more.y, v.z + more.z, v.w + more.w);
        }
        v = make_float4(relu(v.x), relu(v.y), relu(v.z), relu(v.w));
        store4(us + i / 4 * LD + tid % 4 * 4, v);
        store4(e.u + row0() * n * WIDE + i * 4, v);
    }
    __syncthreads();
#pragma unroll 1
    for (int i = tid / WIDE; i < n; i += NT / WIDE) {
        float best = 0, s0 = 0, s1 = 0;
        int arg = -1;
#pragma unroll 4
        for (int j = 0; j < n; j++) {
            float u = us[(i * n + j) * LD + o];
            s0 += u;
            s1 += u * u;
            if (j == i) continue;
            if (pool_sums(p.net.pool))
                best += u;
            else if (arg < 0 || sign * u > sign * best) {
                best = u;
                arg = j;
            }
        }
        size_t to = (row0() + i) * WIDE + o;
        best_at[i * WIDE + o] = e.best[to] = best;
        e.arg[to] = arg;
        sum += (double)s0;
        square += (double)s1;
    }
    sum_few(sum, square);
    make_norm(norm2(k), e.norm2, p.enc_at[k].norm2, p.net.encoder_out, WIDE);
}

/* Computes gd, the gradient of the pool's best or sum, from that of the features, and adds to the sums for
 * the backward pass of norm2. */
__device__ inline void narrow::pool_back(int k, double &dy, double &dy_xhat) {
    const encoder_block &e = p.enc[k];
    const int n = p.n, o = threadIdx.x % WIDE;
    norms norm = norm2(k);
    float *gd = at(p.l.added);
#pragma unroll 1
    for (int i = threadIdx.x / WIDE; i < n; i += NT / WIDE) {
        size_t to = (row0() + i) * WIDE + o;
        float dz = 0;
        if (o < p.net.encoder_out) {
            float d = at(p.l.dx)[i * p.lx + p.enc_at[k].in + o], best = e.best[to], mean = norm.mean[o],
                  inv = norm.inv[o];
            if (pool_sums(p.net.pool)) {
                dz = d / pool_divisor(p.net.pool, n);
                dy += (double)dz * (n - 1);
                dy_xhat += (double)(dz * inv) * (double)(best - (float)(n - 1) * mean);
            } else {
                dz = at(p.l.x)[i * p.lx + p.enc_at[k].in + o] > 0 ? d : 0.0f;
                dy += (double)dz;
                dy_xhat += (double)dz * (double)((best - mean) * inv);
            }
        }
        gd[i * WIDE + o] = norm.g[o] * dz;
        if (p.keep) p.step.gd[to] = norm.g[o] * dz;
    }
    __syncthreads();
}

__device__ inline void narrow::finish_pool_back(int k, double dy, double dy_xhat) {
    const encoder_block &e = p.enc[k];
    sum_few(dy, dy_xhat);
    const double *total = doubles(p.l.total);
    int c = threadIdx.x;
    float *k0 = at(p.l.slopes);
    if (c < p.net.encoder_out)
        make_slopes(norm2(k), p.enc_at[k].norm2, c, total[c], total[WIDE + c], k0, k0 + WIDE, e.k0, e.k1);
    else if (c < WIDE)
        k0[c] = k0[WIDE + c] = 0;
    __syncthreads();
}

/* Writes totals [2][n][2H]: the sum of h over the other item and the number of h > 0, for each a and c. */
__device__ inline void narrow::tally(const float *ac, float *totals) const {
    const int n = p.n, H = p.H, lda = 2 * H + 4, tid = threadIdx.x;
    int group = tid / p.by_h, h = tid - group * H, groups = NT / p.by_h;
    if (group >= groups) return;
#pragma unroll 1
    for (int side = 0; side < 2; side++)
#pragma unroll 1
        for (int i0 = group; i0 < n; i0 += ROWS * groups) {
            float own[ROWS], total[ROWS] = {}, count[ROWS] = {};
#pragma unroll
            for (int u = 0; u < ROWS; u++) own[u] = ac[min(i0 + u * groups, n - 1) * lda + side * H + h];
#pragma unroll 2
            for (int j = 0; j < n; j++) {
                float other = ac[j * lda + (1 - side) * H + h];
#pragma unroll
                for (int u = 0; u < ROWS; u++) {
                    float x = relu(own[u] + other);
                    total[u] += x;
                    count[u] += x > 0 ? 1.0f : 0.0f;
                }
            }
#pragma unroll
            for (int u = 0; u < ROWS; u++) {
                int i = i0 + u * groups;
                if (i >= n) break;
                totals[i * 2 * H + side * H + h] = total[u];
                totals[(n + i) * 2 * H + side * H + h] = count[u];
            }
        }
}

/* One pass over the pairs, of which a warp has 16 hidden channels and every slices-th item: sums of w du
 * where h > 0, over j (into dac) and over i (into dc, [slices][n][H]), and G = sum h du, [slices][H][LG].
 * An mma has 8 pairs of an item; those of G take them in the order in which the mma of w du leaves its
 * results, so that each h is computed once. */
__device__ inline void narrow::pairs_back(const factor<4, false> (&w)[2], int tile, int slice, int slices,
                                          float *gs) const {
    enum { GROUPS = 3 };
    static_assert(GROUPS * 8 * GROUPS * 8 >= NT, "n items fit");
    const int n = p.n, H = p.H, lda = 2 * H + 4, lane = threadIdx.x & 31, g = lane / 4, t = lane % 4,
              h = tile * 16 + g;
    const float *ac = at(p.l.ac);
    float *dac = at(p.l.dac) + h, *dc = at(p.l.dc) + slice * n * H + h;
    float other[GROUPS][4], back[GROUPS][4] = {}, sum[2][4] = {};
#pragma unroll
    for (int i = 0; i < GROUPS * 4; i++) {
        int j = i / 4 * 8 + 2 * t + i % 2;
        other[i / 4][i % 4] = j < n ? ac[j * lda + H + h + i % 4 / 2 * 8] : -INFINITY; /* h = 0 there */
    }
#pragma unroll 1
    for (int i = slice; i < n; i += slices) {
        const float a[2] = {ac[i * lda + h], ac[i * lda + h + 8]};
        float own[2] = {};
        two_sums<2> of_g = {};
#pragma unroll
        for (int group = 0; group < GROUPS; group++) {
            if (group * 8 >= n) break;
            const float *row = at(p.l.du) + i * n * LD, *du = row + min(group * 8 + g, n - 1) * LD + t,
                        *first = row + min(group * 8 + 2 * t, n - 1) * LD + g,
                        *second = row + min(group * 8 + 2 * t + 1, n - 1) * LD + g;
            two_sums<1> of_w = {};
            factor<4, false> left;
            factor<2, false> right;
#pragma unroll
            for (int u = 0; u < 2; u++) {
                right.set(0, du[u * 8]);
                right.set(1, du[u * 8 + 4]);
                of_w.add(0, w[u], right);
            }
#pragma unroll
            for (int j = 0; j < 4; j++) {
                float x = relu(a[j / 2] + other[group][j]), v = x > 0 ? of_w.get(0, j) : 0.0f;
                own[j / 2] += v;
                back[group][j] += v;
                left.set(j % 2 * 2 + j / 2, x);
            }
#pragma unroll
            for (int u = 0; u < 2; u++) {
                right.set(0, first[u * 8]);
                right.set(1, second[u * 8]);
                of_g.add(u, left, right);
            }
        }
#pragma unroll
        for (int j = 0; j < 8; j++) sum[j / 4][j % 4] += of_g.get(j / 4, j % 4);
#pragma unroll
        for (int j = 0; j < 2; j++) {
            own[j] += __shfl_xor_sync(0xffffffff, own[j], 1);
            own[j] += __shfl_xor_sync(0xffffffff, own[j], 2);
            if (!t) dac[i * lda + j * 8] = own[j];
        }
    }
#pragma unroll
    for (int i = 0; i < GROUPS * 4; i++) {
        int j = i / 4 * 8 + 2 * t + i % 2;
        if (j < n) dc[j * H + i % 4 / 2 * 8] = back[i / 4][i % 4];
    }
    gs += (slice * H + h) * LG + 2 * t;
#pragma unroll
    for (int i = 0; i < 8; i++) gs[i % 4 / 2 * 8 * LG + i / 4 * 8 + i % 2] = sum[i / 4][i % 4];
}

/* Loads norm1 and the backward coefficients k0, k1 of norm2, which an earlier kernel computed; norm1's e is
 * not needed. */
__device__ __forceinline__ void narrow::load_norms_back(int k) {
    const encoder_block &e = p.enc[k];
    norms norm = norm1(k);
    for (int i = threadIdx.x; i < p.H; i += NT) {
        norm.g[i] = e.norm1.g[i];
        norm.e[i] = 0;
        norm.mean[i] = e.norm1.mean[i];
        norm.inv[i] = e.norm1.inv[i];
    }
    for (int i = threadIdx.x; i < WIDE; i += NT) {
        at(p.l.slopes)[i] = e.k0[i];
        at(p.l.slopes)[WIDE + i] = e.k1[i];
    }
    __syncthreads();
}

/* Computes du from u and gd, and loads ac. Adds the thread's sums of du to `own`: of channels tid % 4 * 4 and
 * the next three. */
__device__ __forceinline__ void narrow::make_du(int k, double (&own)[4]) {
    const encoder_block &e = p.enc[k];
    const int n = p.n, H = p.H, lda = 2 * H + 4, tid = threadIdx.x, quad = tid % 4 * 4;
    float *ac = at(p.l.ac), *du = at(p.l.du);
    float4 k0 = load4(at(p.l.slopes) + quad), k1 = load4(at(p.l.slopes) + WIDE + quad);
    const float *gd = load ? p.step.gd + row0() * WIDE : at(p.l.added);
#pragma unroll 1
    for (int i = tid; i < n * (H / 2); i += NT) {
        int row = i / p.by_half, c = (i - row * (H / 2)) * 4;
        async_copy(ac + row * lda + c, e.ac + (row0() + row) * 2 * H + c);
    }
    async_commit();
#pragma unroll 2
    for (int i = tid; i < n * n * 4; i += NT) {
        int cell = i / 4, row = cell / p.by_n, j = cell - row * n;
        float4 u = load4(e.u + (row0() * n + cell) * WIDE + quad), d = load4(gd + row * WIDE + quad);
        int4 arg = *(const int4 *)(e.arg + (row0() + row) * WIDE + quad);
        bool other = row != j;
        if (pool_sums(p.net.pool) ? !other : arg.x != j) d.x = 0;
        if (pool_sums(p.net.pool) ? !other : arg.y != j) d.y = 0;
        if (pool_sums(p.net.pool) ? !other : arg.z != j) d.z = 0;
        if (pool_sums(p.net.pool) ? !other : arg.w != j) d.w = 0;
        d.x = u.x > 0 ? d.x - k0.x - k1.x * u.x : 0.0f;
        d.y = u.y > 0 ? d.y - k0.y - k1.y * u.y : 0.0f;
        d.z = u.z > 0 ? d.z - k0.z - k1.z * u.z : 0.0f;
        d.w = u.w > 0 ? d.w - k0.w - k1.w * u.w : 0.0f;
        store4(du + cell * LD + quad, d);
        own[0] += (double)d.x;
        own[1] += (double)d.y;
        own[2] += (double)d.z;
        own[3] += (double)d.w;
    }
    async_wait<0>();
    __syncthreads();
}

/* Adds up the slices of pairs_back (the c half of dac, G), and writes what is to be summed over all thread
 * blocks to `mine`: sum_o w G [H], then sum du [16]. */
__device__ __forceinline__ void narrow::add_slices(int k, int slices, float *gs, const double (&own)[4]) {
    const encoder_block &e = p.enc[k];
    const int n = p.n, H = p.H, lda = 2 * H + 4, tid = threadIdx.x, quad = tid % 4 * 4;
    float *dac = at(p.l.dac), *dc = at(p.l.dc);
    double *red = doubles(p.l.red), *mine = doubles(p.l.mine);
#pragma unroll
    for (int q = 0; q < 4; q++) {
        double v = own[q];
        for (int s = 4; s < 32; s *= 2) v += __shfl_xor_sync(0xffffffff, v, s);
        if ((tid & 31) < 4) red[(tid >> 5) * WIDE + quad + q] = v;
    }
    __syncthreads();
#pragma unroll 1
    for (int i = tid; i < n * H; i += NT) {
        float add = 0;
#pragma unroll 4
        for (int z = 0; z < slices; z++) add += dc[z * n * H + i];
        int row = i / p.by_h;
        dac[row * lda + H + i - row * H] = add;
    }
#pragma unroll 1
    for (int i = tid; i < H * WIDE; i += NT) {
        int at_h = i / WIDE, o = i % WIDE;
        float add = 0;
#pragma unroll 4
        for (int z = 0; z < slices; z++) add += gs[(z * H + at_h) * LG + o];
        gs[at_h * LG + o] = add; /* no other thread reads it before the barrier */
        e.g[(size_t)blockIdx.x * H * WIDE + i] = add;
    }
    if (tid < WIDE) {
        double add = 0;
        for (int z = 0; z < NT / 32; z++) add += red[z * WIDE + tid];
        mine[H + tid] = add;
    }
    __syncthreads();
    if (tid < H) {
        double add = 0;
        if (tid < p.net.hidden)
#pragma unroll
            for (int o = 0; o < WIDE; o++)
                if (o < p.net.encoder_out)
                    add += (double)p.weights.theta[p.enc_at[k].weight2 + (size_t)o * p.net.hidden + tid] *
                           (double)gs[tid * LG + o];
        mine[tid] = add;
    }
    __syncthreads();
}

/* Computes the backward coefficients c0 and c1 of norm1 and the gradients of norm1 and b2 from the sums over
 * all thread blocks. */
__device__ __forceinline__ void narrow::make_slopes1(int k, float *c0, float *c1) {
    const encoder_block &e = p.enc[k];
    const int H = p.H, tid = threadIdx.x;
    const double *total = doubles(p.l.total);
    norms norm = norm1(k);
    if (tid < p.net.hidden) {
        double dy = 0;
#pragma unroll
        for (int o = 0; o < WIDE; o++)
            if (o < p.net.encoder_out)
                dy += (double)p.weights.theta[p.enc_at[k].weight2 + (size_t)o * p.net.hidden + tid] *
                      total[H + o];
        make_slopes(norm, p.enc_at[k].norm1, tid, dy,
                    (total[tid] - (double)norm.mean[tid] * dy) * (double)norm.inv[tid], c0, c1, e.c0, e.c1);
    } else if (tid < H)
        c0[tid] = c1[tid] = 0;
    if (blockIdx.x == 0 && tid < p.net.encoder_out)
        p.weights.grad[p.enc_at[k].bias2 + tid] = (float)total[H + tid];
    __syncthreads();
}

/* dac = sum - c0*count - c1*total (tally's), in shared memory and in device memory. */
__device__ __forceinline__ void narrow::correct_dac(int k, const float *c0, const float *c1,
                                                    const float *totals) {
    const encoder_block &e = p.enc[k];
    const int n = p.n, H = p.H, lda = 2 * H + 4;
    float *dac = at(p.l.dac);
#pragma unroll 1
    for (int i = threadIdx.x; i < n * 2 * H; i += NT) {
        int row = i / p.by_2h, c = i - row * 2 * H, ch = c < H ? c : c - H;
        float v = dac[row * lda + c] - c0[ch] * totals[n * 2 * H + i] - c1[ch] * totals[i];
        dac[row * lda + c] = v;
        e.dac[row0() * 2 * H + i] = v;
    }
    __syncthreads();
}

/* Adds dac times W1 to dx, the gradient of the features that block k saw. */
__device__ __forceinline__ void narrow::add_dx(int k) {
    product(at(p.l.dac), 2 * p.H + 4, p.own.w1_back[k], p.H / 8, (p.enc_at[k].in + 7) / 8, p.n,
            at(p.l.product), p.l.product_room, [&](int row, int c, float4 v) {
                float4 *to = (float4 *)(at(p.l.dx) + row * p.lx + c), add = *to;
                v = make_float4(v.x + add.x, v.y + add.y, v.z + add.z, v.w + add.w);
                *to = v;
                float *out = p.step.dx + (row0() + row) * p.ldx + c;
                if (c < p.enc_at[k].in) out[0] = v.x;
                if (c + 1 < p.enc_at[k].in) out[1] = v.y;
                if (c + 2 < p.enc_at[k].in) out[2] = v.z;
                if (c + 3 < p.enc_at[k].in) out[3] = v.w;
            });
}

/* Backward pass of block k: du from u, then the pass over the pairs; after the sums over all thread blocks
 * dac, the gradient of the features, and the backward pass of the pool before. */
__device__ inline void narrow::encoder_back(int k) {
    const int n = p.n, H = p.H, tid = threadIdx.x, tiles = H / 16, slices = WARPS / tiles;
    const int slice = tid / 32 / tiles, tile = tid / 32 - slice * tiles;
    float *dc = at(p.l.dc), *gs = dc + slices * n * H;
    if (p.first == phase_encoder_back(p, k)) load_norms_back(k);
    fold_weights(k); /* the bias is not needed here */
    factor<4, false> w[2];
    const float *folded = at(p.l.w) + (min(tile, tiles - 1) * 16 + tid % 32 / 4) * LD + tid % 4;
#pragma unroll
    for (int i = 0; i < 8; i++) w[i / 4].set(i % 4, folded[i % 2 * 8 * LD + i / 4 * 8 + i % 4 / 2 * 4]);
    __syncthreads(); /* it is overwritten from here on */
    double own[4] = {};
    make_du(k, own);
    if (slice < slices) pairs_back(w, tile, slice, slices, gs);
    add_slices(k, slices, gs, own);
    send_many(H + WIDE);
    tally(at(p.l.ac), dc);
    receive_sent(H + WIDE);
    float *c0 = at(p.l.fold1), *c1 = at(p.l.mine);
    make_slopes1(k, c0, c1);
    if (load) {
        load_set(p.D);
        for (int i = tid; i < n * p.lx; i += NT) {
            int row = i / p.by_lx, c = i - row * p.lx;
            at(p.l.dx)[i] = c < p.D ? p.step.dx[(row0() + row) * p.ldx + c] : 0.0f;
        }
    }
    correct_dac(k, c0, c1, dc);
    if (k || p.given.train_vectors) add_dx(k);
    if (!k) return;
    double dy = 0, dy_xhat = 0;
    pool_back(k - 1, dy, dy_xhat);
    finish_pool_back(k - 1, dy, dy_xhat);
}

#endif
