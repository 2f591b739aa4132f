/* Implements onet_tune: successive halving over the settings of space.c, trial by trial. Which settings are
 * tried next follows from the results and times of the trials before, so a resumed search replays its old
 * trials as if it had just run them. */
#include "ordernet_tune.h"

#include <limits.h>
#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/arguments.h"
#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/pool.h"
#include "engine/base/rng.h"
#include "engine/base/sha256.h"
#include "engine/base/sized.h"
#include "engine/data/divide.h"
#include "engine/data/pick.h"
#include "engine/data/sets.h"
#include "engine/train/options.h"
#include "engine/train/train.h"
#include "engine/tune/space.h"
#include "ordernet_io.h"
#include "ordernet_train.h"

enum {
    PARTS = 4,           /* to choose by */
    TEST = PARTS,        /* the number of the test part */
    LEAST_SETS = 25,     /* five parts of five */
    MOST_IN_PART = 1500, /* sets; the others are always trained on */
    GENERATION =
        6, /* trials that are chosen at once, so that the choice is the same for any number of threads */
    HALVING = 3,       /* one of so many goes on */
    GLANCE_SETS = 200, /* at most, that a trial is measured on while it runs */
    GLANCE_STEPS = 64, /* at least: before, the average of the weights tells little */
    SHOWN_ROWS = 8,
    FINALISTS = 3,
    MOST_CONFIGS = 4096
};

/* Shares of the whole number of epochs that a short training may have. */
static const double shares[] = {1.0 / 8, 1.0 / 6, 1.0 / 4, 1.0 / 3, 1.0 / 2, 1};
enum { SHARES = sizeof shares / sizeof *shares, SHARE_OF_TRIALS = 3 };

/* A trial ends if it is this far behind what the best of its kind was worth at the same share of its epochs
 * (experiments/own, *The search*). */
static const double hopeless[GLANCES] = {0.25, 0.2, 0.15};

static const double main_share = 0.75; /* of the search's time; the rest is for the finalists */
static const double final_share = 0.5; /* of all time: what the last trainings may take */

/* Settings and what is known of them. */
typedef struct config {
    choice_made made;
    bool known;                        /* has worked on other data: space_known */
    bool out;                          /* too slow, or failed */
    bool asked_whole, asked_parts;     /* whole trainings were asked for: of part 0, of the others */
    const trial *brief, *whole[PARTS]; /* NULL: not there */
} config;

typedef struct task {
    choice_made made;
    trial_kind kind;
    int part;
    double predicted; /* seconds; 0: not known */
} task;

typedef struct search {
    onet_train_options base;
    onet_tune_options how;
    const onet_sets *sets;
    int8_t *part_of;            /* [sets]: 0 .. TEST; -1: always trained on */
    onet_sets *part[PARTS + 1]; /* the sets of a part */
    onet_sets *rest[PARTS + 1]; /* what is trained on where that part measures; nothing of the test part */
    onet_sets *glanced;         /* sets of part 0 */
    size_t given;               /* the size of the caller's options: what they cannot hold is not chosen */
    choice_made base_made;
    bool fixed[SETTINGS];
    config *configs;  /* [MOST_CONFIGS] */
    int count, known; /* configs; settings taken from the list of known ones */
    trials done, memo;
    int share;       /* index of shares */
    double per_cost; /* seconds of an epoch of cost 1 */
    double offset;   /* seconds of earlier calls */
    double started;
    int threads, workers;
    pool *pool;
    bool on_gpu;
    char kernels[32];
    /* While a generation runs. */
    task *tasks;
    int generation;
    double bar[TRIAL_WHOLE + 1][GLANCES]; /* trials of a kind that are below it are hopeless; NaN: none is */
    atomic_flag busy;                     /* who holds it may call progress and change `done` */
    atomic_bool stop, late;
    onet_status status;
    onet_error err;
    int new_trials;
    double deadline; /* of the search; 0: there is none */
} search;

/* ---- Division of the sets -------------------------------------------------------------------------------
 */

/* Groups, and equal sets, in random order, each to the part that has the fewest sets; sets beyond
 * MOST_IN_PART to none. */
static onet_status divide(search *s, onet_error *err) {
    size_t count = s->sets->count;
    if (count < LEAST_SETS)
        return fail(err, ONET_BAD, "%zu sets are too few to choose settings by: give %d at least", count,
                    LEAST_SETS);
    if (s->how.group)
        for (size_t i = 0; i < count; i++)
            if (s->how.group[i] >= count)
                return fail(err, ONET_USAGE,
                            "onet_tune: the groups of %zu sets are numbered from 0 to %zu at most", count,
                            count - 1);
    size_t *of, groups, have[PARTS + 1] = {0};
    onet_status status = bundles_find(&of, &groups, s->sets, NULL, s->how.group, err);
    if (status) return status;
    size_t most = (count + PARTS) / (PARTS + 1);
    if (most > MOST_IN_PART) most = MOST_IN_PART;
    size_t *order = array_new(groups, sizeof *order), *size = array_new(groups, sizeof *size);
    int8_t *part = array_new(groups, sizeof *part);
    s->part_of = array_new(count, sizeof *s->part_of);
    if (!order || !size || !part || !s->part_of) status = fail_memory(err, "the parts");
    if (!status) {
        rng r;
        rng_seed(&r, s->base.seed, UINT64_C(0x74756e6500000000));
        for (size_t i = 0; i < groups; i++) {
            size_t j = (size_t)rng_below(&r, i + 1);
            order[i] = order[j];
            order[j] = i;
        }
        for (size_t i = 0; i < count; i++) size[of[i]]++;
        for (size_t i = 0; i < groups; i++) {
            int least = 0;
            for (int p = 1; p <= PARTS; p++)
                if (have[p] < have[least]) least = p;
            part[order[i]] = have[least] < most ? (int8_t)least : -1;
            if (have[least] < most) have[least] += size[order[i]];
        }
        for (size_t i = 0; i < count; i++) s->part_of[i] = part[of[i]];
        for (int p = 0; p <= PARTS && !status; p++)
            if (!have[p])
                status = fail(err, ONET_BAD,
                              "only %zu distinct sets or groups: choosing settings needs at least %d", groups,
                              PARTS + 1);
    }
    free(of);
    free(order);
    free(size);
    free(part);
    return status;
}

static onet_status take_parts(search *s, onet_error *err) {
    uint8_t *take = array_new(s->sets->count, 1);
    onet_status status = take ? ONET_OK : fail_memory(err, "the parts");
    for (int p = 0; p <= TEST && !status; p++) {
        for (size_t i = 0; i < s->sets->count; i++) take[i] = s->part_of[i] == p;
        status = pick_sets(&s->part[p], s->sets, take, err);
        for (size_t i = 0; i < s->sets->count; i++) take[i] = s->part_of[i] != p && s->part_of[i] != TEST;
        if (!status) status = pick_sets(&s->rest[p], s->sets, take, err);
    }
    if (!status) { /* spread over the part: a file may be sorted */
        size_t count = s->part[0]->count, most = count < GLANCE_SETS ? count : GLANCE_SETS;
        for (size_t i = 0; i < count; i++) take[i] = (i + 1) * most / count > i * most / count;
        status = pick_sets(&s->glanced, s->part[0], take, err);
    }
    free(take);
    return status;
}

/* ---- One trial ------------------------------------------------------------------------------------------
 */

static double spent(const search *s) {
    return s->offset + clock_seconds() - s->started;
}

/* Between calls of progress and changes of `done`: they are short. */
static void hold(search *s) {
    while (atomic_flag_test_and_set(&s->busy)) {
    }
}

static void tell(search *s);

typedef struct running {
    search *s;
    double started, share;
    bool slow, hopeless;
    trial *row;        /* gets the glances; NULL: nothing is measured while it runs */
    const double *bar; /* [GLANCES] */
} running;

/* What the settings are worth after so many epochs, where that is a time to look. */
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

static int look(void *context, const onet_progress *now) {
    running *r = context;
    search *s = r->s;
    double seconds = clock_seconds() - r->started;
    if (s->deadline > 0 && spent(s) > s->deadline) atomic_store(&s->late, true);
    if (r->share > 0 && seconds > 1 &&
        seconds + (isnan(now->seconds_left) ? 0 : now->seconds_left) > r->share)
        r->slow = true;
    if (r->row && now->ended && !r->hopeless) glance(r, now);
    if (!atomic_flag_test_and_set(&s->busy)) {
        tell(s);
        atomic_flag_clear(&s->busy);
    }
    return r->slow || r->hopeless || atomic_load(&s->stop) || atomic_load(&s->late);
}

/* each [sets] */
static onet_status measure_each(onet_set_measure *each, const search *s, const onet_model *model,
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

static onet_status measure(onet_report *report, const search *s, const onet_model *model,
                           const onet_sets *sets, int threads, onet_error *err) {
    onet_set_measure *each = array_new(sets->count, sizeof *each);
    onet_status status =
        each ? measure_each(each, s, model, sets, threads, err) : fail_memory(err, "the measures");
    if (!status) onet_measure_mean(report, each, NULL, sets->count);
    free(each);
    return status;
}

static int trained_epochs(const search *s, const task *t) {
    double whole = t->made.value[S_EPOCHS];
    double share = t->kind == TRIAL_FIRST ? shares[0] : t->kind == TRIAL_SHORT ? shares[s->share] : 1;
    int epochs = (int)lround(whole * share);
    return epochs < 2 ? (whole < 2 ? 1 : 2) : epochs;
}

/* The options of a training within the search: it writes and reads no files. */
static onet_train_options train_options(const search *s, const choice_made *made, int threads) {
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

/* The net or the ranker of these settings. */
static onet_status train_one(const search *s, onet_model **model, const choice_made *made,
                             const onet_sets *sets, const onet_sets *valid, const onet_train_options *o,
                             onet_error *err) {
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

static double final_seconds(const search *s, const choice_made *made, int models, int measured);

/* Seconds that the final trainings of a configuration may take (one without the test part, one on all sets):
 * final_share of the budget, but never less than the given settings need. */
static double final_limit(const search *s) {
    return fmax(final_share * s->how.seconds, final_seconds(s, &s->base_made, 1, 1));
}

/* For the caller to repeat the training with. */
static void note_kernels(search *s, const onet_model *model) {
    const char *kernels = model ? onet_model_record(model, "kernels") : NULL;
    if (kernels) snprintf(s->kernels, sizeof s->kernels, "%s", kernels);
}

/* Trains and measures. A failure such as a NaN loss is that of the trial alone; only lack of memory fails the
 * search. */
static void run_trial(search *s, const task *t, int threads, trial *row) {
    running r = {.s = s, .started = clock_seconds()};
    if (s->how.seconds > 0) /* the last trainings see more sets */
        r.share = t->kind == TRIAL_FIRST ? 0.25 * s->how.seconds : final_limit(s);
    onet_train_options o = train_options(s, &t->made, threads);
    onet_model *model = NULL;
    onet_error err;
    onet_report report = {0};
    *row = (trial){.made = t->made,
                   .kind = t->kind,
                   .generation = s->generation,
                   .part = t->part,
                   .epochs = trained_epochs(s, t),
                   .exact = NAN,
                   .neighbours = NAN,
                   .tau = NAN,
                   .loglik = NAN,
                   .glance = {NAN, NAN, NAN}};
    /* Other parts are for settings that did well on this one. */
    bool glances =
        t->kind != TRIAL_FIRST && !t->part && row->epochs > GLANCES && t->made.value[S_MODELS] <= 1;
    if (glances) {
        r.row = row;
        r.bar = s->bar[t->kind];
    }
    o.epochs = row->epochs;
    o.progress = look;
    o.context = &r;
    onet_status status =
        train_one(s, &model, &t->made, s->rest[t->part], glances ? s->glanced : NULL, &o, &err);
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
    note_kernels(s, model);
    /* A failure before any trial has ended is one of the data or the machine, which every trial would
     * meet. */
    if (status && status != ONET_INTERRUPTED && !r.slow && !s->status &&
        (status == ONET_MEMORY || t->kind == TRIAL_FIRST)) {
        s->status = status;
        s->err = err;
        atomic_store(&s->stop, true);
    }
    row->at = spent(s);
    atomic_flag_clear(&s->busy);
    onet_model_free(model);
}

/* The likelihood counts each step of each set, so that it differs less by chance than whole sets do. */
static double score_of(const trial *r) {
    return (r->exact + r->neighbours + r->tau + exp(r->loglik)) / 4;
}

/* ---- What is known so far --------------------------------------------------------------------------------
 */

static config *find_config(search *s, const choice_made *made) {
    for (int i = 0; i < s->count; i++)
        if (space_same(&s->configs[i].made, made)) return &s->configs[i];
    return NULL;
}

/* Levels: 1: a short training, 2: a whole one measured on the first part, 3: on all parts. */
static bool reached(const config *c, int level) {
    if (c->out) return false;
    if (level == 1) return c->brief;
    for (int p = 0; p < (level == 2 ? 1 : PARTS); p++)
        if (!c->whole[p]) return false;
    return true;
}

static int level_of(const config *c) {
    int level = 3;
    while (level && !reached(c, level)) level--;
    return level;
}

static double mean_score(const config *c, int level) {
    if (level == 1) return score_of(c->brief);
    if (level == 2) return score_of(c->whole[0]);
    double sum = 0;
    for (int p = 0; p < PARTS; p++) sum += score_of(c->whole[p]);
    return sum / PARTS;
}

/* The configs that have reached a level, best first; equal ones as they were found. Returns their number. */
static int ranking(const search *s, int level, int *index) {
    int count = 0;
    for (int i = 0; i < s->count; i++) {
        if (!reached(&s->configs[i], level)) continue;
        double score = mean_score(&s->configs[i], level);
        int at = count++;
        while (at > 0 && mean_score(&s->configs[index[at - 1]], level) < score) {
            index[at] = index[at - 1];
            at--;
        }
        index[at] = i;
    }
    return count;
}

static void fill_tried(const search *s, const config *c, onet_tried *t) {
    int level = level_of(c);
    *t = (onet_tried){.whole = level > 1, .parts = level == 3 ? PARTS : 1};
    space_text(t->settings, sizeof t->settings, &c->made, &s->base_made);
    for (int p = 0; p < t->parts; p++) {
        const trial *r = level == 1 ? c->brief : c->whole[p];
        t->exact += r->exact / t->parts;
        t->neighbours += r->neighbours / t->parts;
        t->tau += r->tau / t->parts;
        t->seconds = r->seconds;
    }
    t->score = mean_score(c, level);
}

/* The best known settings, unless the best ones of all lead clearly: of many settings that were made by
 * chance, the one that did best owes a part of its lead to chance. */
static const config *prefer_known(const search *s, const config *best, const int *index, int there) {
    const config *known = NULL;
    for (int i = 0; i < there && !known; i++)
        if (s->configs[index[i]].known) known = &s->configs[index[i]];
    if (!known) return best;
    double lead[PARTS];
    for (int p = 0; p < PARTS; p++) lead[p] = score_of(best->whole[p]) - score_of(known->whole[p]);
    return is_clear_lead(lead, PARTS) ? best : known;
}

/* The best of the highest level, unless settings of a lower level did clearly better there: the ranker
 * reaches every level while the nets of large data are still at the first. */
static const config *winner(const search *s) {
    int *index = array_new(MOST_CONFIGS, sizeof *index);
    const config *best = NULL;
    for (int level = 3; index && level >= 1; level--) {
        int there = ranking(s, level, index), i = 0;
        while (i < there && level_of(&s->configs[index[i]]) != level) i++;
        if (i == there) continue;
        const config *c = &s->configs[index[i]];
        if (level == 3) c = prefer_known(s, c, index, there);
        if (!best || mean_score(c, level) > score_of(best->whole[0]) + 0.01) best = c;
    }
    free(index);
    return best;
}

/* The winner, then the best of each level, the highest level first. Returns how many. */
static int best_rows(const search *s, onet_tried *row, int most) {
    int *index = array_new(MOST_CONFIGS, sizeof *index), count = 0;
    const config *first = winner(s);
    if (!index) return 0;
    if (first) fill_tried(s, first, &row[count++]);
    for (int level = 3; level >= 1; level--) {
        int there = ranking(s, level, index);
        for (int i = 0; i < there && count < most; i++)
            if (level_of(&s->configs[index[i]]) == level && &s->configs[index[i]] != first)
                fill_tried(s, &s->configs[index[i]], &row[count++]);
    }
    free(index);
    return count;
}

static void tell(search *s) {
    if (!s->how.progress) return;
    onet_tried row[SHOWN_ROWS];
    onet_tune_progress now = {.trials = s->done.count ? (int)s->done.count - 1 : 0,
                              .most = s->how.trials,
                              .seconds = spent(s),
                              .seconds_left =
                                  s->how.seconds > 0 ? fmax(0, s->how.seconds - spent(s)) : (double)NAN,
                              .tried = row};
    now.count = best_rows(s, row, SHOWN_ROWS);
    if (s->how.progress(s->how.context, &now)) atomic_store(&s->stop, true);
}

/* ---- Which trials come next ------------------------------------------------------------------------------
 */

/* Seconds that a trial takes on one thread: by the settings' own trials, else by the net's size. */
static double predict(const search *s, const choice_made *made, int epochs) {
    for (size_t i = s->done.count; i-- > 0;) {
        const trial *r = &s->done.row[i];
        if (r->kind != TRIAL_FIRST && r->end == TRIAL_ENDED && space_same(&r->made, made))
            return r->seconds * epochs / r->epochs;
    }
    if (made->value[S_RANKER] > 0) epochs = 2; /* it takes about as long */
    return s->per_cost * epochs * space_cost(made);
}

/* Search seconds so far, as the trials tell. */
static double now_at(const search *s) {
    double at = 0;
    for (size_t i = 0; i < s->done.count; i++) at = fmax(at, s->done.row[i].at);
    return at;
}

/* Seconds from the end of the search to that of the last training: `measured` models of these settings, one
 * of those given and the ranker to compare with, without the test part, then `models` on all sets. */
static double final_seconds(const search *s, const choice_made *made, int models, int measured) {
    double sets = (double)s->rest[0]->count, without = (double)s->rest[TEST]->count / sets,
           all = (double)s->sets->count / sets;
    double one = predict(s, made, (int)made->value[S_EPOCHS]),
           base = s->per_cost * s->base_made.value[S_EPOCHS] * space_cost(&s->base_made);
    choice_made simple = s->base_made;
    simple.value[S_RANKER] = 1;
    double ranker = predict(s, &simple, (int)simple.value[S_EPOCHS]) * without;
    if (made->value[S_RANKER] > 0) return one * (without + all) + base * without + ranker;
    if (s->on_gpu) return one * (measured * without + models * all) + base * without + ranker;
    int w = s->workers, rounds = (models + w - 1) / w;
    double first = fmax((measured + w - 1) / w * one, (measured * one + base) / w);
    /* One model alone by all threads: they help it less than they would help models of their own. */
    double last = models > 1 ? rounds * one : one * (w > 1 ? 0.8 : 1);
    return 1.05 * (first * without + last * all) + ranker;
}

/* As many models as there is time for: merged ones are better on most data. */
static int models_for(const search *s, const choice_made *made) {
    const setting *models = &settings[S_MODELS];
    int most = (int)models->value[models->count - 1], count = (int)made->value[S_MODELS];
    if (s->fixed[S_MODELS] || made->value[S_RANKER] > 0 || s->base.train_vectors) return count;
    while (most > count && final_seconds(s, made, most, 1) > final_share * s->how.seconds) most--;
    return most;
}

static double reserve_for(const search *s, const choice_made *made) {
    int models = models_for(s, made);
    double all = final_seconds(s, made, models, models); /* where that is little, all of them are measured */
    return all < 0.15 * s->how.seconds ? all : final_seconds(s, made, models, 1);
}

/* When the search has to end for the settings that are the best now. */
static void set_deadline(search *s) {
    if (!(s->how.seconds > 0)) return;
    const config *best = winner(s);
    s->deadline = s->how.seconds - reserve_for(s, best ? &best->made : &s->base_made);
    if (s->deadline < 0.3 * s->how.seconds) s->deadline = 0.3 * s->how.seconds;
}

/* Adds a trial unless there is no time for it. */
static bool ask(search *s, task *list, int *count, const choice_made *made, trial_kind kind, int part) {
    task t = {.made = *made, .kind = kind, .part = part};
    t.predicted = predict(s, made, trained_epochs(s, &t));
    if (s->how.seconds > 0) {
        double all = t.predicted;
        for (int i = 0; i < *count; i++) all += list[i].predicted;
        double end = now_at(s) + fmax(t.predicted, all / (s->on_gpu ? 1 : s->workers));
        if (end > s->deadline || final_seconds(s, made, 1, 1) > final_limit(s) ||
            end + final_seconds(s, made, 1, 1) > s->how.seconds)
            return false;
    }
    list[(*count)++] = t;
    return true;
}

/* Nets that have reached a level, best first. */
static int parents(const search *s, int level, int *index) {
    int there = ranking(s, level, index), nets = 0;
    for (int i = 0; i < there; i++)
        if (s->configs[index[i]].made.value[S_RANKER] == 0) index[nets++] = index[i];
    return nets;
}

/* Fewer epochs if the last trainings would take too long. */
static void fit_epochs(const search *s, choice_made *made) {
    const setting *epochs = &settings[S_EPOCHS];
    if (!(s->how.seconds > 0) || s->fixed[S_EPOCHS] || made->value[S_RANKER] > 0) return;
    for (int i = epochs->count - 1; i >= 0; i--)
        if (epochs->value[i] < made->value[S_EPOCHS] && final_seconds(s, made, 1, 1) > final_limit(s))
            made->value[S_EPOCHS] = epochs->value[i];
}

/* Settings that have not been tried: the next known ones, else a change of good ones. */
static bool new_config(search *s, int *index, choice_made *made, bool *known) {
    *known = true;
    while (space_known(made, s->known, &s->base_made, s->fixed)) {
        s->known++;
        fit_epochs(s, made);
        if (!find_config(s, made)) return true;
    }
    *known = false;
    if (s->count >= MOST_CONFIGS) return false;
    int there = parents(s, 2, index);
    if (there < 3) there = parents(s, 1, index);
    if (!there) return false;
    rng r;
    rng_seed(&r, s->base.seed, UINT64_C(0x7472696400000000) + (uint64_t)s->count);
    for (int tries = 0; tries < 1000; tries++) {
        int from = (int)rng_below(&r, (uint64_t)(there < 4 ? there : 4));
        from = (int)rng_below(&r, (uint64_t)from + 1); /* the best most often */
        *made = s->configs[index[from]].made;
        space_change(made, s->fixed, &r);
        fit_epochs(s, made);
        if (!find_config(s, made)) return true;
    }
    return false;
}

/* Trials of the other parts for settings that did well on the first. */
static void ask_parts(search *s, config *c, task *list, int *count) {
    c->asked_parts = true;
    for (int p = 1; p < PARTS; p++)
        if (!ask(s, list, count, &c->made, TRIAL_WHOLE, p)) return;
}

/* The next generation, at most `most` trials and a few; 0: there is nothing that fits. */
static int choose_tasks(search *s, task *list, int most) {
    int *index = array_new(MOST_CONFIGS, sizeof *index), count = 0;
    if (!index) return 0;
    int there = ranking(s, 2, index);
    for (int i = 0; i < there / HALVING && count < most; i++)
        if (!s->configs[index[i]].asked_parts && count + PARTS - 1 <= most)
            ask_parts(s, &s->configs[index[i]], list, &count);
    there = s->share < SHARES - 1 ? ranking(s, 1, index) : 0;
    for (int i = 0; i < there / HALVING && count < most; i++) {
        config *c = &s->configs[index[i]];
        if (c->asked_whole) continue;
        c->asked_whole = true;
        ask(s, list, &count, &c->made, TRIAL_WHOLE, 0);
    }
    for (int misses = 0; count < most && misses < 50;) {
        choice_made made;
        bool known;
        if (!new_config(s, index, &made, &known)) break;
        config *c = &s->configs[s->count++];
        bool whole = s->share == SHARES - 1 || made.value[S_RANKER] > 0; /* the ranker knows no epochs */
        *c = (config){.made = made, .known = known, .asked_whole = whole};
        if (!ask(s, list, &count, &made, c->asked_whole ? TRIAL_WHOLE : TRIAL_SHORT, 0)) misses++;
    }
    free(index);
    return count;
}

/* At the end: a whole training for the best short ones if there is none yet, all parts for the best. */
static int choose_final(search *s, task *list, int most) {
    int *index = array_new(MOST_CONFIGS, sizeof *index), count = 0;
    if (!index) return 0;
    const config *best = winner(s);
    for (int i = 0; i < s->count; i++)
        if (&s->configs[i] == best && !best->asked_whole) {
            s->configs[i].asked_whole = true;
            ask(s, list, &count, &best->made, TRIAL_WHOLE, 0);
        }
    if (ranking(s, 2, index) < FINALISTS) {
        int there = ranking(s, 1, index);
        for (int i = 0; i < there && i < FINALISTS && count < most; i++) {
            config *c = &s->configs[index[i]];
            if (c->asked_whole) continue;
            c->asked_whole = true;
            ask(s, list, &count, &c->made, TRIAL_WHOLE, 0);
        }
    }
    int there = ranking(s, 2, index);
    bool known = false; /* the best of the known settings is a finalist */
    for (int i = 0; i < there && count + PARTS - 1 <= most; i++) {
        config *c = &s->configs[index[i]];
        if ((i < FINALISTS || (c->known && !known)) && !c->asked_parts) ask_parts(s, c, list, &count);
        known |= c->known;
    }
    free(index);
    return count;
}

/* ---- A generation ----------------------------------------------------------------------------------------
 */

/* What a trial tells of its settings. */
static void learn(search *s) {
    for (int i = 0; i < s->count; i++) {
        s->configs[i].brief = NULL;
        memset(s->configs[i].whole, 0, sizeof s->configs[i].whole);
    }
    for (size_t i = 0; i < s->done.count; i++) {
        const trial *r = &s->done.row[i];
        config *c = find_config(s, &r->made);
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
static onet_status write_trials(search *s, onet_error *err) {
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

static onet_status add_done(search *s, const trial *row, onet_error *err) {
    onet_status status = trials_add(&s->done, row, err);
    learn(s); /* the rows may have moved */
    return status;
}

static void pool_trial(void *arg, int number, int thread) {
    search *s = arg;
    trial row;
    (void)thread;
    if (atomic_load(&s->stop) || atomic_load(&s->late)) return;
    run_trial(s, &s->tasks[number], s->on_gpu ? s->threads : s->threads / s->workers, &row);
    hold(s);
    if (row.end != TRIAL_STOPPED && !s->status) {
        s->new_trials++;
        s->status = add_done(s, &row, &s->err);
        if (!s->status) s->status = write_trials(s, &s->err);
        if (s->status) atomic_store(&s->stop, true);
    }
    atomic_flag_clear(&s->busy);
}

/* What is hopeless from now on, by the best trials so far. It does not change while a generation runs, whose
 * trials end in any order. */
static void set_bars(search *s) {
    for (int kind = 0; kind <= TRIAL_WHOLE; kind++) {
        const trial *best = NULL;
        for (size_t i = 0; i < s->done.count; i++) {
            const trial *r = &s->done.row[i];
            if ((int)r->kind != kind || r->part || r->end != TRIAL_ENDED || isnan(r->glance[GLANCES - 1]))
                continue;
            if (!best || score_of(r) > score_of(best)) best = r;
        }
        for (int i = 0; i < GLANCES; i++)
            s->bar[kind][i] = best ? best->glance[i] - hopeless[i] : (double)NAN;
    }
}

static int by_time(const void *a, const void *b) {
    const task *x = a, *y = b;
    return (x->predicted < y->predicted) - (x->predicted > y->predicted);
}

/* Runs the trials, or takes them from an earlier call. The longest begin first, so that threads end together.
 */
static onet_status run_tasks(search *s, task *list, int count, onet_error *err) {
    int left = 0;
    set_bars(s);
    for (int i = 0; i < count; i++) {
        const trial *old = trials_find(&s->memo, &list[i].made, list[i].kind, list[i].part);
        onet_status status = old ? add_done(s, old, err) : ONET_OK;
        if (status) return status;
        if (!old) list[left++] = list[i];
    }
    qsort(list, (size_t)left, sizeof *list, by_time);
    s->tasks = list;
    if (left && !s->on_gpu && s->workers > 1)
        pool_run(s->pool, left, pool_trial, s);
    else
        for (int i = 0; i < left; i++) pool_trial(s, i, 0);
    s->generation++;
    set_deadline(s);
    /* The deadline was set for settings that have since been beaten. The new best ones need less time at the
     * end, so the search goes on. */
    if (atomic_load(&s->late) && spent(s) < s->deadline) {
        atomic_store(&s->late, false);
        for (int i = 0; i < s->count; i++)
            if (!s->configs[i].whole[0]) s->configs[i].asked_whole = false;
    }
    if (s->status && err) *err = s->err;
    return s->status;
}

static bool over(search *s) {
    return atomic_load(&s->stop) || atomic_load(&s->late);
}

/* ---- The search ------------------------------------------------------------------------------------------
 */

/* Whether the short trainings of an earlier call had this share; false where there are none. */
static bool share_fits(search *s, int share) {
    int before = s->share;
    bool fits = false;
    s->share = share;
    for (size_t i = 0; i < s->memo.count; i++) {
        const trial *r = &s->memo.row[i];
        if (r->kind != TRIAL_SHORT || r->end == TRIAL_HOPELESS) continue;
        task t = {.made = r->made, .kind = TRIAL_SHORT};
        fits = trained_epochs(s, &t) == r->epochs;
        if (!fits) break;
    }
    s->share = before;
    return fits;
}

/* The speed of this machine, and from it how long short trainings are. */
static onet_status start_search(search *s, onet_error *err) {
    task first = {.made = s->base_made, .kind = TRIAL_FIRST};
    onet_status status = run_tasks(s, &first, 1, err);
    const trial *row = status ? NULL : trials_find(&s->done, &first.made, TRIAL_FIRST, 0);
    if (status || !row) return status;
    if (row->end == TRIAL_SLOW)
        return fail(err, ONET_FAILED,
                    "the time is too short for these data: not one short training fits; give more time");
    s->per_cost = row->seconds / (row->epochs * space_cost(&row->made));
    s->share = SHARE_OF_TRIALS;
    if (s->how.seconds > 0) {
        set_deadline(s);
        double all = 0, budget = 0.5 * s->deadline * (s->on_gpu ? 1 : s->workers);
        choice_made made;
        for (int i = 0; space_known(&made, i, &s->base_made, s->fixed); i++)
            all += s->per_cost * made.value[S_EPOCHS] * space_cost(&made);
        s->share = 0;
        while (s->share < SHARES - 1 && shares[s->share + 1] * all < budget) s->share++;
    }
    for (int share = 0; share < SHARES; share++) /* a search that is resumed goes on with its own */
        if (share_fits(s, share)) {
            s->share = share;
            break;
        }
    return ONET_OK;
}

/* Several models of the best settings, merged: better on most data. */
static onet_status try_several(search *s, onet_error *err) {
    const config *best = winner(s);
    task list[1];
    int count = 0;
    if (best && !best->whole[0] && !best->asked_whole) { /* only short trainings are known of it */
        ask(s, list, &count, &best->made, TRIAL_WHOLE, 0);
        return run_tasks(s, list, count, err);
    }
    if (!best || s->fixed[S_MODELS] || best->made.value[S_RANKER] != 0 || !best->whole[0] ||
        s->count >= MOST_CONFIGS || s->base.train_vectors)
        return ONET_OK;
    choice_made made = best->made;
    made.value[S_MODELS] = settings[S_MODELS].value[settings[S_MODELS].count - 1];
    s->configs[s->count++] = (config){.made = made, .asked_whole = true, .asked_parts = true};
    ask(s, list, &count, &made, TRIAL_WHOLE, 0);
    return count ? run_tasks(s, list, count, err) : ONET_OK;
}

static onet_status look_for(search *s, onet_error *err) {
    task list[GENERATION + PARTS];
    onet_status status = start_search(s, err);
    /* The last trials: all parts for three finalists, and several models of the best. */
    int most = s->how.trials, spare = most / 3 < 3 * PARTS - 2 ? most / 3 : 3 * PARTS - 2;
    if (spare < 2) spare = 2;
    while (!status && !over(s)) {
        int ran = (int)s->done.count - 1, room = GENERATION;
        if (s->how.seconds > 0 ? now_at(s) > main_share * s->deadline : ran >= most - spare) break;
        if (!(s->how.seconds > 0) && most - spare - ran < room) room = most - spare - ran;
        int count = choose_tasks(s, list, room);
        if (!count) break;
        status = run_tasks(s, list, count, err);
    }
    while (!status && !over(s)) {
        int left = s->how.seconds > 0 ? GENERATION : most - ((int)s->done.count - 1) - 1;
        if (left > GENERATION) left = GENERATION;
        int count = left > 0 ? choose_final(s, list, left) : 0;
        if (!count && left > 0) count = choose_tasks(s, list, left);
        if (!count) break;
        status = run_tasks(s, list, count, err);
    }
    if (!status && !over(s) && s->how.trials) status = try_several(s, err);
    if (!status && !over(s) && (int)s->done.count - 1 < most) { /* it had nothing to try */
        int count = choose_tasks(s, list, 1);
        if (count) status = run_tasks(s, list, count, err);
    }
    return status;
}

/* As many models as the time allows; without a time, several where they were at least as good on the first
 * part. */
static choice_made chosen(const search *s, const config *best) {
    choice_made made = best->made, several = best->made;
    if (s->how.seconds > 0) {
        made.value[S_MODELS] = models_for(s, &made);
        return made;
    }
    several.value[S_MODELS] = settings[S_MODELS].value[settings[S_MODELS].count - 1];
    for (int i = 0; i < s->count; i++)
        if (space_same(&s->configs[i].made, &several) && s->configs[i].whole[0] && best->whole[0] &&
            score_of(s->configs[i].whole[0]) >= score_of(best->whole[0]))
            made = several;
    return made;
}

/* ---- The honest figure -----------------------------------------------------------------------------------
 */

typedef struct estimate {
    search *s;
    const choice_made *made;
    int models; /* of the chosen settings, one per task; the task after them is for the given settings */
    onet_model *model[ONET_MAX_MERGED + 1];
    onet_status status[ONET_MAX_MERGED + 1];
    onet_error err[ONET_MAX_MERGED + 1];
} estimate;

static void estimate_one(void *arg, int number, int thread) {
    estimate *e = arg;
    search *s = e->s;
    (void)thread;
    bool given = number == e->models;
    const choice_made *made = given ? &s->base_made : e->made;
    running r = {.s = s, .started = clock_seconds()};
    onet_train_options o = train_options(s, made, s->on_gpu ? s->threads : s->threads / s->workers);
    if (!given) {
        o.models = 1;
        o.seed += (uint64_t)number;
    }
    o.progress = look;
    o.context = &r;
    e->status[number] = train_one(s, &e->model[number], made, s->rest[TEST], NULL, &o, &e->err[number]);
}

/* What a model that has not seen the test part is worth on it. */
static onet_status compare_test(search *s, const onet_model *model, onet_comparison *test, onet_error *err) {
    onet_compare_options with = {.size = sizeof with,
                                 .seed = s->base.seed,
                                 .threads = s->threads,
                                 .is_ranker = !strcmp(onet_model_kind(model), "ranker")};
    onet_set_measure *each = array_new(s->part[TEST]->count, sizeof *each);
    onet_status status = each ? measure_each(each, s, model, s->part[TEST], s->threads, err)
                              : fail_memory(err, "the measures");
    if (!status) status = onet_compare(test, s->rest[TEST], s->part[TEST], each, &with, err);
    free(each);
    return status;
}

/* The models of one of the two, merged and measured. A stop leaves the figure out. test: the models are
 * compared with simple rules too. */
static onet_status estimate_report(estimate *e, int first, int count, onet_report *report,
                                   onet_comparison *test, onet_error *err) {
    search *s = e->s;
    onet_model *merged = NULL;
    for (int i = first; i < first + count; i++) {
        if (e->status[i] == ONET_INTERRUPTED) return ONET_OK;
        if (e->status[i] && err) *err = e->err[i];
        if (e->status[i]) return e->status[i];
    }
    onet_status status = count == 1 ? ONET_OK
                                    : onet_model_merge(&merged, (const onet_model *const *)e->model + first,
                                                       (size_t)count, err);
    if (!status && merged && s->base.half) status = onet_model_set_half(merged, 1, err);
    const onet_model *model = merged ? merged : e->model[first];
    if (!status)
        status = test ? compare_test(s, model, test, err)
                      : measure(report, s, model, s->part[TEST], s->threads, err);
    onet_model_free(merged);
    return status;
}

/* Trains on all but the test part. */
static onet_status measure_test(search *s, const choice_made *made, onet_tuned *result, onet_error *err) {
    estimate *e = array_new(1, sizeof *e);
    if (!e) return fail_memory(err, "the models");
    int models = (int)made->value[S_MODELS];
    *e = (estimate){.s = s, .made = made, .models = models};
    if (s->how.seconds > 0 && !s->fixed[S_MODELS]) /* of fewer models, where there is no time for all */
        while (e->models > 1 && spent(s) + final_seconds(s, made, models, e->models) > s->how.seconds)
            e->models--;
    result->test_models = e->models;
    int count = space_same(made, &s->base_made) ? e->models : e->models + 1;
    s->deadline = 0; /* the search is over */
    atomic_store(&s->late, false);
    if (!s->on_gpu && s->workers > 1)
        pool_run(s->pool, count, estimate_one, e);
    else
        for (int i = 0; i < count; i++) estimate_one(e, i, 0);
    onet_status status = estimate_report(e, 0, e->models, NULL, &result->test, err);
    if (count == e->models)
        result->test_default = result->test.model;
    else if (!status && estimate_report(e, e->models, 1, &result->test_default, NULL, NULL))
        result->test_default = (onet_report){0};
    for (int i = 0; i < count; i++) {
        note_kernels(s, e->model[i]);
        onet_model_free(e->model[i]);
    }
    free(e);
    return status;
}

/* ---- Start and end ---------------------------------------------------------------------------------------
 */

/* Data, seed and options: trials of other ones are not those of this search. */
static void name_search(search *s) {
    sha256 sum;
    char hex[65];
    const onet_sets *d = s->sets;
    size_t items = d->start[d->count] - d->start[0];
    sha256_start(&sum);
    sha256_add(&sum, d->start, (d->count + 1) * sizeof *d->start);
    if (d->items) sha256_add(&sum, d->items, items * (size_t)d->width * sizeof *d->items);
    if (d->word) sha256_add(&sum, d->word, items * sizeof *d->word);
    sha256_add(&sum, d->order, items * sizeof *d->order);
    if (d->context) sha256_add(&sum, d->context, items);
    for (size_t i = 0; i < d->count && d->pairs; i++) {
        size_t n = sets_size(d, i), first = d->start[i];
        for (size_t k = first; k < first + n; k++)
            sha256_add(&sum, sets_pairs(d, k), n * (size_t)d->pairs->width * sizeof(float));
    }
    sha256_add(&sum, s->part_of, d->count);
    sha256_add(&sum, &s->base.seed, sizeof s->base.seed);
    sha256_add(&sum, s->base_made.value, sizeof s->base_made.value);
    sha256_hex(&sum, hex);
    snprintf(s->done.search, sizeof s->done.search, "%.16s", hex);
    memcpy(s->memo.search, s->done.search, sizeof s->memo.search);
}

/* What the caller has set to another value than the default stays so. */
static void fix_settings(search *s) {
    onet_train_options plain;
    choice_made defaults;
    onet_train_defaults(&plain, sizeof plain);
    space_read(&defaults, &plain);
    space_read(&s->base_made, &s->base);
    for (int i = 0; i < SETTINGS; i++)
        s->fixed[i] =
            s->base_made.value[i] != defaults.value[i] || (settings[i].numbers && s->sets->word) ||
            settings[i].at + (settings[i].kind == SPACE_INT ? sizeof(int) : sizeof(double)) > s->given;
    static const int of_net[] = {S_SCALE,  S_WITHIN,      S_RELATIVE, S_POOL,       S_ENCODER,
                                 S_HIDDEN, S_ENCODER_OUT, S_DECODER,  S_DECODER_OUT};
    for (size_t i = 0; s->base.from && i < sizeof of_net / sizeof *of_net; i++)
        s->fixed[of_net[i]] = true; /* the net is given */
    s->fixed[S_RANKER] = s->base.from || s->base.train_vectors || s->base.half || s->fixed[S_MODELS];
}

static onet_status open_search(search *s, onet_error *err) {
    if (!(s->how.seconds > 0) == !(s->how.trials > 0))
        return fail(err, ONET_USAGE, "onet_tune needs a budget: a time, or a number of trials of 4 or more");
    if (s->how.trials && s->how.trials < 4)
        return fail(err, ONET_USAGE, "%d trials are too few to choose by: 4 at least", s->how.trials);
    onet_status status = train_check_options(&s->base, err);
    if (!status) status = train_check_sets(s->sets, NULL, &s->base, err);
    if (!status) status = divide(s, err);
    if (!status) status = take_parts(s, err);
    if (status) return status;
    fix_settings(s);
    name_search(s);
    if (s->how.path && s->how.resume) status = trials_read(&s->memo, s->how.path, err);
    for (size_t i = 0; i < s->memo.count && !status; i++) {
        s->offset = fmax(s->offset, s->memo.row[i].at);
        if (s->memo.row[i].part >= PARTS)
            status = fail(err, ONET_BAD, "%s: trial %zu is of a part that is not there", s->how.path, i + 1);
    }
    if (status) return status;
    s->configs = array_new(MOST_CONFIGS, sizeof *s->configs);
    s->pool = pool_new(s->base.threads);
    if (!s->configs || !s->pool) return fail_memory(err, "the search");
    s->threads = pool_threads(s->pool);
    s->workers = s->threads < GENERATION ? s->threads : GENERATION;
    if (s->workers < s->threads) {
        pool_free(s->pool);
        if (!(s->pool = pool_new(s->workers))) return fail_memory(err, "the search");
    }
    return ONET_OK;
}

static void close_search(search *s) {
    onet_sets_free(s->glanced);
    for (int p = 0; p <= TEST; p++) {
        onet_sets_free(s->part[p]);
        onet_sets_free(s->rest[p]);
    }
    free(s->part_of);
    free(s->configs);
    trials_free(&s->done);
    trials_free(&s->memo);
    pool_free(s->pool);
}

static onet_status end_search(search *s, onet_train_options *options, onet_tuned *result, onet_error *err) {
    const config *best = winner(s);
    bool stopped = atomic_load(&s->stop);
    if (!best && stopped) return fail(err, ONET_INTERRUPTED, "stopped before a trial had ended");
    if (!best)
        return fail(err, ONET_FAILED, "no trial ended in the time given: give more time, or less data");
    onet_tuned found = {.trials = (int)s->done.count - 1, .new_trials = s->new_trials, .stopped = stopped};
    choice_made made = chosen(s, best);
    fill_tried(s, best, &found.best);
    space_text(found.settings, sizeof found.settings, &made, &s->base_made);
    found.seconds = now_at(s);
    found.ranker = made.value[S_RANKER] > 0;
    onet_status status = stopped ? ONET_OK : measure_test(s, &made, &found, err);
    if (status) return status;
    found.stopped = atomic_load(&s->stop);
    snprintf(found.kernels, sizeof found.kernels, "%s", s->kernels);
    space_write(&made, options);
    *result = found;
    return ONET_OK;
}

void onet_tune_defaults(onet_tune_options *options, size_t size) {
    onet_tune_options own = {.size = sizeof own, .seconds = 300};
    sized_give(options, size, &own, sizeof own);
}

onet_status onet_tune(onet_train_options *options, onet_tuned *result, const onet_sets *sets,
                      const onet_tune_options *how, onet_error *err) {
    NEED(options, "options");
    NEED(result, "result");
    search s = {.sets = sets, .given = options->size, .busy = ATOMIC_FLAG_INIT};
    onet_train_defaults(&s.base, sizeof s.base);
    onet_tune_defaults(&s.how, sizeof s.how);
    onet_status status = sized_take(&s.base, sizeof s.base, options, "onet_train_options", err);
    if (!status) status = sized_take(&s.how, sizeof s.how, how, "onet_tune_options", err);
    if (!status && s.base.size < sizeof s.base) /* the caller's fields end before */
        s.base.size = sizeof s.base;
    if (!status && s.how.trials > 0) s.how.seconds = 0;
    if (!status && s.base.world)
        status = fail(err, ONET_USAGE, "onet_tune tries settings in one process: leave out the other ranks");
    s.started = clock_seconds();
    if (!status) status = open_search(&s, err);
    if (!status) status = look_for(&s, err);
    if (!status) {
        onet_train_options out = s.base;
        status = end_search(&s, &out, result, err);
        if (!status) {
            size_t size = options->size;
            memcpy(options, &out, size < sizeof out ? size : sizeof out);
            options->size = size;
        }
    }
    close_search(&s);
    return status;
}
