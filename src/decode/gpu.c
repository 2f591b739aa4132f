/* Ordering on a GPU: sends the folded weights and the sets by size, and puts the answers in their places. */
#include "decode/gpu.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/constraints.h"
#include "decode/encode.h"
#include "decode/search.h"
#include "kernels/device.h"

/* ---- the net as plain arrays ---- */

/* Places arrays one after the other: the first pass counts, the second fills. */
typedef struct block {
    float *numbers; /* NULL: count only */
    size_t used;
} block;

static size_t put(block *b, const float *from, size_t count) {
    size_t at = b->used;
    if (b->numbers && count) memcpy(b->numbers + at, from, count * sizeof *from);
    b->used += (count + 3) / 4 * 4;
    return at;
}

/* A packed matrix [K, N], row by row. */
static size_t put_packed(block *b, real *from, int K, int N) {
    size_t at = b->used, count = (size_t)K * (size_t)N;
    if (b->numbers)
        for (int k = 0; k < K; k++)
            for (int c = 0; c < N; c++)
                b->numbers[at + (size_t)k * (size_t)N + (size_t)c] = *packed_at(from, K, k, c);
    b->used += (count + 3) / 4 * 4;
    return at;
}

/* The weights of block m that see the pools, with the pools' norms folded in: p = g*best + e. */
static void put_pool(block *b, const frozen *f, int m, size_t bias) {
    int C = f->w.C;
    size_t at = put(b, f->w.dec[m].p, 3 * (size_t)m * (size_t)C * (size_t)C);
    if (!b->numbers) return;
    for (int l = 0; l < 3; l++)
        for (int k = 0; k < m * C; k++) {
            real g = f->dec_norm[k / C].g[k % C], e = f->dec_norm[k / C].e[k % C];
            float *w = b->numbers + at + ((size_t)l * m * C + k) * C;
            for (int c = 0; c < C; c++) {
                /* Before step 0 there is no pool, nor its shift: lag l counts from t = l on. */
                for (int t = l; t < 3; t++) b->numbers[bias + ((size_t)m * 3 + t) * C + c] += w[c] * e;
                w[c] *= g;
            }
        }
}

static void put_net(order_net *n, block *b, const frozen *f) {
    const shape *sh = &f->model->sh;
    size_t H = (size_t)f->w.H, O = (size_t)f->w.O, C = (size_t)f->w.C, width = (size_t)sh->s.width;
    int N = sh->s.decoder_blocks;
    *n = (order_net){.width = sh->s.width,
                     .D = sh->D,
                     .relative = sh->s.relative != 0,
                     .M = sh->s.encoder_blocks,
                     .H = f->w.H,
                     .O = f->w.O,
                     .over_items = sh->s.pool,
                     .N = N,
                     .C = f->w.C,
                     .Q = f->w.Q};
    n->mean = put(b, f->model->mean, width);
    n->scale = put(b, f->model->scale, width);
    for (int k = 0; k < n->M; k++) {
        int in = n->enc[k].in = sh->enc[k].in;
        n->enc[k].first = put_packed(b, f->w.enc[k].first, in, 2 * f->w.H);
        n->enc[k].bias = put(b, f->w.enc[k].bias1, 2 * H);
        n->enc[k].w = put(b, f->enc_w[k], H * O);
        n->enc[k].b = put(b, f->enc_b[k], O);
        n->enc[k].g = put(b, f->enc_norm[k].g, O);
        n->enc[k].e = put(b, f->enc_norm[k].e, O);
        n->enc[k].sign = put(b, f->w.enc[k].sign, O);
    }
    n->rows = put_packed(b, f->w.rows, sh->D, f->w.Q);
    n->start_q = put(b, f->start_q, (size_t)f->w.Q);
    n->bias = b->used;
    for (int m = 0; m < N; m++) put(b, f->dec_bias[m], 3 * C);
    n->sign = b->used;
    for (int m = 0; m < N; m++) put(b, f->w.dec[m].sign, C);
    n->conv = b->used;
    for (int m = 0; m < N; m++) put(b, f->dec_w[m], 3 * (size_t)m * C * C);
    n->pool = b->used;
    for (int m = 0; m < N; m++) put_pool(b, f, m, n->bias);
    n->head_x = put(b, f->w.head_x, (size_t)sh->D);
    n->head_v = put(b, f->head_v, (size_t)N * C);
    n->numbers = b->numbers;
    n->count = b->used;
}

/* The net for sets of n items; free its numbers. */
static onet_status net_for(order_net *to, freezer *z, int n, onet_error *err) {
    const frozen *f = freezer_get(z, n);
    if (!f) return fail_memory(err, "the net's weights");
    block b = {NULL, 0};
    put_net(to, &b, f);
    float *numbers = array_new(b.used, sizeof *numbers);
    if (!numbers) return fail_memory(err, "the net's weights");
    b = (block){numbers, 0};
    put_net(to, &b, f);
    return ONET_OK;
}

onet_status gpu_open(order_device **d, freezer *z, gpu_choice gpu, onet_error *err) {
    void *symbol;
    cuda_order_fn *open_fn;
    order_net made;
    enum { ANY = 2 };
    onet_status status = device_function(CUDA_ORDER, &symbol, err);
    if (status || (status = net_for(&made, z, ANY, err))) return status;
    memcpy(&open_fn, &symbol, sizeof open_fn);
    status = open_fn(d, &made, gpu, err);
    if (!status) (*d)->n = ANY;
    free((void *)(uintptr_t)made.numbers);
    return status;
}

/* Sees that the weights there are those for sets of n items. */
static onet_status send_net(order_device *d, freezer *z, int n, onet_error *err) {
    order_net made;
    if (d->n == n || !z->model->sized) return ONET_OK;
    onet_status status = net_for(&made, z, n, err);
    if (status) return status;
    status = d->weights(d, made.numbers, err);
    if (!status) d->n = n;
    free((void *)(uintptr_t)made.numbers);
    return status;
}

/* ---- the sets, by size ---- */

typedef struct place {
    uint32_t n, set;
} place;

static int by_size(const void *a, const void *b) {
    const place *p = a, *q = b;
    if (p->n != q->n) return p->n < q->n ? -1 : 1;
    return p->set < q->set ? -1 : 1;
}

enum { TASK = 256 }; /* sets copied by one task */

/* A part of the sets of one size, on its way to the device or back. */
typedef struct part {
    const gpu_work *work;
    const place *place; /* [sets of this size] */
    int n, found, count;
    float *items;
    int32_t *given;
    const int32_t *order;
    const double *logprob;
    const float *step;
} part;

static void take_task(void *arg, int task, int thread) {
    (void)thread;
    const part *p = arg;
    const onet_sets *sets = p->work->sets;
    size_t n = (size_t)p->n, width = (size_t)sets->width;
    for (int s = task * TASK; s < p->count && s < (task + 1) * TASK; s++) {
        size_t first = sets->start[p->place[s].set];
        for (size_t i = 0; i < n; i++)
            memcpy(p->items + ((size_t)s * n + i) * width, item_seen(p->work->z->model, sets, first + i),
                   width * sizeof(float));
        if (p->given) memcpy(p->given + (size_t)s * n, sets->order + first, n * sizeof *p->given);
    }
}

static void give_task(void *arg, int task, int thread) {
    (void)thread;
    const part *p = arg;
    size_t n = (size_t)p->n, found = (size_t)p->found;
    for (int s = task * TASK; s < p->count && s < (task + 1) * TASK; s++) {
        size_t set = p->place[s].set, at = (size_t)s * found;
        if (!p->work->answers) {
            p->work->score.logprob[set] = p->logprob[s];
            continue;
        }
        onet_answer *a = &p->work->answers[set];
        a->found = p->found;
        memcpy(a->order, p->order + at * n, found * n * sizeof *a->order);
        if (a->logprob) memcpy(a->logprob, p->logprob + at, found * sizeof *a->logprob);
        if (a->step) memcpy(a->step, p->step + at * n, found * n * sizeof *a->step);
    }
}

static void take(void *context, size_t first, int count, float *items, int32_t *given) {
    part p = *(const part *)context;
    p.place += first;
    p.count = count;
    p.items = items;
    p.given = given;
    pool_run(p.work->threads, (count + TASK - 1) / TASK, take_task, &p);
}

static void give(void *context, size_t first, int count, const int32_t *order, const double *logprob,
                 const float *step) {
    part p = *(const part *)context;
    p.place += first;
    p.count = count;
    p.order = order;
    p.logprob = logprob;
    p.step = step;
    pool_run(p.work->threads, (count + TASK - 1) / TASK, give_task, &p);
}

bool gpu_takes(const onet_sets *sets, size_t s, bool score, bool steps) {
    size_t from, count = 0;
    if (!score && sets->constraint_count)
        constraints_of(sets, sets->start[s], sets->start[s + 1], &from, &count);
    return !count && !steps && sets_placed(sets, s) == sets_size(sets, s);
}

onet_status gpu_run(order_device *d, const gpu_work *work, bool *every, onet_error *err) {
    const onet_sets *sets = work->sets;
    size_t count = 0;
    place *all = array_new(sets->count ? sets->count : 1, sizeof *all);
    if (!all) return fail_memory(err, "the sets' sizes");
    for (size_t s = 0; s < sets->count; s++)
        if (gpu_takes(sets, s, !work->answers, work->score.step != NULL))
            all[count++] = (place){(uint32_t)sets_size(sets, s), (uint32_t)s};
    *every = count == sets->count;
    qsort(all, count, sizeof *all, by_size);
    onet_status status = ONET_OK;
    for (size_t first = 0, last; first < count && !status; first = last) {
        for (last = first; last < count && all[last].n == all[first].n;) last++;
        int n = (int)all[first].n, beams = work->answers ? search_orders(n, work->beams) : 1;
        part p = {.work = work, .place = all + first, .n = n, .found = work->top < beams ? work->top : beams};
        if (!work->answers) p.found = 1;
        if ((status = send_net(d, work->z, n, err))) break;
        status = d->run(d,
                        &(order_batch){.n = n,
                                       .beams = beams,
                                       .found = p.found,
                                       .score = !work->answers,
                                       .sets = last - first,
                                       .context = &p,
                                       .take = take,
                                       .give = give},
                        err);
    }
    free(all);
    return status;
}
