/* Three CUDA kernels of a training step. take gathers the batch from the data set on the device and repacks
 * the encoder's first weights (the first kernel of the forward pass). head computes the output layer,
 * softmax, the loss and the gradient of the logits (the last one). head_weights computes the gradient of the
 * output layer's weights. The logits have only the terms that differ between the items of a step, those of
 * the item's encoding x' and of the decoder's cells v; the others cancel in the softmax (kernels/cpu_head.c).
 */
#include <algorithm>

#include "engine/cuda/base/relative.cuh"
#include "engine/cuda/layers/layers.cuh"

struct head_args {
    int n, C, N, D, ldx, out;
    int base;                /* channels before those of v */
    const set_place *places; /* where the batch has several sizes */
    const float *x, *theta;
    size_t head;
    const float *r;
    size_t plane;
    const float *g; /* [N, C] */
    const int *pos, *right;
    float *logit, *dlogit, *item_d;
    float *part; /* [B, N*C + ldx] */
    float each;  /* 1 / steps */
    double *loss_part, *loss;
    double steps; /* of the whole batch */
    unsigned *counter;
    const float *e; /* [pairs, 2E]: relations, where there are some */
    const int *order;
    int relations; /* E */
};

__device__ static inline float warp_max(float v) {
    for (int k = 16; k; k /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, k));
    return v;
}

enum { HEAD_THREADS = 256, HEAD_MOST = 1024 /* threads, of head: for large sets */ };

/* One set per thread block. Shared memory, of `room` floats: weights [N*C], what x' gives to each item
 * [n], and logits [n, n] where they fit. */
template <bool RELATED> __global__ void __launch_bounds__(HEAD_MOST) head(head_args p, int room) {
    wait_turn();
    extern __shared__ float4 memory[];
    const set_place at = place_of(p.places, p.n, blockIdx.x);
    const int n = at.m, C = p.C, N = p.N, tid = threadIdx.x, lane = tid & 31, warp = tid >> 5,
              fits = N * C + n + n * n <= room;
    float *w = (float *)memory, *of_x = w + N * C;
    const int *pos = p.pos + at.row0, *right_of = p.right + at.step0;
    const float *hx = p.theta + p.head, *x = p.x + (size_t)at.row0 * p.ldx;
    float *logit = p.logit + at.cell0, *dlogit = p.dlogit + at.cell0;
    float *work = fits ? of_x + n : logit, *work_d = fits ? work : dlogit;
    __shared__ double losses[HEAD_MOST / 32];
    const int T = (int)blockDim.x, warps = T / 32;
#pragma unroll 1
    for (int i = tid; i < N * C; i += T) {
        int m = i / C, c = i - m * C;
        w[i] = c < p.out ? __ldg(hx + p.base + 2 * p.out * m + c) * load(p.g + i) : 0.0f;
    }
#pragma unroll 1
    for (int i = warp; i < n; i += warps) {
        float sum = 0;
#pragma unroll 4
        for (int c = lane; c < p.D; c += 32) sum += __ldg(hx + c) * load(x + (size_t)i * p.ldx + c);
        sum = warp_sum(sum);
        if (!lane) of_x[i] = sum;
    }
    __syncthreads();
    const float *r = p.r + (size_t)at.cell0 * C;
    /* Four or eight lanes per cell, each with four channels at a time. */
    int lanes = C > 16 ? 8 : 4, part = tid & (lanes - 1);
#pragma unroll 1
    for (int q0 = 0; q0 < n * n; q0 += T / lanes) {
        int cell = q0 + tid / lanes, q = min(cell, n * n - 1);
        float sum = 0;
#pragma unroll 1
        for (int c = part * 4; c < C; c += lanes * 4) {
            const float *from = r + (size_t)q * C + c;
#pragma unroll 4
            for (int m = 0; m < N; m++) {
                float4 v = load((const float4 *)(from + m * p.plane)), k = load4(w + m * C + c);
                sum += v.x * k.x + v.y * k.y + v.z * k.z + v.w * k.w;
            }
        }
        for (int k = lanes / 2; k; k /= 2) sum += __shfl_xor_sync(0xffffffff, sum, k);
        if (RELATED && !part && q >= n) { /* from the item placed last */
            const float *e =
                p.e + ((size_t)at.pair0 + (size_t)load(p.order + at.step0 + q / n - 1) * at.n + q % n) * 2 *
                          p.relations;
            for (int k = 0; k < p.relations; k++) sum += load(e + k) * __ldg(hx + 2 * p.D + k);
        }
        if (!part && cell < n * n) work[cell] = sum + of_x[cell % n];
    }
    __syncthreads();
    double loss = 0;
#pragma unroll 1
    for (int t = warp; t < n; t += warps) {
        float *l = work + (size_t)t * n, *d = work_d + (size_t)t * n, top = -INFINITY, sum = 0;
#pragma unroll 1
        for (int i = lane; i < n; i += 32)
            if (pos[i] >= t) top = fmaxf(top, l[i]);
        top = warp_max(top);
#pragma unroll 1
        for (int i = lane; i < n; i += 32)
            if (pos[i] >= t) sum += expf(l[i] - top);
        float shift = top + logf(warp_sum(sum));
        int right = right_of[t];
        if (!lane) loss -= (double)(l[right] - shift);
        __syncwarp();
#pragma unroll 1
        for (int i = lane; i < n; i += 32) {
            float lp = 0, g = 0;
            if (pos[i] >= t) {
                lp = l[i] - shift;
                g = (expf(lp) - (i == right ? 1.0f : 0.0f)) * p.each;
            }
            logit[(size_t)t * n + i] = lp;
            dlogit[(size_t)t * n + i] = g;
            if (fits) d[i] = g;
        }
    }
    if (!lane) losses[warp] = loss;
    __syncthreads();
#pragma unroll 1
    for (int i = tid; i < n; i += T) {
        float sum = 0;
#pragma unroll 4
        for (int t = 0; t < n; t++) sum += work_d[(size_t)t * n + i];
        p.item_d[at.row0 + i] = sum;
    }
#pragma unroll 1
    for (int i = n + tid; i < at.n; i += T) p.item_d[at.row0 + i] = 0; /* items that are not placed */
    if (!tid) {
        double sum = 0;
        for (int k = 0; k < warps; k++) sum += losses[k];
        p.loss_part[blockIdx.x] = sum;
    }
    if (!last_block(p.counter, gridDim.x)) return;
    if (warp) return;
    double sum = 0;
#pragma unroll 4
    for (int b = lane; b < (int)gridDim.x; b += 32) sum += __ldcg(p.loss_part + b);
    sum = warp_sum(sum);
    if (!lane) *p.loss = sum / p.steps;
}

/* Gradients of the head's weights, one set per thread block: of v, as if there were no norm, and of x'. */
__global__ void __launch_bounds__(HEAD_THREADS) head_weights(head_args p) {
    __shared__ float sums[HEAD_THREADS];
    const set_place at = place_of(p.places, p.n, blockIdx.x);
    const int n = at.m, C = p.C, tid = threadIdx.x;
    const float *x = p.x + (size_t)at.row0 * p.ldx, *dlogit = p.dlogit + at.cell0,
                *r = p.r + (size_t)at.cell0 * C;
    float *part = p.part + (size_t)blockIdx.x * (p.N * C + p.ldx);
    int width = p.N * C, slices = width && width < HEAD_THREADS ? HEAD_THREADS / width : 1;
    for (int i0 = 0; i0 < width; i0 += HEAD_THREADS) {
        int i = i0 + (slices > 1 ? tid % width : tid), slice = slices > 1 ? tid / width : 0;
        float sum = 0;
        if (i < width && slice < slices) {
            const float *from = r + (i / C) * p.plane + i % C;
#pragma unroll 8
            for (int q = slice; q < n * n; q += slices) sum += load(dlogit + q) * load(from + (size_t)q * C);
        }
        sums[tid] = sum;
        __syncthreads();
        if (i < width && slice == 0) {
            for (int z = 1; z < slices; z++) sum += sums[z * width + i];
            part[i] = sum;
        }
        __syncthreads();
    }
    for (int c = tid; c < p.ldx; c += HEAD_THREADS) {
        float sum = 0;
        if (c < p.D)
#pragma unroll 4
            for (int i = 0; i < n; i++) sum += load(x + (size_t)i * p.ldx + c) * load(p.item_d + at.row0 + i);
        part[width + c] = sum;
    }
}

void gpu_head(gpu *s) {
    /* Floats of shared memory, at most: more would leave fewer thread blocks resident. */
    enum { ROOM = 10000 };
    const net_shape *sh = s->base.sh;
    int B = s->base.B, n = s->ragged.mixed ? s->ragged.mixed->largest : s->n, least = s->N * s->C + n;
    double steps = (double)s->base.whole.steps;
    head_args p = {.n = s->n,
                   .C = s->C,
                   .N = s->N,
                   .D = sh->D,
                   .ldx = s->D,
                   .out = sh->s.decoder_out,
                   .base = sh->base,
                   .places = s->ragged.mixed ? s->ragged.mixed->places : nullptr,
                   .x = s->step.x,
                   .theta = s->weights.theta,
                   .head = sh->head_weight,
                   .r = s->step.r,
                   .plane = s->here.step_cells * s->C,
                   .g = s->weights.dec.g,
                   .pos = s->step.pos,
                   .right = s->step.right,
                   .logit = s->step.logit,
                   .dlogit = s->step.dlogit,
                   .item_d = s->step.item_d,
                   .part = s->step.head_part,
                   .each = (float)(1 / steps),
                   .loss_part = s->step.loss_part,
                   .loss = s->result.results,
                   .steps = steps,
                   .counter = s->result.counters,
                   .e = s->related.e,
                   .order = s->step.order,
                   .relations = sh->s.relations};
    int room = least + n * n <= ROOM ? least + n * n : s->ragged.mixed ? std::max<int>(least, ROOM) : least;
    /* One thread block per set: where sets are large, the kernel ends with the largest. */
    int threads = n <= 16 ? HEAD_THREADS : n <= 32 ? 2 * HEAD_THREADS : (int)HEAD_MOST;
    if (p.relations)
        CHAIN(s, B, threads, room * sizeof(float), head<true>, p, room);
    else
        CHAIN(s, B, threads, room * sizeof(float), head<false>, p, room);
    gpu_fork(s, 0);
    LAUNCH(s, s->queue.side[0], B, HEAD_THREADS, 0, head_weights, p);
    gpu_sum_rows(s, s->queue.side[0], s->step.head_part, B, s->N * s->C + s->D, s->step.head_total);
}

/* ---- the batch ---- */

struct take_args {
    int n, d, ldx, R;
    bool relative;
    const float *given;      /* [items of the data, d]: their relative features; NULL: to be made here */
    const set_place *places; /* this and the next three: where the batch has several sizes */
    const int32_t *slot;     /* [R]: row, within its set, of an item; NULL: item i is row i */
    int2 *row_at;            /* [R] */
    int *step_set;           /* [T] */
    const uint32_t *index;
    const uint64_t *start;
    const float *items, *vectors;
    const int32_t *word, *order_all, *target;
    const float *mean, *scale, *first;
    float *x;
    int D;
    int *pos, *order, *right;
    unsigned *dropout_key; /* NULL: no dropout */
    const adam_numbers *numbers;
    unsigned first_set, ranks;
    /* Weights to pack: */
    int B, rows, H; /* rows: of an encoder block, 2 * hidden */
    int both;       /* 2E: weights of a hidden channel that see relations, behind the others */
    const float *theta;
    struct {
        size_t weight;
        feature_columns columns;
        float *w1;
        uint16_t *w1_half; /* in bfloat16, as x_half; NULL: not needed */
    } enc[MAX_BLOCKS];
    uint16_t *x_half;
    half_columns half; /* of all features */
};

/* Packs a row of the first weights of an encoder block, by one warp. */
__device__ static inline void pack_rows(const take_args &p, int block, int row) {
    const auto &e = p.enc[block];
    const float *from = p.theta + e.weight + (size_t)row * e.columns.in +
                        (size_t)(row / 2) * p.both; /* [hidden, 2*in + 2E] */
    float *to = e.w1 + ((row & 1) * p.H + row / 2) * e.columns.width;
#pragma unroll 4
    for (int c = (int)threadIdx.x % 32; c < e.columns.in; c += 32)
        to[c < e.columns.first ? c : c + e.columns.gap] = load(from + c);
    if (!e.w1_half) return;
    const int width = p.half.base + block * p.half.O;
    uint16_t *half = e.w1_half + (size_t)((row & 1) * p.H + row / 2) * width;
#pragma unroll 4
    for (int k = (int)threadIdx.x % 32; k < width; k += 32) {
        int c = own_column(p.half, k);
        half[k] = bf16_of(c < 0 ? 0.0f : load(from + c)).bits;
    }
}

/* Writes the features of a set's items, or of the start vector, in bfloat16; those of the pools follow later.
 */
__device__ static inline void take_half(const take_args &p, size_t row0, int rows, int columns) {
    for (int i = threadIdx.x; i < rows * columns; i += 128) {
        int row = i / columns, k = i - row * columns, c = own_column(p.half, k);
        float v = c >= 0 ? p.x[(row0 + row) * p.ldx + c] : k == p.half.inputs ? 1.0f : 0.0f;
        p.x_half[(row0 + row) * p.half.width + k] = bf16_of(v).bits;
    }
}

__global__ void __launch_bounds__(128) take(const __grid_constant__ take_args p, int blocks) {
    wait_turn();
    if ((int)blockIdx.x >= p.B) {
        int row = ((int)blockIdx.x - p.B) * 4 + (int)threadIdx.x / 32;
        if (row < blocks * p.rows) pack_rows(p, row / p.rows, row % p.rows);
        return;
    }
    const set_place at = place_of(p.places, p.n, blockIdx.x);
    size_t from = p.start[p.index[blockIdx.x]], row = (size_t)at.row0;
    const int32_t *slot = p.slot ? p.slot + row : nullptr;
#pragma unroll 1
    for (int i = threadIdx.x; p.dropout_key && i < at.n; i += 128)
        p.dropout_key[row + (slot ? slot[i] : i)] =
            dropout_key(p.numbers->dropout_seed, p.first_set + p.index[blockIdx.x] * p.ranks, i);
#pragma unroll 1
    for (int i = threadIdx.x; i < at.n; i += 128) {
        if (p.places) p.row_at[row + i] = make_int2(at.n, blockIdx.x);
        if (i >= at.m) continue;
        int item = p.order_all[from + i], to = slot ? slot[item] : item;
        p.order[at.step0 + i] = to;
        int right = p.target ? p.target[from + i] : item;
        p.right[at.step0 + i] = slot ? slot[right] : right;
        p.pos[row + to] = i;
        if (p.places) p.step_set[at.step0 + i] = blockIdx.x;
    }
#pragma unroll 2
    for (int i = threadIdx.x; i < at.n * p.d; i += 128) {
        int item = i / p.d, c = i - item * p.d;
        float v =
            p.word ? p.vectors[(size_t)p.word[from + item] * p.d + c] : p.items[(from + item) * p.d + c];
        p.x[(row + (slot ? slot[item] : item)) * p.ldx + c] = (v - p.mean[c]) * p.scale[c];
    }
    if (p.given) {
#pragma unroll 1
        for (int i = threadIdx.x; i < at.n * p.d; i += 128) {
            int item = i / p.d, c = i - item * p.d;
            p.x[(row + (slot ? slot[item] : item)) * p.ldx + p.d + c] = p.given[from * p.d + i];
        }
    } else if (p.relative) {
        __syncthreads();
#pragma unroll 1
        for (int c = threadIdx.x / 32; c < p.d; c += 4)
            relative_feature(p.x + row * p.ldx, p.ldx, at.n, c, p.d);
    }
    if (!blockIdx.x)
#pragma unroll 1
        for (int c = threadIdx.x; c < p.D; c += 128) p.x[(size_t)p.R * p.ldx + c] = p.first[c];
    if (!p.x_half) return;
    __syncthreads();
    take_half(p, row, at.n, p.half.base);
    if (!blockIdx.x) take_half(p, (size_t)p.R, 1, p.half.width);
}

void gpu_take(gpu *s) {
    const net_shape *sh = s->base.sh;
    const mixed_batch *x = s->ragged.mixed;
    const bool half = precision_of(s) == ONET_BF16;
    take_args p = {.n = s->n,
                   .d = sh->s.width,
                   .ldx = s->D,
                   .R = (int)s->here.items,
                   .relative = sh->s.relative != 0,
                   .given = s->given.relative,
                   .places = x ? x->places : nullptr,
                   .slot = x ? x->slot : nullptr,
                   .row_at = s->ragged.row_at,
                   .step_set = s->ragged.step_set,
                   .index = s->send.index,
                   .start = s->given.start,
                   .items = s->given.items,
                   .vectors = s->given.train_vectors ? s->given.vectors : s->given.table,
                   .word = s->given.word,
                   .order_all = s->given.order_all,
                   .target = s->given.target,
                   .mean = s->weights.mean,
                   .scale = s->weights.scale,
                   .first = s->weights.theta + sh->start,
                   .x = s->step.x,
                   .D = sh->D,
                   .pos = s->step.pos,
                   .order = s->step.order,
                   .right = s->step.right,
                   .dropout_key = s->base.dropout > 0 ? s->step.dropout_key : nullptr,
                   .numbers = s->send.adam,
                   .first_set = s->base.first_set,
                   .ranks = std::max(s->base.ranks, 1u),
                   .B = s->base.B,
                   .rows = 2 * sh->s.hidden,
                   .H = s->H,
                   .both = 2 * sh->s.relations,
                   .theta = s->weights.theta};
    for (int k = 0; k < s->M; k++)
        p.enc[k] = {.weight = sh->enc[k].weight1,
                    .columns = columns_of(sh, k),
                    .w1 = s->enc[k].w1,
                    .w1_half = half ? s->half.block[k].w1 : nullptr};
    if (half) p.x_half = s->half.x;
    p.half = half_columns_of(s, s->M);
    CHAIN(s, s->base.B + up(s->M * p.rows, 4), 128, 0, take, p, s->M);
    if (p.both) gpu_relate(s);
}
