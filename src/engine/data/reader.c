/* Reads the sets of a file one by one (onet_reader): finds the format, reads line by line, from a JSON array,
 * or the whole file at once, and checks that the sets are alike and no value is missing. */

#include <stdlib.h>
#include <string.h>

#include "engine/base/arguments.h"
#include "engine/base/choice.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/sized.h"
#include "engine/data/columns.h"
#include "engine/data/csv.h"
#include "engine/data/json_array.h"
#include "engine/data/sets.h"
#include "engine/data/sets_io.h"
#include "engine/data/unknown.h"

/* A set of a million items fits; a file without line ends is found out before it fills the memory. */
#define LINE_LIMIT ((size_t)256 << 20)

struct onet_reader {
    input *in;
    onet_read_options options;
    const data_format *format;
    size_t limit;
    size_t given;          /* sets so far */
    int width;             /* of the first set, 0 for words and for relations alone */
    bool words;            /* the first set's items are words */
    long line;             /* where it stood */
    json_array array;      /* JSON Lines: the sets stand in an array instead */
    bool looked;           /* the first line was looked at for one */
    bool broken;           /* what follows cannot be read */
    bool refused;          /* a set was bad */
    bool missing;          /* sets may lack values */
    onet_columns *columns; /* the names of the first set's features, for those that follow; or NULL */
    unknown_texts unknown; /* JSON Lines: the texts of the model's categories */
    char *said;            /* what onet_reader_unknown returned last */
    /* Formats that are read whole. */
    csv_table *table;
    onet_sets *sets;
};

static onet_status find_format(reader *in, onet_error *err) {
    const char *data;
    size_t size;
    in->format = in->options.format ? format_find(in->options.format) : format_of_name(input_name(in->in));
    if (!in->format && in->options.delimiter) in->format = format_find(ONET_FORMAT_CSV);
    if (in->format) return ONET_OK;
    onet_status status = input_peek(in->in, FORMAT_BYTES, &data, &size, err);
    if (status) return status;
    if (!size)
        return fail(err, ONET_BAD, "%s: the file is empty; expected at least one set", input_name(in->in));
    in->format = format_of_bytes(data, size);
    if (in->format) return ONET_OK;
    char list[128];
    return fail_field(err, ONET_BAD, "onet_read_options.format", "%s: cannot tell the format; name it: %s",
                      input_name(in->in), choice_names(onet_formats() + 1, " or ", list, sizeof list));
}

onet_status reader_input(input **in, const char *path, const onet_read_options *options,
                         onet_read_options *own, onet_error *err) {
    *in = NULL;
    *own = (onet_read_options){.size = sizeof *own};
    onet_status status = sized_take(own, sizeof *own, options, "onet_read_options", err);
    if (!status) status = columns_check_list(own->features, own->columns, err);
    if (status) return status;
    return own->bytes ? input_from(in, path, own->bytes, own->context, err) : input_open(in, path, err);
}

onet_status onet_reader_open(onet_reader **result, const char *path, const onet_read_options *options,
                             onet_error *err) {
    NEED(result, "reader");
    *result = NULL;
    NEED(path, "path");
    input *in;
    onet_read_options own;
    onet_status status = reader_input(&in, path, options, &own, err);
    return status ? status : reader_start(result, in, &own, err);
}

onet_status reader_start(reader **result, input *from, const onet_read_options *options, onet_error *err) {
    *result = NULL;
    reader *in = calloc(1, sizeof *in);
    if (!in) {
        input_close(from);
        return fail_memory(err, "reading a file");
    }
    in->in = from;
    if (options) in->options = *options;
    if (!in->options.width) in->options.width = 2;
    in->limit = LINE_LIMIT;
    const onet_columns *columns = in->options.columns;
    in->missing = (columns ? columns->missing : in->options.missing) != ONET_MISSING_ERROR;
    onet_status status = ONET_OK;
    if (in->options.width < 1 || in->options.width > MAX_WIDTH)
        status = fail(err, ONET_USAGE, "items of %d features; from 1 to %d are possible", in->options.width,
                      MAX_WIDTH);
    if (!status && in->options.format && !format_find(in->options.format))
        status = fail(err, ONET_USAGE, "there is no format %d", (int)in->options.format);
    if (!status) status = find_format(in, err);
    if (!status && in->format->parse) status = unknown_start(&in->unknown, columns, err);
    if (!status && in->options.pairs && !in->format->read_table)
        status = fail_field(err, ONET_USAGE, "onet_read_options.pairs",
                            "%s: a second file of relations goes with CSV; in %s they are part of the sets",
                            input_name(in->in), in->format->name);
    if (status)
        onet_reader_close(in);
    else
        *result = in;
    return status;
}

void onet_reader_close(onet_reader *in) {
    if (!in) return;
    input_close(in->in);
    csv_free(in->table);
    onet_columns_free(in->columns);
    json_array_free(&in->array);
    onet_sets_free(in->sets);
    unknown_free(&in->unknown);
    free(in->said);
    free(in);
}

const data_format *reader_format(const reader *in) {
    return in->format;
}

const char *onet_reader_name(const onet_reader *in) {
    return in ? input_name(in->in) : NULL;
}

void reader_limit(reader *in, size_t bytes) {
    in->limit = bytes;
}

void reader_allow_missing(reader *in) {
    in->missing = true;
}

const onet_words *reader_words(const reader *in) {
    return in->sets ? in->sets->words : NULL;
}

int onet_reader_waits(onet_reader *in) {
    if (!in) return 0;
    if (in->format->read) return !in->table && !in->sets;
    return input_waits(in->in);
}

const char *onet_reader_unknown(onet_reader *in) {
    if (!in) return NULL;
    if (in->table) return onet_columns_unknown(in->table->columns_of_items);
    if (!in->unknown.column) return NULL;
    onet_error err;
    free(in->said);
    in->said = NULL;
    unknown_say(&in->unknown, in->options.columns, input_name(in->in), &in->said, &err);
    return in->said; /* where memory is short, what was said so far */
}

void onet_reader_hash(onet_reader *in, char hex[65]) {
    if (!hex) return;
    hex[0] = 0;
    if (in) input_sha256(in->in, hex);
}

/* ---- Line by line ------------------------------------------------------------------------------------ */

static bool is_blank(const char *line, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (!memchr(" \t\r\v\f", line[i], 5)) return false;
    return true;
}

static onet_status parse(reader *in, record *r, const char *text, size_t length, long line, onet_error *err) {
    onet_status status = record_line(r, in->format->format, text, length, line, err);
    if (status) return status;
    r->found_here = in->columns != NULL;
    r->unknown = &in->unknown;
    return in->format->parse(r, &in->options, input_name(in->in), err);
}

static onet_status next_object(reader *in, record *r, int *end, onet_error *err) {
    json_array *a = &in->array;
    bool ended;
    onet_status status = json_array_next(a, in->in, in->limit, &ended, err);
    *end = ended;
    in->broken = status != ONET_OK;
    return status || ended ? status : parse(in, r, a->text, a->length, a->begins, err);
}

static onet_status next_line(reader *in, record *r, int *end, onet_error *err) {
    char *line;
    size_t length;
    long number;
    onet_status status;
    input_line_limit(in->in, in->limit);
    if (in->array.open) return next_object(in, r, end, err);
    do {
        if ((status = input_line(in->in, &line, &length, &number, err))) {
            in->broken = true;
            return status;
        }
        if (!line) {
            *end = 1;
            return ONET_OK;
        }
        if (number == 1 && length >= 3 && !memcmp(line, "\xEF\xBB\xBF", 3)) {
            line += 3; /* a byte-order mark */
            length -= 3;
        }
    } while (is_blank(line, length));
    bool first = !in->looked;
    in->looked = true;
    if (first && in->format->format == ONET_FORMAT_JSONL && json_array_begins(line, length)) {
        status = json_array_open(&in->array, line, length, number, err);
        return status ? status : next_object(in, r, end, err);
    }
    return parse(in, r, line, length, number, err);
}

/* ---- Whole files ------------------------------------------------------------------------------------- */

static onet_status next_of_table(reader *in, record *r, int *end, onet_error *err) {
    if (!in->table) {
        onet_status status = in->format->read_table(&in->table, in->in, &in->options, in->limit, err);
        in->broken = status != ONET_OK;
        if (status) return status;
    }
    if (in->given == in->table->sets)
        *end = 1;
    else
        csv_record(in->table, in->given, in->format->format, r);
    return ONET_OK;
}

static onet_status next_of_sets(reader *in, record *r, int *end, onet_error *err) {
    onet_status status = in->sets ? ONET_OK : reader_take(in, &in->sets, err);
    in->broken = status != ONET_OK;
    if (status) return status;
    if (in->given < in->sets->count) return sets_record(in->sets, in->given, in->format->format, r, err);
    *end = 1;
    return ONET_OK;
}

onet_status reader_take(reader *in, onet_sets **sets, onet_error *err) {
    *sets = NULL;
    if (!in->format->read) return ONET_OK;
    onet_status status = in->format->read(sets, in->in, &in->options, in->limit, err);
    /* A table has chosen its columns itself. */
    if (!status && !in->format->read_table)
        status = columns_choose(*sets, input_name(in->in), &in->options, err);
    if (status) {
        onet_sets_free(*sets);
        *sets = NULL;
    }
    return status;
}

/* ---- Either ------------------------------------------------------------------------------------------ */

static const char *kind_of(int width, bool words) {
    return words ? "words" : width ? "numbers" : "without features";
}

/* Checks that the sets of a file have one kind and one width. */
static onet_status check_alike(reader *in, const record *r, onet_error *err) {
    if (r->width > MAX_WIDTH)
        return fail(err, ONET_BAD, "%s:%ld: items of %d features; at most %d are possible",
                    input_name(in->in), r->line, r->width, MAX_WIDTH);
    if (!in->given) {
        in->width = r->width;
        in->line = r->line;
        in->words = r->word != NULL;
    }
    bool words = r->word != NULL;
    if ((r->width == in->width && words == in->words) || in->options.mixed) return ONET_OK;
    if (words != in->words)
        return fail(err, ONET_BAD, "%s:%ld: items are %s here and %s in line %ld; a file has one kind",
                    input_name(in->in), r->line, kind_of(r->width, words), kind_of(in->width, in->words),
                    in->line);
    if (!r->width || !in->width)
        return fail(err, ONET_BAD,
                    "%s:%ld: items have %s here and %s in line %ld; give the items of every set features, "
                    "or none",
                    input_name(in->in), r->line, r->width ? "features" : "relations alone",
                    in->width ? "features" : "relations alone", in->line);
    return fail(err, ONET_BAD,
                "%s:%ld: items have %d feature%s here and %d in line %ld; a file has one width",
                input_name(in->in), r->line, r->width, r->width == 1 ? "" : "s", in->width, in->line);
}

static onet_status check_missing(const reader *in, const record *r, onet_error *err) {
    missing_count m = {0};
    const onet_columns *model = in->options.columns;
    /* A width other than the model's is not checked here: the caller refuses it, with the model's name. */
    if (in->missing || !r->items || (model && model->width != r->width)) return ONET_OK;
    bool lines = in->format->parse || in->format->read_table;
    missing_add(&m, r->items, (size_t)r->n, r->width, lines ? r->line : 0, in->given);
    return missing_refuse(&m, input_name(in->in), r->columns ? r->columns : model, model && !in->columns,
                          err);
}

static onet_status next_set(reader *in, record *r, int *end, onet_error *err) {
    if (in->format->parse) return next_line(in, r, end, err);
    if (in->format->read_table) return next_of_table(in, r, end, err);
    return next_of_sets(in, r, end, err);
}

/* Keeps the names of the first set for the others, whose keys may stand in any order, unless a model has
 * names. How a model without names treats missing values stays. */
static onet_status keep_names(reader *in, const record *r, onet_error *err) {
    const onet_columns *given = in->options.columns;
    if (given && (given->name || given->width != r->width)) return ONET_OK;
    onet_status status = onet_columns_copy(&in->columns, r->own_columns, err);
    if (!status && given && given->fill)
        status = columns_take_missing(in->columns, given->missing, given->fill, given->flag, err);
    if (!status) in->options.columns = in->columns;
    return status;
}

onet_status onet_reader_next(onet_reader *in, onet_record *r, int *end, onet_error *err) {
    NEED(end, "end");
    *end = 0;
    NEED(in, "reader");
    NEED(r, "record");
    *end = in->broken;
    if (in->broken) return ONET_OK;
    onet_status status = next_set(in, r, end, err);
    if (!status && !*end && !(status = check_alike(in, r, err))) status = check_missing(in, r, err);
    if (status) in->refused = true;
    if (status) return status;
    if (*end && !in->given && !in->refused)
        return fail(err, ONET_BAD, "%s: the file has no sets; expected at least one", input_name(in->in));
    if (*end) return ONET_OK;
    if (!in->given && r->own_columns && r->columns == r->own_columns) status = keep_names(in, r, err);
    in->given += !status;
    return status;
}
