/* OrderNet: learn an order from examples, and put new sets in order.
 *
 * The story of the objects:
 *   onet_sets      sets of items and, where it is known, their right order. Read from a file or filled in.
 *   onet_train     sets in, model out; checkpoints on the way, callbacks for progress and cancelling.
 *   onet_model     a trained net with all that it needs to order a set: load, order, save.
 *   onet_orderer   a model with threads, memory and perhaps a GPU, to order many sets; gives onet_answers.
 *   onet_report    how well answers agree with the right orders.
 *   onet_words     a vocabulary: what items are that are words.
 *   onet_columns   the names of the features, and what stands for a missing value: how a table becomes items.
 *   onet_reader    the sets of a file or pipe, one onet_record at a time; onet_writer takes them back.
 *   onet_world     the ranks of mpirun, where several share the work.
 *
 * Every function that can fail gives an onet_status back and, when err is not NULL, a sentence that says
 * what is wrong, where, and what to do. The library does not print, exit or abort. One loaded model may be
 * used by many threads at once. What a function is given is checked: NULL where an object is needed, a number
 * out of range or sets that are not as onet_sets says give ONET_USAGE or ONET_BAD; functions without a status
 * then give NULL, 0, -1 or NaN back. Pointers to fewer elements than they say, and freed objects, cannot be
 * found out. Text and numbers are read and written alike in every locale. Dimensions: n items in a set, width
 * features per item.
 *
 * Whoever makes an object frees it, with the function of its name in _free, _close, _commit or _abort; all of
 * them but _commit take NULL. What a function returns by pointer stays valid as long as the object that it
 * was asked of, unless it says otherwise.
 *
 * How structs grow. A program that was compiled with an older header works with a newer library of the same
 * ABI (the number in its soname, libordernet.so.1):
 * - Options begin with `size`, the caller's sizeof. Fill them in with onet_train_defaults(&options, sizeof
 *   options) and its siblings, or start from {.size = sizeof options}. Fields that the caller's header did
 * not have get their defaults. Fields that the library does not know must be zero. Else: ONET_USAGE.
 * - Structs that the caller may make itself (onet_sets, onet_settings, onet_answer, onet_report) keep their
 * size and end in `reserved`, which must be zero. A new field takes its place; zero means "as before".
 * - Structs that the library alone makes (onet_progress) grow at the end. Do not copy them by size. */
#ifndef ORDERNET_H
#define ORDERNET_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ONET_API __attribute__((visibility("default")))

#define ONET_VERSION_MAJOR 0
#define ONET_VERSION_MINOR 2
#define ONET_VERSION_PATCH 0

ONET_API const char *onet_version(void);

/* ========================================================================================================
 * Simple: read sets, load a model, order a set, save.
 * Each call stands alone. */

/* ---- Status ------------------------------------------------------------------------------------------ */

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

typedef struct onet_error {
    char text[1024];
} onet_error;

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

/* What the features are called, where they come from a table or from objects of JSON; which columns name the
 * set and the rank of a row; and what stands for a missing value. Sets that are read from CSV have columns, a
 * model that is trained on them keeps them, and a reader that is given the model's
 * (onet_read_options.columns) takes the features by their names, in whatever order a file has them. See
 * "Columns" below. */
typedef struct onet_columns onet_columns;

/* `count` sets; set s owns items start[s] .. start[s+1]-1. Items are features (float32, row by row) or
 * words (indices into `words`, a vocabulary with one vector per word); one of items and word is NULL.
 *
 * Context items are seen by the net and never placed. With m placed items in set s, order[start[s] + t] is
 * for t < m the index, within set s, of the item at place t, and for t >= m the context items, smallest index
 * first; so each set's part of order is a permutation. order is NULL when not known. Every set has a placed
 * item.
 *
 * Constraints hold for ordering; training does not look at them. Those of a set stand together, in the order
 * of the sets.
 *
 * A view of some sets in a row is a copy of the struct whose start, count and constraints are theirs: start
 * points to the first one's, and items, word, order and context stay where they are. */
typedef struct onet_words onet_words;
typedef struct onet_sets {
    size_t count;
    int width;         /* features per item; for words the width of their vectors */
    size_t *start;     /* [count + 1] */
    float *items;      /* [start[count], width] */
    int32_t *word;     /* [start[count]] */
    onet_words *words; /* the vocabulary that `word` indexes; owned by the sets */
    int32_t *order;    /* [start[count]] */
    uint8_t *context;  /* [start[count]]: 1: the item is seen but never placed; NULL: every item is placed */
    onet_constraint *constraints; /* [constraint_count] */
    size_t constraint_count;
    char hash[65];         /* SHA-256 of the file that they came from, in hex; "" when there was none */
    onet_columns *columns; /* the names of the features; NULL: not known. Owned by the sets */
    void *reserved[3];     /* zero */
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

/* What becomes of a feature that an item lacks. */
typedef enum onet_missing {
    ONET_MISSING_ERROR = 0, /* the data are refused */
    ONET_MISSING_MEAN,      /* it gets the mean of the training data */
    ONET_MISSING_INDICATOR  /* likewise; and each feature that lacks a value in the training data is followed,
                             * behind all features, by one that is 1 where its value is missing and else 0 */
} onet_missing;

typedef struct onet_read_options {
    size_t size; /* sizeof(onet_read_options) */
    onet_format format;
    const char *set_column;  /* CSV; NULL: "set" */
    const char *rank_column; /* CSV; NULL: "rank" */
    const char *features;    /* CSV: comma-separated names; NULL: every numeric column */
    int width;               /* Pointer Network text: features per item; 0: 2 */
    const onet_words *words; /* the vocabulary that turns words into items; NULL: items must be numbers */
    /* Where the bytes come from, if not from the file at path, which then is their name: gives at most `size`
     * of them, 0 at the end, -1 when it fails. */
    ptrdiff_t (*bytes)(void *context, void *buffer, size_t size);
    void *context;
    /* Those of a model (onet_model_columns) or of other sets: features are taken by these names, in this
     * order, from CSV and from JSON with keys; one that a file lacks is refused, others are passed through.
     * Names in set_column, rank_column and features stand before them. Formats without names go by position.
     * NULL: as the file has them. */
    const onet_columns *columns;
    /* What becomes of missing values (an empty field, NA, null, NaN), where `columns` does not say. */
    onet_missing missing;
    int one_set;   /* CSV: a file that lacks the set column is one set; so it is where set_column is "" */
    int delimiter; /* CSV: between two fields; 0: a tab where the name or the header tells, else a comma */
    int mixed;     /* onet_reader_next: items may have one width in one set and another in the next */
} onet_read_options;

/* All zero but `size`; nothing is needed for most files. */
ONET_API void onet_read_defaults(onet_read_options *options, size_t size);

ONET_API const onet_choice *onet_formats(void); /* onet_format */

typedef struct onet_write_options {
    size_t size;             /* sizeof(onet_write_options) */
    onet_format format;      /* AUTO: that of the path's name, else of each input */
    const char *set_column;  /* CSV; NULL: "set" */
    const char *rank_column; /* CSV; NULL: "rank" */
    const onet_words *words; /* safetensors: the vocabulary of items that are words; NULL: the input's own */
    /* What an answer adds to a set. */
    int logprob;   /* CSV: a column for it; JSON Lines always has it */
    int steps;     /* the probability of each step */
    int top;       /* more than 1: that many orders */
    int score;     /* the answers are the sets' own orders: only logprob and step_logprob are added */
    int delimiter; /* CSV: between two fields; 0: a tab where the name ends in .tsv, a comma from .tsv to
                      .csv, else as the sets came */
    int errors;    /* 1: onet_writer_put_error will be called; only for JSON Lines */
    /* How the sets were made, in UTF-8, such as a command; NULL: nothing is said. JSON Lines keeps it as the
     * key `made` of the first set, safetensors in its metadata; other formats have no place for it. */
    const char *made;
} onet_write_options;

ONET_API void onet_write_defaults(onet_write_options *options, size_t size);

/* Reads a whole file ("-": standard input; .gz as such). options may be NULL. */
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
/* The format that a name in .jsonl, .csv, ... tells; ONET_USAGE where it tells none. */
ONET_API onet_status onet_format_of_path(const char *path, onet_format *format, onet_error *err);
/* Copies set after set from one file to another; "-" is standard input or output. Both options may be NULL.
 * What the format can hold of the user's own text (other keys, columns, digits) stays as it was. */
ONET_API onet_status onet_sets_convert(const char *from, const char *to, const onet_read_options *reading,
                                       const onet_write_options *writing, onet_error *err);

/* ---- Model: simple ----------------------------------------------------------------------------------- */

typedef struct onet_model onet_model;

ONET_API onet_status onet_model_load(onet_model **model, const char *path, onet_error *err);
ONET_API onet_status onet_model_save(const onet_model *model, const char *path, onet_error *err);
ONET_API void onet_model_free(onet_model *model);
/* The bytes of the file that onet_model_save would write: *bytes [*size], to be freed with onet_bytes_free;
 * and a model from such bytes. */
ONET_API onet_status onet_model_to_bytes(const onet_model *model, void **bytes, size_t *size,
                                         onet_error *err);
ONET_API void onet_bytes_free(void *bytes);
ONET_API onet_status onet_model_from_bytes(onet_model **model, const void *bytes, size_t size,
                                           onet_error *err);
/* A model whose logits are the mean of the logits of models [count], 1 to 64 of them, which stay the
 * caller's. They must have the same number of blocks, the same pool, features and statistics by size:
 * ONET_BAD says what differs. */
ONET_API onet_status onet_model_merge(onet_model **merged, const onet_model *const *models, size_t count,
                                      onet_error *err);

/* Puts one set in order by beam search: items [n, width] in, order [n] and, where it is not NULL, the
 * natural logarithm of the order's probability out. A model that was trained on data with missing values
 * takes NaN for them, and the width of its columns. */
ONET_API onet_status onet_order(const onet_model *model, const float *items, int n, int32_t *order,
                                double *logprob, onet_error *err);

/* ========================================================================================================
 * Context: objects that are kept and reused, and all options.
 * An orderer for many sets, a training, measures. */

typedef struct onet_world onet_world; /* see "Several ranks" */

/* ---- Answers ----------------------------------------------------------------------------------------- */

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

/* ---- Model: settings and facts ----------------------------------------------------------------------- */

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

ONET_API const onet_choice *onet_pools(void); /* onet_pool */
ONET_API const onet_choice *onet_presets(void);

/* Fills in a preset by its name: "tsp" or "words" (the paper's two nets) or "default". width stays as it is.
 * ONET_USAGE for another name. */
ONET_API onet_status onet_settings_preset(onet_settings *settings, const char *name, onet_error *err);

ONET_API const onet_settings *onet_model_settings(const onet_model *model);
ONET_API size_t onet_model_parameters(const onet_model *model, int trained_only);
/* A value of the training record or NULL: "data.sha256", "seed", "steps", "loss", ... */
ONET_API const char *onet_model_record(const onet_model *model, const char *key);
/* Entry i of the training record, in the order in which they were set: its value, and its key to *key; NULL:
 * there are no more. Both stay valid as long as the model. */
ONET_API const char *onet_model_record_at(const onet_model *model, size_t i, const char **key);
/* Sets an entry of the record, such as one of the program's own: key of 1 to 64 lower-case letters, digits,
 * '.', '_' and '-', value text that ends in 0; both are copied. It goes to the file with onet_model_save and
 * is no part of the checksum. ONET_USAGE for another key. */
ONET_API onet_status onet_model_set_record(onet_model *model, const char *key, const char *value,
                                           onet_error *err);
/* SHA-256, in hex, over all that decides an answer: settings, parameters, standardisation, words. */
ONET_API void onet_model_checksum(const onet_model *model, char hex[65]);
/* Whether the statistics of the norms depend on the size of a set (ONET_STATISTICS_SIZED). */
ONET_API int onet_model_sized(const onet_model *model);

/* 1: rounds the weight matrices to half precision, which files then have in two bytes per number instead of
 * four; a matrix with a weight beyond 65504 stays as it is. 0: files have four bytes again, and what was
 * rounded stays rounded. A model that was loaded is as its file was. */
ONET_API onet_status onet_model_set_half(onet_model *model, int half, onet_error *err);
ONET_API int onet_model_half(const onet_model *model);

typedef struct onet_tensor {
    char name[64];
    int dims, shape[3];
    int trained;
    int reserved[8]; /* zero */
} onet_tensor;
/* Tensor i of the model's file into *tensor; returns 0 when there are no more. */
ONET_API int onet_model_tensor(const onet_model *model, size_t i, onet_tensor *tensor);
/* The vocabulary of a model that orders words; NULL when its items are numbers. */
ONET_API const onet_words *onet_model_words(const onet_model *model);
/* The columns of the data that it was trained on; NULL: it knows no names and no missing values. */
ONET_API const onet_columns *onet_model_columns(const onet_model *model);

/* ---- Ordering: many sets, all options ---------------------------------------------------------------- */

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
     * onet_orderer_serve. */
    const onet_world *world;
    int max_items; /* a set of more items is refused: time grows with the square of their number; 0: 2^24 */
    /* Called a few times a second while the CPU orders a set of 400 items or more: steps done, of how many.
     */
    void (*progress)(void *context, size_t done, size_t steps);
    void *context;
} onet_order_options;

/* Beam search of width 5 that gives the best order, on all CPU threads or a GPU. */
ONET_API void onet_order_defaults(onet_order_options *options, size_t size);

/* An orderer holds threads and memory for reuse; one may serve one caller at a time, a model any number of
 * orderers at once. */
typedef struct onet_orderer onet_orderer;
ONET_API onet_status onet_orderer_new(onet_orderer **orderer, const onet_model *model,
                                      const onet_order_options *options, onet_error *err);
ONET_API void onet_orderer_free(onet_orderer *orderer);
/* In ranks other than 0: orders what rank 0 sends until rank 0 frees its orderer. */
ONET_API void onet_orderer_serve(onet_orderer *orderer);
/* A name of onet_kernel_sets(), or "cuda": what the last run was computed with. Valid as long as the orderer.
 */
ONET_API const char *onet_orderer_kernels(const onet_orderer *orderer);
/* sets of any sizes, in parallel; answers[count]. The sets' own order is not looked at. Orders keep the sets'
 * constraints; the probabilities are the model's own, as if there were none. */
ONET_API onet_status onet_orderer_run(onet_orderer *orderer, const onet_sets *sets, onet_answer *answers,
                                      onet_error *err);
/* Log-probability that the model gives to the sets' own order: logprob[count]. Constraints are not looked at.
 */
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

/* ---- Measures ---------------------------------------------------------------------------------------- */

typedef struct onet_measure {
    double mean, low, high; /* 95% interval */
} onet_measure;

typedef struct onet_report {
    size_t sets;
    onet_measure exact;      /* share of sets in exactly the right order */
    onet_measure position;   /* share of items at the right place */
    onet_measure tau;        /* Kendall's tau, mean over sets of 2 items or more */
    onet_measure loglik;     /* log-likelihood of the right order per step, mean over sets */
    onet_measure neighbours; /* share of right neighbours, mean over sets of 2 items or more */
    onet_measure loglik_all; /* log-likelihood of all steps of all sets divided by their number */
    onet_measure reserved[6];
} onet_report;

/* The measures of one set; of its placed items, where it has context. NaN: not defined, or not known. */
typedef struct onet_set_measure {
    size_t n, placed;  /* items; those that are placed */
    double exact;      /* 1: exactly the right order; 0: not */
    double position;   /* share of items at the right place */
    double tau;        /* Kendall's tau; NaN for one item */
    double neighbours; /* share of adjacent pairs of the right order that are adjacent, in that order, in the
                        * answer; NaN for one item */
    double loglik;     /* log-likelihood of the right order per step */
    double reserved[4];
} onet_set_measure;

/* Compares answers (the first order of each) with the sets' own order: each[count]. Items with equal features
 * count as the same item. logprob: [count] from onet_orderer_score, or NULL. */
ONET_API onet_status onet_measure_each(onet_set_measure *each, const onet_sets *sets,
                                       const onet_answer *answers, const double *logprob, onet_error *err);
/* Their means, over each[which[k]] for k < count; which NULL: over each[0] .. each[count - 1]. */
ONET_API void onet_measure_mean(onet_report *report, const onet_set_measure *each, const size_t *which,
                                size_t count);
/* Both at once. only_n: sets of that size alone, or 0. */
ONET_API onet_status onet_measure_sets(onet_report *report, const onet_sets *sets, const onet_answer *answers,
                                       const double *logprob, int only_n, onet_error *err);

/* How much the answers need a feature: by how much the measures fall when its values are shuffled among the
 * items of each set. The mean over the sets of each set's fall, which is the mean over the repeats. */
typedef struct onet_importance {
    onet_measure exact;  /* exact match */
    onet_measure loglik; /* log-likelihood of the right order per step */
    onet_measure reserved[2];
} onet_importance;

/* Orders and scores the sets `repeats` times with feature number `feature` shuffled; base[count] are the
 * measures without that (onet_measure_each). The same seed gives the same shuffles. ONET_BAD for words. */
ONET_API onet_status onet_measure_importance(onet_importance *result, onet_orderer *orderer,
                                             const onet_sets *sets, const onet_set_measure *base, int feature,
                                             int repeats, uint64_t seed, onet_error *err);

/* ========================================================================================================
 * Advanced: vocabularies, sets one by one, several ranks, speed.
 * What the commands of the program are made of. */

/* ---- Columns ----------------------------------------------------------------------------------------- */

/* The columns of a table that are features: names [width], each once, in UTF-8, copied; NULL: without names.
 * set, rank: the names of those two columns, or NULL. */
ONET_API onet_status onet_columns_new(onet_columns **columns, int width, const char *const *names,
                                      const char *set, const char *rank, onet_error *err);
ONET_API onet_status onet_columns_copy(onet_columns **copy, const onet_columns *columns, onet_error *err);
ONET_API void onet_columns_free(onet_columns *columns);
/* Features of an item in the user's data. */
ONET_API int onet_columns_width(const onet_columns *columns);
/* Features of an item in sets and for the net: width, and one more for each indicator of missing values. */
ONET_API int onet_columns_inputs(const onet_columns *columns);
/* The name of feature j < inputs; "missing NAME" for an indicator. NULL: not known. */
ONET_API const char *onet_columns_name(const onet_columns *columns, int feature);
/* The column that names the set of a row, and that of its rank; NULL: not known. */
ONET_API const char *onet_columns_set(const onet_columns *columns);
ONET_API const char *onet_columns_rank(const onet_columns *columns);
ONET_API onet_missing onet_columns_missing(const onet_columns *columns);
ONET_API const onet_choice *onet_missings(void); /* onet_missing */

/* Gives the sets a copy of the columns, whose inputs must be their width, or takes theirs away (NULL). */
ONET_API onet_status onet_sets_set_columns(onet_sets *sets, const onet_columns *columns, onet_error *err);
/* A copy of sets whose items have NaN where a value is missing, with all of them filled in. columns: those of
 * the model that is to order them. NULL, for sets to train on: as `missing` says, with the means of these
 * sets; the copy's columns then keep them. ONET_BAD where a value is missing and none may. */
ONET_API onet_status onet_sets_fill(onet_sets **filled, const onet_sets *sets, const onet_columns *columns,
                                    onet_missing missing, onet_error *err);

/* ---- Words ------------------------------------------------------------------------------------------- */

/* A vocabulary: words, and for each a row of its table with one vector of features. Items that are words are
 * rows. A word without a row of its own is stood for by that of its kind (a number, a word in -ing, ...), if
 * there are such rows, else by row 0. */

/* From a file of vectors as text, in the format of Stanford's GloVe (.gz and .xz as well): a row for each
 * word, and rows for unknown words. Free it with onet_words_free. */
ONET_API onet_status onet_words_read(onet_words **words, const char *path, onet_error *err);
/* From arrays, all copied: text [count] in UTF-8, each word once, none of them empty or with a newline;
 * length [count] in bytes, or NULL for text that ends in NUL; vectors [count, width], or NULL for zeros. Row
 * w is word w. */
ONET_API onet_status onet_words_from(onet_words **words, int count, int width, const char *const *text,
                                     const size_t *length, const float *vectors, onet_error *err);
ONET_API onet_status onet_words_copy(onet_words **copy, const onet_words *words, onet_error *err);
ONET_API void onet_words_free(onet_words *words);

ONET_API int onet_words_count(const onet_words *words);
ONET_API int onet_words_width(const onet_words *words);
/* The word of a row, in UTF-8, not ended by NUL, and its vector [width]; NULL where there is no such row.
 * Both stay valid as long as the vocabulary. */
ONET_API const char *onet_words_text(const onet_words *words, int32_t row, size_t *length);
ONET_API const float *onet_words_vector(const onet_words *words, int32_t row);
/* The row that stands for a word as a user wrote it: case and spelling are folded. *known, where it is not
 * NULL: whether the row is the word's own. Never fails for a vocabulary and a text. */
ONET_API int32_t onet_words_find(const onet_words *words, const char *text, size_t length, int *known);
/* The row of exactly this text; -1: there is none. */
ONET_API int32_t onet_words_exact(const onet_words *words, const char *text, size_t length);

/* ---- Sentences --------------------------------------------------------------------------------------- */

/* Words that a person typed, in any order: they are cut into words of a vocabulary, ordered as a set, and
 * written as a sentence. As in WikiText, signs are words of their own ("born," is born and ,), "don't" is don
 * and 't and "well-known" is well @-@ known, if the vocabulary has those; what was typed as one stays
 * together in every order, and a final . ! or ? stays last. */
typedef struct onet_bag onet_bag;

/* The vocabulary must live as long as the bag. */
ONET_API onet_status onet_bag_new(onet_bag **bag, const onet_words *words, onet_error *err);
ONET_API void onet_bag_free(onet_bag *bag);
/* Takes all words out of it. */
ONET_API void onet_bag_clear(onet_bag *bag);
/* Adds the words of a text in UTF-8. ONET_USAGE for more than `most` words in the bag, ONET_BAD for other
 * bytes. */
ONET_API onet_status onet_bag_add(onet_bag *bag, const char *text, int most, onet_error *err);
/* n, and word i as it was typed, ended by NUL, valid until the bag is changed; NULL: there is no such word.
 * *known, where it is not NULL: whether the vocabulary has it. */
ONET_API int onet_bag_count(const onet_bag *bag);
ONET_API const char *onet_bag_word(const onet_bag *bag, int i, int *known);
/* The words as a set to be ordered, with what must stay together as constraints. It is the bag's and valid
 * until the bag is changed; NULL: there are no words. */
ONET_API const onet_sets *onet_bag_set(onet_bag *bag);

/* SENTENCE: the first word has a capital; words that are common inside sentences (the, after, ...) lose
 * theirs elsewhere; "i" is I; all else is as it was typed. */
typedef enum onet_letters { ONET_CASE_SENTENCE = 0, ONET_CASE_KEEP, ONET_CASE_LOWER } onet_letters;
ONET_API const onet_choice *onet_letter_cases(void); /* onet_letters */
/* The words in an order [n] as text: no blank before a comma, and so on. Writes at most room - 1 bytes and a
 * NUL to text, which may be NULL if room is 0; returns the length of the whole text. */
ONET_API size_t onet_bag_write(const onet_bag *bag, const int32_t *order, onet_letters letters, char *text,
                               size_t room);

/* ---- Choice of a vocabulary -------------------------------------------------------------------------- */

/* A vocabulary that is chosen by how often the words of a text were seen. */
typedef enum onet_unknown { ONET_UNKNOWN_KINDS = 0, ONET_UNKNOWN_MEAN, ONET_UNKNOWN_ZERO } onet_unknown;
ONET_API const onet_choice *onet_unknowns(void); /* onet_unknown */

typedef struct onet_vocabulary_options {
    size_t size;          /* sizeof(onet_vocabulary_options) */
    onet_unknown unknown; /* what stands for words without a row: one row per kind, a mean vector, zeros */
    int limit;            /* rows at most */
    int own_row;          /* times that a word without a vector must be seen for a row of its own; 0: never */
    int rare_until; /* a word seen this often or less is rare; rare words give unknown ones their vectors */
} onet_vocabulary_options;

ONET_API void onet_vocabulary_defaults(onet_vocabulary_options *options, size_t size);
/* vectors: all words that have one. seen: the words of the text, times [count of seen] how often each.
 * options may be NULL. Frequent words come first; words with a vector that the text does not have come last.
 */
ONET_API onet_status onet_words_choose(onet_words **words, const onet_words *vectors, const onet_words *seen,
                                       const uint64_t *times, const onet_vocabulary_options *options,
                                       onet_error *err);
/* The words of a file of vectors as they stand there, without rows for unknown words. *repeated, where it is
 * not NULL: lines whose word an earlier line has; the first vector counts. */
ONET_API onet_status onet_vectors_read(onet_words **words, const char *path, size_t *repeated,
                                       onet_error *err);

/* ---- Sets, one by one -------------------------------------------------------------------------------- */

/* A record is one set as it was read, with what it takes to write it back in its own format: the user's other
 * keys, spacing and digits. What its functions give stays valid until the record is read into again or freed,
 * or its reader is closed. */
typedef struct onet_record onet_record;
ONET_API onet_status onet_record_new(onet_record **record, onet_error *err);
ONET_API void onet_record_free(onet_record *record);
ONET_API int onet_record_size(const onet_record *record);   /* n: items */
ONET_API int onet_record_placed(const onet_record *record); /* those that are not context */
ONET_API int onet_record_width(const onet_record *record);  /* features per item; 0: words */
/* [n, width], NaN where a value is missing; NULL: words. */
ONET_API const float *onet_record_items(const onet_record *record);
ONET_API const char *onet_record_word(const onet_record *record,
                                      int item);                      /* as the user wrote it; or NULL */
ONET_API const int32_t *onet_record_order(const onet_record *record); /* [n]; NULL: not known */
/* Where it stood: its line in the file, from 1, or its number in a file without lines. */
ONET_API long onet_record_line(const onet_record *record);
/* The same of one of its items: its own line in CSV, that of the set in other formats. */
ONET_API long onet_record_item_line(const onet_record *record, int item);
ONET_API onet_format onet_record_format(const onet_record *record);
/* What the set has under a key (JSON Lines) or in a column (CSV, where all rows of the set must agree): text
 * without quotes and escapes, other values as they stand. *text is NULL where there is nothing or null, and
 * valid until the next call. */
ONET_API onet_status onet_record_text(onet_record *record, const char *key, const char **text,
                                      onet_error *err);
/* The same of one item: its field in a column of CSV; in JSON Lines what it has under a key of its own, where
 * items are objects, or its place in an array of one value for each item under a key of the set. */
ONET_API onet_status onet_record_item_text(onet_record *record, const char *key, int item, const char **text,
                                           onet_error *err);
/* The name of feature j: its column in CSV, its key in JSON; NULL where it has none. */
ONET_API const char *onet_record_feature(const onet_record *record, int feature);

/* A reader gives the sets of a file one by one. JSON Lines, Pointer Network text and lines of words are read
 * as they come through a pipe; the other formats whole, at the first onet_reader_next. */
typedef struct onet_reader onet_reader;
/* path "-" is standard input. Where neither the options nor the name tell the format, waits for the first
 * bytes. The strings and words that the options point to must live as long as the reader. */
ONET_API onet_status onet_reader_open(onet_reader **reader, const char *path,
                                      const onet_read_options *options, onet_error *err);
/* The next set into record; *end is 1, and record as it was, after the last. ONET_BAD, with file and line,
 * for a broken set, for sets of two widths, of words and of numbers, and for a file without sets. After that
 * the next call goes on with the set after the bad one, where a line is a set; else *end is 1. */
ONET_API onet_status onet_reader_next(onet_reader *reader, onet_record *record, int *end, onet_error *err);
/* The path, or "standard input"; valid until the reader is closed. */
ONET_API const char *onet_reader_name(const onet_reader *reader);
/* Whether onet_reader_next would wait for a pipe or terminal, or read a file whole: time to flush answers. */
ONET_API int onet_reader_waits(onet_reader *reader);
/* SHA-256 of the decompressed file in hex, once onet_reader_next came to its end. */
ONET_API void onet_reader_hash(onet_reader *reader, char hex[65]);
ONET_API void onet_reader_close(onet_reader *reader);

/* A writer takes sets, or answers to them, one by one. For each input: begin, put for each set, end. */
typedef struct onet_writer onet_writer;
/* path "-" is standard output. The file is there whole after onet_writer_commit, or not at all. What the
 * options point to must stay valid as long as the writer. */
ONET_API onet_status onet_writer_open(onet_writer **writer, const char *path,
                                      const onet_write_options *options, onet_error *err);
/* The records to come are of this reader, which must stay open until onet_writer_end; NULL for records made
 * by onet_sets_record. ONET_USAGE where the format cannot hold what the options ask for. */
ONET_API onet_status onet_writer_begin(onet_writer *writer, const onet_reader *reader, onet_error *err);
/* A set with its answer, or with the order that it has where answer is NULL. Sets that came from CSV and go
 * to CSV are written by onet_writer_end, in the order of the rows. */
ONET_API onet_status onet_writer_put(onet_writer *writer, const onet_record *record,
                                     const onet_answer *answer, onet_error *err);
/* In place of the answer to a set: what was wrong with it, {"line": 7, "error": "..."}, with the set's `id`
 * where it has one. record: as onet_reader_next left it. */
ONET_API onet_status onet_writer_put_error(onet_writer *writer, const onet_record *record, const char *error,
                                           onet_error *err);
ONET_API onet_status onet_writer_end(onet_writer *writer, onet_error *err);
/* Hands over what was put so far: a reader of the pipe sees it now. */
ONET_API onet_status onet_writer_flush(onet_writer *writer, onet_error *err);
/* Puts the file in its place. Frees the writer, whatever is returned. */
ONET_API onet_status onet_writer_commit(onet_writer *writer, onet_error *err);
/* Drops what was written and frees the writer. NULL is allowed, as for every free and close. */
ONET_API void onet_writer_abort(onet_writer *writer);

/* Sets that grow. No sets yet, items of `width` features (0: as the first set has). */
ONET_API onet_status onet_sets_new(onet_sets **sets, int width, onet_error *err);
/* Appends a set to sets made by onet_sets_new: items [n, width], order [n] or NULL, both copied. All sets
 * have an order, or none has. ONET_BAD, and the sets as they were, for a set that does not fit. */
ONET_API onet_status onet_sets_append(onet_sets *sets, int n, int width, const float *items,
                                      const int32_t *order, onet_error *err);
/* Appends a set of words: rows [n] of sets->words, which the caller sets and which is freed with the sets. */
ONET_API onet_status onet_sets_append_words(onet_sets *sets, int n, const int32_t *rows, const int32_t *order,
                                            onet_error *err);
/* Appends the set of a record. Words become rows of `words`, which the caller puts into sets->words. Without
 * with_order its order is left out. */
ONET_API onet_status onet_sets_append_record(onet_sets *sets, const onet_record *record,
                                             const onet_words *words, int with_order, onet_error *err);
/* Copies the sets s with take[s] != 0, in their order; at least one must be taken. */
ONET_API onet_status onet_sets_pick(onet_sets **picked, const onet_sets *sets, const uint8_t *take,
                                    onet_error *err);
/* Set s as a record, for a writer. Valid as long as the sets. */
ONET_API onet_status onet_sets_record(const onet_sets *sets, size_t s, onet_record *record, onet_error *err);

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

/* Weights and sets come from a documented generator, so that the loss can be compared with another program's.
 */
ONET_API onet_status onet_speed_train(onet_speed *speed, const onet_speed_options *options, onet_error *err);
ONET_API onet_status onet_speed_order(onet_speed *speed, const onet_speed_options *options, onet_error *err);
/* The most that this CPU can do, in GFLOP/s: multiply-adds in registers on `threads` threads for `seconds`.
 */
ONET_API double onet_speed_peak(int threads, double seconds);
/* Threads that a call with `threads` (0: one for each CPU) runs on; 0: no call may have so many. */
ONET_API int onet_threads(int threads);

#ifdef __cplusplus
}
#endif
#endif
