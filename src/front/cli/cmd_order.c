/* ordernet order: reads sets, orders them with a model in batches, or scores the orders that they have
 * (--score), and writes the answers as they are ready. --on-error: stops at a bad set, skips or reports it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/command.h"
#include "app/error_line.h"
#include "app/feature_report.h"
#include "app/ordering.h"
#include "app/processes.h"
#include "app/progress.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "ordernet_measure.h"

typedef struct order_values {
    const char *model, *out;
    onet_read_options read;
    onet_order_options order;
    onet_format to;
    int steps, text, score, on_error, quiet;
} order_values;

enum { ERROR_STOP, ERROR_SKIP, ERROR_REPORT };

static const onet_choice *on_errors(void) {
    static const onet_choice list[] = {
        {"stop", "end there, with the answers before it", ERROR_STOP},
        {"skip", "say it on standard error and go on", ERROR_SKIP},
        {"report", "write the error where the answer would stand, in JSON Lines", ERROR_REPORT},
        {0},
    };
    return list;
}

static void defaults(void *values) {
    order_values *v = values;
    v->out = "-";
    onet_read_defaults(&v->read, sizeof v->read);
    onet_order_defaults(&v->order, sizeof v->order);
    v->order.top = 1;
    v->order.seed = 1;
    v->order.max_items = MAX_ITEMS;
    v->order.progress = ordering_progress;
}

typedef struct ordering {
    const order_values *v;
    const onet_model *model;
    onet_orderer *orderer;
    onet_writer *out;
    onet_record *records[BATCH_SETS];
    int count;               /* records gathered */
    size_t items, relations; /* of these records: items, and n * n numbers per relation */
    answer_room room;
    size_t seen, bad; /* sets so far; those that could not be ordered */
    double *step;     /* [step_room]: scores of the steps */
    size_t step_room;
} ordering;

/* Copies the records gathered to *sets; their own orders are kept only to be scored. */
static onet_status gather(const ordering *o, onet_sets **sets, const char *name, onet_error *err) {
    const onet_words *words = onet_model_words(o->model);
    onet_status status = onet_sets_new(sets, onet_model_width(o->model), err);
    /* The records were read by the names of the model's columns. */
    if (!status && onet_model_columns(o->model))
        status = onet_sets_set_columns(*sets, onet_model_columns(o->model), err);
    for (int i = 0; i < o->count && !status; i++) {
        status = onet_sets_append_record(*sets, o->records[i], words, o->v->score, err);
        if (status == ONET_BAD) error_prefix(err, "%s:%ld", name, onet_record_line(o->records[i]));
    }
    return status;
}

/* Makes answers of the sets' own orders and their scores. */
static onet_status score(ordering *o, const onet_sets *sets, onet_error *err) {
    size_t items = sets->start[sets->count];
    if (!array_reserve(&o->step, &o->step_room, items, sizeof *o->step))
        return fail_memory(err, "the scores");
    memset(o->room.logprob, 0, sets->count * sizeof *o->room.logprob); /* where it fails before the first */
    onet_status status = onet_orderer_score_steps(o->orderer, sets, o->room.logprob, o->step, err);
    memcpy(o->room.order, sets->order, items * sizeof *sets->order);
    for (size_t s = 0; s < sets->count; s++) {
        o->room.answers[s].found = 1;
        o->room.answers[s].step_logprob = o->step + sets->start[s];
    }
    return status;
}

/* Reports a bad set that does not end the command. */
static onet_status note_bad(ordering *o, const onet_record *r, const onet_error *why, onet_error *err) {
    char line[ERROR_LINE];
    error_line(why, field_option, line);
    o->bad++;
    if (o->v->on_error == ERROR_REPORT) return onet_writer_put_error(o->out, r, line, err);
    fprintf(stderr, "ordernet order: skipped: %s\n", line);
    return ONET_OK;
}

/* Orders or scores the sets gathered, and writes the answers before *bad: the first set without an answer,
 * because the network overflowed; -1: none. */
static onet_status answer_some(ordering *o, const char *name, int *bad, onet_error *err) {
    onet_sets *sets = NULL;
    onet_status status = gather(o, &sets, name, err);
    *bad = -1;
    if (!status) {
        onet_sets_lend_words(sets, onet_model_words(o->model));
        status = answer_room_make(&o->room, sets, o->v->order.top, o->v->steps, err);
        if (!status) {
            status =
                o->v->score ? score(o, sets, err) : onet_orderer_run(o->orderer, sets, o->room.answers, err);
            int sound = (int)answers_sound(o->room.answers, (size_t)o->count);
            if (status == ONET_BAD && sound < o->count) *bad = sound;
        }
    }
    onet_sets_free(sets);
    if (*bad >= 0) fail(err, status, "%s:%ld: " TOO_LARGE, name, onet_record_line(o->records[*bad]));
    if (status && *bad < 0) return status;
    for (int i = 0; i < (status ? *bad : o->count); i++) {
        onet_status put = onet_writer_put(o->out, o->records[i], &o->room.answers[i], err);
        if (!put) continue;
        *bad = -1; /* an answer that cannot be written ends the work */
        return put;
    }
    return status;
}

/* Drops the first `done` records and moves the others to the front. */
static void drop_records(ordering *o, int done) {
    for (int i = done; i < o->count; i++) {
        onet_record *free_one = o->records[i - done];
        o->records[i - done] = o->records[i];
        o->records[i] = free_one;
    }
    o->count -= done;
}

static onet_status answer(ordering *o, const char *name, onet_error *err) {
    onet_status status = ONET_OK;
    while (o->count && !status) {
        int bad;
        onet_error why;
        status = answer_some(o, name, &bad, &why);
        if (status && bad >= 0 && o->v->on_error != ERROR_STOP) {
            status = note_bad(o, o->records[bad], &why, err);
            drop_records(o, bad + 1);
            continue;
        }
        if (status) *err = why;
        o->count = 0;
    }
    o->count = 0;
    o->items = o->relations = 0;
    return status;
}

static onet_status order_sets(ordering *o, onet_reader *in, onet_error *err) {
    for (;;) {
        /* Sets already read are answered before waiting for more input. */
        if (o->count == BATCH_SETS || o->items >= BATCH_ITEMS || o->relations >= BATCH_RELATIONS ||
            onet_reader_waits(in)) {
            onet_status status = answer(o, onet_reader_name(in), err);
            if (!status) status = onet_writer_flush(o->out, err);
            if (status) return status;
        }
        onet_record **r = &o->records[o->count];
        int end = 0;
        onet_error bad;
        onet_status status = *r ? ONET_OK : onet_record_new(r, &bad);
        if (!status) status = onet_reader_next(in, *r, &end, &bad);
        if (!status && !end) status = ordering_fits(o->model, o->v->model, *r, onet_reader_name(in), &bad);
        if (!status && !end && onet_record_size(*r) > o->v->order.max_items)
            status =
                fail(&bad, ONET_BAD,
                     "%s:%ld: the set has %d items, more than --max-items %d; time grows with the square "
                     "of their number: raise the limit, or split the set",
                     onet_reader_name(in), onet_record_line(*r), onet_record_size(*r), o->v->order.max_items);
        if (!status && !end && o->v->score && !onet_record_order(*r))
            status = fail(&bad, ONET_BAD, "%s:%ld: the set has no order to score; give it an 'order'",
                          onet_reader_name(in), onet_record_line(*r));
        if (!status && !end) {
            o->count++;
            size_t n = (size_t)onet_record_size(*r);
            o->items += n;
            o->relations += n * n * (size_t)onet_record_relations(*r);
            o->seen++;
            continue;
        }
        /* The sets before a bad one get their answers. */
        onet_record *which = *r;
        onet_status answered = answer(o, onet_reader_name(in), err);
        if (answered || !status) return answered;
        if (status != ONET_BAD || o->v->on_error == ERROR_STOP) {
            *err = bad;
            return status;
        }
        o->seen++;
        if ((status = note_bad(o, which, &bad, err))) return status;
    }
}

static onet_status order_file(ordering *o, const char *path, onet_error *err) {
    onet_read_options read = o->v->read;
    if (o->v->text) read.format = ONET_FORMAT_TEXT;
    read.words = onet_model_words(o->model);
    read.columns = onet_model_columns(o->model);
    read.relations = onet_model_relations(o->model);
    read.relation_fill = onet_model_relation_fill(o->model);
    if (read.pairs && !read.features && !onet_model_width(o->model)) read.features = ""; /* none */
    read.mixed = o->v->on_error != ERROR_STOP; /* each set is compared with the model */
    onet_reader *in = NULL;
    onet_status status = onet_reader_open(&in, path, &read, err);
    if (!status) status = onet_writer_begin(o->out, in, err);
    if (!status) status = order_sets(o, in, err);
    if (!status) status = onet_writer_end(o->out, err);
    if (!status) print_lines(onet_reader_unknown(in), stderr, "ordernet order: warning: ");
    onet_reader_close(in);
    return status;
}

static onet_status order_all(ordering *o, int count, char **paths, onet_error *err) {
    const order_values *v = o->v;
    const onet_columns *columns = onet_model_columns(o->model);
    const char *own_set = columns ? onet_columns_set(columns) : NULL;
    const char *own_rank = columns ? onet_columns_rank(columns) : NULL;
    onet_write_options writing = {.size = sizeof writing,
                                  .format = v->to,
                                  .set_column = v->read.set_column ? v->read.set_column : own_set,
                                  .rank_column = v->read.rank_column ? v->read.rank_column : own_rank,
                                  .logprob = 1,
                                  .steps = v->steps,
                                  .top = v->order.top,
                                  .score = v->score,
                                  .errors = v->on_error == ERROR_REPORT};
    onet_status status = onet_writer_open(&o->out, v->out, &writing, err);
    if (!status && !count) status = order_file(o, "-", err);
    for (int i = 0; i < count && !status; i++) status = order_file(o, paths[i], err);
    if (status && strcmp(v->out, "-"))
        onet_writer_abort(o->out);
    else if (o->out) {
        /* On standard output after a bad set too: the answers before it are good. */
        onet_error late;
        onet_status closed = onet_writer_commit(o->out, status ? &late : err);
        if (!status) status = closed;
    }
    if (!status && o->bad)
        status = fail(err, ONET_BAD, "%zu of %zu sets could not be ordered", o->bad, o->seen);
    return status;
}

/* Checks before any work that the answers can be written, and not over a file that is read. */
static onet_status check_place(const order_values *v, int count, char **paths, onet_error *err) {
    if (output_replaces(v->out, v->model))
        return fail(err, ONET_USAGE, "--model %s would be overwritten by --out %s; name another file",
                    v->model, v->out);
    if (v->read.pairs && output_replaces(v->out, v->read.pairs))
        return fail(err, ONET_USAGE, "--pairs %s would be overwritten by --out %s; name another file",
                    v->read.pairs, v->out);
    for (int i = 0; i < count; i++)
        if (output_replaces(v->out, paths[i]))
            return fail(err, ONET_USAGE, "%s would be overwritten by --out %s; name another file", paths[i],
                        v->out);
    return output_possible(v->out, err);
}

static onet_status run(void *values, int count, char **operands, onet_error *err) {
    order_values *v = values;
    if (v->score && (v->order.top > 1 || v->steps))
        return fail(err, ONET_USAGE, "--score scores the order that each set has, step by step; leave out %s",
                    v->steps ? "--steps" : "--top");
    if (v->read.pairs && count > 1)
        return fail(err, ONET_USAGE, "--pairs belongs to one data file; %d were given", count);
    onet_status status = ordering_check(&v->order, err);
    if (status) return status;
    onet_model *model = NULL;
    ordering *o = calloc(1, sizeof *o);
    if (!o) status = fail_memory(err, "the sets");
    if (!status && processes_is_rank0()) status = check_place(v, count, operands, err);
    if ((status = world_agree(processes(), status, err))) {
        free(o);
        return status;
    }
    progress line;
    progress_start(&line, v->quiet);
    v->order.context = &line;
    status = ordering_open(&model, &o->orderer, v->model, &v->order, err);
    if (!status && o->orderer) {
        o->v = v;
        o->model = model;
        status = order_all(o, count, operands, err);
        progress_end(&line);
    }
    for (int i = 0; i < BATCH_SETS; i++) onet_record_free(o->records[i]);
    onet_orderer_free(o->orderer);
    answer_room_free(&o->room);
    free(o->step);
    free(o);
    onet_model_free(model);
    return status;
}

#define AT(field) offsetof(order_values, field)

static const option options[] = {
    OPTION_MODEL(AT(model)),

    {.group = "Search"},
    OPTIONS_SEARCH(AT(order)),

    {.group = "Answer"},
    OPTION(INT, "top", AT(order.top), .argument = "K", RANGE(1, 100000),
           .help = "Give the K best orders of each set with their log-probabilities; the beam has K "
                   "orders or more."),
    OPTION(FLAG, "steps", AT(steps), .help = "Add the probability of each step."),
    OPTION(FLAG, "score", AT(score),
           .help = "Do not search for an order: add the log-probability of the order that each set has, and "
                   "in JSON Lines of each of its steps."),
    OPTION(CHOICE, "on-error", AT(on_error), .argument = "WHAT", .choices = on_errors,
           .help =
               "What to do with a set that cannot be read or ordered. Where a line is a set, those after it "
               "are answered; in other formats the whole file is bad. The exit status is 3 in any case."),
    OPTION(STRING, "out", AT(out), .argument = "FILE", .default_text = "standard output",
           .help = "Where the answers are written; a file is replaced only when all are there. A "
                   "name in .gz compresses."),
    OPTION(CHOICE, "to", AT(to), .argument = "FORMAT", .choices = onet_formats,
           .default_text = "by the name of --out, else as the sets came", .help = "Format of the answers."),

    {.group = "Data format"},
    OPTION(FLAG, "text", AT(text),
           .help = "Words: one bag of words per line in, the ordered line out; the same as --format text."),
    OPTIONS_READ(AT(read)),
    OPTIONS_PAIRS(AT(read)),

    {.group = "Machine"},
    OPTIONS_ORDER_MACHINE(AT(order)),
    OPTION_QUIET(AT(quiet)),
    {0},
};

const command cmd_order = {
    .name = "order",
    .summary = "Put sets in order",
    .operands = "[FILE ...]",
    .most = -1,
    .about =
        "Reads sets from the files, or from standard input where there are none or a file is -, and writes "
        "one answer per set to standard output or --out, in input order and, where neither --to nor the name "
        "of --out says otherwise, in the input's format. In JSON Lines an answer is the set's own object "
        "with 'order' filled in and 'logprob' added. Answers to sets that come through a pipe appear without "
        "waiting for its end. Where a set says 'first', 'last', 'prefix', 'before' or 'next', the order "
        "keeps to "
        "that; items under 'context' are seen and not placed (docs/formats.md).",
    .examples = "ordernet order --model sets.safetensors new.jsonl > ordered.jsonl\n"
                "echo '{\"items\": [[3], [1], [2]]}' | ordernet order --model sort.safetensors --top 3\n"
                "ordernet order --model sets.safetensors --score labelled.jsonl > scored.jsonl",
    .options = options,
    .size = sizeof(order_values),
    .shared = true,
    .defaults = defaults,
    .run = run,
};
