/* Searches the order of a set step by step on the CPU, by beam search, greedily, by sampling, or along a
 * given order to score it, under constraints. Where a beam search of a small set shall give only the best
 * order, the greedy order is found first, for all sets of a group in lockstep, and rules out less probable
 * beams. */
#include "engine/decode/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

/* Steps that the planes hold before the last two are moved to the front: moving costs time, planes cost
 * memory in proportion to n. */
enum { WINDOW = 6, LARGE_WINDOW = 1, LARGE = 256 };

static void beam_free(beam *b) {
    free(b->p);
    free(b->pos);
    free(b->order);
    free(b->step);
    free(b->waits);
    free(b->logit);
    free(b->logp);
}

/* Takes back the beam that was lent to the search of a set (lend). */
static void take_back(search *s) {
    for (int b = 0; b < s->beams && s->ahead; b++)
        if (s->now[b].wide) {
            beam wide = s->now[b];
            s->now[b] = s->ahead->b;
            s->ahead->b = wide;
            s->ahead = NULL;
        }
    s->follower = -1;
}

void search_free(search *s) {
    take_back(s);
    for (int b = 0; s->now && b < s->beams; b++) beam_free(&s->now[b]);
    free(s->now);
    free(s->next);
    free(s->step);
    free(s->pools);
    free(s->item);
    free(s->kept);
    free(s->best);
    free(s->first_child);
    free(s->computed);
    free(s->beam_planes);
    for (int k = 0; k < s->group; k++) {
        beam_free(&s->greedy[k].b);
        free(s->greedy[k].logp);
    }
    free(s->planes);
    *s = (search){0};
}

static int larger(int a, int b) {
    return a > b ? a : b;
}

static int at_most(int n, int most) {
    return n < most ? n : most;
}

/* Returns how many planes there are: those of the blocks, and after them that of relations. */
static int planes_of(const frozen *f) {
    return f->model->sh.s.decoder_blocks + f->w.E;
}

/* Returns how many numbers the planes have for sets of n items and so many steps. */
static size_t plane_size(const frozen *f, int n, int steps) {
    return (size_t)planes_of(f) * ((size_t)steps + 2) * (size_t)n * (size_t)f->w.C;
}

/* Allocates all but the planes, for sets of n items, of which `placed` at most have rows. */
static bool beam_new(beam *b, const frozen *f, int n, int placed) {
    size_t N = (size_t)f->model->sh.s.decoder_blocks, C = (size_t)f->w.C, rows = (size_t)placed;
    return (b->p = array_new(((size_t)b->window + 2) * N * C, sizeof *b->p)) &&
           (b->pos = array_new(rows, sizeof *b->pos)) && (b->order = array_new(rows, sizeof *b->order)) &&
           (b->step = array_new(rows, sizeof *b->step)) &&
           (b->waits = array_new((size_t)n, sizeof *b->waits)) &&
           (b->logit = array_new(rows, sizeof *b->logit)) && (b->logp = array_new(rows, sizeof *b->logp));
}

/* Allocates the greedy orders of a group, or of one set of up to GREEDY_ITEMS. */
static bool greedy_new(search *s, const frozen *f, int n, int group) {
    int alone = at_most(n, GREEDY_ITEMS), among = at_most(n, GROUP_ITEMS);
    size_t one = plane_size(f, alone, alone + 1), all = plane_size(f, GROUP_ROWS, among + 1);
    s->planes = array_new(group > 1 && all > one ? all : one, sizeof *s->planes);
    bool ok = s->planes != NULL;
    for (int k = 0; k < group && ok; k++) {
        int most = k ? among : alone;
        greedy_order *g = &s->greedy[k];
        g->b.wide = true;
        g->b.window = most + 1;
        ok = beam_new(&g->b, f, n, most) && (g->logp = array_new((size_t)most * most, sizeof *g->logp));
    }
    return ok;
}

bool search_reserve(search *s, const frozen *f, int beams, int n, int group,
                    const onet_order_options *options) {
    if (beams <= s->beams && n <= s->n && group <= s->group) return true;
    beams = larger(beams, s->beams);
    n = larger(n, s->n);
    group = larger(group, s->group);
    search_free(s);
    s->now = array_new((size_t)beams, sizeof *s->now);
    s->next = array_new((size_t)beams, sizeof *s->next);
    s->beams = beams;
    s->group = group;
    size_t columns = (size_t)larger(beams, group);
    bool ok = s->now && s->next && (s->step = array_new(columns * f->w.C, sizeof *s->step)) &&
              (s->pools = array_new(columns * f->model->sh.s.decoder_blocks * f->w.C, sizeof *s->pools)) &&
              (s->item = array_new((size_t)larger(n, GROUP_ROWS), sizeof *s->item)) &&
              (s->kept = array_new((size_t)n, sizeof *s->kept)) &&
              (s->best = array_new((size_t)beams, sizeof *s->best)) &&
              (s->first_child = array_new((size_t)beams, sizeof *s->first_child)) &&
              (s->computed = array_new(columns, sizeof(beam *)));
    int window = n < LARGE ? WINDOW : LARGE_WINDOW;
    size_t planes = plane_size(f, n, window), all;
    ok = ok && !order_stops(options) && size_mul(planes, (size_t)beams, &all) &&
         (s->beam_planes = array_room(all, sizeof *s->beam_planes));
    for (int b = 0; b < beams && ok; b++) {
        s->now[b].window = window;
        s->now[b].plane = s->beam_planes + (size_t)b * planes;
        memset(s->now[b].plane, 0, planes * sizeof *s->beam_planes);
        ok = !order_stops(options) && /* many beams of a large set take seconds to clear */
             beam_new(&s->now[b], f, n, n);
    }
    if (ok && beams > 1) ok = greedy_new(s, f, n, group);
    if (!ok) {
        search_free(s);
        return false;
    }
    s->n = n;
    return true;
}

/* Returns the plane of block m at place `at` of the window. */
static real *plane(const beam *b, const frozen *f, int m, int at) {
    return b->plane + ((size_t)m * ((size_t)b->window + 2) + (size_t)at) * (size_t)b->rows * (size_t)f->w.C;
}

static void beam_start(search *s, beam *b, const frozen *f, const search_query *query) {
    int N = f->model->sh.s.decoder_blocks, n = query->n;
    memcpy(s->item + query->first, query->item, (size_t)n * sizeof *s->item);
    b->query = query;
    b->rows = n;
    for (int m = 0; m < planes_of(f); m++)
        memset(plane(b, f, m, 0), 0, 2 * (size_t)n * f->w.C * sizeof(real));
    memset(b->p, 0, 2 * (size_t)N * f->w.C * sizeof(real));
    for (int i = 0; i < n; i++) b->pos[i] = INT32_MAX;
    if (query->constraints)
        memcpy(b->waits, query->constraints->predecessors, (size_t)query->constraints->n * sizeof *b->waits);
    b->logprob = 0;
    b->at = 2;
}

/* Returns the contribution of y'_t to block m. */
static const real *y_terms(const frozen *f, const encoded *e, const beam *b, int t, int m) {
    const real *q = t ? e->q + (size_t)(b->query->first + b->last[(t - 1) % 3]) * f->w.Q : f->start_q;
    return q + (size_t)(m * 6 + 3) * f->w.C;
}

/* Computes the bias and the contribution of the pools to block m at step t, for s->computed[first .. end - 1]
 * together. */
static void pool_terms(search *s, int first, int end, const frozen *f, int t, int m) {
    int C = f->w.C, before = m * C, width = f->model->sh.s.decoder_blocks * C;
    real *pools = s->pools + (size_t)first * width, *step = s->step + (size_t)first * C;
    for (int k = 0; k < end - first; k++)
        memcpy(step + (size_t)k * C, f->dec_bias[m] + (t < 2 ? t : 2) * C, (size_t)C * sizeof(real));
    for (int l = 0; l < 3 && l <= t && m; l++) {
        for (int k = 0; k < end - first; k++) {
            const beam *b = s->computed[first + k];
            memcpy(pools + (size_t)k * before, b->p + (size_t)(b->at - l) * width,
                   (size_t)before * sizeof(real));
        }
        f->k->gemm(end - first, C, before, pools, (size_t)before, 1,
                   row_major(f->w.dec[m].p + (size_t)l * before * C, (size_t)C), step, (size_t)C, 1);
    }
}

/* Computes the relations from the item placed last to those unplaced, at step t of one beam, and adds their
 * contribution to the items' logits. */
static void beam_relations(const search *s, beam *b, const frozen *f, int t) {
    int C = f->w.C;
    real *e = plane(b, f, f->model->sh.s.decoder_blocks, b->at);
    memset(e, 0, (size_t)b->rows * (size_t)C * sizeof *e);
    if (!t) return;
    for (int i = 0; i < b->rows; i++)
        if (b->pos[i] >= t)
            relations_of(b->query->relations, b->order[t - 1], s->item[b->query->first + i],
                         e + (size_t)i * C);
    f->k->cell_dot(b->rows, C, e, f->w.head_e, b->logit);
}

/* Computes block m at step t of one beam; its contribution to the items' logits is added to b->logit. */
static void beam_block(beam *b, const real *pools, const frozen *f, const encoded *e, int t, int m) {
    int n = b->rows, N = f->model->sh.s.decoder_blocks, C = f->w.C, width = N * C, E = f->w.E;
    real *p = b->p + (size_t)b->at * width;
    const real *in[MAX_BLOCKS + 1], *y[3] = {NULL, NULL, NULL}; /* y[2 - l]: step t - l */
    for (int l = 0; l < 3 && l <= t; l++) y[2 - l] = y_terms(f, e, b, t - l, m);
    if (E) in[0] = plane(b, f, N, b->at);
    for (int k = 0; k < m; k++) in[E + k] = plane(b, f, k, b->at);
    f->k->conv_forward(&(conv_forward){.n = n,
                                       .C = C,
                                       .blocks = E + m,
                                       .t0 = t,
                                       .t1 = t + 1,
                                       .pos = b->pos,
                                       .x = e->q + (size_t)b->query->first * f->w.Q + (size_t)m * 6 * C,
                                       .ldx = (size_t)f->w.Q,
                                       .y = y + 2,
                                       .step = pools,
                                       .ld_step = (size_t)C,
                                       .in = in,
                                       .w = f->dec_w[m],
                                       .out = plane(b, f, m, b->at),
                                       .sign = f->w.dec[m].sign,
                                       .best = p + (size_t)m * C,
                                       .ld_best = (size_t)C});
    const norm *nm = &f->dec_norm[m];
    for (int c = 0; c < C; c++) p[m * C + c] = nm->g[c] * p[m * C + c] + nm->e[c];
    f->k->cell_dot(n, C, plane(b, f, m, b->at), f->head_v + (size_t)m * C, b->logit);
}

/* Writes the log-probabilities of the items still unplaced to b->logp. */
static void beam_choices(beam *b, int t) {
    int n = b->rows;
    real top = -INFINITY;
    for (int i = 0; i < n; i++)
        if (b->pos[i] >= t && b->logit[i] > top) top = b->logit[i];
    double sum = 0;
    for (int i = 0; i < n; i++)
        if (b->pos[i] >= t) sum += exp((double)(b->logit[i] - top));
    /* top and shift are not added first: beside a large logit the logarithm would be rounded away. */
    double shift = log(sum);
    for (int i = 0; i < n; i++)
        b->logp[i] = b->pos[i] >= t ? (double)b->logit[i] - (double)top - shift : -HUGE_VAL;
}

/* Computes step t of s->computed[first .. end - 1], block by block, so that a block's weights are fetched
 * once. */
static void compute_some(search *s, int first, int end, const frozen *f, const encoded *e, int t) {
    for (int k = first; k < end && f->w.E; k++) beam_relations(s, s->computed[k], f, t);
    for (int m = 0; m < f->model->sh.s.decoder_blocks; m++) {
        pool_terms(s, first, end, f, t, m);
        for (int k = first; k < end && !order_stops(e->options); k++)
            beam_block(s->computed[k], s->step + (size_t)k * f->w.C, f, e, t, m);
    }
    for (int k = first; k < end; k++) beam_choices(s->computed[k], t);
}

/* A step, divided among threads. */
typedef struct step_args {
    search *s;
    const frozen *f;
    const encoded *e;
    int t, count, jobs;
} step_args;

static void compute_job(void *arg, int job, int thread) {
    (void)thread;
    const step_args *j = arg;
    compute_some(j->s, j->count * job / j->jobs, j->count * (job + 1) / j->jobs, j->f, j->e, j->t);
}

/* Computes step t of the first `count` of s->computed. The last item of a set is placed without computing
 * anything. */
static void compute(search *s, int count, const frozen *f, const encoded *e, int t) {
    int open = 0;
    double work = 0; /* multiply-adds of each block with the blocks before it */
    for (int k = 0; k < count; k++) {
        beam *b = s->computed[k];
        memcpy(b->logit, e->logit + b->query->first, (size_t)b->rows * sizeof(real));
        if (t + 1 == b->query->n)
            beam_choices(b, t);
        else {
            s->computed[open++] = b;
            work += (double)b->rows * f->w.C * f->w.C * 1.5 * planes_of(f) * (planes_of(f) - 1);
        }
    }
    step_args j = {s, f, e, t, open, jobs_worth(s->threads, work)};
    if (j.jobs > open) j.jobs = open;
    if (open) thread_pool_run(s->threads, j.jobs, compute_job, &j);
}

/* Computes step t of all beams of a set, except the one that follows the greedy order, whose steps are known.
 */
static void step(search *s, int beams, const frozen *f, const encoded *e, int n, int t) {
    int count = 0;
    for (int b = 0; b < beams; b++) {
        if (b == s->follower)
            memcpy(s->now[b].logp, s->ahead->logp + (size_t)t * n, (size_t)n * sizeof(double));
        else
            s->computed[count++] = &s->now[b];
    }
    compute(s, count, f, e, t);
}

/* Moves the last two steps to the front of the window. */
static void beam_rewind(beam *b, const frozen *f) {
    int N = f->model->sh.s.decoder_blocks;
    size_t column = (size_t)b->rows * f->w.C, width = (size_t)N * f->w.C;
    for (int m = 0; m < planes_of(f); m++)
        memmove(plane(b, f, m, 0), plane(b, f, m, b->at - 2), 2 * column * sizeof(real));
    memmove(b->p, b->p + (size_t)(b->at - 2) * width, 2 * width * sizeof(real));
    b->at = 2;
}

/* Places an item and makes room for the next step. */
static void beam_place(search *s, beam *b, const frozen *f, int t, const candidate *c) {
    const constraint_graph *g = b->query->constraints;
    int32_t item = s->item[b->query->first + c->row];
    b->pos[c->row] = t;
    b->last[t % 3] = c->row;
    b->order[t] = item;
    b->step[t] = c->step;
    b->logprob = c->logprob;
    for (size_t k = g ? g->after_start[item] : 0; g && k < g->after_start[item + 1]; k++)
        b->waits[g->after[k]]--;
    if (++b->at == b->window + 2) beam_rewind(b, f);
}

/* Copies what later steps read of a beam, for its second child: the order so far, and two steps. */
static void beam_copy(beam *to, const beam *from, const frozen *f, int t) {
    const constraint_graph *g = from->query->constraints;
    int N = f->model->sh.s.decoder_blocks;
    size_t column = (size_t)from->rows * f->w.C, width = (size_t)N * f->w.C;
    to->query = from->query;
    to->rows = from->rows;
    for (int m = 0; m < planes_of(f); m++)
        memcpy(plane(to, f, m, 0), plane(from, f, m, from->at - 1), 2 * column * sizeof(real));
    memcpy(to->p, from->p + (size_t)(from->at - 1) * width, 2 * width * sizeof(real));
    memcpy(to->pos, from->pos, (size_t)from->rows * sizeof *to->pos);
    memcpy(to->last, from->last, sizeof to->last);
    memcpy(to->order, from->order, (size_t)t * sizeof *to->order);
    memcpy(to->step, from->step, (size_t)t * sizeof *to->step);
    if (g) memcpy(to->waits, from->waits, (size_t)g->n * sizeof *to->waits);
    to->at = 1; /* beam_place moves on to 2 */
}

/* Returns the step before which items count as placed long ago at step t: such an item sees neither itself
 * nor the order any more, block 0 from 3 steps on, each further block 2 steps later. From then on its cells,
 * and the two steps before, equal those of every other such item, to the last bit: one row is computed for
 * all of them, and the others are left out. */
static int long_ago(const frozen *f, int t) {
    return t - 2 * f->model->sh.s.decoder_blocks - 2;
}

static void leave_out(search *s, beam *b, const frozen *f, encoded *e, int t) {
    int old = b->rows, rows = 0, stands = 0;
    size_t C = (size_t)f->w.C, Q = (size_t)f->w.Q, first = (size_t)b->query->first;
    int32_t *item = s->item + first;
    real *logit = e->logit + first, *q = e->q + first * Q;
    beam_rewind(b, f);
    for (int i = 0; i < old; i++) {
        if (b->pos[i] < long_ago(f, t) && stands++) continue;
        s->kept[rows] = i;
        b->pos[rows] = b->pos[i];
        item[rows] = item[i];
        logit[rows] = logit[i];
        memmove(q + (size_t)rows * Q, q + (size_t)i * Q, Q * sizeof(real));
        for (int l = 0; l < 3; l++)
            if (b->last[l] == i) b->last[l] = rows;
        rows++;
    }
    for (int m = 0; m < planes_of(f); m++)
        for (int at = 0; at < 2; at++) {
            b->rows = old;
            const real *from = plane(b, f, m, at);
            b->rows = rows;
            real *to = plane(b, f, m, at);
            for (int i = 0; i < rows; i++)
                memmove(to + (size_t)i * C, from + (size_t)s->kept[i] * C, C * sizeof(real));
        }
    b->rows = rows; /* without blocks too */
}

static bool better(const candidate *a, const candidate *b) {
    if (a->logprob != b->logprob) return a->logprob > b->logprob;
    return a->beam != b->beam ? a->beam < b->beam : a->row < b->row;
}

/* Keeps the `room` best of all candidates seen so far, the worst at the root of a heap. */
static int keep(candidate *heap, int held, int room, candidate c) {
    int at;
    if (held < room) {
        for (at = held++; at && better(&heap[(at - 1) / 2], &c); at = (at - 1) / 2)
            heap[at] = heap[(at - 1) / 2];
    } else {
        if (!better(&c, &heap[0])) return held;
        for (at = 0;;) {
            int child = 2 * at + 1;
            if (child >= held) break;
            if (child + 1 < held && better(&heap[child], &heap[child + 1])) child++;
            if (!better(&c, &heap[child])) break;
            heap[at] = heap[child];
            at = child;
        }
    }
    heap[at] = c;
    return held;
}

static int compare(const void *a, const void *b) {
    return better(a, b) ? -1 : 1;
}

/* Whether the item of row i may stand at place t (constraint_graph). */
static bool allowed(const search *s, const beam *b, int t, int i) {
    const search_query *query = b->query;
    const constraint_graph *g = query->constraints;
    if (b->pos[i] < t) return false;
    return !g ||
           constraint_allows(g, b->waits, t ? b->order[t - 1] : -1, s->item[query->first + i], t, query->n);
}

/* Draws one of the allowed items by their probabilities. */
static candidate sample(const search *s, const beam *b, int t) {
    const search_query *query = b->query;
    double left = rng_uniform(query->r), all = 0;
    int last = -1;
    for (int i = 0; query->constraints && i < b->rows; i++)
        if (allowed(s, b, t, i)) all += exp(b->logp[i]);
    if (query->constraints) left *= all;
    for (int i = 0; i < b->rows; i++) {
        if (!allowed(s, b, t, i)) continue;
        last = i;
        left -= exp(b->logp[i]);
        if (left < 0) break;
    }
    return (candidate){b->logprob + b->logp[last], b->logp[last], 0, last};
}

int search_orders(int n, int most) {
    long count = 1;
    for (int i = 2; i <= n && count < most; i++) count *= i;
    return count < most ? (int)count : most;
}

/* Adds the continuations of one beam at step t that are not below `least` to the `room` best. */
static int weigh(const search *s, const beam *b, int number, int t, double least, candidate *heap, int held,
                 int room) {
    for (int i = 0; i < b->rows; i++) {
        candidate c = {b->logprob + b->logp[i], b->logp[i], number, i};
        if (!(c.logprob < least) && allowed(s, b, t, i)) held = keep(heap, held, room, c);
    }
    return held;
}

/* Puts the best continuations of all beams at step t into s->best, best first; returns how many. */
static int choose(search *s, const search_query *query, int alive, int t) {
    int held = 0;
    if (query->given || query->r) {
        const beam *only = &s->now[0];
        int row = query->given ? query->given[t] : 0;
        for (int i = 0; query->choices && i < only->rows; i++)
            query->choices[(size_t)t * (size_t)query->width + (size_t)s->item[query->first + i]] =
                exp(only->logp[i]);
        s->best[0] = query->r ? sample(s, only, t)
                              : (candidate){only->logprob + only->logp[row], only->logp[row], 0, row};
        return 1;
    }
    for (int b = 0; b < alive; b++)
        held =
            weigh(s, &s->now[b], b, t, s->ahead ? s->ahead->logprob : -HUGE_VAL, s->best, held, query->beams);
    qsort(s->best, (size_t)held, sizeof *s->best, compare);
    return held;
}

/* Makes the beams of the next step. A beam's first child, or the one that follows the greedy order, takes its
 * place; a further one is a copy, in the memory of a beam that has no child or is not in use. There is such a
 * one for each: `held` is at most s->beams. Copies are made before any beam moves on. */
static void next_generation(search *s, const frozen *f, int alive, int held, int t) {
    int unused = 0, followed = s->follower;
    for (int b = 0; b < s->beams; b++) s->first_child[b] = -1;
    for (int c = held; c-- > 0;) s->first_child[s->best[c].beam] = c;
    s->follower = -1;
    for (int c = 0; c < held && followed >= 0; c++)
        if (s->best[c].beam == followed && s->best[c].row == s->ahead->row[t])
            s->follower = s->first_child[followed] = c;
    for (int c = 0; c < s->beams; c++) {
        int parent = c < held ? s->best[c].beam : -1;
        if (parent >= 0 && s->first_child[parent] == c) {
            s->next[c] = s->now[parent];
            continue;
        }
        while (unused < alive && s->first_child[unused] >= 0) unused++;
        s->next[c] = s->now[unused++];
        if (parent >= 0) beam_copy(&s->next[c], &s->now[parent], f, t);
    }
    beam *before = s->now;
    s->now = s->next;
    s->next = before;
}

/* Runs all steps, with the beams that s->ahead allows; returns how many are alive at the end. */
static int run_steps(search *s, const frozen *f, encoded *e, const search_query *query) {
    int alive = 1, n = query->n;
    bool may_leave_out = query->beams == 1 && !query->r && !query->given;
    beam_start(s, &s->now[0], f, query);
    for (int t = 0; t < n && alive; t++) {
        if (order_stops(e->options)) return 0;
        if (query->progress) query->progress(query->context, t);
        step(s, alive, f, e, n, t);
        int held = choose(s, query, alive, t);
        next_generation(s, f, alive, held, t);
        for (int c = 0; c < held; c++) beam_place(s, &s->now[c], f, t, &s->best[c]);
        alive = held;
        /* Of the items placed long ago, all but those left out before still have rows. */
        beam *only = &s->now[0];
        if (may_leave_out && long_ago(f, t + 1) - (n - only->rows) > 1 + only->rows / 8)
            leave_out(s, only, f, e, t + 1);
    }
    return alive; /* best first: the last step sorted them */
}

/* Lends the beam that holds the steps of the greedy order to the search of its set, in exchange for one. */
static void lend(search *s, greedy_order *g) {
    beam own = s->now[0];
    s->now[0] = g->b;
    g->b = own;
    s->ahead = g;
    s->follower = 0;
}

/* Whether the greedy order is found ahead of the beam search. */
static bool greedy_first(const search_query *query) {
    return query->best_only && query->beams > 1 && query->n <= GREEDY_ITEMS;
}

void search_begin(search *s, const frozen *f, const encoded *e, const search_query *query, int count,
                  thread_pool *threads) {
    int steps = 0;
    real *planes = s->planes;
    s->query = query;
    s->threads = threads;
    take_back(s);
    for (int k = 0; k < count; k++)
        if (greedy_first(&query[k])) {
            beam *b = &s->greedy[k].b;
            int n = query[k].n;
            b->plane = planes;
            b->window = n + 1; /* nothing moves before the last step */
            planes += plane_size(f, n, b->window);
            beam_start(s, b, f, &query[k]);
            steps = larger(steps, n);
        }
    for (int t = 0; t < steps; t++) {
        int computed = 0;
        for (int k = 0; k < count; k++)
            if (greedy_first(&query[k]) && t < query[k].n) s->computed[computed++] = &s->greedy[k].b;
        compute(s, computed, f, e, t);
        for (int k = 0; k < count; k++) {
            greedy_order *g = &s->greedy[k];
            int n = query[k].n;
            candidate best = {0};
            if (!greedy_first(&query[k]) || t >= n) continue;
            weigh(s, &g->b, 0, t, -INFINITY, &best, 0, 1);
            memcpy(g->logp + (size_t)t * n, g->b.logp, (size_t)n * sizeof(double));
            g->row[t] = best.row;
            beam_place(s, &g->b, f, t, &best);
            g->logprob = best.logprob;
        }
    }
}

/* The best order of the beam search is found in fewer steps where the greedy order is known. A
 * log-probability never rises from step to step, so a beam below that of the greedy order ends below it.
 * Without such beams the rest are those of the whole search, in the same order, and so is the best of them.
 * Above probability 1/2 the greedy order leaves no other. If no beam is left, since the greedy order was
 * crowded out by beams that ended below it, the whole search follows. */
int search_run(search *s, const frozen *f, encoded *e, int k) {
    const search_query *query = &s->query[k];
    int found = 0;
    take_back(s);
    if (greedy_first(query)) {
        lend(s, &s->greedy[k]);
        found = run_steps(s, f, e, query);
        if (!found) take_back(s);
    }
    return found ? found : run_steps(s, f, e, query);
}
