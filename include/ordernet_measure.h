/* The public C API for evaluation: measures how well predicted orders agree with the correct ones, which
 * features a model needs, whether it beats simple baselines, what looks wrong in the data, and how fast
 * training and ordering run; gives the probability of each step of an order, and calibrates the probabilities
 * of a model. */
#ifndef ORDERNET_MEASURE_H
#define ORDERNET_MEASURE_H

#include "ordernet.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Measures ---------------------------------------------------------------------------------------- */

typedef struct onet_measure {
    double mean, low, high; /* 95% interval */
} onet_measure;

typedef struct onet_report {
    size_t sets;
    onet_measure exact;       /* share of sets in exactly the right order */
    onet_measure position;    /* share of items at the right place */
    onet_measure tau;         /* Kendall's tau, mean over sets of 2 items or more */
    onet_measure loglik;      /* log-likelihood of the right order per step, mean over sets */
    onet_measure neighbours;  /* share of right neighbours, mean over sets of 2 items or more */
    onet_measure loglik_all;  /* log-likelihood of all steps of all sets divided by their number */
    onet_measure probability; /* of the answers, by the model: compare with exact; mean over sets */
    onet_measure calibration; /* expected calibration error: by how much, on average, that probability and the
                               * share of right answers differ, in ten bins of probability */
    onet_measure calibration_chance; /* what this would be by chance if all probabilities were right */
    onet_measure reserved[3];
} onet_report;

/* The measures of one set; of its placed items, where it has context. NaN: not defined, or not known. */
typedef struct onet_set_measure {
    size_t n, placed;   /* items; those that are placed */
    double exact;       /* 1: exactly the right order; 0: not */
    double position;    /* share of items at the right place */
    double tau;         /* Kendall's tau; NaN for one item */
    double neighbours;  /* share of adjacent pairs of the right order that are adjacent, in that order, in the
                         * answer; NaN for one item */
    double loglik;      /* log-likelihood of the right order per step */
    double probability; /* of the answer, by the model; of all orders that differ from it in equal items
                         * alone */
    double reserved[3];
} onet_set_measure;

/* Compares answers (the first order of each) with the sets' own order, which they must have, into each
 * [count]. Items with equal features of equal values (onet_lost) count as the same item. answers[s].logprob
 * may be NULL: probability is NaN then. logprob: [count] from onet_orderer_score; NULL: loglik is NaN. */
ONET_API onet_status onet_measure_each(onet_set_measure *each, const onet_sets *sets,
                                       const onet_answer *answers, const double *logprob, onet_error *err);
/* The means of each[which[k]] for k < count; which NULL: of each[0] .. each[count - 1]. */
ONET_API void onet_measure_mean(onet_report *report, const onet_set_measure *each, const size_t *which,
                                size_t count);
/* onet_measure_each and onet_measure_mean at once. only_n: of the sets with this many items; 0: all. */
ONET_API onet_status onet_measure_sets(onet_report *report, const onet_sets *sets, const onet_answer *answers,
                                       const double *logprob, int only_n, onet_error *err);

/* How well the probabilities of a model's answers fit, on the sets that it was calibrated on. */
typedef struct onet_calibration {
    double temperature; /* by which its logits are divided now */
    onet_report before, after;
    double reserved[8]; /* zero */
} onet_calibration;

/* Divides the model's logits by the temperature, from 1/4 to 4, at which the probabilities of its answers to
 * the sets have the least Brier score, the mean of (probability - 1 if right)^2. The greedy answers stay the
 * same; a beam may find others. Use sets that the model was not trained on, and others to measure it. The
 * training record keeps "temperature". options: how the sets are ordered; NULL: by a beam of 5. result may be
 * NULL. */
ONET_API onet_status onet_model_calibrate(onet_model *model, const onet_sets *sets,
                                          const onet_order_options *options, onet_calibration *result,
                                          onet_error *err);

/* Permutation importance: by how much the measures fall when a feature's values are shuffled among the items
 * of each set: the mean, over the repeats and then over the sets, of the measure before less that after.
 * Positive: the model needs the feature. */
typedef struct onet_importance {
    onet_measure exact;  /* exact match */
    onet_measure loglik; /* log-likelihood of the right order per step */
    onet_measure reserved[2];
} onet_importance;

/* Orders and scores the sets, which must have orders, `repeats` times, 1 or more, with one feature shuffled.
 * feature below the width of the sets: that feature and the others of its column of text (the next column is
 * onet_columns_span further); width + r: relation r, whose numbers are shuffled among all ordered pairs of
 * different items of a set. base [count]: onet_measure_each of answers to the same sets by the same orderer.
 * The same seed gives the same shuffles. ONET_BAD for the features of words, whose relations can be
 * shuffled. */
ONET_API onet_status onet_measure_importance(onet_importance *result, onet_orderer *orderer,
                                             const onet_sets *sets, const onet_set_measure *base, int feature,
                                             int repeats, uint64_t seed, onet_error *err);

/* ---- Step by step -------------------------------------------------------------------------------------- */

/* As onet_orderer_score, and the log-probability of each step's choice: step[start[count] - start[0]], set
 * after set, 0 for context items; step NULL: not wanted. */
ONET_API onet_status onet_orderer_score_steps(onet_orderer *orderer, const onet_sets *sets, double *logprob,
                                              double *step, onet_error *err);
/* For sets of one set, with an order: writes to probability [n, n] in row t that of each item at place t
 * given the items before it in the set's order; 0 for items that are placed already, for context items and
 * in the rows of their places. */
ONET_API onet_status onet_orderer_choices(onet_orderer *orderer, const onet_sets *sets, double *probability,
                                          onet_error *err);

/* ---- What a result is worth -------------------------------------------------------------------------- */

/* The result of a comparison with simple rules. A difference counts if Student's 95% interval of the
 * paired differences, of six or more, excludes 0; better than guessing is what random orders reach in one
 * comparison of 1000. */
typedef enum onet_conclusion {
    ONET_WORTH_NOTHING = 0, /* no rule and no model is better than guessing */
    ONET_WORTH_COLUMN,      /* sorting by one feature is as good as the model, or better */
    ONET_WORTH_RANKER,      /* the linear ranker is as good as the model, and better than any feature */
    ONET_WORTH_MODEL /* the model is better than all of them: more than a weighted sum of the item's own
                      * features decides the order */
} onet_conclusion;

typedef struct onet_comparison {
    onet_report guess;  /* random orders: exact is the share of all orders that is right, equal items
                         * interchangeable; the intervals are of guessing once per set */
    onet_report column; /* sorting by the best feature; sets 0: items are words or have relations alone */
    onet_report ranker; /* onet_ranker_train */
    onet_report model;  /* sets 0: `each` was NULL */
    int feature;        /* the best one, -1: none */
    int falling;        /* 1: its largest value goes first */
    onet_conclusion conclusion;
    int is_ranker;       /* as in the options */
    int model_failed;    /* 1: the model is no better than guessing, whatever else is */
    int model_beaten;    /* 1: a simple rule is better than the model */
    char sentence[1000]; /* the conclusion in words, with the figures */
    size_t distinct;     /* distinct sets of `test`. Means count every set; intervals and the conclusion
                          * count equal sets as one */
    size_t learned;    /* sets of `test` that are equal to one of `train`: for these the measures say nothing
                        * about new data */
    void *reserved[2]; /* zero */
} onet_comparison;

typedef struct onet_compare_options {
    size_t size;              /* sizeof(onet_compare_options) */
    int folds;                /* where `train` is NULL; 0: 5 */
    uint64_t seed;            /* divides the sets into folds, and is the ranker's */
    int threads;              /* 0: one for each CPU; the result is the same for any number */
    int is_ranker;            /* 1: the model is a ranker; one of default options is its rival */
    const char *const *group; /* of the sets of `test`, as onet_sets_divide takes it; or NULL */
    size_t learned;           /* sets of `test` that the model is known to be trained on; those equal to
                               * one of `train` are found anyway */
} onet_compare_options;

ONET_API void onet_compare_defaults(onet_compare_options *options, size_t size);
/* Compares a model on sets that it has not seen with guessing, with the best single feature, rising or
 * falling, and with the linear ranker, which learn from `train`, as the model did. train NULL: each of
 * `folds` parts of `test` is measured by rules that learn from the other parts; sets of one group, and equal
 * sets, stay in one part, and ONET_USAGE if there are not two parts. folds and group are used only then.
 * Both sets must have orders and the same features or vocabulary.
 *
 * each [test->count]: the model's measures (onet_measure_each); NULL: the simple rules alone. Where a score
 * ties items, it counts as their random order; simple rules ignore constraints. options NULL: the defaults.
 */
ONET_API onet_status onet_compare(onet_comparison *comparison, const onet_sets *train, const onet_sets *test,
                                  const onet_set_measure *each, const onet_compare_options *options,
                                  onet_error *err);

/* Describes what is odd about training sets, for a user whose model has failed: a sentence per line into
 * text [room], ended by NUL, most important first; "": nothing. It finds examples that contradict each other
 * (equal sets in other orders), orders that look like ranks, features that are constant, constant within
 * each set, like an id, or with heavy tails or far clusters, items that are equal, and too few sets. */
ONET_API onet_status onet_sets_oddities(const onet_sets *sets, char *text, size_t room, onet_error *err);

/* ---- Speed ------------------------------------------------------------------------------------------- */

typedef struct onet_speed_options {
    size_t size; /* sizeof(onet_speed_options) */
    onet_settings settings;
    int n;               /* items per set */
    int batch;           /* sets per training step */
    int beam;            /* of ordering; 1: greedy */
    int sets;            /* ordered per call; 0: as many as fill the time */
    double seconds;      /* for a measurement: the best of several stretches counts */
    int threads;         /* 0: one for each CPU */
    const char *kernels; /* as in onet_order_options */
    const char *device;
} onet_speed_options;

/* The paper's net for tours, 20 items, 128 sets per step, a beam of 5, 2 seconds. */
ONET_API void onet_speed_defaults(onet_speed_options *options, size_t size);

typedef struct onet_speed {
    int sets, threads; /* sets per step or call */
    double sets_per_second;
    double gflops;       /* useful operations (docs/speed.md), in 10^9 per second */
    double loss;         /* of the first training step; NaN for ordering */
    const char *kernels; /* that did the work; lives as long as the program */
    double reserved[8];  /* zero */
} onet_speed;

/* Measure training steps, and ordering. Weights and sets are made by a fixed formula
 * (src/engine/model/generated.h), so that the loss can be compared between programs. options NULL: the
 * defaults. */
ONET_API onet_status onet_speed_train(onet_speed *speed, const onet_speed_options *options, onet_error *err);
ONET_API onet_status onet_speed_order(onet_speed *speed, const onet_speed_options *options, onet_error *err);
/* The peak of this CPU in GFLOP/s: multiply-adds in registers on `threads` threads for `seconds`. */
ONET_API double onet_speed_peak(int threads, double seconds);
/* The kernels that this CPU runs, fastest first, ended by NULL. Valid as long as the calling thread. */
ONET_API const char *const *onet_kernels_here(void);
/* Threads that a call with `threads` (0: one for each CPU) runs on; 0: no call may have so many. */
ONET_API int onet_threads(int threads);

#ifdef __cplusplus
}
#endif
#endif
