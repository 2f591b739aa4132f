/* Puts sets in order, or scores the orders that they have, with several ranks (MPI processes). Rank 0 has the
 * sets and divides them into one slice per rank, of nearly equal work; the others wait for a request, work on
 * their slice, and send the results back. */
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/data/constraints.h"
#include "engine/data/sets.h"
#include "engine/decode/orderer.h"

/* The messages of a request:
 *
 *   rank 0                           another rank
 *   request (sizes; or: dismiss) ->
 *                                <-  whether there is memory for it
 *   the slice                    ->
 *                                <-  status, then the answers */

typedef enum { DISMISS, ORDER, SCORE } request_kind;

typedef struct request {
    int32_t kind, words, steps, context; /* items are words; steps are wanted; some items are context */
    uint64_t count, items, constraints;
    uint64_t pairs, relations; /* n*n for each set; numbers for each of them, 0: none */
    uint64_t answered;         /* sets before the slice's first */
} request;

typedef struct outcome {
    int32_t status;
    onet_error err;
} outcome;

/* The answers to one slice, in the form in which they are sent. */
typedef struct results {
    int32_t *found;  /* [count] */
    int32_t *order;  /* [top * items] */
    double *logprob; /* [count, top] */
    float *step;     /* [top * items] */
    double *score;   /* [items]: of each step, when own orders are scored */
} results;

static void results_free(results *x) {
    free(x->found);
    free(x->order);
    free(x->logprob);
    free(x->step);
    free(x->score);
}

/* Allocates results for q->count sets of q->items items altogether; a score is one number per set and, if
 * wanted, per step. */
static bool results_room(results *x, const request *q, int top) {
    size_t places, orders, t = q->kind == ORDER ? (size_t)top : 1;
    *x = (results){0};
    if (!size_mul(q->items, t, &places) || !size_mul(q->count, t, &orders)) return false;
    if (!(x->logprob = array_new(orders, sizeof *x->logprob))) return false;
    if (q->kind == SCORE) return !q->steps || (x->score = array_new(q->items, sizeof *x->score));
    return (x->found = array_new(q->count, sizeof *x->found)) &&
           (x->order = array_new(places, sizeof *x->order)) &&
           (!q->steps || (x->step = array_new(places, sizeof *x->step)));
}

typedef void move_fn(const world *w, int other, void *data, size_t bytes);

static void send(const world *w, int other, void *data, size_t bytes) {
    w->send(w, other, data, bytes);
}

static void receive(const world *w, int other, void *data, size_t bytes) {
    w->receive(w, other, data, bytes);
}

/* Moves results; one side sends what the other receives, in the same order. */
static void move_results(move_fn *move, const world *w, int other, const results *x, const request *q,
                         int top) {
    size_t t = q->kind == ORDER ? (size_t)top : 1;
    move(w, other, x->logprob, q->count * t * sizeof *x->logprob);
    if (q->kind == SCORE) {
        if (q->steps) move(w, other, x->score, q->items * sizeof *x->score);
        return;
    }
    move(w, other, x->found, q->count * sizeof *x->found);
    move(w, other, x->order, q->items * t * sizeof *x->order);
    if (q->steps) move(w, other, x->step, q->items * t * sizeof *x->step);
}

static void move_slice(move_fn *move, const world *w, int other, const onet_sets *s, const request *q) {
    size_t first = s->start[0];
    if (q->words)
        move(w, other, s->word + first, q->items * sizeof *s->word);
    else
        move(w, other, s->items + first * (size_t)s->width, q->items * (size_t)s->width * sizeof *s->items);
    if (q->relations)
        move(w, other, s->pairs->value + s->pairs->row[first] * q->relations,
             q->pairs * q->relations * sizeof *s->pairs->value);
    if (q->kind == SCORE) move(w, other, s->order + first, q->items * sizeof *s->order);
    if (q->context) move(w, other, s->context + first, q->items);
    if (q->constraints) move(w, other, s->constraints, q->constraints * sizeof *s->constraints);
}

/* ---- another rank ---- */

static onet_status pairs_room(onet_sets *sets, const request *q, onet_error *err) {
    onet_pairs *p = sets->pairs = calloc(1, sizeof *p);
    if (!p || !(p->row = array_new(q->items, sizeof *p->row)) ||
        !(p->value = array_new(q->pairs, q->relations * sizeof *p->value)))
        return fail_memory(err, "the relations");
    p->width = (int)q->relations;
    return ONET_OK;
}

/* Sets where the relations of each item stand, once the sizes of the sets are known. */
static void place_pairs(const onet_sets *sets) {
    for (size_t s = 0, at = 0; s < sets->count; s++)
        for (size_t i = sets->start[s], n = sets_size(sets, s); i < sets->start[s + 1]; i++, at += n)
            sets->pairs->row[i] = at;
}

static onet_status work_room(onet_sets **sets, onet_answer **answers, results *x, const onet_orderer *r,
                             const request *q, onet_error *err) {
    onet_status status =
        sets_room(sets, q->count, q->items, r->z.model->sh.s.width, q->words, q->kind == SCORE, err);
    if (!status && q->context) status = sets_room_context(*sets, q->items, err);
    if (!status && q->relations) status = pairs_room(*sets, q, err);
    if (status) return status;
    if (q->constraints && !((*sets)->constraints = array_new(q->constraints, sizeof *(*sets)->constraints)))
        return fail_memory(err, "the constraints");
    (*sets)->constraint_count = q->constraints;
    if (!results_room(x, q, r->top) || !(*answers = array_new(q->count, sizeof **answers)))
        return fail_memory(err, "the answers");
    return ONET_OK;
}

static void work_one(onet_orderer *r, const world *w, const request *q) {
    onet_sets *sets = NULL;
    onet_answer *answers = NULL;
    results x = {0};
    outcome o = {0};
    o.status = work_room(&sets, &answers, &x, r, q, &o.err);
    w->send(w, 0, &o, sizeof o);
    if (!o.status) {
        w->receive(w, 0, sets->start, (q->count + 1) * sizeof *sets->start);
        size_t base = sets->start[0];
        for (size_t s = 0; s <= q->count; s++) sets->start[s] -= base;
        if (q->relations) place_pairs(sets);
        move_slice(receive, w, 0, sets, q);
        for (size_t k = 0; k < q->constraints; k++) {
            sets->constraints[k].item -= base;
            if (constraint_is_pair(sets->constraints[k].kind)) sets->constraints[k].other -= base;
        }
        for (size_t s = 0; s < q->count && q->kind == ORDER; s++) {
            size_t at = sets->start[s] * (size_t)r->top;
            answers[s] = (onet_answer){.order = x.order + at,
                                       .logprob = x.logprob + s * (size_t)r->top,
                                       .step = q->steps ? x.step + at : NULL};
        }
        r->answered = q->answered;
        o.status = q->kind == ORDER
                       ? orderer_run_here(r, sets, answers, (score_out){0}, &o.err)
                       : orderer_run_here(r, sets, NULL, (score_out){x.logprob, x.score, NULL}, &o.err);
        w->send(w, 0, &o, sizeof o);
        for (size_t s = 0; s < q->count && q->kind == ORDER; s++) x.found[s] = answers[s].found;
        if (!o.status) move_results(send, w, 0, &x, q, r->top);
    }
    results_free(&x);
    free(answers);
    onet_sets_free(sets);
}

void orderer_work(onet_orderer *r, const world *w) {
    for (;;) {
        request q;
        w->receive(w, 0, &q, sizeof q);
        if (q.kind == DISMISS) return;
        work_one(r, w, &q);
    }
}

/* ---- rank 0 ---- */

void orderer_share(onet_orderer *r, const world *w) {
    r->w = w;
}

void orderer_dismiss(onet_orderer *r) {
    request q = {.kind = DISMISS};
    for (int k = 1; k < r->w->size; k++) r->w->send(r->w, k, &q, sizeof q);
}

/* Divides the sets: slice k is sets cut[k] .. cut[k+1]-1. The work on a set of n items is about n*n. */
static void cut_slices(const onet_sets *sets, int slices, size_t *cut) {
    double all = 0, so_far = 0;
    for (size_t s = 0; s < sets->count; s++) all += (double)sets_size(sets, s) * (double)sets_size(sets, s);
    int k = 0;
    for (size_t s = 0; s < sets->count; s++) {
        while (k < slices && so_far >= all * k / slices) cut[k++] = s;
        so_far += (double)sets_size(sets, s) * (double)sets_size(sets, s);
    }
    while (k <= slices) cut[k++] = sets->count;
}

static void copy_results(const results *x, const request *q, int top, const onet_sets *sets,
                         onet_answer *answers, score_out score) {
    if (q->kind == SCORE) {
        memcpy(score.logprob, x->logprob, q->count * sizeof *score.logprob);
        if (q->steps) memcpy(score.step, x->score, q->items * sizeof *score.step);
        return;
    }
    for (size_t s = 0; s < q->count; s++) {
        onet_answer *a = &answers[s];
        size_t n = sets_size(sets, s), at = (sets->start[s] - sets->start[0]) * (size_t)top;
        a->found = x->found[s];
        memcpy(a->order, x->order + at, (size_t)a->found * n * sizeof *a->order);
        if (a->logprob)
            memcpy(a->logprob, x->logprob + s * (size_t)top, (size_t)a->found * sizeof *a->logprob);
        if (a->step) memcpy(a->step, x->step + at, (size_t)a->found * n * sizeof *a->step);
    }
}

typedef struct slice {
    request q;
    onet_sets sets; /* a view of the slice */
    results x;
    int taken; /* the rank has received the slice */
} slice;

static onet_status make_slices(onet_orderer *r, slice *p, const size_t *cut, const onet_sets *sets,
                               const onet_answer *answers, bool score_steps, onet_error *err) {
    for (int k = 0; k < r->w->size; k++) {
        sets_slice(&p[k].sets, sets, cut[k], cut[k + 1]);
        p[k].q = (request){.kind = answers ? ORDER : SCORE,
                           .words = sets->word != NULL,
                           .steps = !answers && score_steps,
                           .context = sets->context != NULL,
                           .relations = (uint64_t)sets_relations(sets),
                           .constraints = answers ? p[k].sets.constraint_count : 0,
                           .count = p[k].sets.count,
                           .items = sets->start[cut[k + 1]] - sets->start[cut[k]],
                           .answered = r->answered + cut[k]};
        for (size_t s = cut[k]; s < cut[k + 1]; s++) {
            p[k].q.pairs += sets_size(sets, s) * sets_size(sets, s);
            p[k].q.steps |= answers && answers[s].step;
        }
        if (k && p[k].q.count && !results_room(&p[k].x, &p[k].q, r->top))
            return fail_memory(err, "the answers");
    }
    return ONET_OK;
}

/* Sends each rank its slice, orders the first here, receives the answers. If a rank fails, the answers of
 * the others are still received, so that no rank waits forever. */
static onet_status run_slices(onet_orderer *r, slice *p, const size_t *cut, onet_answer *answers,
                              score_out score, onet_error *err) {
    const world *w = r->w;
    outcome o, bad = {0};
    for (int k = 1; k < w->size; k++)
        if (p[k].q.count) w->send(w, k, &p[k].q, sizeof p[k].q);
    for (int k = 1; k < w->size; k++) {
        if (!p[k].q.count) continue;
        w->receive(w, k, &o, sizeof o);
        p[k].taken = !o.status;
        if (o.status && !bad.status) bad = o;
        if (o.status) continue;
        w->send(w, k, p[k].sets.start, (p[k].q.count + 1) * sizeof *p[k].sets.start);
        move_slice(send, w, k, &p[k].sets, &p[k].q);
    }
    if (!bad.status && p[0].q.count) bad.status = orderer_run_here(r, &p[0].sets, answers, score, &bad.err);
    for (int k = 1; k < w->size; k++) {
        if (!p[k].taken) continue;
        w->receive(w, k, &o, sizeof o);
        if (o.status && !bad.status) bad = o;
        if (o.status) continue;
        move_results(receive, w, k, &p[k].x, &p[k].q, r->top);
        score_out slice_score = {score.logprob ? score.logprob + cut[k] : NULL,
                                 score.step ? score.step + (p[k].sets.start[0] - p[0].sets.start[0]) : NULL,
                                 NULL};
        copy_results(&p[k].x, &p[k].q, r->top, &p[k].sets, answers ? answers + cut[k] : NULL, slice_score);
    }
    return bad.status ? fail_field(err, (onet_status)bad.status, bad.err.field, "%s", bad.err.text) : ONET_OK;
}

onet_status orderer_run_shared(onet_orderer *r, const onet_sets *sets, onet_answer *answers, score_out score,
                               onet_error *err) {
    int size = r->w->size;
    slice *p = array_new((size_t)size, sizeof *p);
    size_t *cut = array_new((size_t)size + 1, sizeof *cut);
    onet_status status = p && cut ? ONET_OK : fail_memory(err, "the slices of the sets");
    if (!status) {
        cut_slices(sets, size, cut);
        status = make_slices(r, p, cut, sets, answers, score.step != NULL, err);
    }
    uint64_t answered = r->answered;
    if (!status) status = run_slices(r, p, cut, answers, score, err);
    r->answered = answered + sets->count;
    for (int k = 0; p && k < size; k++) results_free(&p[k].x);
    free(p);
    free(cut);
    return status;
}
