/* Puts sets in order, or scores given orders, on a GPU: sends the folded weights, sends the sets grouped by
 * size with their constraints and relations, and writes the results back in the order of the sets. */
#include "engine/decode/gpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/decode/encode.h"
#include "engine/decode/search.h"
#include "engine/kernels/device.h"

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

/* Places a packed matrix [K, N], row by row. */
static size_t put_packed(block *b, real *from, int K, int N) {
    size_t at = b->used, count = (size_t)K * (size_t)N;
    if (b->numbers)
        for (int k = 0; k < K; k++)
            for (int c = 0; c < N; c++)
                b->numbers[at + (size_t)k * (size_t)N + (size_t)c] = *packed_at(from, K, k, c);
    b->used += (count + 3) / 4 * 4;
    return at;
}

/* Places the weights of block m that see the pools, with the pools' norms folded in: p = g*best + e. */
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
    const net_shape *sh = &f->model->sh;
    size_t H = (size_t)f->w.H, O = (size_t)f->w.O, C = (size_t)f->w.C, R = (size_t)sh->s.relations;
    size_t plane = (size_t)f->w.E * 3 * C * C; /* weights of relations, before those of v */
    int N = sh->s.decoder_blocks;
    *n = (order_net){.settings = sh->s,
                     .width = sh->s.width,
                     .D = sh->D,
                     .M = sh->s.encoder_blocks,
                     .H = f->w.H,
                     .O = f->w.O,
                     .N = N,
                     .C = f->w.C,
                     .Q = f->w.Q};
    n->mean = put(b, f->model->mean, model_inputs(f->model));
    n->scale = put(b, f->model->scale, model_inputs(f->model));
    for (int k = 0; k < n->M; k++) {
        int in = n->enc[k].in = sh->enc[k].in;
        n->enc[k].first = put_packed(b, f->w.enc[k].first, in, 2 * f->w.H);
        n->enc[k].bias = put(b, f->w.enc[k].bias1, 2 * H);
        n->enc[k].related = put(b, f->w.enc[k].related, 2 * R * H);
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
    for (int m = 0; m < N; m++) put(b, f->dec_w[m] + plane, 3 * (size_t)m * C * C);
    n->last = b->used;
    for (int m = 0; m < N; m++)
        for (size_t l = 0; l < 3; l++) put(b, f->dec_w[m] + l * C * C, R * C);
    n->pool = b->used;
    for (int m = 0; m < N; m++) put_pool(b, f, m, n->bias);
    n->head_x = put(b, f->w.head_x, (size_t)sh->D);
    n->head_v = put(b, f->head_v, (size_t)N * C);
    n->head_e = put(b, f->w.head_e, R);
    n->numbers = b->numbers;
    n->count = b->used;
}

/* Makes the net for sets of n items; the caller frees its numbers. */
static onet_status net_for(order_net *to, freezer *z, int n, onet_error *err) {
    const frozen *f = freezer_prepare(z, n);
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

/* Makes sure that the GPU has the weights for sets of n items. */
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
    int32_t n, placed, constrained;
    uint32_t set;
} place;

static int by_size(const void *a, const void *b) {
    const place *p = a, *q = b;
    if (p->n != q->n) return p->n < q->n ? -1 : 1;
    if (p->placed != q->placed) return p->placed < q->placed ? -1 : 1;
    if (p->constrained != q->constrained) return p->constrained < q->constrained ? -1 : 1;
    return p->set < q->set ? -1 : 1;
}

static bool go_together(const place *p, const place *q) {
    return p->n == q->n && p->placed == q->placed && p->constrained == q->constrained;
}

enum { JOB = 256 }; /* sets copied by one job */

/* The rows of all items, as sets_rows numbers them; NULL if there are no context items: row i is item i. */
typedef struct row_table {
    int32_t *item, *row; /* [items of the sets] */
} row_table;

static bool row_table_new(row_table *table, const onet_sets *sets) {
    *table = (row_table){NULL, NULL};
    if (!sets->context) return true;
    size_t base = sets->start[0], items = sets->start[sets->count] - base;
    if (!(table->item = array_new(2 * items, sizeof *table->item))) return false;
    table->row = table->item + items;
    for (size_t s = 0; s < sets->count; s++) {
        size_t at = sets->start[s] - base;
        sets_rows(sets, s, table->item + at, table->row + at);
    }
    return true;
}

/* A batch of sets on its way to the device or back. */
typedef struct transfer {
    const gpu_work *work;
    row_table table;
    const place *place; /* [sets that go together] */
    int n, placed, found, count;
    size_t rules_each; /* numbers */
    float *items, *pairs;
    int32_t *given, *rules;
    const int32_t *order;
    const double *logprob;
    const float *step;
} transfer;

static int32_t item_of(const transfer *p, size_t set, size_t row) {
    const onet_sets *sets = p->work->sets;
    return p->table.item ? p->table.item[sets->start[set] - sets->start[0] + row] : (int32_t)row;
}

static int32_t row_of(const transfer *p, size_t set, int32_t item) {
    const onet_sets *sets = p->work->sets;
    return p->table.row ? p->table.row[sets->start[set] - sets->start[0] + (size_t)item] : item;
}

/* Writes the constraints of a set, in rows. The graph lists the items that come after an item; the device
 * needs those that come before it. */
static void take_rules(const transfer *p, size_t set, int32_t *numbers) {
    const constraint_graph *g = &p->work->graph[set];
    order_rules r = order_rules_at(numbers, p->placed);
    r.last[0] = g->last_head < 0 ? -1 : row_of(p, set, g->last_head);
    r.last[1] = g->last_length;
    for (int t = 0; t < p->placed; t++) {
        int32_t next = g->next[item_of(p, set, (size_t)t)];
        r.fixed[t] = t < g->fixed_count ? row_of(p, set, g->fixed[t]) : -1;
        r.next[t] = next < 0 ? -1 : row_of(p, set, next);
    }
    int32_t start = 0;
    for (int i = 0; i < p->placed; i++) {
        r.before_start[i + 1] = start; /* where the next one is written: at the end, the start of row i + 1 */
        start += g->predecessors[item_of(p, set, (size_t)i)];
    }
    r.before_start[0] = 0;
    for (int32_t i = 0; i < g->n; i++)
        for (size_t k = g->after_start[i]; k < g->after_start[i + 1]; k++)
            r.before[r.before_start[row_of(p, set, g->after[k]) + 1]++] = row_of(p, set, i);
}

/* Writes the relations of a set, in rows: [n, n, R]. */
static void take_pairs(const transfer *p, size_t set, float *to) {
    const onet_sets *sets = p->work->sets;
    size_t n = (size_t)p->n, R = (size_t)sets->pairs->width;
    for (size_t i = 0; i < n; i++) {
        const float *from = sets_pairs(sets, sets->start[set] + (size_t)item_of(p, set, i));
        for (size_t j = 0; j < n; j++, to += R)
            memcpy(to, from + (size_t)item_of(p, set, j) * R, R * sizeof *to);
    }
}

static void take_job(void *arg, int job, int thread) {
    (void)thread;
    const transfer *p = arg;
    const onet_sets *sets = p->work->sets;
    size_t n = (size_t)p->n, placed = (size_t)p->placed, width = (size_t)sets->width;
    for (int s = job * JOB; s < p->count && s < (job + 1) * JOB; s++) {
        size_t set = p->place[s].set, first = sets->start[set];
        for (size_t i = 0; i < n; i++)
            memcpy(p->items + ((size_t)s * n + i) * width,
                   item_seen(p->work->z->model, sets, first + (size_t)item_of(p, set, i)),
                   width * sizeof(float));
        for (size_t t = 0; p->given && t < placed; t++)
            p->given[(size_t)s * placed + t] = row_of(p, set, sets->order[first + t]);
        if (p->pairs) take_pairs(p, set, p->pairs + (size_t)s * n * n * (size_t)sets->pairs->width);
        if (p->rules) take_rules(p, set, p->rules + (size_t)s * p->rules_each);
    }
}

/* Adds one order, followed by the context items, to an answer. */
static void add_order(const transfer *p, size_t set, onet_answer *a, const int32_t *order,
                      const float *step) {
    size_t n = (size_t)p->n, placed = (size_t)p->placed, at = (size_t)a->found * n;
    for (size_t t = 0; t < n; t++) {
        a->order[at + t] = item_of(p, set, t < placed ? (size_t)order[t] : t);
        if (a->step) a->step[at + t] = t < placed ? step[t] : 0;
    }
    a->found++;
}

static void give_job(void *arg, int job, int thread) {
    (void)thread;
    const transfer *p = arg;
    size_t placed = (size_t)p->placed, found = (size_t)p->found;
    for (int s = job * JOB; s < p->count && s < (job + 1) * JOB; s++) {
        size_t set = p->place[s].set;
        if (!p->work->answers) {
            p->work->logprob[set] = p->logprob[s];
            continue;
        }
        onet_answer *a = &p->work->answers[set];
        a->found = 0;
        for (size_t k = (size_t)s * found; k < ((size_t)s + 1) * found; k++) {
            if (p->place[s].constrained && p->logprob[k] == -HUGE_VAL) break; /* there are no more */
            if (a->logprob) a->logprob[a->found] = p->logprob[k];
            add_order(p, set, a, p->order + k * placed, p->step + k * placed);
        }
    }
}

static bool take(void *context, size_t first, int count, float *items, float *pairs, int32_t *given,
                 int32_t *rules) {
    transfer p = *(const transfer *)context;
    if (order_stops(p.work->options)) return false;
    p.place += first;
    p.count = count;
    p.items = items;
    p.pairs = pairs;
    p.given = given;
    p.rules = rules;
    thread_pool_run(p.work->threads, (count + JOB - 1) / JOB, take_job, &p);
    return true;
}

static void give(void *context, size_t first, int count, const int32_t *order, const double *logprob,
                 const float *step) {
    transfer p = *(const transfer *)context;
    p.place += first;
    p.count = count;
    p.order = order;
    p.logprob = logprob;
    p.step = step;
    thread_pool_run(p.work->threads, (count + JOB - 1) / JOB, give_job, &p);
}

/* Runs sets that go together: all[0 .. count - 1]. */
static onet_status run_together(order_device *d, const gpu_work *work, row_table table, const place *all,
                                size_t count, onet_error *err) {
    int n = all->n, placed = all->placed, beams = work->answers ? search_orders(placed, work->beams) : 1;
    transfer p = {.work = work, .table = table, .place = all, .n = n, .placed = placed};
    p.found = !work->answers ? 1 : work->top < beams ? work->top : beams;
    size_t pairs = 0;
    for (size_t s = 0; all->constrained && s < count; s++) {
        const constraint_graph *g = &work->graph[all[s].set];
        if (g->after_start[g->n] > pairs) pairs = g->after_start[g->n];
    }
    if (all->constrained) p.rules_each = order_rules_size(placed, pairs);
    if (p.rules_each > INT32_MAX)
        return fail_field(err, ONET_MEMORY, "onet_order_options.device",
                          "a set has %zu constraints, too many for a GPU: use the CPU", pairs);
    onet_status status = send_net(d, work->z, n, err);
    if (status) return status;
    return d->run(d,
                  &(order_batch){.n = n,
                                 .placed = placed,
                                 .beams = beams,
                                 .found = p.found,
                                 .score = !work->answers,
                                 .rules = (int)p.rules_each,
                                 .sets = count,
                                 .context = &p,
                                 .take = take,
                                 .give = give},
                  err);
}

onet_status gpu_run(order_device *d, const gpu_work *work, onet_error *err) {
    const onet_sets *sets = work->sets;
    row_table table = {NULL, NULL};
    place *all = array_new(sets->count ? sets->count : 1, sizeof *all);
    onet_status status =
        all && row_table_new(&table, sets) ? ONET_OK : fail_memory(err, "the rows of the sets");
    for (size_t s = 0; s < sets->count && !status; s++)
        all[s] = (place){.n = (int32_t)sets_size(sets, s),
                         .placed = (int32_t)sets_placed(sets, s),
                         .constrained = work->graph && work->graph[s].n,
                         .set = (uint32_t)s};
    if (!status) qsort(all, sets->count, sizeof *all, by_size);
    for (size_t first = 0, last; first < sets->count && !status; first = last) {
        for (last = first; last < sets->count && go_together(&all[first], &all[last]);) last++;
        status = run_together(d, work, table, all + first, last - first, err);
    }
    free(table.item);
    free(all);
    return status;
}
