/* Compares a model with guessing, the best single feature and the linear ranker on the same sets, tests which
 * is better beyond chance, and writes the conclusion. Feature and ranker are chosen on training sets or,
 * without these, by cross-validation. Tests count equal sets as one. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/arguments.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/number.h"
#include "engine/base/rng.h"
#include "engine/base/shown.h"
#include "engine/base/sized.h"
#include "engine/data/columns.h"
#include "engine/data/divide.h"
#include "engine/data/doubles.h"
#include "engine/data/pick.h"
#include "engine/data/sets.h"
#include "engine/decode/encode.h"
#include "engine/evaluate/mean.h"
#include "engine/evaluate/measure.h"
#include "engine/train/train.h"
#include "ordernet_train.h"

enum {
    FOLDS = 5,
    MOST_FOLDS = 1000,
    MANY = 1000,  /* above so many right sets their number is taken for normal */
    TOO_FEW = 30, /* fewer sets may hide a good model */
    FEW = 8,      /* with fewer sets the distribution of tau is not normal */
    PAIRS = 6     /* with fewer sets even one sign of all differences is within chance: 2 / 2^5 > 5% */
};
/* A rule is better than guessing if random orders do as well in less than one comparison of a thousand. */
#define CHANCE   0.001
#define NORMAL_1 3.090232306167813 /* the same for a normal variable */
/* A model that is ahead of a simple rule by more than this in exact match, or in tau where that is the same,
 * though within chance, is not called as good as the rule. */
#define AHEAD 0.02
/* If more than this share of the sets was used in training, or has constraints, nothing is concluded in
 * favour of the model. */
#define LEARNED 0.1
/* Most values that are used to choose a feature. */
#define MOST_VALUES ((size_t)1 << 22)

/* The measures of each set by each rule. */
typedef struct rules {
    onet_set_measure *guess, *column, *ranker; /* [count] */
    double *score;                             /* [items of the largest set] */
    int feature, falling;
} rules;

/* ---- The best feature -------------------------------------------------------------------------------- */

static void feature_scores(const onet_sets *sets, size_t s, int feature, int falling, double *score) {
    size_t first = sets->start[s], n = sets_size(sets, s);
    for (size_t i = 0; i < n; i++) {
        double x = sets->word ? (double)sets_item(sets, first + i)[feature]
                              : sets_value(sets, first + i, (size_t)feature);
        score[i] = falling ? x : -x;
    }
}

/* Chooses the best feature by Kendall's tau, which unlike exact match is not 0 for large sets, over sets in
 * random order, up to MOST_VALUES values. */
static onet_status best_feature(rules *r, const onet_sets *sets, uint64_t seed, onet_error *err) {
    size_t *set = array_new(sets->count, sizeof *set), values = 0;
    double *sum = array_new((size_t)sets->width, sizeof *sum);
    rng shuffle;
    onet_status status = set && sum ? ONET_OK : fail_memory(err, "the best feature");
    rng_seed(&shuffle, seed, UINT64_C(0x636f6c6d00000000));
    if (!status) rng_permutation(&shuffle, set, sets->count);
    for (size_t k = 0; k < sets->count && !status && values < MOST_VALUES; k++) {
        if (sets_placed(sets, set[k]) < 2) continue;
        values += sets_size(sets, set[k]) * (size_t)sets->width;
        for (int j = 0; j < sets->width && !status; j++) {
            onet_set_measure m;
            feature_scores(sets, set[k], j, 1, r->score);
            if (!measure_scores(&m, sets, set[k], r->score)) status = fail_memory(err, "the best feature");
            sum[j] += m.tau;
        }
    }
    r->feature = 0;
    for (int j = 1; j < sets->width && !status; j++)
        if (fabs(sum[j]) > fabs(sum[r->feature])) r->feature = j;
    if (!status) r->falling = sum[r->feature] > 0;
    free(set);
    free(sum);
    return status;
}

/* ---- The ranker's scores ----------------------------------------------------------------------------- */

typedef struct scorer {
    freezer z;
    const frozen *f;
    encoded e;
    const float **items;
    int32_t *item, *row;
} scorer;

static void scorer_free(scorer *c) {
    encoded_free(&c->e);
    freezer_free(&c->z);
    free(c->items);
    free(c->item);
    free(c->row);
}

static bool scorer_new(scorer *c, const onet_model *model, size_t largest) {
    *c = (scorer){0};
    return freezer_new(&c->z, model, kernels_pick(NULL)) && (c->f = freezer_prepare(&c->z, (int)largest)) &&
           encoded_reserve(&c->e, c->f, (int)largest) && (c->items = array_new(largest, sizeof *c->items)) &&
           (c->item = array_new(largest, sizeof *c->item)) && (c->row = array_new(largest, sizeof *c->row));
}

/* Writes the logits of the placed items of a set to score [n], by item; returns the log-likelihood of the
 * right order per step. */
static double ranker_scores(scorer *c, const onet_model *model, const onet_sets *sets, size_t s,
                            double *score) {
    size_t first = sets->start[s], n = sets_size(sets, s);
    int placed = sets_rows(sets, s, c->item, c->row), start[2] = {0, (int)n};
    for (size_t r = 0; r < n; r++) c->items[r] = item_seen(model, sets, first + (size_t)c->item[r]);
    encode(&c->e, c->f, c->items, start, 1, placed, NULL);
    for (int r = 0; r < placed; r++) score[c->item[r]] = (double)c->e.logit[r];
    double left = -INFINITY, sum = 0;
    for (int t = placed; t-- > 0;) {
        double now = score[sets->order[first + (size_t)t]], high = fmax(left, now), low = fmin(left, now);
        left = high + log1p(exp(low - high));
        sum += now - left;
    }
    return sum / placed;
}

/* ---- All rules --------------------------------------------------------------------------------------- */

/* Returns the log-likelihood per step of any order of n items when guessing. */
static double guess_loglik(size_t n) {
    double sum = 0;
    for (size_t left = 1; left <= n; left++) sum -= log((double)left);
    return sum / (double)n;
}

/* Returns the mean of Kendall's tau of random orders, with the interval of one guess per set: the variance of
 * tau is 2 (2n + 5) / (9 n (n - 1)). */
static onet_measure guess_tau(const onet_report *guess, const onet_set_measure *each, size_t count,
                              double own) {
    double variance = 0, sets = 0;
    for (size_t s = 0; s < count; s++) {
        double n = (double)each[s].placed;
        if (n < 2) continue;
        variance += 2 * (2 * n + 5) / (9 * n * (n - 1));
        sets++;
    }
    double half = sets > 0 ? NORMAL_95 * sqrt(variance / own) / sets : (double)NAN;
    return (onet_measure){guess->tau.mean, fmax(-1, guess->tau.mean - half), fmin(1, guess->tau.mean + half)};
}

/* Chooses the rules on `train` and measures them on the sets of `test` with take[s] != 0, or all. */
static onet_status measure_rules(rules *r, const onet_sets *train, const onet_sets *test, const uint8_t *take,
                                 size_t largest, const onet_compare_options *o, onet_error *err) {
    onet_model *model = NULL;
    scorer c = {0};
    onet_status status = ONET_OK;
    if (r->column) status = best_feature(r, train, o->seed, err);
    onet_sets alone = *train; /* simple rules see no relations */
    alone.pairs = NULL;
    if (!status)
        status = ranker_train_any(&model, &alone,
                                  &(onet_ranker_options){.size = sizeof(onet_ranker_options),
                                                         .standardise = 1,
                                                         .seed = o->seed,
                                                         .threads = o->threads},
                                  err);
    onet_sets scaled = {0}; /* as the ranker sees them */
    if (!status && model->scaling) status = scaling_apply(model->scaling, test, &scaled, err);
    const onet_sets *seen = scaled.items ? &scaled : test;
    if (!status && !scorer_new(&c, model, largest)) status = fail_memory(err, "the ranker");
    for (size_t s = 0; s < test->count && !status; s++) {
        if (take && !take[s]) continue;
        double likely = ranker_scores(&c, model, seen, s, r->score);
        bool ok = measure_scores(&r->ranker[s], test, s, r->score);
        r->ranker[s].loglik = likely;
        if (r->column) {
            feature_scores(test, s, r->feature, r->falling, r->score);
            ok = ok && measure_scores(&r->column[s], test, s, r->score);
        }
        memset(r->score, 0, largest * sizeof *r->score);
        ok = ok && measure_scores(&r->guess[s], test, s, r->score);
        r->guess[s].loglik = guess_loglik(r->guess[s].placed);
        if (!ok) status = fail_memory(err, "the comparison");
    }
    scorer_free(&c);
    free(scaled.items);
    onet_model_free(model);
    return status;
}

/* Measures each part by rules chosen on the other parts. The reported feature is the one chosen on all sets.
 */
static onet_status cross(rules *r, const onet_sets *test, size_t largest, const onet_compare_options *o,
                         onet_error *err) {
    size_t folds = o->folds ? (size_t)o->folds : FOLDS, *part = array_new(test->count, sizeof *part),
           *of = NULL, bundles = 0;
    uint8_t *take = array_new(test->count, 1);
    onet_status status = part && take ? bundles_find(&of, &bundles, test, o->group, NULL, err)
                                      : fail_memory(err, "the comparison");
    if (folds > bundles) folds = bundles;
    if (!status && folds < 2)
        status =
            fail(err, ONET_USAGE, "one set alone leaves none to choose rules on: give some to learn from");
    if (!status) status = bundles_spread(part, of, bundles, test->count, folds, o->seed, err);
    for (size_t fold = 0; fold < folds && !status; fold++) {
        onet_sets *rest = NULL;
        for (size_t s = 0; s < test->count; s++) take[s] = part[s] != fold;
        status = pick_sets(&rest, test, take, err);
        for (size_t s = 0; s < test->count; s++) take[s] = !take[s];
        if (!status) status = measure_rules(r, rest, test, take, largest, o, err);
        onet_sets_free(rest);
    }
    if (!status && r->column) status = best_feature(r, test, o->seed, err);
    free(part);
    free(of);
    free(take);
    return status;
}

/* ---- Equal sets -------------------------------------------------------------------------------------- */

/* Equal sets are no further evidence. Means count every set, as elsewhere; conclusions count equal sets as
 * one (merged), intervals use the effective number of sets (own). */
typedef struct evidence {
    size_t *of;     /* [sets]: the bundle of equal sets to which each belongs */
    size_t sets;    /* all */
    size_t bundles; /* distinct sets */
    /* Effective number of independent sets per set (Kish): sets / sum of squared bundle sizes. Below 1 if
     * some sets are equal. */
    double own;
} evidence;

static onet_status evidence_find(evidence *v, const onet_sets *test, onet_error *err) {
    *v = (evidence){.sets = test->count, .own = 1};
    onet_status status = bundles_find(&v->of, &v->bundles, test, NULL, NULL, err);
    if (status || v->bundles == v->sets) return status;
    double *size = array_new(v->bundles, sizeof *size), squares = 0;
    if (!size) return fail_memory(err, "the comparison");
    for (size_t s = 0; s < v->sets; s++) size[v->of[s]]++;
    for (size_t k = 0; k < v->bundles; k++) squares += size[k] * size[k];
    v->own = (double)v->sets / squares;
    free(size);
    return ONET_OK;
}

onet_status measure_distinct(onet_report *report, const onet_set_measure *each, const onet_sets *sets,
                             onet_error *err) {
    evidence v;
    onet_status status = evidence_find(&v, sets, err);
    if (!status) measure_mean(report, each, NULL, sets->count, v.own);
    free(v.of);
    return status;
}

/* Returns a copy [bundles] with the mean of exact match and tau over each bundle; NULL when memory is short.
 */
static onet_set_measure *merged(const onet_set_measure *each, const evidence *v) {
    onet_set_measure *copy = array_new(v->bundles, sizeof *copy);
    double *met = array_new(v->bundles, sizeof *met);
    for (size_t s = 0; copy && met && s < v->sets; s++) {
        onet_set_measure *to = &copy[v->of[s]];
        double share = 1 / ++met[v->of[s]];
        to->exact += (each[s].exact - to->exact) * share;
        to->tau += (each[s].tau - to->tau) * share;
    }
    if (!met) free(copy);
    bool made = met != NULL;
    free(met);
    return made ? copy : NULL;
}

/* ---- The conclusion ---------------------------------------------------------------------------------- */

/* Returns the probability that guessing has `right` sets right or more, from the distribution of their
 * number, made set by set; for large numbers it is taken for normal. chance: [right], scratch. */
static double by_chance(const onet_set_measure *guess, size_t count, size_t right, double *chance) {
    double expected = 0, variance = 0, more = 0; /* of `right` or more */
    for (size_t s = 0; s < count; s++) {
        expected += guess[s].exact;
        variance += guess[s].exact * (1 - guess[s].exact);
    }
    if ((double)right <= expected) return 1;
    if (right > MANY) return erfc(((double)right - 0.5 - expected) / sqrt(2 * variance)) / 2;
    memset(chance, 0, right * sizeof *chance);
    chance[0] = 1;
    for (size_t s = 0; s < count; s++) {
        double p = guess[s].exact;
        more += chance[right - 1] * p;
        for (size_t k = right; k-- > 1;) chance[k] = chance[k] * (1 - p) + chance[k - 1] * p;
        chance[0] *= 1 - p;
    }
    return more;
}

/* *beats: these orders are better than random ones, by exact match or by tau. All sets must differ. */
static onet_status better_than_random(bool *beats, const onet_set_measure *each,
                                      const onet_set_measure *guess, size_t count, onet_error *err) {
    double right = 0;
    mean tau = {0};
    for (size_t s = 0; s < count; s++) {
        right += each[s].exact;
        mean_add(&tau, each[s].tau - guess[s].tau);
    }
    size_t whole = (size_t)floor(right + 1e-9);
    double *chance = array_new(whole + 1, sizeof *chance);
    if (!chance) return fail_memory(err, "the comparison");
    double mu = tau.sum / tau.count, var = (tau.square - tau.sum * mu) / (tau.count - 1);
    bool by_tau = tau.count >= FEW && mu > 0 && mu * mu * tau.count > NORMAL_1 * NORMAL_1 * fmax(0, var);
    *beats = by_tau || by_chance(guess, count, whole, chance) < CHANCE;
    free(chance);
    return ONET_OK;
}

static onet_status beats_guessing(bool *beats, const onet_set_measure *each, const onet_set_measure *guess,
                                  const evidence *v, onet_error *err) {
    onet_set_measure *own = merged(each, v), *random = merged(guess, v);
    onet_status status = own && random ? better_than_random(beats, own, random, v->bundles, err)
                                       : fail_memory(err, "the comparison");
    free(own);
    free(random);
    return status;
}

/* The 97.5% quantile of Student's t by Cornish and Fisher's expansion, within 0.003 from 5 degrees of
 * freedom on: the spread of few sets is uncertain itself, and the normal interval is too narrow. */
static double student_95(double freedom) {
    const double z = NORMAL_95, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z, v = freedom;
    return z + (z3 + z) / (4 * v) + (5 * z5 + 16 * z3 + 3 * z) / (96 * v * v) +
           (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * v * v * v);
}

/* Returns the sign of the mean difference; 0 if its 95% interval includes 0, or of too few sets. */
static int sign_of(const mean *m, double own) {
    double sets = m->count * own;
    if (sets < PAIRS) return 0;
    double mu = m->sum / m->count, half = student_95(sets - 1) * sqrt(mean_variance(m, own) / sets);
    return mu > half ? 1 : mu < -half ? -1 : 0;
}

/* Returns 1 if a is better than b on the same sets, -1 if b is better, 0 if the difference is within chance.
 * Exact match decides, and tau if exact match does not. */
static int better(const onet_set_measure *a, const onet_set_measure *b, const evidence *v) {
    mean exact = {0}, tau = {0};
    for (size_t s = 0; s < v->sets; s++) {
        mean_add(&exact, a[s].exact - b[s].exact);
        mean_add(&tau, a[s].tau - b[s].tau);
    }
    int sign = sign_of(&exact, v->own);
    return sign ? sign : sign_of(&tau, v->own);
}

static void name_feature(const onet_sets *sets, int feature, char name[SHOWN]) {
    const char *known = sets->columns ? onet_columns_name(sets->columns, feature) : NULL;
    if (known)
        shown(name, known);
    else
        snprintf(name, SHOWN, "feature %d", feature + 1);
}

/* Writes figures such as "97.5% exact, tau 0.99"; returns text. */
static const char *figures(const onet_report *r, char text[64]) {
    number_print(text, 64, "%.1f%% exact, tau %.2f", 100 * r->exact.mean, r->tau.mean);
    return text;
}

static size_t count_constrained(const onet_sets *sets) {
    size_t count = 0;
    for (size_t s = 0, k = 0; s < sets->count; s++) { /* they are sorted by set */
        size_t first = k;
        while (k < sets->constraint_count && sets->constraints[k].item < sets->start[s + 1]) k++;
        count += k > first;
    }
    return count;
}

/* Writes the conclusion. simple: the simplest rule that no other simple one beats; sign: 1 if the model is
 * better than that rule, -1 if worse, 0 within chance. */
static void write_sentence(onet_comparison *c, const onet_sets *test, onet_conclusion simple, int sign,
                           bool ranks) {
    char name[SHOWN] = "", rule[SHOWN + 64], model[64], measured[64], *to = c->sentence;
    size_t room = sizeof c->sentence;
    if (simple == ONET_WORTH_COLUMN) name_feature(test, c->feature, name);
    if (simple == ONET_WORTH_COLUMN)
        snprintf(rule, sizeof rule, "orting by %s alone, %s value first,", name,
                 c->falling ? "largest" : "smallest");
    const onet_report *beside = simple == ONET_WORTH_COLUMN ? &c->column : &c->ranker;
    figures(beside, measured);
    figures(&c->model, model);
    const char *how = sign < 0 ? "is better than the model" : "does as well as the model";
    double lead = c->model.exact.mean - beside->exact.mean;
    if (lead == 0) lead = c->model.tau.mean - beside->tau.mean;
    bool ahead = !sign && c->model.sets && lead > AHEAD;
    bool related = sets_relations(test) > 0, features = test->word || c->feature >= 0;
    size_t constrained = count_constrained(test);
    const char *different = c->distinct < c->guess.sets ? "different " : "",
               *more = c->distinct == 1 ? "" : "s";
    bool praised = c->model.sets && c->conclusion == (ranks ? ONET_WORTH_RANKER : ONET_WORTH_MODEL);
    if ((praised || ahead) && (double)c->learned > LEARNED * (double)c->guess.sets)
        snprintf(
            to, room,
            "These figures do not say what the model is worth on new sets, since it was trained on %zu of "
            "the %zu sets: measure it on others.",
            c->learned, c->guess.sets);
    else if ((praised || ahead) && (double)constrained > LEARNED * (double)c->guess.sets)
        snprintf(
            to, room,
            "These figures do not compare the model with simple rules: its answers keep to the constraints "
            "of %zu of the %zu sets, which the rules ignore. Compare them on sets without constraints.",
            constrained, c->guess.sets);
    else if (c->conclusion == ONET_WORTH_NOTHING)
        snprintf(to, room,
                 "No better than guessing: on %zu %sset%s %s cannot be told from random orders. %s%s",
                 c->distinct, different, more, c->model.sets ? "the model" : "every rule",
                 c->distinct < TOO_FEW ? "So few sets tell little: hold out more."
                 : !related            ? "The features"
                 : features            ? "The features and relations"
                                       : "The relations",
                 c->distinct < TOO_FEW
                     ? ""
                     : " do not tell the order, or there are too few examples to learn it from.");
    else if (ahead && !ranks && c->conclusion != ONET_WORTH_MODEL)
        snprintf(to, room,
                 "The model (%s) is ahead of %s%s (%s), but on %zu %sset%s that may be chance: measure it on "
                 "more sets before you rely on it. %s",
                 model, simple == ONET_WORTH_COLUMN ? "s" : "",
                 simple == ONET_WORTH_COLUMN ? rule : "the linear ranker", measured, c->distinct, different,
                 more,
                 simple == ONET_WORTH_COLUMN ? "Sorting needs no model."
                                             : "The ranker is smaller and needs fewer examples.");
    else if (c->conclusion == ONET_WORTH_COLUMN && c->model.sets)
        snprintf(to, room, "S%s %s (%s; the model: %s): %s.", rule, how, measured, model,
                 sign < 0 ? "sort by it instead" : "no model is needed");
    else if (c->conclusion == ONET_WORTH_COLUMN)
        snprintf(to, room, "S%s gives %s; the linear ranker is no better.", rule, measured);
    else if (c->conclusion == ONET_WORTH_RANKER && c->model.sets && !ranks)
        snprintf(to, room,
                 "The linear ranker %s (%s; the model: %s): use the ranker, which is smaller and needs fewer "
                 "examples.",
                 how, measured, model);
    else if (c->conclusion == ONET_WORTH_RANKER && c->model.sets && sign < 0)
        snprintf(to, room,
                 "A linear ranker with the default options is better than this one (%s; this one: %s): use "
                 "the defaults.",
                 measured, model);
    else if (c->conclusion == ONET_WORTH_RANKER)
        snprintf(
            to, room,
            "A weighted sum of the features is better than any single one (%s). Whether the order depends "
            "on more than that, only a network can tell.",
            ranks ? model : measured);
    else
        snprintf(to, room, "The order depends on %s: the model (%s) is better than %s%s (%s).",
                 !related   ? "the whole set, or on the features in a way that no weighted sum has"
                 : features ? "the relations, on the whole set, or on the features in a way that no weighted "
                              "sum has"
                            : "the relations",
                 model, simple == ONET_WORTH_COLUMN ? "s" : "",
                 simple == ONET_WORTH_COLUMN ? rule : "the linear ranker", measured);
    if (c->model_failed && c->conclusion != ONET_WORTH_NOTHING) {
        size_t used = strlen(to);
        snprintf(to + used, room - used,
                 " The model itself is no better than guessing: its training failed.");
    }
}

static onet_status conclude(onet_comparison *c, const rules *r, const onet_set_measure *each,
                            const onet_sets *test, const evidence *v, bool ranks, onet_error *err) {
    bool model = true, ranker = true, column = false;
    onet_status status = each ? beats_guessing(&model, each, r->guess, v, err) : ONET_OK;
    if (!status) status = beats_guessing(&ranker, r->ranker, r->guess, v, err);
    if (!status && r->column) status = beats_guessing(&column, r->column, r->guess, v, err);
    if (status) return status;
    c->model_failed = each && !model;
    /* The simplest rule that no other simple one beats. */
    if (column && (!ranker || better(r->ranker, r->column, v) <= 0))
        c->conclusion = ONET_WORTH_COLUMN;
    else if (ranker)
        c->conclusion = ONET_WORTH_RANKER;
    onet_conclusion simple = c->conclusion;
    int sign = 0;
    if (each && model) {
        sign = better(each, simple == ONET_WORTH_COLUMN ? r->column : r->ranker, v);
        if (!simple) { /* the ranker cannot be told from guessing; of few sets, it may be right all the same
                        */
            sign = sign > 0;
            c->conclusion = ONET_WORTH_RANKER;
        }
        if (sign > 0) c->conclusion = ranks ? ONET_WORTH_RANKER : ONET_WORTH_MODEL;
    } else if (each)
        sign = -1;
    c->model_beaten = sign < 0 && simple != ONET_WORTH_NOTHING;
    write_sentence(c, test, simple, sign, ranks);
    return ONET_OK;
}

/* ---- Public ------------------------------------------------------------------------------------------ */

void onet_compare_defaults(onet_compare_options *options, size_t size) {
    onet_compare_options own = {.size = sizeof own, .seed = 1};
    sized_give(options, size, &own, sizeof own);
}

static onet_status check(const onet_sets *train, const onet_sets *test, const onet_compare_options *o,
                         onet_error *err) {
    onet_status status = check_threads(o->threads, "onet_compare_options.threads", err);
    if (status) return status;
    if (o->folds < 0 || o->folds == 1 || o->folds > MOST_FOLDS)
        return fail_field(err, ONET_USAGE, "onet_compare_options.folds",
                          "%d folds: 0, or 2 to %d are possible", o->folds, MOST_FOLDS);
    if (!test->count || !test->order || (train && (!train->count || !train->order)))
        return fail(err, ONET_BAD, "a comparison needs sets with their right order");
    if ((status = sets_check(test, err)) || (train && (status = sets_check(train, err)))) return status;
    if (train && (train->width != test->width || !train->word != !test->word ||
                  (test->word && !words_same(train->words, test->words))))
        return fail(err, ONET_BAD, "the sets to learn from have other items than those to measure");
    return train ? columns_check(test->columns, train->columns, err) : ONET_OK;
}

/* features: the best single feature is a rule too. */
static onet_status compare(onet_comparison *c, const onet_sets *train, const onet_sets *test, bool features,
                           const onet_set_measure *each, onet_compare_options o, onet_error *err) {
    onet_status status = ONET_OK;
    size_t count = test->count, largest = 1;
    for (size_t s = 0; s < count; s++)
        if (sets_size(test, s) > largest) largest = sets_size(test, s);
    for (size_t s = 0; train && s < train->count; s++)
        if (sets_size(train, s) > largest) largest = sets_size(train, s);
    rules r = {.feature = -1,
               .guess = array_new(count, sizeof *r.guess),
               .column = features ? array_new(count, sizeof *r.column) : NULL,
               .ranker = array_new(count, sizeof *r.ranker),
               .score = array_new(largest, sizeof *r.score)};
    if (!r.guess || !r.ranker || !r.score || (features && !r.column))
        status = fail_memory(err, "the comparison");
    if (!status)
        status = train ? measure_rules(&r, train, test, NULL, largest, &o, err)
                       : cross(&r, test, largest, &o, err);
    evidence v = {0};
    if (!status) status = evidence_find(&v, test, err);
    if (!status && train) status = sets_count_equal(&c->learned, train, test, err);
    if (o.learned > c->learned) c->learned = o.learned < count ? o.learned : count;
    if (!status) {
        measure_mean(&c->guess, r.guess, NULL, count, v.own);
        if (r.column) measure_mean(&c->column, r.column, NULL, count, v.own);
        measure_mean(&c->ranker, r.ranker, NULL, count, v.own);
        if (each) measure_mean(&c->model, each, NULL, count, v.own);
        c->guess.tau = guess_tau(&c->guess, r.guess, count, v.own);
        c->distinct = v.bundles;
        c->is_ranker = o.is_ranker;
        c->feature = r.feature;
        c->falling = r.falling;
        status = conclude(c, &r, each, test, &v, o.is_ranker, err);
    }
    free(v.of);
    free(r.guess);
    free(r.column);
    free(r.ranker);
    free(r.score);
    return status;
}

/* Returns a view of sets without features that has one, 0 for every item: the ranker needs a feature. */
static onet_sets with_feature(const onet_sets *sets, float *zeros) {
    onet_sets view = *sets;
    view.width = 1;
    view.items = zeros;
    return view;
}

onet_status onet_compare(onet_comparison *c, const onet_sets *train, const onet_sets *test,
                         const onet_set_measure *each, const onet_compare_options *options, onet_error *err) {
    NEED(c, "comparison");
    memset(c, 0, sizeof *c);
    NEED(test, "test");
    onet_compare_options o;
    onet_compare_defaults(&o, sizeof o);
    onet_status status = sized_take(&o, sizeof o, options, "onet_compare_options", err);
    if (!status) status = check(train, test, &o, err);
    if (status || test->width) return status ? status : compare(c, train, test, !test->word, each, o, err);
    size_t items = test->start[test->count], others = train ? train->start[train->count] : 0;
    float *zeros = array_new(items > others ? items : others, sizeof *zeros);
    if (!zeros) return fail_memory(err, "the comparison");
    onet_sets test_view = with_feature(test, zeros), train_view = with_feature(train ? train : test, zeros);
    status = compare(c, train ? &train_view : NULL, &test_view, false, each, o, err);
    free(zeros);
    return status;
}
