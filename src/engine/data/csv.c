/* Reads CSV: finds the columns, decides which are features, parses the rows, gathers them into sets and sorts
 * each by rank. */
#include "engine/data/csv.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/number.h"
#include "engine/data/csv_classes.h"
#include "engine/data/format.h"
#include "engine/data/sets.h"
#include "engine/data/spelling.h"
#include "engine/data/text_value.h"

/* ---- The header -------------------------------------------------------------------------------------- */

static csv_column *find_column(const csv_table *t, const char *name, size_t length) {
    for (size_t k = 0; k < t->columns; k++)
        if (strlen(t->column[k].name) == length && !memcmp(t->column[k].name, name, length))
            return &t->column[k];
    return NULL;
}

/* Marks a column as the next feature. whose: ends the error message. */
static onet_status name_feature(csv_table *t, const char *name, size_t length, const char *whose,
                                onet_error *err) {
    csv_column *c = find_column(t, name, length);
    bool class = false;
    onet_status status = c ? ONET_OK : classes_name(t, name, length, &class, err);
    if (status || class) return status;
    if (!c)
        return fail_field(err, ONET_BAD, "onet_read_options.features", "%s:1: there is no column `%.*s`, %s",
                          t->file, length > 100 ? 100 : (int)length, name, whose);
    if (c->kind != CSV_TEXT && c->kind != CSV_LOGPROB && c->kind != CSV_CONTEXT)
        return fail(err, ONET_BAD,
                    "%s:1: column `%s` is named as a feature twice, or is the column of sets or ranks; name "
                    "each feature once",
                    t->file, c->name);
    c->kind = CSV_FEATURE;
    c->feature = t->width++;
    return ONET_OK;
}

/* Marks the columns of a list of names (columns_next_name) as features. */
static onet_status name_features(csv_table *t, const char *list, const onet_columns *model, onet_error *err) {
    char *name = malloc(strlen(list) + 1);
    onet_status status = name ? ONET_OK : fail_memory(err, "the names of the features");
    while (list && !status) {
        size_t length = columns_next_name(&list, name);
        bool text = false; /* the model knows it by its values, which stand behind all numbers */
        for (int j = 0; model && model->name && j < model->width && !text; j++)
            text = !strncmp(model->name[j], name, length) && model->name[j][length] == '=';
        if (!text)
            status = name_feature(t, name, length, "which is named as a feature; check the names", err);
    }
    free(name);
    for (int j = 0; model && model->name && j < model->width && !status; j++)
        if (strchr(model->name[j], '=') && !find_column(t, model->name[j], strlen(model->name[j])))
            status = name_feature(t, model->name[j], strlen(model->name[j]), "a feature of the model", err);
    return status;
}

/* Marks the columns that a model knows as features. */
static onet_status take_features(csv_table *t, const onet_columns *columns, onet_error *err) {
    onet_status status = ONET_OK;
    for (int j = 0; j < columns->width && !status; j++)
        status = name_feature(t, columns->name[j], strlen(columns->name[j]),
                              "a feature of the model; add it, or name the columns to take instead", err);
    return status;
}

/* What a column's name tells of it. The others are features, or text where features are named. */
static csv_kind kind_of_name(const char *name, const char *set, const char *rank, bool features_named) {
    if (set && !strcmp(name, set)) return CSV_SET;
    if (!strcmp(name, rank)) return CSV_RANK;
    if (!strcmp(name, "logprob")) return CSV_LOGPROB;
    if (!strcmp(name, "context")) return CSV_CONTEXT;
    return features_named ? CSV_TEXT : CSV_OPEN;
}

/* The name of the set or rank column: of the option, else of the model, else the default. */
static const char *column_name(const char *option, const char *model, const char *fallback) {
    return option ? option : model ? model : fallback;
}

static onet_status read_names(csv_table *t, csv_rows *rows, onet_error *err) {
    if (!(t->column = calloc(rows->fields, sizeof *t->column))) return fail_memory(err, "a header");
    for (size_t k = 0; k < rows->fields; k++) {
        const char *text;
        size_t length;
        onet_status status = csv_plain(rows, k, &text, &length, err);
        if (status) return status;
        if (find_column(t, text, length))
            return fail(err, ONET_BAD, "%s:1: column `%.*s` stands in the header twice; rename one of them",
                        t->file, length > 100 ? 100 : (int)length, text);
        if (!(t->column[k].name = strndup(text, length))) return fail_memory(err, "a header");
        t->columns++;
    }
    return ONET_OK;
}

static onet_status read_header(csv_table *t, csv_rows *rows, const onet_read_options *o, onet_error *err) {
    const onet_columns *model = o->columns;
    const char *set = column_name(o->set_column, model ? model->set : NULL, "set");
    const char *rank = column_name(o->rank_column, model ? model->rank : NULL, "rank");
    bool named = o->features || (model && model->name), some = !o->features || *o->features;
    bool one_set = o->one_set || !*set;
    t->crlf = rows->crlf;
    t->model = model && model->name ? model : NULL;
    t->categories = o->features && !t->model;
    t->unasked = t->unasked && !o->features && !model;
    onet_status status = read_names(t, rows, err);
    if (status) return status;
    t->one_set = !find_column(t, set, strlen(set));
    if (t->one_set && !one_set && t->columns == 1)
        return fail_field(err, ONET_BAD, "onet_read_options.delimiter",
                          "%s:1: the header has one column, `%s`; separate columns by commas, or say by what",
                          t->file, t->column[0].name);
    if (t->one_set && !one_set)
        return fail_field(
            err, ONET_BAD, "onet_read_options.set_column",
            "%s:1: there is no column `%s` to tell the sets apart; name the column that does, or '' "
            "where the file is one set",
            t->file, set);
    for (size_t k = 0; k < t->columns; k++) {
        csv_column *c = &t->column[k];
        c->kind = kind_of_name(c->name, set, rank, named);
        if (c->kind == CSV_OPEN && o->group_column && !strcmp(c->name, o->group_column)) c->kind = CSV_TEXT;
        if (o->pairs && !strcmp(c->name, o->name_column ? o->name_column : "name")) {
            t->named = true;
            t->item_name = k;
            if (c->kind == CSV_OPEN) c->kind = CSV_TEXT;
        }
        if (c->kind == CSV_OPEN) c->feature = t->width++;
    }
    if (o->pairs && o->name_column && *o->name_column && !t->named)
        return fail_field(err, ONET_BAD, "onet_read_options.name_column",
                          "%s:1: there is no column `%.100s`; name the column with the items' names", t->file,
                          o->name_column);
    if (o->pairs && !some) return ONET_OK; /* relations alone */
    if ((status = unknown_start(&t->unknown, t->model, err))) return status;
    if (o->features) return name_features(t, o->features, model, err);
    return named ? take_features(t, model, err) : ONET_OK;
}

bool csv_lose(csv_table *t, size_t k, size_t row, uint64_t hash) {
    return lost_note(&t->lost, row, (int)k, 0, hash);
}

/* ---- Rows -------------------------------------------------------------------------------------------- */

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

/* What to write in place of a text that is spelt otherwise or stands for a missing value; else NULL. */
static const char *advice(const char *text) {
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

/* ONET_BAD: the value is of another kind than those that the model was trained on, or those above it. */
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
    if (feature && !c->rounded_line && number_is_rounded(text, text + length, *value)) {
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

/* A value of a feature, or of a column that may become one: NaN where it is missing or a text. */
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
            const char *how = advice(c->text);
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

/* ---- Which columns are features ---------------------------------------------------------------------- */

/* Whether quotes tell texts from numbers: some column of numbers has none. */
static bool quotes_tell(const csv_table *t) {
    for (size_t k = 0; k < t->columns; k++)
        if (t->column[k].kind == CSV_OPEN && t->column[k].numbers > t->column[k].quoted) return true;
    return false;
}

/* Makes a column of text a feature if it is one without being named. */
static onet_status settle_text(csv_table *t, csv_column *c, bool missing, onet_error *err) {
    text_use use;
    if (!array_reserve(&c->code, &c->code_room, t->rows, sizeof *c->code))
        return fail_memory(err, "the texts of a column");
    for (; c->coded < t->rows; c->coded++) c->code[c->coded] = SIZE_MAX; /* missing */
    onet_status status =
        classes_use(&use, &c->values, c->code, t->set_of, t->rows, t->names.count, missing, err);
    if (status || use == TEXT_UNUSED) return status;
    c->kind = CSV_FEATURE;
    c->category = use == TEXT_CATEGORY;
    for (size_t row = 0; row < t->rows && use == TEXT_VALUES; row++) {
        if (c->code[row] == SIZE_MAX) continue;
        const char *text = c->values.text + c->values.at[c->code[row]];
        double *value = &t->items[row * (size_t)t->width + (size_t)c->feature];
        text_value(text, c->values.at[c->code[row] + 1] - c->values.at[c->code[row]], value);
        unsigned seen = seen_text(text);
        c->seen |= seen;
        size_t length = c->values.at[c->code[row] + 1] - c->values.at[c->code[row]];
        if (seen == SEEN_DATE && !csv_lose(t, (size_t)(c - t->column), row, text_value_lost(text, length)))
            return fail_memory(err, "the dates of a column");
    }
    return ONET_OK;
}

/* Decides what an open column is, now that all of its values are known. A column that begins with numbers, or
 * has more of them than of other values, is one of numbers; but not if all its numbers are in quotes, as
 * postcodes or ids may be, while other columns have numbers without quotes. */
static onet_status settle_kind(csv_table *t, csv_column *c, bool quotes, bool missing, onet_error *err) {
    bool meant = c->numbers && (!c->text_first || c->numbers > c->texts);
    if (quotes && c->numbers == c->quoted) meant = false;
    c->kind = meant ? CSV_FEATURE : CSV_TEXT;
    if (!meant && t->unasked && c->texts && !c->numbers && !c->many) return settle_text(t, c, missing, err);
    if (!meant || !c->texts) return ONET_OK;
    char others[64] = "";
    if (c->texts > 1) snprintf(others, sizeof others, ", the first of %zu such values", c->texts);
    const char *how = spelling(c->text, strlen(c->text));
    return fail_field(err, ONET_BAD, how ? "" : "onet_read_options.features",
                      "%s:%ld: column `%.100s`: \"%s\" is not a number%s, but %zu other%s; %s", t->file,
                      c->text_line, c->name, c->text, others, c->numbers, c->numbers == 1 ? " is" : "s are",
                      how ? how : "correct it, or name the features");
}

/* Whether a column of text is one of numbers or dates by most of its texts, or has no others than dashes and
 * numbers. */
static bool is_misspelt(const csv_column *c) {
    if ((c->kind != CSV_TEXT && !c->category) || !c->texts) return false;
    return c->spelt ? spelling_prevails(c->texts, c->spelt, c->dashes) : c->dashes == c->texts && c->numbers;
}

/* ONET_BAD, with what is misspelt in such a column. */
static onet_status misspelt(const csv_table *t, const csv_column *c, onet_error *err) {
    const char *text = c->spelt ? c->spelt_text : c->text;
    return fail(err, ONET_BAD,
                "%s:%ld: column `%.100s`: \"%s\" is not a number, so that the column is not a feature; %s",
                t->file, c->spelt ? c->spelt_line : c->text_line, c->name, text, advice(text));
}

/* Numbers of the columns that are features, and no others, stay in the rows. With relations there need be
 * none. */
static onet_status keep_features(csv_table *t, const onet_read_options *o, onet_error *err) {
    int *from = array_new((size_t)t->width + 1, sizeof *from), width = (int)t->classes, before = t->width;
    if (!from) return fail_memory(err, "the features of a CSV file");
    onet_status status = ONET_OK;
    bool quotes = quotes_tell(t), related = o->pairs, missing = o->missing != ONET_MISSING_ERROR;
    for (size_t k = 0; k < t->columns && !status; k++) {
        csv_column *c = &t->column[k];
        bool open = c->kind == CSV_OPEN;
        if (open) status = settle_kind(t, c, quotes, missing, err);
        if (c->kind != CSV_FEATURE) continue;
        if (!open && is_misspelt(c) && !status) status = misspelt(t, c, err);
        if (c->rounded_line && !status)
            status =
                fail_field(err, ONET_BAD, "onet_read_options.features",
                           "%s:%ld: column `%.100s`: \"%s\" is " NUMBER_ROUNDED ", or name other features",
                           t->file, c->rounded_line, c->name, c->rounded);
        if (open) {
            from[width] = c->feature;
            c->feature = width;
        } else
            from[c->feature] = c->feature;
        width++;
    }
    for (size_t k = 0; k < t->columns && !width && !related && !status; k++)
        if (is_misspelt(&t->column[k])) status = misspelt(t, &t->column[k], err);
    if (!status && !width && !related)
        status = fail(err, ONET_BAD,
                      "%s: no column of numbers; give every item at least one feature, or name columns of "
                      "text as features",
                      t->file);
    if (!status && width > MAX_WIDTH)
        status = fail(err, ONET_BAD, "%s: %d columns of numbers; an item has at most %d features", t->file,
                      width, MAX_WIDTH);
    for (size_t row = 0; row < t->rows && !status && width < before; row++)
        for (int j = 0; j < width; j++)
            t->items[row * (size_t)width + (size_t)j] = t->items[row * (size_t)before + (size_t)from[j]];
    t->width = width;
    free(from);
    return status;
}

/* The columns of the items: those of the model where it has some, else as they are named here. */
static onet_status make_columns(csv_table *t, const onet_read_options *o, onet_error *err) {
    if (o->columns && o->columns->width == t->width)
        return onet_columns_copy(&t->columns_of_items, o->columns, err);
    const char **name = array_new((size_t)t->width, sizeof *name), *set = NULL, *rank = NULL;
    if (!name) return fail_memory(err, "the names of the features");
    for (size_t k = 0; k < t->columns; k++) {
        const csv_column *c = &t->column[k];
        if (c->kind == CSV_FEATURE) name[c->feature] = c->name;
        if (c->kind == CSV_SET) set = c->name;
        if (c->kind == CSV_RANK) rank = c->name;
    }
    char **own = array_new(t->classes + 1, sizeof *own);
    onet_status status = own ? ONET_OK : fail_memory(err, "the names of the features");
    for (size_t i = 0; i < t->classes && !status; i++) {
        const csv_class *class = &t->class[i];
        if (asprintf(&own[i], "%s=%s", t->column[class->column].name, class->value) < 0) {
            own[i] = NULL;
            status = fail_memory(err, "the names of the features");
        }
        name[class->feature] = own[i];
    }
    if (!status) status = onet_columns_new(&t->columns_of_items, t->width, name, set, rank, err);
    char *kind = status ? NULL : array_new((size_t)t->width + 1, 1);
    if (!status && !kind) status = fail_memory(err, "the kinds of the features");
    if (!status) memset(kind, KIND_NUMBER, (size_t)t->width);
    for (size_t k = 0; k < t->columns && !status; k++) {
        const csv_column *c = &t->column[k];
        if (c->kind == CSV_FEATURE) kind[c->feature] = kind_of_seen(c->seen);
    }
    if (!status) status = columns_take_kinds(t->columns_of_items, kind, err);
    free(kind);
    for (size_t i = 0; own && i < t->classes; i++) free(own[i]);
    free(own);
    free(name);
    return status;
}

/* Lists the columns of text that are not features, if no features are named. */
static onet_status list_unused(csv_table *t, const onet_read_options *o, onet_error *err) {
    onet_status status = ONET_OK;
    for (size_t k = 0; k < t->columns && !o->features && !o->columns && !status; k++) {
        const csv_column *c = &t->column[k];
        if (c->kind == CSV_TEXT && (c->texts || c->quoted) && !c->category && !is_misspelt(c) &&
            !(o->group_column && !strcmp(c->name, o->group_column)))
            status = columns_add_unused(t->columns_of_items, c->name, strlen(c->name), err);
        if (status || c->category || !is_misspelt(c)) continue;
        onet_error said;
        misspelt(t, c, &said);
        status = columns_add_misspelt(t->columns_of_items, said.text, err);
    }
    return status;
}

/* Values that are missing, where none may be. */
static onet_status check_missing(const csv_table *t, const onet_read_options *o, onet_error *err) {
    const csv_column *first = NULL;
    size_t count = 0, columns = 0;
    if ((o->columns ? o->columns->missing : o->missing) != ONET_MISSING_ERROR) return ONET_OK;
    for (size_t k = 0; k < t->columns; k++) {
        const csv_column *c = &t->column[k];
        if (c->kind != CSV_FEATURE || !c->missing || c->category) continue;
        if (!first || c->missing_line < first->missing_line) first = c;
        count += c->missing;
        columns++;
    }
    if (!first) return ONET_OK;
    char others[96] = "";
    if (count > 1)
        snprintf(others, sizeof others, ", the first of %zu missing values in %zu column%s", count, columns,
                 columns == 1 ? "" : "s");
    return fail_field(err, ONET_BAD,
                      o->columns ? "onet_read_options.missing"
                                 : "onet_read_options.missing onet_read_options.features",
                      "%s:%ld: column `%.100s`: \"%s\" is a missing value%s; %s", t->file,
                      first->missing_line, first->name, first->missing_text, others,
                      o->columns ? "fill it in, or use a model that was trained with missing values"
                                 : "fill it in, choose how to replace it (mean or indicator), or name other "
                                   "features");
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
    size_t width = (size_t)t->width, bytes = width * sizeof *t->items;
    if (!width) return ONET_OK;
    double *hand = malloc(bytes);
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

/* Columns that lost something become their features, and rows of the file items. */
static onet_status settle_lost(csv_table *t, onet_error *err) {
    lost_rows found = t->lost, own = {0};
    t->lost = own;
    bool made = true;
    for (int k = 0; found.of && k < found.of->width && made; k++) {
        size_t column = (size_t)found.of->feature[k];
        int first = t->column[column].kind == CSV_FEATURE ? t->column[column].feature : -1, span = 1;
        for (size_t i = t->classes; i-- > 0;) {
            if (t->class[i].column != column) continue;
            span = first < 0 ? 1 : span + 1;
            first = t->class[i].feature;
        }
        for (size_t i = 0; i < t->rows && first >= 0 && made; i++) {
            size_t row = t->row_of[i];
            if (row < found.rows)
                made = lost_note(&own, i, first, span,
                                 found.of->hash[row * (size_t)found.of->width + (size_t)k]);
        }
    }
    made = made && lost_extend(&own, t->rows);
    lost_free(found.of);
    t->lost = own;
    return made ? ONET_OK : fail_memory(err, "the texts of a column");
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
        return fail(err, ONET_BAD, "%s: the file is empty; expected a header and at least one row", t->file);
    if ((status = read_header(t, rows, options, err))) return status;
    if (keep && (status = keep_text(t, rows, 0, err))) return status;
    while (!(status = csv_next(rows, &end, err)) && !end) {
        if ((status = read_row(t, rows, err))) return status;
        if (keep && (status = keep_text(t, rows, t->rows, err))) return status;
    }
    if (status) return status;
    if (!t->rows) return fail(err, ONET_BAD, "%s: a header and no rows; give at least one set", t->file);
    if ((status = keep_features(t, options, err)) || (status = classes_expand(t, err)) ||
        (status = check_missing(t, options, err)))
        return status;
    if (t->width && ((status = make_columns(t, options, err)) || (status = list_unused(t, options, err))))
        return status;
    if (t->columns_of_items && t->columns_of_items->name &&
        (status = unknown_say(&t->unknown, t->columns_of_items, t->file, &t->columns_of_items->unknown, err)))
        return status;
    if (!t->items && !array_reserve(&t->items, &t->item_room, 1, sizeof *t->items))
        return fail_memory(err, "the features of a CSV file");
    if ((status = group(t, err)) || (status = settle_lost(t, err)) || (status = order_sets(t, err)))
        return status;
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
    if (length > 3 && (!strcasecmp(name + length - 3, ".gz") || !strcasecmp(name + length - 3, ".xz")))
        length -= 3;
    return length > 4 && !strncasecmp(name + length - 4, ".tsv", 4);
}

onet_status csv_separator(input *in, const onet_read_options *options, char *separator, onet_error *err) {
    const char *data;
    size_t size;
    *separator = ',';
    if (options && options->delimiter) {
        if (options->delimiter < 0 || options->delimiter > 127 || strchr("\"\r\n", options->delimiter))
            return fail_field(err, ONET_USAGE, "onet_read_options.delimiter",
                              "the delimiter is one character of ASCII, no quote and no end of a line");
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

/* The features as float32 and, where that rounds one, in double. */
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
