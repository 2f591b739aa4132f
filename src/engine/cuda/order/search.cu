/* Searches the order on a GPU: greedy, beam, or the score of a given order, all steps in one kernel; plans
 * how sets and memory are divided among its thread blocks. A thread block has S sets, each with its beams;
 * beam b of set s is number s*beams + b. All sets have as many beams at a step as they would without
 * constraints: where those allow fewer orders, the rest are copies of the best one with the log-probability
 * -INFINITY, which never come before an allowed order.
 *
 * A column (what one step of one beam made of all blocks) never changes, so that beams need not be copied:
 * each beam knows the numbers under which its last two columns were made. Blocks see the columns of this step
 * and of the two before it; what a column contributes to the next two steps is computed at its own step
 * (`ahead`), while the column is in memory, and only these sums are kept. Orders are kept as one (item, beam
 * before) per step, and followed back at the end.
 *
 * All sums of a cell have one order, whatever S, the number of threads and the kind of memory: so the
 * results do not depend on the layout. Pools are largest (or smallest) values, found by integer atomics on
 * the bits of floats >= 0, whose order does not matter either. */
#include <algorithm>

#include "engine/cuda/base/relations.cuh"
#include "engine/cuda/order/order.cuh"

enum { MOST_THREADS = 512, LANE_ROWS = 8 /* cells side by side in a group of 8 * C/4 threads */ };

/* What is kept of each beam beside its columns; `now` and `next` alternate from step to step. B = S*beams. */
struct beam_states {
    double *logprob;          /* [2, B] */
    double *shift;            /* [B]: log-probability of an item = logit - top - shift */
    unsigned long long *best; /* [B]: key of the best candidate left */
    int *best_item;           /* [B] */
    int *last;                /* [2, 3, B]: the items placed one, two, three steps ago */
    int *made;                /* [2, 2, B]: the beam of the set that made the column of one, two steps ago */
    unsigned *placed;         /* [2, B, words]: bit i is set when item i was placed */
    float *logit;             /* [B, n] */
    float *top;               /* [B]: the largest logit */
    float *pool;              /* [3 steps, B, N-1, C]: before the norm */
    float *same;              /* [B, N, C]: what is the same for all items */
    float *seen;              /* [B, N, C]: what y' gives to items not yet placed */
    size_t bytes;
};

static __host__ __device__ beam_states beam_states_at(unsigned char *base, int B, int n, int N, int C) {
    beam_states f;
    size_t used = 0, before = N ? N - 1 : 0, words = (n + 31) / 32;
    auto place = [&](auto *&p, size_t count) {
        p = (decltype(p + 0))(base + used);
        used += (count * sizeof *p + 15) / 16 * 16;
    };
    place(f.logprob, 2 * (size_t)B);
    place(f.shift, B);
    place(f.best, B);
    place(f.best_item, B);
    place(f.last, 6 * (size_t)B);
    place(f.made, 4 * (size_t)B);
    place(f.placed, 2 * B * words);
    place(f.logit, (size_t)B * n);
    place(f.top, B);
    place(f.pool, 3 * B * before * C);
    place(f.same, (size_t)B * N * C);
    place(f.seen, (size_t)B * N * C);
    f.bytes = used;
    return f;
}

/* Returns the numbers in the columns of a step: [N, B, n, C + 4]. The four numbers between rows keep shared
 * memory free of bank conflicts. */
static size_t planes_size(int B, int n, int N, int C) {
    return (size_t)N * B * n * (C + 4);
}
/* Returns the numbers in `ahead`: what columns add to blocks 1 .. N-1 of the step after their own, [N-1, B,
 * n, C], and of the second step after it, [2 steps, N-1, B, n, C]. */
static size_t ahead_size(int B, int n, int N, int C) {
    return N ? 3 * (size_t)(N - 1) * B * n * C : 0;
}

struct search_args {
    int sets, n, beams, found, S, N, C, Q, words; /* n: items to place */
    int rows;                                     /* of a set in q and item_logit: context items too */
    int rules_each;                               /* numbers */
    bool score, poison;
    const float *q, *start_q, *item_logit;                /* [R, Q], [Q], [R] */
    const float *q_sum;                                   /* [R, N, C] */
    const float *conv, *pool, *bias, *pool_sign, *head_v; /* as in order_net */
    const int32_t *given;                                 /* [sets, n] */
    int32_t *rules;                                       /* [sets, rules_each]; NULL: no constraints */
    const float *e, *related, *head_e;                    /* [sets, rows, rows, 2E], [N, 3, E, C], [E] */
    int relations;                                        /* E */
    float *planes, *ahead;
    unsigned char *states;
    size_t planes_each, ahead_each, states_each; /* numbers, numbers, bytes */
    int2 *trace;
    float *trace_p;
    int32_t *order;
    float *step;
    double *logprob;
};

enum { POOL_LANES = 4 };
/* acc[j] += row_j [length] w [length, C], four columns; with LANES > 1, this lane's partial sum: LANES
 * adjacent lanes share the terms (sum_parts adds up those of POOL_LANES). */
template <int T, int LANES = 1>
__device__ static inline void add_product(float (&acc)[T][4], const float *const (&row)[T], int length,
                                          const float *w, int C) {
#pragma unroll 2
    for (int k = LANES > 1 ? (int)threadIdx.x % LANES * 4 : 0; k < length; k += 4 * LANES) {
        float x[T][4];
        float4 v[4];
#pragma unroll
        for (int e = 0; e < 4; e++) v[e] = __ldg((const float4 *)(w + (size_t)(k + e) * C));
#pragma unroll
        for (int j = 0; j < T; j++) *(float4 *)x[j] = load4(row[j] + k);
#pragma unroll
        for (int e = 0; e < 4; e++)
#pragma unroll
            for (int j = 0; j < T; j++) {
                acc[j][0] += x[j][e] * v[e].x;
                acc[j][1] += x[j][e] * v[e].y;
                acc[j][2] += x[j][e] * v[e].z;
                acc[j][3] += x[j][e] * v[e].w;
            }
    }
}

template <int T> __device__ static inline void sum_parts(float (&acc)[T][4]) {
#pragma unroll
    for (int j = 0; j < T; j++)
#pragma unroll
        for (int e = 0; e < 4; e++)
#pragma unroll
            for (int far = 1; far < POOL_LANES; far *= 2) acc[j][e] += __shfl_xor_sync(~0u, acc[j][e], far);
}

__device__ static inline void add4(float (&acc)[4], float4 v) {
    acc[0] += v.x;
    acc[1] += v.y;
    acc[2] += v.z;
    acc[3] += v.w;
}

/* Maps doubles to integers of the same order; never 0, which stands for no candidate. */
__device__ static inline unsigned long long key_of(double v) {
    unsigned long long bits = (unsigned long long)__double_as_longlong(v);
    return bits >> 63 ? ~bits : bits | 1ull << 63;
}
__device__ static inline double of_key(unsigned long long key) {
    return __longlong_as_double((long long)(key >> 63 ? key & ~(1ull << 63) : ~key));
}

/* Writes to key and index, in all lanes of a warp, the largest key and, among equals, the smallest index. */
__device__ static inline void warp_best(unsigned long long &key, int &index) {
    unsigned high = (unsigned)(key >> 32), top = __reduce_max_sync(~0u, high);
    unsigned low = high == top ? (unsigned)key : 0, under = __reduce_max_sync(~0u, low);
    bool mine = high == top && low == under && (unsigned)key == under;
    index = __reduce_min_sync(~0u, mine ? index : 0x7fffffff);
    key = (unsigned long long)top << 32 | under;
}

/* One step of a thread block. */
struct stage {
    const search_args *p;
    beam_states f;
    float *planes, *ahead_sums;
    int first, sets; /* of this block */
    int t, alive;
    int lags; /* steps that the taps see, this one included: 1, 2, 3 */

    __device__ int beams_now() const { return sets * alive; }
    __device__ int number(int row) const { return row / alive * p->beams + row % alive; }
    /* Returns the number of the beam that made the column of lag l of beam b. */
    __device__ int made_as(int b, int l) const {
        return l ? b / p->beams * p->beams + f.made[((t & 1) * 2 + l - 1) * p->S * p->beams + b] : b;
    }
    __device__ const float *pool_row(int b, int l) const {
        return f.pool + ((size_t)((t - l) % 3) * p->S * p->beams + made_as(b, l)) * (p->N - 1) * p->C;
    }
    __device__ float *plane(int m, int b, int i) const {
        return planes + (((size_t)m * p->S * p->beams + b) * p->n + i) * (p->C + 4);
    }
    /* Returns the address of what the column of beam b, made `lag` (1 or 2) steps before step `at`, adds to
     * block m at step `at`. */
    __device__ float *sums(int at, int lag, int m, int b, int i) const {
        size_t block = (size_t)(lag == 1 ? 0 : 1 + at % 2) * (p->N - 1) + m - 1;
        return ahead_sums + ((block * p->S * p->beams + b) * p->n + i) * p->C;
    }
    __device__ bool is_placed(int b, int i) const {
        return f.placed[((size_t)(t & 1) * p->S * p->beams + b) * p->words + i / 32] >> i % 32 & 1;
    }
    __device__ int last(int b, int l) const { return f.last[((t & 1) * 3 + l) * p->S * p->beams + b]; }

    __device__ size_t row_of(int b, int i) const { return (size_t)(first + b / p->beams) * p->rows + i; }

    /* Returns y'_t-l times the weights of block m, from channel c on. */
    __device__ float4 y_term(int b, int m, int l, int c) const {
        const float *q =
            t == l ? p->start_q : p->q + ((size_t)(first + b / p->beams) * p->rows + last(b, l)) * p->Q;
        return load4(q + (m * 6 + 3 + l) * p->C + c);
    }
    __device__ float4 x_term(int b, int i, int m, int l, int c) const {
        return load4(p->q + row_of(b, i) * p->Q + (m * 6 + l) * p->C + c);
    }

    /* Returns the relations [E] from the item placed last before step t-l (t > l) to item i. */
    __device__ const float *relations(int b, int i, int l) const {
        size_t row = (size_t)(first + b / p->beams) * p->rows + last(b, l);
        return p->e + (row * p->rows + i) * 2 * p->relations;
    }
    /* Adds relations(b, i, l) times the weights of block m, from channel c on. */
    __device__ void add_relations(float (&acc)[4], int b, int i, int m, int l, int c) const {
        if (t == l) return;
        *(float4 *)acc =
            with_relations(*(float4 *)acc, relations(b, i, l),
                           p->related + ((size_t)m * 3 + l) * p->relations * p->C + c, p->relations, p->C);
    }

    /* Before the first block: `same` and `seen` of all blocks but for this step's pools, which are emptied.
     */
    template <int T> __device__ void begin() const {
        const int N = p->N, C = p->C, four = C / 4, rows = beams_now(), tiles = (rows + T - 1) / T,
                  jobs = tiles * N * four, lane = threadIdx.x % POOL_LANES;
        for (int job0 = 0; job0 < jobs; job0 += blockDim.x / POOL_LANES) {
            const int own = job0 + threadIdx.x / POOL_LANES, job = min(own, jobs - 1);
            int c = job % four * 4, m = job / four % N, row0 = job / (four * N) * T, b[T];
            float acc[T][4] = {};
#pragma unroll
            for (int j = 0; j < T; j++) b[j] = number(min(row0 + j, rows - 1));
            const float *w = p->pool + order_net_conv(m, C) + c;
            for (int l = 1; l < lags; l++) {
                const float *row[T];
#pragma unroll
                for (int j = 0; j < T; j++) row[j] = pool_row(b[j], l);
                add_product<T, POOL_LANES>(acc, row, m * C, w + (size_t)l * m * C * C, C);
            }
            sum_parts<T>(acc);
            if (own >= jobs) continue;
            const float4 bias = load4(p->bias + ((size_t)m * 3 + lags - 1) * C + c),
                         sign = load4(p->pool_sign + m * C + c);
            const float4 empty = make_float4(sign.x > 0 ? 0 : INFINITY, sign.y > 0 ? 0 : INFINITY,
                                             sign.z > 0 ? 0 : INFINITY, sign.w > 0 ? 0 : INFINITY);
#pragma unroll
            for (int j = 0; j < T; j++) {
                if (j % POOL_LANES != lane || row0 + j >= rows) continue;
                const size_t at = ((size_t)b[j] * N + m) * C + c;
                add4(acc[j], bias);
                store4(f.same + at, *(float4 *)acc[j]);
                float y[4] = {0, 0, 0, 0};
                for (int l = 0; l < lags; l++) add4(y, y_term(b[j], m, l, c));
                store4(f.seen + at, *(float4 *)y);
                if (m + 1 < N)
                    store4(f.pool + (((size_t)(t % 3) * p->S * p->beams + b[j]) * (N - 1) + m) * C + c,
                           empty);
            }
        }
    }

    /* Adds values of four channels to this step's pool: keeps the largest (or smallest). */
    __device__ void pool_add(int b, int m, int c, const float (&r)[4], const float (&sign)[4]) const {
        int *to = (int *)(f.pool + (((size_t)(t % 3) * p->S * p->beams + b) * (p->N - 1) + m) * p->C + c);
#pragma unroll
        for (int e = 0; e < 4; e++)
            if (sign[e] > 0)
                atomicMax(to + e, __float_as_int(r[e]));
            else
                atomicMin(to + e, __float_as_int(r[e]));
    }

    /* Computes all cells of block m at this step. */
    template <int T, bool RELATED> __device__ void block(int m) const {
        int C = p->C, n = p->n, four = C / 4, group = LANE_ROWS * four;
        int groups = blockDim.x / group, own = threadIdx.x / group, within = threadIdx.x % group;
        int c = within % four * 4, lane = within / four, rows = beams_now() * n;
        if (own >= groups) return;
        float sign[4];
        *(float4 *)sign = load4(p->pool_sign + m * C + c);
        const float *w = p->conv + order_net_conv(m, C) + c;
        size_t next = (size_t)p->S * p->beams * n * (C + 4); /* from one block's column to the next one's */
        for (int row0 = own * LANE_ROWS * T + lane; row0 < rows; row0 += groups * LANE_ROWS * T) {
            int b[T], i[T];
            float acc[T][4];
#pragma unroll
            for (int j = 0; j < T; j++) {
                int row = min(row0 + j * LANE_ROWS, rows - 1), beam = row / n;
                b[j] = number(beam);
                i[j] = row - beam * n;
                size_t at = ((size_t)b[j] * p->N + m) * C + c;
                *(float4 *)acc[j] = load4(f.same + at);
                if (!is_placed(b[j], i[j])) {
                    add4(acc[j], load4(f.seen + at));
                    if (lags == 3) add4(acc[j], load4(p->q_sum + ((row_of(b[j], i[j]) * p->N) + m) * C + c));
                    for (int l = 0; l < lags; l++) {
                        if (lags < 3) add4(acc[j], x_term(b[j], i[j], m, l, c));
                        if (RELATED) add_relations(acc[j], b[j], i[j], m, l, c);
                    }
                } else {
                    /* Placed one step ago: it was still unplaced at steps t-1 and t-2; two steps ago: at
                     * t-2. */
                    int from = i[j] == last(b[j], 0) ? 1 : t > 1 && i[j] == last(b[j], 1) ? 2 : 3;
                    for (int l = from; l < lags; l++) {
                        add4(acc[j], x_term(b[j], i[j], m, l, c));
                        add4(acc[j], y_term(b[j], m, l, c));
                        if (RELATED) add_relations(acc[j], b[j], i[j], m, l, c);
                    }
                }
            }
            if (m) {
                const float *row[T];
                for (int l = 1; l < lags; l++)
#pragma unroll
                    for (int j = 0; j < T; j++)
                        add4(acc[j], load4(sums(t, l, m, made_as(b[j], l), i[j]) + c));
#pragma unroll
                for (int j = 0; j < T; j++) row[j] = plane(0, b[j], i[j]);
                for (int k = 0; k < m; k++) {
                    add_product<T>(acc, row, C, w + (size_t)k * 3 * C * C, C);
#pragma unroll
                    for (int j = 0; j < T; j++) row[j] += next;
                }
            }
            float most[4];
            int of = -1;
#pragma unroll
            for (int j = 0; j < T; j++) {
                if (row0 + j * LANE_ROWS >= rows) continue;
#pragma unroll
                for (int e = 0; e < 4; e++) acc[j][e] = relu(acc[j][e]);
                store4(plane(m, b[j], i[j]) + c, *(float4 *)acc[j]);
                if (m == p->N - 1) continue;
                if (of >= 0 && of != b[j]) pool_add(of, m, c, most, sign);
#pragma unroll
                for (int e = 0; e < 4; e++)
                    most[e] = of != b[j]    ? acc[j][e]
                              : sign[e] > 0 ? fmaxf(most[e], acc[j][e])
                                            : fminf(most[e], acc[j][e]);
                of = b[j];
            }
            if (of >= 0) pool_add(of, m, c, most, sign);
        }
    }

    /* Adds what the pool of block k at this step gives to `same` of later blocks. */
    template <int T> __device__ void after(int k) const {
        const int N = p->N, C = p->C, four = C / 4, later = N - 1 - k, rows = beams_now(),
                  tiles = (rows + T - 1) / T, jobs = tiles * later * four, lane = threadIdx.x % POOL_LANES;
        for (int job0 = 0; job0 < jobs; job0 += blockDim.x / POOL_LANES) {
            const int own = job0 + threadIdx.x / POOL_LANES, job = min(own, jobs - 1);
            int c = job % four * 4, m = k + 1 + job / four % later, row0 = job / (four * later) * T, b[T];
            float acc[T][4] = {};
            const float *row[T];
#pragma unroll
            for (int j = 0; j < T; j++) {
                b[j] = number(min(row0 + j, rows - 1));
                row[j] = pool_row(b[j], 0) + (size_t)k * C;
            }
            add_product<T, POOL_LANES>(acc, row, C, p->pool + order_net_conv(m, C) + (size_t)k * C * C + c,
                                       C);
            sum_parts<T>(acc);
            if (own >= jobs) continue;
#pragma unroll
            for (int j = 0; j < T; j++) {
                if (j % POOL_LANES != lane || row0 + j >= rows) continue;
                float *same = f.same + ((size_t)b[j] * N + m) * C + c;
                add4(acc[j], load4(same));
                store4(same, *(float4 *)acc[j]);
            }
        }
    }

    /* Computes what this step's columns add to the next two steps, once all blocks are done. */
    template <int T> __device__ void ahead() const {
        const int C = p->C, n = p->n, four = C / 4, group = LANE_ROWS * four, groups = blockDim.x / group,
                  own = threadIdx.x / group, within = threadIdx.x % group, c = within % four * 4,
                  lane = within / four, rows = beams_now() * n,
                  tiles = (rows + LANE_ROWS * T - 1) / (LANE_ROWS * T), later = min(n - 1 - t, 2);
        const size_t next = (size_t)p->S * p->beams * n * (C + 4);
        if (own >= groups) return;
        /* The blocks that see most columns first. */
        for (int job = own; job < (p->N - 1) * later * tiles; job += groups) {
            int tile = job % tiles, l = job / tiles % later + 1, m = p->N - 1 - job / (tiles * later), b[T],
                i[T];
            const float *row[T], *w = p->conv + order_net_conv(m, C) + (size_t)l * C * C + c;
            float acc[T][4] = {};
#pragma unroll
            for (int j = 0; j < T; j++) {
                int at = min((tile * T + j) * LANE_ROWS + lane, rows - 1), beam = at / n;
                b[j] = number(beam);
                i[j] = at - beam * n;
                row[j] = plane(0, b[j], i[j]);
            }
            for (int k = 0; k < m; k++) {
                add_product<T>(acc, row, C, w + (size_t)k * 3 * C * C, C);
#pragma unroll
                for (int j = 0; j < T; j++) row[j] += next;
            }
#pragma unroll
            for (int j = 0; j < T; j++)
                if ((tile * T + j) * LANE_ROWS + lane < rows)
                    store4(sums(t + l, l, m, b[j], i[j]) + c, *(float4 *)acc[j]);
        }
    }

    /* Computes the logits of all items of all beams, four lanes per cell. */
    template <bool RELATED> __device__ void logits() const {
        int C = p->C, n = p->n, rows = beams_now() * n, quarter = threadIdx.x % 4;
        for (int row0 = 0; row0 < rows; row0 += blockDim.x / 4) {
            int row = row0 + threadIdx.x / 4, at = min(row, rows - 1), b = number(at / n), i = at % n;
            float sum = 0;
            for (int m = 0; m < p->N; m++)
                for (int c = quarter * 4; c < C; c += 16) {
                    float4 r = load4(plane(m, b, i) + c), h = load4(p->head_v + m * C + c);
                    sum += r.x * h.x + r.y * h.y + r.z * h.z + r.w * h.w;
                }
            sum += __shfl_xor_sync(~0u, sum, 1);
            sum += __shfl_xor_sync(~0u, sum, 2);
            if (RELATED && t)
                for (int r = 0; r < p->relations; r++) sum += relations(b, i, 0)[r] * p->head_e[r];
            if (row < rows && quarter == 0)
                f.logit[(size_t)b * n + i] =
                    p->item_logit[(size_t)(first + b / p->beams) * p->rows + i] + sum;
        }
    }

    __device__ double value(int b, int i) const {
        return f.logprob[(t & 1) * p->S * p->beams + b] + choice(b, i);
    }

    /* Returns the log-probability of item i as the next of beam b. */
    __device__ double choice(int b, int i) const {
        return (double)f.logit[(size_t)b * p->n + i] - (double)f.top[b] - f.shift[b];
    }

    /* Returns whether the constraints allow item i, which is not placed yet, to be the next of beam b. */
    __device__ bool allowed(int b, int i) const {
        if (!p->rules) return true;
        order_rules r = order_rules_at(p->rules + (size_t)(first + b / p->beams) * p->rules_each, p->n);
        if (r.fixed[t] >= 0) return i == r.fixed[t];
        if (t && r.next[last(b, 0)] >= 0) return i == r.next[last(b, 0)];
        if (i == r.last[0] && t != p->n - r.last[1]) return false;
        for (int k = r.before_start[i]; k < r.before_start[i + 1]; k++)
            if (!is_placed(b, r.before[k])) return false;
        return true;
    }

    /* Finds the best candidate of beam b that comes after (key, item); all lanes of a warp call it. */
    __device__ void next_best(int b, unsigned long long key, int item, unsigned long long &best,
                              int &best_item) const {
        best = 0;
        best_item = 0x7fffffff;
        for (int i = threadIdx.x % 32; i < p->n; i += 32) {
            if (is_placed(b, i) || !allowed(b, i)) continue;
            unsigned long long k = key_of(value(b, i));
            if (k > key || (k == key && i <= item)) continue;
            if (k > best) {
                best = k;
                best_item = i;
            }
        }
        warp_best(best, best_item);
    }

    /* One warp per beam: the softmax, and the beam's best candidate. */
    __device__ void softmax() const {
        int lane = threadIdx.x % 32, n = p->n;
        for (int row = threadIdx.x / 32; row < beams_now(); row += blockDim.x / 32) {
            int b = number(row);
            const float *logit = f.logit + (size_t)b * n;
            float top = -INFINITY;
            for (int i = lane; i < n; i += 32)
                if (!is_placed(b, i)) top = fmaxf(top, logit[i]);
            for (int far = 16; far; far /= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, far));
            double sum = 0;
            for (int i = lane; i < n; i += 32)
                if (!is_placed(b, i)) sum += exp((double)(logit[i] - top));
            for (int far = 16; far; far /= 2) sum += __shfl_xor_sync(~0u, sum, far);
            /* Not added: beside a large logit the logarithm would be lost. */
            if (lane == 0) {
                f.top[b] = top;
                f.shift[b] = log(sum);
            }
            __syncwarp();
            if (p->score) continue;
            unsigned long long key;
            int item;
            next_best(b, ~0ull, -1, key, item);
            if (lane == 0) {
                f.best[b] = key;
                f.best_item[b] = item;
            }
        }
    }

    /* One warp per set: the `keep` best candidates of all its beams become the beams of the next step. */
    __device__ void choose(int keep) const {
        int lane = threadIdx.x % 32, all = p->S * p->beams, now = t & 1, next = now ^ 1, words = p->words;
        for (int s = threadIdx.x / 32; s < sets; s += blockDim.x / 32) {
            int base = s * p->beams, best_from = 0, best_item = 0;
            for (int c = 0; c < keep; c++) {
                unsigned long long key = 0;
                int from = 0x7fffffff, item;
                bool none = false; /* no candidate is left */
                if (p->score) {
                    from = base;
                    item = p->given[(size_t)(first + s) * p->n + t];
                    key = key_of(value(from, item));
                } else {
                    for (int b = base + lane; b < base + alive; b += 32)
                        if (f.best[b] > key) {
                            key = f.best[b];
                            from = b;
                        }
                    warp_best(key, from);
                    none = key == 0 && c > 0;
                    if (none) {
                        key = key_of(-INFINITY);
                        from = best_from;
                    }
                    item = none ? best_item : f.best_item[from];
                    if (c == 0) {
                        best_from = from;
                        best_item = item;
                    }
                }
                int to = base + c;
                for (int w = lane; w < words; w += 32)
                    f.placed[((size_t)next * all + to) * words + w] =
                        f.placed[((size_t)now * all + from) * words + w] |
                        (w == item / 32 ? 1u << item % 32 : 0u);
                if (lane == 0) {
                    f.logprob[next * all + to] = of_key(key);
                    f.last[(next * 3 + 0) * all + to] = item;
                    f.last[(next * 3 + 1) * all + to] = f.last[(now * 3 + 0) * all + from];
                    f.last[(next * 3 + 2) * all + to] = f.last[(now * 3 + 1) * all + from];
                    f.made[(next * 2 + 0) * all + to] = from - base;
                    f.made[(next * 2 + 1) * all + to] = f.made[(now * 2 + 0) * all + from];
                    size_t at = (((size_t)blockIdx.x * p->S + s) * p->n + t) * p->beams + c;
                    p->trace[at] = make_int2(item, from - base);
                    p->trace_p[at] = (float)exp(choice(from, item));
                }
                if (none) continue;
                if (c + 1 == keep) break;
                unsigned long long left;
                int left_item;
                next_best(from, key, item, left, left_item);
                __syncwarp();
                if (lane == 0) {
                    f.best[from] = left;
                    f.best_item[from] = left_item;
                }
                __syncwarp();
            }
        }
    }

    /* Writes the orders found, followed back from their last step. */
    __device__ void finish() const {
        for (int row = threadIdx.x; row < sets * p->found; row += blockDim.x) {
            int s = row / p->found, rank = row % p->found, b = rank;
            size_t to = (size_t)(first + s) * p->found + rank;
            p->logprob[to] = f.logprob[(p->n & 1) * p->S * p->beams + s * p->beams + rank];
            for (int u = p->n - 1; u >= 0; u--) {
                size_t at = (((size_t)blockIdx.x * p->S + s) * p->n + u) * p->beams + b;
                p->order[to * p->n + u] = p->trace[at].x;
                p->step[to * p->n + u] = p->trace_p[at];
                b = p->trace[at].y;
            }
        }
    }
};

template <bool SHARED, int T, bool RELATED>
__global__ static void __launch_bounds__(MOST_THREADS, 1)
    search_kernel(const __grid_constant__ search_args p) {
    extern __shared__ float4 memory[];
    stage g;
    g.p = &p;
    g.planes = SHARED ? (float *)memory : p.planes + blockIdx.x * p.planes_each;
    unsigned char *small = SHARED     ? (unsigned char *)(g.planes + p.planes_each)
                           : p.states ? p.states + blockIdx.x * p.states_each
                                      : (unsigned char *)memory;
    g.ahead_sums = p.ahead ? p.ahead + blockIdx.x * p.ahead_each : (float *)(small + p.states_each);
    g.f = beam_states_at(small, p.S * p.beams, p.n, p.N, p.C);
    int all = p.S * p.beams;
    for (g.first = blockIdx.x * p.S; g.first < p.sets; g.first += gridDim.x * p.S) {
        g.sets = min(p.S, p.sets - g.first);
        g.alive = 1;
        if (p.poison) {
            for (size_t i = threadIdx.x; i < p.planes_each; i += blockDim.x) g.planes[i] = NAN;
            for (size_t i = threadIdx.x; i < p.ahead_each; i += blockDim.x) g.ahead_sums[i] = NAN;
            for (size_t i = threadIdx.x; i < p.states_each / 4; i += blockDim.x) ((float *)small)[i] = NAN;
            __syncthreads();
        }
        for (int s = threadIdx.x; s < g.sets; s += blockDim.x) {
            g.f.logprob[s * p.beams] = 0;
            for (int l = 0; l < 3; l++) g.f.last[l * all + s * p.beams] = 0;
            for (int l = 0; l < 2; l++) g.f.made[l * all + s * p.beams] = 0;
        }
        for (int w = threadIdx.x; w < g.sets * p.words; w += blockDim.x)
            g.f.placed[(size_t)(w / p.words) * p.beams * p.words + w % p.words] = 0;
        __syncthreads();
        for (g.t = 0; g.t < p.n; g.t++) {
            g.lags = min(g.t + 1, 3);
            g.template begin<T>();
            __syncthreads();
            for (int m = 0; m < p.N; m++) {
                g.template block<T, RELATED>(m);
                __syncthreads();
                if (m + 1 == p.N) break;
                g.template after<T>(m);
                __syncthreads();
            }
            g.template ahead<4>();
            g.template logits<RELATED>();
            __syncthreads();
            g.softmax();
            __syncthreads();
            long most = (long)g.alive * (p.n - g.t);
            int keep = most < p.beams ? (int)most : p.beams;
            g.choose(keep);
            __syncthreads();
            g.alive = keep;
        }
        g.finish();
        __syncthreads();
    }
}

typedef void search_fn(const search_args);

template <bool RELATED> static search_fn *kernel_of(const search_plan *p) {
    if (p->planes_shared)
        return p->cells == 4 ? search_kernel<true, 4, RELATED> : search_kernel<true, 2, RELATED>;
    return p->cells == 4 ? search_kernel<false, 4, RELATED> : search_kernel<false, 2, RELATED>;
}

static search_fn *kernel_for(const orders *s, const search_plan *p) {
    return s->net.settings.relations ? kernel_of<true>(p) : kernel_of<false>(p);
}

bool order_search_limits(orders *s) {
    for (int kind = 0; kind < 4; kind++) {
        search_plan p = {};
        p.planes_shared = kind & 1;
        p.cells = kind & 2 ? 4 : 2;
        gpu_ok(s, allow_shared(kernel_for(s, &p), s->shared), "limit");
    }
    return !s->failed[0];
}

/* Chooses the sets per thread block: enough cells for its threads, and memory for two thread blocks per
 * multiprocessor. */
bool order_search_plan(orders *s, const order_batch *b, search_plan *p) {
    int N = s->net.N, C = s->net.C, group = LANE_ROWS * C / 4;
    *p = {};
    p->n = b->n;
    p->placed = b->placed;
    p->rules = b->rules;
    p->beams = b->beams;
    p->found = b->found;
    int n = b->placed;
    if ((double)b->beams * n > 1e9 || (double)b->beams * N * C > 1e9) return false;
    auto planes = [&](int S) { return planes_size(S * b->beams, n, N, C) * sizeof(float); };
    auto small = [&](int S) { return beam_states_at(nullptr, S * b->beams, n, N, C).bytes; };
    int each = b->beams * n;
    p->S = 1;
    p->states_shared = small(1) <= s->shared;
    p->planes_shared = planes(1) + small(1) <= s->shared;
    if (p->planes_shared)
        while (p->S * each < 96 && planes(p->S + 1) + small(p->S + 1) <= s->shared / 2 - 1024) p->S++;
    p->planes = planes(p->S);
    p->ahead = ahead_size(p->S * b->beams, n, N, C) * sizeof(float);
    p->states = small(p->S);
    p->ahead_shared = p->planes_shared && p->planes + p->states + p->ahead <= s->shared / 2 - 1024;
    p->shared = (p->planes_shared ? p->planes : 0) + (p->states_shared ? p->states : 0) +
                (p->ahead_shared ? p->ahead : 0);
    /* Four cells per thread reuse weights best, where that leaves enough threads to hide latency. */
    int cells = p->S * each, most = p->planes_shared ? 2 * p->shared > s->shared : cells > 4096;
    most = most ? MOST_THREADS : 256;
    int together = p->shared ? (int)std::min<size_t>(8, s->shared / p->shared) : 8;
    auto threads = [&](int T) {
        return std::min(up(cells, LANE_ROWS * T), std::max(1, most / group)) * group;
    };
    p->cells = threads(4) * together >= 384 ? 4 : 2;
    p->threads = std::max(threads(p->cells), 64);
    int fit = 0;
    gpu_ok(s, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel_for(s, p), p->threads, p->shared),
           "occupancy");
    p->blocks = s->multiprocessors * std::max(fit, 1);
    p->blocks = (int)std::min<size_t>(p->blocks, (b->sets + p->S - 1) / p->S);
    return !s->failed[0];
}

void order_search(orders *s, const search_plan *p, int B, bool score) {
    const order_net *f = &s->net;
    search_args a = {};
    a.sets = B;
    a.n = p->placed;
    a.rows = p->n;
    a.rules_each = p->rules;
    a.beams = p->beams;
    a.found = p->found;
    a.S = p->S;
    a.N = f->N;
    a.C = f->C;
    a.Q = f->Q;
    a.words = up(p->placed, 32);
    a.score = score;
    a.poison = s->base.poison;
    a.q = s->q;
    a.q_sum = s->q_sum;
    a.start_q = s->numbers + f->start_q;
    a.item_logit = s->item_logit;
    a.conv = s->numbers + f->conv;
    a.pool = s->numbers + f->pool;
    a.bias = s->numbers + f->bias;
    a.pool_sign = s->numbers + f->sign;
    a.head_v = s->numbers + f->head_v;
    a.e = s->e;
    a.related = s->numbers + f->last;
    a.head_e = s->numbers + f->head_e;
    a.relations = f->settings.relations;
    a.given = s->given;
    a.rules = p->rules ? s->rules : nullptr;
    a.planes = p->planes_shared ? nullptr : s->planes;
    a.states = p->states_shared ? nullptr : s->states;
    a.planes_each = p->planes / sizeof(float);
    a.ahead = p->ahead_shared ? nullptr : s->ahead;
    a.ahead_each = p->ahead / sizeof(float);
    a.states_each = p->states;
    a.trace = s->trace;
    a.trace_p = s->trace_p;
    a.order = s->order;
    a.step = s->step;
    a.logprob = s->logprob;
    LAUNCH(s, s->stream, std::min(p->blocks, up(B, p->S)), p->threads, p->shared, kernel_for(s, p), a);
}
