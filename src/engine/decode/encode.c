/* Runs the encoder on the CPU to put a set, or a group of small ones, in order: standardises the items, adds
 * features relative to the set where the model has them, computes the encoder's blocks on all pairs of items,
 * with the norms folded in, and then the products of single items that the decoder starts from. The rows of
 * all sets of a group are multiplied together, so that the weights are read once per group. */
#include "engine/decode/encode.h"

#include <stdlib.h>
#include <string.h>

#include "engine/kernels/cpu_pool.h"
#include "engine/kernels/relative.h"

const float *item_seen(const onet_model *model, const onet_sets *sets, size_t i) {
    const onet_words *words = model->words;
    if (!words || !sets->word) return sets_item(sets, i);
    return words->vectors + (size_t)sets->word[i] * (size_t)words->width;
}

void encoded_free(encoded *e) {
    free(e->x);
    free(e->ac);
    free(e->best);
    free(e->q);
    free(e->logit);
    free(e->related);
    *e = (encoded){.threads = e->threads};
}

bool encoded_reserve(encoded *e, const frozen *f, int rows) {
    if (rows <= e->room) return true;
    encoded_free(e);
    size_t count = (size_t)rows;
    if (!real_new(&e->x, count * f->w.D) || !real_new(&e->ac, count * 2 * f->w.H) ||
        !real_new(&e->best, count * f->w.O) || !real_new(&e->q, count * f->w.Q) ||
        !real_new(&e->logit, count) ||
        !real_new(&e->related, (size_t)(e->threads ? e->threads : 1) *
                                   relations_room(f->model->sh.s.relations, f->w.H, rows))) {
        encoded_free(e);
        return false;
    }
    e->room = rows;
    return true;
}

enum {
    ROWS = 48,      /* per job, where a large set is spread over threads */
    WORTH = 1 << 18 /* the fewest multiply-adds of a job: about 5 us */
};

typedef struct encode_args {
    encoded *e;
    const frozen *f;
    const float *const *items;
    const int *start; /* [count + 1]: set s has the rows start[s] .. start[s + 1] - 1 */
    int count;
    int rows, block;
    int share; /* rows per job */
    int parts; /* jobs for the columns of the same rows of a product */
} encode_args;

static int jobs_of(const encode_args *j) {
    return (j->rows + j->share - 1) / j->share;
}

static int end_of(const encode_args *j, int job) {
    return (job + 1) * j->share < j->rows ? (job + 1) * j->share : j->rows;
}

int jobs_worth(const thread_pool *threads, double work) {
    double most = work / WORTH;
    return most < 2 ? 1 : most < thread_pool_threads(threads) ? (int)most : thread_pool_threads(threads);
}

/* Runs a job: some columns of the product of some rows of x and w, packed [K, N]. The sums start from `start`
 * [N], or from 0 when it is NULL. */
static void multiply(const encode_args *j, int job, int K, int N, const real *w, const real *start,
                     real *to) {
    int row = job / j->parts * j->share, rows = end_of(j, job / j->parts) - row;
    int part = job % j->parts, panels = (N + PANEL - 1) / PANEL;
    int from = panels * part / j->parts * PANEL, end = panels * (part + 1) / j->parts * PANEL;
    if (end > N) end = N;
    to += (size_t)row * N + from;
    for (int r = 0; r < rows && start; r++)
        memcpy(to + (size_t)r * N, start + from, (size_t)(end - from) * sizeof(real));
    j->f->k->gemm(rows, end - from, K, j->e->x + (size_t)row * j->f->w.D, (size_t)j->f->w.D, 1,
                  packed(w + (size_t)from * K, K), to, (size_t)N, start != NULL);
}

/* Runs `fn`, which multiplies the rows with K x N weights, in jobs of rows and columns. */
static void run_product(thread_pool *threads, encode_args *j, int K, int N, thread_pool_job *fn) {
    int jobs = jobs_of(j);
    j->parts = jobs_worth(threads, (double)j->rows * K * N) / jobs;
    if (j->parts < 1) j->parts = 1;
    thread_pool_run(threads, jobs * j->parts, fn, j);
}

static void take_rows(void *arg, int job, int thread) {
    (void)thread;
    encode_args *j = arg;
    const onet_model *model = j->f->model;
    int d = model->sh.s.width;
    for (int i = job * j->share; i < end_of(j, job); i++) {
        real *x = j->e->x + (size_t)i * j->f->w.D;
        for (int c = 0; c < d; c++) x[c] = (j->items[i][c] - model->mean[c]) * model->scale[c];
    }
}

/* Runs a job, one per feature: each needs sums over all items. */
static void relative_column(void *arg, int job, int thread) {
    (void)thread;
    encode_args *j = arg;
    for (int s = 0; s < j->count; s++)
        relative_features(j->e->x + (size_t)j->start[s] * j->f->w.D, (size_t)j->f->w.D,
                          j->start[s + 1] - j->start[s], job, job + 1, j->f->model->sh.s.width);
}

static void first_rows(void *arg, int job, int thread) {
    (void)thread;
    const encode_args *j = arg;
    const encoder_weights *w = &j->f->w.enc[j->block];
    multiply(j, job, j->f->model->sh.enc[j->block].in, 2 * j->f->w.H, w->first, w->bias1, j->e->ac);
}

/* Pairs the items first .. last - 1 of a set with all of its items, and pools the pairs. */
static void pair_items(const encode_args *j, int set, int first, int last, int thread) {
    const frozen *f = j->f;
    const norm *b = &f->enc_norm[j->block];
    int n = j->start[set + 1] - j->start[set], H = f->w.H, O = f->model->sh.s.encoder_out;
    size_t row = (size_t)j->start[set];
    const real *ac = j->e->ac + row * 2 * H;
    real *best = j->e->best + row * f->w.O, *x = j->e->x + row * f->w.D;
    onet_pool how = f->model->sh.s.pool;
    pair_forward p = {.n = n,
                      .H = H,
                      .O = f->w.O,
                      .i0 = first,
                      .i1 = last,
                      .a = ac,
                      .c = ac + H,
                      .ld = 2 * (size_t)H,
                      .w = f->enc_w[j->block],
                      .b = f->enc_b[j->block],
                      .summed = cpu_pool_sums(how),
                      .sign = f->w.enc[j->block].sign,
                      .best = best};
    if (!f->w.E) f->k->pair_forward(&p);
    int R = f->model->sh.s.relations;
    real *e = j->e->related + (size_t)thread * relations_room(R, H, j->e->room), *c = e + (size_t)n * 2 * R;
    for (; f->w.E && p.i0 < last; p.i0++) {
        relations_row(&j->e->set[set], f->k, n, H, p.i0, ac + H, f->w.enc[j->block].related, e, c);
        p.i1 = p.i0 + 1;
        p.c = c;
        f->k->pair_forward(&p);
    }
    for (int i = first; i < last; i++)
        cpu_pool_forward(how, n, O, b, best + (size_t)i * f->w.O,
                         x + (size_t)i * f->w.D + f->model->sh.enc[j->block].in);
}

static void pair_rows(void *arg, int job, int thread) {
    const encode_args *j = arg;
    if (order_stops(j->e->options)) return;
    if (j->count == 1)
        pair_items(j, 0, job * j->share, end_of(j, job), thread);
    else /* the only job */
        for (int s = 0; s < j->count; s++) pair_items(j, s, 0, j->start[s + 1] - j->start[s], thread);
}

static void decoder_rows(void *arg, int job, int thread) {
    (void)thread;
    const encode_args *j = arg;
    const frozen *f = j->f;
    multiply(j, job, f->model->sh.D, f->w.Q, f->w.rows, NULL, j->e->q);
    if (job % j->parts) return;
    int row = job / j->parts * j->share;
    for (int i = row; i < end_of(j, job / j->parts); i++) {
        real sum = 0;
        for (int c = 0; c < f->model->sh.D; c++) sum += f->w.head_x[c] * j->e->x[(size_t)i * f->w.D + c];
        j->e->logit[i] = sum;
    }
}

/* Spreads the pairs of a set over the threads. */
static void run_pairs(thread_pool *threads, encode_args *j) {
    int share = j->share;
    if (j->count == 1) {
        int jobs = jobs_worth(threads, (double)j->rows * j->rows * j->f->w.H * j->f->w.O);
        int even = (j->rows + jobs - 1) / jobs;
        if (even < share) j->share = even;
    }
    thread_pool_run(threads, jobs_of(j), pair_rows, j);
    j->share = share;
}

void encode(encoded *e, const frozen *f, const float *const *items, const int *start, int count, int placed,
            thread_pool *threads) {
    encode_args j = {e, f, items, start, count, start[count], 0, count > 1 ? GROUP_ROWS : ROWS, 1};
    const net_shape *sh = &f->model->sh;
    thread_pool_run(threads, jobs_of(&j), take_rows, &j);
    if (sh->s.relative) thread_pool_run(threads, sh->s.width, relative_column, &j);
    for (j.block = 0; j.block < sh->s.encoder_blocks; j.block++) {
        if (order_stops(e->options)) return;
        run_product(threads, &j, sh->enc[j.block].in, 2 * f->w.H, first_rows);
        run_pairs(threads, &j);
    }
    if (order_stops(e->options)) return;
    j.rows = placed;
    run_product(threads, &j, sh->D, f->w.Q, decoder_rows);
}
