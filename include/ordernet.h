/* OrderNet: learn an order from examples, and put new sets in order. From include to an ordered set:
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

/* The same numbers are the program's exit status. */
typedef enum onet_status {
    ONET_OK = 0,
    ONET_FAILED = 1,       /* what was asked for could not be reached (a loss became NaN, ...) */
    ONET_USAGE = 2,        /* the call itself is wrong: an option out of range, a missing argument */
    ONET_BAD = 3,          /* bad data or a bad model file */
    ONET_IO = 4,           /* a file could not be opened, read or written */
    ONET_MEMORY = 5,       /* not enough memory */
    ONET_INTERRUPTED = 130 /* a callback asked to stop */
} onet_status;

/* text: one sentence that says what is wrong, where, and what to do. field: the field that it is about, or
 * two with a blank between, such as "onet_train_options.clip"; "": none. The sentence does not name it, so
 * that a program can say what its own users call it. */
typedef struct onet_error {
    char text[960];
    char field[64];
} onet_error;

/* A trained net with all that it needs to order a set. Any number of threads may use one at once. */
typedef struct onet_model onet_model;

ONET_API onet_status onet_model_load(onet_model **model, const char *path, onet_error *err);
/* Puts one set in order by beam search: items [n, width] in, order [n] and, where it is not NULL, the
 * natural logarithm of the order's probability out. A model that was trained on data with missing values
 * takes NaN for them, and the width of its columns. */
ONET_API onet_status onet_order(const onet_model *model, const float *items, int n, int32_t *order,
                                double *logprob, onet_error *err);
ONET_API void onet_model_free(onet_model *model);

/* clang-format off */
/* ========================================================================================================
 * The objects, and the rules that hold for all of them.
 *
 *   onet_sets      sets of items and, where it is known, their right order: read from a file or filled in
 *   onet_train     sets in, model out; checkpoints on the way, callbacks for progress and cancelling
 *   onet_model     a trained net: load, order, save
 *   onet_orderer   a model with threads, memory and perhaps a GPU, to order many sets; gives onet_answers
 *   onet_world     the ranks of mpirun, where several share the work
 *
 * Beside this header, each of which includes it:
 *   ordernet_io.h        data files: all options, sets one by one, names of features; what a model file holds
 *   ordernet_words.h     items that are words: vocabularies, and sentences as answers
 *   ordernet_measure.h   how well answers agree with the right orders, and how fast they come
 *   ordernet_tsp.h       tours: the travelling salesman problem by exact, classic and learned methods
 *
 * Errors. Every function that can fail gives an onet_status back and, when err is not NULL, a sentence. The
 * library does not print, exit or abort. What a function is given is checked: NULL where an object is needed,
 * a number out of range or sets that are not as onet_sets says give ONET_USAGE or ONET_BAD; functions without
 * a status then give NULL, 0, -1 or NaN back. Pointers to fewer elements than they say, and freed objects,
 * cannot be found out. Text and numbers are read and written alike in every locale.
 *
 * Memory. Whoever makes an object frees it, with the function of its name in _free, _close, _commit or _abort;
 * all of them but _commit take NULL. What a function returns by pointer stays valid as long as the object that
 * it was asked of, unless it says otherwise. Dimensions: n items in a set, width features per item.
 *
 * How structs grow. A program that was compiled with an older header works with a newer library of the same
 * ABI (the number in its soname, libordernet.so.1):
 * - Options begin with `size`, the caller's sizeof. Fill them in with onet_train_defaults(&options, sizeof
 *   options) and its siblings, or start from {.size = sizeof options}. Fields that the caller's header did
 *   not have get their defaults. Fields that the library does not know must be zero. Else: ONET_USAGE.
 * - Structs that the caller may make itself (onet_sets, onet_settings, onet_answer, onet_report) keep their
 *   size and end in `reserved`, which must be zero. A new field takes its place; zero means "as before".
 * - Structs that the library alone makes (onet_progress) grow at the end. Do not copy them by size. */
/* clang-format on */

#define ONET_VERSION_MAJOR 0
#define ONET_VERSION_MINOR 2
#define ONET_VERSION_PATCH 0

ONET_API const char *onet_version(void);
ONET_API const char *onet_status_name(onet_status status);

/* A value with its name, for programs whose user chooses by name. Lists of them end in a NULL name, live as
 * long as the program, and may have more entries in a later version. */
typedef struct onet_choice {
    const char *name;
    const char *help; /* what it is, in a few words */
    int value;        /* of the enum */
} onet_choice;

/* ---- Sets -------------------------------------------------------------------------------------------- */

/* What is known of an order before it is looked for. Items are counted over all sets: start[s] + i. */
typedef enum onet_constraint_kind {
    ONET_BEFORE = 0, /* `item` comes before `other`, an item of the same set */
    ONET_PLACE,      /* `item` stands at place `other` of its set; a set's fixed places are 0, 1, 2, ... */
    ONET_LAST,       /* `item` comes last */
    ONET_NEXT        /* `other`, an item of the same set, comes directly after `item` */
} onet_constraint_kind;

typedef struct onet_constraint {
    onet_constraint_kind kind;
    size_t item, other;
} onet_constraint;

/* The names of the features, where they come from a table or from objects of JSON, and what stands for a
 * missing value; see ordernet_io.h. */
typedef struct onet_columns onet_columns;
/* A vocabulary: one vector of features per word; see ordernet_words.h. */
typedef struct onet_words onet_words;

/* `count` sets; set s owns items start[s] .. start[s+1]-1. Items are features (float32, row by row) or
 * words (indices into `words`, a vocabulary with one vector per word); one of items and word is NULL.
 *
 * Context items are seen by the net and never placed. With m placed items in set s, order[start[s] + t] is
 * for t < m the index, within set s, of the item at place t, and for t >= m the context items, smallest index
 * first; so each set's part of order is a permutation. order is NULL when not known. Every set has a placed
 * item.
 *
 * Constraints hold for ordering; training ignores them. Those of a set stand together, in the order
 * of the sets.
 *
 * A view of some sets in a row is a copy of the struct whose start, count and constraints are theirs: start
 * points to the first one's, and items, word, order and context stay where they are. */
typedef struct onet_sets {
    size_t count;
    int width;               /* features per item; for words the width of their vectors */
    size_t *start;           /* [count + 1] */
    float *items;            /* [start[count], width] */
    int32_t *word;           /* [start[count]] */
    const onet_words *words; /* the vocabulary that `word` indexes */
    int32_t *order;          /* [start[count]] */
    uint8_t *context; /* [start[count]]: 1: the item is seen but never placed; NULL: every item is placed */
    onet_constraint *constraints; /* [constraint_count] */
    size_t constraint_count;
    char hash[65];         /* SHA-256 of the file that they came from, in hex; "" when there was none */
    onet_columns *columns; /* the names of the features; NULL: not known. Owned by the sets */
    size_t words_lent;     /* 1: `words` stays its owner's; 0: onet_sets_free frees it too */
    /* [start[count], width]: the features before they were rounded to float32, where that lost something that
     * may matter (times in seconds since 1970); NULL: `items` is all that is known. */
    double *exact;
    void *reserved[1]; /* zero */
} onet_sets;

/* n: items of set s. */
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

/* All options of reading: ordernet_io.h. NULL suits most files. */
typedef struct onet_read_options onet_read_options;

/* Reads a whole file ("-": standard input; .gz and .xz as such). */
ONET_API onet_status onet_sets_read(onet_sets **sets, const char *path, const onet_read_options *options,
                                    onet_error *err);
ONET_API onet_status onet_sets_write(const onet_sets *sets, const char *path, onet_format format,
                                     onet_error *err);
/* Copies `count` sets of n items each, items [count, n, width], order [count, n] or NULL. */
ONET_API onet_status onet_sets_from(onet_sets **sets, size_t count, int n, int width, const float *items,
                                    const int32_t *order, onet_error *err);
/* Gives the sets context items, a copy of context [start[count]], or takes them away (NULL). Orders that are
 * there must be as onet_sets says. */
ONET_API onet_status onet_sets_set_context(onet_sets *sets, const uint8_t *context, onet_error *err);
/* Gives the sets constraints, a copy of constraints [count], in place of those that they had. ONET_BAD for
 * those that no order can keep; the sentence names them. */
ONET_API onet_status onet_sets_set_constraints(onet_sets *sets, const onet_constraint *constraints,
                                               size_t count, onet_error *err);
ONET_API void onet_sets_free(onet_sets *sets);
/* Checks sets that the caller filled in itself, in arrays of its own, which nothing copies: sizes, finite
 * features, words of the vocabulary, orders, context and constraints. ONET_BAD: the sentence names the set.
 * Such sets may be ordered, scored, measured, trained on and written; they are not to be freed as sets. */
ONET_API onet_status onet_sets_check(const onet_sets *sets, onet_error *err);
/* 1 when the orders of the sets look like ranks (the place of each item), given in their place: over many
 * sets the features then go with the inverse of the orders, and not with the orders. 0 otherwise, for words,
 * and where the features do not tell. */
ONET_API int onet_sets_look_like_ranks(const onet_sets *sets);

/* ---- Model ----------------------------------------------------------------------------------------- */

ONET_API onet_status onet_model_save(const onet_model *model, const char *path, onet_error *err);
/* A model whose logits are the mean of the logits of models [count], 1 to 64 of them, which stay the
 * caller's. They must have the same number of blocks, the same pool, features and statistics by size:
 * ONET_BAD says what differs. */
ONET_API onet_status onet_model_merge(onet_model **merged, const onet_model *const *models, size_t count,
                                      onet_error *err);

/* AUTO is for training alone: mean below 10,000 training sets, max from there on (docs/model.md). */
typedef enum onet_pool { ONET_POOL_MAX = 0, ONET_POOL_MEAN = 1, ONET_POOL_AUTO = 2 } onet_pool;

/* The net's shape. See docs/model.md. */
typedef struct onet_settings {
    int width;          /* d: features per item */
    int encoder_blocks; /* M */
    int hidden;         /* H: channels inside an encoder block */
    int encoder_out;    /* O: channels that an encoder block adds */
    onet_pool pool;     /* over the pairs of an item */
    int decoder_blocks; /* N */
    int decoder_out;    /* C: channels that a decoder block adds, twice (itself and its pool) */
    int relative;       /* 1: each item also has its features relative to its set; not for words */
    int reserved[8];    /* zero */
} onet_settings;

/* What is done with a feature before the net sees it. Values are taken in double and centred there before
 * they are rounded, wherever float32 would blur them. */
typedef enum onet_scale {
    ONET_SCALE_AUTO = 0, /* STANDARD, or QUANTILE with the rank within the set for heavy tails or far
                          * clusters: where most values of a set would come to lie too close together */
    ONET_SCALE_STANDARD, /* mean 0 and deviation 1 over the training data */
    ONET_SCALE_QUANTILE, /* the share of the training data's values that are smaller; then STANDARD */
    ONET_SCALE_NONE      /* as it is */
} onet_scale;
ONET_API const onet_choice *onet_scales(void); /* onet_scale */

/* What was chosen for a feature. */
typedef struct onet_feature {
    onet_scale scale; /* never AUTO */
    int within;       /* 1: the net also has its rank within the set, equal values alike */
    int centred;      /* 1: STANDARD, centred in double */
    int crowded;      /* 1: heavy tails or far clusters; onet_train_features alone tells it */
    int exact;        /* 1: float32 would blur its values, which are taken in double */
    int reserved[11]; /* zero */
} onet_feature;

ONET_API const onet_choice *onet_pools(void); /* onet_pool */
ONET_API const onet_choice *onet_presets(void);

/* Fills in a preset by its name: "tsp" or "words" (the paper's two nets) or "default". width stays as it is.
 * ONET_USAGE for another name. */
ONET_API onet_status onet_settings_preset(onet_settings *settings, const char *name, onet_error *err);

ONET_API const onet_settings *onet_model_settings(const onet_model *model);
/* "ranker": a net without blocks (onet_ranker_train); else "network". */
ONET_API const char *onet_model_kind(const onet_model *model);
ONET_API size_t onet_model_parameters(const onet_model *model, int trained_only);
/* SHA-256, in hex, over all that decides an answer: settings, parameters, standardisation, words. */
ONET_API void onet_model_checksum(const onet_model *model, char hex[65]);
/* Whether the statistics of the norms depend on the size of a set: they were measured in training with
 * batches of one size (ONET_STATISTICS_MEASURED, ONET_BATCHES_ONE_SIZE). */
ONET_API int onet_model_sized(const onet_model *model);

/* Features of an item in the sets that it orders. onet_model_settings has the width for the net, which is
 * larger where ranks within the set are added. */
ONET_API int onet_model_width(const onet_model *model);
/* What it does with feature j < onet_model_width into *feature; returns 0 when there are no more. */
ONET_API int onet_model_feature(const onet_model *model, int j, onet_feature *feature);
/* The vocabulary of a model that orders words; NULL when its items are numbers. */
ONET_API const onet_words *onet_model_words(const onet_model *model);
/* The columns of the data that it was trained on; NULL: it knows no names and no missing values. */
ONET_API const onet_columns *onet_model_columns(const onet_model *model);

/* ---- Ordering: many sets, all options ---------------------------------------------------------------- */

typedef struct onet_world onet_world; /* see "Several ranks" */

typedef enum onet_decode { ONET_BEAM = 0, ONET_GREEDY, ONET_SAMPLE } onet_decode;

ONET_API const onet_choice *onet_decodes(void); /* onet_decode */
/* Names for `kernels` and `device` below, "auto" first: the kernel sets of this kind of CPU; a device may
 * also be "cuda:N", the GPU with that number. */
ONET_API const onet_choice *onet_kernel_sets(void);
ONET_API const onet_choice *onet_devices(void);
/* The kernels that this CPU runs, fastest first, ended by NULL. Valid as long as the calling thread. */
ONET_API const char *const *onet_kernels_here(void);

typedef struct onet_order_options {
    size_t size; /* sizeof(onet_order_options) */
    onet_decode decode;
    int beam;            /* 0: 5 */
    int top;             /* orders returned per set, best first; 0: 1 */
    uint64_t seed;       /* for ONET_SAMPLE */
    int threads;         /* 0: one for each CPU */
    const char *kernels; /* NULL, or a name of onet_kernel_sets() */
    const char *device;  /* NULL or "auto", "cpu", "cuda", "cuda:N" */
    /* Ranks that share the work; NULL: this process alone. Rank 0 uses the orderer; the others call
     * onet_orderer_work. */
    const onet_world *world;
    int max_items; /* a set of more items is refused: time grows with the square of their number; 0: 2^24 */
    /* Called a few times a second while the CPU orders a set of 400 items or more: steps done, of how many.
     */
    void (*progress)(void *context, size_t done, size_t steps);
    void *context;
    /* Asked by every thread that orders, many times a second, on the CPU; non-zero ends the run with
     * ONET_INTERRUPTED, and the answers are incomplete. NULL: it runs to its end. */
    int (*stop)(void *context);
} onet_order_options;

/* Beam search of width 5 that gives the best order, on all CPU threads or a GPU. */
ONET_API void onet_order_defaults(onet_order_options *options, size_t size);

/* The answer for one set; the memory is the caller's. Fewer than `top` orders are found when the beam is
 * narrower or the set has fewer orders. */
typedef struct onet_answer {
    int found;       /* orders found, at most top */
    int32_t *order;  /* [top, n]: the placed items, then the context items, smallest index first */
    double *logprob; /* [top] */
    float *step;     /* [top, n]: probability of each step's choice, 0 for context; NULL when not wanted */
    /* [n]: for a writer of scores, as onet_orderer_score_steps gives them; onet_orderer_run leaves it alone
     */
    double *step_logprob;
    void *reserved[3]; /* zero */
} onet_answer;

/* An orderer holds threads and memory for reuse. One caller at a time may use it; any number of orderers may
 * share a model. */
typedef struct onet_orderer onet_orderer;
ONET_API onet_status onet_orderer_new(onet_orderer **orderer, const onet_model *model,
                                      const onet_order_options *options, onet_error *err);
ONET_API void onet_orderer_free(onet_orderer *orderer);
/* In ranks other than 0: orders what rank 0 sends until rank 0 frees its orderer. */
ONET_API void onet_orderer_work(onet_orderer *orderer);
/* The same, by its name in version 0.2.0. */
ONET_API void onet_orderer_serve(onet_orderer *orderer);
/* A name of onet_kernel_sets(), or "cuda": what the last run was computed with. Valid as long as the orderer.
 */
ONET_API const char *onet_orderer_kernels(const onet_orderer *orderer);
/* sets of any sizes, in parallel; answers[count]. The sets' own order is ignored. Orders keep the sets'
 * constraints; the probabilities are the model's own, as if there were none. */
ONET_API onet_status onet_orderer_run(onet_orderer *orderer, const onet_sets *sets, onet_answer *answers,
                                      onet_error *err);
/* Log-probability that the model gives to the sets' own order: logprob[count]. Constraints are ignored. */
ONET_API onet_status onet_orderer_score(onet_orderer *orderer, const onet_sets *sets, double *logprob,
                                        onet_error *err);
/* The same, and the log-probability of each step's choice: step[start[count] - start[0]], set after set, 0
 * for context items; NULL when not wanted. */
ONET_API onet_status onet_orderer_score_steps(onet_orderer *orderer, const onet_sets *sets, double *logprob,
                                              double *step, onet_error *err);

/* What the net chooses from along the own order of the only set: probability [n, n], row t that of each item
 * at place t, given the items before it; 0 for items that are placed already and for context items. The rows
 * of context items' places are 0. */
ONET_API onet_status onet_orderer_choices(onet_orderer *orderer, const onet_sets *sets, double *probability,
                                          onet_error *err);

/* ---- Training ---------------------------------------------------------------------------------------- */

typedef enum onet_schedule { ONET_CONSTANT = 0, ONET_COSINE = 1 } onet_schedule;

/* Which sets share a batch: sets of any sizes, so that the batch norms see in training what they see when
 * sets are ordered; or sets of one size (the paper's rule). */
typedef enum onet_batches { ONET_BATCHES_MIXED = 0, ONET_BATCHES_ONE_SIZE = 1 } onet_batches;

/* Which statistics the batch norms have when a set is ordered: the running averages of training, or those
 * measured with the final weights when training ends. With batches of one size these are measured by size,
 * and a line in 1/n through them is carried on to larger sizes than were seen. */
typedef enum onet_statistics { ONET_STATISTICS_RUNNING = 0, ONET_STATISTICS_MEASURED = 1 } onet_statistics;

typedef struct onet_progress {
    int epoch, epochs; /* epoch counts from 1 */
    uint64_t step, steps;
    double loss; /* mean per step of an order, smoothed over the last steps */
    double learning_rate;
    double valid_exact; /* share of validation sets in exactly the right order; NaN before the first */
    double examples_per_second, seconds, seconds_left;
    double
        valid_loglik; /* log-likelihood of the validation sets' orders, mean per step; NaN before the first */
    int best_epoch;   /* with the highest valid_loglik so far; 0 before the first */
    /* A run that goes on with more steps than before: the steps that its checkpoint was of, and after which
     * of them it went on; 0 where it does not. */
    uint64_t steps_before, resumed_at;
    int ended; /* the epoch that has just ended; 0: the call comes in the midst of one */
    /* Which of several models (onet_train_options.models), from 1. Epochs, steps and measures are its own;
     * seconds and seconds_left are those of all. The last call of all has the measures of the merged one. */
    int model, models;
} onet_progress;

/* How the products of training are computed: in float32, or (only on a GPU) with factors rounded to TF32, on
 * its tensor cores. Sums are in float32 either way. */
typedef enum onet_precision { ONET_FLOAT32 = 0, ONET_TF32 = 1 } onet_precision;

ONET_API const onet_choice *onet_schedules(void);       /* onet_schedule */
ONET_API const onet_choice *onet_batch_kinds(void);     /* onet_batches */
ONET_API const onet_choice *onet_norm_statistics(void); /* onet_statistics */
ONET_API const onet_choice *onet_precisions(void);      /* onet_precision */

typedef struct onet_train_options {
    size_t size;            /* sizeof(onet_train_options) */
    onet_settings settings; /* width is taken from the data when 0 */
    int batch;              /* sets per step */
    int epochs;
    uint64_t max_steps; /* 0: as the epochs say */
    double learning_rate;
    onet_schedule schedule;
    double warmup; /* share of all steps with a rising rate */
    double beta1, beta2, epsilon;
    double weight_decay; /* decoupled */
    double clip;         /* largest norm of the gradient; 0: no limit */
    double average;      /* decay of the running average of the weights; 0: none */
    onet_batches batches;
    onet_statistics statistics;
    uint64_t seed;
    int standardise;
    int train_vectors;   /* words: train the vectors too */
    double forget;       /* words: share taken for unknown, drawn anew in each epoch; a
                          * tenth of it among the most frequent hundredth of the vocabulary */
    double drop;         /* up to this share of a set's items left out, drawn anew in each epoch */
    double jitter;       /* numbers: noise on features, in deviations of each, drawn anew in each epoch */
    int threads;         /* 0: one for each CPU */
    const char *kernels; /* as in onet_order_options */
    const char *device;
    onet_precision precision;
    const char *model_path;    /* checkpoints, the log and the best model are written beside it; NULL: none */
    double checkpoint_seconds; /* 0: only at the end */
    /* Go on from the checkpoint beside model_path, if there is one. It must be of the same data and settings;
     * more epochs or steps than before are possible: the schedule then is that of all steps, from there on.
     */
    int resume;
    int valid_limit; /* validation sets looked at after each epoch at most; 0: all */
    int patience;    /* stop when valid_loglik has not risen for so many epochs; 0: never */
    /* Called a few times a second; non-zero stops: the checkpoint is written, ONET_INTERRUPTED given back. */
    int (*progress)(void *context, const onet_progress *progress);
    void *context;
    /* Fine-tuning: begin with the weights of this model, which is not changed; NULL: with random ones. The
     * settings, the standardisation (mean and scale) and the words with their vectors are the model's, and
     * `settings` and `standardise` above are not looked at. Adam, the schedule and the average of the weights
     * start anew. The sets must have items of the model's width, or words of its vocabulary. */
    const onet_model *from;
    /* Ranks that train together; NULL: this process alone. Rank 0 has the sets, and reads and writes all
     * files; the others give NULL for both sets. Every rank gets the same model or the same failure. */
    const onet_world *world;
    /* 1: ONET_USAGE where a model, checkpoint, log or best model of an earlier training stands at model_path
     * or beside it, unless `resume` is set. 0: they are replaced. */
    int keep;
    int keep_stopped; /* 1: a stop gives the model as trained so far, beside ONET_INTERRUPTED */
    /* Where not NULL: gets the best model by validation, for the caller to free; NULL when nothing was
     * validated or the training failed. */
    onet_model **best;
    /* 1: the model, and the best one, have their weights in half precision (onet_model_set_half); validation
     * measures them so. The training itself and its checkpoints do not change. */
    int half;
    /* Trains so many models, 1 to 64, with the seeds seed, seed + 1, ..., one after the other, and merges
     * them (onet_model_merge). Each has files of its own, beside m.1.safetensors, m.2.safetensors, ...: the
     * merged model is written to model_path, the merged best ones to m.best.safetensors. A run that is
     * resumed may have more models than before. Not with train_vectors. */
    int models;
    /* At this share of the steps another item than the right one is placed, drawn anew in each epoch, so that
     * the net learns to go on after an error of its own: right is then what follows the item placed last or,
     * where that is placed already, the first item that is left. */
    double stray;
    /* The scale of the features: a name of onet_scales(), or a list for some of them by name, or by number
     * from 1 where they have no names: "quantile:price,standard:x", and "auto" for the others, unless a name
     * alone stands in the list. NULL: "auto". Without `standardise` "auto" and "standard" are "none". */
    const char *scale;
    int within; /* 1: the rank of each feature within the set, equal values alike, is a feature too */
} onet_train_options;

/* Files that training writes beside m.safetensors: m.best.safetensors, m.checkpoint.safetensors, m.log.csv;
 * and m.lock, as long as it runs, so that no other writes the same. */
typedef enum onet_train_file {
    ONET_TRAIN_BEST = 0,
    ONET_TRAIN_CHECKPOINT,
    ONET_TRAIN_LOG,
    ONET_TRAIN_LOCK
} onet_train_file;
/* The name of one of them into path [room]; returns its length, as snprintf does. */
ONET_API size_t onet_train_path(char *path, size_t room, const char *model_path, onet_train_file file);
/* The same for the model of that number, from 1, where there are several: m.1.safetensors. */
ONET_API size_t onet_train_model_path(char *path, size_t room, const char *model_path, int number);

/* Values that suit a few thousand sets of a user's own, and the net of preset "default". */
ONET_API void onet_train_defaults(onet_train_options *options, size_t size);
/* Whether a training with these options may begin: what onet_train asks for first, to be asked before the
 * data are read. */
ONET_API onet_status onet_train_possible(const onet_train_options *options, onet_error *err);
/* Trains on sets with known order; valid may be NULL. *model: the last (averaged) model. The best by
 * validation, by the log-likelihood of its sets' orders, is written beside model_path. */
ONET_API onet_status onet_train(onet_model **model, const onet_sets *train, const onet_sets *valid,
                                const onet_train_options *options, onet_error *err);

/* What a training on these sets with these options would do with each feature: feature [width of the sets].
 * *equal, where it is not NULL: items that differ from another of their set, and not for the net. */
ONET_API onet_status onet_train_features(onet_feature *feature, const onet_sets *train,
                                         const onet_train_options *options, size_t *equal, onet_error *err);

/* ---- Ranker ------------------------------------------------------------------------------------------ */

/* The simplest model: a net without blocks. Each item has a score, a weighted sum of its own features, and
 * the highest goes first, whatever the other items of the set are. It learns in about a second from a few
 * thousand sets, and is an onet_model like any other: saved, loaded, ordered and scored alike. */
typedef struct onet_ranker_options {
    size_t size;     /* sizeof(onet_ranker_options) */
    double penalty;  /* on half the squares of the weights, beside the loss per step; 0: the one of 1e-7 to
                      * 0.1 that suits a fifth of the sets, held out for this, best */
    int relative;    /* 1: each item also has its features relative to its set; not for words */
    int standardise; /* 1: features are brought to mean 0 and deviation 1 */
    uint64_t seed;   /* draws the sets held out */
    int threads;     /* 0: one for each CPU; the model is the same for any number */
    /* As in onet_train_options. */
    const char *scale;
    int within;
} onet_ranker_options;

ONET_API void onet_ranker_defaults(onet_ranker_options *options, size_t size);
/* Trains on sets with known order. options may be NULL. */
ONET_API onet_status onet_ranker_train(onet_model **model, const onet_sets *train,
                                       const onet_ranker_options *options, onet_error *err);
/* Its weights, of the scaled features and of their ranks within the set, then of the relative ones: [width of
 * the settings], or twice as many where settings.relative is 1. NULL where the model is not a ranker. Valid
 * as long as the model. */
ONET_API const float *onet_ranker_weights(const onet_model *model);

/* ---- Several ranks ----------------------------------------------------------------------------------- */

/* The ranks that mpirun started for one task (docs/scale.md). Put it into onet_train_options or
 * onet_order_options: all ranks then make the same calls with the same options. */
/* *world is NULL for a process that runs alone. Stays valid until onet_world_close. After a failure, which
 * the other ranks need not have met, this process has to end. */
ONET_API onet_status onet_world_open(const onet_world **world, onet_error *err);
ONET_API int onet_world_rank(const onet_world *world); /* from 0; 0 where world is NULL */
ONET_API int onet_world_size(const onet_world *world); /* 1 where world is NULL */
/* The status of all ranks: that of the first that failed, with its sentence. Called by all of them after a
 * step that may fail in one, before they wait for each other. */
ONET_API onet_status onet_world_agree(const onet_world *world, onet_status status, onet_error *err);
/* The last call: waits for all ranks. */
ONET_API void onet_world_close(const onet_world *world);

#ifdef __cplusplus
}
#endif
#endif
