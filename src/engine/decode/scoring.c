/* Scores several orders of one set. The orders are known, so that a block of the decoder computes many steps
 * in one call. Where two orders have placed the same items, the last few in the same order, they are in the
 * same state: the next step's probabilities are computed for the first of them alone. */
#include "engine/decode/scoring.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

/* STEPS: steps computed in one call. More share a call; with fewer, more items that were placed before are
 * left out. GAP: so many known steps between two unknown ones are computed again, since another call costs
 * more. */
enum { STEPS = 16, GAP = 2 };

/* Block m looks back 2 steps at the blocks before it, and block 0 at the items placed at the 3 steps before:
 * a state depends on which items are placed, and on the order of the last ones. Returns how many these are.
 */
static int remembered(int blocks) {
    return 2 * blocks + 1;
}

/* Returns the number of steps before a run at which earlier blocks are computed too. */
static int lead_of(int blocks) {
    return blocks ? 2 * (blocks - 1) : 0;
}

bool scoring_plan_new(scoring_plan *p, int blocks, int n, const int32_t *order, int count) {
    size_t all = (size_t)count * (size_t)n;
    *p = (scoring_plan){.n = n,
                        .count = count,
                        .order = order,
                        .pos = array_new(all, sizeof *p->pos),
                        .owner = array_new(all, sizeof *p->owner)};
    if (!p->pos || !p->owner) {
        scoring_plan_free(p);
        return false;
    }
    for (int k = 0; k < count; k++) {
        const int32_t *mine = order + (size_t)k * n;
        int32_t *place = p->pos + (size_t)k * n, *owner = p->owner + (size_t)k * n;
        for (int t = 0; t < n; t++) place[mine[t]] = t;
        for (int t = 0; t < n; t++) owner[t] = k;
        for (int other = 0; other < k; other++) {
            const int32_t *its = order + (size_t)other * n, *its_place = p->pos + (size_t)other * n;
            int common = 0, run = 0; /* items placed in both; of the last ones, how many are the same */
            for (int t = 0; t < n; t++) {
                bool same = common == t && run >= (t < remembered(blocks) ? t : remembered(blocks));
                if (same && owner[t] > other) owner[t] = other;
                common += (its_place[mine[t]] <= t) + (place[its[t]] < t);
                run = mine[t] == its[t] ? run + 1 : 0;
            }
        }
    }
    return true;
}

void scoring_plan_free(scoring_plan *p) {
    free(p->pos);
    free(p->owner);
    *p = (scoring_plan){0};
}

void scoring_free(scoring *s) {
    free(s->plane);
    free(s->pool);
    free(s->bias);
    free(s->logit);
    free(s->x);
    free(s->kept);
    free(s->pos);
    free(s->y);
    free(s->step);
    *s = (scoring){0};
}

bool scoring_reserve(scoring *s, const frozen *f, int n, int count) {
    if (n <= s->n && count <= s->count) return true;
    n = n > s->n ? n : s->n;
    count = count > s->count ? count : s->count;
    scoring_free(s);
    size_t N = (size_t)f->model->sh.s.decoder_blocks, C = (size_t)f->w.C, rows = (size_t)n;
    size_t steps = STEPS + (size_t)lead_of((int)N) + 2;
    bool ok = real_new(&s->plane, N * steps * rows * C + 1) && real_new(&s->pool, steps * N * C + 1) &&
              real_new(&s->bias, steps * C) && real_new(&s->logit, STEPS * rows) &&
              real_new(&s->x, rows * 3 * C) && (s->kept = array_new(rows, sizeof *s->kept)) &&
              (s->pos = array_new(rows, sizeof *s->pos)) && (s->y = array_new(steps, sizeof *s->y)) &&
              (s->step = array_new((size_t)count * rows, sizeof *s->step));
    if (!ok) {
        scoring_free(s);
        return false;
    }
    s->n = n;
    s->count = count;
    return true;
}

/* The steps from `start` on of an order, in the memory of s. */
typedef struct stretch {
    scoring *s;
    const frozen *f;
    const encoded *e;
    const int32_t *order;   /* [n] */
    int start, first, last; /* computed from `start` on; their probabilities are wanted from first to last */
    int rows, steps;        /* steps: that there is room for */
} stretch;

/* Chooses the rows of a stretch: all items except those placed so long before it that their place affects no
 * cell. Those have bit-identical cells, so one row stands for all. */
static void keep_rows(stretch *r, const int32_t *pos, int n) {
    int stands = 0;
    r->rows = 0;
    for (int i = 0; i < n; i++) {
        if (pos[i] < r->start - 2 && stands++) continue;
        r->s->kept[r->rows] = i;
        r->s->pos[r->rows++] = pos[i];
    }
}

/* Returns the plane of block m at step t; there is room for two steps before the first. */
static real *plane_of(const stretch *r, int m, int t) {
    size_t at = (size_t)m * (size_t)r->steps + (size_t)(t - r->start + 2);
    return r->s->plane + at * (size_t)r->rows * (size_t)r->f->w.C;
}

/* Computes block m of the steps from .. last - 1, and adds its part to the logits. */
static void block(const stretch *r, int m, int from) {
    scoring *s = r->s;
    const frozen *f = r->f;
    const encoded *e = r->e;
    int C = f->w.C, N = f->model->sh.s.decoder_blocks, width = N * C, before = m * C, steps = r->last - from;
    const real *in[MAX_BLOCKS];
    for (int t = from; t < r->last; t++)
        memcpy(s->bias + (size_t)(t - from) * C, f->dec_bias[m] + (t < 2 ? t : 2) * C,
               (size_t)C * sizeof(real));
    for (int l = 0; l < 3 && m; l++) {
        int t = from < l ? l : from; /* the first step that has one l steps before it */
        if (t >= r->last) break;
        f->k->gemm(r->last - t, C, before, s->pool + (size_t)(t - l - r->start) * width, (size_t)width, 1,
                   row_major(f->w.dec[m].p + (size_t)l * before * C, (size_t)C),
                   s->bias + (size_t)(t - from) * C, (size_t)C, 1);
    }
    for (int t = from < 2 ? 0 : from - 2; t < r->last; t++) { /* y'_t */
        const real *q = t ? e->q + (size_t)r->order[t - 1] * f->w.Q : f->start_q;
        s->y[t - from + 2] = q + (size_t)(m * 6 + 3) * C;
    }
    for (int i = 0; i < r->rows; i++)
        memcpy(s->x + (size_t)i * 3 * C, e->q + (size_t)s->kept[i] * f->w.Q + (size_t)m * 6 * C,
               3 * (size_t)C * sizeof(real));
    for (int k = 0; k < m; k++) in[k] = plane_of(r, k, from);
    real *best = s->pool + (size_t)(from - r->start) * width + (size_t)m * C;
    f->k->conv_forward(&(conv_forward){.n = r->rows,
                                       .C = C,
                                       .blocks = m,
                                       .t0 = from,
                                       .t1 = r->last,
                                       .pos = s->pos,
                                       .x = s->x,
                                       .ldx = 3 * (size_t)C,
                                       .y = s->y + 2,
                                       .step = s->bias,
                                       .ld_step = (size_t)C,
                                       .in = in,
                                       .w = f->dec_w[m],
                                       .out = plane_of(r, m, from),
                                       .sign = f->w.dec[m].sign,
                                       .best = best,
                                       .ld_best = (size_t)width});
    const norm *nm = &f->dec_norm[m];
    for (int t = 0; t < steps; t++, best += width)
        for (int c = 0; c < C; c++) best[c] = nm->g[c] * best[c] + nm->e[c];
    f->k->cell_dot((r->last - r->first) * r->rows, C, plane_of(r, m, r->first), f->head_v + (size_t)m * C,
                   s->logit);
}

/* Writes the log-probability at step t of the item that each order in this state places there. */
static void take_step(const stretch *r, const scoring_plan *p, int k, int t) {
    const scoring *s = r->s;
    const real *logit = s->logit + (size_t)(t - r->first) * (size_t)r->rows;
    real top = -INFINITY;
    double sum = 0;
    for (int i = 0; i < r->rows; i++)
        if (s->pos[i] >= t && logit[i] > top) top = logit[i];
    for (int i = 0; i < r->rows; i++)
        if (s->pos[i] >= t) sum += exp((double)(logit[i] - top));
    double shift = log(sum);
    for (int other = k; other < p->count; other++) {
        size_t at = (size_t)other * (size_t)p->n + (size_t)t;
        if (p->owner[at] != k) continue;
        int row = 0; /* rows stand by item */
        for (int low = 0, high = r->rows; low < high;) {
            row = (low + high) / 2;
            if (s->kept[row] == p->order[at]) break;
            if (s->kept[row] < p->order[at])
                low = row + 1;
            else
                high = row;
        }
        r->s->step[at] = (double)logit[row] - (double)top - shift;
    }
}

/* Computes the steps first .. last - 1 of order k. */
static void run_stretch(scoring *s, const scoring_plan *p, const frozen *f, const encoded *e, int k,
                        int first, int last) {
    int N = f->model->sh.s.decoder_blocks, lead = lead_of(N);
    stretch r = {.s = s,
                 .f = f,
                 .e = e,
                 .order = p->order + (size_t)k * p->n,
                 .start = first < lead ? 0 : first - lead,
                 .first = first,
                 .last = last,
                 .steps = STEPS + lead + 2};
    keep_rows(&r, p->pos + (size_t)k * p->n, p->n);
    for (int t = first; t < last; t++)
        for (int i = 0; i < r.rows; i++)
            s->logit[(size_t)(t - first) * (size_t)r.rows + (size_t)i] = e->logit[s->kept[i]];
    for (int m = 0; m < N && !r.start; m++) /* steps before the first one are zero */
        memset(plane_of(&r, m, -2), 0, 2 * (size_t)r.rows * (size_t)f->w.C * sizeof(real));
    for (int m = 0; m < N; m++) {
        int from = first - 2 * (N - 1 - m);
        block(&r, m, from < 0 ? 0 : from);
    }
    for (int t = first; t < last; t++)
        if (p->owner[(size_t)k * p->n + t] == k) take_step(&r, p, k, t);
}

void scoring_run(scoring *s, const scoring_plan *p, const frozen *f, const encoded *e, double *logprob) {
    int n = p->n, wanted = n - 1; /* the last item is placed without computing anything */
    for (int k = 0; k < p->count; k++) {
        const int32_t *owner = p->owner + (size_t)k * n;
        double *step = s->step + (size_t)k * n;
        for (int t = 0, end; t < wanted; t = end) {
            end = t + 1;
            if (owner[t] != k) continue;
            for (int next = end; next < wanted && next - t < STEPS && next - end <= GAP; next++)
                if (owner[next] == k) end = next + 1;
            if (order_stops(e->options)) return;
            run_stretch(s, p, f, e, k, t, end);
        }
        logprob[k] = 0;
        for (int t = 0; t < wanted; t++) logprob[k] += step[t];
    }
}
