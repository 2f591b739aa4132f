/* Defines the state of one search for settings (onet_tune), which its files share: parts.c divides the sets,
 * choose.c says which settings are good so far and which trials come next, run.c runs them, estimate.c
 * measures what was chosen, tune.c goes through the search from start to end. */
#ifndef TUNE_TUNER_H
#define TUNE_TUNER_H

#include <stdatomic.h>
#include <stdbool.h>

#include "engine/base/thread_pool.h"
#include "engine/tune/space.h"
#include "ordernet_tune.h"

enum {
    PARTS = 4,    /* to choose by */
    TEST = PARTS, /* the number of the test part */
    /* Trials that are chosen at once, so that the choice is the same for any number of threads. */
    GENERATION = 6,
    MOST_CONFIGS = 4096,
    SHARES = 6
};

/* Shares of the whole number of epochs that a short training may have. */
extern const double tune_shares[SHARES];

/* Settings and what is known of them. */
typedef struct config {
    choice_made made;
    bool known;                        /* has worked on other data: space_known */
    bool out;                          /* too slow, hopeless, or failed */
    bool asked_whole, asked_parts;     /* whole trainings were asked for: on part 0, on the others */
    const trial *brief, *whole[PARTS]; /* the trials that have ended; NULL: not yet */
} config;

typedef struct asked_trial {
    choice_made made;
    trial_kind kind;
    int part;
    double predicted; /* seconds; 0: not known */
} asked_trial;

typedef struct tuner {
    onet_train_options base;
    onet_tune_options how;
    const onet_sets *sets;
    int8_t *part_of;            /* [sets]: 0 .. TEST; -1: always trained on */
    onet_sets *part[PARTS + 1]; /* the sets of a part */
    onet_sets *rest[PARTS + 1]; /* the sets to train on when that part measures, without the test part */
    onet_sets *glanced;         /* sets of part 0 on which a trial is measured while it runs */
    size_t given;               /* the size of the caller's options: what they cannot hold is not chosen */
    choice_made base_made;
    bool fixed[TUNED_SETTINGS];
    config *configs;  /* [MOST_CONFIGS] */
    int count, known; /* configs; settings taken from the list of known ones */
    trials done, memo;
    int share;           /* index of shares */
    double largest;      /* items of the largest set */
    double crop_cost[8]; /* for each value of S_CROP: the time of an epoch, as a share of that of whole sets
                          */
    double per_cost;     /* seconds of an epoch of cost 1 */
    double offset;       /* seconds of earlier calls */
    double started;
    int threads, workers;
    thread_pool *thread_pool;
    bool on_gpu;
    char kernels[32];
    /* While a generation runs. */
    asked_trial *asked;
    int generation;
    double bar[TRIAL_WHOLE + 1][GLANCES]; /* trials of a kind that are below it are hopeless; NaN: none is */
    atomic_flag busy;                     /* who holds it may call progress and change `done` */
    atomic_bool stop, late;
    onet_status status;
    onet_error err;
    int new_trials;
    double deadline; /* of the search; 0: there is none */
} tuner;

typedef struct running {
    tuner *s;
    double started, share;
    bool slow, hopeless;
    trial *row;        /* receives the glances; NULL: it is not measured while it runs */
    const double *bar; /* [GLANCES] */
} running;

/* ---- Division of the sets (parts.c) -------------------------------------------------------------------- */

/* Divides the sets: bundles of groups and equal sets, in random order, each go to the part that has the
 * fewest sets; when all parts are full, to none. */
onet_status tune_divide(tuner *s, onet_error *err);
onet_status tune_take_parts(tuner *s, onet_error *err);

/* ---- Which settings are good, and what to try next (choose.c) ------------------------------------------ */

/* Returns the mean of exact match, right neighbours, Kendall's tau and the likelihood of a step. */
double tune_score(const trial *r);
/* Returns the config with these settings; NULL: the search has none. */
config *tune_find(const tuner *s, const choice_made *made);
void tune_fill_tried(const tuner *s, const config *c, onet_tried *t);
/* Returns the best settings so far; NULL: no trial has ended. */
const config *tune_winner(const tuner *s);
/* Calls the caller's progress function; whoever calls it holds `busy`. */
void tune_report_progress(tuner *s);
/* Returns the search seconds so far, by the trials that have ended. */
double tune_now(const tuner *s);
/* Returns about how long an epoch takes, in epochs of the default net on whole sets. */
double tune_cost(const tuner *s, const choice_made *made);
/* Predicts the seconds from the end of the search to that of the last training: `measured` models of these
 * settings, one of those given and the ranker to compare with, without the test part, then `models` on all
 * sets. */
double tune_final_seconds(const tuner *s, const choice_made *made, int models, int measured);
/* Returns the seconds that the final trainings of a configuration may take (one without the test part, one on
 * all sets): a share of the budget, but never less than the given settings need. */
double tune_final_limit(const tuner *s);
/* Returns how many models there is time for: merged ones are better on most data. */
int tune_models(const tuner *s, const choice_made *made);
/* Returns which derived feature one of four merged models of these settings has switched: ranks within the
 * set, or else relative features, if settings with that switched score nearly as high on the first part. */
onet_variation tune_variation(const tuner *s, const config *best);
/* Sets the time at which the search has to end, so that the final trainings of the settings that are best now
 * fit. */
void tune_set_deadline(tuner *s);
/* Adds a trial to list, unless there is no time for it; returns whether it did. */
bool tune_ask(tuner *s, asked_trial *list, int *count, const choice_made *made, trial_kind kind, int part);
/* Chooses the next generation, about `most` trials; returns how many, 0 if nothing fits. */
int tune_next(tuner *s, asked_trial *list, int most);
/* Chooses trials at the end: a whole training for the best short ones if there is none yet, all parts for the
 * best. Returns how many. */
int tune_last(tuner *s, asked_trial *list, int most);

/* ---- Trials that run (run.c) --------------------------------------------------------------------------- */

/* Returns the seconds since the search began, with those of earlier calls. */
double tune_spent(const tuner *s);
/* Returns how many epochs a trial trains. */
int tune_epochs(const tuner *s, const asked_trial *t);
/* Returns the options of a training within the search, which writes and reads no files. */
onet_train_options tune_options(const tuner *s, const choice_made *made, int threads);
/* Trains the net or the ranker of these settings. */
onet_status tune_train(const tuner *s, onet_model **model, const choice_made *made, const onet_sets *sets,
                       const onet_sets *valid, const onet_train_options *o, onet_error *err);
/* The progress function of a training; its context is a `running`. */
int tune_trial_progress(void *context, const onet_progress *now);
/* Orders the sets with the model, and measures each: each [sets]. */
onet_status tune_measure_each(onet_set_measure *each, const tuner *s, const onet_model *model,
                              const onet_sets *sets, int threads, onet_error *err);
/* Notes the model's kernels, for the caller to repeat the training with. */
void tune_note_kernels(tuner *s, const onet_model *model);
/* Runs the trials, or takes them from an earlier call. */
onet_status tune_run(tuner *s, asked_trial *list, int count, onet_error *err);
bool tune_over(tuner *s);

/* ---- Unbiased estimate on the test part (estimate.c) --------------------------------------------------- */

/* Trains on all but the test part, and compares with the settings given and simple rules. */
onet_status tune_estimate(tuner *s, const choice_made *made, onet_tuned *result, onet_error *err);

#endif
