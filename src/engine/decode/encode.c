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

enum { ROWS = 48 }; /* per task, where a large set is spread over threads */

typedef struct job {
    encoded *e;
    const frozen *f;
    const float *const *items;
    const int *start; /* [count + 1]: set s has the rows start[s] .. start[s + 1] - 1 */
    int count;
    int rows, block;
    int share; /* rows per task */
} job;

static int tasks_of(const job *j) {
    return (j->rows + j->share - 1) / j->share;
}

static int end_of(const job *j, int task) {
    return (task + 1) * j->share < j->rows ? (task + 1) * j->share : j->rows;
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
    job *j = arg;
    const frozen *f = j->f;
    int H = f->w.H, in = f->model->sh.enc[j->block].in, row = task * j->share, rows = end_of(j, task) - row;
    real *ac = j->e->ac + (size_t)row * 2 * H;
    for (int r = 0; r < rows; r++)
        memcpy(ac + (size_t)r * 2 * H, f->w.enc[j->block].bias1, 2 * (size_t)H * sizeof(real));
    f->k->gemm(rows, 2 * H, in, j->e->x + (size_t)row * f->w.D, (size_t)f->w.D, 1,
               packed(f->w.enc[j->block].first, in), ac, 2 * (size_t)H, 1);
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
    job *j = arg;
    const frozen *f = j->f;
    int row = task * j->share, rows = end_of(j, task) - row;
    f->k->gemm(rows, f->w.Q, f->model->sh.D, j->e->x + (size_t)row * f->w.D, (size_t)f->w.D, 1,
               packed(f->w.rows, f->model->sh.D), j->e->q + (size_t)row * f->w.Q, (size_t)f->w.Q, 0);
    for (int i = row; i < row + rows; i++) {
        real sum = 0;
        for (int c = 0; c < f->model->sh.D; c++) sum += f->w.head_x[c] * j->e->x[(size_t)i * f->w.D + c];
        j->e->logit[i] = sum;
    }
}

void encode(encoded *e, const frozen *f, const float *const *items, const int *start, int count, int placed,
            pool *threads) {
    job j = {e, f, items, start, count, start[count], 0, count > 1 ? GROUP_ROWS : ROWS};
    int tasks = tasks_of(&j);
    pool_run(threads, tasks, take_rows, &j);
    if (f->model->sh.s.relative) pool_run(threads, f->model->sh.s.width, relative_column, &j);
    for (j.block = 0; j.block < f->model->sh.s.encoder_blocks; j.block++) {
        if (order_stops(e->options)) return;
        pool_run(threads, tasks, first_rows, &j);
        pool_run(threads, tasks, pair_rows, &j);
    }
    if (order_stops(e->options)) return;
    j.rows = placed;
    pool_run(threads, tasks_of(&j), decoder_rows, &j);
}
