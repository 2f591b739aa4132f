/* Three CUDA kernels of the training step of narrow nets, and their launch: narrow_pack packs the weights;
 * narrow_step runs the forward and backward pass (narrow.cuh); narrow_rest computes the gradients of the
 * weights that multiply rows and adds up parts of the others. Decides whether a net and batch are narrow
 * enough, and lays out shared memory. */
#include "engine/cuda/narrow/decoder.cuh"
#include "engine/cuda/narrow/encoder.cuh"

__global__ void __launch_bounds__(NT, 1) narrow_step(const __grid_constant__ narrow_args p) {
    extern __shared__ float4 memory[];
    const int tid = threadIdx.x;
    narrow s = {p, (float *)memory, __ldcg(p.own.exchange.epoch), false};
    for (int i = tid; i < LD; i += NT) s.at(p.l.zero)[i] = 0;
    if (p.first) { /* norms of earlier kernels */
        for (int i = tid; i < p.M * WIDE; i += NT) {
            int k = i / WIDE, o = i % WIDE;
            norms from = p.enc[k].norm2, to = s.norm2(k);
            to.mean[o] = from.mean[o];
            to.inv[o] = from.inv[o];
            to.g[o] = from.g[o];
            to.e[o] = from.e[o];
        }
        for (int i = tid; i < p.N * WIDE; i += NT) {
            int m = i / WIDE, c = i % WIDE;
            norms to = s.dec(m);
            to.mean[c] = p.weights.dec.mean[i];
            to.inv[c] = p.weights.dec.inv[i];
            to.g[c] = p.weights.dec.g[i];
            to.e[c] = p.weights.dec.e[i];
            s.slope0(m)[c] = p.weights.dec_k0[i];
            s.slope1(m)[c] = p.weights.dec_k1[i];
        }
    }
    __syncthreads();
    const int rows = phase_rows(p), head = phase_head(p), back = phase_rows_back(p);
#pragma unroll 1
    for (int phase = p.first; phase <= p.last; phase++) {
        s.load = phase == p.first;
        if (phase == 0)
            s.take_set();
        else if (phase < rows && phase % 2)
            s.encoder_rows((phase - 1) / 2);
        else if (phase < rows)
            s.encoder_pairs((phase - 1) / 2);
        else if (phase == rows)
            s.decoder_rows();
        else if (phase < head)
            s.conv(phase - rows - 1);
        else if (phase == head)
            s.head();
        else if (phase < back)
            s.conv_back(back - 1 - phase);
        else if (phase == back)
            s.rows_back();
        else
            s.encoder_back(back + p.M - phase);
    }
    if (!last_block(p.counters, gridDim.x)) return;
    if (tid == 0) *p.own.exchange.epoch = s.epoch;
    if (tid >= 32 || p.first > head || p.last < head) return;
    double sum = 0;
    for (int b = tid; b < p.B; b += 32) sum += __ldcg(p.step.loss_part + b);
    for (int k = 16; k; k /= 2) sum += __shfl_xor_sync(0xffffffff, sum, k);
    if (!tid) *p.results = sum / p.places;
}

/* ---- shared memory ---- */

static int larger(int a, int b) {
    return a > b ? a : b;
}

/* Places the arrays in shared memory; returns false where they take more than `room` bytes. The product_room
 * in which narrow::product adds up holds at least all its results. */
static bool narrow_layout_make(const narrow_plan &p, size_t room, narrow_layout *l) {
    int at = 0, n = p.n, cells = n * n, H = p.H;
    auto place = [&](int count) {
        int here = at;
        at += up(count, 4) * 4;
        return here;
    };
    l->mine = place(2 * EXCHANGE_MOST);
    l->total = place(2 * EXCHANGE_MOST);
    l->red = place(2 * NT);
    l->x = place((n + 1) * p.lx);
    l->start_q = place(p.Q);
    l->norm1 = place(p.M * 3 * H);
    l->fold1 = place(H);
    l->norm2 = place(p.M * 4 * WIDE);
    l->slopes = place(p.N * 2 * WIDE);
    l->dec = place(p.N * 4 * WIDE);
    l->cst = place(p.N * 3 * WIDE);
    l->zero = place(LD);
    l->pools = place(p.N * n * WIDE);
    l->dsteps = place(p.N * n * WIDE);
    l->dx = l->pools; /* when both are no longer needed */
    at = larger(at, l->dx + n * p.lx);
    l->steps = place(3 * n * WIDE);
    l->added = place(3 * n * WIDE);
    l->taken = place(p.N * n * WIDE);
    l->dlogit = place(cells);
    l->small = place(larger(n, WIDE));
    l->places = place(2 * n);
    l->scratch = at;
    /* The decoder: */
    l->planes = place(p.N * cells * LD);
    l->weights = place(larger((p.N - 1) * 2 * SQUARE, (n + 1) * p.D8 - p.N * cells * LD));
    l->extra = place(larger(cells * LD, larger((n + 1) * (p.Q + 4), CONV_SLICES * SQUARE)));
    int decoder = at;
    /* The encoder, in the same place: */
    at = l->scratch;
    int slices = WARPS / (H / 16), behind;
    l->ac = place(n * (2 * H + 4));
    behind = at;
    l->u = place(cells * LD);
    l->w = place(H * LD);
    int forward = at;
    at = behind;
    l->du = place(cells * LD);
    l->dac = place(n * (2 * H + 4));
    at = larger(at, forward);
    int back = slices * H * (n + LG), totals = 4 * n * H;
    int results = larger((n + 1) * p.Q, n * p.D8);
    l->product_room = larger(larger(back, totals), results);
    l->dc = l->product = place(l->product_room);
    l->all = larger(at, decoder);
    return l->all * sizeof(float) <= room;
}

static bool narrow_plan_make(const gpu *s, narrow_plan *p) {
    const int n = s->n, B = s->base.B, D = s->base.sh->D;
    const int lx = up(D, 16) * 16 + 4; /* rows of 8 items are in different banks */
    const norm_forward norm = norms_first(s, 0);
    *p = {.n = n,
          .B = B,
          .H = s->H,
          .M = s->M,
          .N = s->N,
          .Q = s->Q,
          .D = D,
          .D8 = up(D, 8) * 8,
          .lx = lx,
          .ldx = s->D,
          .by_n = divider_of(n),
          .by_lx = divider_of(lx),
          .by_half = divider_of(s->H / 2),
          .by_h = divider_of(s->H),
          .by_2h = divider_of(2 * s->H),
          .places = (double)B * n,
          .each = norm.each,
          .sample = norm.sample,
          .update = norm.update};
    return narrow_layout_make(*p, s->shared_all - NARROW_STATIC, &p->l);
}

/* Returns whether this family takes the net and the batch; if so, makes the arguments, all but the phases. */
static bool narrow_takes(const gpu *s, narrow_args *p) {
    const net_shape *sh = s->base.sh;
    int n = s->n, B = s->base.B;
    if (!gpu_narrow_net(s) || s->ragged.mixed || n * n > NT || B < 1 || B > s->narrow.blocks || s->base.sum ||
        s->base.dropout > 0)
        return false;
    *p = {};
    if (!narrow_plan_make(s, p)) return false;
    p->net = sh->s;
    memcpy(p->enc_at, sh->enc, sizeof p->enc_at);
    memcpy(p->dec_at, sh->dec, sizeof p->dec_at);
    p->start = sh->start;
    p->head = sh->head_weight;
    p->given = s->given;
    p->index = s->send.index;
    p->weights = s->weights;
    memcpy(p->enc, s->enc, sizeof p->enc);
    p->step = s->step;
    p->results = s->result.results;
    p->counters = s->result.counters;
    p->own = s->narrow;
    return true;
}

bool gpu_narrow_net(const gpu *s) {
    /* Its first phase takes the given features alone: relative ones and relations are for the layer family,
     * and so is dropout. */
    return !s->base.sh->s.relative && !s->base.sh->s.relations && s->O == WIDE && s->C == WIDE &&
           s->H <= 128 && s->M >= 1 && s->M <= DEEP && s->N >= 1 && s->N <= DEEP;
}

static void narrow_launch(gpu *s, narrow_args &p, int first, int last) {
    p.first = first;
    p.last = last;
    p.keep = first > 0 || last < phase_encoder_back(p, 0);
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    launch_on(s->failed, s->queue.stream, &attribute, "narrow_step", p.B, NT, p.l.all * sizeof(float),
              narrow_step, p);
    s->queue.chained = false;
}

/* ---- packed weights ---- */

/* Packs the weights that narrow_step reads. y of the grid: the encoder blocks, then the decoder's weights
 * that multiply rows, then those that multiply cells and pools. */
__global__ void __launch_bounds__(256) narrow_pack(const __grid_constant__ narrow_args p) {
    int k = blockIdx.y, at = blockIdx.x * 256 + threadIdx.x, step = gridDim.x * 256;
    if (k < p.M) {
        int in = p.enc_at[k].in, twos = (in + 15) / 16, width = 2 * p.H, in8 = (in + 7) / 8 * 8;
        for (int i = at; i < (twos * 16 + 1) * width; i += step) {
            int c = i / width, o = i % width, side = o >= p.H, h = o - side * p.H;
            float v = 0;
            if (c == twos * 16) {
                p.own.bias1[k][o] = h < p.net.hidden && !side ? p.weights.theta[p.enc_at[k].bias1 + h] : 0.0f;
                continue;
            }
            if (h < p.net.hidden && c < in)
                v = p.weights.theta[p.enc_at[k].weight1 + ((size_t)h * 2 + side) * in + c];
            p.own.w1[k][packed_at(twos, c, o)] = v;
            if (c < in8) p.own.w1_back[k][packed_at(width / 16, o, c)] = v;
        }
        return;
    }
    if (k == p.M) {
        int twos = (p.D + 15) / 16, D8 = (p.D + 7) / 8 * 8;
        for (int i = at; i < twos * 16 * p.Q; i += step) {
            int x = i / p.Q, col = i % p.Q, c = col % WIDE, l = col / WIDE % 3, side = col / (3 * WIDE) % 2,
                m = col / (6 * WIDE);
            float v = 0;
            if (x < p.D && c < p.net.decoder_out)
                v = p.weights.theta[p.dec_at[m].weight + ((size_t)c * p.dec_at[m].in + side * p.D + x) * 3 +
                                    2 - l];
            p.own.rows_t[packed_at(twos, x, col)] = v;
            if (x < D8) p.own.rows_b[packed_at(p.Q / 16, col, x)] = v;
        }
        return;
    }
    for (int i = at; i < p.N * (p.N - 1) / 2 * SQUARE; i += step) {
        int c = i % WIDE, e = i / WIDE % WIDE, l = i / (WIDE * WIDE) % 3, pair = i / SQUARE, m = 1;
        while (m * (m + 1) / 2 <= pair) m++;
        int b = pair - m * (m - 1) / 2, back = i - e * WIDE - c + c * WIDE + e;
        float v = 0, q = 0;
        if (c < p.net.decoder_out && e < p.net.decoder_out) {
            const float *from = p.weights.theta + p.dec_at[m].weight +
                                ((size_t)c * p.dec_at[m].in + 2 * p.D + 2 * p.net.decoder_out * b + e) * 3 +
                                2 - l;
            v = from[0];
            q = from[3 * p.net.decoder_out];
        }
        p.weights.conv[i] = p.weights.conv_t[back] = v;
        p.weights.pool[i] = p.weights.pool_t[back] = q;
    }
}

static void narrow_begin(gpu *s, const narrow_args &p) {
    LAUNCH(s, s->queue.stream, dim3(32, p.M + 2), 256, 0, narrow_pack, p);
}

/* ---- the gradient from the parts of each thread block ---- */

enum {
    JOBS = 3 * DEEP + 4,
    REST = 128,         /* threads per block */
    CHANNELS = 64,      /* of d per thread block: 16 per warp */
    COLUMNS = 72,       /* of x */
    CHUNKS = 32,        /* rows in shared memory at once */
    LDD = CHANNELS + 8, /* four consecutive rows are then in different banks */
    NARROW_SPLITS = 12
};

struct rest_jobs {
    /* part [splits, width, in + ones] = d^T x over some of the rows. */
    struct {
        const float *d; /* [rows, width] */
        float *part;
        int width, in, ones, first; /* first thread block */
    } product[DEEP + 1];
    int products, rows, each, splits;
    int few_first, sums_first; /* blocks with few columns, and for sums */
    const float *x;
    int ldx;
    /* out = sum over the rows of part. */
    struct {
        const float *part;              /* [rows, stride] */
        float *out;                     /* [width] */
        int rows, stride, width, first; /* first block, of those for sums */
    } sum[JOBS];
    int sums;
};

__device__ static void add_up_rows(const rest_jobs &p, int block) {
    __shared__ float4 sums[REST];
    int k = 0;
    while (k + 1 < p.sums && block >= p.sum[k + 1].first) k++;
    const auto &j = p.sum[k];
    int lane = threadIdx.x & 31, slice = threadIdx.x >> 5, c = (block - j.first) * 128 + lane * 4;
    float4 sum = make_float4(0, 0, 0, 0);
    if (c < j.width)
#pragma unroll 8
        for (int r = slice; r < j.rows; r += REST / 32) {
            float4 v = load4(j.part + (size_t)r * j.stride + c);
            sum = make_float4(sum.x + v.x, sum.y + v.y, sum.z + v.z, sum.w + v.w);
        }
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (slice) return;
    for (int z = 1; z < REST / 32; z++) {
        float4 v = sums[z * 32 + lane];
        sum = make_float4(sum.x + v.x, sum.y + v.y, sum.z + v.z, sum.w + v.w);
    }
    const float all[4] = {sum.x, sum.y, sum.z, sum.w};
#pragma unroll
    for (int i = 0; i < 4; i++)
        if (c + i < j.width) j.out[c + i] = all[i];
}

/* d^T x: a warp has 16 channels of d and 8 * T columns of x, in steps of 8 rows; float32 products on the
 * tensor cores (mma.cuh). */
template <int T>
__device__ static void multiply_rows(const rest_jobs &p, float (&ds)[2][CHUNKS][LDD],
                                     float (&xs)[2][CHUNKS][COLUMNS]) {
    int job = 0;
    while (job + 1 < p.products && (int)blockIdx.x >= p.product[job + 1].first) job++;
    const auto &j = p.product[job];
    const int columns = j.in + j.ones, wide = (j.width + CHANNELS - 1) / CHANNELS;
    const int tid = threadIdx.x, lane = tid & 31, g = lane / 4, t = lane % 4, own = tid / 32 * 16 + g;
    int unit = (int)blockIdx.x - j.first, split = unit % p.splits, rest = unit / p.splits,
        m0 = rest % wide * CHANNELS, n0 = rest / wide * COLUMNS, k0 = split * p.each,
        k1 = min(k0 + p.each, p.rows);
    float sum[T][4] = {};
    const int quad = tid % 16 * 4, row_of = tid / 16; /* 16 quads of d per row, and up to T * 2 of x */
#pragma unroll 1
    for (int row0 = k0 - CHUNKS, stage = 1; row0 < k1; row0 += CHUNKS, stage ^= 1) {
        float *d_to = &ds[stage ^ 1][row_of][quad], *x_to = &xs[stage ^ 1][row_of][quad];
#pragma unroll 1
        for (int row = row0 + CHUNKS + row_of; row < row0 + 2 * CHUNKS;
             row += REST / 16, d_to += REST / 16 * LDD, x_to += REST / 16 * COLUMNS) {
            const float *d = j.d + (size_t)row * j.width + m0 + quad,
                        *x = p.x + (size_t)row * p.ldx + n0 + quad;
            if (row < k1 && m0 + quad < j.width)
                async_copy(d_to, d);
            else
                store4(d_to, make_float4(0, 0, 0, 0));
#pragma unroll
            for (int more = 0; more < T * 8; more += 64) {
                if (quad + more >= T * 8) break;
                if (row < k1 && n0 + quad + more < p.ldx)
                    async_copy(x_to + more, x + more);
                else
                    store4(x_to + more, make_float4(0, 0, 0, 0));
            }
        }
        async_commit();
        if (row0 < k0) continue;
        async_wait<1>();
        __syncthreads();
        float acc[T][4] = {};
#pragma unroll 1
        for (int k = t; k < CHUNKS; k += 8) {
            factor<4, false> left;
#pragma unroll
            for (int i = 0; i < 4; i++) left.set(i, ds[stage][k + i / 2 * 4][own + i % 2 * 8]);
#pragma unroll
            for (int n = 0; n < T; n++) {
                bool one = n0 + n * 8 + g == j.in; /* gives the bias, or nothing that is used */
                factor<2, false> right;
                right.set(0, one ? 1.0f : xs[stage][k][n * 8 + g]);
                right.set(1, one ? 1.0f : xs[stage][k + 4][n * 8 + g]);
                mma(acc[n], left, right);
            }
        }
#pragma unroll
        for (int i = 0; i < 4 * T; i++) sum[i / 4][i % 4] += acc[i / 4][i % 4];
        __syncthreads();
    }
    float *part = j.part + ((size_t)split * j.width + m0 + own) * columns + n0 + 2 * t;
#pragma unroll
    for (int half = 0; half < 2; half++, part += 8 * columns) {
        if (m0 + own + half * 8 >= j.width) break;
#pragma unroll
        for (int i = 0; i < 2 * T; i++)
            if (n0 + i / 2 * 8 + 2 * t + i % 2 < columns)
                part[i / 2 * 8 + i % 2] = sum[i / 2][half * 2 + i % 2];
    }
}

__global__ void __launch_bounds__(REST) narrow_rest(const __grid_constant__ rest_jobs p) {
    __shared__ __align__(16) float ds[2][CHUNKS][LDD], xs[2][CHUNKS][COLUMNS];
    wait_turn();
    if ((int)blockIdx.x >= p.sums_first)
        add_up_rows(p, (int)blockIdx.x - p.sums_first);
    else if ((int)blockIdx.x >= p.few_first)
        multiply_rows<3>(p, ds, xs);
    else
        multiply_rows<COLUMNS / 8>(p, ds, xs);
}

static void add_sum(rest_jobs *jobs, int *first, const float *part, float *out, int rows, int stride,
                    int width) {
    jobs->sum[jobs->sums++] = {
        .part = part, .out = out, .rows = rows, .stride = stride, .width = width, .first = *first};
    *first += up(width, 128);
}

/* Adds jobs that sum the start vector's row of dq over all sets. */
static void add_start(const gpu *s, rest_jobs *jobs, int *first) {
    float *last = s->step.dq + (size_t)s->base.B * s->n * s->Q;
    for (int m = 0; m < s->N; m++)
        add_sum(jobs, first, s->step.start_part + m * 3 * WIDE, last + (m * 6 + 3) * WIDE, s->base.B,
                s->N * 3 * WIDE, 3 * WIDE);
}

static void narrow_start(gpu *s) {
    rest_jobs jobs = {};
    int blocks = 0;
    add_start(s, &jobs, &blocks);
    LAUNCH(s, s->queue.stream, blocks, REST, 0, narrow_rest, jobs);
}

static void narrow_tail(gpu *s, const narrow_args &p) {
    const net_shape *sh = s->base.sh;
    int R = p.B * p.n, square = pairs(s->N) * SQUARE, blocks = 0, first = 0;
    rest_jobs jobs = {};
    jobs.x = s->step.x;
    jobs.ldx = s->D;
    jobs.rows = R;
    jobs.each = up(up(R, NARROW_SPLITS), 8) * 8;
    jobs.splits = up(R, jobs.each);
    auto multiply = [&](const float *d, int width, int in, int ones, float *part) {
        jobs.product[jobs.products++] = {
            .d = d, .part = part, .width = width, .in = in, .ones = ones, .first = blocks};
        blocks += up(width, CHANNELS) * up(in + ones, COLUMNS) * jobs.splits;
    };
    multiply(s->step.dq, s->Q, sh->D, 0, s->step.rows_part);
    for (int few = 0; few < 2; few++) {
        for (int k = 0; k < s->M; k++)
            if ((sh->enc[k].in + 1 <= 24) == few)
                multiply(s->enc[k].dac, 2 * s->H, sh->enc[k].in, 1, s->enc[k].weight_part);
        if (!few) jobs.few_first = blocks;
    }
    jobs.sums_first = blocks;
    for (int k = 0; k < s->M; k++)
        add_sum(&jobs, &first, s->enc[k].g, s->enc[k].g_total, p.B, s->H * s->O, s->H * s->O);
    add_sum(&jobs, &first, s->step.head_part, s->step.head_total, p.B, s->N * s->C + s->D,
            s->N * s->C + s->D);
    if (square) add_sum(&jobs, &first, s->step.conv_part, s->narrow.conv_total, p.B, square, square);
    if (square) add_sum(&jobs, &first, s->step.pool_part, s->narrow.pool_total, p.B, square, square);
    for (int m = 0; m < s->N; m++)
        add_sum(&jobs, &first, s->narrow.bias_part + m * WIDE, s->weights.grad + sh->dec[m].bias, p.B,
                s->N * WIDE, sh->s.decoder_out);
    add_sum(&jobs, &first, s->narrow.start_d, s->weights.grad + sh->start, p.B, s->D, sh->D);
    add_start(s, &jobs, &first);
    CHAIN(s, blocks + first, REST, 0, narrow_rest, jobs);
    for (int k = 0; k < s->M; k++) s->enc[k].splits = jobs.splits;
    s->step.rows_splits = jobs.splits;
    s->step.conv_from = s->narrow.conv_total;
    s->step.pool_from = s->narrow.pool_total;
    s->step.conv_splits = s->step.pool_splits = 1;
    s->narrow.start_row = s->step.dq + (size_t)R * s->Q;
}

/* ---- a step, or an operation of it ---- */

bool gpu_narrow(gpu *s, int parts) {
    narrow_args p;
    if (!parts || !narrow_takes(s, &p)) return false;
    int head = phase_head(p), last = phase_encoder_back(p, 0);
    if (parts & FORWARD) {
        narrow_begin(s, p);
        narrow_launch(s, p, 0, parts & BACKWARD ? last : head);
    } else /* a kernel loads what its first phase needs, not what later ones need: one kernel per phase */
        for (int phase = head + 1; phase <= last; phase++) narrow_launch(s, p, phase, phase);
    if (parts & BACKWARD) narrow_tail(s, p);
    return true;
}

bool gpu_narrow_operation(gpu *s, narrow_operation what, int block) {
    narrow_args p;
    if (!narrow_takes(s, &p)) return false;
    int first = 0;
    switch (what) {
    case NARROW_TAKE:
        break;
    case NARROW_BEGIN:
        narrow_begin(s, p);
        return true;
    case NARROW_ENCODER:
        first = phase_encoder(block);
        break;
    case NARROW_ROWS:
        first = phase_rows(p);
        break;
    case NARROW_CONV:
        first = phase_conv(p, block);
        break;
    case NARROW_HEAD:
        first = phase_head(p);
        break;
    case NARROW_CONV_BACK:
        first = phase_conv_back(p, block);
        break;
    case NARROW_ROWS_BACK:
        first = phase_rows_back(p);
        break;
    case NARROW_ENCODER_BACK:
        first = phase_encoder_back(p, block);
        break;
    }
    if (what == NARROW_ENCODER) { /* two phases, each in its own kernel */
        narrow_launch(s, p, first, first);
        first++;
    }
    narrow_launch(s, p, first, first);
    if (what == NARROW_ROWS_BACK) narrow_start(s);
    if (what == NARROW_ENCODER_BACK && !block) narrow_tail(s, p);
    return true;
}

/* The thread blocks wait for each other, so all must be resident: one per multiprocessor, in a cooperative
 * launch, which starts all of them or none. */
bool gpu_narrow_limits(gpu *s) {
    size_t most = s->shared_all - NARROW_STATIC;
    int together = 0, each = 0;
    bool ok =
        gpu_ok(s, allow_shared(narrow_step, most), "shared memory") &&
        gpu_ok(s, cudaDeviceGetAttribute(&together, cudaDevAttrCooperativeLaunch, s->device), "properties") &&
        gpu_ok(s, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, narrow_step, NT, most), "properties");
    s->narrow.blocks = together && each ? s->multiprocessors : 0;
    return ok;
}
