/* Runs the encoder on the CPU to put a set, or a group of small ones, in order: the encoder's blocks with
 * their norms folded in, then the products of single items that the decoder starts from. The rows of all sets
 * of a group are multiplied together, so that the weights are read once per group. */
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
    ROWS = 48,      /* per task, where a large set is spread over threads */
    WORTH = 1 << 18 /* multiply-adds that are worth a task of their own: about 5 us */
};

typedef struct job {
    encoded *e;
    const frozen *f;
    const float *const *items;
    const int *start; /* [count + 1]: set s has the rows start[s] .. start[s + 1] - 1 */
    int count;
    int rows, block;
    int share; /* rows per task */
    int parts; /* tasks for the columns of the same rows of a product */
} job;

static int tasks_of(const job *j) {
    return (j->rows + j->share - 1) / j->share;
}

static int end_of(const job *j, int task) {
    return (task + 1) * j->share < j->rows ? (task + 1) * j->share : j->rows;
}

int tasks_worth(const thread_pool *threads, double work) {
    double most = work / WORTH;
    return most < 2 ? 1 : most < thread_pool_threads(threads) ? (int)most : thread_pool_threads(threads);
}

/* A task: some columns of the product of some rows of x and w, packed [K, N]. The sums start from `start`
 * [N], or from 0 when it is NULL. */
static void multiply(const job *j, int task, int K, int N, const real *w, const real *start, real *to) {
    int row = task / j->parts * j->share, rows = end_of(j, task / j->parts) - row;
    int part = task % j->parts, panels = (N + PANEL - 1) / PANEL;
    int from = panels * part / j->parts * PANEL, end = panels * (part + 1) / j->parts * PANEL;
    if (end > N) end = N;
    to += (size_t)row * N + from;
    for (int r = 0; r < rows && start; r++)
        memcpy(to + (size_t)r * N, start + from, (size_t)(end - from) * sizeof(real));
    j->f->k->gemm(rows, end - from, K, j->e->x + (size_t)row * j->f->w.D, (size_t)j->f->w.D, 1,
                  packed(w + (size_t)from * K, K), to, (size_t)N, start != NULL);
}

/* Runs `fn`, which multiplies the rows with K x N weights, in tasks of rows and columns. */
static void run_product(thread_pool *threads, job *j, int K, int N, thread_pool_task *fn) {
    int tasks = tasks_of(j);
    j->parts = tasks_worth(threads, (double)j->rows * K * N) / tasks;
    if (j->parts < 1) j->parts = 1;
    thread_pool_run(threads, tasks * j->parts, fn, j);
}

static void take_rows(void *arg, int task, int thread) {
    (void)thread;
    job *j = arg;
    const onet_model *model = j->f->model;
    int d = model->sh.s.width;
    for (int i = task * j->share; i < end_of(j, task); i++) {
        real *x = j->e->x + (size_t)i * j->f->w.D;
        for (int c = 0; c < d; c++) x[c] = (j->items[i][c] - model->mean[c]) * model->scale[c];
    }
}

/* A task per feature: each is a sum over all items. */
static void relative_column(void *arg, int task, int thread) {
    (void)thread;
    job *j = arg;
    for (int s = 0; s < j->count; s++)
        relative_features(j->e->x + (size_t)j->start[s] * j->f->w.D, (size_t)j->f->w.D,
                          j->start[s + 1] - j->start[s], task, task + 1, j->f->model->sh.s.width);
}

static void first_rows(void *arg, int task, int thread) {
    (void)thread;
    const job *j = arg;
    const encoder_weights *w = &j->f->w.enc[j->block];
    multiply(j, task, j->f->model->sh.enc[j->block].in, 2 * j->f->w.H, w->first, w->bias1, j->e->ac);
}

/* The items first .. last - 1 of a set, paired with all of its items. */
static void pair_items(const job *j, int set, int first, int last, int thread) {
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

static void pair_rows(void *arg, int task, int thread) {
    const job *j = arg;
    if (order_stops(j->e->options)) return;
    if (j->count == 1)
        pair_items(j, 0, task * j->share, end_of(j, task), thread);
    else /* the only task */
        for (int s = 0; s < j->count; s++) pair_items(j, s, 0, j->start[s + 1] - j->start[s], thread);
}

static void decoder_rows(void *arg, int task, int thread) {
    (void)thread;
    const job *j = arg;
    const frozen *f = j->f;
    multiply(j, task, f->model->sh.D, f->w.Q, f->w.rows, NULL, j->e->q);
    if (task % j->parts) return;
    int row = task / j->parts * j->share;
    for (int i = row; i < end_of(j, task / j->parts); i++) {
        real sum = 0;
        for (int c = 0; c < f->model->sh.D; c++) sum += f->w.head_x[c] * j->e->x[(size_t)i * f->w.D + c];
        j->e->logit[i] = sum;
    }
}

/* Spreads the pairs of a set over the threads. */
static void run_pairs(thread_pool *threads, job *j) {
    int share = j->share;
    if (j->count == 1) {
        int tasks = tasks_worth(threads, (double)j->rows * j->rows * j->f->w.H * j->f->w.O);
        int even = (j->rows + tasks - 1) / tasks;
        if (even < share) j->share = even;
    }
    thread_pool_run(threads, tasks_of(j), pair_rows, j);
    j->share = share;
}

void encode(encoded *e, const frozen *f, const float *const *items, const int *start, int count, int placed,
            thread_pool *threads) {
    job j = {e, f, items, start, count, start[count], 0, count > 1 ? GROUP_ROWS : ROWS, 1};
    const shape *sh = &f->model->sh;
    thread_pool_run(threads, tasks_of(&j), take_rows, &j);
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
