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
    bool out;                          /* too slow, or failed */
    bool asked_whole, asked_parts;     /* whole trainings were asked for: of part 0, of the others */
    const trial *brief, *whole[PARTS]; /* NULL: not there */
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
    onet_sets *rest[PARTS + 1]; /* what is trained on where that part measures; nothing of the test part */
    onet_sets *glanced;         /* sets of part 0 */
    size_t given;               /* the size of the caller's options: what they cannot hold is not chosen */
    choice_made base_made;
    bool fixed[TUNED_SETTINGS];
    config *configs;  /* [MOST_CONFIGS] */
    int count, known; /* configs; settings taken from the list of known ones */
    trials done, memo;
    int share;           /* index of shares */
    double largest;      /* items of the largest set */
    double crop_cost[8]; /* of each value of S_CROP: its time, of that of whole sets */
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
    trial *row;        /* gets the glances; NULL: nothing is measured while it runs */
    const double *bar; /* [GLANCES] */
} running;

/* ---- Division of the sets (parts.c) -------------------------------------------------------------------- */

/* Groups, and equal sets, in random order, each to the part that has the fewest sets; sets beyond the most
 * that a part has to none. */
onet_status tune_divide(tuner *s, onet_error *err);
onet_status tune_take_parts(tuner *s, onet_error *err);

/* ---- Which settings are good, and what to try next (choose.c) ------------------------------------------ */

/* The mean of exact match, right neighbours, Kendall's tau and the likelihood of a step. */
double tune_score(const trial *r);
/* NULL: these settings are not of the search. */
config *tune_find(const tuner *s, const choice_made *made);
void tune_fill_tried(const tuner *s, const config *c, onet_tried *t);
/* The best settings so far; NULL: no trial has ended. */
const config *tune_winner(const tuner *s);
/* Calls the caller's progress function; whoever calls it holds `busy`. */
void tune_report_progress(tuner *s);
/* Search seconds so far, as the trials tell. */
double tune_now(const tuner *s);
/* How long an epoch takes, about, in epochs of the default net on whole sets. */
double tune_cost(const tuner *s, const choice_made *made);
/* Seconds from the end of the search to that of the last training: `measured` models of these settings, one
 * of those given and the ranker to compare with, without the test part, then `models` on all sets. */
double tune_final_seconds(const tuner *s, const choice_made *made, int models, int measured);
/* Seconds that the final trainings of a configuration may take (one without the test part, one on all sets):
 * a share of the budget, but never less than the given settings need. */
double tune_final_limit(const tuner *s);
/* As many models as there is time for: merged ones are better on most data. */
int tune_models(const tuner *s, const choice_made *made);
/* Which derived feature one of four merged models of these settings has switched: ranks within the set, or
 * else relative features, if settings with that switched score nearly as high on the first part. */
onet_variation tune_variation(const tuner *s, const config *best);
/* Sets when the search has to end for the settings that are the best now. */
void tune_set_deadline(tuner *s);
/* Adds a trial unless there is no time for it. */
bool tune_ask(tuner *s, asked_trial *list, int *count, const choice_made *made, trial_kind kind, int part);
/* The next generation, at most `most` trials and a few; 0: there is nothing that fits. */
int tune_next(tuner *s, asked_trial *list, int most);
/* At the end: a whole training for the best short ones if there is none yet, all parts for the best. */
int tune_last(tuner *s, asked_trial *list, int most);

/* ---- Trials that run (run.c) --------------------------------------------------------------------------- */

/* Seconds since the search began, with those of earlier calls. */
double tune_spent(const tuner *s);
/* How long a trial trains. */
int tune_epochs(const tuner *s, const asked_trial *t);
/* The options of a training within the search: it writes and reads no files. */
onet_train_options tune_options(const tuner *s, const choice_made *made, int threads);
/* Trains the net or the ranker of these settings. */
onet_status tune_train(const tuner *s, onet_model **model, const choice_made *made, const onet_sets *sets,
                       const onet_sets *valid, const onet_train_options *o, onet_error *err);
/* The progress function of a training; its context is a `running`. */
int tune_trial_progress(void *context, const onet_progress *now);
/* each [sets] */
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
