/* A training as the program shows it: a line of progress, Ctrl-C, a summary. */
#ifndef CLI_TRAINING_H
#define CLI_TRAINING_H

#include "app/progress.h"
#include "ordernet.h"

typedef struct training {
    progress line;
    onet_progress last;
    bool told;       /* that it goes on with more steps than before */
    int fold, folds; /* which one of a cross-validation, from 1; 0: none */
} training;

/* Checked before the training, which may take hours: whether its files can be written. */
onet_status training_place(const char *path, onet_error *err);
/* What the training reads must not be what it writes. `name` begins the sentence that says so; read may be
 * NULL. */
onet_status training_keeps(const char *name, const char *read, const onet_train_options *o, onet_error *err);

/* Trains together with the other ranks, which give NULL for both sets. After ONET_INTERRUPTED the sentence is
 * the caller's to write. */
onet_status training_run(training *t, onet_model **model, const onet_sets *data, const onet_sets *valid,
                         const onet_train_options *options, bool quiet, onet_error *err);

/* What came out of it, and where the best model is when it is not the last. */
void training_summarise(const training *t, const onet_train_options *options, const onet_model *model);

#endif
