/* The C functions that the browser page calls for models, orders, sets, training, the search for settings and
 * the comparison with simple rules (those of the tasks: src/tasks/TASK/wasm). Arguments are numbers and
 * pointers into the memory of the WebAssembly module; files are in the module's file system (web/files.js).
 * On failure a function returns NULL, -1 or a status, and web_error the error message. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/wasm_export.h"

#include "ordernet_io.h"
#include "ordernet_measure.h"
#include "ordernet_train.h"
#include "ordernet_tune.h"
#include "ordernet_words.h"

onet_error wasm_failure;

EXPORT(web_error) const char *web_error(void) {
    return wasm_failure.text;
}

EXPORT(web_alloc) void *web_alloc(size_t bytes) {
    return calloc(bytes ? bytes : 1, 1);
}

EXPORT(web_free) void web_free(void *p) {
    free(p);
}

/* Returns the name of the kernels that run here, "simd128". */
EXPORT(web_kernels) const char *web_kernels(void) {
    return onet_kernels_here()[0];
}

onet_status wasm_no_memory(void) {
    strcpy(wasm_failure.text, "not enough memory for this; close other pages, or use less data");
    return ONET_MEMORY;
}

/* ---- Models ------------------------------------------------------------------------------------------ */

/* The orderer of the last call, kept since it has folded the norms for the sizes that it has seen. */
static struct {
    const onet_model *model;
    int beam, top;
    onet_orderer *orderer;
} last;

onet_orderer *wasm_orderer(const onet_model *model, int beam, int top) {
    if (last.orderer && last.model == model && last.beam == beam && last.top == top) return last.orderer;
    onet_orderer_free(last.orderer);
    last.orderer = NULL;
    onet_order_options o = {.size = sizeof o, .beam = beam, .top = top, .threads = 1, .device = "cpu"};
    if (onet_orderer_new(&last.orderer, model, &o, &wasm_failure)) return NULL;
    last.model = model;
    last.beam = beam;
    last.top = top;
    return last.orderer;
}

/* Loads a model; NULL on failure. */
EXPORT(web_model_open) onet_model *web_model_open(const char *path) {
    onet_model *model;
    return onet_model_load(&model, path, &wasm_failure) ? NULL : model;
}

EXPORT(web_model_close) void web_model_close(onet_model *model) {
    if (last.model == model) {
        onet_orderer_free(last.orderer);
        last.orderer = NULL;
    }
    onet_model_free(model);
}

/* Returns the number of features of an item as the user gives it. */
EXPORT(web_model_width) int web_model_width(const onet_model *model) {
    const onet_columns *columns = onet_model_columns(model);
    return columns ? onet_columns_width(columns) : onet_model_width(model);
}

/* Returns the name of a feature; NULL: it has none. */
EXPORT(web_model_feature) const char *web_model_feature(const onet_model *model, int feature) {
    const onet_columns *columns = onet_model_columns(model);
    return columns ? onet_columns_name(columns, feature) : NULL;
}

/* Returns the number of words in its vocabulary; 0: its items are numbers. */
EXPORT(web_model_words) int web_model_words(const onet_model *model) {
    return onet_model_words(model) ? onet_words_count(onet_model_words(model)) : 0;
}

EXPORT(web_model_parameters) int web_model_parameters(const onet_model *model) {
    return (int)onet_model_parameters(model, 1);
}

/* ---- Orders ------------------------------------------------------------------------------------------ */

/* Makes a set that borrows its items [n, width], or its rows [n] of the model's words. */
static onet_sets lend(const onet_model *model, float *items, int32_t *rows, size_t *start) {
    return (onet_sets){.count = 1,
                       .width = onet_model_width(model),
                       .start = start,
                       .items = rows ? NULL : items,
                       .word = rows,
                       .words = rows ? onet_model_words(model) : NULL};
}

/* Orders one set of n items: items [n, width], or rows [n] of words (then items is NULL). Out: order [top,
 * n], logprob [top], step [top, n]. Returns the number of orders found, -1 on failure. */
EXPORT(web_order)
int web_order(const onet_model *model, float *items, int32_t *rows, int n, int beam, int top, int32_t *order,
              double *logprob, float *step) {
    size_t start[2] = {0, (size_t)n};
    onet_sets set = lend(model, items, rows, start);
    onet_answer answer = {.order = order, .logprob = logprob, .step = step};
    onet_orderer *orderer = wasm_orderer(model, beam, top);
    return orderer && !onet_orderer_run(orderer, &set, &answer, &wasm_failure) ? answer.found : -1;
}

/* Computes the choices along an order [n] of one set: probability [n, n] as onet_orderer_choices gives it.
 * Returns the status. */
EXPORT(web_choices)
int web_choices(const onet_model *model, float *items, int32_t *rows, int n, int32_t *order,
                double *probability) {
    size_t start[2] = {0, (size_t)n};
    onet_sets set = lend(model, items, rows, start);
    set.order = order;
    onet_orderer *orderer = wasm_orderer(model, 0, 0);
    return orderer ? (int)onet_orderer_choices(orderer, &set, probability, &wasm_failure) : ONET_FAILED;
}

/* ---- Sets -------------------------------------------------------------------------------------------- */

/* Returns the options to read a file. Empty names: the defaults, or those of the model's columns; delimiter:
 * of CSV, 0 for the default. model: also gives the vocabulary of words; may be NULL. */
static onet_read_options reading(const onet_model *model, const char *set, const char *rank,
                                 const char *features, int delimiter) {
    return (onet_read_options){.size = sizeof(onet_read_options),
                               .set_column = *set ? set : NULL,
                               .rank_column = *rank ? rank : NULL,
                               .features = *features ? features : NULL,
                               .words = model ? onet_model_words(model) : NULL,
                               .columns = model ? onet_model_columns(model) : NULL,
                               .delimiter = delimiter};
}

/* Reads a file of sets; NULL on failure. */
EXPORT(web_sets_read)
onet_sets *web_sets_read(const char *path, const onet_model *model, const char *set, const char *rank,
                         const char *features, int delimiter) {
    onet_read_options o = reading(model, set, rank, features, delimiter);
    onet_sets *sets;
    return onet_sets_read(&sets, path, &o, &wasm_failure) ? NULL : sets;
}

EXPORT(web_sets_free) void web_sets_free(onet_sets *sets) {
    onet_sets_free(sets);
}

EXPORT(web_sets_count) int web_sets_count(const onet_sets *sets) {
    return (int)sets->count;
}

EXPORT(web_sets_width) int web_sets_width(const onet_sets *sets) {
    return sets->width;
}

EXPORT(web_sets_start) const size_t *web_sets_start(const onet_sets *sets) {
    return sets->start;
}

/* Returns NULL for sets of words. */
EXPORT(web_sets_items) const float *web_sets_items(const onet_sets *sets) {
    return sets->items;
}

/* Returns NULL if the order is not known. */
EXPORT(web_sets_order) const int32_t *web_sets_order(const onet_sets *sets) {
    return sets->order;
}

/* Returns a copy of about `wanted` sets that are held out of training or, if not held_out, of the others;
 * equal sets stay together. NULL on failure. */
EXPORT(web_sets_part) onet_sets *web_sets_part(const onet_sets *sets, size_t wanted, int held_out) {
    onet_sets *part = NULL;
    uint8_t *take = malloc(sets->count);
    onet_status status =
        take ? onet_sets_hold_out(take, sets, NULL, wanted, 1, &wasm_failure) : wasm_no_memory();
    for (size_t s = 0; s < sets->count && !status && !held_out; s++) take[s] = !take[s];
    if (!status) onet_sets_pick(&part, sets, take, &wasm_failure);
    free(take);
    return part;
}

/* Orders all sets by beam search: order [start[count]], logprob [count]. Returns 0; another number on
 * failure. */
EXPORT(web_sets_run)
int web_sets_run(const onet_sets *sets, const onet_model *model, int32_t *order, double *logprob) {
    onet_answer *answers = calloc(sets->count, sizeof *answers);
    if (!answers) return wasm_no_memory();
    for (size_t s = 0; s < sets->count; s++) {
        answers[s].order = order + sets->start[s];
        answers[s].logprob = logprob + s;
    }
    onet_orderer *orderer = wasm_orderer(model, 0, 0);
    onet_status status = orderer ? onet_orderer_run(orderer, sets, answers, &wasm_failure) : ONET_FAILED;
    free(answers);
    return status ? -1 : 0;
}

/* Orders the set of a record and writes it. */
static onet_status order_record(const onet_model *model, onet_record *record, onet_writer *writer) {
    const onet_words *words = onet_model_words(model);
    onet_orderer *orderer = wasm_orderer(model, 0, 0);
    int32_t *order = malloc((size_t)onet_record_size(record) * sizeof *order);
    double logprob;
    onet_answer answer = {.order = order, .logprob = &logprob};
    onet_sets *set = NULL;
    onet_status status = !orderer ? ONET_FAILED : !order ? wasm_no_memory() : ONET_OK;
    if (!status) status = onet_sets_new(&set, onet_model_width(model), &wasm_failure);
    if (!status && onet_model_columns(model))
        status = onet_sets_set_columns(set, onet_model_columns(model), &wasm_failure);
    if (!status) {
        onet_sets_lend_words(set, words);
        status = onet_sets_append_record(set, record, words, 0, &wasm_failure);
        if (!status) status = onet_orderer_run(orderer, set, &answer, &wasm_failure);
    }
    if (!status) status = onet_writer_put(writer, record, &answer, &wasm_failure);
    onet_sets_free(set);
    free(order);
    return status;
}

/* Orders each set of the file `from` and writes the file `to` in the same format, as `ordernet order` does.
 * Returns the status. */
EXPORT(web_order_file)
int web_order_file(const char *from, const char *to, const onet_model *model, const char *set,
                   const char *rank, const char *features, int delimiter) {
    onet_read_options o = reading(model, set, rank, features, delimiter);
    onet_write_options w = {.size = sizeof w, .set_column = o.set_column, .rank_column = o.rank_column};
    if (o.columns && !w.set_column) w.set_column = onet_columns_set(o.columns);
    if (o.columns && !w.rank_column) w.rank_column = onet_columns_rank(o.columns);
    w.logprob = 1;
    onet_reader *reader = NULL;
    onet_writer *writer = NULL;
    onet_record *record = NULL;
    onet_status status = onet_reader_open(&reader, from, &o, &wasm_failure);
    if (!status) status = onet_record_new(&record, &wasm_failure);
    if (!status) status = onet_writer_open(&writer, to, &w, &wasm_failure);
    if (!status) status = onet_writer_begin(writer, reader, &wasm_failure);
    for (int end = 0; !status;) {
        status = onet_reader_next(reader, record, &end, &wasm_failure);
        if (status || end) break;
        status = order_record(model, record, writer);
    }
    if (!status) status = onet_writer_end(writer, &wasm_failure);
    if (!status)
        status = onet_writer_commit(writer, &wasm_failure);
    else
        onet_writer_abort(writer);
    onet_record_free(record);
    onet_reader_close(reader);
    return (int)status;
}

/* ---- Training ---------------------------------------------------------------------------------------- */

/* Tells the browser page how far training or tuning is; non-zero stops it. */
__attribute__((import_module("ordernet"), import_name("progress"))) int
host_progress(int epoch, int epochs, double step, double steps, double loss, double valid_exact,
              double valid_loglik, double examples_per_second);

static int progress(void *context, const onet_progress *p) {
    (void)context;
    return host_progress(p->epoch, p->epochs, (double)p->step, (double)p->steps, p->loss, p->valid_exact,
                         p->valid_loglik, p->examples_per_second);
}

/* The settings that the last search found. */
static onet_train_options chosen;
static int chosen_ranker;

static const onet_tune_progress *search; /* the report of the moment; NULL outside host_progress */

static int tune_progress(void *context, const onet_tune_progress *p) {
    (void)context;
    search = p;
    int stop = host_progress(p->trials, 0, p->seconds, p->seconds + p->seconds_left, NAN,
                             p->count ? p->tried[0].exact : (double)NAN, NAN, NAN);
    search = NULL;
    return stop;
}

/* Callable only inside host_progress: returns the k-th best settings, from 0, as text with tabs between exact
 * match, tau, 1 after a whole training (0 after a short one), seconds and settings; NULL past the end. Valid
 * until the next call. */
EXPORT(web_tried)
const char *web_tried(int k) {
    static char text[400];
    if (!search || k >= search->count) return NULL;
    const onet_tried *t = &search->tried[k];
    snprintf(text, sizeof text, "%.6f\t%.6f\t%d\t%.3f\t%s", t->exact, t->tau, t->whole, t->seconds,
             t->settings);
    return text;
}

/* Searches for the best settings for `seconds` in all, or until host_progress, which gets trials and seconds
 * in place of epochs and steps, stops it. Keeps its trials at path, from which a later call continues. text
 * [room]: receives the best settings so far, "" after a failure. Returns the status; ONET_INTERRUPTED:
 * stopped. */
EXPORT(web_tune)
int web_tune(const onet_sets *sets, const char *path, double seconds, int seed, const char *kernels,
             char *text, int room) {
    onet_tune_options how;
    onet_tuned result = {0};
    onet_train_options o;
    onet_train_defaults(&o, sizeof o);
    onet_tune_defaults(&how, sizeof how);
    o.seed = (uint64_t)seed;
    o.threads = 1;
    o.device = "cpu";
    if (*kernels) o.kernels = kernels;
    how.seconds = seconds;
    how.path = path;
    how.resume = 1;
    how.progress = tune_progress;
    onet_status status = onet_tune(&o, &result, sets, &how, &wasm_failure);
    if (!status) {
        o.kernels = NULL; /* the module's memory */
        chosen = o;
        chosen_ranker = result.ranker;
    }
    snprintf(text, (size_t)room, "%s", status ? "" : result.settings);
    return !status && result.stopped ? ONET_INTERRUPTED : (int)status;
}

/* Trains the linear ranker with the settings found; this cannot be stopped. */
static onet_status train_ranker(onet_model **model, const onet_sets *sets) {
    onet_ranker_options o = {.size = sizeof o,
                             .relative = chosen.settings.relative,
                             .standardise = chosen.standardise,
                             .seed = chosen.seed,
                             .threads = 1,
                             .scale = chosen.scale,
                             .within = chosen.within};
    return onet_ranker_train(model, sets, &o, &wasm_failure);
}

/* Trains until host_progress stops it, or to the end, and then writes the model to path. epochs 0: with the
 * settings that web_tune found. resume: go on from the checkpoint that a stopped training left beside path.
 * Returns the status; ONET_INTERRUPTED: stopped. */
EXPORT(web_train)
int web_train(const onet_sets *sets, const onet_sets *valid, const char *path, int epochs, int seed,
              int resume, const char *kernels) {
    onet_train_options o;
    onet_train_defaults(&o, sizeof o);
    if (!epochs && chosen.size) o = chosen;
    if (epochs) o.epochs = epochs;
    o.seed = (uint64_t)seed;
    o.resume = resume;
    o.model_path = path;
    o.checkpoint_seconds = 0;
    o.threads = 1;
    o.device = "cpu";
    if (*kernels) o.kernels = kernels;
    o.progress = progress;
    onet_model *model;
    onet_status status = !epochs && chosen_ranker ? train_ranker(&model, sets)
                                                  : onet_train(&model, sets, valid, &o, &wasm_failure);
    if (!status) status = onet_model_save(model, path, &wasm_failure);
    onet_model_free(model);
    return status;
}

/* Lets the model order `sets`, and writes the measures of each set to *each [count], which the caller frees,
 * also after a failure. */
static onet_status measure(const onet_model *model, const onet_sets *sets, onet_set_measure **each) {
    size_t first = sets->start[0], items = sets->start[sets->count] - first;
    onet_answer *answers = calloc(sets->count, sizeof *answers);
    int32_t *order = calloc(items, sizeof *order);
    *each = calloc(sets->count, sizeof **each);
    onet_orderer *orderer = wasm_orderer(model, 0, 0);
    onet_status status = answers && order && *each ? ONET_OK : wasm_no_memory();
    for (size_t s = 0; s < sets->count && !status; s++) answers[s].order = order + (sets->start[s] - first);
    if (!status && !orderer) status = ONET_FAILED;
    if (!status) status = onet_orderer_run(orderer, sets, answers, &wasm_failure);
    if (!status) status = onet_measure_each(*each, sets, answers, NULL, &wasm_failure);
    free(answers);
    free(order);
    return status;
}

/* Compares the model at path, trained on `sets`, with simple rules on `valid`. Out: figures [4, 6], mean and
 * 95% interval of exact match and of tau for guessing, the best feature, the linear ranker and the model;
 * facts [3]: whether the best feature falls, whether the model failed, whether it is a ranker itself; text
 * [room], in lines: the name of the best feature, the conclusion and, if the model failed or is beaten, what
 * is odd about the sets. Returns the status. */
EXPORT(web_report)
int web_report(const onet_sets *sets, const onet_sets *valid, const char *path, double *figures, int *facts,
               char *text, size_t room) {
    onet_model *model = web_model_open(path);
    onet_set_measure *each = NULL;
    onet_comparison c;
    onet_compare_options o = {.size = sizeof o,
                              .seed = 1,
                              .threads = 1,
                              .is_ranker = model && !strcmp(onet_model_kind(model), "ranker")};
    onet_status status = model ? measure(model, valid, &each) : ONET_BAD;
    if (!status) status = onet_compare(&c, sets, valid, each, &o, &wasm_failure);
    if (!status) {
        const onet_report *of[] = {&c.guess, &c.column, &c.ranker, &c.model};
        for (int k = 0; k < 4; k++) {
            memcpy(figures + 6 * k, &of[k]->exact, sizeof(onet_measure));
            memcpy(figures + 6 * k + 3, &of[k]->tau, sizeof(onet_measure));
        }
        facts[0] = c.falling;
        facts[1] = c.model_failed;
        facts[2] = c.is_ranker;
        const char *name = web_model_feature(model, c.feature);
        char number[32];
        snprintf(number, sizeof number, "feature %d", c.feature + 1);
        size_t used = (size_t)snprintf(text, room, "%s\n%s", name ? name : number, c.sentence);
        if ((c.model_failed || c.model_beaten) && used + 2 < room) {
            text[used++] = '\n';
            status = onet_sets_oddities(sets, text + used, room - used, &wasm_failure);
        }
    }
    free(each);
    if (model) web_model_close(model);
    return (int)status;
}
