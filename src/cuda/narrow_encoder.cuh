/* The encoder's phases of a narrow net; the algebra is that of kernels/cpu_encoder.c and encoder.cu. */
#ifndef CUDA_NARROW_ENCODER_CUH
#define CUDA_NARROW_ENCODER_CUH

#include "narrow.cuh"

/* The set's items and order, from the data. */
__device__ inline void narrow::take_set() {
    const int n = p.n, d = p.d, lx = p.lx, tid = threadIdx.x;
    size_t from = p.starts[p.index[blockIdx.x]], row = row0();
    float *x = at(p.l.x);
#pragma unroll 1
    for (int i = tid; i < n; i += NT) {
        int item = p.order_all[from + i];
        order()[i] = p.order[row + i] = item;
        pos()[item] = p.pos[row + item] = i;
    }
#pragma unroll 1
    for (int i = tid; i < (n + 1) * lx; i += NT) {
        int item = i / p.by_lx, c = i - item * lx;
        float v = 0;
        if (item == n && c < p.D) v = p.theta[p.start + c];
        if (item < n && c < d) {
            v = p.word ? p.vectors[(size_t)p.word[from + item] * d + c] : p.items[(from + item) * d + c];
            v = (v - p.feature_mean[c]) * p.feature_scale[c];
            p.x[(row + item) * p.ldx + c] = v;
        }
        x[i] = v;
    }
    __syncthreads();
}

/* What a kernel before has left: features up to `columns`, and the order. */
__device__ inline void narrow::load_set(int columns) {
    const int n = p.n, lx = p.lx, tid = threadIdx.x;
    size_t row = row0();
    float *x = at(p.l.x);
#pragma unroll 1
    for (int i = tid; i < n; i += NT) {
        order()[i] = p.order[row + i];
        pos()[i] = p.pos[row + i];
    }
#pragma unroll 1
    for (int i = tid; i < (n + 1) * lx; i += NT) {
        int item = i / p.by_lx, c = i - item * lx;
        float v = 0;
        if (item == n && c < p.D) v = p.theta[p.start + c];
        if (item < n && c < columns) v = p.x[(row + item) * p.ldx + c];
        x[i] = v;
    }
    __syncthreads();
}

/* The features that block k adds: its pool, normed. */
__device__ inline void narrow::pooled_features(int k) {
    const narrow_encoder &e = p.enc[k];
    const int n = p.n, tid = threadIdx.x;
    const float *best = at(p.l.added);
    norms norm = norm2(k);
#pragma unroll 1
    for (int i = tid; i < n * WIDE; i += NT) {
        int item = i / WIDE, o = i % WIDE;
        if (o >= p.out) continue;
        size_t row = row0() + item;
        float v = load ? e.best[row * WIDE + o] : best[i], y;
        if (p.mean)
            y = (norm.g[o] * v + (float)(n - 1) * norm.e[o]) / (float)n;
        else
            y = n > 1 ? relu(norm.g[o] * v + norm.e[o]) : 0.0f;
        at(p.l.x)[item * p.lx + e.in + o] = y;
        p.x[row * p.ldx + e.in + o] = y;
    }
    __syncthreads();
}

/* a and c, and the sums of h = relu(a_i + c_j) for norm1. */
__device__ inline void narrow::encoder_rows(int k) {
    const narrow_encoder &e = p.enc[k];
    const int n = p.n, H = p.H, lda = 2 * H + 4, tid = threadIdx.x;
    int group = tid / p.by_h, h = tid - group * H, groups = NT / p.by_h;
    float *ac = at(p.l.ac);
    const float *bias = e.w1 + (size_t)e.in4 * 2 * H;
    double sum = 0, square = 0;
    if (load) load_set(k ? p.enc[k - 1].in : e.in);
    if (k) pooled_features(k - 1);
    product(at(p.l.x), p.lx, e.w1, e.in4, 2 * H, n, at(p.l.product), p.l.product_room,
            [&](int row, int c, float4 v) {
                float4 add = __ldg((const float4 *)(bias + c));
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
    unsigned tag = ++epoch;
    send_many(p.exchange, tag, mine, 2 * H);
    receive_many(p.exchange, tag, doubles(p.l.total), 2 * H);
    make_norm(norm1(k), e.norm1, e.at1, p.hidden, H);
}

/* w [H][16], bias [16]: W2 and b2 with norm1 in them, one output a warp. */
__device__ inline void narrow::fold_weights(int k) {
    const narrow_encoder &e = p.enc[k];
    const int H = p.H, lane = threadIdx.x & 31, o = threadIdx.x >> 5;
    static_assert(NT / 32 == WIDE, "a warp an output");
    norms norm = norm1(k);
    const float *from = p.theta + e.weight2 + (size_t)min(o, p.out - 1) * p.hidden;
    float add = 0;
#pragma unroll 4
    for (int h = lane; h < H; h += 32) {
        float v = from[min(h, p.hidden - 1)];
        if (o >= p.out || h >= p.hidden) v = 0;
        add += v * norm.e[h];
        at(p.l.w)[h * LD + o] = v * norm.g[h];
    }
    for (int s = 16; s; s /= 2) add += __shfl_xor_sync(0xffffffff, add, s);
    if (!lane) at(p.l.small)[o] = o < p.out ? add + p.theta[e.bias2 + o] : 0.0f;
    __syncthreads();
}

/* u = relu(W2 norm1(h) + b2), CT cells and OT channels a thread; h is made as it is needed. */
template <int CT, int OT> __device__ inline void narrow::pairs_of(int k) {
    const narrow_encoder &e = p.enc[k];
    const int n = p.n, H = p.H, lda = 2 * H + 4, count = n * n, groups = WIDE / OT, slots = NT / groups,
              og = threadIdx.x % groups * OT, slot = threadIdx.x / groups;
    const float *ac = at(p.l.ac), *w = at(p.l.w) + og, *bias = at(p.l.small) + og;
    float *us = at(p.l.u);
    float acc[CT][OT] = {};
    const float *a_at[CT], *c_at[CT];
#pragma unroll
    for (int x = 0; x < CT; x++) {
        int q = slot + x * slots, i = q / p.by_n, j = q - i * n;
        if (q >= count) i = j = 0;
        a_at[x] = ac + i * lda;
        c_at[x] = ac + j * lda + H;
    }
#pragma unroll 2
    for (int c = 0; slot < count && c < H; c += 4) {
        float h[CT][4];
#pragma unroll
        for (int x = 0; x < CT; x++) {
            float4 a = load4(a_at[x] + c), o = load4(c_at[x] + c);
            h[x][0] = relu(a.x + o.x);
            h[x][1] = relu(a.y + o.y);
            h[x][2] = relu(a.z + o.z);
            h[x][3] = relu(a.w + o.w);
        }
#pragma unroll
        for (int j = 0; j < 4; j++) {
            float v[OT];
#pragma unroll
            for (int o = 0; o < OT; o += 4) *(float4 *)&v[o] = load4(w + (c + j) * LD + o);
#pragma unroll
            for (int x = 0; x < CT; x++)
#pragma unroll
                for (int o = 0; o < OT; o++) acc[x][o] += h[x][j] * v[o];
        }
    }
#pragma unroll
    for (int x = 0; x < CT; x++) {
        int q = slot + x * slots;
        if (q >= count) continue;
#pragma unroll
        for (int o = 0; o < OT; o += 4) {
            float4 v = make_float4(relu(acc[x][o] + bias[o]), relu(acc[x][o + 1] + bias[o + 1]),
                                   relu(acc[x][o + 2] + bias[o + 2]), relu(acc[x][o + 3] + bias[o + 3]));
            store4(us + q * LD + og + o, v);
            store4(e.u + (row0() * n + q) * WIDE + og + o, v);
        }
    }
}

__device__ inline void narrow::encoder_pairs(int k) {
    const narrow_encoder &e = p.enc[k];
    const int n = p.n, H = p.H, lda = 2 * H + 4, tid = threadIdx.x;
    norms norm = norm1(k);
    float *us = at(p.l.u), *best_at = at(p.l.added);
    if (p.first == phase_encoder(k) + 1) { /* by a kernel before this one */
        for (int h = tid; h < H; h += NT) {
            norm.g[h] = e.norm1.g[h];
            norm.e[h] = e.norm1.e[h];
        }
        __syncthreads();
    }
    fold_weights(k);
    double sum = 0, square = 0;
    int o = tid % WIDE;
    float sign = o < p.out && p.theta[e.at2.gamma + o] < 0 ? -1.0f : 1.0f;
    if (load) {
        for (int i = tid; i < n * (H / 2); i += NT) {
            int row = i / p.by_half, c = (i - row * (H / 2)) * 4;
            store4(at(p.l.ac) + row * lda + c, load4(e.ac + (row0() + row) * 2 * H + c));
        }
        __syncthreads();
    }
    if (n * n <= NT / 4)
        pairs_of<1, 4>(k);
    else if (n * n <= NT / 2)
        pairs_of<1, 8>(k);
    else
        pairs_of<2, 8>(k);
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
            if (p.mean)
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
    gather(sum, square);
    __syncthreads();
    unsigned tag = ++epoch;
    send_few(p.exchange, tag, doubles(p.l.mine));
    receive_few(p.exchange, tag, doubles(p.l.total), doubles(p.l.red));
    make_norm(norm2(k), e.norm2, e.at2, p.out, WIDE);
}

/* From the gradient of the features to that of the pool's best: gd, and the sums of norm2's way back. */
__device__ inline void narrow::pool_back(int k, double &dy, double &dy_xhat) {
    const narrow_encoder &e = p.enc[k];
    const int n = p.n, o = threadIdx.x % WIDE;
    norms norm = norm2(k);
    float *gd = at(p.l.added);
#pragma unroll 1
    for (int i = threadIdx.x / WIDE; i < n; i += NT / WIDE) {
        size_t to = (row0() + i) * WIDE + o;
        float dz = 0;
        if (o < p.out) {
            float d = at(p.l.dx)[i * p.lx + e.in + o], best = e.best[to], mean = norm.mean[o],
                  inv = norm.inv[o];
            if (p.mean) {
                dz = d / (float)n;
                dy += (double)dz * (n - 1);
                dy_xhat += (double)(dz * inv) * (double)(best - (float)(n - 1) * mean);
            } else {
                dz = at(p.l.x)[i * p.lx + e.in + o] > 0 ? d : 0.0f;
                dy += (double)dz;
                dy_xhat += (double)dz * (double)((best - mean) * inv);
            }
        }
        gd[i * WIDE + o] = norm.g[o] * dz;
        if (p.keep) p.gd[to] = norm.g[o] * dz;
    }
    __syncthreads();
}

__device__ inline void narrow::finish_pool_back(int k, double dy, double dy_xhat) {
    const narrow_encoder &e = p.enc[k];
    gather(dy, dy_xhat);
    __syncthreads();
    unsigned tag = ++epoch;
    send_few(p.exchange, tag, doubles(p.l.mine));
    receive_few(p.exchange, tag, doubles(p.l.total), doubles(p.l.red));
    const double *total = doubles(p.l.total);
    int c = threadIdx.x;
    float *k0 = at(p.l.slopes);
    if (c < p.out)
        make_slopes(norm2(k), e.at2, c, total[c], total[WIDE + c], k0, k0 + WIDE, e.k0, e.k1);
    else if (c < WIDE)
        k0[c] = k0[WIDE + c] = 0;
    __syncthreads();
}

/* totals [2][n][2H]: of h over the other item, and how many h > 0, for a and for c. */
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

/* du from u; then in one pass over the pairs G = sum h du and, where h > 0, sum_o w du for a and c. When all
 * blocks have met: dac, and the gradient of the features. A thread has two channels of h and every slices-th
 * item. */
__device__ inline void narrow::encoder_back(int k) {
    const narrow_encoder &e = p.enc[k];
    const int n = p.n, H = p.H, lda = 2 * H + 4, tid = threadIdx.x, slices = NT / p.by_half;
    const int slice = tid / p.by_half, h = (tid - slice * (H / 2)) * 2;
    float *ac = at(p.l.ac), *du = at(p.l.du), *dac = at(p.l.dac), *dc = at(p.l.dc);
    norms norm = norm1(k);
    if (p.first == phase_encoder_back(p, k)) { /* by a kernel before this one */
        for (int i = tid; i < H; i += NT) {
            norm.g[i] = e.norm1.g[i];
            norm.e[i] = 0;
            norm.mean[i] = e.norm1.mean[i];
            norm.inv[i] = e.norm1.inv[i];
        }
        for (int i = tid; i < WIDE; i += NT) {
            at(p.l.slopes)[i] = e.k0[i];
            at(p.l.slopes)[WIDE + i] = e.k1[i];
        }
        __syncthreads();
    }
    fold_weights(k); /* the bias is not needed here */
    float w[2][WIDE], g[2][WIDE];
    const float *folded = at(p.l.w) + min(h, H - 2) * LD;
#pragma unroll
    for (int i = 0; i < 2 * WIDE; i += 4) {
        *(float4 *)&w[i / WIDE][i % WIDE] = load4(folded + i / WIDE * LD + i % WIDE);
        *(float4 *)&g[i / WIDE][i % WIDE] = make_float4(0, 0, 0, 0);
    }
    __syncthreads(); /* other things take its place */
    double own[4] = {};
    int quad = tid % 4 * 4;
    float4 k0 = load4(at(p.l.slopes) + quad), k1 = load4(at(p.l.slopes) + WIDE + quad);
    const float *gd = load ? p.gd + row0() * WIDE : at(p.l.added);
#pragma unroll 1
    for (int i = tid; i < n * (H / 2); i += NT) {
        int row = i / p.by_half, c = (i - row * (H / 2)) * 4;
        async_copy(ac + row * lda + c, e.ac + (row0() + row) * 2 * H + c);
    }
    async_commit();
#pragma unroll 1
    for (int i = tid; i < slices * n * H / 4; i += NT) store4(dc + i * 4, make_float4(0, 0, 0, 0));
#pragma unroll 2
    for (int i = tid; i < n * n * 4; i += NT) {
        int cell = i / 4, row = cell / p.by_n, j = cell - row * n;
        float4 u = load4(e.u + (row0() * n + cell) * WIDE + quad), d = load4(gd + row * WIDE + quad);
        int4 arg = *(const int4 *)(e.arg + (row0() + row) * WIDE + quad);
        bool other = row != j;
        if (p.mean ? !other : arg.x != j) d.x = 0;
        if (p.mean ? !other : arg.y != j) d.y = 0;
        if (p.mean ? !other : arg.z != j) d.z = 0;
        if (p.mean ? !other : arg.w != j) d.w = 0;
        d.x = u.x > 0 ? d.x - k0.x - k1.x * u.x : 0.0f;
        d.y = u.y > 0 ? d.y - k0.y - k1.y * u.y : 0.0f;
        d.z = u.z > 0 ? d.z - k0.z - k1.z * u.z : 0.0f;
        d.w = u.w > 0 ? d.w - k0.w - k1.w * u.w : 0.0f;
        store4(du + cell * WIDE + quad, d);
        own[0] += (double)d.x;
        own[1] += (double)d.y;
        own[2] += (double)d.z;
        own[3] += (double)d.w;
    }
    async_wait<0>();
    __syncthreads();
    if (slice < slices)
#pragma unroll 1
        for (int i = slice; i < n; i += slices) {
            float2 a = *(const float2 *)(ac + i * lda + h);
            const float *other = ac + H + h, *d = du + i * n * WIDE;
            float *dcs = dc + slice * n * H + h, da0 = 0, da1 = 0;
#pragma unroll 1
            for (int j = 0; j < n; j++) {
                float2 c = *(const float2 *)(other + j * lda);
                float2 back = pair_back(w, g, relu(a.x + c.x), relu(a.y + c.y), d + j * WIDE);
                da0 += back.x;
                da1 += back.y;
                float2 *to = (float2 *)(dcs + j * H), old = *to;
                *to = make_float2(old.x + back.x, old.y + back.y);
            }
            *(float2 *)(dac + i * lda + h) = make_float2(da0, da1);
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
    __syncthreads();
    /* G over the slices, in place of dc; sum_o w G; sum du. */
    enum { LG = WIDE + 1 };
    double *red = doubles(p.l.red), *mine = doubles(p.l.mine);
#pragma unroll
    for (int q = 0; q < 4; q++) {
        double v = own[q];
        for (int s = 4; s < 32; s *= 2) v += __shfl_xor_sync(0xffffffff, v, s);
        if ((tid & 31) < 4) red[(tid >> 5) * WIDE + quad + q] = v;
    }
    if (slice < slices)
#pragma unroll
        for (int c = 0; c < 2; c++)
#pragma unroll
            for (int o = 0; o < WIDE; o++) dc[(slice * H + h + c) * LG + o] = g[c][o];
    __syncthreads();
#pragma unroll 1
    for (int i = tid; i < H * WIDE; i += NT) {
        int at_h = i / WIDE, o = i % WIDE;
        float add = 0;
#pragma unroll 4
        for (int z = 0; z < slices; z++) add += dc[(z * H + at_h) * LG + o];
        dc[at_h * LG + o] = add; /* no other thread reads it before the barrier */
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
        if (tid < p.hidden)
#pragma unroll
            for (int o = 0; o < WIDE; o++)
                if (o < p.out)
                    add += (double)p.theta[e.weight2 + (size_t)o * p.hidden + tid] * (double)dc[tid * LG + o];
        mine[tid] = add;
    }
    __syncthreads();
    unsigned tag = ++epoch;
    send_many(p.exchange, tag, mine, H + WIDE);
    tally(ac, dc);
    double *total = doubles(p.l.total);
    receive_many(p.exchange, tag, total, H + WIDE);
    float *c0 = at(p.l.fold1), *c1 = (float *)mine;
    if (tid < p.hidden) {
        double dy = 0;
#pragma unroll
        for (int o = 0; o < WIDE; o++)
            if (o < p.out) dy += (double)p.theta[e.weight2 + (size_t)o * p.hidden + tid] * total[H + o];
        make_slopes(norm, e.at1, tid, dy, (total[tid] - (double)norm.mean[tid] * dy) * (double)norm.inv[tid],
                    c0, c1, e.c0, e.c1);
    } else if (tid < H)
        c0[tid] = c1[tid] = 0;
    if (blockIdx.x == 0 && tid < p.out) p.grad[e.bias2 + tid] = (float)total[H + tid];
    __syncthreads();
    double dy = 0, dy_xhat = 0;
    if (load) {
        load_set(p.D);
        for (int i = tid; i < n * p.lx; i += NT) {
            int row = i / p.by_lx, c = i - row * p.lx;
            at(p.l.dx)[i] = c < p.D ? p.dx[(row0() + row) * p.ldx + c] : 0.0f;
        }
    }
#pragma unroll 1
    for (int i = tid; i < n * 2 * H; i += NT) {
        int row = i / p.by_2h, c = i - row * 2 * H, ch = c < H ? c : c - H;
        float v = dac[row * lda + c] - c0[ch] * dc[n * 2 * H + i] - c1[ch] * dc[i];
        dac[row * lda + c] = v;
        e.dac[row0() * 2 * H + i] = v;
    }
    __syncthreads();
    if (k || p.train_vectors)
        product(dac, lda, e.w1_back, 2 * H, e.in4, n, at(p.l.product), p.l.product_room,
                [&](int row, int c, float4 v) {
                    float4 *to = (float4 *)(at(p.l.dx) + row * p.lx + c), add = *to;
                    v = make_float4(v.x + add.x, v.y + add.y, v.z + add.z, v.w + add.w);
                    *to = v;
                    float *out = p.dx + (row0() + row) * p.ldx + c;
                    if (c < e.in) out[0] = v.x;
                    if (c + 1 < e.in) out[1] = v.y;
                    if (c + 2 < e.in) out[2] = v.z;
                    if (c + 3 < e.in) out[3] = v.w;
                });
    if (!k) return;
    pool_back(k - 1, dy, dy_xhat);
    finish_pool_back(k - 1, dy, dy_xhat);
}

#endif
