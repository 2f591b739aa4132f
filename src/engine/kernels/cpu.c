/* Computes a training step on the CPU (the CPU backend of backend.h): gathers the batch, runs forward and
 * backward pass over threads, and computes sums over the batch and batch norms. The layers are in the other
 * cpu_*.c. */
#include "engine/kernels/cpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/kernels/relative.h"

/* ---- phases ---- */

typedef struct phase {
    cpu *s;
    cpu_job *fn;
    int block, jobs;
} phase;

static void phase_job(void *arg, int job, int thread) {
    (void)thread;
    const phase *p = arg;
    if (job < p->jobs)
        p->fn(p->s, p->block, job);
    else
        p->s->later.fn(p->s, p->s->later.block, job - p->jobs);
}

void cpu_run(cpu *s, int jobs, cpu_job *fn, int block) {
    thread_pool_run(s->threads, jobs + s->later.jobs, phase_job, &(phase){s, fn, block, jobs});
    s->later.jobs = 0;
}

void cpu_later(cpu *s, int jobs, cpu_job *fn, int block) {
    s->later.fn = fn;
    s->later.jobs = jobs;
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
    /* Behind the chunks' sums and their total there is room for one more row of sums. */
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

/* ---- a step ---- */

/* Finds where each set begins in the arrays, and divides the sets into chunks of about the same number of
 * pairs. */
static void lay_out(cpu *s) {
    net *t = &s->base;
    set_at at = {0};
    for (int b = 0; b < t->B; b++) {
        at.n = (int)sets_size(s->sets, s->index[b]);
        at.m = (int)sets_placed(s->sets, s->index[b]);
        s->at[b] = at;
        at.row += (size_t)at.n;
        at.pair += (size_t)at.n * at.n;
        at.step += (size_t)at.m + 2;
        at.plane += (size_t)(at.m + 2) * at.m;
        at.cell += (size_t)at.m * at.m;
    }
    s->at[t->B] = at;
    for (int chunk = 0, b = 0; chunk <= CHUNKS; chunk++) {
        while (b < t->B && s->at[b + 1].pair * CHUNKS <= at.pair * (size_t)chunk) b++;
        s->chunk[chunk] = b;
    }
}

/* Numbers the rows of a set: the placed items, then the context items, each in the order of their indices. */
static void place_rows(cpu *s, int b) {
    const set_at *a = &s->at[b];
    size_t from = s->sets->start[s->index[b]];
    int32_t *item = s->item + a->row, *row_of = s->row_of + a->row;
    for (int i = 0, placed = 0, behind = a->m; i < a->n; i++) {
        int row = s->sets->context && s->sets->context[from + i] ? behind++ : placed++;
        item[row] = i;
        row_of[i] = row;
    }
    for (int t = 0; t < a->m; t++) {
        int32_t row = row_of[s->sets->order[from + t]];
        s->order[a->row + t] = row;
        s->right[a->row + t] = s->base.target ? row_of[s->base.target[from + t]] : row;
        s->pos[a->row + row] = t;
    }
}

/* Fills the plane of relations from the item placed last. */
static void place_relations(cpu *s, int b) {
    const set_at *a = &s->at[b];
    relations x = cpu_relations(s, b);
    if (!x.pairs) return;
    int m = a->m, C = s->w.C;
    real *plane = plane_at(s, s->last, b);
    memset(plane - 2 * (size_t)m * C, 0, (size_t)(m + 2) * m * C * sizeof *plane);
    for (int t = 1; t < m; t++)
        for (int i = 0; i < m; i++)
            if (s->pos[a->row + i] >= t)
                relations_of(&x, x.item[s->order[a->row + t - 1]], x.item[i],
                             plane + ((size_t)t * m + i) * C);
}

static void take_chunk(cpu *s, int block, int chunk) {
    (void)block;
    const onet_sets *sets = s->sets;
    int d = s->base.sh->s.width;
    size_t width = (size_t)s->base.sh->s.decoder_blocks * s->w.C;
    for (int b = s->chunk[chunk]; b < s->chunk[chunk + 1]; b++) {
        const set_at *a = &s->at[b];
        place_rows(s, b);
        for (int r = 0; r < a->n; r++) {
            real *x = s->x + (a->row + r) * s->w.D;
            size_t item = sets->start[s->index[b]] + (size_t)s->item[a->row + r];
            if (s->train_vectors) {
                const real *v = s->vectors + (size_t)sets->word[item] * d;
                for (int c = 0; c < d; c++) x[c] = (v[c] - s->mean[c]) * s->scale[c];
            } else {
                const float *v =
                    sets->word ? sets->words->vectors + (size_t)sets->word[item] * d : sets->items + item * d;
                for (int c = 0; c < d; c++) x[c] = ((real)v[c] - s->mean[c]) * s->scale[c];
            }
        }
        if (s->base.relative)
            for (int r = 0; r < a->n; r++) {
                size_t item = sets->start[s->index[b]] + (size_t)s->item[a->row + r];
                for (int c = 0; c < d; c++)
                    s->x[(a->row + r) * s->w.D + d + c] = (real)s->base.relative[item * d + c];
            }
        else if (s->base.sh->s.relative)
            relative_features(s->x + a->row * s->w.D, (size_t)s->w.D, a->n, 0, d, d);
        memset(s->p + a->step * width, 0, 2 * width * sizeof(real));
        place_relations(s, b);
    }
}

static void start_step(net *t, const uint32_t *index, int B) {
    cpu *s = (cpu *)t;
    t->B = B;
    s->index = index;
    lay_out(s);
    if (!t->sum) {
        t->whole = (batch_size){0};
        for (int b = 0; b < B; b++) batch_size_add(&t->whole, s->at[b].n, s->at[b].m);
    }
    cpu_run(s, CHUNKS, take_chunk, 0);
}

/* The last jobs take longest: they start first. */
static void fill_job(cpu *s, int block, int job) {
    (void)block;
    weights_fill(&s->w, s->theta, s->w.jobs - 1 - job);
}

static void begin(net *t) {
    cpu *s = (cpu *)t;
    cpu_run(s, s->w.jobs, fill_job, 0);
}

static void forward(net *t) {
    begin(t);
    for (int k = 0; k < t->sh->s.encoder_blocks; k++) cpu_encoder_forward(t, k);
    cpu_decoder_rows_forward(t);
    for (int m = 0; m < t->sh->s.decoder_blocks; m++) cpu_decoder_forward(t, m);
    cpu_head(t);
}

static void backward(net *t) {
    for (int m = t->sh->s.decoder_blocks - 1; m >= 0; m--) cpu_decoder_backward(t, m);
    cpu_decoder_rows_backward(t);
    for (int k = t->sh->s.encoder_blocks - 1; k >= 0; k--) cpu_encoder_backward(t, k);
}

static double loss(net *t) {
    return ((cpu *)t)->loss;
}

static void losses(net *t, int count, double *to) {
    (void)count; /* 1: losses_kept */
    *to = ((cpu *)t)->loss;
}

const real *cpu_logprob(const net *t) {
    return ((const cpu *)t)->logit;
}

/* ---- the backend ---- */

static void close_cpu(net *t) {
    cpu *s = (cpu *)t;
    if (!s) return;
    cpu_memory_close(s);
    thread_pool_free(s->threads);
    free(s);
}

const net_stages cpu_stages = {.begin = begin,
                               .encoder_forward = cpu_encoder_forward,
                               .decoder_rows_forward = cpu_decoder_rows_forward,
                               .decoder_forward = cpu_decoder_forward,
                               .head = cpu_head,
                               .decoder_backward = cpu_decoder_backward,
                               .decoder_rows_backward = cpu_decoder_rows_backward,
                               .encoder_backward = cpu_encoder_backward};

static const backend cpu_backend = {.name = "cpu",
                                    .close = close_cpu,
                                    .data = cpu_memory_data,
                                    .reserve = cpu_memory_reserve,
                                    .put = cpu_put,
                                    .get = cpu_get,
                                    .start_step = start_step,
                                    .forward = forward,
                                    .backward = backward,
                                    .optimise = cpu_optimise,
                                    .average = cpu_average,
                                    .loss = loss,
                                    .losses = losses};

const char *net_kernels(const net *t) {
    return t->ops == &cpu_backend ? ((const cpu *)t)->k->name : t->ops->name;
}

onet_status cpu_open(net **t, const net_shape *sh, const char *kernel_set, int threads, onet_error *err) {
    const kernels *k = kernels_pick(kernel_set);
    if (!k)
        return fail_field(err, ONET_USAGE, "onet_train_options.kernels",
                          "kernels `%s` are unknown or not for this CPU", kernel_set);
    cpu *s = calloc(1, sizeof *s);
    if (!s) return fail_memory(err, "the net");
    s->base.ops = &cpu_backend;
    s->base.sh = sh;
    s->base.update = 1;
    s->base.losses_kept = 1;
    s->k = k;
    s->threads = thread_pool_new(threads);
    if (!s->threads || !cpu_memory_open(s)) {
        close_cpu(&s->base);
        return fail_memory(err, "the net");
    }
    *t = &s->base;
    return ONET_OK;
}
