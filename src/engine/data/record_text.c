/* What a set has beside its items: the values of the user's own keys and columns, as text. */
#include <string.h>

#include "engine/base/arguments.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/data/csv.h"
#include "engine/data/jsonl.h"

static onet_status take(record *r, const char *from, size_t length, onet_error *err) {
    if (!array_reserve(&r->value, &r->value_room, length + 1, 1)) return fail_memory(err, "a key's value");
    memcpy(r->value, from, length);
    r->value[length] = 0;
    return ONET_OK;
}

static onet_status of_key(record *r, const char *key, bool *found, onet_error *err) {
    for (int k = 0; k < r->members; k++) {
        const member *m = &r->member[k];
        const char *from = r->text + m->value, *where;
        size_t length = m->value_end - m->value;
        if (!jsonl_is(r, m, key) || (length == 4 && !memcmp(from, "null", 4))) continue;
        *found = true;
        onet_status status = take(r, from, length, err);
        if (status || *from != '"') return status;
        if (jsonl_string(from, from + length, r->value, &length, &where)) r->value[length] = 0;
        return ONET_OK;
    }
    return ONET_OK;
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
            status = take(r, text, length, err);
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

/* A JSON value as text: strings without quotes and escapes. */
static onet_status take_value(record *r, const char *from, const char *end, bool *found, onet_error *err) {
    const char *where;
    size_t length = (size_t)(end - from);
    if (length == 4 && !memcmp(from, "null", 4)) return ONET_OK;
    *found = true;
    onet_status status = take(r, from, length, err);
    if (!status && *from == '"' && jsonl_string(from, end, r->value, &length, &where)) r->value[length] = 0;
    return status;
}

static const char *behind_space(const char *p) {
    return p + strspn(p, " \t\r\n,:");
}

/* Value number `index` of the array or object at text, which is valid; for an object its key. NULL: it has
 * fewer. */
static const char *value_at(const char *text, const char *end, int index) {
    const char *p = behind_space(text + 1);
    for (; *p != ']' && *p != '}'; p = behind_space(jsonl_value_end(p, end)))
        if (!index--) return p;
    return NULL;
}

/* Under a key of the object at text. */
static onet_status of_object(record *r, const char *text, const char *end, const char *key, bool *found,
                             onet_error *err) {
    const char *name, *where;
    for (int k = 0; (name = value_at(text, end, k)); k += 2) {
        const char *after = jsonl_value_end(name, end), *value = behind_space(after);
        size_t length;
        onet_status status = take(r, name, (size_t)(after - name), err);
        if (status) return status;
        bool same = jsonl_string(name, after, r->value, &length, &where) && strlen(key) == length &&
                    !memcmp(key, r->value, length);
        if (same) return take_value(r, value, jsonl_value_end(value, end), found, err);
    }
    return ONET_OK;
}

static onet_status of_item(record *r, const char *key, int item, bool *found, onet_error *err) {
    onet_status status = ONET_OK;
    for (int k = 0; k < r->members && !*found && !status; k++) {
        const member *m = &r->member[k];
        const char *from = r->text + m->value, *end = r->text + m->value_end, *value;
        bool items = jsonl_is(r, m, "items");
        if ((!items && !jsonl_is(r, m, key)) || *from != '[' || !(value = value_at(from, end, item)))
            continue;
        if (!items && !value_at(from, end, r->n - 1)) continue; /* not one for each item */
        if (!items)
            status = take_value(r, value, jsonl_value_end(value, end), found, err);
        else if (*value == '{')
            status = of_object(r, value, end, key, found, err);
    }
    return status;
}

static onet_status of_field(record *r, size_t column, int item, bool *found, onet_error *err) {
    csv_rows rows = {0};
    const char *text;
    size_t length = 0;
    onet_status status = csv_kept_row(r->table, r->table->start[r->set] + (size_t)item, &rows, err);
    if (!status) status = csv_plain(&rows, column, &text, &length, err);
    if (!status) status = take(r, text, length, err);
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
