/* Trains the linear ranker, a net without blocks. An item's logit is a weighted sum of its own features,
 * independent of the rest of its set, and an order has its probability under the Plackett-Luce model: at each
 * step the softmax over the items that are left. The weights maximise the log-likelihood of the correct
 * orders minus a penalty on their squares (L2), whose strength is chosen on held-out sets. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/arguments.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/number.h"
#include "engine/base/rng.h"
#include "engine/base/sized.h"
#include "engine/base/thread_pool.h"
#include "engine/data/scaling.h"
#include "engine/data/sets.h"
#include "engine/kernels/real.h"
#include "engine/kernels/relative.h"
#include "engine/model/model.h"
#include "engine/train/initial.h"
#include "engine/train/minimise.h"
#include "engine/train/options.h"
#include "engine/train/train.h"
#include "ordernet_train.h"

enum {
    PART = 64,        /* sets per partial sum; these are added in order, for any number of threads */
    ITERATIONS = 300, /* per penalty, at most */
    HELD_OUT = 5,     /* one set of so many chooses the penalty */
    FEWEST = 10,      /* sets from which some are held out */
};
/* The most numbers (items x features) that are used; of more data, sets are drawn at random. A weighted sum
 * has few weights and needs no more. */
#define MOST_NUMBERS ((size_t)1 << 24)
#define CONVERGED    1e-7
#define PENALTY_FEW  1e-3 /* if there are too few sets to choose one */

static const double penalties[] = {1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7};
enum { PENALTIES = sizeof penalties / sizeof *penalties };

/* The placed items of some sets, each set's in the right order. */
typedef struct examples {
    size_t count, D;
    size_t *start; /* [count + 1]: rows of each set */
    real *x;       /* [rows, D] */
} examples;

/* The state of the fit. */
typedef struct fit {
    const examples *e;
    size_t first, end; /* the sets that are used */
    double penalty;
    const double *w; /* [D] */
    double *part;    /* [parts, 1 + D]: loss and gradient of each */
    double *scratch; /* [rows, 2] */
    thread_pool *threads;
} fit;

/* log(exp(a) + exp(b)) */
static double log_add(double a, double b) {
    double high = a > b ? a : b, low = a > b ? b : a;
    return high + log1p(exp(low - high));
}

/* Returns the loss of one set, -log P of its order, and adds its gradient to gradient [D]. With the logits
 * s_k in the right order and L_t = log of the sum of exp(s_k), k >= t: loss = sum over t of L_t - s_t,  d
 * loss / d s_k = exp(s_k) * (sum over t <= k of exp(-L_t)) - 1. */
static double set_loss(const real *x, size_t n, size_t D, const double *w, double *s, double *L,
                       double *gradient) {
    double loss = 0, left = -INFINITY;
    for (size_t k = 0; k < n; k++) {
        s[k] = 0;
        for (size_t c = 0; c < D; c++) s[k] += w[c] * (double)x[k * D + c];
    }
    for (size_t k = n; k-- > 0;) {
        L[k] = k + 1 == n ? s[k] : log_add(L[k + 1], s[k]);
        loss += L[k] - s[k];
    }
    for (size_t k = 0; k < n; k++) {
        left = k ? log_add(left, -L[k]) : -L[k];
        double slope = exp(s[k] + left) - 1;
        for (size_t c = 0; c < D; c++) gradient[c] += slope * (double)x[k * D + c];
    }
    return loss;
}

static void sum_part(void *arg, int job, int thread) {
    (void)thread;
    const fit *f = arg;
    const examples *e = f->e;
    size_t first = f->first + (size_t)job * PART, end = first + PART < f->end ? first + PART : f->end;
    double *sum = f->part + (size_t)job * (1 + e->D);
    memset(sum, 0, (1 + e->D) * sizeof *sum);
    for (size_t s = first; s < end; s++) {
        size_t row = e->start[s], n = e->start[s + 1] - row;
        double *scratch = f->scratch + 2 * row;
        sum[0] += set_loss(e->x + row * e->D, n, e->D, f->w, scratch, scratch + n, sum + 1);
    }
}

/* Returns the loss per step, and writes its gradient [D]. */
static double mean_loss(fit *f, const double *w, double *gradient) {
    const examples *e = f->e;
    size_t parts = (f->end - f->first + PART - 1) / PART, steps = e->start[f->end] - e->start[f->first];
    double loss = 0;
    f->w = w;
    thread_pool_run(f->threads, (int)parts, sum_part, f);
    memset(gradient, 0, e->D * sizeof *gradient);
    for (size_t p = 0; p < parts; p++) {
        const double *sum = f->part + p * (1 + e->D);
        loss += sum[0];
        for (size_t c = 0; c < e->D; c++) gradient[c] += sum[1 + c];
    }
    for (size_t c = 0; c < e->D; c++) gradient[c] /= (double)steps;
    return loss / (double)steps;
}

static double penalised(void *context, const double *w, double *gradient) {
    fit *f = context;
    double loss = mean_loss(f, w, gradient), squares = 0;
    for (size_t c = 0; c < f->e->D; c++) {
        squares += w[c] * w[c];
        gradient[c] += f->penalty * w[c];
    }
    return loss + f->penalty / 2 * squares;
}

/* Fits w [D], from its present values, to the sets first .. end - 1. */
static onet_status find_weights(fit *f, size_t first, size_t end, double penalty, double *w,
                                onet_error *err) {
    f->first = first;
    f->end = end;
    f->penalty = penalty;
    return minimise(w, f->e->D, penalised, f, ITERATIONS, CONVERGED) ? ONET_OK
                                                                     : fail_memory(err, "the ranker");
}

/* Chooses the penalty with the highest likelihood of the held-out sets, which are the first ones. Writes the
 * weights under it to w [D]. */
static onet_status choose_penalty(fit *f, double *chosen, double *w, onet_error *err) {
    size_t D = f->e->D, held = f->e->count / HELD_OUT;
    double *now = array_new(2 * D, sizeof *now), best = INFINITY;
    if (!now) return fail_memory(err, "the ranker");
    onet_status status = ONET_OK;
    int worse = 0;
    for (int k = 0; k < PENALTIES && worse < 2 && !status; k++) {
        if ((status = find_weights(f, held, f->e->count, penalties[k], now, err))) break;
        f->first = 0;
        f->end = held;
        double loss = mean_loss(f, now, now + D);
        worse = loss < best ? 0 : worse + 1;
        if (worse) continue;
        best = loss;
        *chosen = penalties[k];
        memcpy(w, now, D * sizeof *w);
    }
    free(now);
    return status;
}

/* ---- From sets to examples --------------------------------------------------------------------------- */

static void examples_free(examples *e) {
    free(e->start);
    free(e->x);
}

/* Adds the rows of one set: standardises all its items (`relative` needs the whole set), then takes the
 * placed ones in the right order. all: [n, D], scratch. */
static void take_set(examples *e, const onet_model *m, const onet_sets *sets, size_t s, real *all) {
    size_t first = sets->start[s], n = sets_size(sets, s), placed = sets_placed(sets, s),
           d = (size_t)m->sh.s.width;
    for (size_t i = 0; i < n; i++) {
        const float *x = sets_item(sets, first + i);
        for (size_t c = 0; c < d; c++) all[i * e->D + c] = (x[c] - m->mean[c]) * m->scale[c];
    }
    if (m->sh.s.relative) relative_features(all, e->D, (int)n, 0, (int)d, (int)d);
    for (size_t t = 0; t < placed; t++)
        memcpy(e->x + (e->start[e->count] + t) * e->D, all + (size_t)sets->order[first + t] * e->D,
               e->D * sizeof *all);
    e->start[e->count + 1] = e->start[e->count] + placed;
    e->count++;
}

/* Takes sets in a random order, drawn by the seed, without those of fewer than two placed items. */
static onet_status examples_make(examples *e, const onet_model *m, const onet_sets *sets, uint64_t seed,
                                 onet_error *err) {
    size_t *set = array_new(sets->count, sizeof *set), rows = 0, largest = 1, taken = 0;
    onet_status status = set ? ONET_OK : fail_memory(err, "the ranker");
    rng r;
    rng_seed(&r, seed, UINT64_C(0x72616e6b00000000));
    if (!status) rng_permutation(&r, set, sets->count);
    e->D = (size_t)m->sh.inputs;
    for (size_t k = 0; k < sets->count && !status; k++) {
        size_t placed = sets_placed(sets, set[k]), n = sets_size(sets, set[k]);
        if (placed < 2) continue;
        if (taken && (rows + placed) * e->D > MOST_NUMBERS) break;
        rows += placed;
        if (n > largest) largest = n;
        set[taken++] = set[k];
    }
    real *all = status ? NULL : array_new(largest * e->D, sizeof *all);
    if (!status && (!all || !(e->start = array_new(taken + 1, sizeof *e->start)) ||
                    !(e->x = array_new(rows * e->D, sizeof *e->x))))
        status = fail_memory(err, "the ranker");
    for (size_t k = 0; k < taken && !status; k++) take_set(e, m, sets, set[k], all);
    free(all);
    free(set);
    return status;
}

/* ---- The model --------------------------------------------------------------------------------------- */

static onet_status note_training(onet_model *m, const onet_sets *sets, const onet_ranker_options *o,
                                 double penalty, double loss, onet_error *err) {
    char count[32], seed[32], strength[32], mean[32];
    snprintf(count, sizeof count, "%zu", sets->count);
    snprintf(seed, sizeof seed, "%" PRIu64, o->seed);
    number_print(strength, sizeof strength, "%g", penalty);
    number_print(mean, sizeof mean, "%.6f", loss);
    const char *pairs[][2] = {{"kind", "ranker"}, {"data.sha256", sets->hash}, {"data.sets", count},
                              {"seed", seed},     {"penalty", strength},       {"loss", mean}};
    onet_status status = ONET_OK;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs && !status; i++)
        status = model_set_entry(m, pairs[i][0], pairs[i][1], err);
    return status;
}

/* sets: as the model sees them. */
static onet_status train(onet_model *m, const onet_sets *sets, const onet_ranker_options *o,
                         onet_error *err) {
    examples e = {0};
    onet_status status = examples_make(&e, m, sets, o->seed, err);
    fit f = {.e = &e};
    double *w = NULL, penalty = o->penalty, loss = 0;
    if (!status && (!(w = array_new(2 * e.D, sizeof *w)) || !(f.threads = thread_pool_new(o->threads)) ||
                    !(f.scratch = array_new(2 * e.start[e.count], sizeof *f.scratch)) ||
                    !(f.part = array_new((e.count + PART - 1) / PART, (1 + e.D) * sizeof *f.part))))
        status = fail_memory(err, "the ranker");
    if (!status && !(penalty > 0)) {
        penalty = PENALTY_FEW;
        if (e.count >= FEWEST) status = choose_penalty(&f, &penalty, w, err);
    }
    if (!status && e.count) {
        status = find_weights(&f, 0, e.count, penalty, w, err);
        if (!status) loss = mean_loss(&f, w, w + e.D);
    }
    for (size_t c = 0; c < e.D && !status; c++) m->theta[m->sh.head_weight + c] = (float)w[c];
    if (!status) status = note_training(m, sets, o, penalty, loss, err);
    thread_pool_free(f.threads);
    free(f.part);
    free(f.scratch);
    free(w);
    examples_free(&e);
    return status;
}

/* Makes a model without weights, scaled to the sets. *seen: the sets as the model sees them, whose items the
 * caller frees unless they are those of `sets`. */
static onet_status make_model(onet_model **model, const onet_sets *sets, const onet_ranker_options *o,
                              onet_sets *seen, onet_error *err) {
    scaling *scales = NULL;
    onet_feature *feature = array_new((size_t)sets->width, sizeof *feature);
    onet_status status = feature ? ONET_OK : fail_memory(err, "the features");
    *seen = *sets;
    if (!status && !sets->word)
        status = scaling_learn(
            &scales, sets,
            &(scaling_wish){.text = o->scale, .within = o->within, .standardise = o->standardise}, feature,
            err);
    if (!status && scales) status = scaling_apply(scales, sets, seen, err);
    /* Widths that no block has. */
    onet_settings s = {
        .width = seen->width, .hidden = 1, .encoder_out = 1, .decoder_out = 1, .relative = o->relative};
    if (!status) status = model_new(model, &s, err);
    if (status) {
        scaling_free(scales);
        free(feature);
        return status;
    }
    (*model)->scaling = scales;
    if (sets->word && !((*model)->words = words_copy(sets->words))) status = fail_memory(err, "the words");
    if (!status && sets->columns) status = onet_columns_copy(&(*model)->columns, sets->columns, err);
    if (!status && (o->standardise || !sets->word))
        status = initial_scale(*model, seen, sets->word ? NULL : feature, err);
    free(feature);
    return status;
}

void onet_ranker_defaults(onet_ranker_options *options, size_t size) {
    onet_ranker_options own = {.size = sizeof own, .standardise = 1, .seed = 1};
    sized_give(options, size, &own, sizeof own);
}

static onet_status check(const onet_sets *sets, const onet_ranker_options *o, onet_error *err) {
    onet_status status = check_threads(o->threads, "onet_train_options.threads", err);
    if (status) return status;
    if (!(o->penalty >= 0) || !isfinite(o->penalty))
        return fail(err, ONET_USAGE, "the penalty must be a number, 0 or more");
    status = train_check_learned(sets, &(onet_train_options){.settings.relative = o->relative}, err);
    if (!status && sets->pairs)
        status =
            fail(err, ONET_BAD,
                 "a ranker sees each item alone: train a network on sets with relations, or leave them out");
    return status;
}

/* Whether some set has two items to place. */
static bool has_order(const onet_sets *sets) {
    for (size_t s = 0; s < sets->count; s++)
        if (sets_placed(sets, s) > 1) return true;
    return false;
}

onet_status onet_ranker_train(onet_model **model, const onet_sets *sets, const onet_ranker_options *options,
                              onet_error *err) {
    onet_status status = ranker_train_any(model, sets, options, err);
    if (status || has_order(sets)) return status;
    onet_model_free(*model);
    *model = NULL;
    return fail(err, ONET_BAD, NO_ORDER);
}

onet_status ranker_train_any(onet_model **model, const onet_sets *sets, const onet_ranker_options *options,
                             onet_error *err) {
    NEED(model, "model");
    *model = NULL;
    NEED(sets, "sets");
    onet_ranker_options o;
    onet_ranker_defaults(&o, sizeof o);
    onet_status status = sized_take(&o, sizeof o, options, "onet_ranker_options", err);
    if (!status) status = check(sets, &o, err);
    if (status) return status;
    onet_model *m = NULL;
    onet_sets seen;
    status = make_model(&m, sets, &o, &seen, err);
    if (!status) status = train(m, &seen, &o, err);
    if (seen.items != sets->items) free(seen.items);
    if (status)
        onet_model_free(m);
    else
        *model = m;
    return status;
}
