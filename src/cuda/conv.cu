/* The decoder's blocks over their cells on the GPU; the algebra is that of kernels/cpu_decoder.c.
 *
 * conv<false>: a block forward over tiles of steps: earlier v (normed as they are loaded) and pools times
 * their weights; best over the items; sums; the last block makes the norm.
 *
 * conv<true>: a block backward, the same loop the other way round: dv from the dpre of all later blocks; the
 * sums that its own norm's way back needs. */
#include "decoder.cuh"

enum { CONV_THREADS = 256 };

__device__ static inline int pair_at(int m, int b) {
    return m * (m - 1) / 2 + b;
}

/* Shared memory. One stage a block that this one looks at, two where they fit, so that the next is under way
 * while this one is multiplied: its plane (backward: r and dv) [(steps + 2)*items][C + 4], weights [3][C][C]
 * of its cells and of its pools, the pools [steps + 2][C] (backward: three sums), and its norm's numbers
 * [3][C]. Then a row of zeros for steps before the first or after the last; what the pools add to each step
 * [3][steps][C]; and what the epilogue reads: q of the items [sets*items][3C] and of the steps [steps][3C],
 * or r [steps*items][C + 4] and the items that were taken [steps][C]. The results take the place of the first
 * plane. */
static conv_layout conv_layout_make(int C, int n, int steps, int ic, bool back, int stages) {
    conv_layout l = {};
    int at = 0, ldp = C + 4, plane = (steps + 2) * ic * ldp, sets = ic < n ? 1 : up(steps - 1, n) + 1;
    l.plane = at, at += plane;
    l.other = at, at += back ? plane : 0;
    l.conv = at, at += 3 * C * C;
    l.pool = at, at += 3 * C * C;
    l.step = at, at += (steps + 2) * C * (back ? 3 : 1);
    l.norm = at, at += 3 * C;
    l.stage = at;
    l.stages = stages;
    at *= stages;
    l.zero = at, at += ldp;
    l.added = at, at += 3 * steps * C;
    l.rows = at, at += back ? steps * ic * ldp : sets * ic * 3 * C;
    l.last = at, at += back ? steps * C : steps * 3 * C;
    l.total = at;
    return l;
}

static bool conv_fits(const gpu *s, int n, conv_plan *p) {
    for (int back = 0; back < 2; back++) {
        conv_layout *l = back ? &p->backward : &p->forward;
        for (int stages = 2;; stages--) {
            *l = conv_layout_make(s->C, n, p->steps, p->ic, back, stages);
            if (l->total * sizeof(float) <= s->shared) break;
            if (stages == 1) return false;
        }
    }
    return true;
}

bool conv_plan_make(const gpu *s, int B, int n, conv_plan *p) {
    int slots = CONV_THREADS / (s->C / 8), most = slots * 4, steps = B * n;
    p->ic = n < most ? n : most;
    p->steps = up(steps, s->multiprocessors);
    if (p->steps * (long)p->ic > most) p->steps = most / p->ic;
    if (p->ic < n) p->steps = 1;
    while (!conv_fits(s, n, p)) {
        if (p->steps > 1)
            p->steps--;
        else if (p->ic > 16)
            p->ic /= 2;
        else
            return false;
    }
    int cells = p->steps * p->ic;
    p->ct = cells <= slots ? 1 : cells <= 2 * slots ? 2 : 4;
    p->ot = cells <= CONV_THREADS / (s->C / 4) ? 4 : 8;
    p->tiles = up(steps, p->steps);
    return true;
}

/* Sends for all of block b that the tile needs. */
template <bool BACK>
__device__ static inline void conv_fetch(const conv_args &p, const conv_layout &l, float *to, int b, int s0,
                                         int steps, int i0, int ic) {
    const int C = p.C, ldp = C + 4, n = p.n, tid = threadIdx.x, Q = C / 4;
    int pair = BACK ? pair_at(b, p.m) : pair_at(p.m, b);
    const float *conv_w = p.conv + (size_t)pair * 3 * C * C, *pool_w = p.pool + (size_t)pair * 3 * C * C;
#pragma unroll 1
    for (int i = tid; i < (steps + 2) * ic * Q; i += CONV_THREADS) {
        int c = i % Q * 4, row = i / Q, step = s0 + row / ic - (BACK ? 0 : 2), item = i0 + row % ic;
        if (step < 0 || step >= p.R) continue;
        size_t from = (size_t)b * p.plane + ((size_t)step * n + item) * C + c;
        async_copy(to + l.plane + row * ldp + c, p.r + from);
        if (BACK) async_copy(to + l.other + row * ldp + c, p.dv + from);
    }
#pragma unroll 1
    for (int i = tid; i < 3 * C * Q; i += CONV_THREADS) async_copy(to + l.conv + i * 4, conv_w + i * 4);
    if (i0 == 0) {
#pragma unroll 1
        for (int i = tid; i < 3 * C * Q; i += CONV_THREADS) async_copy(to + l.pool + i * 4, pool_w + i * 4);
#pragma unroll 1
        for (int i = tid; i < (steps + 2) * Q; i += CONV_THREADS) {
            int step = s0 + i / Q - (BACK ? 0 : 2), room = (p.plan.steps + 2) * C;
            if (step < 0 || step >= p.R) continue;
            size_t from = ((size_t)b * p.R + step) * C + i % Q * 4;
            float *at = to + l.step + i * 4;
            async_copy(at, (BACK ? p.step_dv : p.praw) + from);
            if (BACK) {
                async_copy(at + room, p.step_count + from);
                async_copy(at + 2 * room, p.step_r + from);
            }
        }
    }
#pragma unroll 1
    for (int i = tid; i < (BACK ? 3 : 2) * Q; i += CONV_THREADS) {
        const float *from = i < Q ? p.norm.g : !BACK ? p.norm.e : i < 2 * Q ? p.k0 : p.k1;
        async_copy(to + l.norm + i * 4, from + b * C + i % Q * 4);
    }
    async_commit();
}

/* What has come becomes v or dpre, in place. All of it must have come for all threads. */
template <bool BACK>
__device__ static inline void conv_norm(const conv_args &p, const conv_layout &l, float *at, int steps,
                                        int i0, int ic) {
    const int C = p.C, ldp = C + 4, tid = threadIdx.x, Q = C / 4, room = (p.plan.steps + 2) * C;
    const float *norm = at + l.norm;
#pragma unroll 1
    for (int i = tid; i < (steps + 2) * ic * Q; i += CONV_THREADS) {
        int c = i % Q * 4, row = i / Q;
        float4 r = load4(at + l.plane + row * ldp + c), g = load4(norm + c), e = load4(norm + C + c);
        if (BACK) {
            float4 d = load4(at + l.other + row * ldp + c), k = load4(norm + 2 * C + c);
            r.x = r.x > 0 ? g.x * d.x - e.x - k.x * r.x : 0.0f;
            r.y = r.y > 0 ? g.y * d.y - e.y - k.y * r.y : 0.0f;
            r.z = r.z > 0 ? g.z * d.z - e.z - k.z * r.z : 0.0f;
            r.w = r.w > 0 ? g.w * d.w - e.w - k.w * r.w : 0.0f;
        } else
            r = make_float4(g.x * r.x + e.x, g.y * r.y + e.y, g.z * r.z + e.z, g.w * r.w + e.w);
        store4(at + l.plane + row * ldp + c, r);
    }
    if (i0) return;
#pragma unroll 1
    for (int i = tid; i < (steps + 2) * C; i += CONV_THREADS) {
        float *x = at + l.step + i;
        int c = i % C;
        *x = norm[c] * *x + (BACK ? -norm[C + c] * x[room] - norm[2 * C + c] * x[2 * room] : norm[C + c]);
    }
}

template <int CT, int OT, bool BACK>
__global__ void __launch_bounds__(CONV_THREADS) conv(const __grid_constant__ conv_args p) {
    wait_turn();
    extern __shared__ float4 memory[];
    const conv_layout &l = BACK ? p.plan.backward : p.plan.forward;
    const int n = p.n, C = p.C, ldp = C + 4, tid = threadIdx.x, Q = C / 4;
    const int s0 = blockIdx.x * p.plan.steps, steps = min(p.plan.steps, p.R - s0), set0 = s0 / n;
    float *shared = (float *)memory, *added = shared + l.added;
    const float *rows = shared + l.rows, *last = shared + l.last;
    int groups = C / OT, slots = CONV_THREADS / groups, og = tid % groups, slot = tid / groups;
    int lanes = CONV_THREADS / C * C, c_own = tid % C, t_own = tid / C, t_step = CONV_THREADS / C;
    const int b0 = BACK ? p.m + 1 : 0, b1 = BACK ? p.N : p.m;
    double sum[5] = {};
#pragma unroll 1
    for (int i = tid; i < ldp; i += CONV_THREADS) shared[l.zero + i] = 0;
#pragma unroll 1
    for (int i = tid; i < 3 * steps * C; i += CONV_THREADS)
        added[i] = !BACK && i < steps * C && i % C < p.out ? __ldg(p.theta + p.bias + i % C) : 0.0f;
    for (int i0 = 0; i0 < n; i0 += p.plan.ic) {
        int ic = min(p.plan.ic, n - i0), cells = steps * ic;
        float acc[CT][OT], extra[CT];
        int at[CT], t_of[CT], pos[CT];
        if (b0 < b1) conv_fetch<BACK>(p, l, shared, b0, s0, steps, i0, ic);
        /* What the epilogue reads. */
        if (BACK) {
#pragma unroll 1
            for (int i = tid; i < cells * Q; i += CONV_THREADS) {
                int row = i / Q, c = i % Q * 4;
                size_t from = (size_t)p.m * p.plane + ((size_t)(s0 + row / ic) * n + i0 + row % ic) * C + c;
                async_copy(shared + l.rows + row * ldp + c, p.r + from);
            }
#pragma unroll 1
            for (int i = tid; i < steps * Q; i += CONV_THREADS)
                async_copy(shared + l.last + i * 4,
                           (const float *)p.parg + ((size_t)p.m * p.R + s0) * C + i * 4);
        } else {
            int sets = (s0 + steps - 1) / n - set0 + 1;
#pragma unroll 1
            for (int i = tid; i < sets * ic * 3 * Q; i += CONV_THREADS) {
                int row = i / (3 * Q), c = i % (3 * Q) * 4;
                async_copy(shared + l.rows + row * 3 * C + c,
                           p.q + (size_t)((set0 + row / ic) * n + i0 + row % ic) * p.Q + p.m * 6 * C + c);
            }
#pragma unroll 1
            for (int i = tid; i < steps * 3 * Q; i += CONV_THREADS) {
                int step = s0 + i / (3 * Q), lag = i / Q % 3, c = i % Q * 4, t = step % n - lag;
                if (t < 0) continue;
                int y = t ? step / n * n + __ldg(p.order + step / n * n + t - 1) : p.R;
                async_copy(shared + l.last + i * 4, p.q + (size_t)y * p.Q + (p.m * 6 + 3 + lag) * C + c);
            }
        }
        async_commit();
#pragma unroll
        for (int x = 0; x < CT; x++) {
            int q = slot + x * slots;
            if (q >= cells || slot >= slots) q = 0;
            int step = s0 + q / ic, item = i0 + q % ic;
            t_of[x] = step % n;
            at[x] = l.plane + ((BACK ? 0 : 2 * ic) + q) * ldp;
            if (BACK)
                extra[x] = get(p.dlogit + (size_t)step * n + item);
            else
                pos[x] = __ldg(p.pos + step / n * n + item);
#pragma unroll
            for (int o = 0; o < OT; o++) acc[x][o] = 0;
        }
#pragma unroll 1
        for (int b = b0; b < b1; b++) {
            int stage = l.stages > 1 ? (b - b0) & 1 : 0;
            float *here = shared + stage * l.stage;
            if (l.stages > 1 && b + 1 < b1) {
                conv_fetch<BACK>(p, l, shared + (stage ^ 1) * l.stage, b + 1, s0, steps, i0, ic);
                async_wait<1>();
            } else {
                if (l.stages == 1 && b > b0) conv_fetch<BACK>(p, l, here, b, s0, steps, i0, ic);
                async_wait<0>();
            }
            __syncthreads();
            conv_norm<BACK>(p, l, here, steps, i0, ic);
            __syncthreads();
            const float *ws = here + l.conv, *wp = here + l.pool, *pools = here + l.step;
#pragma unroll 1
            for (int lag = 0; lag < 3; lag++) {
                const float *from[CT];
#pragma unroll
                for (int x = 0; x < CT; x++) {
                    bool there = BACK ? t_of[x] + lag < n : t_of[x] >= lag;
                    from[x] = there ? here + at[x] + (BACK ? lag : -lag) * ic * ldp : shared + l.zero;
                }
#pragma unroll 2
                for (int k = 0; k < C; k += 4) {
                    float4 a[CT];
#pragma unroll
                    for (int x = 0; x < CT; x++) a[x] = load4(from[x] + k);
#pragma unroll
                    for (int kk = 0; kk < 4; kk++) {
                        float w[OT];
#pragma unroll
                        for (int o = 0; o < OT; o += 4)
                            *(float4 *)&w[o] = load4(ws + (lag * C + k + kk) * C + og * OT + o);
#pragma unroll
                        for (int x = 0; x < CT; x++) {
                            float v = kk == 0 ? a[x].x : kk == 1 ? a[x].y : kk == 2 ? a[x].z : a[x].w;
#pragma unroll
                            for (int o = 0; o < OT; o++) acc[x][o] += v * w[o];
                        }
                    }
                }
            }
            /* The pools depend on the step alone: one step, one lag, four channels a thread. */
            if (i0 == 0)
#pragma unroll 1
                for (int i = tid; i < 3 * steps * Q; i += CONV_THREADS) {
                    int c = i % Q * 4, sl = i / Q % steps, lag = i / Q / steps, t = (s0 + sl) % n;
                    if (BACK ? t + lag >= n : t < lag) continue;
                    const float *from = pools + (BACK ? sl + lag : sl + 2 - lag) * C;
                    float4 *to = (float4 *)(added + (lag * steps + sl) * C + c), add = *to;
#pragma unroll 4
                    for (int k = 0; k < C; k++) {
                        float4 w = load4(wp + (lag * C + k) * C + c);
                        float v = from[k];
                        add.x += v * w.x;
                        add.y += v * w.y;
                        add.z += v * w.z;
                        add.w += v * w.w;
                    }
                    *to = add;
                }
            __syncthreads();
        }
        async_wait<0>();
        __syncthreads();
        float *out = shared; /* [cells][C + 4] */
#pragma unroll
        for (int x = 0; x < CT; x++) {
            int q = slot + x * slots;
            if (q >= cells || slot >= slots) continue;
            int sl = q / ic, item = q % ic;
            size_t to = (size_t)p.m * p.plane + ((size_t)(s0 + sl) * n + i0 + item) * C + og * OT;
#pragma unroll
            for (int o = 0; o < OT; o += 4) {
                int c = og * OT + o;
                const float *a = added + sl * C + c;
                float4 add = load4(a), add1 = load4(a + steps * C), add2 = load4(a + 2 * steps * C);
                add = make_float4(add.x + add1.x + add2.x, add.y + add1.y + add2.y, add.z + add1.z + add2.z,
                                  add.w + add1.w + add2.w);
                float4 v = make_float4(acc[x][o], acc[x][o + 1], acc[x][o + 2], acc[x][o + 3]);
                if (BACK) {
                    int4 taken = *(const int4 *)(last + sl * C + c);
                    int own = i0 + item;
                    v.x +=
                        (c < p.out ? __ldg(p.head + c) * extra[x] : 0.0f) + (taken.x == own ? add.x : 0.0f);
                    v.y += (c + 1 < p.out ? __ldg(p.head + c + 1) * extra[x] : 0.0f) +
                           (taken.y == own ? add.y : 0.0f);
                    v.z += (c + 2 < p.out ? __ldg(p.head + c + 2) * extra[x] : 0.0f) +
                           (taken.z == own ? add.z : 0.0f);
                    v.w += (c + 3 < p.out ? __ldg(p.head + c + 3) * extra[x] : 0.0f) +
                           (taken.w == own ? add.w : 0.0f);
                } else {
                    v = make_float4(v.x + add.x, v.y + add.y, v.z + add.z, v.w + add.w);
                    const float *qx = rows + (((s0 + sl) / n - set0) * ic + item) * 3 * C + c,
                                *qy = last + sl * 3 * C + c;
#pragma unroll
                    for (int lag = 0; lag < 3; lag++) {
                        if (t_of[x] < lag || t_of[x] - lag > pos[x]) continue;
                        float4 f = load4(qx + lag * C), g = load4(qy + lag * C);
                        v.x += f.x + g.x;
                        v.y += f.y + g.y;
                        v.z += f.z + g.z;
                        v.w += f.w + g.w;
                    }
                    v = make_float4(relu(v.x), relu(v.y), relu(v.z), relu(v.w));
                }
                store4(out + q * ldp + c, v);
                store4((BACK ? p.dv : p.r) + to + o, v);
            }
        }
        __syncthreads();
        if (tid < lanes)
            for (int sl = t_own; sl < steps; sl += t_step) {
                size_t to = ((size_t)p.m * p.R + s0 + sl) * C + c_own;
                const float *own = out + sl * ic * ldp + c_own;
                if (BACK) {
                    const float *r = rows + sl * ic * ldp + c_own;
                    float dy = 0, dy_r = 0, dv = 0, count = 0, total = 0;
#pragma unroll 4
                    for (int i = 0; i < ic; i++) {
                        float d = own[i * ldp], v = r[i * ldp];
                        dy += d;
                        dy_r += d * v;
                        total += v;
                        dv += v > 0 ? d : 0.0f;
                        count += v > 0 ? 1.0f : 0.0f;
                    }
                    sum[0] += (double)dy;
                    sum[1] += (double)dy_r;
                    sum[2] += (double)dv;
                    sum[3] += (double)count;
                    sum[4] += (double)total;
                    p.step_dv[to] = (i0 ? p.step_dv[to] : 0.0f) + dv;
                    p.step_count[to] = (i0 ? p.step_count[to] : 0.0f) + count;
                    p.step_r[to] = (i0 ? p.step_r[to] : 0.0f) + total;
                } else {
                    float sign = c_own < p.out && __ldg(p.theta + p.gamma + c_own) < 0 ? -1.0f : 1.0f;
                    float best = i0 ? p.praw[to] : own[0], s1 = 0, s2 = 0;
                    int arg = i0 ? p.parg[to] : 0;
#pragma unroll 4
                    for (int i = 0; i < ic; i++) {
                        float v = own[i * ldp];
                        s1 += v;
                        s2 += v * v;
                        if (sign * v > sign * best) {
                            best = v;
                            arg = i0 + i;
                        }
                    }
                    sum[0] += (double)s1;
                    sum[1] += (double)s2;
                    p.praw[to] = best;
                    p.parg[to] = arg;
                }
            }
        __syncthreads();
    }
    constexpr int K = BACK ? 5 : 2;
    __shared__ double sums[1024], total[5 * 64];
    for (int k = 0; k < K; k++) {
        if (tid < lanes) sums[tid] = sum[k];
        __syncthreads();
        if (tid < C) {
            double add = 0;
            for (int z = 0; z < t_step; z++) add += sums[z * C + tid];
            p.part[(size_t)blockIdx.x * K * C + k * C + tid] = add;
        }
        __syncthreads();
    }
    if (!last_block(p.counter, gridDim.x)) return;
    column_totals(p.part, (int)gridDim.x, K * C, total, sums, 1024);
    if (tid >= p.out) return;
    if (!BACK) {
        norm_make(p.forward, tid, total[tid], total[C + tid]);
        return;
    }
    int own = p.m * C + tid;
    double dy = total[tid], mean = (double)p.norm.mean[own], inv = (double)p.norm.inv[own];
    norm_back(p.backward, tid, dy, (total[C + tid] - dy * mean) * inv);
    norm_bias(p.backward, tid, total[2 * C + tid], total[3 * C + tid], total[4 * C + tid]);
}

conv_args gpu_conv_args(gpu *s, int m, bool back) {
    const shape *sh = s->base.sh;
    conv_args p = {};
    int n = s->base.n, B = s->base.B;
    conv_plan_make(s, B, n, &p.plan);
    p.n = n;
    p.B = B;
    p.R = B * n;
    p.C = s->C;
    p.out = sh->s.decoder_out;
    p.N = s->N;
    p.m = m;
    p.Q = s->Q;
    p.r = s->r;
    p.dv = s->dv;
    p.plane = (size_t)p.R * n * s->C;
    p.norm = s->dec;
    p.k0 = s->dec_k0;
    p.k1 = s->dec_k1;
    p.conv = back ? s->conv_t : s->conv;
    p.pool = back ? s->pool_t : s->pool;
    p.q = s->q;
    p.pos = s->pos;
    p.order = s->order;
    p.praw = s->praw;
    p.parg = s->parg;
    p.step_dv = s->step_dv;
    p.step_count = s->step_count;
    p.step_r = s->step_r;
    p.dlogit = s->dlogit;
    p.theta = s->theta;
    p.part = s->part;
    p.counter = s->counters;
    if (m < 0) return p;
    p.head = s->theta + sh->head_weight + 2 * sh->D + 2 * p.out * m;
    p.bias = sh->dec[m].bias;
    p.gamma = sh->dec[m].norm.gamma;
    p.forward = norms_decoder(s, m);
    p.backward = norms_decoder_back(s, m);
    return p;
}

template <bool BACK> static void conv_launch(gpu *s, int m) {
    conv_args p = gpu_conv_args(s, m, BACK);
    int tiles = p.plan.tiles;
    size_t shared = (size_t)(BACK ? p.plan.backward : p.plan.forward).total * sizeof(float);
    if (p.plan.ot == 4)
        CHAIN(s, tiles, CONV_THREADS, shared, (conv<1, 4, BACK>), p);
    else if (p.plan.ct == 1)
        CHAIN(s, tiles, CONV_THREADS, shared, (conv<1, 8, BACK>), p);
    else if (p.plan.ct == 2)
        CHAIN(s, tiles, CONV_THREADS, shared, (conv<2, 8, BACK>), p);
    else
        CHAIN(s, tiles, CONV_THREADS, shared, (conv<4, 8, BACK>), p);
}

void gpu_decoder_forward(gpu *s, int block) {
    conv_launch<false>(s, block);
}
void gpu_decoder_backward(gpu *s, int block) {
    conv_launch<true>(s, block);
}

template <bool BACK> static bool conv_limits(gpu *s) {
    int most = (int)s->shared;
    cudaFuncAttribute what = cudaFuncAttributeMaxDynamicSharedMemorySize;
    return gpu_ok(s, cudaFuncSetAttribute(conv<1, 4, BACK>, what, most), "shared memory") &&
           gpu_ok(s, cudaFuncSetAttribute(conv<1, 8, BACK>, what, most), "shared memory") &&
           gpu_ok(s, cudaFuncSetAttribute(conv<2, 8, BACK>, what, most), "shared memory") &&
           gpu_ok(s, cudaFuncSetAttribute(conv<4, 8, BACK>, what, most), "shared memory");
}

bool gpu_decoder_limits(gpu *s) {
    return conv_limits<false>(s) && conv_limits<true>(s) && gpu_conv_weights_limits(s) &&
           gpu_decoder_back_limits(s);
}
