/* Reads a CSV file whole into a table (csv_read), finds its separator, and returns its sets one by one
 * (csv_record) or all at once (csv_take). */
#include "engine/data/csv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/ascii.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/data/format.h"
#include "engine/data/sets.h"

bool csv_lose(csv_table *t, size_t k, size_t row, uint64_t hash) {
    return lost_note(&t->lost, row, (int)k, 0, hash);
}

static onet_status keep_text(csv_table *t, const csv_rows *rows, size_t row, onet_error *err) {
    if (!array_reserve(&t->text_at, &t->text_at_room, row + 2, sizeof *t->text_at))
        return fail_memory(err, "the rows of a CSV file");
    if (!row) t->text_at[0] = 0;
    size_t at = t->text_at[row];
    if (!array_reserve(&t->text, &t->text_room, at + rows->length, 1))
        return fail_memory(err, "the rows of a CSV file");
    memcpy(t->text + at, rows->text, rows->length);
    t->text_at[row + 1] = at + rows->length;
    return ONET_OK;
}

static onet_status read_all(csv_table *t, csv_rows *rows, const onet_read_options *options, bool keep,
                            onet_error *err) {
    bool end;
    onet_status status = csv_next(rows, &end, err);
    if (status) return status;
    if (end)
        return fail(err, ONET_BAD, "%s: the file is empty; expected a header and at least one row", t->file);
    if ((status = csv_read_header(t, rows, options, err))) return status;
    if (keep && (status = keep_text(t, rows, 0, err))) return status;
    while (!(status = csv_next(rows, &end, err)) && !end) {
        if ((status = csv_read_row(t, rows, err))) return status;
        if (keep && (status = keep_text(t, rows, t->rows, err))) return status;
    }
    if (status) return status;
    if (!t->rows) return fail(err, ONET_BAD, "%s: a header and no rows; give at least one set", t->file);
    if ((status = csv_settle_features(t, options, err))) return status;
    if (!t->items && !array_reserve(&t->items, &t->item_room, 1, sizeof *t->items))
        return fail_memory(err, "the features of a CSV file");
    if ((status = csv_gather_sets(t, err))) return status;
    if (options->pairs && (status = csv_pairs_read(t, options, rows->limit, err))) return status;
    free(t->rank);
    free(t->flag);
    free(t->set_of);
    t->rank = NULL;
    t->flag = NULL;
    t->set_of = NULL;
    t->kept = keep;
    return ONET_OK;
}

bool csv_name_of_tabs(const char *name) {
    size_t length = strlen(name);
    if (ascii_ends_in(name, length, ".gz") || ascii_ends_in(name, length, ".xz")) length -= 3;
    return ascii_ends_in(name, length, ".tsv");
}

onet_status csv_separator(input *in, const onet_read_options *options, char *separator, onet_error *err) {
    const char *data;
    size_t size;
    *separator = ',';
    if (options && options->delimiter) {
        if (options->delimiter < 0 || options->delimiter > 127 || strchr("\"\r\n", options->delimiter))
            return fail_field(
                err, ONET_USAGE, "onet_read_options.delimiter",
                "the delimiter must be one ASCII character other than a double quote or a line break");
        *separator = (char)options->delimiter;
        return ONET_OK;
    }
    if (csv_name_of_tabs(input_name(in))) {
        *separator = '\t';
        return ONET_OK;
    }
    onet_status status = input_peek(in, FORMAT_BYTES, &data, &size, err);
    if (status) return status;
    /* A header with tabs and no comma between its names. */
    bool tabs = false, commas = false, quoted = false;
    for (size_t i = 0; i < size && (quoted || data[i] != '\n'); i++) {
        quoted ^= data[i] == '"';
        tabs |= !quoted && data[i] == '\t';
        commas |= !quoted && data[i] == ',';
    }
    if (tabs && !commas) *separator = '\t';
    return ONET_OK;
}

onet_status csv_read(csv_table **table, input *in, char separator, const onet_read_options *options,
                     bool keep, size_t limit, onet_error *err) {
    csv_rows rows = {.in = in, .separator = separator, .limit = limit};
    csv_table *t = calloc(1, sizeof *t);
    const onet_read_options none = {0};
    *table = NULL;
    onet_status status = ONET_OK;
    if (t) t->separator = separator;
    if (t) t->unasked = !keep;
    if (!t || !(t->file = strdup(input_name(in))))
        status = fail_memory(err, "a CSV file");
    else
        status = read_all(t, &rows, options ? options : &none, keep, err);
    csv_rows_free(&rows);
    if (status)
        csv_free(t);
    else
        *table = t;
    return status;
}

void csv_free(csv_table *t) {
    if (!t) return;
    for (size_t k = 0; k < t->columns; k++) {
        free(t->column[k].name);
        names_free(&t->column[k].values);
        free(t->column[k].code);
    }
    for (size_t i = 0; i < t->classes; i++) free(t->class[i].value);
    unknown_free(&t->unknown);
    free(t->class);
    free(t->column);
    free(t->file);
    free(t->start);
    free(t->items);
    lost_free(t->lost.of);
    free(t->order);
    free(t->context);
    free(t->ordered);
    free(t->line);
    free(t->row_of);
    free(t->text);
    free(t->text_at);
    free(t->rank);
    free(t->flag);
    free(t->set_of);
    names_free(&t->names);
    names_free(&t->item_names);
    free(t->pairs);
    free(t->pair_at);
    free(t->pair_names);
    free(t->pair_fill);
    onet_columns_free(t->columns_of_items);
    free(t);
}

void csv_record(const csv_table *t, size_t s, onet_format format, record *r) {
    size_t from = t->start[s];
    r->n = (int)(t->start[s + 1] - from);
    r->width = t->width;
    r->items = t->items + from * (size_t)t->width;
    r->single = false;
    r->word = NULL;
    r->order = t->ordered[s] ? t->order + from : NULL;
    r->context = t->context && context_placed(t->context + from, (size_t)r->n) < (size_t)r->n
                     ? t->context + from
                     : NULL;
    r->relations = t->relations;
    r->pairs = t->relations ? t->pairs + t->pair_at[s] * (size_t)t->relations : NULL;
    r->pair_names = t->pair_names;
    r->lost = t->lost.of;
    r->lost_from = from;
    r->constraints = NULL;
    r->constraint_count = 0;
    r->line = t->line[t->row_of[from]];
    r->format = format;
    r->columns = t->columns_of_items;
    r->table = t;
    r->set = s;
    r->members = 0;
    r->length = 0;
}

/* Sets the features as float32 and, if that rounds one of them, in double. */
static onet_status take_items(csv_table *t, onet_sets *sets, onet_error *err) {
    size_t count = t->rows * (size_t)t->width;
    bool rounded = false;
    if (!(sets->items = malloc(count ? count * sizeof *sets->items : 1)))
        return fail_memory(err, "the features of a CSV file");
    for (size_t i = 0; i < count; i++) {
        sets->items[i] = (float)t->items[i];
        rounded |= !isnan(t->items[i]) && (double)sets->items[i] != t->items[i];
    }
    if (rounded) {
        sets->exact = t->items;
        t->items = NULL;
    }
    return ONET_OK;
}

/* Makes sets of the table, whose arrays become the sets', so that the features are held once. */
onet_status csv_take(onet_sets **result, csv_table *t, onet_error *err) {
    onet_sets *sets;
    size_t with = t->sets, without = t->sets;
    for (size_t s = 0; s < t->sets; s++)
        if (t->ordered[s])
            with = s;
        else
            without = s;
    if (with < t->sets && without < t->sets)
        return fail(err, ONET_BAD,
                    "%s:%ld: the set has no ranks, but that of line %ld has; give all sets ranks or none",
                    t->file, t->line[t->row_of[t->start[without]]], t->line[t->row_of[t->start[with]]]);
    onet_status status = sets_new(&sets, t->width, err);
    if (!status && (status = take_items(t, sets, err))) onet_sets_free(sets);
    if (status) return status;
    free(sets->start);
    sets->count = t->sets;
    sets->start = t->start;
    t->start = NULL;
    if (with < t->sets) {
        sets->order = t->order;
        t->order = NULL;
    }
    sets->context = t->context;
    t->context = NULL;
    /* Items with missing values get columns with the values that replace them. */
    sets->columns = t->columns_of_items;
    t->columns_of_items = NULL;
    sets->lost = t->lost.of;
    t->lost.of = NULL;
    sets_taken(sets);
    if (t->relations) {
        status = sets_take_pairs(sets, t->relations, t->pairs, t->pair_names, err);
        t->pairs = NULL;
        if (!status) status = sets_fill_pairs(sets, t->pair_fill, err);
    }
    if (status)
        onet_sets_free(sets);
    else
        *result = sets;
    return status;
}
