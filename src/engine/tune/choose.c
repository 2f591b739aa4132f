/* Chooses, during a search for settings, which are the best so far and which trials come next (successive
 * halving; known settings first, then changes of the best), and how many models to merge; predicts how long
 * trials and the final trainings take, to keep to the time budget; reports progress. */
#include <math.h>
#include <stdlib.h>

#include "engine/base/memory.h"
#include "engine/base/rng.h"
#include "engine/train/train.h"
#include "engine/tune/tuner.h"

enum {
    HALVING = 3, /* one of so many goes on */
    SHOWN_ROWS = 8,
    FINALISTS = 3
};

/* By how much settings of a lower level must be better on one part: nets that differ little differ there by
 * chance, in routes of 825 sets by 0.03. */
static const double BEYOND_RANKER = 0.01, BEYOND_NET = 0.05;

/* How much lower settings with other derived features (ranks within the set, relative features) may score on
 * the first part and still supply one of four merged models (experiments/own, *Models that see other
 * features*). */
static const double NEARLY = 0.05;

static const double final_share = 0.5; /* of all time: what the last trainings may take */

/* The likelihood counts each step of each set, so it varies less by chance than exact match. */
double tune_score(const trial *r) {
    return (r->exact + r->neighbours + r->tau + exp(r->loglik)) / 4;
}

config *tune_find(const tuner *s, const choice_made *made) {
    for (int i = 0; i < s->count; i++)
        if (space_same(&s->configs[i].made, made)) return &s->configs[i];
    return NULL;
}

/* Whether a config has reached a level: 1: a short training, 2: a whole one measured on the first part, 3: on
 * all parts. */
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
    if (level == 1) return tune_score(c->brief);
    if (level == 2) return tune_score(c->whole[0]);
    double sum = 0;
    for (int p = 0; p < PARTS; p++) sum += tune_score(c->whole[p]);
    return sum / PARTS;
}

/* Lists the configs that have reached a level, best first; equal ones in the order in which they were found.
 * Returns their number. */
static int ranking(const tuner *s, int level, int *index) {
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

void tune_fill_tried(const tuner *s, const config *c, onet_tried *t) {
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

/* Returns the best known settings, unless the best of all lead clearly: of many random settings, the best
 * owes a part of its lead to chance. */
static const config *prefer_known(const tuner *s, const config *best, const int *index, int there) {
    const config *known = NULL;
    for (int i = 0; i < there && !known; i++)
        if (s->configs[index[i]].known) known = &s->configs[index[i]];
    if (!known) return best;
    double lead[PARTS];
    for (int p = 0; p < PARTS; p++) lead[p] = tune_score(best->whole[p]) - tune_score(known->whole[p]);
    return is_clear_lead(lead, PARTS) ? best : known;
}

/* Whether a puts as many sets, neighbours and pairs right as b on every part. */
static bool is_as_right(const config *a, const config *b) {
    for (int p = 0; p < PARTS; p++)
        if (a->whole[p]->exact < b->whole[p]->exact || a->whole[p]->neighbours < b->whole[p]->neighbours ||
            a->whole[p]->tau < b->whole[p]->tau)
            return false;
    return true;
}

/* Returns the cheapest settings that are as right as the best: if all of them are 100% right, the ranker or a
 * small net will do, although a deep one has a better likelihood. */
static const config *prefer_cheap(const tuner *s, const config *best, const int *index, int there) {
    double least = INFINITY;
    const config *cheap = best;
    for (int i = 0; i < there; i++) {
        const config *c = &s->configs[index[i]];
        double cost = c->made.value[S_RANKER] > 0 ? 0 : tune_cost(s, &c->made) * c->made.value[S_EPOCHS];
        if (!is_as_right(c, best) || cost >= least) continue;
        least = cost;
        cheap = c;
    }
    return cheap;
}

/* Returns the best of the highest level, unless settings of a lower level, which one part has measured, did
 * clearly better on it: the ranker reaches every level while the nets of large data are still at the first.
 */
const config *tune_winner(const tuner *s) {
    int *index = array_new(MOST_CONFIGS, sizeof *index);
    const config *best = NULL;
    for (int level = 3; index && level >= 1; level--) {
        int there = ranking(s, level, index), i = 0;
        while (i < there && level_of(&s->configs[index[i]]) != level) i++;
        if (i == there) continue;
        const config *c = &s->configs[index[i]];
        if (level == 3) c = prefer_cheap(s, prefer_known(s, c, index, there), index, there);
        double clear = best && best->made.value[S_RANKER] > 0 ? BEYOND_RANKER : BEYOND_NET;
        if (!best || mean_score(c, level) > tune_score(best->whole[0]) + clear) best = c;
    }
    free(index);
    return best;
}

/* Returns the settings with ranks within the set, or relative features, switched. */
static choice_made with_other_features(const choice_made *made, onet_variation other) {
    choice_made c = *made;
    int s = other == ONET_VARY_WITHIN ? S_WITHIN : S_RELATIVE;
    c.value[s] = 1 - c.value[s];
    return c;
}

/* Whether the search may merge several models of these settings that see different features. */
static bool may_vary(const tuner *s, const config *best, onet_variation other) {
    return best->made.value[S_RANKER] == 0 && !s->fixed[S_VARY] && !s->fixed[S_MODELS] &&
           !s->fixed[other == ONET_VARY_WITHIN ? S_WITHIN : S_RELATIVE];
}

static bool is_nearly_as_good(const tuner *s, const config *best, onet_variation other) {
    choice_made made = with_other_features(&best->made, other);
    const config *c = may_vary(s, best, other) ? tune_find(s, &made) : NULL;
    if (!c || c->out) return false;
    if (c->whole[0] && best->whole[0]) return tune_score(c->whole[0]) > tune_score(best->whole[0]) - NEARLY;
    return c->brief && best->brief && tune_score(c->brief) > tune_score(best->brief) - NEARLY;
}

onet_variation tune_variation(const tuner *s, const config *best) {
    return is_nearly_as_good(s, best, ONET_VARY_WITHIN)     ? ONET_VARY_WITHIN
           : is_nearly_as_good(s, best, ONET_VARY_RELATIVE) ? ONET_VARY_RELATIVE
                                                            : ONET_VARY_NOTHING;
}

/* Lists the winner, then the best of each level, the highest level first; returns how many. */
static int best_rows(const tuner *s, onet_tried *row, int most) {
    int *index = array_new(MOST_CONFIGS, sizeof *index), count = 0;
    const config *first = tune_winner(s);
    if (!index) return 0;
    if (first) tune_fill_tried(s, first, &row[count++]);
    for (int level = 3; level >= 1; level--) {
        int there = ranking(s, level, index);
        for (int i = 0; i < there && count < most; i++)
            if (level_of(&s->configs[index[i]]) == level && &s->configs[index[i]] != first)
                tune_fill_tried(s, &s->configs[index[i]], &row[count++]);
    }
    free(index);
    return count;
}

void tune_report_progress(tuner *s) {
    if (!s->how.progress) return;
    onet_tried row[SHOWN_ROWS];
    onet_tune_progress now = {.trials = s->done.count ? (int)s->done.count - 1 : 0,
                              .most = s->how.trials,
                              .seconds = tune_spent(s),
                              .seconds_left =
                                  s->how.seconds > 0 ? fmax(0, s->how.seconds - tune_spent(s)) : (double)NAN,
                              .tried = row};
    now.count = best_rows(s, row, SHOWN_ROWS);
    if (s->how.progress(s->how.context, &now)) atomic_store(&s->stop, true);
}

double tune_cost(const tuner *s, const choice_made *made) {
    const tuned_setting *crop = &tuned_settings[S_CROP];
    double share = 1; /* for a crop that the caller gave: all trials have it */
    for (int i = 0; i < crop->count && !s->fixed[S_CROP]; i++)
        if (crop->value[i] == made->value[S_CROP]) share = s->crop_cost[i];
    return share * space_cost(made);
}

/* Predicts the seconds that a trial takes on one thread: from a trial of the same settings, for any number of
 * epochs, else from the net's size. */
static double predict(const tuner *s, const choice_made *made, int epochs) {
    for (size_t i = s->done.count; i-- > 0;) {
        const trial *r = &s->done.row[i];
        choice_made same = r->made;
        same.value[S_EPOCHS] = made->value[S_EPOCHS];
        if (r->kind != TRIAL_FIRST && r->end == TRIAL_ENDED && space_same(&same, made))
            return r->seconds * epochs / r->epochs;
    }
    if (made->value[S_RANKER] > 0) epochs = 2; /* it takes about as long */
    return s->per_cost * epochs * tune_cost(s, made);
}

double tune_now(const tuner *s) {
    double at = 0;
    for (size_t i = 0; i < s->done.count; i++) at = fmax(at, s->done.row[i].at);
    return at;
}

double tune_final_seconds(const tuner *s, const choice_made *made, int models, int measured) {
    double sets = (double)s->rest[0]->count, without = (double)s->rest[TEST]->count / sets,
           all = (double)s->sets->count / sets;
    choice_made single = *made;
    if (!s->fixed[S_MODELS]) single.value[S_MODELS] = 1;
    if (!s->fixed[S_VARY]) single.value[S_VARY] = ONET_VARY_NOTHING;
    double one = predict(s, &single, (int)made->value[S_EPOCHS]),
           base = s->per_cost * s->base_made.value[S_EPOCHS] * tune_cost(s, &s->base_made);
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

double tune_final_limit(const tuner *s) {
    return fmax(final_share * s->how.seconds, tune_final_seconds(s, &s->base_made, 1, 1));
}

int tune_models(const tuner *s, const choice_made *made) {
    const tuned_setting *models = &tuned_settings[S_MODELS];
    int most = (int)models->value[models->count - 1], count = (int)made->value[S_MODELS];
    if (s->fixed[S_MODELS] || made->value[S_RANKER] > 0 || s->base.train_vectors) return count;
    while (most > count && tune_final_seconds(s, made, most, 1) > final_share * s->how.seconds) most--;
    return most;
}

static double reserve_for(const tuner *s, const choice_made *made) {
    int models = tune_models(s, made);
    double all =
        tune_final_seconds(s, made, models, models); /* if that is little, all of them are measured */
    return all < 0.15 * s->how.seconds ? all : tune_final_seconds(s, made, models, 1);
}

void tune_set_deadline(tuner *s) {
    if (!(s->how.seconds > 0)) return;
    const config *best = tune_winner(s);
    s->deadline = s->how.seconds - reserve_for(s, best ? &best->made : &s->base_made);
    if (s->deadline < 0.3 * s->how.seconds) s->deadline = 0.3 * s->how.seconds;
}

bool tune_ask(tuner *s, asked_trial *list, int *count, const choice_made *made, trial_kind kind, int part) {
    asked_trial t = {.made = *made, .kind = kind, .part = part};
    t.predicted = predict(s, made, tune_epochs(s, &t));
    if (s->how.seconds > 0) {
        double all = t.predicted;
        for (int i = 0; i < *count; i++) all += list[i].predicted;
        double end = tune_now(s) + fmax(t.predicted, all / (s->on_gpu ? 1 : s->workers));
        if (end > s->deadline || tune_final_seconds(s, made, 1, 1) > tune_final_limit(s) ||
            end + tune_final_seconds(s, made, 1, 1) > s->how.seconds)
            return false;
    }
    list[(*count)++] = t;
    return true;
}

/* Lists the nets that have reached a level, best first; returns how many. */
static int parents(const tuner *s, int level, int *index) {
    int there = ranking(s, level, index), nets = 0;
    for (int i = 0; i < there; i++)
        if (s->configs[index[i]].made.value[S_RANKER] == 0) index[nets++] = index[i];
    return nets;
}

/* Takes fewer epochs if the last trainings would take too long. */
static void fit_epochs(const tuner *s, choice_made *made) {
    const tuned_setting *epochs = &tuned_settings[S_EPOCHS];
    if (!(s->how.seconds > 0) || s->fixed[S_EPOCHS] || made->value[S_RANKER] > 0) return;
    for (int i = epochs->count - 1; i >= 0; i--)
        if (epochs->value[i] < made->value[S_EPOCHS] &&
            tune_final_seconds(s, made, 1, 1) > tune_final_limit(s))
            made->value[S_EPOCHS] = epochs->value[i];
}

/* Gives equal settings one form, so that they are not tried twice: the default pool is AUTO, and a crop that
 * no set reaches is 0. */
static void name_alike(const tuner *s, choice_made *made) {
    double *own = &made->value[S_POOL];
    if (!s->fixed[S_POOL] && *own == (int)train_pool(ONET_POOL_AUTO, s->sets->count)) *own = ONET_POOL_AUTO;
    if (!s->fixed[S_CROP] && made->value[S_CROP] >= s->largest) made->value[S_CROP] = 0;
}

/* Finds settings that have not been tried: the next known ones, else a change of good ones; returns false if
 * there are none. */
static bool new_config(tuner *s, int *index, choice_made *made, bool *known) {
    *known = true;
    while (space_known(made, s->known, &s->base_made, s->fixed)) {
        s->known++;
        fit_epochs(s, made);
        name_alike(s, made);
        if (!tune_find(s, made)) return true;
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
        name_alike(s, made);
        if (!tune_find(s, made)) return true;
    }
    return false;
}

/* Asks for trials on the other parts, for settings that did well on the first. */
static void ask_parts(tuner *s, config *c, asked_trial *list, int *count) {
    c->asked_parts = true;
    for (int p = 1; p < PARTS; p++)
        if (!tune_ask(s, list, count, &c->made, TRIAL_WHOLE, p)) return;
}

/* If the best settings have reached this level, asks for one whole trial of them, on the first part, with
 * ranks within the set switched; if that scores far lower, with relative features switched. Skipped if there
 * is time for one model only, or for few trials. */
static void ask_other_features(tuner *s, int level, asked_trial *list, int *count, int most) {
    static const onet_variation others[] = {ONET_VARY_WITHIN, ONET_VARY_RELATIVE};
    const config *best = tune_winner(s);
    if (!best || level_of(best) < level) return;
    if (s->how.trials ? most < GENERATION : tune_models(s, &best->made) < 2) return;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (!may_vary(s, best, others[i])) continue;
        choice_made made = with_other_features(&best->made, others[i]);
        config *c = tune_find(s, &made);
        if (!c && s->count < MOST_CONFIGS) *(c = &s->configs[s->count++]) = (config){.made = made};
        if (!c) return;
        if (!c->out && !c->asked_whole) {
            c->asked_whole = true;
            if (tune_ask(s, list, count, &made, TRIAL_WHOLE, 0)) return;
        }
        if (is_nearly_as_good(s, best, others[i])) return;
    }
}

int tune_next(tuner *s, asked_trial *list, int most) {
    int *index = array_new(MOST_CONFIGS, sizeof *index), count = 0;
    if (!index) return 0;
    ask_other_features(s, 3, list, &count, most);
    int there = ranking(s, 2, index);
    for (int i = 0; i < there / HALVING && count < most; i++)
        if (!s->configs[index[i]].asked_parts && count + PARTS - 1 <= most)
            ask_parts(s, &s->configs[index[i]], list, &count);
    there = s->share < SHARES - 1 ? ranking(s, 1, index) : 0;
    for (int i = 0; i < there / HALVING && count < most; i++) {
        config *c = &s->configs[index[i]];
        if (c->asked_whole) continue;
        c->asked_whole = true;
        tune_ask(s, list, &count, &c->made, TRIAL_WHOLE, 0);
    }
    for (int misses = 0; count < most && misses < 50;) {
        choice_made made;
        bool known;
        if (!new_config(s, index, &made, &known)) break;
        config *c = &s->configs[s->count++];
        bool whole = s->share == SHARES - 1 || made.value[S_RANKER] > 0; /* the ranker knows no epochs */
        *c = (config){.made = made, .known = known, .asked_whole = whole};
        if (!tune_ask(s, list, &count, &made, c->asked_whole ? TRIAL_WHOLE : TRIAL_SHORT, 0)) misses++;
    }
    free(index);
    return count;
}

int tune_last(tuner *s, asked_trial *list, int most) {
    int *index = array_new(MOST_CONFIGS, sizeof *index), count = 0;
    if (!index) return 0;
    const config *best = tune_winner(s);
    for (int i = 0; i < s->count; i++)
        if (&s->configs[i] == best && !best->asked_whole) {
            s->configs[i].asked_whole = true;
            tune_ask(s, list, &count, &best->made, TRIAL_WHOLE, 0);
        }
    ask_other_features(s, 1, list, &count, most);
    if (ranking(s, 2, index) < FINALISTS) {
        int there = ranking(s, 1, index);
        for (int i = 0; i < there && i < FINALISTS && count < most; i++) {
            config *c = &s->configs[index[i]];
            if (c->asked_whole) continue;
            c->asked_whole = true;
            tune_ask(s, list, &count, &c->made, TRIAL_WHOLE, 0);
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
