/* Runs the trials of a search on several threads: trains and measures each, ends the hopeless ones early,
 * keeps every result in memory and in the file of trials. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/train/train.h"
#include "engine/tune/tuner.h"
#include "ordernet_io.h"
#include "ordernet_train.h"

enum { GLANCE_STEPS = 64 /* before so many steps the average of the weights tells little */ };

const double tune_shares[SHARES] = {1.0 / 8, 1.0 / 6, 1.0 / 4, 1.0 / 3, 1.0 / 2, 1};

/* A trial ends if it is this far behind what the best of its kind was worth at the same share of its epochs
 * (experiments/own, *The search*). */
static const double hopeless[GLANCES] = {0.25, 0.2, 0.15};

double tune_spent(const tuner *s) {
    return s->offset + clock_seconds() - s->started;
}

/* Spins until this thread holds `busy`, which others hold for short calls of progress and changes of `done`.
 */
static void hold(tuner *s) {
    while (atomic_flag_test_and_set(&s->busy)) {
    }
}

/* At a quarter, a half and three quarters of the epochs: notes the validation score of the trial so far, and
 * ends the trial if the score is hopeless. */
static void glance(running *r, const onet_progress *now) {
    for (int i = 0; i < GLANCES; i++) {
        if (now->ended != (now->epochs * (i + 1) + GLANCES) / (GLANCES + 1) || now->ended == now->epochs ||
            now->step < GLANCE_STEPS)
            continue;
        r->row->glance[i] = (now->valid_exact + exp(now->valid_loglik)) / 2;
        if (!(r->row->glance[i] < r->bar[i])) continue;
        r->hopeless = true;
        r->row->epochs = now->ended;
    }
}

int tune_trial_progress(void *context, const onet_progress *now) {
    running *r = context;
    tuner *s = r->s;
    double seconds = clock_seconds() - r->started;
    if (s->deadline > 0 && tune_spent(s) > s->deadline) atomic_store(&s->late, true);
    if (r->share > 0 && seconds > 1 &&
        seconds + (isnan(now->seconds_left) ? 0 : now->seconds_left) > r->share)
        r->slow = true;
    if (r->row && now->ended && !r->hopeless) glance(r, now);
    if (!atomic_flag_test_and_set(&s->busy)) {
        tune_report_progress(s);
        atomic_flag_clear(&s->busy);
    }
    return r->slow || r->hopeless || atomic_load(&s->stop) || atomic_load(&s->late);
}

onet_status tune_measure_each(onet_set_measure *each, const tuner *s, const onet_model *model,
                              const onet_sets *sets, int threads, onet_error *err) {
    onet_order_options how = {
        .size = sizeof how, .threads = threads, .kernels = s->base.kernels, .device = s->base.device};
    onet_orderer *orderer = NULL;
    size_t items = sets->start[sets->count];
    int32_t *order = array_new(items, sizeof *order);
    onet_answer *answer = array_new(sets->count, sizeof *answer);
    double *logprob = array_new(sets->count, sizeof *logprob);
    onet_status status = order && answer && logprob ? ONET_OK : fail_memory(err, "the answers");
    for (size_t i = 0; i < sets->count && !status; i++)
        answer[i] = (onet_answer){.order = order + sets->start[i], .logprob = logprob + i};
    if (!status) status = onet_orderer_new(&orderer, model, &how, err);
    if (!status) status = onet_orderer_run(orderer, sets, answer, err);
    if (!status) status = onet_orderer_score(orderer, sets, logprob, err);
    if (!status) status = onet_measure_each(each, sets, answer, logprob, err);
    onet_orderer_free(orderer);
    free(order);
    free(answer);
    free(logprob);
    return status;
}

static onet_status measure(onet_report *report, const tuner *s, const onet_model *model,
                           const onet_sets *sets, int threads, onet_error *err) {
    onet_set_measure *each = array_new(sets->count, sizeof *each);
    onet_status status =
        each ? tune_measure_each(each, s, model, sets, threads, err) : fail_memory(err, "the measures");
    if (!status) onet_measure_mean(report, each, NULL, sets->count);
    free(each);
    return status;
}

int tune_epochs(const tuner *s, const asked_trial *t) {
    double whole = t->made.value[S_EPOCHS];
    double share = t->kind == TRIAL_FIRST   ? tune_shares[0]
                   : t->kind == TRIAL_SHORT ? tune_shares[s->share]
                                            : 1;
    int epochs = (int)lround(whole * share);
    return epochs < 2 ? (whole < 2 ? 1 : 2) : epochs;
}

onet_train_options tune_options(const tuner *s, const choice_made *made, int threads) {
    onet_train_options o = s->base;
    space_write(made, &o);
    o.settings.pool = train_pool(o.settings.pool, s->sets->count); /* that of the last training */
    o.threads = threads;
    o.model_path = NULL;
    o.resume = o.keep = o.keep_stopped = o.patience = 0;
    o.best = NULL;
    o.progress = NULL;
    return o;
}

onet_status tune_train(const tuner *s, onet_model **model, const choice_made *made, const onet_sets *sets,
                       const onet_sets *valid, const onet_train_options *o, onet_error *err) {
    if (made->value[S_RANKER] == 0) return onet_train(model, sets, valid, o, err);
    onet_ranker_options ranker = {.size = sizeof ranker,
                                  .relative = o->settings.relative,
                                  .standardise = s->base.standardise,
                                  .seed = s->base.seed,
                                  .threads = o->threads,
                                  .scale = o->scale,
                                  .within = o->within};
    return onet_ranker_train(model, sets, &ranker, err);
}

void tune_note_kernels(tuner *s, const onet_model *model) {
    const char *kernels = model ? onet_model_record(model, "kernels") : NULL;
    if (kernels) snprintf(s->kernels, sizeof s->kernels, "%s", kernels);
}

/* Trains and measures. A failure such as a NaN loss fails only the trial; lack of memory, and any failure of
 * the first trial, fails the search. */
static void run_trial(tuner *s, const asked_trial *t, int threads, trial *row) {
    running r = {.s = s, .started = clock_seconds()};
    if (s->how.seconds > 0) /* the final trainings see more sets */
        r.share = t->kind == TRIAL_FIRST ? 0.25 * s->how.seconds : tune_final_limit(s);
    onet_train_options o = tune_options(s, &t->made, threads);
    onet_model *model = NULL;
    onet_error err;
    onet_report report = {0};
    *row = (trial){.made = t->made,
                   .kind = t->kind,
                   .generation = s->generation,
                   .part = t->part,
                   .epochs = tune_epochs(s, t),
                   .exact = NAN,
                   .neighbours = NAN,
                   .tau = NAN,
                   .loglik = NAN,
                   .glance = {NAN, NAN, NAN}};
    /* Trials on other parts are of settings that did well on the first: they are not ended early. */
    bool glances =
        t->kind != TRIAL_FIRST && !t->part && row->epochs > GLANCES && t->made.value[S_MODELS] <= 1;
    if (glances) {
        r.row = row;
        r.bar = s->bar[t->kind];
    }
    o.epochs = row->epochs;
    o.progress = tune_trial_progress;
    o.context = &r;
    onet_status status =
        tune_train(s, &model, &t->made, s->rest[t->part], glances ? s->glanced : NULL, &o, &err);
    if (!status) status = measure(&report, s, model, s->part[t->part], threads, &err);
    const char *kernels = model ? onet_model_record(model, "kernels") : NULL;
    if (!status && t->kind == TRIAL_FIRST) s->on_gpu = kernels && !strcmp(kernels, "cuda");
    row->end = !status                      ? TRIAL_ENDED
               : r.slow                     ? TRIAL_SLOW
               : r.hopeless                 ? TRIAL_HOPELESS
               : status == ONET_INTERRUPTED ? TRIAL_STOPPED
                                            : TRIAL_FAILED;
    if (!status) {
        row->exact = report.exact.mean;
        row->neighbours = report.neighbours.mean;
        row->tau = report.tau.mean;
        row->loglik = fmin(0, report.loglik_all.mean);
        if (isnan(row->neighbours) || isnan(row->tau))
            row->neighbours = row->tau = row->exact; /* single items */
    }
    row->seconds = clock_seconds() - r.started;
    hold(s);
    tune_note_kernels(s, model);
    /* A failure before any trial has ended is one of the data or the machine, which every trial would
     * meet. */
    if (status && status != ONET_INTERRUPTED && !r.slow && !s->status &&
        (status == ONET_MEMORY || t->kind == TRIAL_FIRST)) {
        s->status = status;
        s->err = err;
        atomic_store(&s->stop, true);
    }
    row->at = tune_spent(s);
    atomic_flag_clear(&s->busy);
    onet_model_free(model);
}

/* Notes in each config the trials of its settings that have ended, and whether one was too slow, hopeless or
 * failed. */
static void learn(tuner *s) {
    for (int i = 0; i < s->count; i++) {
        s->configs[i].brief = NULL;
        memset(s->configs[i].whole, 0, sizeof s->configs[i].whole);
    }
    for (size_t i = 0; i < s->done.count; i++) {
        const trial *r = &s->done.row[i];
        config *c = tune_find(s, &r->made);
        if (!c || r->kind == TRIAL_FIRST) continue;
        if (r->end == TRIAL_SLOW || r->end == TRIAL_HOPELESS || r->end == TRIAL_FAILED) c->out = true;
        if (r->end != TRIAL_ENDED) continue;
        if (r->kind == TRIAL_SHORT)
            c->brief = r;
        else
            c->whole[r->part] = r;
    }
}

/* Writes the trials, with those of an earlier call that were not needed yet, so that none is lost. */
static onet_status write_trials(tuner *s, onet_error *err) {
    if (!s->how.path) return ONET_OK;
    trials all = {0};
    memcpy(all.search, s->done.search, sizeof all.search);
    onet_status status = ONET_OK;
    for (size_t i = 0; i < s->done.count && !status; i++) status = trials_add(&all, &s->done.row[i], err);
    for (size_t i = 0; i < s->memo.count && !status; i++) {
        const trial *r = &s->memo.row[i];
        if (!trials_find(&s->done, &r->made, r->kind, r->part)) status = trials_add(&all, r, err);
    }
    if (!status) status = trials_write(&all, s->how.path, err);
    trials_free(&all);
    return status;
}

static onet_status add_done(tuner *s, const trial *row, onet_error *err) {
    onet_status status = trials_add(&s->done, row, err);
    learn(s); /* the rows may have moved */
    return status;
}

static void task_trial(void *arg, int number, int thread) {
    tuner *s = arg;
    trial row;
    (void)thread;
    if (atomic_load(&s->stop) || atomic_load(&s->late)) return;
    run_trial(s, &s->asked[number], s->on_gpu ? s->threads : s->threads / s->workers, &row);
    hold(s);
    if (row.end != TRIAL_STOPPED && !s->status) {
        s->new_trials++;
        s->status = add_done(s, &row, &s->err);
        if (!s->status) s->status = write_trials(s, &s->err);
        if (s->status) atomic_store(&s->stop, true);
    }
    atomic_flag_clear(&s->busy);
}

/* Sets what is hopeless from now on, by the best trials so far. It does not change while a generation runs,
 * whose trials end in any order. */
static void set_bars(tuner *s) {
    for (int kind = 0; kind <= TRIAL_WHOLE; kind++) {
        const trial *best = NULL;
        for (size_t i = 0; i < s->done.count; i++) {
            const trial *r = &s->done.row[i];
            if ((int)r->kind != kind || r->part || r->end != TRIAL_ENDED || isnan(r->glance[GLANCES - 1]))
                continue;
            if (!best || tune_score(r) > tune_score(best)) best = r;
        }
        for (int i = 0; i < GLANCES; i++)
            s->bar[kind][i] = best ? best->glance[i] - hopeless[i] : (double)NAN;
    }
}

static int by_time(const void *a, const void *b) {
    const asked_trial *x = a, *y = b;
    return (x->predicted < y->predicted) - (x->predicted > y->predicted);
}

/* Runs the trials, or takes them from an earlier call. The longest begin first, so that threads end together.
 */
onet_status tune_run(tuner *s, asked_trial *list, int count, onet_error *err) {
    int left = 0;
    set_bars(s);
    for (int i = 0; i < count; i++) {
        const trial *old = trials_find(&s->memo, &list[i].made, list[i].kind, list[i].part);
        onet_status status = old ? add_done(s, old, err) : ONET_OK;
        if (status) return status;
        if (!old) list[left++] = list[i];
    }
    qsort(list, (size_t)left, sizeof *list, by_time);
    s->asked = list;
    if (left && !s->on_gpu && s->workers > 1)
        thread_pool_run(s->thread_pool, left, task_trial, s);
    else
        for (int i = 0; i < left; i++) task_trial(s, i, 0);
    s->generation++;
    tune_set_deadline(s);
    /* The deadline was set for settings that have since been beaten. The new best ones need less time at the
     * end, so the search goes on. */
    if (atomic_load(&s->late) && tune_spent(s) < s->deadline) {
        atomic_store(&s->late, false);
        for (int i = 0; i < s->count; i++)
            if (!s->configs[i].whole[0]) s->configs[i].asked_whole = false;
    }
    if (s->status && err) *err = s->err;
    return s->status;
}

bool tune_over(tuner *s) {
    return atomic_load(&s->stop) || atomic_load(&s->late);
}
