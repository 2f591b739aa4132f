/* Defines the state of a training run, and declares its checkpoints, batches, log, loop, files and norm
 * statistics: train.c prepares the run, loop.c steps through it, files.c writes its files and
 * norm_statistics.c completes its model. */
#ifndef TRAIN_RUN_H
#define TRAIN_RUN_H

#include <stdio.h>

#include "engine/base/lock.h"
#include "engine/base/world.h"
#include "engine/kernels/backend.h"
#include "engine/model/model.h"
#include "engine/train/augment.h"
#include "engine/train/identity.h"
#include "engine/train/shard.h"
#include "ordernet.h"
#include "ordernet_train.h"

/* ---- State and checkpoints (state.c) ----------------------------------------------------------------- */

/* A run between two steps, as a checkpoint stores it: parameters, Adam's moments, EMA (exponential moving
 * average of the parameters), losses and counters. */
typedef struct train_state {
    uint64_t step;                            /* steps done */
    double loss;                              /* EMA of the loss, not yet divided by loss_weight */
    double loss_weight;                       /* sum of the weights in that EMA */
    double valid_exact, valid_loglik;         /* the last validation; NaN before the first */
    double best_loglik;                       /* the best validation so far */
    uint64_t best_epoch;                      /* epoch of best_loglik, from 1; 0 before the first validation
                                               */
    uint64_t log_bytes;                       /* length of the log */
    double seconds;                           /* spent training, in all runs together */
    size_t params, vectors;                   /* numbers in each block below */
    float *theta, *m, *v, *average;           /* [params]; average may be NULL */
    float *vec, *vec_m, *vec_v, *vec_average; /* [vectors]; NULL when vectors are not trained */
} train_state;

onet_status state_new(train_state *s, size_t params, size_t vectors, int average, onet_error *err);
void state_free(train_state *s);
/* Copies the numbers of rank 0's state (not the blocks) to all ranks. */
void state_share_numbers(train_state *s, const world *w);
/* Copies rank 0's state to all ranks; each must have made its own with the same sizes. */
void state_share(train_state *s, const world *w);

/* `identity` (train/identity.h): a checkpoint of another run is refused. */
onet_status checkpoint_write(const train_state *s, const char *identity, const char *path, onet_error *err);
/* Sets *found = 0, and leaves the state, when there is no such file. *steps: the steps of the run that wrote
 * the checkpoint. */
onet_status checkpoint_read(train_state *s, const char *identity, const char *path, uint64_t *steps,
                            int *found, onet_error *err);

/* ---- Batches (batches.c) ----------------------------------------------------------------------------- */

/* Which sets go into which batch. An epoch visits every set of two items or more once, in batches of nearly
 * equal numbers of sets. Sets are dealt within groups: all in one group, so that a batch mixes sizes; or one
 * group for each size. The plan follows from (seed, epoch) alone, so that a resumed run continues with the
 * same batches. */

typedef struct batch {
    uint32_t first; /* into index */
    int count;
} batch;

typedef struct batches {
    uint32_t *index; /* [used]: set numbers, group by group */
    size_t used;
    uint32_t *group; /* [groups + 1]: where each group begins in index */
    int groups;
    batch *batch; /* [count] */
    size_t count;
    int largest;      /* sets in the largest batch */
    uint32_t *sorted; /* [used]: the index before any shuffling */
} batches;

/* sets: only their sizes and how many items are placed matter. most: sets per batch. */
onet_status batches_new(batches **b, const onet_sets *sets, int most, onet_batches how, onet_error *err);
void batches_shuffle(batches *b, uint64_t seed, uint64_t epoch);
void batches_free(batches *b);
/* batches_size returns the size of a batch, batches_most the largest, member by member, of all batches of the
 * plan. */
batch_size batches_size(const batches *b, const batch *one, const onet_sets *sets);
batch_size batches_most(const batches *b, const onet_sets *sets);

/* ---- The log (log.c) --------------------------------------------------------------------------------- */

/* The log of a training, in CSV (docs/formats.md). */

typedef struct train_log {
    const char *path;
    FILE *file; /* NULL: there is no log, and rows go nowhere */
} train_log;

/* Continues the existing log after its first `bytes` bytes, as the checkpoint says; 0 begins a new log. The
 * path must live as long as the log. */
onet_status log_open(train_log *log, const char *path, uint64_t bytes, onet_error *err);
void log_row(const train_log *log, const onet_progress *now, const char *kernel_set);
/* Writes all rows to the file, and its length to *bytes. */
onet_status log_flush(const train_log *log, uint64_t *bytes, onet_error *err);
onet_status log_close(train_log *log, onet_error *err);

/* What to do if the training diverged. */
#define DIVERGED        "try a lower learning rate, or gradients clipped to a norm of 1"
#define DIVERGED_FIELDS "onet_train_options.learning_rate onet_train_options.clip"

enum { AVERAGE_EVERY = 16 /* steps between two updates of the EMA of the weights */ };

/* What is trained on, and how it is dealt into batches. */
typedef struct run_sets {
    const onet_sets *train, *valid; /* sets of all ranks together; on ranks other than 0, train has sizes only
                                     * and valid is NULL */
    const onet_sets *given;         /* rank 0: the training sets, as the caller passed them */
    onet_sets seen;                 /* rank 0: the training sets as the net sees them */
    scaling *scaling;               /* scales the features of given; NULL: they stay */
    relating *relating;             /* scales and makes relations of given; NULL: there are none */
    bool relates;                   /* some relations are scaled or made */
    onet_feature *feature;          /* [width of the sets]: the scale that was chosen; NULL: none was */
    const onet_columns *columns;    /* of the training sets; NULL: not known */
    const onet_sets *own;           /* the training sets of this rank */
    augment *augment;               /* makes the sets of an epoch; NULL when they are the given ones */
    const onet_sets *now;           /* all sets as the plan has them: their sizes */
    batches *plan;
    shard shard;
    uint32_t *index, *row; /* [batch]: the sets of a batch that this rank has; NULL when it has all */
} run_sets;

/* The steps of the run and their epochs. */
typedef struct run_schedule {
    uint64_t steps;   /* of the whole run */
    uint64_t *begin;  /* [begun + 1]: the step with which each epoch begins, and the end of the last */
    uint64_t begun;   /* epochs that the steps reach */
    uint64_t planned; /* 1 + the epoch of the plan; 0: there is no plan yet */
} run_schedule;

/* Names are NULL where nothing is written. */
typedef struct run_files {
    lock lock;
    char *checkpoint, *best, *log_path;
    train_log log;
    void *best_bytes; /* the best model as a file, for the caller; NULL: not wanted, or none yet */
    size_t best_size;
    uint64_t saved_step; /* of the checkpoint on disk; UINT64_MAX when there is none */
    double last_checkpoint;
} run_files;

/* What the next progress report needs. Times are seconds of the monotonic clock. */
typedef struct run_told {
    double started, last_progress, seconds_before;
    uint64_t examples;                 /* in this run */
    uint64_t steps_before, resumed_at; /* as in onet_progress */
    bool measuring;                    /* a validation is running: its values are not known yet */
} run_told;

typedef struct run {
    const world *w; /* NULL: a single rank */
    onet_train_options o;
    run_sets sets;
    run_schedule when;
    run_files files;
    run_told told;
    onet_model *model;
    net *net;
    train_state s;
    uint64_t filled;              /* step that the model was filled at, +1; 0: never */
    int validates;                /* rank 0 has validation sets */
    char from[65];                /* checksum of the model that it began with; "" when there is none */
    char identity[IDENTITY_TEXT]; /* a checkpoint must have the same to be resumed */
    int stop;                     /* the caller asked to stop */
    uint64_t log_every;
    int unread; /* steps whose loss has not been read */
} run;

/* ---- What the parts share (run.c) -------------------------------------------------------------------- */

/* Returns the running mean of the loss; NaN before the first step. */
double run_mean_loss(const run *r);
/* Copies the parameters and their averages from the backend into the state. */
onet_status run_fetch(run *r, onet_error *err);
/* Reads the losses of the steps since the last call; on a GPU it waits for them. ONET_FAILED for a loss that
 * is not finite. */
onet_status run_read_losses(run *r, onet_error *err);
/* Passes this rank's sets of a batch to the net. */
void run_start_step(run *r, const batch *b);
/* Reserves memory for every batch of the plan. */
onet_status run_reserve(run *r, onet_error *err);
/* Makes the sets of an epoch, the plan of their batches, and memory for them. `whole`: sets as they are
 * ordered, with nothing left out. All ranks make the same plan. */
onet_status run_plan_epoch(run *r, uint64_t epoch, bool whole, onet_error *err);
/* Fills the model with the parameters as they are now (or their average) and the norms' statistics. All ranks
 * do it together. */
onet_status run_fill_model(run *r, onet_error *err);
/* Writes steps, loss and validation to the model's training record. */
onet_status run_note_results(run *r, onet_error *err);
/* Returns the epoch, from 0, that a step belongs to: the last that does not begin after it. */
uint64_t run_epoch_of(const run *r, uint64_t step);

/* ---- The loop (loop.c) ------------------------------------------------------------------------------- */

/* Trains until all steps are done, the validation no longer improves, or the caller asks to stop:
 * ONET_INTERRUPTED. */
onet_status run_loop(run *r, onet_error *err);

/* ---- Files (files.c) --------------------------------------------------------------------------------- */

/* Takes the lock, names the files and, if asked to, resumes from the checkpoint. */
onet_status files_find(run *r, onet_error *err);
/* Opens the log, and removes the best model and the checkpoint of an older run; a resumed run keeps its own.
 * Called when all else is ready: a run that cannot start leaves the files of the one before. */
onet_status files_start(run *r, onet_error *err);
onet_status files_save_checkpoint(run *r, onet_error *err);
/* Loads the best model into *o.best; a resumed run may have it only in its file. */
onet_status files_best(run *r, onet_error *err);

/* ---- The norms (norm_statistics.c) ------------------------------------------------------------------- */

/* Measures the norms' statistics with the model's parameters, on batches of whole sets, and how they change
 * with the size, and puts them into the model. The net has its own parameters again afterwards. */
onet_status statistics_collect(run *r, onet_error *err);

#endif
