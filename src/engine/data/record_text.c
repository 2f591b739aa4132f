/* The onet_record_* functions of the public API for what the user wrote beside the features: the text of a
 * key (JSON) or column (CSV) of a set or an item; the number of the line that an item stands in; the name of
 * a feature. A column of a set must have the same text in all its rows. */
#include <string.h>

#include "engine/base/arguments.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/memory.h"
#include "engine/data/csv.h"
#include "engine/data/jsonl.h"

static onet_status copy_value(record *r, const char *from, size_t length, onet_error *err) {
    if (!array_reserve(&r->value, &r->value_room, length + 1, 1)) return fail_memory(err, "a key's value");
    memcpy(r->value, from, length);
    r->value[length] = 0;
    return ONET_OK;
}

/* Copies a JSON value to r->value, strings without quotes and escapes; null counts as not found. */
static onet_status take_value(record *r, const char *from, const char *end, bool *found, onet_error *err) {
    size_t length = (size_t)(end - from);
    if (length == 4 && !memcmp(from, "null", 4)) return ONET_OK;
    *found = true;
    onet_status status = copy_value(r, from, length, err);
    if (!status && *from == '"') r->value[json_unquote(from, end, r->value)] = 0;
    return status;
}

static onet_status of_key(record *r, const char *key, bool *found, onet_error *err) {
    onet_status status = ONET_OK;
    for (int k = 0; k < r->members && !*found && !status; k++) {
        const member *m = &r->member[k];
        if (jsonl_is(r, m, key))
            status = take_value(r, r->text + m->value, r->text + m->value_end, found, err);
    }
    return status;
}

static onet_status of_column(record *r, size_t column, bool *found, onet_error *err) {
    const csv_table *t = r->table;
    csv_rows rows = {0};
    onet_status status = ONET_OK;
    for (size_t k = t->start[r->set]; k < t->start[r->set + 1] && !status; k++) {
        const char *text;
        size_t length;
        status = csv_kept_row(t, k, &rows, err);
        if (!status) status = csv_plain(&rows, column, &text, &length, err);
        if (status) break;
        if (k == t->start[r->set]) {
            *found = length > 0;
            status = copy_value(r, text, length, err);
        } else if (strlen(r->value) != length || memcmp(r->value, text, length) != 0) {
            status =
                fail(err, ONET_BAD,
                     "%s:%ld: column `%s`: \"%.*s\" here and \"%.40s\" in line %ld of the same set; give all "
                     "rows of a set the same",
                     t->file, t->line[t->row_of[k]], t->column[column].name, length > 40 ? 40 : (int)length,
                     text, r->value, t->line[t->row_of[t->start[r->set]]]);
        }
    }
    csv_rows_free(&rows);
    return status;
}

onet_status onet_record_text(onet_record *r, const char *key, const char **text, onet_error *err) {
    NEED(text, "text");
    *text = NULL;
    NEED(r, "record");
    NEED(key, "key");
    bool found = false;
    onet_status status = ONET_OK;
    if (r->table && r->table->kept) {
        for (size_t k = 0; k < r->table->columns && !found && !status; k++)
            if (!strcmp(r->table->column[k].name, key)) status = of_column(r, k, &found, err);
    } else if (r->format == ONET_FORMAT_JSONL) {
        status = of_key(r, key, &found, err);
    }
    if (!status && found) *text = r->value;
    return status;
}

/* ---- Of an item -------------------------------------------------------------------------------------- */

/* Moves to element number `index` of the array that comes next; false: it has fewer. */
static bool go_to(json_scan *s, int index) {
    bool first = scan_accept(s, '[');
    while (scan_more(s, ']', &first)) {
        if (!index--) return true;
        scan_skip(s, 0);
    }
    return false;
}

/* Takes the value of a key of the object that comes next. */
static onet_status of_object(record *r, json_scan *s, const char *key, bool *found, onet_error *err) {
    bool first = scan_accept(s, '{');
    if (!array_reserve(&r->value, &r->value_room, (size_t)(s->end - s->at) + 1, 1))
        return fail_memory(err, "a key's value");
    while (scan_more(s, '}', &first)) {
        size_t length = 0;
        scan_key(s, r->value, &length);
        bool same = strlen(key) == length && !memcmp(key, r->value, length);
        const char *value = s->at;
        scan_skip(s, 0);
        if (same) return take_value(r, value, s->at, found, err);
    }
    return ONET_OK;
}

static onet_status of_item(record *r, const char *key, int item, bool *found, onet_error *err) {
    onet_status status = ONET_OK;
    for (int k = 0; k < r->members && !*found && !status; k++) {
        const member *m = &r->member[k];
        json_scan s = scan_of(r->text + m->value, m->value_end - m->value), all = s;
        s.nan = all.nan = true;
        bool items = jsonl_is(r, m, "items");
        if ((!items && !jsonl_is(r, m, key)) || *s.at != '[' || !go_to(&s, item)) continue;
        if (!items && !go_to(&all, r->n - 1)) continue; /* not one for each item */
        const char *value = s.at;
        if (!items)
            status = scan_skip(&s, 0) ? take_value(r, value, s.at, found, err) : ONET_OK;
        else if (*value == '{')
            status = of_object(r, &s, key, found, err);
    }
    return status;
}

static onet_status of_field(record *r, size_t column, int item, bool *found, onet_error *err) {
    csv_rows rows = {0};
    const char *text;
    size_t length = 0;
    onet_status status = csv_kept_row(r->table, r->table->start[r->set] + (size_t)item, &rows, err);
    if (!status) status = csv_plain(&rows, column, &text, &length, err);
    if (!status) status = copy_value(r, text, length, err);
    *found = length > 0;
    csv_rows_free(&rows);
    return status;
}

onet_status onet_record_item_text(onet_record *r, const char *key, int item, const char **text,
                                  onet_error *err) {
    bool found = false;
    onet_status status = ONET_OK;
    NEED(text, "text");
    *text = NULL;
    NEED(r, "record");
    NEED(key, "key");
    if (item < 0 || item >= r->n)
        return fail(err, ONET_USAGE, "there is no item %d; there are %d", item, r->n);
    if (r->table && r->table->kept) {
        for (size_t k = 0; k < r->table->columns && !found && !status; k++)
            if (!strcmp(r->table->column[k].name, key)) status = of_field(r, k, item, &found, err);
    } else if (r->format == ONET_FORMAT_JSONL && r->members)
        status = of_item(r, key, item, &found, err);
    if (!status && found) *text = r->value;
    return status;
}

long onet_record_item_line(const onet_record *r, int item) {
    if (!r || !r->table || item < 0 || item >= r->n) return onet_record_line(r);
    return r->table->line[r->table->row_of[r->table->start[r->set] + (size_t)item]];
}

const char *onet_record_feature(const onet_record *r, int feature) {
    return r && r->columns ? onet_columns_name(r->columns, feature) : NULL;
}
