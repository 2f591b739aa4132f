/* Launches of the kernel that runs a narrow net's whole step (narrow.cuh), and what follows it: the parts of
 * the gradient that blocks have left are added up. */
#include "narrow_decoder.cuh"
#include "narrow_encoder.cuh"

__global__ void __launch_bounds__(NT, 1) narrow_step(const __grid_constant__ narrow_args p) {
    extern __shared__ float4 memory[];
    const int tid = threadIdx.x;
    narrow s = {p, (float *)memory, __ldcg(p.exchange.epoch), false};
    for (int i = tid; i < LD; i += NT) s.at(p.l.zero)[i] = 0;
    if (p.first) { /* norms from kernels before */
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
            to.mean[c] = p.dec.mean[i];
            to.inv[c] = p.dec.inv[i];
            to.g[c] = p.dec.g[i];
            to.e[c] = p.dec.e[i];
            s.slope0(m)[c] = p.dec_k0[i];
            s.slope1(m)[c] = p.dec_k1[i];
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
    if (!last_block(p.counter, gridDim.x)) return;
    if (tid == 0) *p.exchange.epoch = s.epoch;
    if (tid >= 32 || p.first > head || p.last < head) return;
    double sum = 0;
    for (int b = tid; b < p.B; b += 32) sum += __ldcg(p.loss_part + b);
    for (int k = 16; k; k /= 2) sum += __shfl_xor_sync(0xffffffff, sum, k);
    if (!tid) *p.loss = sum / p.places;
}

/* ---- shared memory ---- */

static int larger(int a, int b) {
    return a > b ? a : b;
}

/* Where a product adds up (narrow::product) there is room for all its results at least. */
static bool narrow_layout_make(const narrow_args &p, size_t room, narrow_layout *l) {
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
    l->dx = l->pools; /* when both are done with */
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
    l->weights = place(larger((p.N - 1) * 2 * SQUARE, n * p.D4 - p.N * cells * LD));
    l->extra = place(larger(cells * LD, larger(n * (p.Q + 4), NT / 48 * SQUARE)));
    int decoder = at;
    /* The encoder, in the same place: */
    at = l->scratch;
    int slices = NT / (H / 2), behind;
    l->ac = place(n * (2 * H + 4));
    behind = at;
    l->u = place(cells * LD);
    l->w = place(H * LD);
    int forward = at;
    at = behind;
    l->du = place(cells * WIDE);
    l->dac = place(n * (2 * H + 4));
    at = larger(at, forward);
    int dc = slices * n * H, g = slices * H * (WIDE + 1), totals = 4 * n * H;
    int results = larger((n + 1) * p.Q, n * p.D4);
    l->product_room = larger(larger(dc, g), larger(totals, results));
    l->dc = l->product = place(l->product_room);
    l->all = larger(at, decoder);
    return l->all * sizeof(float) <= room;
}

/* Everything that does not depend on the phases; false where the net or the size is none for this kernel. */
static bool narrow_fill(const gpu *s, narrow_args *p) {
    const shape *sh = s->base.sh;
    int n = s->base.n, B = s->base.B, R = B * n;
    if (!gpu_narrow_net(s) || n * n > NT || B < 1 || B > s->narrow.blocks || s->base.sum) return false;
    *p = {};
    p->n = n;
    p->B = B;
    p->H = s->H;
    p->hidden = sh->s.hidden;
    p->out = sh->s.encoder_out;
    p->conv_out = sh->s.decoder_out;
    p->M = s->M;
    p->N = s->N;
    p->D = sh->D;
    p->D4 = up(sh->D, 4) * 4;
    p->lx = p->D4 + 4;
    p->by_n = divider_of(n);
    p->by_lx = divider_of(p->lx);
    p->by_half = divider_of(s->H / 2);
    p->by_h = divider_of(s->H);
    p->by_2h = divider_of(2 * s->H);
    p->Q = s->Q;
    p->d = sh->s.width;
    p->mean = sh->s.pool == ONET_POOL_MEAN;
    p->train_vectors = s->train_vectors;
    p->update = s->base.update;
    if (!narrow_layout_make(*p, s->shared + 16384 - 1024, &p->l)) return false;
    p->index = s->index;
    p->starts = s->start;
    p->items = s->items;
    p->vectors = s->train_vectors ? s->vectors : s->table;
    p->feature_mean = s->mean;
    p->feature_scale = s->scale;
    p->word = s->word;
    p->order_all = s->order_all;
    p->theta = s->theta;
    p->grad = s->grad;
    p->start = sh->start;
    p->head = sh->head_weight;
    p->x = s->x;
    p->dx = s->dx;
    p->gd = s->gd;
    p->ldx = s->D;
    p->pos = s->pos;
    p->order = s->order;
    p->q = s->q;
    p->dq = s->dq;
    p->r = s->r;
    p->dv = s->dv;
    p->praw = s->praw;
    p->parg = s->parg;
    p->step_dv = s->step_dv;
    p->step_count = s->step_count;
    p->step_r = s->step_r;
    p->logit = s->logit;
    p->dlogit = s->dlogit;
    p->item_d = s->item_d;
    p->start_part = s->start_part;
    p->head_part = s->head_part;
    p->conv_part = s->conv_part;
    p->pool_part = s->pool_part;
    p->bias_part = s->narrow.bias_part;
    p->loss_part = s->loss_part;
    p->loss = s->results;
    for (int k = 0; k < s->M; k++) {
        const encoder_block *e = &s->enc[k];
        const encoder_at *at = &sh->enc[k];
        p->enc[k] = {at->in,
                     up(at->in, 4) * 4,
                     s->narrow.w1[k],
                     s->narrow.w1_back[k],
                     e->ac,
                     e->u,
                     e->best,
                     e->dac,
                     e->g,
                     e->arg,
                     e->norm1,
                     e->norm2,
                     e->k0,
                     e->k1,
                     e->c0,
                     e->c1,
                     at->weight2,
                     at->bias2,
                     at->norm1,
                     at->norm2};
    }
    for (int m = 0; m < s->N; m++) {
        p->dec_bias[m] = sh->dec[m].bias;
        p->dec_at[m] = sh->dec[m].norm;
    }
    p->dec = s->dec;
    p->dec_k0 = s->dec_k0;
    p->dec_k1 = s->dec_k1;
    p->rows_t = s->narrow.rows_t;
    p->rows_b = s->narrow.rows_b;
    p->conv = s->conv;
    p->conv_t = s->conv_t;
    p->pool = s->pool;
    p->pool_t = s->pool_t;
    p->exchange = s->narrow.exchange;
    p->counter = s->counters;
    double cells = (double)R * n;
    p->each = 1 / cells;
    p->sample = cells > 1 ? cells / (cells - 1) : 1;
    p->places = R;
    return true;
}

bool gpu_narrow_net(const gpu *s) {
    return s->O == WIDE && s->C == WIDE && s->H <= 128 && s->M >= 1 && s->M <= DEEP && s->N >= 1 &&
           s->N <= DEEP;
}

static void narrow_launch(gpu *s, narrow_args &p, int first, int last) {
    p.first = first;
    p.last = last;
    p.keep = first > 0 || last < phase_encoder_back(p, 0);
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    launch_on(s->failed, s->stream, &attribute, "narrow_step", p.B, NT, p.l.all * sizeof(float), narrow_step,
              p);
    s->chained = false;
}

/* ---- weights in the form that the phases want ---- */

struct narrow_pack_args {
    const float *theta;
    int M, N, H, hidden, D, D4, C, Q, out;
    size_t weight1[DEEP], bias1[DEEP], weight[DEEP];
    int in[DEEP], dec_in[DEEP];
    float *w1[DEEP], *w1_back[DEEP], *rows_t, *rows_b;
};

/* One slice of the grid an encoder block, and one for the decoder. */
__global__ void __launch_bounds__(256) narrow_pack(const __grid_constant__ narrow_pack_args p) {
    int k = blockIdx.y, at = blockIdx.x * 256 + threadIdx.x, step = gridDim.x * 256;
    if (k < p.M) {
        int in = p.in[k], in4 = (in + 3) / 4 * 4, width = 2 * p.H;
        for (int i = at; i < (in4 + 1) * width; i += step) {
            int c = i / width, o = i % width, side = o >= p.H, h = o - side * p.H;
            float v = 0;
            if (h < p.hidden && c < in) v = p.theta[p.weight1[k] + ((size_t)h * 2 + side) * in + c];
            if (h < p.hidden && c == in4 && !side) v = p.theta[p.bias1[k] + h];
            p.w1[k][i] = v;
            if (c < in4) p.w1_back[k][o * in4 + c] = v;
        }
        return;
    }
    for (int i = at; i < p.D4 * p.Q; i += step) {
        int x = i / p.Q, col = i % p.Q, c = col % p.C, l = col / p.C % 3, side = col / (3 * p.C) % 2,
            m = col / (6 * p.C);
        float v = 0;
        if (x < p.D && c < p.out)
            v = p.theta[p.weight[m] + ((size_t)c * p.dec_in[m] + side * p.D + x) * 3 + 2 - l];
        p.rows_t[i] = v;
        p.rows_b[col * p.D4 + x] = v;
    }
}

static void pack_narrow(gpu *s) {
    const shape *sh = s->base.sh;
    narrow_pack_args p = {};
    p.theta = s->theta;
    p.M = s->M;
    p.N = s->N;
    p.H = s->H;
    p.hidden = sh->s.hidden;
    p.D = sh->D;
    p.D4 = up(sh->D, 4) * 4;
    p.C = s->C;
    p.Q = s->Q;
    p.out = sh->s.decoder_out;
    for (int k = 0; k < s->M; k++) {
        p.weight1[k] = sh->enc[k].weight1;
        p.bias1[k] = sh->enc[k].bias1;
        p.in[k] = sh->enc[k].in;
        p.w1[k] = s->narrow.w1[k];
        p.w1_back[k] = s->narrow.w1_back[k];
    }
    for (int m = 0; m < s->N; m++) {
        p.weight[m] = sh->dec[m].weight;
        p.dec_in[m] = sh->dec[m].in;
    }
    p.rows_t = s->narrow.rows_t;
    p.rows_b = s->narrow.rows_b;
    LAUNCH(s, s->stream, dim3(32, s->M + 1), 256, 0, narrow_pack, p);
}

static void narrow_begin(gpu *s) {
    gpu_pack(s);
    pack_narrow(s);
    gpu_join(s, 1);
}

/* ---- the gradient from what blocks have left ---- */

enum { JOBS = 2 * DEEP + 3 };

struct sum_jobs {
    struct {
        const float *part;              /* [rows, stride] */
        float *out;                     /* [width] */
        int rows, stride, width, first; /* first block of threads */
    } job[JOBS];
    int count;
};

__global__ void __launch_bounds__(256) narrow_sums(const __grid_constant__ sum_jobs p) {
    __shared__ float sums[8][33];
    int k = 0;
    while (k + 1 < p.count && (int)blockIdx.x >= p.job[k + 1].first) k++;
    const auto &j = p.job[k];
    int lane = threadIdx.x & 31, slice = threadIdx.x >> 5, c = ((int)blockIdx.x - j.first) * 32 + lane;
    float sum = 0;
    if (c < j.width)
#pragma unroll 8
        for (int r = slice; r < j.rows; r += 8) sum += j.part[(size_t)r * j.stride + c];
    sums[slice][lane] = sum;
    __syncthreads();
    if (slice || c >= j.width) return;
    for (int z = 1; z < 8; z++) sum += sums[z][lane];
    j.out[c] = sum;
}

static void narrow_tail(gpu *s, const narrow_args &p) {
    const shape *sh = s->base.sh;
    int R = p.B * p.n, square = pairs(s->N) * SQUARE;
    sum_jobs jobs = {};
    int first = 0;
    auto add = [&](const float *part, float *out, int rows, int stride, int width) {
        jobs.job[jobs.count++] = {part, out, rows, stride, width, first};
        first += up(width, 32);
    };
    for (int k = 0; k < s->M; k++) add(s->enc[k].g, s->enc[k].g_total, p.B, s->H * s->O, s->H * s->O);
    add(s->head_part, s->head_total, p.B, s->N * s->C + s->D, s->N * s->C + s->D);
    if (square) add(s->conv_part, s->narrow.conv_total, p.B, square, square);
    if (square) add(s->pool_part, s->narrow.pool_total, p.B, square, square);
    for (int m = 0; m < s->N; m++)
        add(s->narrow.bias_part + m * WIDE, s->grad + sh->dec[m].bias, p.B, s->N * WIDE, sh->s.decoder_out);
    for (int i = 0; i < SIDES; i++) gpu_fork(s, i);
    float *last = s->dq + (size_t)R * s->Q;
    gpu_start_gradient(s, s->side[0], last);
    s->rows_splits = gpu_rows_weights(s, s->side[0], s->dq, s->Q, R + 1, sh->D, 0, s->rows_part);
    for (int k = 0; k < s->M; k++) {
        encoder_block *e = &s->enc[k];
        cudaStream_t where = s->side[1 + k % 2];
        e->splits = gpu_rows_weights(s, where, e->dac, 2 * s->H, R, sh->enc[k].in, 1, e->weight_part);
    }
    LAUNCH(s, s->stream, first, 256, 0, narrow_sums, jobs);
    s->conv_from = s->narrow.conv_total;
    s->pool_from = s->narrow.pool_total;
    s->conv_splits = s->pool_splits = 1;
}

/* ---- a step, or an operation of it ---- */

bool gpu_narrow(gpu *s, int parts) {
    narrow_args p;
    if (!parts || !narrow_fill(s, &p)) return false;
    int head = phase_head(p), last = phase_encoder_back(p, 0);
    if (parts & FORWARD) {
        narrow_begin(s);
        narrow_launch(s, p, 0, parts & BACKWARD ? last : head);
    } else /* the way back alone: each phase loads what it needs, but a kernel's first one only for itself */
        for (int phase = head + 1; phase <= last; phase++) narrow_launch(s, p, phase, phase);
    if (parts & BACKWARD) narrow_tail(s, p);
    return true;
}

bool gpu_narrow_operation(gpu *s, narrow_operation what, int block) {
    narrow_args p;
    if (!narrow_fill(s, &p)) return false;
    int first = 0;
    switch (what) {
    case NARROW_TAKE:
        break;
    case NARROW_BEGIN:
        narrow_begin(s);
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
    if (what == NARROW_ENCODER) { /* two phases, each by a kernel of its own */
        narrow_launch(s, p, first, first);
        first++;
    }
    narrow_launch(s, p, first, first);
    if (what == NARROW_ROWS_BACK) gpu_start_gradient(s, s->stream, s->dq + (size_t)p.B * p.n * p.Q);
    if (what == NARROW_ENCODER_BACK && !block) narrow_tail(s, p);
    return true;
}

/* The blocks wait for each other, so no more are launched than surely are at work at once: one a
 * multiprocessor, in a launch that starts all of them or none. */
bool gpu_narrow_limits(gpu *s) {
    size_t most = s->shared + 16384 - 1024;
    int together = 0, each = 0;
    bool ok =
        gpu_ok(s, cudaFuncSetAttribute(narrow_step, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)most),
               "shared memory") &&
        gpu_ok(s, cudaDeviceGetAttribute(&together, cudaDevAttrCooperativeLaunch, s->device), "properties") &&
        gpu_ok(s, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, narrow_step, NT, most), "properties");
    s->narrow.blocks = together && each ? s->multiprocessors : 0;
    return ok;
}
