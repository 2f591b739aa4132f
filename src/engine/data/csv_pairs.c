/* Reads the relations between the items of a CSV file from a second one, onet_read_options.pairs: a row for
 * each ordered pair, with columns that name the set and the two items, and one for each relation. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/lines.h"
#include "engine/base/memory.h"
#include "engine/base/number.h"
#include "engine/base/shown.h"
#include "engine/data/csv.h"
#include "engine/data/sets.h"

enum {
    NONE = -1,
    MOST_NUMBERS = 1 << 29 /* relations of all pairs, 2 GiB; room is made for pairs that the second file lacks
                            * too */
};

typedef struct pairs_file {
    csv_table *t;
    const char *name; /* of the file */
    csv_rows rows;
    names header;
    long set, from, to; /* columns; NONE */
    long column[MAX_RELATIONS];
    int relations;
    size_t *place; /* [t->rows]: the index of each row of the first file in its set */
} pairs_file;

/* ---- Items by their names ---------------------------------------------------------------------------- */

/* Sets *number to the number of an item's name among those of all sets; a new name is added. */
static onet_status add_name(csv_table *t, size_t set, const char *name, size_t length, size_t *number,
                            onet_error *err) {
    char *key = malloc(sizeof set + length + 1);
    if (!key) return fail_memory(err, "the names of the items");
    memcpy(key, &set, sizeof set);
    memcpy(key + sizeof set, name, length);
    bool added = names_add(&t->item_names, key, sizeof set + length, number);
    free(key);
    return added ? ONET_OK : fail_memory(err, "the names of the items");
}

onet_status csv_pairs_note(csv_table *t, long line, const char *name, size_t length, onet_error *err) {
    size_t number;
    onet_status status = add_name(t, t->set_of[t->rows], name, length, &number, err);
    if (status) return status;
    if (number == t->rows) return ONET_OK;
    return fail_field(err, ONET_BAD, "onet_read_options.name_column",
                      "%s:%ld: the set already has an item called \"%.*s\" (line %ld); item names must be "
                      "unique within a set",
                      t->file, line, length > 40 ? 40 : (int)length, name, t->line[number]);
}

/* Writes what the item at `place` of set s is called in messages; returns text. */
static const char *item_text(const csv_table *t, size_t s, size_t place, char text[64]) {
    size_t row = t->row_of[t->start[s] + place];
    const names *all = &t->item_names;
    if (all->count)
        shown_text(text, 64, all->text + all->at[row] + sizeof s, all->at[row + 1] - all->at[row] - sizeof s);
    else
        snprintf(text, 64, "%zu", place);
    return text;
}

/* ---- The header -------------------------------------------------------------------------------------- */

static bool is_column(const names *header, size_t k, const char *name, size_t length) {
    return header->at[k + 1] - header->at[k] == length && !memcmp(header->text + header->at[k], name, length);
}

static long find_column(const names *header, const char *name, size_t length) {
    for (size_t k = 0; k < header->count; k++)
        if (is_column(header, k, name, length)) return (long)k;
    return NONE;
}

static onet_status need_column(const pairs_file *p, long *column, const char *name, onet_error *err) {
    *column = find_column(&p->header, name, strlen(name));
    if (*column != NONE) return ONET_OK;
    return fail(err, ONET_BAD,
                "%s:1: there is no column `%.100s`; a row of relations names its set, the items from and to, "
                "and has a column for each relation",
                p->name, name);
}

/* Chooses the columns that are relations: those of the model, else all that are left. */
static onet_status choose_relations(pairs_file *p, const onet_read_options *o, onet_error *err) {
    for (int r = 0; o->relations && r < lines_count(o->relations) && r < MAX_RELATIONS; r++) {
        const char *name;
        size_t length = lines_find(o->relations, r, &name);
        p->column[p->relations++] = find_column(&p->header, name, length);
        if (p->column[r] == NONE)
            return fail(err, ONET_BAD, "%s:1: there is no column `%.*s`, a relation of the model", p->name,
                        length > 100 ? 100 : (int)length, name);
    }
    for (size_t k = 0; !o->relations && k < p->header.count; k++) {
        if ((long)k == p->set || (long)k == p->from || (long)k == p->to) continue;
        if (p->relations == MAX_RELATIONS)
            return fail(err, ONET_BAD, "%s:1: more than %d columns of relations; leave some out", p->name,
                        MAX_RELATIONS);
        p->column[p->relations++] = (long)k;
    }
    if (p->relations) return ONET_OK;
    return fail(err, ONET_BAD, "%s:1: no column is left for a relation; give at least one", p->name);
}

/* Stores the names of the relations, one per line. */
static onet_status take_names(pairs_file *p, onet_error *err) {
    char *to = p->t->pair_names = array_new(p->header.at[p->header.count] + MAX_RELATIONS, 1);
    if (!to) return fail_memory(err, "the names of the relations");
    for (int r = 0; r < p->relations; r++) {
        size_t at = p->header.at[p->column[r]], length = p->header.at[p->column[r] + 1] - at;
        if (!length || memchr(p->header.text + at, '\n', length))
            return fail(err, ONET_BAD, "%s:1: column %ld has no name, or one of two lines; name the relation",
                        p->name, p->column[r] + 1);
        if (r) *to++ = '\n';
        memcpy(to, p->header.text + at, length);
        to += length;
    }
    *to = 0;
    return ONET_OK;
}

static onet_status read_header(pairs_file *p, const onet_read_options *o, onet_error *err) {
    const char *text, *set = NULL;
    size_t length, number;
    bool end;
    onet_status status = csv_next(&p->rows, &end, err);
    if (!status && end)
        status =
            fail(err, ONET_BAD, "%s: the file is empty; expected a header and at least one row", p->name);
    for (size_t k = 0; !status && k < p->rows.fields; k++) {
        if ((status = csv_plain(&p->rows, k, &text, &length, err))) break;
        if (!names_add(&p->header, text, length, &number))
            status = fail_memory(err, "a header");
        else if (number != k)
            status = fail(err, ONET_BAD, "%s:1: column `%.*s` stands in the header twice; rename one of them",
                          p->name, length > 100 ? 100 : (int)length, text);
    }
    for (size_t k = 0; k < p->t->columns; k++)
        if (p->t->column[k].kind == CSV_SET) set = p->t->column[k].name;
    if (!status && set) status = need_column(p, &p->set, set, err);
    if (!status) status = need_column(p, &p->from, "from", err);
    if (!status) status = need_column(p, &p->to, "to", err);
    if (!status) status = choose_relations(p, o, err);
    return status ? status : take_names(p, err);
}

/* ---- Rows -------------------------------------------------------------------------------------------- */

static onet_status find_set(pairs_file *p, size_t *set, onet_error *err) {
    const char *text;
    size_t length, known = p->t->names.count;
    *set = 0;
    if (p->set == NONE) return ONET_OK;
    onet_status status = csv_plain(&p->rows, (size_t)p->set, &text, &length, err);
    if (status) return status;
    csv_trim(&text, &length);
    if (!names_add(&p->t->names, text, length, set)) return fail_memory(err, "the names of the sets");
    if (*set < known) return ONET_OK;
    return fail(err, ONET_BAD, "%s:%ld: there is no set \"%.*s\" in %s; leave the row out, or add its items",
                p->name, p->rows.line, length > 40 ? 40 : (int)length, text, p->t->file);
}

static onet_status find_item(pairs_file *p, long column, size_t set, size_t *item, onet_error *err) {
    csv_table *t = p->t;
    const char *text;
    size_t length, n = t->start[set + 1] - t->start[set];
    onet_status status = csv_plain(&p->rows, (size_t)column, &text, &length, err);
    if (status) return status;
    const char *which = column == p->from ? "from" : "to";
    if (!t->item_names.count) { /* by its place, from 0 */
        double value;
        bool whole = number_scan(text, text + length, NUMBER_LOOSE, &value) == text + length && length &&
                     value >= 0 && value < (double)n && value == floor(value);
        *item = whole ? (size_t)value : 0;
        if (whole) return ONET_OK;
        return fail_field(err, ONET_BAD, "onet_read_options.name_column",
                          "%s:%ld: column `%s`: \"%.*s\" is not the index of an item, 0 to %zu; correct it, "
                          "or name the column with the items' names",
                          p->name, p->rows.line, which, length > 40 ? 40 : (int)length, text, n - 1);
    }
    size_t known = t->item_names.count, row;
    status = add_name(t, set, text, length, &row, err);
    if (status) return status;
    if (row < known) {
        *item = p->place[row];
        return ONET_OK;
    }
    return fail(err, ONET_BAD,
                "%s:%ld: column `%s`: the set has no item called \"%.*s\" in %s; correct it, or leave it out",
                p->name, p->rows.line, which, length > 40 ? 40 : (int)length, text, t->file);
}

/* Reads the number in a field; NaN if it is missing. */
static onet_status find_number(pairs_file *p, long column, float *to, onet_error *err) {
    const char *text;
    size_t length;
    double value;
    onet_status status = csv_plain(&p->rows, (size_t)column, &text, &length, err);
    *to = NAN;
    if (status || missing_text(text, length)) return status;
    bool number = number_scan(text, text + length, NUMBER_LOOSE, &value) == text + length;
    bool held = number && number_to_float(value, to),
         rounded = held && (number_rounds_in_float(value) || number_is_rounded(text, text + length, value));
    if (held && !rounded) return ONET_OK;
    size_t at = p->header.at[column], width = p->header.at[column + 1] - at;
    return fail(err, ONET_BAD, "%s:%ld: column `%.*s`: \"%.*s\" is %s", p->name, p->rows.line,
                width > 100 ? 100 : (int)width, p->header.text + at, length > 40 ? 40 : (int)length, text,
                rounded  ? NUMBER_ROUNDED_IN_FLOAT
                : number ? "out of range: relations are 32-bit, at most 3.4e38 in size; correct it"
                         : "not a number; correct it");
}

/* Reads a row. Until its row is read, a pair has INFINITY. */
static onet_status read_row(pairs_file *p, onet_error *err) {
    csv_table *t = p->t;
    size_t set, from, to, R = (size_t)p->relations;
    float value[MAX_RELATIONS];
    if (p->rows.fields != p->header.count)
        return fail(err, ONET_BAD, "%s:%ld: %zu field%s where the header has %zu; give every row as many",
                    p->name, p->rows.line, p->rows.fields, p->rows.fields == 1 ? "" : "s", p->header.count);
    onet_status status = find_set(p, &set, err);
    if (!status) status = find_item(p, p->from, set, &from, err);
    if (!status) status = find_item(p, p->to, set, &to, err);
    if (status || from == to) return status; /* from an item to itself: ignored */
    for (size_t r = 0; r < R && !status; r++) status = find_number(p, p->column[r], &value[r], err);
    if (status) return status;
    size_t n = t->start[set + 1] - t->start[set];
    float *cell = t->pairs + (t->pair_at[set] + from * n + to) * R;
    if (!isinf(cell[0])) {
        char a[64], b[64];
        return fail(err, ONET_BAD,
                    "%s:%ld: the relations from %s to %s stand in a row before; give a pair once", p->name,
                    p->rows.line, item_text(t, set, from, a), item_text(t, set, to, b));
    }
    memcpy(cell, value, R * sizeof *cell);
    return ONET_OK;
}

/* ---- All pairs --------------------------------------------------------------------------------------- */

static onet_status make_room(pairs_file *p, onet_error *err) {
    csv_table *t = p->t;
    double numbers = 0;
    for (size_t s = 0; s < t->sets; s++) {
        double n = (double)(t->start[s + 1] - t->start[s]);
        numbers += n * n * p->relations;
    }
    if (numbers > MOST_NUMBERS)
        return fail(err, ONET_BAD,
                    "%s: the sets have %.0f relations between two items, more than the %d that are read from "
                    "CSV; split the sets, or give them in safetensors",
                    t->file, numbers, (int)MOST_NUMBERS);
    t->pair_at = array_new(t->sets + 1, sizeof *t->pair_at);
    t->pairs = array_new((size_t)numbers, sizeof *t->pairs);
    p->place = array_new(t->rows, sizeof *p->place);
    if (!t->pair_at || !t->pairs || !p->place) return fail_memory(err, "the relations");
    for (size_t i = 0; i < (size_t)numbers; i++) t->pairs[i] = INFINITY;
    for (size_t s = 0; s < t->sets; s++) {
        size_t n = t->start[s + 1] - t->start[s];
        t->pair_at[s + 1] = t->pair_at[s] + n * n;
        for (size_t i = 0; i < n; i++) p->place[t->row_of[t->start[s] + i]] = i;
    }
    return ONET_OK;
}

/* Reports the first pair that lacks a value. */
static onet_status refuse(const pairs_file *p, size_t set, size_t from, size_t to, size_t count, bool trained,
                          onet_error *err) {
    const csv_table *t = p->t;
    char a[64], b[64], others[64] = "", of[96] = "";
    const names *sets = &t->names;
    if (p->set != NONE) {
        char name[64];
        shown_text(name, sizeof name, sets->text + sets->at[set], sets->at[set + 1] - sets->at[set]);
        snprintf(of, sizeof of, " of set \"%s\"", name);
    }
    if (count > 1) snprintf(others, sizeof others, ", the first of %zu missing values", count);
    return fail_field(err, ONET_BAD, "onet_read_options.missing", "%s: no relation from %s to %s%s%s; %s",
                      p->name, item_text(t, set, from, a), item_text(t, set, to, b), of, others,
                      trained ? "add it, or use a model that was trained with missing relations"
                              : "add it, or choose that the mean replaces it");
}

/* Fills in pairs that lack a value: with the value that the model has for it, or the mean of the others;
 * refuses them if none may be missing. */
static onet_status settle(pairs_file *p, const onet_read_options *o, onet_error *err) {
    csv_table *t = p->t;
    size_t R = (size_t)p->relations, missing = 0, set = 0, from = 0, to = 0, known[MAX_RELATIONS] = {0};
    double sum[MAX_RELATIONS] = {0};
    float fill[MAX_RELATIONS] = {0};
    for (size_t s = 0; s < t->sets; s++) {
        size_t n = t->start[s + 1] - t->start[s];
        float *e = t->pairs + t->pair_at[s] * R;
        for (size_t k = 0; k < n * n * R; k++) {
            size_t i = k / R / n, j = k / R % n;
            if (i == j) e[k] = 0;
            if (isfinite(e[k]) && i != j) {
                sum[k % R] += (double)e[k];
                known[k % R]++;
            } else if (i != j && !missing++)
                set = s, from = i, to = j;
        }
    }
    bool own = !o->relation_fill && !o->relations && o->missing != ONET_MISSING_ERROR &&
               (int)o->missing != MISSING_COPIED;
    if (missing && !own && !o->relation_fill) return refuse(p, set, from, to, missing, o->relations, err);
    for (size_t r = 0; r < R; r++)
        fill[r] = o->relation_fill ? o->relation_fill[r] : known[r] ? (float)(sum[r] / (double)known[r]) : 0;
    for (size_t k = 0; missing && k < t->pair_at[t->sets] * R; k++)
        if (!isfinite(t->pairs[k])) t->pairs[k] = fill[k % R];
    if (!own && !o->relation_fill) return ONET_OK;
    if (!(t->pair_fill = array_new(R, sizeof *t->pair_fill))) return fail_memory(err, "the relations");
    memcpy(t->pair_fill, fill, R * sizeof *fill);
    return ONET_OK;
}

static onet_status read_rows(pairs_file *p, onet_error *err) {
    bool end = false;
    onet_status status;
    while (!(status = csv_next(&p->rows, &end, err)) && !end)
        if ((status = read_row(p, err))) break;
    return status;
}

onet_status csv_pairs_read(csv_table *t, const onet_read_options *o, size_t limit, onet_error *err) {
    input *in;
    onet_status status = input_open(&in, o->pairs, err);
    if (status) return status;
    pairs_file p = {.t = t, .name = input_name(in), .set = NONE, .rows = {.in = in, .limit = limit}};
    status = csv_separator(in, o, &p.rows.separator, err);
    if (!status) status = read_header(&p, o, err);
    if (!status) status = make_room(&p, err);
    if (!status) status = read_rows(&p, err);
    if (!status) status = settle(&p, o, err);
    t->relations = p.relations;
    csv_rows_free(&p.rows);
    names_free(&p.header);
    free(p.place);
    input_close(in);
    return status;
}
