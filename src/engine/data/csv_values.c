/* Reads the rows of a CSV file: numbers, dates, truth values and texts, of each column by its kind, and
 * counts what decides whether an open column is a feature. */
#include "engine/data/csv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/number.h"
#include "engine/data/csv_classes.h"
#include "engine/data/spelling.h"
#include "engine/data/text_value.h"

static onet_status bad_value(const csv_table *t, const csv_rows *rows, size_t k, const char *text,
                             size_t length, const char *what, onet_error *err) {
    return fail(err, ONET_BAD, "%s:%ld: column `%.100s`: \"%.*s\" %s", t->file, rows->line, t->column[k].name,
                length > 40 ? 40 : (int)length, text, what);
}

/* White space around the name of a set, in quotes or not, is ignored. */
void csv_trim(const char **text, size_t *length) {
    while (*length && (**text == ' ' || **text == '\t')) ++*text, --*length;
    while (*length && ((*text)[*length - 1] == ' ' || (*text)[*length - 1] == '\t')) --*length;
}

const char *csv_advice(const char *text) {
    size_t length = strlen(text);
    return spelling_is_dash(text, length) ? "leave the field empty where a value is missing"
                                          : spelling(text, length);
}

/* Whether a feature is of this kind as far as a model says so. */
static bool kind_is(const csv_table *t, size_t k, char kind) {
    int j = t->column[k].feature;
    bool known = t->model && t->model->kind && j < t->model->width;
    return (known ? t->model->kind[j] : KIND_NUMBER) == kind;
}

static onet_status not_a_number(const csv_table *t, const csv_rows *rows, size_t k, const char *text,
                                size_t length, bool feature, onet_error *err) {
    const char *what = feature ? "is not a number; correct it, or name the features"
                               : "is not a number; correct it",
               *how = spelling(text, length);
    char sentence[128];
    bool others = false;
    if (how) {
        snprintf(sentence, sizeof sentence, "is not a number; %s", how);
        what = sentence;
    } else if (number_not_finite(text, text + length) == length)
        what = "is not a finite number; give a number or leave the set out";
    else
        others = feature;
    if (feature && !kind_is(t, k, KIND_NUMBER)) {
        what = kind_is(t, k, KIND_DATE) ? "is not a date of ISO 8601, such as 2024-05-31; correct it"
                                        : "is not a truth value; write true or false, or 1 or 0";
        others = false;
    }
    onet_status status = bad_value(t, rows, k, text, length, what, err);
    if (others) error_field(err, "onet_read_options.features");
    return status;
}

/* Refuses a value of another kind than those that the model was trained on, or those above it. */
static onet_status check_kind(const csv_table *t, const csv_rows *rows, size_t k, const char *text,
                              size_t length, unsigned seen, onet_error *err) {
    const csv_column *c = &t->column[k];
    const char *why = columns_refuse(t->model, c->feature, seen);
    char what[256];
    if (why) {
        snprintf(what, sizeof what, "is %s%s", seen_name(seen), why);
        return bad_value(t, rows, k, text, length, what, err);
    }
    if (kind_of_seen(c->seen | seen)) return ONET_OK;
    snprintf(what, sizeof what,
             "is %s, but %s stands above it; give the column one kind of values, or name the features",
             seen_name(seen), seen_name(c->seen));
    onet_status status = bad_value(t, rows, k, text, length, what, err);
    error_field(err, "onet_read_options.features");
    return status;
}

static onet_status number(csv_table *t, const csv_rows *rows, size_t k, const char *text, size_t length,
                          double *value, onet_error *err) {
    csv_column *c = &t->column[k];
    bool feature = c->kind != CSV_RANK;
    unsigned seen = 0;
    if (number_scan(text, text + length, NUMBER_LOOSE, value) != text + length) {
        if (!feature || !text_value(text, length, value))
            return not_a_number(t, rows, k, text, length, feature, err);
        seen = seen_text(text);
        if (feature && seen == SEEN_DATE && !csv_lose(t, k, t->rows, text_value_lost(text, length)))
            return fail_memory(err, "the dates of a column");
    }
    if (feature && !seen) seen = seen_number(*value);
    onet_status status = feature ? check_kind(t, rows, k, text, length, seen, err) : ONET_OK;
    if (status) return status;
    c->seen |= seen;
    float nearest;
    if (feature ? !number_to_float(*value, &nearest) : isinf(*value))
        return bad_value(t, rows, k, text, length,
                         "is out of range; features are 32-bit, at most 3.4e38 in size", err);
    if (!c->rounded_line && number_is_rounded(text, text + length, *value)) {
        c->rounded_line = rows->line;
        snprintf(c->rounded, sizeof c->rounded, "%.*s", length > 40 ? 40 : (int)length, text);
    }
    return ONET_OK;
}

/* Notes a text in a column that may have been one of numbers. */
static void note_text(csv_column *c, long line, const char *text, size_t length) {
    c->dashes += spelling_is_dash(text, length);
    if (spelling(text, length) && !c->spelt++) {
        c->spelt_line = line;
        snprintf(c->spelt_text, sizeof c->spelt_text, "%.*s", length > 40 ? 40 : (int)length, text);
    }
    if (!c->texts++) {
        c->text_first = !c->numbers;
        c->text_line = line;
        snprintf(c->text, sizeof c->text, "%.*s", length > 40 ? 40 : (int)length, text);
    }
}

/* Whether a column that is named as a feature begins with a text: it is a category then. */
static bool begins_category(const csv_table *t, const csv_column *c, const char *text, size_t length) {
    double value;
    return t->categories && c->kind == CSV_FEATURE && !c->numbers &&
           number_scan(text, text + length, NUMBER_LOOSE, &value) != text + length &&
           !number_not_finite(text, text + length) && !spelling_has_thousands(text, length) &&
           !text_value(text, length, &value);
}

/* Notes a text of a column that may become a category without being named. */
static onet_status note_value(csv_table *t, csv_column *c, const char *text, size_t length, onet_error *err) {
    if (c->values.count < MOST_VALUES) return classes_note(t, c, text, length, err);
    c->many = true;
    return ONET_OK;
}

/* Reads a value of a feature, or of a column that may become one: NaN where it is missing or a text. */
static onet_status feature(csv_table *t, const csv_rows *rows, size_t k, const char *text, size_t length,
                           onet_error *err) {
    csv_column *c = &t->column[k];
    size_t at = t->rows * (size_t)t->width + (size_t)c->feature;
    double value = NAN;
    onet_status status = ONET_OK;
    if (!missing_text(text, length) && (c->category || begins_category(t, c, text, length))) {
        bool is_number = number_scan(text, text + length, NUMBER_LOOSE, &value) == text + length;
        value = NAN;
        /* A column of numbers whose first one is misspelt is no category. */
        if (is_number && rows->text[rows->field[k].at] != '"') {
            const char *how = csv_advice(c->text);
            return fail_field(err, ONET_BAD, how ? "" : "onet_read_options.features",
                              "%s:%ld: column `%.100s`: \"%s\" is not a number; %s", t->file, c->text_line,
                              c->name, c->text, how ? how : "correct it, or name the features");
        }
        c->category = true;
        note_text(c, rows->line, text, length);
        status = classes_note(t, c, text, length, err);
    } else if (missing_text(text, length)) {
        if (!c->missing++) {
            c->missing_line = rows->line;
            snprintf(c->missing_text, sizeof c->missing_text, "%.*s", (int)length, text);
        }
    } else if (c->kind == CSV_FEATURE ||
               (!c->texts && (number_scan(text, text + length, NUMBER_LOOSE, &value) == text + length ||
                              number_not_finite(text, text + length) == length))) {
        status = number(t, rows, k, text, length, &value, err);
        c->numbers++;
    } else if (number_scan(text, text + length, NUMBER_LOOSE, &value) == text + length) {
        c->numbers++;
    } else {
        note_text(c, rows->line, text, length);
        if (t->unasked && !c->many) status = note_value(t, c, text, length, err);
    }
    c->quoted += !isnan(value) && rows->text[rows->field[k].at] == '"';
    if (!status && !array_reserve(&t->items, &t->item_room, at + 1, sizeof *t->items))
        status = fail_memory(err, "the features of a CSV file");
    if (!status) t->items[at] = value;
    return status;
}

onet_status csv_read_row(csv_table *t, csv_rows *rows, onet_error *err) {
    onet_status status;
    const char *text;
    size_t length, row = t->rows;
    if (rows->fields != t->columns)
        return fail(err, ONET_BAD, "%s:%ld: %zu field%s where the header has %zu; give every row as many",
                    t->file, rows->line, rows->fields, rows->fields == 1 ? "" : "s", t->columns);
    if (!array_reserve(&t->set_of, &t->set_room, row + 1, sizeof *t->set_of) ||
        !array_reserve(&t->rank, &t->rank_room, row + 1, sizeof *t->rank) ||
        !array_reserve(&t->flag, &t->flag_room, row + 1, 1) ||
        !array_reserve(&t->line, &t->line_room, row + 1, sizeof *t->line) ||
        (t->classes &&
         !array_reserve(&t->items, &t->item_room, (row + 1) * (size_t)t->width, sizeof *t->items)) ||
        (t->one_set && !names_add(&t->names, "", 0, &t->set_of[row])))
        return fail_memory(err, "the rows of a CSV file");
    t->line[row] = rows->line;
    t->rank[row] = NAN;
    t->flag[row] = 0;
    for (size_t k = 0; k < t->columns; k++) {
        csv_kind kind = t->column[k].kind;
        bool classes = t->column[k].classes;
        if ((kind == CSV_TEXT && !classes) || kind == CSV_LOGPROB) continue;
        if ((status = csv_plain(rows, k, &text, &length, err))) return status;
        if (classes && !classes_take(t, k, text, length)) return fail_memory(err, "the texts of a column");
        if (kind == CSV_SET) {
            csv_trim(&text, &length);
            if (!length) return bad_value(t, rows, k, text, length, "is empty; every row names its set", err);
            if (!names_add(&t->names, text, length, &t->set_of[row]))
                return fail_memory(err, "the names of the sets");
        } else if (kind == CSV_RANK && length) {
            if ((status = number(t, rows, k, text, length, &t->rank[row], err))) return status;
        } else if (kind == CSV_CONTEXT && length) {
            if (length > 1 || (*text != '0' && *text != '1')) {
                bad_value(t, rows, k, text, length,
                          "is neither 0 nor 1 (seen but not placed); correct it, or name the features", err);
                error_field(err, "onet_read_options.features");
                return ONET_BAD;
            }
            t->flag[row] = *text;
        } else if (kind == CSV_FEATURE || kind == CSV_OPEN) {
            if ((status = feature(t, rows, k, text, length, err))) return status;
        }
    }
    if (t->named) {
        if ((status = csv_plain(rows, t->item_name, &text, &length, err))) return status;
        if (!length)
            return bad_value(t, rows, t->item_name, text, length, "is empty; relations go by this name", err);
        if ((status = csv_pairs_note(t, rows->line, text, length, err))) return status;
    }
    t->rows++;
    return ONET_OK;
}
