/* Three CUDA kernels of a training step with relations between items. relate gathers the relations of the
 * batch and packs the weights that see them (after take). related_weights computes the gradients of these
 * weights in an encoder block, last_weights in the decoder and the head. What the relations add to the layers
 * is in the layers' own kernels (RELATED). Batches of such nets always have the tables of several sizes. */
#include <algorithm>

#include "engine/cuda/layers/decoder.cuh"
#include "engine/cuda/layers/pairs.cuh"

/* ---- the batch ---- */

enum { RELATE_THREADS = 256, RELATE_EACH = 16 /* pairs of a thread */, RELATE_PACK = 8 /* thread blocks */ };

struct relate_args {
    int E, B;
    const set_place *places; /* [B] */
    const int32_t *slot;     /* [R]: row, within its set, of an item; NULL: item i is row i */
    const uint32_t *index;
    const uint64_t *start, *row;
    const float *value, *mean, *scale; /* [., E], [E], [E] */
    float *e;                          /* [pairs, 2E] */
    /* Weights to pack: */
    int H, hidden, M, C, out, N, D;
    const float *theta;
    struct {
        size_t weight; /* of the first one that sees a relation, in rows of `columns` */
        int columns;
        float *to; /* [2E, H] */
    } enc[MAX_BLOCKS];
    struct {
        size_t weight;
        int in;
    } dec[MAX_BLOCKS];
    float *last; /* [N, 3, E, C] */
};

/* Packs number i of [M, 2E, hidden], followed by [N, 3, E, out]. Padding is 0 from the beginning. */
__device__ static inline void pack_related(const relate_args &p, int i) {
    int both = 2 * p.E, encoder = p.M * both * p.hidden;
    if (i < encoder) {
        int h = i % p.hidden, r = i / p.hidden % both;
        const auto &e = p.enc[i / (p.hidden * both)];
        e.to[(size_t)r * p.H + h] = p.theta[e.weight + (size_t)h * e.columns + r];
        return;
    }
    i -= encoder;
    int c = i % p.out, r = i / p.out % p.E, l = i / (p.out * p.E) % 3, m = i / (3 * p.out * p.E);
    p.last[(((size_t)m * 3 + l) * p.E + r) * p.C + c] =
        p.theta[p.dec[m].weight + ((size_t)c * p.dec[m].in + 2 * p.D + r) * 3 + 2 - l];
}

/* x of the grid is a set, y some of its pairs; the last x pack weights. A relation has two readers: e_ij of
 * the pair (i, j), and e_ji of the pair (j, i). */
__global__ void __launch_bounds__(RELATE_THREADS) relate(const __grid_constant__ relate_args p) {
    wait_turn();
    const int E = p.E, first = (int)blockIdx.y * RELATE_THREADS + (int)threadIdx.x,
              stride = (int)gridDim.y * RELATE_THREADS;
    if ((int)blockIdx.x >= p.B) {
        int count = 2 * p.M * E * p.hidden + 3 * p.N * E * p.out;
        for (int i = ((int)blockIdx.x - p.B) * stride + first; i < count; i += RELATE_PACK * stride)
            pack_related(p, i);
        return;
    }
    const set_place at = p.places[blockIdx.x];
    const size_t from = p.start[p.index[blockIdx.x]];
    const int32_t *slot = p.slot ? p.slot + at.row0 : nullptr;
#pragma unroll 1
    for (int q = first; q < at.n * at.n; q += stride) {
        int a = q / at.n, b = q - a * at.n, i = slot ? slot[a] : a, j = slot ? slot[b] : b;
        const float *value = p.value + (p.row[from + a] + b) * E;
        float *own = p.e + ((size_t)at.pair0 + (size_t)i * at.n + j) * 2 * E,
              *other = p.e + ((size_t)at.pair0 + (size_t)j * at.n + i) * 2 * E + E;
        for (int r = 0; r < E; r++) own[r] = other[r] = a == b ? 0.0f : (value[r] - p.mean[r]) * p.scale[r];
    }
}

void gpu_relate(gpu *s) {
    const net_shape *sh = s->base.sh;
    const mixed_batch *x = s->ragged.mixed;
    int d = sh->s.width, cells = x->largest * x->largest;
    relate_args p = {.E = sh->s.relations,
                     .B = s->base.B,
                     .places = x->places,
                     .slot = x->slot,
                     .index = s->send.index,
                     .start = s->given.start,
                     .row = s->related.row,
                     .value = s->related.value,
                     .mean = s->weights.mean + d,
                     .scale = s->weights.scale + d,
                     .e = s->related.e,
                     .H = s->H,
                     .hidden = sh->s.hidden,
                     .M = s->M,
                     .C = s->C,
                     .out = sh->s.decoder_out,
                     .N = s->N,
                     .D = sh->D,
                     .theta = s->weights.theta};
    for (int k = 0; k < s->M; k++)
        p.enc[k] = {.weight = sh->enc[k].weight1 + 2 * (size_t)sh->enc[k].in,
                    .columns = sh->enc[k].columns,
                    .to = s->related.w[k]};
    for (int m = 0; m < s->N; m++) p.dec[m] = {.weight = sh->dec[m].weight, .in = sh->dec[m].in};
    p.last = s->related.last;
    dim3 grid(s->base.B + RELATE_PACK, up(cells, RELATE_THREADS * RELATE_EACH));
    CHAIN(s, grid, RELATE_THREADS, 0, relate, p);
}

/* ---- the encoder ---- */

enum { RELATED_THREADS = 256, RELATED_WARPS = RELATED_THREADS / 32 };

struct related_args : pairs_of_block {
    int rows;
    const set_place *places;
    const int2 *row_at; /* [rows] */
    const float *u, *gd;
    const int *arg;
    const float *k0, *k1, *c0, *c1;
    float *part; /* [splits, 2E, H] */
};

/* Returns du of channel o of the pair (i, j), as back_du_of in pairs.cuh does. */
__device__ static inline float related_du(const related_args &p, size_t pair, int row, int i, int j, int o) {
    float u = load(p.u + pair * p.O + o);
    size_t at = (size_t)row * p.O + o;
    bool taken = pool_sums(p.pool) ? i != j : load(p.arg + at) == j;
    return u > 0 ? (taken ? load(p.gd + at) : 0.0f) - load(p.k0 + o) - load(p.k1 + o) * u : 0.0f;
}

/* part = sum over some rows i, and all j, of [e_ij e_ji] dh_ij, where dh = (W2 du) g1 - c0 - c1 h, and 0
 * where h is. A thread block has 32 hidden channels, one per lane; a warp has a pair at a time. Shared
 * memory: W2 with norm1's scale [O][32], sums [2E][threads]. */
__global__ void __launch_bounds__(RELATED_THREADS) related_weights(related_args p) {
    wait_turn();
    extern __shared__ float4 memory[];
    const int H = p.H, O = p.O, both = p.both, tid = threadIdx.x, lane = tid & 31, warp = tid >> 5,
              h0 = (int)blockIdx.y * 32, h = min(h0 + lane, H - 1);
    float *w = (float *)memory, *sums = w + O * 32;
    for (int i = tid; i < O * 32; i += RELATED_THREADS) {
        int o = i / 32, k = h0 + i % 32;
        w[i] = o < p.out && k < p.hidden
                   ? __ldg(p.theta + p.weight + (size_t)o * p.hidden + k) * load(p.norm1.g + k)
                   : 0.0f;
    }
    for (int r = 0; r < both; r++) sums[r * RELATED_THREADS + tid] = 0;
    __syncthreads();
    const float c0 = load(p.c0 + h), c1 = load(p.c1 + h);
#pragma unroll 1
    for (int row = blockIdx.x; row < p.rows; row += gridDim.x) {
        const set_place at = p.places[p.row_at[row].y];
        const int n = at.n, i = row - at.row0;
        const float a = load(p.ac + (size_t)row * 2 * H + h);
#pragma unroll 1
        for (int j = warp; j < n; j += RELATED_WARPS) {
            const size_t pair = (size_t)at.pair0 + (size_t)i * n + j;
            const float *e = p.e + pair * both;
            float c = load(p.ac + (size_t)(at.row0 + j) * 2 * H + H + h), back = 0;
            c = relu(a + with_relations(c, e, p.related + h, both, H));
#pragma unroll 1
            for (int o0 = 0; o0 < O; o0 += 32) {
                float du = o0 + lane < O ? related_du(p, pair, row, i, j, o0 + lane) : 0.0f;
#pragma unroll 8
                for (int o = 0; o < min(32, O - o0); o++)
                    back += __shfl_sync(0xffffffff, du, o) * w[(o0 + o) * 32 + lane];
            }
            float dh = c > 0 ? back - c0 - c1 * c : 0.0f;
            for (int r = 0; r < both; r++) sums[r * RELATED_THREADS + tid] += load(e + r) * dh;
        }
    }
    __syncthreads();
    for (int i = tid; i < both * 32; i += RELATED_THREADS) {
        int r = i / 32, k = i % 32;
        float sum = 0;
        for (int z = 0; z < RELATED_WARPS; z++) sum += sums[r * RELATED_THREADS + z * 32 + k];
        if (h0 + k < H) p.part[((size_t)blockIdx.x * both + r) * H + h0 + k] = sum;
    }
}

/* On the main stream: the next kernel there writes gd. */
void gpu_related_weights(gpu *s, int block) {
    encoder_block *e = &s->enc[block];
    related_args p = {pairs_of(s, block)};
    p.rows = (int)s->here.items;
    p.places = s->ragged.mixed->places;
    p.row_at = s->ragged.mixed->row_at;
    p.u = e->u;
    p.gd = s->step.gd;
    p.arg = e->arg;
    p.k0 = e->k0;
    p.k1 = e->k1;
    p.c0 = e->c0;
    p.c1 = e->c1;
    p.part = s->related.w_part[block];
    int groups = up(s->H, 32), most = std::max(1, 4 * s->multiprocessors / groups);
    s->related.w_splits[block] = std::min(std::min(p.rows, most), (int)CONV_SPLITS);
    size_t shared = (size_t)(32 * s->O + p.both * RELATED_THREADS) * sizeof(float);
    CHAIN(s, dim3(s->related.w_splits[block], groups), RELATED_THREADS, shared, related_weights, p);
}

/* ---- the decoder ---- */

enum { LAST_THREADS = 256 };

/* Returns the relations [E] from the item placed at step t-1 of a set to its row i. */
__device__ static inline const float *last_at(const conv_args &p, const set_place &at, int t, int i) {
    size_t row = (size_t)load(p.order + at.step0 + t - 1);
    return p.e + ((size_t)at.pair0 + row * at.n + i) * 2 * p.relations;
}

/* Gradients over some steps (x of the grid): in decoder block y for each lag l sums of e dpre, over the cells
 * that see relations of l steps ago; for y = N the head's, sums of e dlogit. Four channels per thread. */
__global__ void __launch_bounds__(LAST_THREADS)
    last_weights(const __grid_constant__ conv_args p, float *part, int width) {
    __shared__ float4 sums[3][LAST_THREADS];
    const bool head = (int)blockIdx.y == p.N;
    const int C = p.C, E = p.relations, m = head ? 0 : (int)blockIdx.y, four = head ? 1 : C / 4,
              tid = threadIdx.x, c = tid % four * 4, slice = tid / four, slices = LAST_THREADS / four;
    part += (size_t)blockIdx.x * width + (size_t)blockIdx.y * 3 * E * C;
    float4 g = {}, k0 = {}, k1 = {};
    if (!head) {
        g = load4(p.norm.g + m * C + c);
        k0 = load4(p.k0 + m * C + c);
        k1 = load4(p.k1 + m * C + c);
    }
    for (int r = 0; r < E; r++) {
        float4 sum[3] = {};
#pragma unroll 1
        for (int step = blockIdx.x; step < p.T; step += gridDim.x) {
            const set_place at = p.places[p.step_set[step]];
            const int t = step - at.step0;
#pragma unroll 1
            for (int i = slice; i < at.m && slice < slices && t; i += slices) {
                const size_t cell = (size_t)at.cell0 + (size_t)t * at.m + i;
                if (head) {
                    sum[0].x += load(p.dlogit + cell) * last_at(p, at, t, i)[r];
                    continue;
                }
                const int pos = load(p.pos + at.row0 + i);
                const float4 d = dpre_at<ONET_FLOAT32>(p, m, m * p.plane + cell * C + c, g, k0, k1);
#pragma unroll
                for (int l = 0; l < 3; l++) {
                    if (t <= l || t - l > pos) continue;
                    float e = last_at(p, at, t - l, i)[r];
                    sum[l] = make_float4(sum[l].x + e * d.x, sum[l].y + e * d.y, sum[l].z + e * d.z,
                                         sum[l].w + e * d.w);
                }
            }
        }
        for (int l = 0; l < 3; l++) sums[l][tid] = sum[l];
        __syncthreads();
        for (int l = 0; l < 3 && !slice; l++) {
            float4 all = sums[l][tid];
            for (int z = 1; z < slices; z++) {
                float4 x = sums[l][z * four + tid];
                all = make_float4(all.x + x.x, all.y + x.y, all.z + x.z, all.w + x.w);
            }
            if (!head)
                store4(part + ((size_t)l * E + r) * C + c, all);
            else if (!l)
                part[r] = all.x;
        }
        __syncthreads();
    }
}

void gpu_last_weights(gpu *s, cudaStream_t where) {
    conv_args p = gpu_conv_args(s, -1, true);
    s->related.last_splits = std::min(std::min(p.T, 4 * s->multiprocessors), (int)CONV_SPLITS);
    LAUNCH(s, where, dim3(s->related.last_splits, s->N + 1), LAST_THREADS, 0, last_weights, p,
           s->related.last_part, last_width(s));
}
