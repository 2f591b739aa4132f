/* Adds up the parts of the gradient (kernel finish), all-reduces it over the ranks, computes its norm,
 * updates the parameters and trained word vectors with Adam (move), and keeps the EMA (exponential moving
 * average) of both (move_average). */
#include <math.h>

#include "engine/cuda/layers/layers.cuh"

struct finish_args {
    const chunk *chunks;
    float *grad;
    const float *theta;
    int H, O, C, Q, N, hidden, out, D, conv_out, E;
    struct {
        size_t bias2, gamma, beta; /* of norm1 */
        const float *weight_part, *related_part, *g;
        norms norm1;
        int splits, related_splits, in;
    } enc[MAX_BLOCKS];
    int dec_in[MAX_BLOCKS];
    const float *rows_part, *conv_part, *pool_part, *head_total, *dec_g;
    const float *start_row; /* row R of dq where rows_part does not hold its product yet, else NULL */
    size_t start;
    int rows_splits, conv_splits, pool_splits, last_splits;
    const float *last_part; /* [last_splits, last_width] */
    size_t last_width;
    double *norm_part;
};

__device__ static inline float sum_parts(const float *part, size_t stride, int splits) {
    float sum = 0;
#pragma unroll 8
    for (int k = 0; k < splits; k++) sum += load(part + k * stride);
    return sum;
}

template <bool RELATED> __device__ static float gradient(const finish_args &p, const chunk &ch, unsigned i) {
    int b = ch.block;
    const auto &e =
        p.enc[ch.kind == GRAD_WEIGHT1 || ch.kind == GRAD_BIAS1 || ch.kind == GRAD_WEIGHT2 ? b : 0];
    switch (ch.kind) {
    case GRAD_WEIGHT1: {
        if constexpr (RELATED) { /* behind the weights that see features */
            int columns = 2 * e.in + 2 * p.E, r = (int)i % columns - 2 * e.in;
            if (r >= 0)
                return sum_parts(e.related_part + (size_t)r * p.H + (int)i / columns, 2 * (size_t)p.E * p.H,
                                 e.related_splits);
            i -= (unsigned)((int)i / columns * 2 * p.E);
        }
        int c = (int)i % e.in, side = (int)i / e.in % 2, h = (int)i / (2 * e.in);
        return sum_parts(e.weight_part + (size_t)(side * p.H + h) * (e.in + 1) + c,
                         2 * (size_t)p.H * (e.in + 1), e.splits);
    }
    case GRAD_BIAS1:
        return sum_parts(e.weight_part + (size_t)i * (e.in + 1) + e.in, 2 * (size_t)p.H * (e.in + 1),
                         e.splits);
    case GRAD_WEIGHT2: {
        int h = (int)i % p.hidden, o = (int)i / p.hidden;
        double du = (double)p.grad[e.bias2 + o];
        double centred =
            ((double)e.g[(size_t)h * p.O + o] - du * (double)e.norm1.mean[h]) * (double)e.norm1.inv[h];
        return (float)((double)p.theta[e.gamma + h] * centred + (double)p.theta[e.beta + h] * du);
    }
    case GRAD_CONV: {
        int tap = (int)i % 3, in = p.dec_in[b], channel = (int)i / 3 % in, c = (int)i / (3 * in), l = 2 - tap;
        if (channel < 2 * p.D) {
            int side = channel / p.D, x = channel % p.D;
            int column = (b * 6 + side * 3 + l) * p.C + c;
            float sum = sum_parts(p.rows_part + (size_t)column * p.D + x, (size_t)p.Q * p.D, p.rows_splits);
            return p.start_row ? sum + p.start_row[column] * p.theta[p.start + x] : sum;
        }
        channel -= 2 * p.D;
        if constexpr (RELATED) {
            if (channel < p.E)
                return sum_parts(p.last_part + (((size_t)b * 3 + l) * p.E + channel) * p.C + c, p.last_width,
                                 p.last_splits);
            channel -= p.E;
        }
        int from = channel / (2 * p.conv_out), k = channel % (2 * p.conv_out), pair = b * (b - 1) / 2 + from;
        const float *part = k < p.conv_out ? p.conv_part : p.pool_part;
        int splits = k < p.conv_out ? p.conv_splits : p.pool_splits;
        if (k >= p.conv_out) k -= p.conv_out;
        return sum_parts(part + (((size_t)pair * 3 + l) * p.C + k) * p.C + c,
                         (size_t)p.N * (p.N - 1) / 2 * 3 * p.C * p.C, splits);
    }
    case GRAD_HEAD: {
        if ((int)i < p.D) return p.head_total[p.N * p.C + i];
        if ((int)i < 2 * p.D) return 0;
        int k = (int)i - 2 * p.D;
        if constexpr (RELATED) {
            if (k < p.E)
                return sum_parts(p.last_part + (size_t)3 * p.N * p.E * p.C + k, p.last_width, p.last_splits);
            k -= p.E;
        }
        int m = k / (2 * p.conv_out), c = k % (2 * p.conv_out);
        return c < p.conv_out ? p.dec_g[m * p.C + c] * p.head_total[m * p.C + c] : 0.0f;
    }
    case GRAD_ZERO:
        return 0;
    default:
        return p.grad[ch.tensor + i];
    }
}

__device__ static inline double block_sum(double v, double *sums) {
    for (int k = 16; k; k /= 2) v += __shfl_xor_sync(0xffffffff, v, k);
    if (!(threadIdx.x & 31)) sums[threadIdx.x >> 5] = v;
    __syncthreads();
    double sum = 0;
    for (int k = 0; k < (int)blockDim.x / 32; k++) sum += sums[k];
    return sum;
}

enum { FINISH_THREADS = 256 };

/* WHOLE: the gradient is complete and only its square is computed. */
template <bool WHOLE, bool RELATED>
__global__ void __launch_bounds__(FINISH_THREADS) finish(const __grid_constant__ finish_args p) {
    wait_turn();
    __shared__ double sums[FINISH_THREADS / 32];
    chunk ch = p.chunks[blockIdx.x];
    double square = 0;
#pragma unroll 1
    for (unsigned k = threadIdx.x; k < ch.count; k += FINISH_THREADS) {
        float g = WHOLE ? p.grad[ch.tensor + ch.first + k] : gradient<RELATED>(p, ch, ch.first + k);
        if (!WHOLE && ch.kind != GRAD_IN_PLACE) p.grad[ch.tensor + ch.first + k] = g;
        square += (double)g * (double)g;
    }
    double sum = block_sum(square, sums);
    if (!threadIdx.x) p.norm_part[blockIdx.x] = sum;
}

void gpu_finish(gpu *s) {
    const net_shape *sh = s->base.sh;
    finish_args p = {};
    p.chunks = s->result.chunks;
    p.grad = s->weights.grad;
    p.theta = s->weights.theta;
    p.H = s->H;
    p.O = s->O;
    p.C = s->C;
    p.Q = s->Q;
    p.N = s->N;
    p.hidden = sh->s.hidden;
    p.out = sh->s.encoder_out;
    p.D = sh->D;
    p.conv_out = sh->s.decoder_out;
    for (int k = 0; k < s->M; k++) {
        encoder_block *e = &s->enc[k];
        const encoder_at *at = &sh->enc[k];
        p.enc[k] = {.bias2 = at->bias2,
                    .gamma = at->norm1.gamma,
                    .beta = at->norm1.beta,
                    .weight_part = e->weight_part,
                    .related_part = s->related.w_part[k],
                    .g = e->g_total,
                    .norm1 = e->norm1,
                    .splits = e->splits,
                    .related_splits = s->related.w_splits[k],
                    .in = at->in};
    }
    for (int m = 0; m < s->N; m++) p.dec_in[m] = sh->dec[m].in;
    p.rows_part = s->step.rows_part;
    p.conv_part = s->step.conv_from;
    p.pool_part = s->step.pool_from;
    p.head_total = s->step.head_total;
    p.dec_g = s->weights.dec.g;
    p.rows_splits = s->step.rows_splits;
    p.conv_splits = s->step.conv_splits;
    p.pool_splits = s->step.pool_splits;
    p.E = sh->s.relations;
    p.last_part = s->related.last_part;
    p.last_width = (size_t)last_width(s);
    p.last_splits = s->related.last_splits;
    p.start_row = s->narrow.start_row;
    p.start = sh->start;
    s->narrow.start_row = nullptr;
    p.norm_part = s->result.norm_part;
    for (int i = 0; i < SIDES; i++) gpu_join(s, i);
    if (p.E)
        CHAIN(s, s->result.chunk_count, FINISH_THREADS, 0, (finish<false, true>), p);
    else
        CHAIN(s, s->result.chunk_count, FINISH_THREADS, 0, (finish<false, false>), p);
}

void gpu_share_gradient(gpu *s) {
    size_t count = s->base.sh->trained, bytes = count * sizeof(float);
    s->queue.chained = false;
    if (!s->base.B) gpu_ok(s, cudaMemsetAsync(s->weights.grad, 0, bytes, s->queue.stream), "clearing memory");
    gpu_ok(s, cudaMemcpyAsync(s->out.grad, s->weights.grad, bytes, cudaMemcpyDeviceToHost, s->queue.stream),
           "copying from the device");
    if (!gpu_ok(s, cudaStreamSynchronize(s->queue.stream), "waiting for the device"))
        for (size_t i = 0; i < count; i++) s->out.grad[i] = NAN;
    s->base.sum_floats(s->base.sum_context, s->out.grad, count);
    gpu_ok(s, cudaMemcpyAsync(s->weights.grad, s->out.grad, bytes, cudaMemcpyHostToDevice, s->queue.stream),
           "copying to the device");
    finish_args p = {};
    p.chunks = s->result.chunks;
    p.grad = s->weights.grad;
    p.norm_part = s->result.norm_part;
    CHAIN(s, s->result.chunk_count, FINISH_THREADS, 0, (finish<true, false>), p);
}

struct move_args {
    float *theta, *m, *v;
    const float *grad;
    size_t count;
    const adam_numbers *adam;
    const double *norm_part;
    int parts;
    double *results;
    /* Words: */
    float *vectors, *vectors_m, *vectors_v;
    const int32_t *word_first, *word_row, *word_id;
    const float *dx, *scale;
    int width, ldx;
};

__device__ static inline void adam_one(const adam_numbers &a, float scale, float keep, float g, float *theta,
                                       float *m, float *v) {
    g *= scale;
    float m1 = a.b1 * *m + a.c1 * g, v1 = a.b2 * *v + a.c2 * g * g;
    *m = m1;
    *v = v1;
    *theta = keep * *theta - a.rate * m1 / (sqrtf(v1) * a.root + a.eps);
}

/* The first thread blocks move the parameters; each of the others moves the vector of one word. */
__global__ void __launch_bounds__(256) move(move_args p) {
    wait_turn();
    __shared__ double sums[8];
    int own = (int)((p.count + CHUNK - 1) / CHUNK), word = (int)blockIdx.x - own;
    const adam_numbers a = *p.adam;
    if (word >= a.words) return;
    double square = 0;
    for (int i = threadIdx.x; i < p.parts; i += 256) square += p.norm_part[i];
    double size = sqrt(block_sum(square, sums));
    float scale = a.scale;
    if (a.clip > 0 && size > (double)a.clip) scale = (float)((double)a.scale * (double)a.clip / size);
    if (blockIdx.x == 0 && !threadIdx.x) {
        p.results[1] = size;
        p.results[2 + a.place] = p.results[0];
    }
    if (word >= 0) {
        size_t at = (size_t)p.word_id[word] * p.width;
#pragma unroll 1
        for (int c = threadIdx.x; c < p.width; c += 256) {
            float g = 0;
#pragma unroll 2
            for (int k = p.word_first[word]; k < p.word_first[word + 1]; k++)
                g += p.dx[(size_t)p.word_row[k] * p.ldx + c] * p.scale[c];
            adam_one(a, scale, 1.0f, g, p.vectors + at + c, p.vectors_m + at + c, p.vectors_v + at + c);
        }
        return;
    }
    size_t i = (size_t)blockIdx.x * CHUNK + threadIdx.x * 4;
    if (i + 4 <= p.count) {
        float4 grad = load4(p.grad + i), theta = load4(p.theta + i), m = load4(p.m + i), v = load4(p.v + i);
        adam_one(a, scale, a.keep, grad.x, &theta.x, &m.x, &v.x);
        adam_one(a, scale, a.keep, grad.y, &theta.y, &m.y, &v.y);
        adam_one(a, scale, a.keep, grad.z, &theta.z, &m.z, &v.z);
        adam_one(a, scale, a.keep, grad.w, &theta.w, &m.w, &v.w);
        store4(p.theta + i, theta);
        store4(p.m + i, m);
        store4(p.v + i, v);
    } else
#pragma unroll 1
        for (; i < p.count; i++) adam_one(a, scale, a.keep, p.grad[i], p.theta + i, p.m + i, p.v + i);
}

void gpu_adam(gpu *s) {
    move_args p = {.theta = s->weights.theta,
                   .m = s->weights.m,
                   .v = s->weights.v,
                   .grad = s->weights.grad,
                   .count = s->base.sh->trained,
                   .adam = s->send.adam,
                   .norm_part = s->result.norm_part,
                   .parts = s->result.chunk_count,
                   .results = s->result.results,
                   .vectors = s->given.vectors,
                   .vectors_m = s->given.vectors_m,
                   .vectors_v = s->given.vectors_v,
                   .word_first = s->send.word_first,
                   .word_row = s->send.word_row,
                   .word_id = s->send.word_id,
                   .dx = s->step.dx,
                   .scale = s->weights.scale,
                   .width = s->base.sh->s.width,
                   /* words_share leaves dx without padding */
                   .ldx = s->base.sum ? s->base.sh->s.width : s->D};
    int blocks =
        (int)((p.count + CHUNK - 1) / CHUNK) + (s->given.train_vectors ? (int)s->base.whole.items : 0);
    CHAIN(s, blocks, 256, 0, move, p);
}

/* Each product is rounded, as on the CPU: no fused multiply-add. */
__global__ void __launch_bounds__(256)
    move_average(float *average, const float *from, size_t count, double decay) {
    size_t stride = (size_t)gridDim.x * 256;
    for (size_t i = (size_t)blockIdx.x * 256 + threadIdx.x; i < count; i += stride)
        average[i] =
            (float)__dadd_rn(__dmul_rn(decay, (double)average[i]), __dmul_rn(1 - decay, (double)from[i]));
}

void gpu_average(gpu *s, double decay) {
    s->queue.chained = false;
    int blocks = 8 * s->multiprocessors;
    LAUNCH(s, s->queue.stream, blocks, 256, 0, move_average, s->weights.average, s->weights.theta,
           s->base.sh->total, decay);
    if (s->given.vector_count)
        LAUNCH(s, s->queue.stream, blocks, 256, 0, move_average, s->given.vectors_average, s->given.vectors,
               s->given.vector_count, decay);
}
