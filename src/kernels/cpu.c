/* The net on a CPU: opening, memory, batches, sums over the batch, and the optimiser. */
#include "kernels/cpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

enum { SLICE = 4096 }; /* parameters a task of the optimiser */

/* ---- phases ---- */

typedef struct phase {
    cpu *s;
    cpu_task *fn;
    int block, tasks;
} phase;

static void phase_task(void *arg, int task, int thread) {
    (void)thread;
    const phase *p = arg;
    if (task < p->tasks)
        p->fn(p->s, p->block, task);
    else
        p->s->later.fn(p->s, p->s->later.block, task - p->tasks);
}

void cpu_run(cpu *s, int tasks, cpu_task *fn, int block) {
    pool_run(s->pool, tasks + s->later.tasks, phase_task, &(phase){s, fn, block, tasks});
    s->later.tasks = 0;
}

void cpu_later(cpu *s, int tasks, cpu_task *fn, int block) {
    s->later.fn = fn;
    s->later.tasks = tasks;
    s->later.block = block;
}

/* ---- sums over the batch ---- */

void cpu_total_here(cpu *s, size_t count, double *total) {
    memcpy(total, s->sums, count * sizeof *total);
    for (int chunk = 1; chunk < CHUNKS; chunk++) {
        const double *part = s->sums + (size_t)chunk * s->sums_width;
        for (size_t c = 0; c < count; c++) total[c] += part[c];
    }
}

void cpu_total(cpu *s, size_t count, double *total) {
    cpu_total_here(s, count, total);
    if (s->base.sum) s->base.sum(s->base.sum_context, total, count);
}

void cpu_norm(cpu *s, norm *b, norm_at at, int width, const double *total, int padded, double cells) {
    for (int c = 0; c < width; c++) {
        double mean = total[c] / cells, var = total[padded + c] / cells - mean * mean;
        if (var < 0) var = 0;
        double inv = 1 / sqrt(var + NORM_EPSILON), g = (double)s->theta[at.gamma + c] * inv;
        b->mean[c] = (real)mean;
        b->inv[c] = (real)inv;
        b->g[c] = (real)g;
        b->e[c] = (real)((double)s->theta[at.beta + c] - mean * g);
        if (!s->base.update) continue;
        /* The running variance is that of a sample: cells - 1 in its denominator. */
        double sample = cells > 1 ? var * cells / (cells - 1) : var;
        real *rm = &s->theta[at.mean + c], *rv = &s->theta[at.var + c];
        *rm = (real)((1 - NORM_MOMENTUM) * (double)*rm + NORM_MOMENTUM * mean);
        *rv = (real)((1 - NORM_MOMENTUM) * (double)*rv + NORM_MOMENTUM * sample);
    }
}

void cpu_norm_backward(cpu *s, const norm *b, norm_at at, int width, const double *dy, const double *dy_xhat,
                       double cells, real *k0, real *k1) {
    for (int c = 0; c < width; c++) {
        s->grad[at.beta + c] = (real)dy[c];
        s->grad[at.gamma + c] = (real)dy_xhat[c];
    }
    /* Beyond the chunks' sums and their total there is room for two more rows of sums. */
    double *all = s->sums + (CHUNKS + 1) * s->sums_width;
    memcpy(all, dy, (size_t)width * sizeof *all);
    memcpy(all + width, dy_xhat, (size_t)width * sizeof *all);
    if (s->base.sum) s->base.sum(s->base.sum_context, all, 2 * (size_t)width);
    for (int c = 0; c < width; c++) {
        double g = (double)b->g[c], inv = (double)b->inv[c];
        double m1 = all[c] / cells, m2 = all[width + c] / cells;
        k0[c] = (real)(g * (m1 - m2 * inv * (double)b->mean[c]));
        k1[c] = (real)(g * inv * m2);
    }
}

/* ---- opening and memory ---- */

static bool get(real **p, size_t count) {
    return (*p = array_new(count, sizeof(real))) != NULL;
}

static size_t largest(size_t a, size_t b) {
    return a > b ? a : b;
}

static void free_batch(cpu *s) {
    for (int k = 0; k < MAX_BLOCKS; k++) {
        encoder_state *e = &s->enc[k];
        decoder_state *d = &s->dec[k];
        void *all[] = {e->ac, e->u, e->best, e->arg, d->r, d->d, d->arg};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
        e->ac = e->u = e->best = d->r = d->d = NULL;
        e->arg = d->arg = NULL;
    }
    void *all[] = {s->by_word, s->word,  s->word_d, s->pos,    s->order, s->x,     s->dx,
                   s->q,       s->dq,    s->p,      s->dp,     s->step,  s->dstep, s->dac,
                   s->gd,      s->logit, s->dlogit, s->item_d, s->y,     s->dy};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    s->by_word = NULL;
    s->word = NULL;
    s->word_d = NULL;
    s->pos = s->order = NULL;
    s->x = s->dx = s->q = s->dq = s->p = s->dp = s->step = s->dstep = s->dac = s->gd = NULL;
    s->logit = s->dlogit = s->item_d = NULL;
    s->y = NULL;
    s->dy = NULL;
    s->rows = s->cells = s->steps = 0;
}

static void close_cpu(net *t) {
    cpu *s = (cpu *)t;
    if (!s) return;
    free_batch(s);
    weights_free(&s->w);
    for (int k = 0; k < MAX_BLOCKS; k++) {
        encoder_state *e = &s->enc[k];
        decoder_state *d = &s->dec[k];
        norm_free(&e->norm1);
        norm_free(&e->norm2);
        norm_free(&d->norm);
        void *all[] = {e->wf, e->wf_t, e->bf, d->wf, d->bias};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    }
    void *all[] = {
        s->average, s->vectors_average, s->theta,     s->grad,      s->m,    s->v,     s->mean,
        s->scale,   s->vectors,         s->vectors_m, s->vectors_v, s->sums, s->gpart, s->start_part,
        s->gwide,   s->chunk_loss,      s->norm_part, s->k0,        s->k1,   s->c0,    s->c1};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    pool_free(s->pool);
    free(s);
}

/* Memory whose size depends on the net alone. */
static bool fixed_memory(cpu *s) {
    const shape *sh = s->base.sh;
    int N = sh->s.decoder_blocks;
    size_t H = (size_t)s->w.H, O = (size_t)s->w.O, C = (size_t)s->w.C, D = (size_t)s->w.D, Q = (size_t)s->w.Q;
    for (int k = 0; k < sh->s.encoder_blocks; k++) {
        encoder_state *e = &s->enc[k];
        if (!norm_new(&e->norm1, s->w.H) || !norm_new(&e->norm2, s->w.O) || !get(&e->wf, H * O) ||
            !get(&e->wf_t, H * O) || !get(&e->bf, O))
            return false;
    }
    for (int m = 0; m < N; m++) {
        decoder_state *d = &s->dec[m];
        if (!norm_new(&d->norm, s->w.C) || !get(&d->wf, 3 * (size_t)m * C * C) || !get(&d->bias, 3 * C))
            return false;
    }
    size_t widest = largest(H, largest(O, C));
    s->sums_width = 2 * widest;
    s->gpart_width = largest((H + 1) * O, 3 * (size_t)N * C * C + 3 * C);
    s->gpart_width = largest(s->gpart_width, (size_t)N * C + D);
    size_t wide = largest(2 * H * D, largest(Q * D, 6 * (size_t)N * C * C));
    wide = largest(wide, largest((size_t)N * C + D, (size_t)sh->s.width));
    return get(&s->theta, sh->total) && get(&s->grad, sh->total) && get(&s->m, sh->total) &&
           get(&s->v, sh->total) && get(&s->mean, (size_t)sh->s.width) &&
           get(&s->scale, (size_t)sh->s.width) &&
           (s->sums = array_new((CHUNKS + 2) * s->sums_width, sizeof *s->sums)) &&
           get(&s->gpart, 2 * CHUNKS * s->gpart_width) && get(&s->start_part, CHUNKS * largest(Q, C)) &&
           get(&s->gwide, wide) && (s->chunk_loss = array_new(CHUNKS, sizeof *s->chunk_loss)) &&
           (s->norm_part = array_new(sh->total / SLICE + 2, sizeof *s->norm_part)) && get(&s->k0, widest) &&
           get(&s->k1, widest) && get(&s->c0, widest) && get(&s->c1, widest);
}

static onet_status reserve(net *t, int B, int n, onet_error *err) {
    cpu *s = (cpu *)t;
    if (B < 1 || n < 1) return fail(err, ONET_USAGE, "a batch needs at least one set of one item");
    double most = (double)B * (n + 2.0) * n * largest((size_t)s->w.O, (size_t)s->w.C) * sizeof(real);
    if (most > 1e12)
        return fail(err, ONET_MEMORY,
                    "not enough memory for a batch of %d sets of %d items: try a smaller batch", B, n);
    size_t rows = (size_t)B * n, cells = rows * n, steps = (size_t)B * (n + 2) + 2, plane = steps * n;
    /* Sizes differ in which of these they need most of: keep the largest of each. */
    rows = largest(rows, s->rows);
    cells = largest(largest(cells, plane), s->cells);
    steps = largest(steps, s->steps);
    if (rows == s->rows && cells == s->cells && steps == s->steps) return ONET_OK;
    free_batch(s);
    const shape *sh = t->sh;
    size_t H = (size_t)s->w.H, O = (size_t)s->w.O, C = (size_t)s->w.C, D = (size_t)s->w.D, Q = (size_t)s->w.Q;
    size_t N = (size_t)sh->s.decoder_blocks;
    bool ok = true;
    for (int k = 0; k < sh->s.encoder_blocks; k++) {
        encoder_state *e = &s->enc[k];
        ok = ok && get(&e->ac, rows * 2 * H) && get(&e->u, cells * O) && get(&e->best, rows * O) &&
             (e->arg = array_new(rows * O, sizeof *e->arg));
    }
    for (int m = 0; m < sh->s.decoder_blocks; m++) {
        decoder_state *d = &s->dec[m];
        ok = ok && get(&d->r, cells * C) && get(&d->d, cells * C) &&
             (d->arg = array_new(rows * C, sizeof *d->arg));
    }
    ok = ok && (s->by_word = array_new(rows, sizeof *s->by_word)) &&
         (s->word = array_new(rows, sizeof *s->word)) && get(&s->word_d, rows * sh->s.width) &&
         (s->pos = array_new(rows, sizeof *s->pos)) && (s->order = array_new(rows, sizeof *s->order)) &&
         get(&s->x, (rows + 1) * D) && get(&s->dx, (rows + 1) * D) && get(&s->q, (rows + 1) * Q) &&
         get(&s->dq, (rows + 1) * Q) && get(&s->p, steps * N * C) && get(&s->dp, steps * N * C) &&
         get(&s->step, steps * C) && get(&s->dstep, 2 * steps * C) && get(&s->dac, rows * 2 * H) &&
         get(&s->gd, rows * O) && get(&s->logit, cells) && get(&s->dlogit, cells) && get(&s->item_d, rows) &&
         (s->y = array_new(steps, sizeof *s->y)) && (s->dy = array_new(steps, sizeof *s->dy));
    if (!ok) {
        free_batch(s);
        return fail(err, ONET_MEMORY,
                    "not enough memory for a batch of %d sets of %d items: try a smaller batch", B, n);
    }
    s->rows = rows;
    s->cells = cells;
    s->steps = steps;
    return ONET_OK;
}

static onet_status data(net *t, const onet_sets *sets, const float *mean, const float *scale,
                        int train_vectors, onet_error *err) {
    cpu *s = (cpu *)t;
    int d = t->sh->s.width;
    if (sets->width != d)
        return fail(err, ONET_BAD, "the sets have items of width %d, the net takes %d", sets->width, d);
    s->sets = sets;
    for (int c = 0; c < d; c++) {
        s->mean[c] = mean ? (real)mean[c] : 0;
        s->scale[c] = scale ? (real)scale[c] : 1;
    }
    s->train_vectors = train_vectors && sets->word;
    if (s->train_vectors && !s->vectors) {
        size_t count = (size_t)sets->words->count * d;
        if (!get(&s->vectors, count) || !get(&s->vectors_m, count) || !get(&s->vectors_v, count))
            return fail_memory(err, "the vectors of the words");
        for (size_t i = 0; i < count; i++) s->vectors[i] = (real)sets->words->vectors[i];
    }
    return ONET_OK;
}

static real *block_of(cpu *s, net_block what, size_t *count) {
    size_t vectors = s->vectors ? (size_t)s->sets->words->count * s->base.sh->s.width : 0;
    *count = what >= NET_VECTORS ? vectors : s->base.sh->total;
    switch (what) {
    case NET_THETA:
        return s->theta;
    case NET_GRAD:
        return s->grad;
    case NET_M:
        return s->m;
    case NET_V:
        return s->v;
    case NET_AVERAGE:
        return s->average;
    case NET_VECTORS:
        return s->vectors;
    case NET_VECTORS_M:
        return s->vectors_m;
    case NET_VECTORS_V:
        return s->vectors_v;
    case NET_VECTORS_AVERAGE:
        return s->vectors_average;
    }
    return NULL;
}

static onet_status put(net *t, net_block what, const float *from, onet_error *err) {
    cpu *s = (cpu *)t;
    size_t count;
    real *to = block_of(s, what, &count);
    if (!to && (what == NET_AVERAGE || what == NET_VECTORS_AVERAGE)) {
        real **average = what == NET_AVERAGE ? &s->average : &s->vectors_average;
        if (!get(average, count)) return fail_memory(err, "the average of the weights");
        to = *average;
    }
    for (size_t i = 0; i < count; i++) to[i] = (real)from[i];
    return ONET_OK;
}

static onet_status get_block(net *t, net_block what, float *to, onet_error *err) {
    (void)err;
    size_t count;
    const real *from = block_of((cpu *)t, what, &count);
    for (size_t i = 0; i < count; i++) to[i] = (float)from[i];
    return ONET_OK;
}

/* ---- a step ---- */

static void take_chunk(cpu *s, int block, int chunk) {
    (void)block;
    const onet_sets *sets = s->sets;
    int n = s->base.n, d = s->base.sh->s.width;
    size_t width = (size_t)s->base.sh->s.decoder_blocks * s->w.C;
    for (int b = chunk_begin(s, chunk); b < chunk_begin(s, chunk + 1); b++) {
        size_t from = sets->start[s->index[b]], row = (size_t)b * n;
        for (int i = 0; i < n; i++) {
            real *x = s->x + (row + i) * s->w.D;
            int32_t at = sets->order[from + i];
            s->order[row + i] = at;
            s->pos[row + at] = i;
            if (s->train_vectors) {
                const real *v = s->vectors + (size_t)sets->word[from + i] * d;
                for (int c = 0; c < d; c++) x[c] = (v[c] - s->mean[c]) * s->scale[c];
            } else {
                const float *v = sets->word ? sets->words->vectors + (size_t)sets->word[from + i] * d
                                            : sets->items + (from + i) * d;
                for (int c = 0; c < d; c++) x[c] = ((real)v[c] - s->mean[c]) * s->scale[c];
            }
        }
        memset(s->p + (size_t)b * (n + 2) * width, 0, 2 * width * sizeof(real));
    }
}

static void take(net *t, const uint32_t *index, int B, int n) {
    cpu *s = (cpu *)t;
    t->B = B;
    if (!t->sum) t->all = B;
    t->n = n;
    s->index = index;
    cpu_run(s, CHUNKS, take_chunk, 0);
}

/* The last tasks are the longest: they come first. */
static void fill_task(cpu *s, int block, int task) {
    (void)block;
    weights_fill(&s->w, s->theta, s->w.tasks - 1 - task);
}

static void begin(net *t) {
    cpu *s = (cpu *)t;
    cpu_run(s, s->w.tasks, fill_task, 0);
}

static void square_slice(cpu *s, int block, int task) {
    (void)block;
    size_t first = (size_t)task * SLICE, last = first + SLICE;
    if (last > s->base.sh->trained) last = s->base.sh->trained;
    double sum = 0;
    for (size_t i = first; i < last; i++) sum += (double)s->grad[i] * (double)s->grad[i];
    s->norm_part[task] = sum;
}

typedef struct adam_job {
    cpu *s;
    adam_step step;
} adam_job;

static void adam_slice(void *arg, int task, int thread) {
    (void)thread;
    adam_job *j = arg;
    cpu *s = j->s;
    size_t first = (size_t)task * SLICE, last = first + SLICE;
    if (last > s->base.sh->trained) last = s->base.sh->trained;
    s->k->adam(last - first, s->theta + first, s->grad + first, s->m + first, s->v + first, &j->step);
}

static int compare_words(const void *a, const void *b) {
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

/* The words of all rows of the batch and their gradients, those of other processes too: each writes its own
 * rows into zeros, and the sum over all has them all. */
static const real *all_rows(cpu *s, size_t *stride) {
    int B = s->base.B, n = s->base.n, d = s->base.sh->s.width, rows = s->base.all * n;
    *stride = s->base.sum ? (size_t)d : (size_t)s->w.D;
    if (s->base.sum) {
        memset(s->word, 0, (size_t)rows * sizeof *s->word);
        memset(s->word_d, 0, (size_t)rows * d * sizeof(real));
    }
    for (int b = 0; b < B; b++) {
        const int32_t *word = s->sets->word + s->sets->start[s->index[b]];
        size_t to = (size_t)(s->base.place ? s->base.place[b] : (uint32_t)b) * n;
        for (int i = 0; i < n; i++) {
            s->word[to + i] = word[i];
            if (s->base.sum)
                memcpy(s->word_d + (to + i) * d, s->dx + ((size_t)b * n + i) * s->w.D,
                       (size_t)d * sizeof(real));
        }
    }
    if (!s->base.sum) return s->dx;
    s->base.sum(s->base.sum_context, s->word, (size_t)rows);
    s->base.sum_floats(s->base.sum_context, s->word_d, (size_t)rows * d);
    return s->word_d;
}

/* Moves the vectors of the words of this batch, and only those; a word that stands in several places gets the
 * sum of their gradients. */
static void move_vectors(cpu *s, const adam_step *step) {
    int R = s->base.all * s->base.n, d = s->base.sh->s.width;
    adam_step plain = *step;
    plain.decay = 0;
    size_t stride;
    const real *gradient = all_rows(s, &stride);
    for (int r = 0; r < R; r++) s->by_word[r] = (uint64_t)s->word[r] << 32 | (uint64_t)r;
    qsort(s->by_word, (size_t)R, sizeof *s->by_word, compare_words);
    for (int r = 0; r < R;) {
        uint64_t word = s->by_word[r] >> 32;
        real *g = s->gwide;
        memset(g, 0, (size_t)d * sizeof(real));
        for (; r < R && s->by_word[r] >> 32 == word; r++) {
            const real *dx = gradient + (size_t)(s->by_word[r] & 0xffffffff) * stride;
            for (int c = 0; c < d; c++) g[c] += dx[c] * s->scale[c];
        }
        s->k->adam((size_t)d, s->vectors + word * d, g, s->vectors_m + word * d, s->vectors_v + word * d,
                   &plain);
    }
}

static void optimise(net *t, const adam_step *step, double clip, double *norm_out) {
    cpu *s = (cpu *)t;
    if (t->sum_floats) t->sum_floats(t->sum_context, s->grad, t->sh->trained);
    int slices = (int)((t->sh->trained + SLICE - 1) / SLICE);
    cpu_run(s, slices, square_slice, 0);
    double sum = 0;
    for (int i = 0; i < slices; i++) sum += s->norm_part[i];
    double size = sqrt(sum);
    if (norm_out) *norm_out = size;
    adam_job j = {s, *step};
    if (clip > 0 && size > clip) j.step.scale *= clip / size;
    pool_run(s->pool, slices, adam_slice, &j);
    if (s->train_vectors) move_vectors(s, &j.step);
}

typedef struct average_job {
    real *to;
    const real *from;
    size_t count;
    double decay;
} average_job;

static void average_slice(void *arg, int task, int thread) {
    (void)thread;
    const average_job *j = arg;
    size_t first = (size_t)task * SLICE, last = first + SLICE;
    if (last > j->count) last = j->count;
    for (size_t i = first; i < last; i++)
        j->to[i] = (real)(j->decay * (double)j->to[i] + (1 - j->decay) * (double)j->from[i]);
}

static void average(net *t, double decay) {
    cpu *s = (cpu *)t;
    static const net_block pairs[][2] = {{NET_AVERAGE, NET_THETA}, {NET_VECTORS_AVERAGE, NET_VECTORS}};
    for (int i = 0; i < 2; i++) {
        average_job j = {.decay = decay};
        j.from = block_of(s, pairs[i][1], &j.count);
        j.to = block_of(s, pairs[i][0], &j.count);
        if (j.to) pool_run(s->pool, (int)((j.count + SLICE - 1) / SLICE), average_slice, &j);
    }
}

static double loss(net *t) {
    return ((cpu *)t)->loss;
}

static void losses(net *t, int count, double *to) {
    (void)count; /* 1: loss_every */
    *to = ((cpu *)t)->loss;
}

const real *cpu_logprob(const net *t) {
    return ((const cpu *)t)->logit;
}
static const block_ops cpu_ops = {
    .name = "cpu",
    .close = close_cpu,
    .reserve = reserve,
    .data = data,
    .put = put,
    .get = get_block,
    .take = take,
    .begin = begin,
    .encoder_forward = cpu_encoder_forward,
    .decoder_rows_forward = cpu_decoder_rows_forward,
    .decoder_forward = cpu_decoder_forward,
    .head = cpu_head,
    .decoder_backward = cpu_decoder_backward,
    .decoder_rows_backward = cpu_decoder_rows_backward,
    .encoder_backward = cpu_encoder_backward,
    .optimise = optimise,
    .average = average,
    .loss = loss,
    .losses = losses,
};

const char *net_kernels(const net *t) {
    return t->ops == &cpu_ops ? ((const cpu *)t)->k->name : t->ops->name;
}

onet_status cpu_open(net **t, const shape *sh, const char *kernel_set, int threads, onet_error *err) {
    const kernels *k = kernels_pick(kernel_set);
    if (!k) return fail(err, ONET_USAGE, "kernels `%s` are unknown or not for this processor", kernel_set);
    cpu *s = calloc(1, sizeof *s);
    if (!s) return fail_memory(err, "the net");
    s->base.ops = &cpu_ops;
    s->base.sh = sh;
    s->base.update = 1;
    s->base.loss_every = 1;
    s->k = k;
    s->pool = pool_new(threads);
    if (!s->pool || !weights_new(&s->w, sh, true) || !fixed_memory(s)) {
        close_cpu(&s->base);
        return fail_memory(err, "the net");
    }
    *t = &s->base;
    return ONET_OK;
}
