#include "data/reader.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "data/csv.h"
#include "data/jsonl.h"
#include "data/npz.h"
#include "data/pointer.h"
#include "data/sets.h"
#include "data/sets_binary.h"
#include "data/sets_io.h"
#include "data/text.h"

/* A set of a million items fits; a file without line ends is found out before it fills the memory. */
#define LINE_LIMIT ((size_t)256 << 20)

/* Enough of a first line to tell what it is. */
enum { LOOK = 4096 };

struct reader {
    input *in;
    onet_read_options options;
    onet_format format;
    size_t limit;
    size_t given; /* sets so far */
    int width;    /* of the first set, 0 for words */
    long line;    /* where it stood */
    /* Formats that are read whole. */
    csv_table *table;
    onet_sets *sets;
};

/* Read to the end before the first set is known. */
static bool is_whole(onet_format format) {
    return format == ONET_FORMAT_CSV || format == ONET_FORMAT_NPZ || format == ONET_FORMAT_SAFETENSORS;
}

static onet_status find_format(reader *in, onet_error *err) {
    const char *data;
    size_t size;
    in->format = in->options.format ? in->options.format : format_of_name(input_name(in->in));
    if (in->format) return ONET_OK;
    onet_status status = input_peek(in->in, LOOK, &data, &size, err);
    if (status) return status;
    if (!size)
        return fail(err, ONET_BAD, "%s: the file is empty; at least one set is meant", input_name(in->in));
    in->format = format_of_bytes(data, size);
    if (in->format) return ONET_OK;
    return fail(err, ONET_BAD, "%s: cannot tell the format; name it (--format jsonl, csv, pointer, npz, ...)",
                input_name(in->in));
}

onet_status reader_open(reader **result, const char *path, const onet_read_options *options,
                        onet_error *err) {
    input *in;
    *result = NULL;
    onet_status status = input_open(&in, path, err);
    return status ? status : reader_start(result, in, options, err);
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
    onet_status status = ONET_OK;
    if (in->options.width < 1 || in->options.width > MAX_WIDTH)
        status = fail(err, ONET_USAGE, "items of %d features; from 1 to %d are possible", in->options.width,
                      MAX_WIDTH);
    if (!status && (unsigned)in->options.format > ONET_FORMAT_TEXT)
        status = fail(err, ONET_USAGE, "there is no format %d", (int)in->options.format);
    if (!status) status = find_format(in, err);
    if (status)
        reader_close(in);
    else
        *result = in;
    return status;
}

void reader_close(reader *in) {
    if (!in) return;
    input_close(in->in);
    csv_free(in->table);
    onet_sets_free(in->sets);
    free(in);
}

onet_format reader_format(const reader *in) {
    return in->format;
}

const char *reader_name(const reader *in) {
    return input_name(in->in);
}

void reader_limit(reader *in, size_t bytes) {
    in->limit = bytes;
}

const onet_words *reader_words(const reader *in) {
    return in->sets ? in->sets->words : NULL;
}

bool reader_waits(reader *in) {
    if (is_whole(in->format)) return !in->table && !in->sets;
    return input_waits(in->in);
}

void reader_sha256(reader *in, char hex[65]) {
    input_sha256(in->in, hex);
}

/* ---- Line by line ------------------------------------------------------------------------------------ */

static bool is_blank(const char *line, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (!memchr(" \t\r\v\f", line[i], 5)) return false;
    return true;
}

static onet_status next_line(reader *in, record *r, bool *end, onet_error *err) {
    char *line;
    size_t length;
    long number;
    onet_status status;
    input_line_limit(in->in, in->limit);
    do {
        if ((status = input_line(in->in, &line, &length, &number, err))) return status;
        if (!line) {
            *end = true;
            return ONET_OK;
        }
        if (number == 1 && length >= 3 && !memcmp(line, "\xEF\xBB\xBF", 3)) {
            line += 3; /* a byte-order mark */
            length -= 3;
        }
    } while (is_blank(line, length));
    if ((status = record_line(r, in->format, line, length, number, err))) return status;
    const char *name = input_name(in->in);
    switch (in->format) {
    case ONET_FORMAT_POINTER:
        return pointer_parse(r, in->options.width, name, err);
    case ONET_FORMAT_TEXT:
        return text_parse(r, name, err);
    default:
        return jsonl_parse(r, name, err);
    }
}

/* ---- Whole files ------------------------------------------------------------------------------------- */

static onet_status next_row_set(reader *in, record *r, bool *end, onet_error *err) {
    if (!in->table) {
        onet_status status = csv_read(&in->table, in->in, &in->options, true, in->limit, err);
        if (status) return status;
    }
    if (in->given == in->table->sets)
        *end = true;
    else
        csv_record(in->table, in->given, r);
    return ONET_OK;
}

static onet_status read_binary(reader *in, onet_sets **sets, onet_error *err) {
    return in->format == ONET_FORMAT_NPZ ? npz_read(sets, in->in, err) : sets_binary_read(sets, in->in, err);
}

static onet_status next_binary(reader *in, record *r, bool *end, onet_error *err) {
    onet_status status = in->sets ? ONET_OK : read_binary(in, &in->sets, err);
    if (status) return status;
    if (in->given < in->sets->count) return sets_record(in->sets, in->given, in->format, r, err);
    *end = true;
    return ONET_OK;
}

onet_status reader_take(reader *in, onet_sets **sets, onet_error *err) {
    *sets = NULL;
    if (in->format == ONET_FORMAT_NPZ || in->format == ONET_FORMAT_SAFETENSORS)
        return read_binary(in, sets, err);
    if (in->format != ONET_FORMAT_CSV) return ONET_OK;
    csv_table *table;
    onet_status status = csv_read(&table, in->in, &in->options, false, in->limit, err);
    if (!status) status = csv_take(sets, table, err);
    csv_free(table);
    return status;
}

/* ---- Either ------------------------------------------------------------------------------------------ */

/* What the sets of a file have in common. */
static onet_status check_alike(reader *in, const record *r, onet_error *err) {
    if (r->width > MAX_WIDTH)
        return fail(err, ONET_BAD, "%s:%ld: items of %d features; at most %d are possible",
                    input_name(in->in), r->line, r->width, MAX_WIDTH);
    if (!in->given) {
        in->width = r->width;
        in->line = r->line;
    }
    if (r->width == in->width) return ONET_OK;
    if (!r->width || !in->width)
        return fail(err, ONET_BAD, "%s:%ld: items are %s here and %s in line %ld; a file has one kind",
                    input_name(in->in), r->line, r->width ? "numbers" : "words",
                    in->width ? "numbers" : "words", in->line);
    return fail(err, ONET_BAD,
                "%s:%ld: items have %d feature%s here and %d in line %ld; a file has one width",
                input_name(in->in), r->line, r->width, r->width == 1 ? "" : "s", in->width, in->line);
}

onet_status reader_next(reader *in, record *r, bool *end, onet_error *err) {
    onet_status status;
    *end = false;
    switch (in->format) {
    case ONET_FORMAT_CSV:
        status = next_row_set(in, r, end, err);
        break;
    case ONET_FORMAT_NPZ:
    case ONET_FORMAT_SAFETENSORS:
        status = next_binary(in, r, end, err);
        break;
    default:
        status = next_line(in, r, end, err);
    }
    if (status) return status;
    if (*end && !in->given)
        return fail(err, ONET_BAD, "%s: the file has no sets; at least one is meant", input_name(in->in));
    if (*end) return ONET_OK;
    if ((status = check_alike(in, r, err))) return status;
    in->given++;
    return ONET_OK;
}
