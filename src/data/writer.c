#include "data/writer.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "data/csv.h"
#include "data/pointer.h"
#include "data/sets.h"
#include "data/sets_io.h"
#include "data/text.h"
#include "words/words.h"

struct writer {
    char *path;
    writer_options options;
    output *out; /* opened by the first writer_begin of a text format */
    const reader *in;
    onet_format format; /* for this input */
    /* CSV from CSV: the answers of this input, until all are there. */
    const csv_table *table;
    int32_t *order;  /* [rows] */
    double *logprob; /* [sets] or NULL */
    char *header;    /* that was written */
    csv_maker maker; /* CSV from other formats */
    onet_sets *sets; /* npz and safetensors: all sets, until the end */
    const onet_words *words;
};

onet_status writer_open(writer **result, const char *path, const writer_options *options, onet_error *err) {
    *result = NULL;
    writer *w = calloc(1, sizeof *w);
    if (!w || !(w->path = strdup(path))) {
        free(w);
        return fail_memory(err, "writing a file");
    }
    if (options) w->options = *options;
    writer_options *o = &w->options;
    if (!o->format) o->format = format_of_name(path);
    if (!o->set_column) o->set_column = "set";
    if (!o->rank_column) o->rank_column = "rank";
    w->maker =
        (csv_maker){.set_column = o->set_column, .rank_column = o->rank_column, .logprob = o->parts.logprob};
    *result = w;
    return ONET_OK;
}

void writer_abort(writer *w) {
    if (!w) return;
    output_abort(w->out);
    csv_maker_free(&w->maker);
    onet_sets_free(w->sets);
    free(w->order);
    free(w->logprob);
    free(w->header);
    free(w->path);
    free(w);
}

static bool is_binary(onet_format format) {
    return format == ONET_FORMAT_NPZ || format == ONET_FORMAT_SAFETENSORS;
}

onet_status writer_begin(writer *w, const reader *in, onet_error *err) {
    const answer_parts *parts = &w->options.parts;
    onet_format before = w->format;
    w->in = in;
    w->format = w->options.format ? w->options.format : in ? reader_format(in) : ONET_FORMAT_JSONL;
    if (before && before != w->format)
        return fail(err, ONET_USAGE,
                    "%s is in another format than the input before it; name one for all (--to)",
                    reader_name(in));
    if (parts->steps && w->format != ONET_FORMAT_JSONL)
        return fail(err, ONET_USAGE, "%s cannot hold the steps' probabilities; add --to jsonl",
                    format_name(w->format));
    if (parts->top > 1 && w->format != ONET_FORMAT_JSONL && w->format != ONET_FORMAT_TEXT)
        return fail(err, ONET_USAGE, "%s cannot hold several orders a set; add --to jsonl",
                    format_name(w->format));
    return w->out || is_binary(w->format) ? ONET_OK : output_open(&w->out, w->path, err);
}

/* ---- One set ----------------------------------------------------------------------------------------- */

static onet_status keep_answer(writer *w, const record *r, const int32_t *order, const double *logprob,
                               onet_error *err) {
    const csv_table *t = r->table;
    if (!w->table) {
        w->table = t;
        w->order = malloc(t->rows * sizeof *w->order);
        if (w->options.parts.logprob) w->logprob = calloc(t->sets, sizeof *w->logprob);
        if (!w->order || (w->options.parts.logprob && !w->logprob)) return fail_memory(err, "the answers");
        for (size_t k = 0; k < t->rows; k++) w->order[k] = -1;
    }
    if (order) memcpy(w->order + t->start[r->set], order, (size_t)r->n * sizeof *order);
    if (logprob && w->logprob) w->logprob[r->set] = *logprob;
    return ONET_OK;
}

static onet_status keep_set(writer *w, const record *r, const int32_t *order, onet_error *err) {
    onet_status status = ONET_OK;
    record answered = *r;
    answered.order = (int32_t *)order;
    if (w->format == ONET_FORMAT_NPZ) answered.constraint_count = 0; /* an answer has kept them */
    if (!w->words) w->words = w->options.words ? w->options.words : w->in ? reader_words(w->in) : NULL;
    if (!w->sets) status = sets_new(&w->sets, 0, err);
    return status ? status : sets_append_record(w->sets, &answered, w->words, err);
}

/* One line, or with several orders a line for each with its log-probability in front. */
static onet_status write_text(writer *w, const record *r, const onet_answer *answer, onet_error *err) {
    if (!answer || w->options.parts.top < 2)
        return text_write(w->out, r, answer ? answer->order : r->order, err);
    onet_status status = ONET_OK;
    for (int k = 0; k < answer->found && k < w->options.parts.top && !status; k++) {
        char number[NUMBER_TEXT];
        number_text_double(number, answer->logprob[k]);
        status = output_printf(w->out, err, "%s\t", number);
        if (!status) status = text_write(w->out, r, answer->order + (size_t)k * (size_t)r->n, err);
    }
    return status;
}

onet_status writer_put(writer *w, const record *r, const onet_answer *answer, onet_error *err) {
    const int32_t *order = answer ? answer->order : r->order;
    const double *logprob = answer ? answer->logprob : NULL;
    answer_parts parts = w->options.parts;
    onet_status status;
    bool holds = w->format == ONET_FORMAT_JSONL || w->format == ONET_FORMAT_SAFETENSORS;
    if (r->constraint_count && !answer && !holds) {
        status = fail(err, ONET_BAD, "%s cannot hold constraints; use jsonl or safetensors",
                      format_name(w->format));
        if (w->in) error_prefix(err, "%s:%ld", reader_name(w->in), r->line);
        return status;
    }
    switch (w->format) {
    case ONET_FORMAT_CSV:
        status = r->table && r->table->kept ? keep_answer(w, r, order, logprob, err)
                                            : csv_make(w->out, &w->maker, r, order, logprob, err);
        break;
    case ONET_FORMAT_POINTER:
        status = pointer_write(w->out, r, order, err);
        break;
    case ONET_FORMAT_TEXT:
        status = write_text(w, r, answer, err);
        break;
    case ONET_FORMAT_NPZ:
    case ONET_FORMAT_SAFETENSORS:
        status = keep_set(w, r, order, err);
        break;
    default:
        parts.logprob = true;
        status = jsonl_write(w->out, r, answer, &parts, err);
    }
    if (status == ONET_BAD && w->in) error_prefix(err, "%s:%ld", reader_name(w->in), r->line);
    return status;
}

/* ---- The end of an input, and of all ----------------------------------------------------------------- */

/* A second file with the same header is rows of the same table. */
static onet_status write_table(writer *w, onet_error *err) {
    const csv_table *t = w->table;
    size_t length = t->text_at[1];
    bool same = w->header && strlen(w->header) == length && !memcmp(w->header, t->text, length);
    if (w->header && !same)
        return fail(err, ONET_BAD,
                    "%s: its columns are not those of the file before it; order them one by one", t->file);
    if (!w->header && !(w->header = strndup(t->text, length))) return fail_memory(err, "a header");
    return csv_write_table(w->out, t, w->options.rank_column, w->order, w->logprob, !same, err);
}

onet_status writer_end(writer *w, onet_error *err) {
    onet_status status = w->table ? write_table(w, err) : ONET_OK;
    free(w->order);
    free(w->logprob);
    w->order = NULL;
    w->logprob = NULL;
    w->table = NULL;
    w->in = NULL;
    return status;
}

onet_status writer_flush(writer *w, onet_error *err) {
    return w->out ? output_flush(w->out, err) : ONET_OK;
}

onet_status writer_commit(writer *w, onet_error *err) {
    onet_status status = ONET_OK;
    if (w->out) {
        status = output_commit(w->out, err);
        w->out = NULL;
    }
    if (!status && w->sets) {
        if (w->words && w->sets->word && !(w->sets->words = words_copy(w->words)))
            status = fail_memory(err, "the vocabulary");
        if (!status) status = onet_sets_write(w->sets, w->path, w->format, err);
    }
    writer_abort(w);
    return status;
}
