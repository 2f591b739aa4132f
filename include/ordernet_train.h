/* The public C API for the rest of training (onet_train is in ordernet.h): trains a linear ranker, names the
 * files that a training run writes, says what training does with each feature, and lets several ranks (MPI
 * processes) train or order together. */
#ifndef ORDERNET_TRAIN_H
#define ORDERNET_TRAIN_H

#include "ordernet.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Ranker ------------------------------------------------------------------------------------------ */

/* The simplest model: a net without blocks. Each item has a score, a weighted sum of its own features, and
 * the highest goes first, whatever the other items of the set are. It learns in about a second from a few
 * thousand sets, and is an onet_model like any other: saved, loaded, ordered and scored alike. */
typedef struct onet_ranker_options {
    size_t size;     /* sizeof(onet_ranker_options) */
    double penalty;  /* L2: penalty / 2 times the squared weights, added to the loss per step; 0: chosen from
                      * 1e-7 to 0.1 on a fifth of the sets, which is held out for this */
    int relative;    /* 1: each item also has its features relative to its set; not for words */
    int standardise; /* 1: features are brought to mean 0 and deviation 1 */
    uint64_t seed;   /* draws the sets held out */
    int threads;     /* 0: one for each CPU; the model is the same for any number */
    /* As in onet_train_options. */
    const char *scale;
    int within;
} onet_ranker_options;

ONET_API void onet_ranker_defaults(onet_ranker_options *options, size_t size);
/* Trains *model on sets with known order; ONET_BAD if none has two items to place, or for sets with
 * relations, which a ranker cannot use. options NULL: the defaults. */
ONET_API onet_status onet_ranker_train(onet_model **model, const onet_sets *train,
                                       const onet_ranker_options *options, onet_error *err);
/* Its weights, of the scaled features and of their ranks within the set, then of the relative ones: [width
 * of onet_model_settings], or twice as many where settings.relative is 1. NULL: the model is not a ranker. */
ONET_API const float *onet_ranker_weights(const onet_model *model);

/* ---- Before and beside a training --------------------------------------------------------------------- */

/* The checks of onet_train that need no data, to be made before the data are read. */
ONET_API onet_status onet_train_possible(const onet_train_options *options, onet_error *err);
/* The batch that suits these sets: the default of onet_train_options.batch, or fewer where sets have
 * relations and are so large that it would need over a gigabyte. */
ONET_API int onet_train_batch(const onet_sets *sets);
/* The same for a training that makes relations of its own (onet_train_options.relate). */
ONET_API int onet_train_batch_related(const onet_sets *sets);
/* Files that training writes beside m.safetensors: m.best.safetensors, m.checkpoint.safetensors, m.log.csv;
 * and while it runs m.lock, which keeps other trainings from writing them. */
typedef enum onet_train_file {
    ONET_TRAIN_BEST = 0,
    ONET_TRAIN_CHECKPOINT,
    ONET_TRAIN_LOG,
    ONET_TRAIN_LOCK
} onet_train_file;
/* Writes the name of that file to path [room], as snprintf does; returns its length, 0 for wrong arguments.
 */
ONET_API size_t onet_train_path(char *path, size_t room, const char *model_path, onet_train_file file);
/* Writes the name of model `number`, from 1, of several: m.1.safetensors. Returns as above. */
ONET_API size_t onet_train_model_path(char *path, size_t room, const char *model_path, int number);

/* ---- Features ---------------------------------------------------------------------------------------- */

/* What is done with a feature before the net sees it. Values are taken in double and centred there before
 * they are rounded, wherever float32 would blur them. */
typedef enum onet_scale {
    ONET_SCALE_AUTO = 0, /* STANDARD; or, where heavy tails or far clusters would leave most values of a set
                          * too close together, QUANTILE with the rank within the set */
    ONET_SCALE_STANDARD, /* mean 0 and deviation 1 over the training data */
    ONET_SCALE_QUANTILE, /* the share of the training data's values that are smaller; then STANDARD */
    ONET_SCALE_NONE      /* as it is */
} onet_scale;
ONET_API const onet_choice *onet_scales(void); /* onet_scale */

/* A relation that is made from features: columns of the two items (onet_train_options.relate). */
typedef enum onet_relate {
    ONET_RELATE_DISTANCE = 0, /* the Euclidean distance over all columns */
    ONET_RELATE_DIFFERENCE,   /* the second item's value less the first one's; each column is a relation */
    ONET_RELATE_PRODUCT,      /* the product of the two values, summed over the columns */
    ONET_RELATE_EQUAL         /* 1: equal in all columns; else 0 */
} onet_relate;
ONET_API const onet_choice *onet_relates(void); /* onet_relate */

/* What was chosen for a feature. */
typedef struct onet_feature {
    onet_scale scale; /* never AUTO */
    int within;       /* 1: its rank within the set is a feature too; equal values have one rank */
    int centred;      /* 1: STANDARD, centred in double */
    int crowded;      /* 1: heavy tails or far clusters; set only by onet_train_features */
    int exact;        /* 1: float32 would blur its values, which are taken in double */
    int reserved[11]; /* zero */
} onet_feature;

/* Writes what a training on these sets, which must have orders, would do with each feature to feature [width
 * of the sets], all fields; where options->from is set, what that model does. Words: scale is STANDARD or
 * NONE, all else 0. options NULL: the defaults. *equal, unless NULL: the number of items that differ from
 * another item of their set in the data, but not once scaled, so that the net cannot tell them apart; 0 for
 * words. */
ONET_API onet_status onet_train_features(onet_feature *feature, const onet_sets *train,
                                         const onet_train_options *options, size_t *equal, onet_error *err);
/* Writes what the model does with feature j < onet_model_width to *feature. Returns 1, or 0 for other j. */
ONET_API int onet_model_feature(const onet_model *model, int j, onet_feature *feature);

/* ---- Several ranks ----------------------------------------------------------------------------------- */

/* The ranks that mpirun started for one command (docs/scale.md); *world is NULL for a process that runs
 * alone, which all functions take. Put it into onet_train_options or onet_order_options: all ranks then make
 * the same calls with the same options, in the same order, or they wait for each other forever; but where
 * rank 0 uses an orderer, each other rank calls onet_orderer_work (docs/api.md has an example). Valid until
 * onet_world_close. After a failure of this function, which other ranks may not have seen, the process must
 * exit. */
ONET_API onet_status onet_world_open(const onet_world **world, onet_error *err);
ONET_API int onet_world_rank(const onet_world *world); /* from 0; 0 where world is NULL */
ONET_API int onet_world_size(const onet_world *world); /* 1 where world is NULL */
/* The status of all ranks: that of the first that failed, whose message goes to err; ONET_OK if none did.
 * All ranks call it after a step that may fail in one, before they wait for each other. onet_train and
 * onet_orderer_new do so themselves. world NULL: returns status. */
ONET_API onet_status onet_world_agree(const onet_world *world, onet_status status, onet_error *err);
/* Called by ranks other than 0, after the onet_orderer_new of all ranks: orders and scores what rank 0
 * sends, and returns when rank 0 frees its orderer. A failure here is returned by the call of rank 0.
 * Returns at once in rank 0 and without a world. */
ONET_API void onet_orderer_work(onet_orderer *orderer);
ONET_API void onet_orderer_serve(onet_orderer *orderer); /* its name in version 0.2.0 */
/* The last call of every rank; waits for all of them. NULL is allowed. */
ONET_API void onet_world_close(const onet_world *world);

#ifdef __cplusplus
}
#endif
#endif
