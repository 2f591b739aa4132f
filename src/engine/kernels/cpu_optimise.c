/* Clips the gradient, updates the parameters and the vectors of words on the CPU with Adam, and keeps the EMA
 * (exponential moving average) of both. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/kernels/cpu.h"

static void square_slice(cpu *s, int block, int job) {
    (void)block;
    size_t first = (size_t)job * SLICE, last = first + SLICE;
    if (last > s->base.sh->trained) last = s->base.sh->trained;
    double sum = 0;
    for (size_t i = first; i < last; i++) sum += (double)s->grad[i] * (double)s->grad[i];
    s->norm_part[job] = sum;
}

typedef struct adam_args {
    cpu *s;
    adam_step step;
} adam_args;

static void adam_slice(void *arg, int job, int thread) {
    (void)thread;
    adam_args *j = arg;
    cpu *s = j->s;
    size_t first = (size_t)job * SLICE, last = first + SLICE;
    if (last > s->base.sh->trained) last = s->base.sh->trained;
    s->k->adam(last - first, s->theta + first, s->grad + first, s->m + first, s->v + first, &j->step);
}

static int compare_words(const void *a, const void *b) {
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

/* Returns the gradients of all rows of the whole batch, `stride` apart, and sets s->word to their words. Each
 * rank fills its own rows of a zeroed array; summing the arrays (all-reduce) gives every rank all rows. */
static const real *all_rows(cpu *s, size_t *stride) {
    const net *t = &s->base;
    int d = t->sh->s.width;
    size_t rows = t->whole.items;
    *stride = t->sum ? (size_t)d : (size_t)s->w.D;
    if (t->sum) {
        memset(s->word, 0, rows * sizeof *s->word);
        memset(s->word_d, 0, rows * d * sizeof(real));
    }
    for (int b = 0; b < t->B; b++) {
        const set_at *at = &s->at[b];
        const int32_t *word = s->sets->word + s->sets->start[s->index[b]];
        size_t to = t->row ? t->row[b] : at->row;
        for (int r = 0; r < at->n; r++) {
            s->word[to + r] = word[s->item[at->row + r]];
            if (t->sum)
                memcpy(s->word_d + (to + r) * d, s->dx + (at->row + r) * s->w.D, (size_t)d * sizeof(real));
        }
    }
    if (!t->sum) return s->dx;
    t->sum(t->sum_context, s->word, rows);
    t->sum_floats(t->sum_context, s->word_d, rows * d);
    return s->word_d;
}

/* Updates the vectors of the words of this batch, and only those; a word that stands in several places gets
 * the sum of their gradients. */
static void move_vectors(cpu *s, const adam_step *step) {
    int R = (int)s->base.whole.items, d = s->base.sh->s.width;
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

void cpu_optimise(net *t, const adam_step *step, double clip, double *norm_out) {
    cpu *s = (cpu *)t;
    if (t->sum_floats) t->sum_floats(t->sum_context, s->grad, t->sh->trained);
    int slices = (int)((t->sh->trained + SLICE - 1) / SLICE);
    cpu_run(s, slices, square_slice, 0);
    double sum = 0;
    for (int i = 0; i < slices; i++) sum += s->norm_part[i];
    double size = sqrt(sum);
    if (norm_out) *norm_out = size;
    adam_args j = {s, *step};
    if (clip > 0 && size > clip) j.step.scale *= clip / size;
    thread_pool_run(s->threads, slices, adam_slice, &j);
    if (s->train_vectors) move_vectors(s, &j.step);
}

typedef struct average_args {
    real *to;
    const real *from;
    size_t count;
    double decay;
} average_args;

static void average_slice(void *arg, int job, int thread) {
    (void)thread;
    const average_args *j = arg;
    size_t first = (size_t)job * SLICE, last = first + SLICE;
    if (last > j->count) last = j->count;
    for (size_t i = first; i < last; i++)
        j->to[i] = (real)(j->decay * (double)j->to[i] + (1 - j->decay) * (double)j->from[i]);
}

static void move_average(cpu *s, real *to, const real *from, size_t count, double decay) {
    average_args j = {to, from, count, decay};
    thread_pool_run(s->threads, (int)((count + SLICE - 1) / SLICE), average_slice, &j);
}

void cpu_average(net *t, double decay) {
    cpu *s = (cpu *)t;
    move_average(s, s->average, s->theta, t->sh->total, decay);
    if (s->train_vectors) move_average(s, s->vectors_average, s->vectors, cpu_vector_numbers(s), decay);
}
