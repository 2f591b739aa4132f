/* The public C API of OrderNet: learns an order from examples, and puts new sets in order. A program that
 * orders one set:
 *
 *     #include <ordernet.h>
 *
 *     const float items[3][2] = {{0.7f, 1}, {0.2f, 5}, {0.4f, 3}};
 *     int32_t order[3];
 *     onet_model *model;
 *     onet_error err;
 *     if (onet_model_load(&model, "mine.safetensors", &err)) return puts(err.text), 1;
 *     if (onet_order(model, items[0], 3, order, NULL, &err)) return puts(err.text), 1;
 *     onet_model_free(model);
 */
#ifndef ORDERNET_H
#define ORDERNET_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ONET_API __attribute__((visibility("default")))

/* What functions return; also the exit status of the program. */
typedef enum onet_status {
    ONET_OK = 0,
    ONET_FAILED = 1,       /* the call was valid, but failed (a loss became NaN, ...) */
    ONET_USAGE = 2,        /* the call itself is wrong: an option out of range, a missing argument */
    ONET_BAD = 3,          /* bad data or a bad model file */
    ONET_IO = 4,           /* a file could not be opened, read or written */
    ONET_MEMORY = 5,       /* not enough memory */
    ONET_INTERRUPTED = 130 /* a callback asked to stop */
} onet_status;

/* text: the error message: what is wrong, where, and what to do. field: the option that it is about, or two
 * with a blank between, such as "onet_train_options.clip"; "": none. The message does not name the option,
 * so that a program can add the name that its own users know. Both hold only after a failure. */
typedef struct onet_error {
    char text[960];
    char field[64];
} onet_error;

/* A trained net with all that it needs to order a set. Threads may share one that none of them changes. */
typedef struct onet_model onet_model;

/* Reads a model file ("-": standard input; .gz and .xz are decompressed). */
ONET_API onet_status onet_model_load(onet_model **model, const char *path, onet_error *err);
/* Orders one set (a beam of 5): items [n, onet_model_width] in; order [n] out, with order[t] the item at
 * place t; *logprob, unless NULL: the natural logarithm of its probability. NaN: a missing value, if the
 * model was trained on some; items then have onet_columns_width features. Not for words or relations. */
ONET_API onet_status onet_order(const onet_model *model, const float *items, int n, int32_t *order,
                                double *logprob, onet_error *err);
ONET_API void onet_model_free(onet_model *model);

/* ========================================================================================================
 * The objects, and the rules that hold for all of them.
 *
 *   onet_sets      sets of items and, where it is known, their right order: read from a file or filled in
 *   onet_train     sets in, model out; checkpoints on the way, callbacks for progress and cancelling
 *   onet_model     a trained net: load, order, save
 *   onet_orderer   a model with threads, memory and perhaps a GPU, to order many sets; gives onet_answers
 *   onet_world     the ranks of mpirun, where several share the work
 *
 * Other headers, each of which includes this one: ordernet_io.h (data files: all options, sets one by one,
 * names of features; what a model holds), ordernet_words.h (vocabularies, sentences), ordernet_train.h
 * (linear ranker, several ranks), ordernet_tune.h (search for settings), ordernet_measure.h (accuracy,
 * speed), ordernet_tsp.h (tours), ordernet_pages.h (reading order).
 *
 * Errors. A function that can fail returns an onet_status, writes a message to err, unless that is NULL, and
 * sets the object that it was to make to NULL. The library does not print, exit or abort. Arguments are
 * checked: NULL where an object is needed, a number out of range or sets that are not as onet_sets says give
 * ONET_USAGE or ONET_BAD; functions without a status then return NULL, 0, -1 or NaN. Freed objects, and
 * arrays that are too short, cannot be detected. Numbers are read and written alike in every locale.
 *
 * Memory. Whoever makes an object frees it, with the function of its name in _free, _close, _commit or
 * _abort; all but _commit take NULL. What a function returns by pointer is valid as long as the object that
 * it was asked of, unless it says otherwise. Dimensions: n items in a set, width features per item.
 *
 * How structs grow (docs/api.md). Options begin with `size`, the caller's sizeof: the function in _defaults
 * fills them in, or start from {.size = sizeof options}. Structs that the caller may make keep their size and
 * end in `reserved`, which must be zero. onet_progress, made by the library alone, grows at the end. */

#define ONET_VERSION_MAJOR 0
#define ONET_VERSION_MINOR 2
#define ONET_VERSION_PATCH 0

ONET_API const char *onet_version(void);                   /* of the library: "0.2.0" */
ONET_API const char *onet_status_name(onet_status status); /* in a few words: "not enough memory" */

/* A named value of an enum. Lists end in a NULL name, are never freed and may grow in a later version. */
typedef struct onet_choice {
    const char *name;
    const char *help; /* what it is, in a few words */
    int value;
} onet_choice;

/* ---- Sets -------------------------------------------------------------------------------------------- */

/* What must hold for an order that is searched. Items are counted over all sets: start[s] + i. */
typedef enum onet_constraint_kind {
    ONET_BEFORE = 0, /* `item` comes before `other`, an item of the same set */
    ONET_PLACE, /* `item` is at place `other` of its set; fixed places must be 0, 1, 2, ... without a gap */
    ONET_LAST,  /* `item` comes last */
    ONET_NEXT   /* `other`, an item of the same set, comes directly after `item` */
} onet_constraint_kind;

typedef struct onet_constraint {
    onet_constraint_kind kind;
    size_t item, other; /* ONET_LAST ignores other */
} onet_constraint;

typedef struct onet_columns onet_columns; /* names of features, values for missing ones: ordernet_io.h */
typedef struct onet_words onet_words;     /* a vocabulary, one vector per word: ordernet_words.h */
typedef struct onet_lost onet_lost;       /* values that the features do not tell apart: ordernet_io.h */

/* Relations: `width` numbers for each ordered pair of items of a set. Relation r from item i, counted over
 * all sets, to item j of its set is value[(row[i] + j) * width + r]; row[i + 1] = row[i] + n. */
typedef struct onet_pairs {
    int width;         /* R: from 1 to 16 */
    size_t *row;       /* [start[count]] */
    float *value;      /* [sum of n * n, width]; finite; the numbers from an item to itself are ignored */
    char *names;       /* one per line, UTF-8; NULL: none */
    float *fill;       /* [width]: what replaced values that were missing; NULL: none was allowed to be */
    void *reserved[3]; /* zero */
} onet_pairs;

/* `count` sets; set s owns items start[s] .. start[s+1]-1. Items are features or words; one of items and
 * word is NULL. The net sees context items, but never places them; every set has a placed item. With m
 * placed items in set s, order[start[s] + t] is for t < m the index within set s of the item at place t;
 * then follow the context items, smallest index first. Constraints are sorted by set; training ignores them.
 * A view of some sets in a row is a copy of the struct with their count and constraints, whose start points
 * to that of the first one; all other arrays are unchanged. */
typedef struct onet_sets {
    size_t count;
    int width;                    /* features per item, or numbers per word; 0: there are only relations */
    size_t *start;                /* [count + 1] */
    float *items;                 /* [start[count], width] */
    int32_t *word;                /* [start[count]] */
    const onet_words *words;      /* the vocabulary that `word` indexes; owned, unless onet_sets_lend_words */
    int32_t *order;               /* [start[count]]; NULL: not known */
    uint8_t *context;             /* [start[count]]: 1: a context item; NULL: every item is placed */
    onet_constraint *constraints; /* [constraint_count] */
    size_t constraint_count;
    char hash[65];         /* SHA-256 of their file in hex; "" when there was none */
    onet_columns *columns; /* the names of the features; NULL: not known. Owned by the sets */
    onet_lost *lost;       /* values that the features do not tell apart; NULL: none. Owned by the sets */
    double *exact; /* [start[count], width]: the features where float32 loses digits that matter; or NULL */
    onet_pairs *pairs; /* relations between the items of each set; NULL: none. Owned by the sets */
} onet_sets;

static inline size_t onet_sets_size(const onet_sets *sets, size_t s) {
    return sets->start[s + 1] - sets->start[s];
}

typedef enum onet_format {
    ONET_FORMAT_AUTO = 0, /* by the file's name and first bytes */
    ONET_FORMAT_JSONL,
    ONET_FORMAT_CSV,
    ONET_FORMAT_POINTER, /* Pointer Network text: x1 y1 x2 y2 ... output 1 3 2 ... 1 */
    ONET_FORMAT_NPZ,
    ONET_FORMAT_SAFETENSORS, /* this project's own binary form: mixed sizes, words, fast */
    ONET_FORMAT_TEXT         /* one bag of words per line */
} onet_format;

typedef struct onet_read_options onet_read_options; /* ordernet_io.h; NULL suits most files */
/* Reads a whole file ("-": standard input; .gz and .xz are decompressed). ONET_BAD names file and line. */
ONET_API onet_status onet_sets_read(onet_sets **sets, const char *path, const onet_read_options *options,
                                    onet_error *err);
/* Writes a file ("-": standard output), whole or not at all; AUTO: the format by the ending of its name. */
ONET_API onet_status onet_sets_write(const onet_sets *sets, const char *path, onet_format format,
                                     onet_error *err);
/* Makes sets of n items each: copies items [count, n, width] and order [count, n]; order NULL: not known. */
ONET_API onet_status onet_sets_from(onet_sets **sets, size_t count, int n, int width, const float *items,
                                    const int32_t *order, onet_error *err);
/* These three change sets that the library made; a failure leaves them as they were. Sets the context items
 * to a copy of context [start[count]], 1 or 0; NULL: none. Orders must have the context items last. */
ONET_API onet_status onet_sets_set_context(onet_sets *sets, const uint8_t *context, onet_error *err);
/* Replaces the constraints by a copy of constraints [count]. ONET_BAD names those that no order can keep. */
ONET_API onet_status onet_sets_set_constraints(onet_sets *sets, const onet_constraint *constraints,
                                               size_t count, onet_error *err);
/* Replaces the relations by a copy of value: for each set in turn [n, n, width], from item i to item j at
 * [i, j]; all finite, the diagonal is set to 0. names: one per line, or NULL. Width 0 removes them. A float
 * rounds whole numbers beyond 16777216 (2^24): only files of sets can refuse them. */
ONET_API onet_status onet_sets_set_pairs(onet_sets *sets, int width, const float *value, const char *names,
                                         onet_error *err);
ONET_API void onet_sets_free(onet_sets *sets); /* with all arrays that it owns */
/* Checks sets that the caller filled in, in its own arrays: all that onet_sets says. ONET_BAD names the set.
 * Such sets may be ordered, measured, trained on and written, but no function may change or free them. */
ONET_API onet_status onet_sets_check(const onet_sets *sets, onet_error *err);

/* ---- Model ----------------------------------------------------------------------------------------- */

/* Writes a model file ("-": standard output), whole or not at all. */
ONET_API onet_status onet_model_save(const onet_model *model, const char *path, onet_error *err);
enum { ONET_MAX_MERGED = 64 };
/* A new model whose logits are the mean of those of `models` [count], 1 to ONET_MAX_MERGED. They must agree
 * in blocks, pool, features, words, standardisation, relations and norm statistics: ONET_BAD names what
 * differs, and refuses rankers. Three are about seven times as slow as one (docs/model.md). */
ONET_API onet_status onet_model_merge(onet_model **merged, const onet_model *const *models, size_t count,
                                      onet_error *err);

/* AUTO is for training alone: mean below 10,000 training sets, max from there on (docs/model.md). */
typedef enum onet_pool { ONET_POOL_MAX = 0, ONET_POOL_MEAN = 1, ONET_POOL_AUTO = 2 } onet_pool;

/* The net (docs/model.md). */
typedef struct onet_settings {
    int width;          /* d: features per item */
    int encoder_blocks; /* M */
    int hidden;         /* H: channels inside an encoder block */
    int encoder_out;    /* O: channels that an encoder block adds */
    onet_pool pool;     /* over the pairs of an item */
    int decoder_blocks; /* N */
    int decoder_out;    /* C: channels that a decoder block adds, twice (itself and its pool) */
    int relative;       /* 1: each item also has its features relative to its set; not for words */
    int relations;      /* R: numbers for each ordered pair of items */
    int reserved[7];    /* zero */
} onet_settings;

ONET_API const onet_choice *onet_pools(void); /* onet_pool */
ONET_API const onet_choice *onet_presets(void);
/* Fills in all but width from a preset: "tsp" or "words" (the paper's two nets) or "default". */
ONET_API onet_status onet_settings_preset(onet_settings *settings, const char *name, onet_error *err);
ONET_API const onet_settings *onet_model_settings(const onet_model *model);
/* Features per item of its sets; onet_model_settings has more where ranks within the set are added. */
ONET_API int onet_model_width(const onet_model *model);
ONET_API const onet_words *onet_model_words(const onet_model *model); /* NULL: its items are numbers */

/* ---- Ordering: many sets, all options ---------------------------------------------------------------- */

typedef struct onet_world onet_world; /* ordernet_train.h */
typedef enum onet_decode { ONET_BEAM = 0, ONET_GREEDY, ONET_SAMPLE } onet_decode;
ONET_API const onet_choice *onet_decodes(void); /* onet_decode */
/* Names for `kernels` and `device` below, "auto" first; a device may also be "cuda:N", GPU number N. */
ONET_API const onet_choice *onet_kernel_sets(void);
ONET_API const onet_choice *onet_devices(void);

enum { ONET_MAX_ITEMS = 1 << 24 }; /* of a set to be ordered */

typedef struct onet_order_options {
    size_t size;             /* sizeof(onet_order_options) */
    onet_decode decode;      /* a beam, the most probable item at each step, or one drawn by probability */
    int beam;                /* its width; 0: 5. At least `top` are used */
    int top;                 /* orders returned per set, best first, up to 1000000; 0: 1 */
    uint64_t seed;           /* for ONET_SAMPLE */
    int threads;             /* 0: one for each CPU */
    const char *kernels;     /* NULL, or a name of onet_kernel_sets() */
    const char *device;      /* NULL or "auto", "cpu", "cuda", "cuda:N" */
    const onet_world *world; /* ranks that share the work (onet_orderer_work); NULL: this process alone */
    int max_items; /* larger sets are refused: time grows with the square of the items; 0: ONET_MAX_ITEMS */
    /* Called a few times per second while the CPU orders a set of 400 items or more: `done` of `steps`. */
    void (*progress)(void *context, size_t done, size_t steps);
    void *context;
    /* Called by every ordering thread, many times per second on the CPU, before each 256 MB of sets on a GPU.
     * Non-zero ends the run with ONET_INTERRUPTED and incomplete answers. NULL: the run is never stopped. */
    int (*stop)(void *context);
} onet_order_options;

/* All zero except `size`: the best order by a beam search of width 5, on all CPU threads or a GPU. */
ONET_API void onet_order_defaults(onet_order_options *options, size_t size);

/* The answer for one set; the caller makes it and its arrays, and sets all other fields to zero. */
typedef struct onet_answer {
    int found;       /* orders: top, or fewer if the beam is narrower or the set has fewer */
    int32_t *order;  /* [top, n]: each as in onet_sets.order; needed */
    double *logprob; /* [top]: natural logarithm of each order's probability; NULL when not wanted */
    float *step;     /* [top, n]: probability of each step's choice, 0 for context; NULL when not wanted */
    double *step_logprob; /* [n]: from onet_orderer_score_steps, for onet_writer_put alone */
    void *reserved[3];    /* zero */
} onet_answer;

/* Threads and memory for reuse, for one call at a time; any number of orderers may share a model. The model,
 * options->kernels and options->world must outlive it. options NULL: the defaults. */
typedef struct onet_orderer onet_orderer;
ONET_API onet_status onet_orderer_new(onet_orderer **orderer, const onet_model *model,
                                      const onet_order_options *options, onet_error *err);
ONET_API void onet_orderer_free(onet_orderer *orderer);
/* What the last run was computed with: a name of onet_kernel_sets(), or "cuda". */
ONET_API const char *onet_orderer_kernels(const onet_orderer *orderer);
/* Orders sets of any sizes in parallel: answers [count]. The sets' own order is ignored, constraints are
 * kept; probabilities are the model's, as without them. NaN in items: onet_sets_fill first. ONET_BAD with a
 * NaN logprob: that set's features overflow in the net, the others' answers hold (docs/api.md). */
ONET_API onet_status onet_orderer_run(onet_orderer *orderer, const onet_sets *sets, onet_answer *answers,
                                      onet_error *err);
/* Writes the log-probability of each set's own order to logprob [count]. Constraints are ignored. */
ONET_API onet_status onet_orderer_score(onet_orderer *orderer, const onet_sets *sets, double *logprob,
                                        onet_error *err);

/* ---- Training ---------------------------------------------------------------------------------------- */

typedef enum onet_schedule { ONET_CONSTANT = 0, ONET_COSINE = 1 } onet_schedule;
/* Which sets share a batch: of any sizes, as in ordering; or of one size (the paper's rule). */
typedef enum onet_batches { ONET_BATCHES_MIXED = 0, ONET_BATCHES_ONE_SIZE = 1 } onet_batches;
/* Batch-norm statistics for ordering: running averages of training, or measured with the final weights (with
 * batches of one size, by size, and extrapolated linearly in 1/n to larger sets). */
typedef enum onet_statistics { ONET_STATISTICS_RUNNING = 0, ONET_STATISTICS_MEASURED = 1 } onet_statistics;

typedef struct onet_progress {
    int epoch, epochs; /* epoch counts from 1 */
    uint64_t step, steps;
    double loss; /* mean per placed item, smoothed over the last steps */
    double learning_rate;
    double valid_exact; /* share of validation sets ordered exactly; NaN before the first validation */
    double examples_per_second, seconds, seconds_left;
    double valid_loglik; /* log-likelihood of right orders per placed item; NaN before the first validation */
    int best_epoch;      /* with the highest valid_loglik so far; 0 before the first validation */
    uint64_t steps_before, resumed_at; /* resumed with more steps: old number, first new step; else 0 */
    int ended;                         /* the epoch that has just ended; 0: the call is within an epoch */
    /* Which of several models, from 1. Epochs, steps and measures are of this model, seconds and seconds_left
     * of all. The last call has the measures of the merged model. */
    int model, models;
} onet_progress;

/* Products of training: of float32 or, on a GPU only, of factors rounded to TF32 or bfloat16. */
typedef enum onet_precision { ONET_FLOAT32 = 0, ONET_TF32 = 1, ONET_BF16 = 2 } onet_precision;

/* In what one of four models differs from the others, beside its seed. */
typedef enum onet_variation { ONET_VARY_NOTHING = 0, ONET_VARY_WITHIN, ONET_VARY_RELATIVE } onet_variation;

ONET_API const onet_choice *onet_schedules(void);       /* onet_schedule */
ONET_API const onet_choice *onet_batch_kinds(void);     /* onet_batches */
ONET_API const onet_choice *onet_norm_statistics(void); /* onet_statistics */
ONET_API const onet_choice *onet_precisions(void);      /* onet_precision */
ONET_API const onet_choice *onet_variations(void);      /* onet_variation */

#define ONET_DECAY_AUTO (-1.0) /* 0.5 for up to 2,000 sets, 0.1 from 10,000 on, 1,000 / sets in between */

typedef struct onet_train_options {
    size_t size;            /* sizeof(onet_train_options) */
    onet_settings settings; /* width is taken from the data when 0 */
    int batch;              /* sets per step */
    int epochs;             /* passes over the training sets */
    uint64_t max_steps;     /* 0: no limit but the epochs */
    double learning_rate;
    onet_schedule schedule;
    double warmup; /* share of all steps, over which the rate rises from 0 */
    double beta1, beta2, epsilon;
    double weight_decay; /* decoupled; ONET_DECAY_AUTO: the stronger, the fewer the sets */
    double clip;         /* largest norm of the gradient; 0: no limit */
    double average;      /* decay of the EMA of the weights, which becomes the model; 0: the last weights */
    onet_batches batches;
    onet_statistics statistics;
    uint64_t seed;
    int standardise;   /* 1: see `scale`; 0: features are taken as they are */
    int train_vectors; /* words: train the vectors too */
    /* Augmentation, drawn anew in each epoch. */
    double forget;       /* words: share replaced by unknown words; a tenth of it for the most frequent 1% */
    double drop;         /* up to this share of a set's items is left out */
    double jitter;       /* numbers: noise on features, in standard deviations of each */
    int threads;         /* 0: one for each CPU */
    const char *kernels; /* as in onet_order_options */
    const char *device;
    onet_precision precision;
    const char *model_path; /* of the model; checkpoints, log and best model go beside it; NULL: no files */
    double checkpoint_seconds; /* 0: only at the end */
    /* Resume from the checkpoint beside model_path, if there is one. It must be of the same data and
     * settings; with more epochs or steps than before, the rest follows the schedule over all steps. */
    int resume;
    int valid_limit; /* most validation sets measured after each epoch; 0: all */
    int patience;    /* stop when valid_loglik has not risen for this many epochs; 0: never */
    /* Called a few times per second, one call at a time, with several models from any thread. Non-zero stops:
     * the checkpoint is written and ONET_INTERRUPTED returned. */
    int (*progress)(void *context, const onet_progress *progress);
    void *context;
    /* Fine-tuning: start from this model, which is not changed, with its settings, standardisation and
     * words; Adam, schedule and EMA start anew. The sets need its width or words. NULL: random weights. */
    const onet_model *from;
    /* Ranks that train together; NULL: this process alone. Rank 0 has the sets and all files, the others pass
     * NULL for both. All get the same model or the same failure. */
    const onet_world *world;
    int keep;          /* 1: ONET_USAGE, unless resuming, if files of an earlier training would be replaced */
    int keep_stopped;  /* 1: a stop also returns the model as trained so far, beside ONET_INTERRUPTED */
    onet_model **best; /* unless NULL: receives the best model by valid_loglik, to be freed, or NULL */
    int half; /* 1: the models have weights in half precision (onet_model_set_half), and are validated so */
    /* Trains this many models, 1 to ONET_MAX_MERGED, with the seeds seed, seed + 1, ..., on a CPU as many at
     * once as there are threads, and merges them. Each has files of its own, m.1.safetensors and so on,
     * beside those of the merged model. A resumed run may have more models. Not with train_vectors. */
    int models;
    /* At this share of the steps, drawn anew in each epoch, a random item is placed, so that the net learns
     * to recover: the next target is the successor of the last item or, if placed, the first item left. */
    double stray;
    /* The scale of the features: a name of onet_scales(), or a list such as "quantile:price,standard:x", by
     * name, or by number from 1 where there are no names. A name without a feature is for all others, which
     * else have "auto". NULL: "auto". Without `standardise`, "auto" and "standard" are "none". */
    const char *scale;
    int within; /* 1: the rank of each feature within the set is a feature too; equal values have one rank */
    /* Relations made from features, scaled as those of the sets: a list such as "distance:x+y,equal:type",
     * names of onet_relates() with columns as for `scale`, or all. The model makes them. NULL: none. */
    const char *relate;
    /* Larger sets are trained on this many consecutive items of their order, drawn anew in each epoch, and on
     * as many of their context items: time grows with the square of the items. 0: whole. */
    int crop;
    /* This share of the encoder's pooled features is 0, drawn anew for each item and step, and the others are
     * multiplied by 1 / (1 - dropout). Statistics are measured without dropout. */
    double dropout;
    /* Of several models, the second, sixth, tenth and so on have `within` (ONET_VARY_WITHIN) or
     * settings.relative (ONET_VARY_RELATIVE) the other way round. Not for words, and not with `from`. */
    onet_variation vary;
} onet_train_options;

/* Values that suit a few thousand sets of a user's own, and the net of preset "default". */
ONET_API void onet_train_defaults(onet_train_options *options, size_t size);
/* Trains on sets with known order; measures on `valid` after each epoch, unless NULL. options
 * NULL: the defaults. *model: the model after the last step; NULL after a failure, but see keep_stopped. */
ONET_API onet_status onet_train(onet_model **model, const onet_sets *train, const onet_sets *valid,
                                const onet_train_options *options, onet_error *err);

#ifdef __cplusplus
}
#endif
#endif
