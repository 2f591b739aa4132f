/* Writes CSV: the rows as they were read with the columns of the predicted order added, or new rows from sets
 * of another format. Also defines the format csv, which recognises and reads such files through csv.c. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/number.h"
#include "engine/data/csv.h"
#include "engine/data/format.h"
#include "engine/data/jsonl.h"

/* ---- A table that was read --------------------------------------------------------------------------- */

onet_status csv_kept_row(const csv_table *t, size_t k, csv_rows *rows, onet_error *err) {
    size_t row = t->row_of[k] + 1;
    rows->separator = t->separator;
    return csv_split(rows, t->text + t->text_at[row], t->text_at[row + 1] - t->text_at[row], t->line[row - 1],
                     err);
}

/* What the rank and logprob columns hold, in one row; NULL leaves them as they are. */
typedef struct filling {
    const char *rank, *logprob;
} filling;

/* Writes field k of a row, unchanged if the separator stays the same. */
static onet_status write_kept_field(output *out, const csv_table *t, csv_rows *rows, size_t k, char separator,
                                    onet_error *err) {
    const char *text = rows->text + rows->field[k].at;
    size_t length = rows->field[k].length;
    bool same = separator == t->separator;
    onet_status status = same ? ONET_OK : csv_plain(rows, k, &text, &length, err);
    if (same)
        output_write(out, text, length);
    else if (!status && length)
        output_csv_field(out, separator, text, length);
    return status;
}

static onet_status end_row(output *out, const csv_table *t, onet_error *err) {
    output_put(out, t->crlf ? "\r\n" : "\n");
    return output_status(out, err);
}

static onet_status write_row(output *out, const csv_table *t, csv_rows *rows, size_t row, const filling *fill,
                             char separator, onet_error *err) {
    const char *text = t->text + t->text_at[row], *rank = fill->rank, *logprob = fill->logprob;
    onet_status status = csv_split(rows, text, t->text_at[row + 1] - t->text_at[row], 0, err);
    for (size_t k = 0; k < t->columns && !status; k++) {
        const char *value = NULL;
        if (t->column[k].kind == CSV_RANK) value = rank, rank = NULL;
        if (t->column[k].kind == CSV_LOGPROB) value = logprob, logprob = NULL;
        if (k) output_write(out, &separator, 1);
        if (value)
            output_put(out, value);
        else
            status = write_kept_field(out, t, rows, k, separator, err);
    }
    if (rank) output_printf(out, "%c%s", separator, rank);
    if (logprob) output_printf(out, "%c%s", separator, logprob);
    return status ? status : end_row(out, t, err);
}

static onet_status write_header(output *out, const csv_table *t, csv_rows *rows, const char *rank_column,
                                bool ranked, bool logprob, char separator, onet_error *err) {
    bool has_rank = false, has_logprob = false;
    onet_status status = csv_split(rows, t->text, t->text_at[1], 0, err);
    for (size_t k = 0; k < t->columns && !status; k++) {
        has_rank |= t->column[k].kind == CSV_RANK;
        has_logprob |= t->column[k].kind == CSV_LOGPROB;
        if (k) output_write(out, &separator, 1);
        status = write_kept_field(out, t, rows, k, separator, err);
    }
    if (ranked && !has_rank) {
        output_write(out, &separator, 1);
        output_csv_field(out, separator, rank_column, strlen(rank_column));
    }
    if (logprob && !has_logprob) output_printf(out, "%clogprob", separator);
    return status ? status : end_row(out, t, err);
}

/* Writes the kept text with ranks filled in. order: [rows], as in the table, the answers, -1 at the start of
 * a set that has none; logprob: [sets] or NULL. */
static onet_status write_table(output *out, const csv_table *t, const onet_write_options *options,
                               const int32_t *order, const double *logprob, bool header, onet_error *err) {
    char separator = options->delimiter ? (char)options->delimiter : t->separator;
    csv_rows rows = {.separator = t->separator};
    int32_t *rank =
        malloc(t->rows * sizeof *rank); /* [rows] in the file's order, -1 where not placed or not known */
    size_t *set = malloc(t->rows * sizeof *set);
    bool ranked = false;
    onet_status status = rank && set ? ONET_OK : fail_memory(err, "the ranks of a CSV file");
    for (size_t s = 0; s < t->sets && !status; s++)
        for (size_t k = t->start[s]; k < t->start[s + 1]; k++) {
            bool known = order[t->start[s]] >= 0;
            size_t row = t->row_of[known ? t->start[s] + (size_t)order[k] : k];
            bool placed = known && !(t->context && t->context[t->start[s] + (size_t)order[k]]);
            rank[row] = placed ? (int32_t)(k - t->start[s]) : -1;
            set[row] = s;
            ranked |= known;
        }
    if (!status && header)
        status = write_header(out, t, &rows, options->rank_column, ranked, logprob != NULL, separator, err);
    for (size_t row = 0; row < t->rows && !status; row++) {
        char place[16] = "", number[NUMBER_TEXT] = "";
        if (rank[row] >= 0) snprintf(place, sizeof place, "%d", rank[row]);
        if (logprob) number_text_double(number, logprob[set[row]]);
        filling fill = {ranked ? place : NULL, logprob ? number : NULL};
        status = write_row(out, t, &rows, row + 1, &fill, separator, err);
    }
    free(rank);
    free(set);
    csv_rows_free(&rows);
    return status;
}

/* ---- Rows made from other formats -------------------------------------------------------------------- */

/* Finds the value of a key for item i, *from .. *to: one for the whole set, or one in an array of n. Returns
 * false if a text column cannot hold it. */
static bool extra_value(const record *r, const member *m, int i, const char **from, const char **to) {
    const char *end = r->text + m->value_end, *p = r->text + m->value;
    if (*p == '[') {
        json_scan s = scan_of(p, (size_t)(end - p));
        bool first = scan_accept(&s, '[');
        int count = 0;
        for (s.nan = true; scan_more(&s, ']', &first); count++) {
            const char *value = s.at;
            scan_skip(&s, 0);
            if (count != i) continue;
            p = value;
            end = s.at;
        }
        if (count != r->n) return false;
    }
    *from = p;
    *to = end;
    return *p != '[' && *p != '{';
}

/* A value of JSON as it stands; from NULL: there is none. */
typedef struct span_of_text {
    const char *from, *to;
} span_of_text;

/* Whether the items are objects; then s stands before the first, `first` is for scan_more, and *key has room
 * for any key (NULL: out of memory). */
static bool item_objects(const record *r, json_scan *s, bool *first, char **key) {
    *key = NULL;
    for (int k = 0; k < r->members; k++) {
        const member *m = &r->member[k];
        if (!jsonl_is(r, m, "items")) continue;
        *s = scan_of(r->text + m->value, m->value_end - m->value);
        s->nan = true;
        *first = scan_accept(s, '[');
        if (*first && scan_next(s) == '{') *key = malloc(m->value_end - m->value + 1);
        return *first && scan_next(s) == '{';
    }
    return false;
}

/* Reads the next key of an object, and its value; returns false if none is left. */
static bool next_key(json_scan *s, bool *first, char *key, size_t *length, span_of_text *value) {
    if (!scan_more(s, '}', first)) return false;
    scan_key(s, key, length);
    value->from = s->at;
    scan_skip(s, 0);
    value->to = s->at;
    return true;
}

/* Writes a text, in quotes if it looks like a number: quotes distinguish it from a feature. */
static void write_text(output *out, char separator, const char *text, size_t length) {
    double value;
    const char *from = text, *to = text + length;
    while (from < to && *from == ' ') from++;
    while (from < to && to[-1] == ' ') to--;
    if (from == to || (number_scan(from, to, NUMBER_LOOSE, &value) != to && !number_not_finite(from, to)))
        output_csv_field(out, separator, text, length);
    else
        output_printf(out, "\"%.*s\"", (int)length, text);
}

/* Writes a JSON value: strings without their quotes and escapes, null as nothing. */
static onet_status write_extra(output *out, char separator, const char *from, const char *to,
                               onet_error *err) {
    if (*from == 'n') return ONET_OK;
    char *plain = *from == '"' ? malloc((size_t)(to - from)) : NULL;
    if (*from == '"' && !plain) return fail_memory(err, "a text");
    write_text(out, separator, plain ? plain : from,
               plain ? json_unquote(from, to, plain) : (size_t)(to - from));
    free(plain);
    return ONET_OK;
}

/* Returns the name of a feature's column: its own, or x1, x2, ... */
static const char *feature_name(const record *r, int feature, char made[16]) {
    const char *name = onet_record_feature(r, feature);
    if (!name) snprintf(made, 16, "x%d", feature + 1);
    return name ? name : made;
}

/* Rows made from records of other formats; all zero but for the names and the separator to begin with. */
typedef struct csv_converter {
    const char *set_column, *rank_column;
    char separator;
    bool logprob;
    /* Since the first record: */
    bool started, ranked, context; /* columns of ranks, of context */
    int width;
    names extra;         /* keys of JSON Lines that are passed through */
    names item_extra;    /* those of items that are objects */
    span_of_text *value; /* [item_extra]: of the item under way */
    names sets;
} csv_converter;

static bool is_text(const char *text, size_t length, const char *name) {
    return strlen(name) == length && !memcmp(text, name, length);
}

static bool is_own(const csv_converter *m, const record *r, const member *key, int width) {
    static const char *const own[] = {"items", "order", "logprob", "steps",  "top",  "step_logprob",
                                      "first", "last",  "prefix",  "before", "next", "context"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (jsonl_is(r, key, own[i])) return true;
    char name[16];
    for (int j = 0; j < width; j++)
        if (jsonl_is(r, key, feature_name(r, j, name))) return true;
    return jsonl_is(r, key, m->set_column) || jsonl_is(r, key, m->rank_column);
}

/* A feature must not have the name of a column that is not a feature: it would not be read back. */
static onet_status check_names(const csv_converter *m, const record *r, onet_error *err) {
    const char *const taken[] = {m->set_column, m->rank_column, "context", "logprob"};
    for (int j = 0; j < r->width; j++)
        for (size_t k = 0; onet_record_feature(r, j) && k < sizeof taken / sizeof *taken; k++)
            if (!strcmp(onet_record_feature(r, j), taken[k]))
                return fail_field(err, ONET_BAD,
                                  k == 0   ? "onet_write_options.set_column"
                                  : k == 1 ? "onet_write_options.rank_column"
                                           : "",
                                  "the feature `%.100s` has the name of the CSV column for %s; %s", taken[k],
                                  k == 0   ? "the sets"
                                  : k == 1 ? "the ranks"
                                  : k == 2 ? "context items"
                                           : "probabilities",
                                  k < 2 ? "give that column another name"
                                        : "rename the feature, or use jsonl");
    return ONET_OK;
}

/* Notes a key of an item, which becomes a column unless it is a feature. */
static onet_status note_item_key(csv_converter *m, const record *r, const char *key, size_t length,
                                 onet_error *err) {
    const char *const taken[] = {m->set_column, m->rank_column, "context", "logprob"};
    char name[16];
    size_t number;
    int shown = length > 100 ? 100 : (int)length;
    for (int j = 0; j < r->width; j++)
        if (is_text(key, length, feature_name(r, j, name))) return ONET_OK;
    for (size_t k = 0; k < sizeof taken / sizeof *taken; k++)
        if (is_text(key, length, taken[k]))
            return fail(err, ONET_BAD,
                        "the key `%.*s` of an item has the name of a column that CSV has for itself; rename "
                        "it, or use jsonl",
                        shown, key);
    for (size_t k = 0; k < m->extra.count; k++) {
        const char *of_set = m->extra.text + m->extra.at[k];
        if (m->extra.at[k + 1] - m->extra.at[k] == length && !memcmp(of_set, key, length))
            return fail(err, ONET_BAD,
                        "the key `%.*s` is one of the set and one of its items; CSV has one column for both",
                        shown, key);
    }
    return names_add(&m->item_extra, key, length, &number) ? ONET_OK : fail_memory(err, "a header");
}

/* Notes the keys of the items of the first set. */
static onet_status note_item_keys(csv_converter *m, const record *r, onet_error *err) {
    json_scan s;
    bool first;
    char *key;
    onet_status status = ONET_OK;
    if (!item_objects(r, &s, &first, &key)) return ONET_OK;
    if (!key) return fail_memory(err, "a header");
    while (!status && scan_more(&s, ']', &first)) {
        span_of_text value;
        size_t length = 0;
        for (bool of_object = scan_accept(&s, '{');
             !status && next_key(&s, &of_object, key, &length, &value);)
            if (*value.from != '[' && *value.from != '{') status = note_item_key(m, r, key, length, err);
    }
    free(key);
    if (!status && m->item_extra.count && !(m->value = calloc(m->item_extra.count, sizeof *m->value)))
        status = fail_memory(err, "a header");
    return status;
}

/* Takes the values of the next item at s, under the keys that are columns. */
static void take_item_values(csv_converter *m, json_scan *s, bool *first, char *key) {
    span_of_text value;
    size_t length = 0;
    memset(m->value, 0, m->item_extra.count * sizeof *m->value);
    if (!scan_more(s, ']', first)) return;
    for (bool of_object = scan_accept(s, '{'); next_key(s, &of_object, key, &length, &value);)
        for (size_t k = 0; k < m->item_extra.count; k++)
            if (m->item_extra.at[k + 1] - m->item_extra.at[k] == length &&
                !memcmp(m->item_extra.text + m->item_extra.at[k], key, length))
                m->value[k] = value;
}

static onet_status start(output *out, csv_converter *m, const record *r, bool ranked, onet_error *err) {
    onet_status named = check_names(m, r, err);
    if (named) return named;
    m->started = true;
    m->ranked = ranked;
    m->context = r->context && !ranked; /* ranks say it, where there are some */
    m->width = r->width;
    output_csv_field(out, m->separator, m->set_column, strlen(m->set_column));
    for (int j = 0; j < r->width; j++) {
        char made[16];
        const char *name = feature_name(r, j, made);
        output_write(out, &m->separator, 1);
        output_csv_field(out, m->separator, name, strlen(name));
    }
    for (int k = 0; k < r->members; k++) {
        const member *key = &r->member[k];
        const char *from, *to;
        size_t number, length = key->name_end - key->name;
        if (is_own(m, r, key, r->width) || !extra_value(r, key, 0, &from, &to)) continue;
        if (!names_add(&m->extra, r->keys + key->name, length, &number)) return fail_memory(err, "a header");
        output_write(out, &m->separator, 1);
        output_csv_field(out, m->separator, r->keys + key->name, length);
    }
    onet_status status = note_item_keys(m, r, err);
    if (status) return status;
    for (size_t k = 0; k < m->item_extra.count; k++) {
        output_write(out, &m->separator, 1);
        output_csv_field(out, m->separator, m->item_extra.text + m->item_extra.at[k],
                         m->item_extra.at[k + 1] - m->item_extra.at[k]);
    }
    if (ranked) {
        output_write(out, &m->separator, 1);
        output_csv_field(out, m->separator, m->rank_column, strlen(m->rank_column));
    }
    if (m->context) output_printf(out, "%ccontext", m->separator);
    if (m->logprob) output_printf(out, "%clogprob", m->separator);
    output_put(out, "\n");
    return output_status(out, err);
}

/* Returns the member with that name, or NULL. */
static const member *find_member(const record *r, const char *name, size_t length) {
    for (int k = 0; k < r->members; k++) {
        const member *key = &r->member[k];
        if (key->name_end - key->name == length && !memcmp(r->keys + key->name, name, length)) return key;
    }
    return NULL;
}

/* Finds the set's name: the value of its key m->set_column, if that is text or a number, else its number. */
static onet_status name_set(csv_converter *m, const record *r, size_t *name, onet_error *err) {
    const member *key = find_member(r, m->set_column, strlen(m->set_column));
    char number[32], *plain = NULL;
    const char *text = number;
    size_t length = (size_t)snprintf(number, sizeof number, "%zu", m->sets.count), before = m->sets.count;
    if (key && !strchr("[{nft", r->text[key->value])) {
        text = r->text + key->value;
        length = key->value_end - key->value;
        if (*text == '"') {
            if (!(plain = malloc(length))) return fail_memory(err, "a set's name");
            length = json_unquote(text, r->text + key->value_end, plain);
            text = plain;
        }
    }
    bool added = names_add(&m->sets, text, length, name);
    free(plain);
    if (!added) return fail_memory(err, "a set's name");
    if (*name < before || !length)
        return fail(err, ONET_BAD,
                    "the set's name `%.*s` is empty or that of an earlier set; CSV needs one "
                    "for each",
                    length > 100 ? 100 : (int)length, m->sets.text + m->sets.at[*name]);
    return ONET_OK;
}

static onet_status make_row(output *out, const csv_converter *m, const record *r, size_t name, int i,
                            int rank, const double *logprob, onet_error *err) {
    char number[NUMBER_TEXT];
    size_t at = m->sets.at[name];
    onet_status status = ONET_OK;
    output_csv_field(out, m->separator, m->sets.text + at, m->sets.at[name + 1] - at);
    for (int j = 0; j < r->width; j++) {
        size_t value = (size_t)i * (size_t)r->width + (size_t)j;
        number[0] = '\0'; /* where the value is missing */
        if (!isnan(r->items[value])) record_number(r, value, number);
        output_printf(out, "%c%s", m->separator, number);
    }
    for (size_t k = 0; k < m->extra.count && !status; k++) {
        const char *from, *to;
        const member *key =
            find_member(r, m->extra.text + m->extra.at[k], m->extra.at[k + 1] - m->extra.at[k]);
        output_write(out, &m->separator, 1);
        if (key && extra_value(r, key, i, &from, &to)) status = write_extra(out, m->separator, from, to, err);
    }
    for (size_t k = 0; k < m->item_extra.count && !status; k++) {
        const span_of_text *value = &m->value[k];
        output_write(out, &m->separator, 1);
        if (value->from && *value->from != '[' && *value->from != '{')
            status = write_extra(out, m->separator, value->from, value->to, err);
    }
    if (m->ranked) output_write(out, &m->separator, 1);
    if (m->ranked && rank >= 0) output_printf(out, "%d", rank);
    if (m->context) output_printf(out, "%c%d", m->separator, r->context && r->context[i]);
    if (m->logprob) {
        if (logprob) number_text_double(number, *logprob);
        output_printf(out, "%c%s", m->separator, logprob ? number : "");
    }
    output_put(out, "\n");
    return status ? status : output_status(out, err);
}

static onet_status csv_convert(output *out, csv_converter *m, const record *r, const int32_t *order,
                               const double *logprob, onet_error *err) {
    size_t name;
    onet_status status = ONET_OK;
    if (!m->started) status = start(out, m, r, order != NULL, err);
    if (!status && order && !m->ranked)
        status = fail(err, ONET_BAD,
                      "the set has an order and the first one has none; give all sets an order or none");
    if (!status && r->context && !order && !m->context)
        status = fail(err, ONET_BAD,
                      "the set has context items and no order, but the first set, which decides the columns, "
                      "is not such a set; put such a set first, or write jsonl");
    int32_t *rank = malloc((size_t)r->n * sizeof *rank);
    if (!status && !rank) status = fail_memory(err, "the ranks of a set");
    if (!status) status = name_set(m, r, &name, err);
    int placed = record_placed(r);
    for (int t = 0; t < r->n && !status; t++) rank[order ? order[t] : t] = order && t < placed ? t : -1;
    json_scan items;
    bool first = false;
    char *key = NULL;
    bool objects = !status && m->item_extra.count && item_objects(r, &items, &first, &key);
    if (objects && !key) status = fail_memory(err, "a set's items");
    for (int i = 0; i < r->n && !status; i++) {
        if (objects) take_item_values(m, &items, &first, key);
        status = make_row(out, m, r, name, i, rank[i], logprob, err);
    }
    if (m->value) memset(m->value, 0, m->item_extra.count * sizeof *m->value);
    free(key);
    free(rank);
    return status;
}

static void csv_converter_free(csv_converter *m) {
    names_free(&m->extra);
    names_free(&m->item_extra);
    free(m->value);
    names_free(&m->sets);
}

/* ---- The format -------------------------------------------------------------------------------------- */

/* Whether the line has names between tabs, and no blanks, as lines of words have. */
static bool tabbed(const char *line, const char *end) {
    const char *tab = memchr(line, '\t', (size_t)(end - line));
    double value;
    return tab && *line != '{' && !memchr(line, ' ', (size_t)(end - line)) &&
           number_scan(line, tab, NUMBER_LOOSE, &value) != tab;
}

/* Whether there are semicolons without a blank behind them, as many in the second line as in the first: such
 * a table is not words; it is refused with how to name the separator. */
static bool semicolons(const char *line, const char *end, const char *after) {
    size_t first = 0, second = 0;
    for (const char *p = line; p < end; p++) {
        first += *p == ';';
        if (*p == ';' && p + 1 < end && p[1] == ' ') return false;
    }
    for (const char *p = end + 1; p < after && *p != '\n'; p++) second += *p == ';';
    return first && first == second && *line != '{';
}

/* Whether the file begins with a header: a comma without a blank behind it, which a sentence would have. */
static bool recognise(const char *data, size_t size) {
    const char *line, *end;
    bool whole;
    if (!format_first_line(data, size, &line, &end, &whole)) return false;
    const char *comma = memchr(line, ',', (size_t)(end - line));
    if (!comma) return tabbed(line, end) || (whole && semicolons(line, end, data + size));
    return *line != '{' && (comma + 1 == end || comma[1] != ' ');
}

static onet_status read_sets(onet_sets **sets, input *in, const onet_read_options *options, size_t limit,
                             onet_error *err) {
    csv_table *table = NULL;
    char separator;
    onet_status status = csv_separator(in, options, &separator, err);
    if (!status) status = csv_read(&table, in, separator, options, false, limit, err);
    if (!status) status = csv_take(sets, table, err);
    csv_free(table);
    return status;
}

static onet_status read_table(csv_table **table, input *in, const onet_read_options *options, size_t limit,
                              onet_error *err) {
    char separator;
    onet_status status = csv_separator(in, options, &separator, err);
    return status ? status : csv_read(table, in, separator, options, true, limit, err);
}

/* What is being written. */
typedef struct csv_writing {
    /* From CSV: the answers of this input, until all are there. */
    const csv_table *table;
    int32_t *order;          /* [rows] */
    double *logprob;         /* [sets] or NULL */
    char *header;            /* that was written */
    names sets;              /* of this input and those before it */
    csv_converter converter; /* from other formats */
} csv_writing;

/* Refuses two sets of one name: they would be read as one, with every rank twice. */
static onet_status check_sets(csv_writing *w, const csv_table *t, onet_error *err) {
    size_t before = w->sets.count;
    for (size_t s = 0; s < t->sets && !t->one_set; s++) {
        const char *name = t->names.text + t->names.at[s];
        size_t length = t->names.at[s + 1] - t->names.at[s], number;
        if (!names_add(&w->sets, name, length, &number)) return fail_memory(err, "the names of the sets");
        if (number < before)
            return fail(err, ONET_BAD,
                        "the set \"%.*s\" stands in a file before too, and one table would have both as one "
                        "set; give it another name, or order the files one by one",
                        length > 100 ? 100 : (int)length, name);
    }
    return ONET_OK;
}

static onet_status keep_answer(csv_writing *w, const record *r, const int32_t *order, const double *logprob,
                               bool want_logprob, onet_error *err) {
    const csv_table *t = r->table;
    if (!w->table) {
        onet_status status = check_sets(w, t, err);
        if (status) return status;
        w->table = t;
        w->order = malloc(t->rows * sizeof *w->order);
        if (want_logprob) w->logprob = calloc(t->sets, sizeof *w->logprob);
        if (!w->order || (want_logprob && !w->logprob)) return fail_memory(err, "the answers");
        for (size_t k = 0; k < t->rows; k++) w->order[k] = -1;
    }
    if (order) memcpy(w->order + t->start[r->set], order, (size_t)r->n * sizeof *order);
    if (logprob && w->logprob) w->logprob[r->set] = *logprob;
    return ONET_OK;
}

static onet_status put(output *out, void **state, const record *r, const onet_answer *answer,
                       const onet_write_options *options, onet_error *err) {
    if (!*state && !(*state = calloc(1, sizeof(csv_writing)))) return fail_memory(err, "the answers");
    csv_writing *w = *state;
    const int32_t *order = answer ? answer->order : r->order;
    const double *logprob = answer ? answer->logprob : NULL;
    /* The ranks of an order that is only scored stay as they were written. */
    if (r->table && r->table->kept)
        return keep_answer(w, r, options->score ? NULL : order, logprob, options->logprob, err);
    w->converter.separator = options->delimiter ? (char)options->delimiter : ',';
    w->converter.set_column = options->set_column;
    w->converter.rank_column = options->rank_column;
    w->converter.logprob = options->logprob;
    return csv_convert(out, &w->converter, r, order, logprob, err);
}

/* Writes the kept table with the answers. A second file with the same header continues the same table. */
static onet_status write_kept(csv_writing *w, output *out, const onet_write_options *options,
                              onet_error *err) {
    const csv_table *t = w->table;
    size_t length = t->text_at[1];
    bool same = w->header && strlen(w->header) == length && !memcmp(w->header, t->text, length);
    if (w->header && !same)
        return fail(err, ONET_BAD,
                    "%s: its columns are not those of the file before it; order them one by one", t->file);
    if (!w->header && !(w->header = strndup(t->text, length))) return fail_memory(err, "a header");
    return write_table(out, t, options, w->order, w->logprob, !same, err);
}

static onet_status end(output *out, void *state, const onet_write_options *options, onet_error *err) {
    csv_writing *w = state;
    onet_status status = w && w->table ? write_kept(w, out, options, err) : ONET_OK;
    if (!w) return status;
    free(w->order);
    free(w->logprob);
    w->order = NULL;
    w->logprob = NULL;
    w->table = NULL;
    return status;
}

static void stop(void *state) {
    csv_writing *w = state;
    if (!w) return;
    csv_converter_free(&w->converter);
    free(w->order);
    free(w->logprob);
    free(w->header);
    names_free(&w->sets);
    free(w);
}

const data_format csv_format = {
    .format = ONET_FORMAT_CSV,
    .name = "csv",
    .help = "a row per item",
    .endings = {".csv", ".tsv"},
    .holds = HOLDS_NUMBERS | HOLDS_CONTEXT | HOLDS_SIZES | HOLDS_SCORE | HOLDS_MISSING,
    .recognise = recognise,
    .read = read_sets,
    .read_table = read_table,
    .put = put,
    .end = end,
    .stop = stop,
};
