/* Runs trainings for the commands `train` and `pages train`: progress line, Ctrl-C and summary;
 * cross-validation (folds.c), learning curve (learning_curve.c) and the search for settings (tuning.c). */
#ifndef APP_TRAINING_H
#define APP_TRAINING_H

#include <limits.h>
#include <stdbool.h>

#include "app/progress.h"
#include "ordernet.h"
#include "ordernet_measure.h"
#include "ordernet_tune.h"

typedef struct training {
    progress line;
    onet_progress last;
    bool told;   /* the note that it goes on with other steps than before, if any, was printed */
    bool judges; /* the network only scores candidate orders and does not search: exact match is not shown */
    int fold, folds; /* which one of a cross-validation, from 1; 0: none */
} training;

/* Fails if the model cannot be written at `path`; call it before the training, which may take hours. */
onet_status training_place(const char *path, onet_error *err);
/* ONET_USAGE if the training would overwrite the file `read` (may be NULL). `name` begins the error message.
 */
onet_status training_keeps(const char *name, const char *read, const onet_train_options *o, onet_error *err);

/* Trains together with the other ranks, which give NULL for both sets. After ONET_INTERRUPTED the
 * caller writes the error message. */
onet_status training_run(training *t, onet_model **model, const onet_sets *data, const onet_sets *valid,
                         const onet_train_options *options, bool quiet, onet_error *err);

/* Prints the result, and where the best model is if it is not the last. */
void training_summarise(const training *t, const onet_train_options *options, const onet_model *model);

/* ---- Cross-validation (folds.c) ---------------------------------------------------------------------- */

/* Cross-validation estimates how good models with these data and options are, without a validation file. */

/* Divides the sets at random, by the seed, into `folds` parts of nearly equal size, equal sets and those of
 * one group (group [sets] or NULL) together, as onet_sets_divide does; trains for each part a model on the
 * others, and lets it order that part by beam search. The report is over all sets, each measured by a model
 * that has not seen it; the comparison is with rules that have not seen it either. All ranks take part;
 * others than 0 give NULL for the data, and get no report. */
onet_status folds_run(onet_report *report, onet_comparison *comparison, const onet_sets *data,
                      const char *const *group, int folds, const onet_train_options *options, bool quiet,
                      onet_error *err);

/* ---- A learning curve (learning_curve.c) ------------------------------------------------------------- */

/* Trains on a quarter and on a half of `train`, drawn by the seed, for as many steps as `all`, the model of
 * all of them, was trained for; measures the three on `test`, and prints a line for each and whether more
 * examples would help. */
onet_status learning_curve(const onet_model *all, const onet_sets *train, const onet_sets *test,
                           const onet_train_options *options, bool quiet, onet_error *err);

/* ---- A search for settings (tuning.c) ---------------------------------------------------------------- */

/* Parses what --tune takes: "5m", "90s", "2h" is a time, "40" a number of trials. */
onet_status tuning_budget(onet_tune_options *how, const char *text, onet_error *err);
/* Writes the path of m.trials.csv beside m.safetensors. */
void tuning_path(char path[PATH_MAX], const char *model_path);
/* Fills in the options with the best settings. Ctrl-C ends the search with the best so far. */
onet_status tuning_run(onet_train_options *options, onet_tuned *result, const onet_sets *data,
                       const onet_tune_options *how, bool quiet, onet_error *err);
/* Prints what the search tried and chose. */
void tuning_summarise(const onet_tuned *result, int models, const char *trials_path);

#endif
