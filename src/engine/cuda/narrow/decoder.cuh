/* Computes the decoder, the output layer and the loss, forward and backward, in the one-kernel training step
 * of narrow nets: member functions of struct narrow (narrow.cuh). The algebra is that of
 * kernels/cpu_decoder.c and layers/decoder.cu, the notation (x', y', q, cells, lags, dpre) that of
 * base/gpu.cuh. */
#ifndef CUDA_NARROW_DECODER_CUH
#define CUDA_NARROW_DECODER_CUH

#include "engine/cuda/narrow/narrow.cuh"

__device__ static inline int narrow_pair(int m, int b) {
    return m * (m - 1) / 2 + b;
}

/* Loads the cells of block m, r or, with `back`, dpre = r > 0 ? g dv - k0 - k1 r : 0. */
__device__ inline void narrow::load_plane(int m, bool back) {
    const int count = p.n * p.n;
    size_t from = ((size_t)m * p.B + blockIdx.x) * count * WIDE;
    const float *r = p.step.r + from, *dv = p.step.dv + from;
    const float *g = dec(m).g, *k0 = slope0(m), *k1 = slope1(m);
#pragma unroll 1
    for (int i = threadIdx.x; i < count * WIDE; i += NT) {
        int c = i % WIDE;
        float v = r[i];
        if (back) v = v > 0 ? g[c] * dv[i] - k0[c] - k1[c] * v : 0.0f;
        plane(m)[i / WIDE * LD + c] = v;
    }
}

/* Loads the pools of block m, normed, or, with `back`, the sums of dpre over the items. */
__device__ inline void narrow::load_steps(int m, bool back) {
    size_t from = ((size_t)m * p.B + blockIdx.x) * p.n * WIDE;
    float *to = at(back ? p.l.dsteps : p.l.pools) + m * p.n * WIDE;
#pragma unroll 1
    for (int i = threadIdx.x; i < p.n * WIDE; i += NT) {
        int c = i % WIDE;
        to[i] = back ? dec(m).g[c] * p.step.step_dv[from + i] - slope0(m)[c] * p.step.step_count[from + i] -
                           slope1(m)[c] * p.step.step_r[from + i]
                     : dec(m).g[c] * p.step.praw[from + i] + dec(m).e[c];
    }
}

/* Computes q for the items and the start vector. */
__device__ inline void narrow::decoder_rows() {
    const int n = p.n;
    bool first = blockIdx.x == 0;
    if (load) load_set(p.enc_at[p.M - 1].in);
    pooled_features(p.M - 1);
    product(at(p.l.x), p.lx, p.own.rows_t, (p.D + 15) / 16, p.Q / 8, n + 1, at(p.l.product), p.l.product_room,
            [&](int row, int c, float4 v) {
                if (row < n)
                    store4(p.step.q + (row0() + row) * p.Q + c, v);
                else {
                    store4(at(p.l.start_q) + c, v);
                    if (first) store4(p.step.q + (size_t)p.B * n * p.Q + c, v);
                }
            });
}

/* Computes the sums of the cells of block m over other blocks: forward, of r before its ReLU over the earlier
 * blocks; backward, of dv over the later ones. finish_cells adds the rest. */
template <int CT, int OT, bool BACK> __device__ inline void narrow::cells_of(int m) {
    const int n = p.n, count = n * n, groups = WIDE / OT, slots = NT / groups, og = threadIdx.x % groups * OT,
              slot = threadIdx.x / groups, first = BACK ? m + 1 : 0, last = BACK ? p.N : m;
    float acc[CT][OT] = {};
    int t_of[CT], i_of[CT];
#pragma unroll
    for (int x = 0; x < CT; x++) {
        int q = slot + x * slots;
        if (q >= count) q = 0;
        t_of[x] = q / p.by_n;
        i_of[x] = q - t_of[x] * n;
    }
#pragma unroll 1
    for (int other = first; slot < count && other < last; other++) {
        const float *w = at(p.l.weights) + (other - first) * 2 * SQUARE + og, *rows = plane(other);
#pragma unroll 1
        for (int lag = 0; lag < 3; lag++, w += WIDE * WIDE) {
            const float *from[CT];
#pragma unroll
            for (int x = 0; x < CT; x++) {
                int t = t_of[x] + (BACK ? lag : -lag);
                from[x] = t >= 0 && t < n ? rows + (t * n + i_of[x]) * LD : at(p.l.zero);
            }
#pragma unroll
            for (int c = 0; c < WIDE; c += 4) {
                float4 a[CT];
#pragma unroll
                for (int x = 0; x < CT; x++) a[x] = load4(from[x] + c);
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    float v[OT];
#pragma unroll
                    for (int o = 0; o < OT; o += 4) *(float4 *)&v[o] = load4(w + (c + j) * WIDE + o);
#pragma unroll
                    for (int x = 0; x < CT; x++) {
                        float k = j == 0 ? a[x].x : j == 1 ? a[x].y : j == 2 ? a[x].z : a[x].w;
#pragma unroll
                        for (int o = 0; o < OT; o++) acc[x][o] += k * v[o];
                    }
                }
            }
        }
    }
    float *to = BACK ? at(p.l.extra) : plane(m);
#pragma unroll
    for (int x = 0; x < CT; x++)
        if (slot + x * slots < count)
#pragma unroll
            for (int o = 0; o < OT; o += 4)
                store4(to + (slot + x * slots) * LD + og + o,
                       make_float4(acc[x][o], acc[x][o + 1], acc[x][o + 2], acc[x][o + 3]));
}

/* Finishes each cell: forward, adds the parts of q and of the pools and applies the ReLU; backward, adds the
 * gradients by the logit and, for the item that the pool took, by the pool. */
template <bool BACK> __device__ inline void narrow::finish_cells(int m) {
    const int n = p.n, count = n * n, c = threadIdx.x % 4 * 4;
    const float *added = at(p.l.added) + c, *rows = at(p.l.extra) + c,
                *start = at(p.l.start_q) + m * 6 * WIDE + c;
    float *to = BACK ? at(p.l.extra) : plane(m), head[4];
    if (BACK)
#pragma unroll
        for (int j = 0; j < 4; j++)
            head[j] = c + j < p.net.decoder_out
                          ? p.weights.theta[p.head + 2 * p.D + 2 * p.net.decoder_out * m + c + j]
                          : 0.0f;
#pragma unroll 1
    for (int q = threadIdx.x / 4; q < count; q += NT / 4) {
        int t = q / p.by_n, i = q - t * n;
        float4 a0 = load4(added + t * WIDE), a1 = load4(added + (n + t) * WIDE),
               a2 = load4(added + (2 * n + t) * WIDE), v = load4(to + q * LD + c);
        float4 more =
            make_float4(a0.x + a1.x + a2.x, a0.y + a1.y + a2.y, a0.z + a1.z + a2.z, a0.w + a1.w + a2.w);
        if (BACK) {
            int4 taken = *(const int4 *)(at(p.l.taken) + (m * n + t) * WIDE + c);
            float d = at(p.l.dlogit)[q];
            v.x += head[0] * d + (taken.x == i ? more.x : 0.0f);
            v.y += head[1] * d + (taken.y == i ? more.y : 0.0f);
            v.z += head[2] * d + (taken.z == i ? more.z : 0.0f);
            v.w += head[3] * d + (taken.w == i ? more.w : 0.0f);
        } else {
            int placed = pos()[i];
            v = make_float4(v.x + more.x, v.y + more.y, v.z + more.z, v.w + more.w);
#pragma unroll
            for (int lag = 0; lag < 3; lag++) {
                if (t < lag || t - lag > placed) continue;
                float4 fx = load4(rows + (i * 6 + lag) * WIDE),
                       fy = load4((t > lag ? rows + order()[t - lag - 1] * 6 * WIDE : start) +
                                  (3 + lag) * WIDE);
                v = make_float4(v.x + (fx.x + fy.x), v.y + (fx.y + fy.y), v.z + (fx.z + fy.z),
                                v.w + (fx.w + fy.w));
            }
            v = make_float4(relu(v.x), relu(v.y), relu(v.z), relu(v.w));
        }
        store4(to + q * LD + c, v);
        if (p.keep)
            store4((BACK ? p.step.dv : p.step.r) + (((size_t)m * p.B + blockIdx.x) * count + q) * WIDE + c,
                   v);
    }
    __syncthreads();
}

/* Computes what the pools add to each step, [3][n][16]; then the cells of block m. */
template <bool BACK> __device__ inline void narrow::cells(int m) {
    const int n = p.n, first = BACK ? m + 1 : 0, last = BACK ? p.N : m;
#pragma unroll 1
    for (int i = threadIdx.x; i < 3 * n * 4; i += NT) {
        int c = i % 4 * 4, lag = i / 4 / p.by_n, t = i / 4 - lag * n, from = BACK ? t + lag : t - lag;
        float v[4] = {0, 0, 0, 0};
        if (!BACK && !lag)
#pragma unroll
            for (int j = 0; j < 4; j++)
                v[j] = c + j < p.net.decoder_out ? __ldg(p.weights.theta + p.dec_at[m].bias + c + j) : 0.0f;
        if (from >= 0 && from < n)
#pragma unroll 1
            for (int other = first; other < last; other++) {
                const float *w = at(p.l.weights) + ((other - first) * 2 + 1) * SQUARE + lag * WIDE * WIDE + c;
                const float *step = at(BACK ? p.l.dsteps : p.l.pools) + (other * n + from) * WIDE;
                if (!BACK)
#pragma unroll
                    for (int j = 0; j < 4; j++) v[j] += at(p.l.cst)[other * 3 * WIDE + lag * WIDE + c + j];
#pragma unroll 4
                for (int k = 0; k < WIDE; k++) {
                    float4 x = load4(w + k * WIDE);
                    v[0] += step[k] * x.x;
                    v[1] += step[k] * x.y;
                    v[2] += step[k] * x.z;
                    v[3] += step[k] * x.w;
                }
            }
        store4(at(p.l.added) + (lag * n + t) * WIDE + c, make_float4(v[0], v[1], v[2], v[3]));
    }
    if (n * n <= NT / 4)
        cells_of<1, 4, BACK>(m);
    else if (n * n <= NT / 2)
        cells_of<1, 8, BACK>(m);
    else
        cells_of<2, 8, BACK>(m);
    __syncthreads();
    finish_cells<BACK>(m);
}

/* Forward pass of block m: r, its pools and its norm. */
__device__ inline void narrow::conv(int m) {
    const int n = p.n, tid = threadIdx.x, c = tid % WIDE;
    float *w = at(p.l.weights);
    if (p.first == phase_conv(p, m))
        for (int i = tid; i < p.Q; i += NT) at(p.l.start_q)[i] = p.step.q[(size_t)p.B * n * p.Q + i];
#pragma unroll 1
    for (int i = tid; i < m * SQUARE / 4; i += NT) {
        int other = i / (SQUARE / 4), k = i % (SQUARE / 4) * 4;
        size_t from = (size_t)narrow_pair(m, other) * SQUARE + k;
        async_copy(w + other * 2 * SQUARE + k, p.weights.conv + from);
        async_copy(w + (other * 2 + 1) * SQUARE + k, p.weights.pool + from);
    }
    async_commit();
    async_wait<0>();
    __syncthreads();
    /* The norms are folded into the weights: g as a factor, e as a constant for each lag that exists. */
#pragma unroll 1
    for (int i = tid; i < m * 3 * WIDE; i += NT) {
        int other = i / (3 * WIDE), lag = i / WIDE % 3, o = i % WIDE;
        float add = 0;
#pragma unroll
        for (int k = 0; k < WIDE; k++)
            add += dec(other).e[k] * w[other * 2 * SQUARE + (lag * WIDE + k) * WIDE + o];
        at(p.l.cst)[i] = add;
    }
    __syncthreads();
#pragma unroll 1
    for (int i = tid; i < m * SQUARE; i += NT) {
        int other = i / SQUARE, k = i % SQUARE;
        w[other * 2 * SQUARE + k] *= dec(other).g[k / WIDE % WIDE];
    }
    double sum = 0, square = 0;
    float sign = c < p.net.decoder_out && p.weights.theta[p.dec_at[m].norm.gamma + c] < 0 ? -1.0f : 1.0f;
    if (load) {
        for (int other = 0; other < m; other++) {
            load_plane(other, false);
            load_steps(other, false);
        }
        for (int i = tid; i < n; i += NT) {
            order()[i] = p.step.order[row0() + i];
            pos()[i] = p.step.pos[row0() + i];
        }
    }
#pragma unroll 1
    for (int i = tid; i < n * 6 * WIDE / 4; i += NT) {
        int row = i / (6 * WIDE / 4), k = i % (6 * WIDE / 4) * 4;
        store4(at(p.l.extra) + row * 6 * WIDE + k, load4(p.step.q + (row0() + row) * p.Q + m * 6 * WIDE + k));
    }
    __syncthreads();
    cells<false>(m);
    float *pools = at(p.l.pools) + m * n * WIDE;
    int *taken = (int *)at(p.l.taken) + m * n * WIDE;
#pragma unroll 1
    for (int t = tid / WIDE; t < n; t += NT / WIDE) {
        const float *own = plane(m) + t * n * LD + c;
        float best = own[0], s1 = 0, s2 = 0;
        int arg = 0;
#pragma unroll 4
        for (int i = 0; i < n; i++) {
            float v = own[i * LD];
            s1 += v;
            s2 += v * v;
            if (sign * v > sign * best) {
                best = v;
                arg = i;
            }
        }
        sum += (double)s1;
        square += (double)s2;
        pools[t * WIDE + c] = best;
        taken[t * WIDE + c] = arg;
        if (!p.keep) continue;
        size_t to = (((size_t)m * p.B + blockIdx.x) * n + t) * WIDE + c;
        p.step.praw[to] = best;
        p.step.parg[to] = arg;
    }
    sum_few(sum, square);
    norms outside = {p.weights.dec.mean + m * WIDE, p.weights.dec.inv + m * WIDE, p.weights.dec.g + m * WIDE,
                     p.weights.dec.e + m * WIDE};
    make_norm(dec(m), outside, p.dec_at[m].norm, p.net.decoder_out, WIDE);
#pragma unroll 1
    for (int i = tid; i < n * WIDE; i += NT) pools[i] = dec(m).g[c] * pools[i] + dec(m).e[c];
    __syncthreads();
}

/* Computes the log-probabilities, the loss, the gradient at the logits and those of the head's weights. */
__device__ inline void narrow::head() {
    const int n = p.n, N = p.N, count = n * n, tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;
    const float *hx = p.weights.theta + p.head;
    float *w = (float *)doubles(p.l.mine), *of_x = (float *)doubles(p.l.total), *logit = at(p.l.dlogit),
          *item_d = at(p.l.small);
    double *losses = doubles(p.l.red);
    if (load) {
        load_set(p.D);
        for (int m = 0; m < N; m++) load_plane(m, false);
    }
#pragma unroll 1
    for (int i = tid; i < N * WIDE; i += NT) {
        int m = i / WIDE, c = i % WIDE;
        w[i] =
            c < p.net.decoder_out ? __ldg(hx + 2 * p.D + 2 * p.net.decoder_out * m + c) * dec(m).g[c] : 0.0f;
    }
#pragma unroll 1
    for (int i = warp; i < n; i += NT / 32) {
        float sum = 0;
        for (int c = lane; c < p.D; c += 32) sum += __ldg(hx + c) * at(p.l.x)[i * p.lx + c];
        for (int s = 16; s; s /= 2) sum += __shfl_xor_sync(0xffffffff, sum, s);
        if (!lane) of_x[i] = sum;
    }
    __syncthreads();
#pragma unroll 1
    for (int q = tid; q < count; q += NT) {
        float sum = of_x[q % p.by_n];
#pragma unroll 1
        for (int m = 0; m < N; m++)
#pragma unroll
            for (int c = 0; c < WIDE; c += 4) {
                float4 v = load4(plane(m) + q * LD + c), k = load4(w + m * WIDE + c);
                sum += v.x * k.x + v.y * k.y + v.z * k.z + v.w * k.w;
            }
        logit[q] = sum;
    }
    __syncthreads();
    double loss = 0;
    float each = (float)(1 / p.places);
#pragma unroll 1
    for (int t = warp; t < n; t += NT / 32) {
        /* n is at most 32 here: one item per lane. */
        bool free = lane < n && pos()[lane] >= t;
        float l = free ? logit[t * n + lane] : -INFINITY, top = l;
        for (int s = 16; s; s /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffff, top, s));
        float sum = free ? expf(l - top) : 0.0f;
        for (int s = 16; s; s /= 2) sum += __shfl_xor_sync(0xffffffff, sum, s);
        float lp = free ? l - (top + logf(sum)) : 0.0f, g = 0;
        int right = p.given.target ? p.given.target[p.given.start[p.index[blockIdx.x]] + t] : order()[t];
        if (free) g = (expf(lp) - (lane == right ? 1.0f : 0.0f)) * each;
        if (lane == right) loss -= (double)lp;
        if (lane >= n) continue;
        logit[t * n + lane] = g;
        p.step.logit[row0() * n + t * n + lane] = lp;
        if (p.keep) p.step.dlogit[row0() * n + t * n + lane] = g;
    }
    for (int s = 16; s; s /= 2) loss += __shfl_xor_sync(0xffffffff, loss, s);
    if (!lane) losses[warp] = loss;
    __syncthreads();
#pragma unroll 1
    for (int i = tid; i < n; i += NT) {
        float sum = 0;
#pragma unroll 4
        for (int t = 0; t < n; t++) sum += logit[t * n + i];
        item_d[i] = p.step.item_d[row0() + i] = sum;
    }
    if (!tid) {
        double sum = 0;
        for (int k = 0; k < NT / 32; k++) sum += losses[k];
        p.step.loss_part[blockIdx.x] = sum;
    }
    /* Gradients of the head's weights: of v, as if there were no norm, and of x'. */
    int width = N * WIDE, slices = NT / width, slice = tid / width, own = tid % width;
    float *red = at(p.l.extra), sum = 0;
    if (slice < slices) {
        const float *from = plane(own / WIDE) + own % WIDE;
#pragma unroll 4
        for (int q = slice; q < count; q += slices) sum += logit[q] * from[q * LD];
        red[slice * width + own] = sum;
    }
    __syncthreads();
    float *part = p.step.head_part + (size_t)blockIdx.x * (width + p.ldx);
    if (tid < width) {
        sum = 0;
        for (int z = 0; z < slices; z++) sum += red[z * width + tid];
        part[tid] = sum;
    }
#pragma unroll 1
    for (int c = tid; c < p.ldx; c += NT) {
        sum = 0;
        if (c < p.D)
            for (int i = 0; i < n; i++) sum += at(p.l.x)[i * p.lx + c] * item_d[i];
        part[width + c] = sum;
    }
    __syncthreads();
}

/* Writes the sums over the cells of r dpre to red [slices][m][3][16][16]; r is an earlier block's and dpre,
 * `lag` steps later, block m's, which is in its plane. A warp has one block, one lag and a slice of the
 * cells. */
__device__ inline void narrow::conv_weights(int m, int slices, float *red) const {
    const int n = p.n, count = n * n, lane = threadIdx.x & 31, g = lane / 4, t = lane % 4,
              each = ((count + slices - 1) / slices + 15) / 16 * 16;
#pragma unroll 1
    for (int unit = threadIdx.x / 32; unit < slices * m * 3; unit += WARPS) {
        int slice = unit / (m * 3), lag = unit % 3, last = count - lag * n,
            end = min((slice + 1) * each, last);
        const float *r = plane(unit / 3 % m) + g, *d = plane(m) + lag * n * LD + g;
        float sum[2][4] = {};
#pragma unroll 1
        for (int q = slice * each; q < end; q += 16) {
            two_sums<4> s = {};
#pragma unroll
            for (int u = 0; u < 2; u++) {
                factor<4, false> left;
                factor<2, false> right[2];
#pragma unroll
                for (int j = 0; j < 2; j++) {
                    int cell = q + u * 8 + j * 4 + t, there = min(cell, last - 1) * LD;
                    left.set(j * 2, cell < end ? r[there] : 0.0f);
                    left.set(j * 2 + 1, cell < end ? r[there + 8] : 0.0f);
                    right[0].set(j, d[there]);
                    right[1].set(j, d[there + 8]);
                }
                s.add(u * 2, left, right[0]);
                s.add(u * 2 + 1, left, right[1]);
            }
#pragma unroll
            for (int i = 0; i < 8; i++) sum[i / 4][i % 4] += s.get(i / 4, i % 4) + s.get(2 + i / 4, i % 4);
        }
        float *to = red + (unit * WIDE + g) * WIDE + 2 * t;
#pragma unroll
        for (int i = 0; i < 4; i++)
            *(float2 *)(to + i % 2 * 8 * WIDE + i / 2 * 8) =
                make_float2(sum[i / 2][i % 2 * 2], sum[i / 2][i % 2 * 2 + 1]);
    }
}

/* Computes dv of block m and, after the sums over all thread blocks, its dpre and the gradients of its
 * weights for earlier blocks: sums of v dpre, where v = g r + e of an earlier block, and of pools times
 * dpre's sums over the items. */
__device__ inline void narrow::conv_back(int m) {
    const int n = p.n, count = n * n, later = p.N - 1 - m, tid = threadIdx.x, c = tid % WIDE;
    float *w = at(p.l.weights), *dv = at(p.l.extra), *steps = at(p.l.steps);
#pragma unroll 1
    for (int i = tid; i < later * SQUARE / 4; i += NT) {
        int other = i / (SQUARE / 4), k = i % (SQUARE / 4) * 4;
        size_t from = (size_t)narrow_pair(m + 1 + other, m) * SQUARE + k;
        async_copy(w + other * 2 * SQUARE + k, p.weights.conv_t + from);
        async_copy(w + (other * 2 + 1) * SQUARE + k, p.weights.pool_t + from);
    }
    async_commit();
    async_wait<0>();
    double dy = 0, dy_r = 0;
    size_t at_step = ((size_t)m * p.B + blockIdx.x) * n * WIDE;
    if (load) {
        for (int other = m + 1; other < p.N; other++) {
            load_plane(other, true);
            load_steps(other, true);
        }
        load_plane(m, false);
        for (int i = tid; i < n * WIDE; i += NT)
            ((int *)at(p.l.taken))[m * n * WIDE + i] = p.step.parg[at_step + i];
        for (int i = tid; i < count; i += NT) at(p.l.dlogit)[i] = p.step.dlogit[row0() * n + i];
        for (int i = tid; i < n; i += NT) pos()[i] = p.step.pos[row0() + i];
    }
    __syncthreads();
    cells<true>(m);
#pragma unroll 1
    for (int t = tid / WIDE; t < n; t += NT / WIDE) {
        const float *own = dv + t * n * LD + c, *r = plane(m) + t * n * LD + c;
        float sum = 0, sum_r = 0, positive = 0, many = 0, all = 0;
#pragma unroll 4
        for (int i = 0; i < n; i++) {
            float d = own[i * LD], v = r[i * LD];
            sum += d;
            sum_r += d * v;
            all += v;
            positive += v > 0 ? d : 0.0f;
            many += v > 0 ? 1.0f : 0.0f;
        }
        dy += (double)sum;
        dy_r += (double)sum_r;
        int i = t * WIDE + c;
        steps[i] = positive;
        steps[n * WIDE + i] = many;
        steps[2 * n * WIDE + i] = all;
        if (!p.keep) continue;
        p.step.step_dv[at_step + i] = positive;
        p.step.step_count[at_step + i] = many;
        p.step.step_r[at_step + i] = all;
    }
    sum_few(dy, dy_r);
    const double *total = doubles(p.l.total);
    norms norm = dec(m);
    if (tid < p.net.decoder_out)
        make_slopes(norm, p.dec_at[m].norm, tid, total[tid],
                    (total[WIDE + tid] - total[tid] * (double)norm.mean[tid]) * (double)norm.inv[tid],
                    slope0(m), slope1(m), p.weights.dec_k0 + m * WIDE, p.weights.dec_k1 + m * WIDE);
    else if (tid < WIDE)
        slope0(m)[tid] = slope1(m)[tid] = 0;
    __syncthreads();

    const int slices = m ? CONV_SLICES / m : 0;
    float *pool_part =
              p.step.pool_part + ((size_t)blockIdx.x * (p.N * (p.N - 1) / 2) + narrow_pair(m, 0)) * SQUARE,
          *conv_part = p.step.conv_part + (pool_part - p.step.pool_part);
    float *dsteps = at(p.l.dsteps) + m * n * WIDE, *mine = plane(m);
    if (load)
        for (int other = 0; other < m; other++) {
            load_plane(other, false);
            load_steps(other, false);
        }
    float g = norm.g[c], k0 = slope0(m)[c], k1 = slope1(m)[c];
#pragma unroll 1
    for (int i = tid; i < n * WIDE; i += NT)
        dsteps[i] = g * steps[i] - k0 * steps[n * WIDE + i] - k1 * steps[2 * n * WIDE + i];
    for (int i = tid / WIDE; i < count; i += NT / WIDE) {
        float r = mine[i * LD + c];
        mine[i * LD + c] = r > 0 ? g * dv[i * LD + c] - k0 - k1 * r : 0.0f;
    }
    __syncthreads();
    if (tid < 3 * WIDE) { /* sums of dpre over the cells that have this lag */
        float add = 0;
        for (int t = tid / WIDE; t < n; t++) add += dsteps[t * WIDE + c];
        at(p.l.cst)[tid] = add;
    }
    float *red = dv; /* [slices][m][3][16][16] */
    if (m) conv_weights(m, slices, red);
#pragma unroll 1
    for (int i = tid; i < m * SQUARE; i += NT) {
        int o = i % WIDE, k = i / WIDE % WIDE, back = i / (WIDE * WIDE) % 3, other = i / SQUARE;
        const float *pool = at(p.l.pools) + other * n * WIDE + k;
        float add = 0;
#pragma unroll 4
        for (int t = back; t < n; t++) add += pool[(t - back) * WIDE] * dsteps[t * WIDE + o];
        pool_part[i] = add;
    }
    __syncthreads();
#pragma unroll 1
    for (int i = tid; i < m * SQUARE; i += NT) {
        int o = i % WIDE, k = i / WIDE % WIDE, back = i / (WIDE * WIDE) % 3, other = i / SQUARE;
        float add = 0;
#pragma unroll 4
        for (int z = 0; z < slices; z++) add += red[z * m * SQUARE + i];
        conv_part[i] = dec(other).g[k] * add + dec(other).e[k] * at(p.l.cst)[back * WIDE + o];
    }
    if (tid < WIDE) p.own.bias_part[(size_t)blockIdx.x * p.N * WIDE + m * WIDE + tid] = at(p.l.cst)[tid];
    __syncthreads();
}

/* Computes dq over all blocks and lags, the gradient of x', and the backward pass of the last encoder block's
 * pool. */
__device__ inline void narrow::rows_back() {
    const int n = p.n, N = p.N, tid = threadIdx.x, ldq = p.Q + 4;
    float *dq = at(p.l.extra);
    double dy = 0, dy_xhat = 0;
    if (load) {
        load_set(p.D);
        for (int m = 0; m < N; m++) load_plane(m, true);
        for (int i = tid; i < n; i += NT) at(p.l.small)[i] = p.step.item_d[row0() + i];
        __syncthreads();
    }
#pragma unroll 1
    for (int i = tid; i < N * 2 * n * WIDE; i += NT) {
        int c = i % WIDE, rest = i / WIDE / p.by_n, which = i / WIDE - rest * n, side = rest % 2,
            m = rest / 2;
        const float *cell = plane(m) + (side ? which * n : which) * LD + c;
        int next = side ? LD : n * LD, placed = side ? 0 : pos()[which];
        float sum[3] = {0, 0, 0};
#pragma unroll 4
        for (int k = 0; k < n; k++) {
            float d = cell[k * next];
            int t = side ? which : k, end = side ? pos()[k] : placed;
#pragma unroll
            for (int l = 0; l < 3; l++)
                if (t >= l && t - l <= end) sum[l] += d;
        }
        int t = which;
#pragma unroll
        for (int l = 0; l < 3; l++) {
            int col = (m * 6 + side * 3 + l) * WIDE + c;
            auto put = [&](int item, float v) {
                dq[item * ldq + col] = p.step.dq[(row0() + item) * p.Q + col] = v;
            };
            if (!side) {
                put(which, sum[l]);
                if (!which) dq[n * ldq + col] = 0;
                if (!which && blockIdx.x == 0) p.step.dq[(size_t)p.B * n * p.Q + col] = 0;
                continue;
            }
            float *start = p.step.start_part + ((size_t)blockIdx.x * N + m) * 3 * WIDE + l * WIDE + c,
                  *start_row = dq + n * ldq + col;
            /* Step t saw y'_{t-l}; y'_{t} by lag l > n-1-t was seen by no step, nor was the last item's y'.
             */
            if (t > l) put(order()[t - l - 1], sum[l]);
            if (t == l) *start = *start_row = sum[l];
            if (t + l >= n && t) put(order()[t - 1], 0);
            if (t + l >= n && !t) *start = *start_row = 0;
            if (t == n - 1) put(order()[n - 1], 0);
        }
    }
    __syncthreads();
    const float *head = p.weights.theta + p.head, *item_d = at(p.l.small);
    float *dx = at(p.l.dx);
    product(dq, ldq, p.own.rows_b, p.Q / 16, p.D8 / 8, n + 1, at(p.l.planes), p.l.extra - p.l.planes,
            [&](int row, int c, float4 v) {
                if (row == n) {
                    store4(p.own.start_d + (size_t)blockIdx.x * p.ldx + c, v);
                    return;
                }
                float out[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    if (c + j >= p.D) continue;
                    out[j] += item_d[row] * __ldg(head + c + j);
                    p.step.dx[(row0() + row) * p.ldx + c + j] = out[j];
                }
                store4(dx + row * p.lx + c, make_float4(out[0], out[1], out[2], out[3]));
            });
    __syncthreads();
    pool_back(p.M - 1, dy, dy_xhat);
    finish_pool_back(p.M - 1, dy, dy_xhat);
}

#endif
