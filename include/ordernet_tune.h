/* The public C API for choosing settings: tries nets, augmentations and lengths of training on the given
 * sets, and reports the best.
 *
 * Splits the sets at random (whole groups) into a test part, never used for choosing, and four validation
 * parts. Successive halving: many settings get a short training, the best third a full one, the best third of
 * those are measured on all parts. A trial (one training) far below the best at the same share of its epochs
 * is stopped early. Settings that worked on other data come first; later ones change one or two settings of
 * the best so far. */
#ifndef ORDERNET_TUNE_H
#define ORDERNET_TUNE_H

#include "ordernet_measure.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Settings that were tried, with the mean over the parts that measured them. */
typedef struct onet_tried {
    char settings[256]; /* what differs from the options given: "drop 0.3, epochs 60"; "default": nothing */
    int whole;          /* 1: of whole trainings; 0: of short ones alone */
    int parts;          /* that measured it */
    double exact, neighbours, tau;
    double score;   /* by which they are compared: the mean of the three and of the likelihood of a step */
    double seconds; /* of its last trial */
} onet_tried;

typedef struct onet_tune_progress {
    int trials, most;             /* trials that ended; the budget, 0: the time decides */
    double seconds, seconds_left; /* seconds_left: of the budget; NaN where trials decide */
    int count;                    /* of settings tried */
    const onet_tried *tried;      /* [count], best first; valid during the call */
} onet_tune_progress;

typedef struct onet_tune_options {
    size_t size;         /* sizeof(onet_tune_options) */
    double seconds;      /* budget of time, default 300; ignored where trials is not 0 */
    int trials;          /* budget of trials, 4 or more; 0: seconds decides */
    const size_t *group; /* [sets], numbers below the number of sets: sets of one group stay in one part;
                          * NULL: each set is its own */
    const char *path;    /* a CSV with every trial; NULL: none is written */
    int resume;          /* 1: take the trials of `path`, if it is there, as done, and go on after them */
    /* Called a few times a second, from any thread, one call at a time; non-zero ends the search with the
     * best so far. */
    int (*progress)(void *context, const onet_tune_progress *progress);
    void *context;
    /* Settings that stay though they have their defaults, by the names of the program's options:
     * "epochs,drop". Other names are ignored. NULL: none. */
    const char *keep;
} onet_tune_options;

ONET_API void onet_tune_defaults(onet_tune_options *options, size_t size);

typedef struct onet_tuned {
    char settings[256];  /* as in onet_tried */
    int trials, stopped; /* trials that ended; 1: progress ended the search */
    int new_trials;      /* those of this call, not of an earlier one that was resumed */
    int ranker; /* 1: the linear ranker is best: call onet_ranker_train with settings.relative, standardise,
                 * scale, within and seed of the options */
    char kernels[32]; /* that trained the nets: "avx2", "cuda"; others round otherwise; "": none */
    double seconds;   /* of the search, earlier calls included */
    onet_tried best;  /* measured on the parts that it was chosen by: optimistic */
    /* Unbiased: a model of the chosen settings, trained on all sets except the test part and measured on
     * that part, beside simple rules that learned from the same sets. test.model.sets 0: the search was
     * stopped before. */
    onet_comparison test;
    onet_report test_default; /* the same with the options as they were given */
    int test_models; /* nets merged for `test`: fewer than options->models where there was no time for all */
    void *reserved[8]; /* zero */
} onet_tuned;

/* Searches the settings with which onet_train does best on such sets, of which there must be 25 or more.
 * options: those of the training. It may set epochs, drop, scale, within, learning_rate, batch,
 * weight_decay, jitter, stray, crop, models, vary and of `settings` relative, pool and the sizes of the net;
 * a field that differs from its default, or that how->keep names, stays as it is. model_path, resume and
 * progress are ignored; world must be NULL. how NULL: the defaults.
 *
 * The next onet_train with these options gives the model, of options->models nets; where result->ranker is
 * 1, onet_ranker_train does. The same seed, sets, options, kernels and budget of trials give the same result
 * for any number of threads.
 *
 * A stop by progress returns ONET_OK with the best so far and result->stopped 1; before a trial ended,
 * ONET_INTERRUPTED. After a failure, options and *result are as they were. */
ONET_API onet_status onet_tune(onet_train_options *options, onet_tuned *result, const onet_sets *sets,
                               const onet_tune_options *how, onet_error *err);

#ifdef __cplusplus
}
#endif

#endif
