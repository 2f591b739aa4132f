/* Implements onet_tune, the search for settings from start to end: has the sets divided, runs generations of
 * trials by successive halving over the settings of space.c, decides how many models of the best to merge,
 * has that choice measured, and returns it. What is tried next follows from the results and times of the
 * trials before, so a resumed search replays its old trials as if it had just run them. */
#include "ordernet_tune.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/arguments.h"
#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/sha256.h"
#include "engine/base/sized.h"
#include "engine/data/sets.h"
#include "engine/train/options.h"
#include "engine/tune/tuner.h"

enum { SHARE_OF_TRIALS = 3 /* index of tune_shares, with a number of trials */ };

static const double main_share = 0.75; /* of the search's time; the rest is for the finalists */

/* Whether the short trainings of an earlier call had this share of epochs; false if there are none. */
static bool share_fits(tuner *s, int share) {
    int before = s->share;
    bool fits = false;
    s->share = share;
    for (size_t i = 0; i < s->memo.count; i++) {
        const trial *r = &s->memo.row[i];
        if (r->kind != TRIAL_SHORT || r->end == TRIAL_HOPELESS) continue;
        asked_trial t = {.made = r->made, .kind = TRIAL_SHORT};
        fits = tune_epochs(s, &t) == r->epochs;
        if (!fits) break;
    }
    s->share = before;
    return fits;
}

/* Measures the speed of this machine, and chooses from it how long short trainings are. */
static onet_status start_search(tuner *s, onet_error *err) {
    asked_trial first = {.made = s->base_made, .kind = TRIAL_FIRST};
    onet_status status = tune_run(s, &first, 1, err);
    const trial *row = status ? NULL : trials_find(&s->done, &first.made, TRIAL_FIRST, 0);
    if (status || !row) return status;
    if (row->end == TRIAL_SLOW)
        return fail(err, ONET_FAILED,
                    "the time is too short for these data: not one short training fits; give more time");
    s->per_cost = row->seconds / (row->epochs * tune_cost(s, &row->made));
    s->share = SHARE_OF_TRIALS;
    if (s->how.seconds > 0) {
        tune_set_deadline(s);
        double all = 0, budget = 0.5 * s->deadline * (s->on_gpu ? 1 : s->workers);
        choice_made made;
        for (int i = 0; space_known(&made, i, &s->base_made, s->fixed); i++)
            all += s->per_cost * made.value[S_EPOCHS] * tune_cost(s, &made);
        s->share = 0;
        while (s->share < SHARES - 1 && tune_shares[s->share + 1] * all < budget) s->share++;
    }
    for (int share = 0; share < SHARES; share++) /* a search that is resumed goes on with its own */
        if (share_fits(s, share)) {
            s->share = share;
            break;
        }
    return ONET_OK;
}

/* Returns the settings of `best` with `models` merged models; how these vary is chosen here, unless the user
 * has fixed it. */
static choice_made several_of(const tuner *s, const config *best, int models) {
    choice_made made = best->made;
    made.value[S_MODELS] = models;
    if (models > 1 && !s->fixed[S_VARY]) made.value[S_VARY] = tune_variation(s, best);
    return made;
}

/* Tries several merged models of the best settings, which are better on most data. */
static onet_status try_several(tuner *s, onet_error *err) {
    const config *best = tune_winner(s);
    asked_trial list[1];
    int count = 0;
    if (best && !best->whole[0] && !best->asked_whole) { /* only short trainings of it have been tried */
        tune_ask(s, list, &count, &best->made, TRIAL_WHOLE, 0);
        return tune_run(s, list, count, err);
    }
    if (!best || s->fixed[S_MODELS] || best->made.value[S_RANKER] != 0 || !best->whole[0] ||
        s->count >= MOST_CONFIGS || s->base.train_vectors)
        return ONET_OK;
    choice_made made =
        several_of(s, best, (int)tuned_settings[S_MODELS].value[tuned_settings[S_MODELS].count - 1]);
    s->configs[s->count++] = (config){.made = made, .asked_whole = true, .asked_parts = true};
    tune_ask(s, list, &count, &made, TRIAL_WHOLE, 0);
    return count ? tune_run(s, list, count, err) : ONET_OK;
}

static onet_status look_for(tuner *s, onet_error *err) {
    asked_trial list[GENERATION + PARTS];
    onet_status status = start_search(s, err);
    /* Trials kept for the end: other features for the best, all parts for three finalists, and several models
     * of the best. */
    int most = s->how.trials, spare = most / 3 < 3 * PARTS + 1 ? most / 3 : 3 * PARTS + 1;
    if (spare < 2) spare = 2;
    while (!status && !tune_over(s)) {
        int ran = (int)s->done.count - 1, room = GENERATION;
        if (s->how.seconds > 0 ? tune_now(s) > main_share * s->deadline : ran >= most - spare) break;
        if (!(s->how.seconds > 0) && most - spare - ran < room) room = most - spare - ran;
        int count = tune_next(s, list, room);
        if (!count) break;
        status = tune_run(s, list, count, err);
    }
    while (!status && !tune_over(s)) {
        int left = s->how.seconds > 0 ? GENERATION : most - ((int)s->done.count - 1) - 1;
        if (left > GENERATION) left = GENERATION;
        int count = left > 0 ? tune_last(s, list, left) : 0;
        if (!count && left > 0) count = tune_next(s, list, left);
        if (!count) break;
        status = tune_run(s, list, count, err);
    }
    if (!status && !tune_over(s) && s->how.trials) status = try_several(s, err);
    if (!status && !tune_over(s) && (int)s->done.count - 1 < most) { /* try_several had nothing to try */
        int count = tune_next(s, list, 1);
        if (count) status = tune_run(s, list, count, err);
    }
    return status;
}

/* Returns the best settings with as many models as the time allows; without a time limit several, unless they
 * are a point behind on the first part: on most data they are better, which one part may be too small to show
 * (experiments/own). */
static choice_made chosen(const tuner *s, const config *best) {
    choice_made made = best->made;
    if (s->how.seconds > 0) return several_of(s, best, tune_models(s, &made));
    choice_made several =
        several_of(s, best, (int)tuned_settings[S_MODELS].value[tuned_settings[S_MODELS].count - 1]);
    for (int i = 0; i < s->count; i++)
        if (space_same(&s->configs[i].made, &several) && s->configs[i].whole[0] && best->whole[0] &&
            is_as_good(tune_score(s->configs[i].whole[0]), tune_score(best->whole[0])))
            made = several;
    return made;
}

/* Names the search by a hash of data, seed and options: trials with another name are refused. */
static void name_search(tuner *s) {
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
    sha256_add(&sum, s->fixed, sizeof s->fixed);
    sha256_hex(&sum, hex);
    snprintf(s->done.search, sizeof s->done.search, "%.16s", hex);
    memcpy(s->memo.search, s->done.search, sizeof s->memo.search);
}

/* Whether a list of names with commas between them has this one. */
static bool has_name(const char *list, const char *name) {
    size_t length = strlen(name);
    for (const char *at = list; at && *at; at += strspn(at, ",")) {
        size_t here = strcspn(at, ",");
        if (here == length && !memcmp(at, name, length)) return true;
        at += here;
    }
    return false;
}

/* Fixes settings that the caller has set to another value than the default, or named in how->keep, and those
 * that do not apply. */
static void fix_settings(tuner *s) {
    onet_train_options plain;
    choice_made defaults;
    onet_train_defaults(&plain, sizeof plain);
    space_read(&defaults, &plain);
    space_read(&s->base_made, &s->base);
    for (int i = 0; i < TUNED_SETTINGS; i++)
        s->fixed[i] =
            s->base_made.value[i] != defaults.value[i] || (tuned_settings[i].numbers && s->sets->word) ||
            tuned_settings[i].at + (tuned_settings[i].kind == SPACE_INT ? sizeof(int) : sizeof(double)) >
                s->given;
    static const int of_net[] = {S_SCALE,  S_WITHIN,      S_RELATIVE, S_POOL,        S_ENCODER,
                                 S_HIDDEN, S_ENCODER_OUT, S_DECODER,  S_DECODER_OUT, S_VARY};
    for (size_t i = 0; s->base.from && i < sizeof of_net / sizeof *of_net; i++)
        s->fixed[of_net[i]] = true; /* the net is given */
    s->fixed[S_RANKER] = s->base.from || s->base.train_vectors || s->base.half || s->fixed[S_MODELS];
    for (int i = 0; i < TUNED_SETTINGS; i++) /* after S_RANKER: a ranker is one model too */
        s->fixed[i] |= has_name(s->how.keep, tuned_settings[i].name);
}

/* Computes what the crops save on these sets; if no set is larger than the smallest crop, they are not tried.
 */
static void look_at_sizes(tuner *s) {
    static const double growth = 1.76; /* exponent of a step's time in the items of a set: docs/speed.md,
                                        * Growth */
    const tuned_setting *crop = &tuned_settings[S_CROP];
    double whole = 0;
    for (size_t i = 0; i < s->sets->count; i++) {
        double n = (double)sets_size(s->sets, i);
        whole += pow(n, growth);
        if (n > s->largest) s->largest = n;
        for (int v = 0; v < crop->count; v++)
            s->crop_cost[v] += pow(crop->value[v] > 0 && crop->value[v] < n ? crop->value[v] : n, growth);
    }
    for (int v = 0; v < crop->count; v++) s->crop_cost[v] /= whole;
    s->fixed[S_CROP] |= s->largest <= crop->value[1];
}

static onet_status open_search(tuner *s, onet_error *err) {
    if (!(s->how.seconds > 0) == !(s->how.trials > 0))
        return fail(err, ONET_USAGE, "onet_tune needs a budget: a time, or a number of trials of 4 or more");
    if (s->how.trials && s->how.trials < 4)
        return fail(err, ONET_USAGE, "%d trials are too few to choose by: 4 at least", s->how.trials);
    onet_status status = train_check_options(&s->base, err);
    if (!status) status = train_check_sets(s->sets, NULL, &s->base, err);
    if (!status) status = train_check_vary(s->sets, &s->base, err);
    if (!status) status = tune_divide(s, err);
    if (!status) status = tune_take_parts(s, err);
    if (status) return status;
    fix_settings(s);
    look_at_sizes(s);
    name_search(s);
    if (s->how.path && s->how.resume) status = trials_read(&s->memo, s->how.path, err);
    for (size_t i = 0; i < s->memo.count && !status; i++) {
        s->offset = fmax(s->offset, s->memo.row[i].at);
        if (s->memo.row[i].part >= PARTS)
            status = fail(err, ONET_BAD, "%s: trial %zu is of a part that is not there", s->how.path, i + 1);
    }
    if (status) return status;
    s->configs = array_new(MOST_CONFIGS, sizeof *s->configs);
    s->thread_pool = thread_pool_new(s->base.threads);
    if (!s->configs || !s->thread_pool) return fail_memory(err, "the search");
    s->threads = thread_pool_threads(s->thread_pool);
    s->workers = s->threads < GENERATION ? s->threads : GENERATION;
    if (s->workers < s->threads) {
        thread_pool_free(s->thread_pool);
        if (!(s->thread_pool = thread_pool_new(s->workers))) return fail_memory(err, "the search");
    }
    return ONET_OK;
}

static void close_search(tuner *s) {
    onet_sets_free(s->glanced);
    for (int p = 0; p <= TEST; p++) {
        onet_sets_free(s->part[p]);
        onet_sets_free(s->rest[p]);
    }
    free(s->part_of);
    free(s->configs);
    trials_free(&s->done);
    trials_free(&s->memo);
    thread_pool_free(s->thread_pool);
}

static onet_status end_search(tuner *s, onet_train_options *options, onet_tuned *result, onet_error *err) {
    const config *best = tune_winner(s);
    bool stopped = atomic_load(&s->stop);
    if (!best && stopped) return fail(err, ONET_INTERRUPTED, "stopped before a trial had ended");
    if (!best)
        return fail(err, ONET_FAILED, "no trial ended in the time given: give more time, or less data");
    onet_tuned found = {.trials = (int)s->done.count - 1, .new_trials = s->new_trials, .stopped = stopped};
    choice_made made = chosen(s, best);
    tune_fill_tried(s, best, &found.best);
    space_text(found.settings, sizeof found.settings, &made, &s->base_made);
    found.seconds = tune_now(s);
    found.ranker = made.value[S_RANKER] > 0;
    onet_status status = stopped ? ONET_OK : tune_estimate(s, &made, &found, err);
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
    tuner s = {.sets = sets, .given = options->size, .busy = ATOMIC_FLAG_INIT};
    onet_train_defaults(&s.base, sizeof s.base);
    onet_tune_defaults(&s.how, sizeof s.how);
    onet_status status = sized_take(&s.base, sizeof s.base, options, "onet_train_options", err);
    if (!status) status = sized_take(&s.how, sizeof s.how, how, "onet_tune_options", err);
    if (!status && s.base.size < sizeof s.base) /* the caller's struct is shorter */
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
