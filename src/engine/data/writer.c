/* Writes sets with their predicted orders (onet_writer): formats of lines as each set arrives, formats of
 * whole files from the sets gathered until the end; checks the answers, and that the format can hold them. */
#include "engine/data/sets_io.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/arguments.h"
#include "engine/base/error.h"
#include "engine/base/sized.h"
#include "engine/base/utf8.h"
#include "engine/data/columns.h"
#include "engine/data/csv.h"
#include "engine/data/doubles.h"
#include "engine/data/jsonl.h"
#include "engine/data/sets.h"
#include "engine/words/words.h"

struct onet_writer {
    char *path;
    onet_write_options options;
    output *out; /* opened by the first onet_writer_begin of a format that is written set after set */
    bool begun;  /* between onet_writer_begin and onet_writer_end */
    const reader *in;
    const data_format *format; /* for this input */
    void *state;               /* the format's own */
    onet_sets *sets;           /* formats that are written whole: all sets, until the end */
    const onet_words *words;
};

void onet_write_defaults(onet_write_options *options, size_t size) {
    onet_write_options own = {.size = sizeof own};
    sized_give(options, size, &own, sizeof own);
}

onet_status writer_options(onet_write_options *own, const onet_write_options *given, onet_error *err) {
    *own = (onet_write_options){.size = sizeof *own};
    onet_status status = sized_take(own, sizeof *own, given, "onet_write_options", err);
    size_t length = !status && own->made ? strlen(own->made) : 0;
    if (!status && length && utf8_valid(own->made, length) < length)
        status = fail_field(err, ONET_USAGE, "onet_write_options.made",
                            "the note on how the sets were made is not UTF-8");
    return status;
}

onet_status onet_writer_open(onet_writer **result, const char *path, const onet_write_options *options,
                             onet_error *err) {
    NEED(result, "writer");
    *result = NULL;
    NEED(path, "path");
    onet_write_options own;
    onet_status status = writer_options(&own, options, err);
    if (status) return status;
    if (own.format && !format_find(own.format))
        return fail(err, ONET_USAGE, "there is no format %d", (int)own.format);
    if (own.top < 0)
        return fail_field(err, ONET_USAGE, "onet_write_options.top",
                          "%d orders per set: 0 or more are possible", own.top);
    writer *w = calloc(1, sizeof *w);
    if (!w || !(w->path = strdup(path))) {
        free(w);
        return fail_memory(err, "writing a file");
    }
    w->options = own;
    const data_format *named = own.format ? NULL : format_of_name(path);
    if (named) w->options.format = named->format;
    if (!own.set_column) w->options.set_column = "set";
    if (!own.delimiter && csv_name_of_tabs(path)) w->options.delimiter = '\t';
    if (!own.rank_column) w->options.rank_column = "rank";
    *result = w;
    return ONET_OK;
}

void onet_writer_abort(onet_writer *w) {
    if (!w) return;
    output_abort(w->out);
    if (w->format && w->format->stop) w->format->stop(w->state);
    onet_sets_free(w->sets);
    free(w->path);
    free(w);
}

static const data_format *format_for(const writer *w, const reader *in) {
    if (w->options.format) return format_find(w->options.format);
    return in ? reader_format(in) : format_find(ONET_FORMAT_JSONL);
}

onet_status onet_writer_begin(onet_writer *w, const onet_reader *in, onet_error *err) {
    NEED(w, "writer");
    if (w->begun) return fail(err, ONET_USAGE, "onet_writer_begin: the input before has no onet_writer_end");
    const data_format *format = format_for(w, in);
    unsigned needs = 0;
    if (w->format && w->format != format)
        return fail_field(err, ONET_USAGE, "onet_write_options.format",
                          "%s is in another format than the input before it; name one for all",
                          in ? onet_reader_name(in) : "this input");
    if (w->options.steps) needs |= HOLDS_STEPS;
    if (w->options.top > 1) needs |= HOLDS_SEVERAL;
    if (w->options.score) needs |= HOLDS_SCORE;
    if (w->options.errors) needs |= HOLDS_ERRORS;
    onet_status status = format_must_hold(format, needs, ONET_USAGE, err);
    if (status) return status;
    /* From .tsv to .csv the separator becomes a comma; any other separator of the input is kept. */
    if (!w->options.delimiter && in && csv_name_of_tabs(onet_reader_name(in)) &&
        format_of_name(w->path) == format_find(ONET_FORMAT_CSV))
        w->options.delimiter = ',';
    w->in = in;
    w->format = format;
    w->begun = true;
    return w->out || format->write ? ONET_OK : output_open(&w->out, w->path, err);
}

/* ---- One set ----------------------------------------------------------------------------------------- */

static onet_status check_holds(const data_format *format, const record *r, const onet_answer *answer,
                               onet_error *err) {
    unsigned needs = r->items ? HOLDS_NUMBERS : HOLDS_WORDS;
    if (r->context) needs |= HOLDS_CONTEXT;
    /* Relations from a second file stay there. */
    if (r->pairs && !(r->table && answer && format->format == ONET_FORMAT_CSV)) needs |= HOLDS_PAIRS;
    if (r->constraint_count && !answer) needs |= HOLDS_CONSTRAINTS;
    missing_count missing = {0};
    if (r->items) missing_add(&missing, r->items, (size_t)r->n, r->width, r->line, 0);
    if (missing.count) needs |= HOLDS_MISSING;
    return format_must_hold(format, needs, ONET_BAD, err);
}

static onet_status keep_set(writer *w, const record *r, const onet_answer *answer, onet_error *err) {
    onet_status status = ONET_OK;
    record answered = *r;
    if (answer) answered.order = answer->order;
    /* A format without constraints drops them: an answer satisfies them already. */
    if (!(w->format->holds & HOLDS_CONSTRAINTS)) answered.constraint_count = 0;
    if (!w->words) w->words = w->options.words;
    if (!w->words && w->in) w->words = reader_words(w->in);
    bool first = !w->sets;
    if (first) status = sets_new(&w->sets, 0, err);
    if (first && !status) sets_allow_missing(w->sets);
    if (!status) status = sets_append_record(w->sets, &answered, w->words, err);
    if (!status && first && r->columns && r->columns->inputs == w->sets->width)
        status = onet_sets_set_columns(w->sets, r->columns, err);
    return status;
}

/* Checks the orders that the format may write: each is a permutation of the set's items. */
static onet_status check_answer(const record *r, const onet_answer *a, const onet_write_options *parts,
                                onet_error *err) {
    NEED(a->order, "answer->order");
    if (!a->logprob && (parts->logprob || parts->top > 1)) NEED(a->logprob, "answer->logprob");
    if (a->found < 0 || (parts->top > 1 && a->found < 1))
        return fail(err, ONET_USAGE, "the answer has %d orders: expected at least 1", a->found);
    int orders = parts->top > 1 ? (a->found < parts->top ? a->found : parts->top) : 1;
    onet_status status = ONET_OK;
    for (int k = 0; k < orders && !status; k++)
        status = sets_check_order(a->order + (size_t)k * (size_t)r->n, (size_t)r->n, err);
    return status;
}

onet_status onet_writer_put(onet_writer *w, const onet_record *r, const onet_answer *answer,
                            onet_error *err) {
    NEED(w, "writer");
    NEED(r, "record");
    if (!w->begun) return fail(err, ONET_USAGE, "onet_writer_put: onet_writer_begin comes first");
    if (r->n < 1) return fail(err, ONET_USAGE, "onet_writer_put: no set was read into the record");
    onet_status status = check_holds(w->format, r, answer, err);
    if (!status && answer) status = check_answer(r, answer, &w->options, err);
    if (!status)
        status = w->format->write ? keep_set(w, r, answer, err)
                                  : w->format->put(w->out, &w->state, r, answer, &w->options, err);
    if (status == ONET_BAD && w->in) error_prefix(err, "%s:%ld", onet_reader_name(w->in), r->line);
    return status;
}

onet_status onet_writer_put_error(onet_writer *w, const onet_record *r, const char *error, onet_error *err) {
    NEED(w, "writer");
    NEED(r, "record");
    NEED(error, "error");
    if (!w->begun || !w->options.errors)
        return fail_field(err, ONET_USAGE, "onet_write_options.errors",
                          "onet_writer_put_error: the writer was not opened for errors, or has not begun");
    return jsonl_write_error(w->out, r, error, err);
}

/* ---- The end of an input, and of all ----------------------------------------------------------------- */

onet_status onet_writer_end(onet_writer *w, onet_error *err) {
    NEED(w, "writer");
    w->in = NULL;
    w->begun = false;
    return w->format && w->format->end ? w->format->end(w->out, w->state, &w->options, err) : ONET_OK;
}

onet_status onet_writer_flush(onet_writer *w, onet_error *err) {
    NEED(w, "writer");
    return w->out ? output_flush(w->out, err) : ONET_OK;
}

onet_status onet_writer_commit(onet_writer *w, onet_error *err) {
    NEED(w, "writer");
    onet_status status = ONET_OK;
    if (w->out) {
        status = output_commit(w->out, err);
        w->out = NULL;
    }
    if (!status && w->sets) {
        if (w->words && w->sets->word && !(w->sets->words = words_copy(w->words)))
            status = fail_memory(err, "the vocabulary");
        if (!status) status = doubles_settle(w->sets, err);
        if (!status) status = sets_check_missing(w->sets, err);
        if (!status) status = w->format->write(w->sets, w->path, w->options.made, err);
    }
    onet_writer_abort(w);
    return status;
}
