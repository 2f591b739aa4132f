/* Reads CSV: finds the columns, parses the rows, gathers them into sets and sorts each by rank. */
#include "data/csv.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "data/sets.h"

/* ---- The header -------------------------------------------------------------------------------------- */

/* Marks the columns of a comma-separated list as features. */
static onet_status name_features(csv_table *t, const char *list, onet_error *err) {
    for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
        size_t length = strcspn(p, ","), k = 0;
        while (k < t->columns &&
               (strlen(t->column[k].name) != length || memcmp(t->column[k].name, p, length)))
            k++;
        if (k == t->columns)
            return fail(err, ONET_BAD,
                        "%s:1: there is no column `%.*s`, which is named as a feature; check "
                        "onet_read_options.features",
                        t->file, length > 100 ? 100 : (int)length, p);
        if (t->column[k].kind != CSV_TEXT && t->column[k].kind != CSV_LOGPROB &&
            t->column[k].kind != CSV_CONTEXT)
            return fail(err, ONET_BAD,
                        "%s:1: column `%s` is named as a feature twice, or is the set's or the rank's",
                        t->file, t->column[k].name);
        t->column[k].kind = CSV_FEATURE;
        t->column[k].feature = t->width++;
    }
    return ONET_OK;
}

/* What a column's name tells of it. The others are features, or text where features are named. */
static csv_kind kind_of_name(const char *name, const char *set, const char *rank, bool features_named) {
    if (!strcmp(name, set)) return CSV_SET;
    if (!strcmp(name, rank)) return CSV_RANK;
    if (!strcmp(name, "logprob")) return CSV_LOGPROB;
    if (!strcmp(name, "context")) return CSV_CONTEXT;
    return features_named ? CSV_TEXT : CSV_EMPTY;
}

static onet_status read_header(csv_table *t, csv_rows *rows, const onet_read_options *options,
                               onet_error *err) {
    const char *set = options && options->set_column ? options->set_column : "set";
    const char *rank = options && options->rank_column ? options->rank_column : "rank";
    const char *features = options ? options->features : NULL;
    bool found = false;
    t->crlf = rows->crlf;
    if (!(t->column = calloc(rows->fields, sizeof *t->column))) return fail_memory(err, "a header");
    for (size_t k = 0; k < rows->fields; k++) {
        const char *text;
        size_t length;
        onet_status status = csv_plain(rows, k, &text, &length, err);
        if (status) return status;
        csv_column *c = &t->column[k];
        if (!(c->name = strndup(text, length))) return fail_memory(err, "a header");
        t->columns++;
        for (size_t j = 0; j < k; j++)
            if (!strcmp(t->column[j].name, c->name))
                return fail(err, ONET_BAD, "%s:1: column `%s` stands in the header twice; rename one of them",
                            t->file, c->name);
        c->kind = kind_of_name(c->name, set, rank, features != NULL);
        found |= c->kind == CSV_SET;
    }
    if (!found && t->columns == 1)
        return fail(err, ONET_BAD, "%s:1: the header has one column, `%s`; separate columns by commas",
                    t->file, t->column[0].name);
    if (!found)
        return fail(err, ONET_BAD,
                    "%s:1: there is no column `%s` to tell the sets apart; name the column that does "
                    "(onet_read_options.set_column)",
                    t->file, set);
    return features ? name_features(t, features, err) : ONET_OK;
}

/* ---- Rows -------------------------------------------------------------------------------------------- */

static onet_status bad_value(const csv_table *t, const csv_rows *rows, size_t k, const char *text,
                             size_t length, const char *what, onet_error *err) {
    return fail(err, ONET_BAD, "%s:%ld: column `%.100s`: \"%.*s\" %s", t->file, rows->line, t->column[k].name,
                length > 40 ? 40 : (int)length, text, what);
}

/* A column's kind, where no option names it, is what its first value that is not empty looks like. */
static onet_status find_kind(csv_table *t, const csv_rows *rows, size_t k, const char *text, size_t length,
                             onet_error *err) {
    csv_column *c = &t->column[k];
    double value;
    bool number = number_scan(text, text + length, NUMBER_LOOSE, &value) == text + length ||
                  number_not_finite(text, text + length) == length;
    if (!length) {
        if (!c->line) c->line = rows->line;
        return ONET_OK;
    }
    if (number && c->line)
        return fail(
            err, ONET_BAD,
            "%s:%ld: column `%.100s`: a number here and nothing in line %ld; fill it in everywhere, or name "
            "the features (onet_read_options.features)",
            t->file, rows->line, c->name, c->line);
    c->kind = number ? CSV_FEATURE : CSV_TEXT;
    if (number) c->feature = t->width++;
    return ONET_OK;
}

static onet_status number(const csv_table *t, const csv_rows *rows, size_t k, const char *text, size_t length,
                          double *value, onet_error *err) {
    if (!length)
        return bad_value(t, rows, k, text, length, "is empty where a number is meant; fill it in", err);
    if (number_scan(text, text + length, NUMBER_LOOSE, value) != text + length) {
        const char *what = "is not a number; correct it";
        if (t->column[k].kind == CSV_FEATURE)
            what = "is not a number; correct it, or name the features (onet_read_options.features)";
        if (number_not_finite(text, text + length) == length)
            what = "is not a finite number; give a number or leave the set out";
        return bad_value(t, rows, k, text, length, what, err);
    }
    float nearest;
    if (t->column[k].kind == CSV_FEATURE ? !number_to_float(*value, &nearest) : isinf(*value))
        return bad_value(t, rows, k, text, length,
                         "is out of range; features are 32-bit, at most 3.4e38 in size", err);
    return ONET_OK;
}

/* Once the first row was read, the features are known. */
static onet_status check_width(const csv_table *t, onet_error *err) {
    if (!t->width)
        return fail(err, ONET_BAD, "%s: no column of numbers; give every item at least one feature", t->file);
    if (t->width > MAX_WIDTH)
        return fail(err, ONET_BAD, "%s: %d columns of numbers; an item has at most %d features", t->file,
                    t->width, MAX_WIDTH);
    return ONET_OK;
}

static onet_status read_row(csv_table *t, csv_rows *rows, onet_error *err) {
    onet_status status;
    const char *text;
    size_t length, row = t->rows;
    if (rows->fields != t->columns)
        return fail(err, ONET_BAD, "%s:%ld: %zu field%s where the header has %zu; give every row as many",
                    t->file, rows->line, rows->fields, rows->fields == 1 ? "" : "s", t->columns);
    if (!array_reserve(&t->set_of, &t->set_room, row + 1, sizeof *t->set_of) ||
        !array_reserve(&t->rank, &t->rank_room, row + 1, sizeof *t->rank) ||
        !array_reserve(&t->flag, &t->flag_room, row + 1, 1) ||
        !array_reserve(&t->line, &t->line_room, row + 1, sizeof *t->line))
        return fail_memory(err, "the rows of a CSV file");
    t->line[row] = rows->line;
    t->rank[row] = NAN;
    t->flag[row] = 0;
    for (size_t k = 0; k < t->columns; k++) {
        csv_kind kind = t->column[k].kind;
        if (kind == CSV_TEXT || kind == CSV_LOGPROB) continue;
        if ((status = csv_plain(rows, k, &text, &length, err))) return status;
        if (kind == CSV_EMPTY) {
            if ((status = find_kind(t, rows, k, text, length, err))) return status;
            kind = t->column[k].kind;
        }
        double value;
        if (kind == CSV_SET) {
            if (!length) return bad_value(t, rows, k, text, length, "is empty; every row names its set", err);
            if (!names_add(&t->names, text, length, &t->set_of[row]))
                return fail_memory(err, "the names of the sets");
        } else if (kind == CSV_RANK && length) {
            if ((status = number(t, rows, k, text, length, &t->rank[row], err))) return status;
        } else if (kind == CSV_CONTEXT && length) {
            if (length > 1 || (*text != '0' && *text != '1'))
                return bad_value(t, rows, k, text, length,
                                 "is neither 0 nor 1 (seen but not placed); correct it, or name the features "
                                 "(onet_read_options.features)",
                                 err);
            t->flag[row] = *text;
        } else if (kind == CSV_FEATURE) {
            if ((status = number(t, rows, k, text, length, &value, err))) return status;
            size_t at = row * (size_t)t->width + (size_t)t->column[k].feature;
            if (!array_reserve(&t->items, &t->item_room, at + 1, sizeof *t->items))
                return fail_memory(err, "the features of a CSV file");
            t->items[at] = (float)value;
        }
    }
    t->rows++;
    return row ? ONET_OK : check_width(t, err);
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

/* ---- Sets -------------------------------------------------------------------------------------------- */

/* Moves items so that place k holds what was in place row_of[k], along the cycles of that permutation; the
 * features are held once. */
static onet_status move_items(csv_table *t, onet_error *err) {
    size_t width = (size_t)t->width, bytes = width * sizeof(float);
    float *hand = malloc(bytes);
    bool *done = calloc(t->rows, sizeof *done);
    if (!hand || !done) {
        free(hand);
        free(done);
        return fail_memory(err, "grouping the rows of a CSV file");
    }
    for (size_t first = 0; first < t->rows; first++) {
        if (done[first] || t->row_of[first] == first) continue;
        memcpy(hand, t->items + first * width, bytes);
        size_t k = first;
        for (; t->row_of[k] != first; k = t->row_of[k]) {
            memcpy(t->items + k * width, t->items + t->row_of[k] * width, bytes);
            done[k] = true;
        }
        memcpy(t->items + k * width, hand, bytes);
        done[k] = true;
    }
    free(hand);
    free(done);
    return ONET_OK;
}

static onet_status group(csv_table *t, onet_error *err) {
    t->sets = t->names.count;
    t->start = calloc(t->sets + 1, sizeof *t->start);
    t->row_of = malloc(t->rows * sizeof *t->row_of);
    if (!t->start || !t->row_of) return fail_memory(err, "grouping the rows of a CSV file");
    for (size_t row = 0; row < t->rows; row++) t->start[t->set_of[row] + 1]++;
    for (size_t s = 0; s < t->sets; s++) {
        if (t->start[s + 1] > INT_MAX)
            return fail(err, ONET_BAD, "%s: a set of more than %d items", t->file, INT_MAX);
        t->start[s + 1] += t->start[s];
    }
    /* start[s] runs ahead to the end of set s, and is put back. */
    for (size_t row = 0; row < t->rows; row++) {
        t->row_of[t->start[t->set_of[row]]++] = row;
    }
    memmove(t->start + 1, t->start, t->sets * sizeof *t->start);
    t->start[0] = 0;
    return move_items(t, err);
}

typedef struct ranked_item {
    double rank;
    int32_t item;
} ranked_item;

static int by_rank(const void *a, const void *b) {
    double x = ((const ranked_item *)a)->rank, y = ((const ranked_item *)b)->rank;
    return x < y ? -1 : x > y;
}

static onet_status find_context(csv_table *t, size_t s, const double *rank, const char *column, bool ranked,
                                onet_error *err) {
    size_t from = t->start[s], n = t->start[s + 1] - from, seen = 0;
    for (size_t i = 0; i < n; i++) {
        size_t row = t->row_of[from + i];
        char flag = t->flag[row];
        if (ranked && flag == '1' && !isnan(rank[i]))
            return fail(
                err, ONET_BAD,
                "%s:%ld: column `%s`: a rank, but `context` is 1 and such items are not placed; leave "
                "one of them empty",
                t->file, t->line[row], column);
        if (ranked && flag == '0' && isnan(rank[i]))
            return fail(
                err, ONET_BAD,
                "%s:%ld: column `%s`: empty, but `context` is 0 and other rows of the set have a rank; "
                "fill it in",
                t->file, t->line[row], column);
        bool context = ranked ? isnan(rank[i]) : flag == '1';
        if (!context) continue;
        if (!t->context && !(t->context = calloc(t->rows, 1)))
            return fail_memory(err, "the sets of a CSV file");
        t->context[from + i] = 1;
        seen++;
    }
    if (seen < n) return ONET_OK;
    return fail(err, ONET_BAD, "%s:%ld: all rows of the set are context; leave the set out or place one",
                t->file, t->line[t->row_of[from]]);
}

/* Sorts the items of set s by rank; those without one, where others have it, are context and come last. rank,
 * sorted: room for the set's. */
static onet_status order_set(csv_table *t, size_t s, double *rank, ranked_item *sorted, const char *column,
                             onet_error *err) {
    size_t from = t->start[s], n = t->start[s + 1] - from, placed = 0;
    const size_t *row_of = t->row_of + from;
    int32_t *order = t->order ? t->order + from : NULL;
    for (size_t i = 0; i < n; i++) {
        rank[i] = t->rank[row_of[i]];
        if (!isnan(rank[i])) sorted[placed++] = (ranked_item){rank[i], (int32_t)i};
    }
    onet_status status = find_context(t, s, rank, column, placed > 0, err);
    if (status || !placed) return status;
    qsort(sorted, placed, sizeof *sorted, by_rank);
    for (size_t place = 0; place < placed; place++) order[place] = sorted[place].item;
    for (size_t i = 0, seen = placed; i < n; i++)
        if (isnan(rank[i])) order[seen++] = (int32_t)i;
    for (size_t place = 1; place < placed; place++) {
        int32_t last = order[place - 1];
        if (rank[last] == rank[order[place]])
            return fail(
                err, ONET_BAD,
                "%s:%ld: column `%s`: the same rank as line %ld of the same set; give each row its own",
                t->file, t->line[row_of[order[place]]], column, t->line[row_of[last]]);
    }
    t->ordered[s] = true;
    return ONET_OK;
}

static onet_status order_sets(csv_table *t, onet_error *err) {
    const char *column = NULL;
    size_t largest = 0;
    for (size_t k = 0; k < t->columns; k++)
        if (t->column[k].kind == CSV_RANK) column = t->column[k].name;
    for (size_t s = 0; s < t->sets; s++)
        if (t->start[s + 1] - t->start[s] > largest) largest = t->start[s + 1] - t->start[s];
    t->ordered = calloc(t->sets, sizeof *t->ordered);
    if (!t->ordered) return fail_memory(err, "the sets of a CSV file");
    if (column) t->order = malloc(t->rows * sizeof *t->order);
    double *rank = malloc(largest * sizeof *rank);
    ranked_item *sorted = malloc(largest * sizeof *sorted);
    onet_status status =
        (t->order || !column) && rank && sorted ? ONET_OK : fail_memory(err, "the sets of a CSV file");
    for (size_t s = 0; s < t->sets && !status; s++) status = order_set(t, s, rank, sorted, column, err);
    free(rank);
    free(sorted);
    return status;
}

/* ---- The table --------------------------------------------------------------------------------------- */

static onet_status read_all(csv_table *t, csv_rows *rows, const onet_read_options *options, bool keep,
                            onet_error *err) {
    bool end;
    onet_status status = csv_next(rows, &end, err);
    if (status) return status;
    if (end)
        return fail(err, ONET_BAD, "%s: the file is empty; a header and at least one row are meant", t->file);
    if ((status = read_header(t, rows, options, err))) return status;
    if (keep && (status = keep_text(t, rows, 0, err))) return status;
    while (!(status = csv_next(rows, &end, err)) && !end) {
        if ((status = read_row(t, rows, err))) return status;
        if (keep && (status = keep_text(t, rows, t->rows, err))) return status;
    }
    if (status) return status;
    if (!t->rows) return fail(err, ONET_BAD, "%s: a header and no rows; give at least one set", t->file);
    if ((status = group(t, err)) || (status = order_sets(t, err))) return status;
    free(t->rank);
    free(t->flag);
    free(t->set_of);
    t->rank = NULL;
    t->flag = NULL;
    t->set_of = NULL;
    t->kept = keep;
    return ONET_OK;
}

onet_status csv_read(csv_table **table, input *in, char separator, const onet_read_options *options,
                     bool keep, size_t limit, onet_error *err) {
    csv_rows rows = {.in = in, .separator = separator, .limit = limit};
    csv_table *t = calloc(1, sizeof *t);
    *table = NULL;
    onet_status status = ONET_OK;
    if (t) t->separator = separator;
    if (!t || !(t->file = strdup(input_name(in))))
        status = fail_memory(err, "a CSV file");
    else
        status = read_all(t, &rows, options, keep, err);
    csv_rows_free(&rows);
    if (status)
        csv_free(t);
    else
        *table = t;
    return status;
}

void csv_free(csv_table *t) {
    if (!t) return;
    for (size_t k = 0; k < t->columns; k++) free(t->column[k].name);
    free(t->column);
    free(t->file);
    free(t->start);
    free(t->items);
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
    free(t);
}

void csv_record(const csv_table *t, size_t s, onet_format format, record *r) {
    size_t from = t->start[s];
    r->n = (int)(t->start[s + 1] - from);
    r->width = t->width;
    r->items = t->items + from * (size_t)t->width;
    r->word = NULL;
    r->order = t->ordered[s] ? t->order + from : NULL;
    r->context = t->context && context_placed(t->context + from, (size_t)r->n) < (size_t)r->n
                     ? t->context + from
                     : NULL;
    r->constraints = NULL;
    r->constraint_count = 0;
    r->line = t->line[t->row_of[from]];
    r->format = format;
    r->table = t;
    r->set = s;
    r->members = 0;
    r->length = 0;
}

/* The table's arrays become the sets', so that the features are held once. */
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
    if (status) return status;
    free(sets->start);
    sets->count = t->sets;
    sets->start = t->start;
    sets->items = t->items;
    t->start = NULL;
    t->items = NULL;
    if (with < t->sets) {
        sets->order = t->order;
        t->order = NULL;
    }
    sets->context = t->context;
    t->context = NULL;
    sets_taken(sets);
    *result = sets;
    return ONET_OK;
}
