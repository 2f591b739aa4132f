/* Decides which columns of a CSV file are features, once all values are known, removes the others from the
 * items, refuses misspelt and missing values, and makes the names and kinds of the columns. */
#include "engine/data/csv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/number.h"
#include "engine/data/csv_classes.h"
#include "engine/data/sets.h"
#include "engine/data/spelling.h"
#include "engine/data/text_value.h"

/* Whether quotes distinguish texts from numbers: some column has numbers without quotes. */
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

/* Reports, with ONET_BAD, what is misspelt in such a column. */
static onet_status misspelt(const csv_table *t, const csv_column *c, onet_error *err) {
    const char *text = c->spelt ? c->spelt_text : c->text;
    return fail(err, ONET_BAD,
                "%s:%ld: column `%.100s`: \"%s\" is not a number, so that the column is not a feature; %s",
                t->file, c->spelt ? c->spelt_line : c->text_line, c->name, text, csv_advice(text));
}

/* Removes the columns that are not features from the items. With relations there need be no feature. */
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

/* Makes the columns of the items: those of the model if it has as many, else from the header. */
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

/* Refuses missing values, unless the options or the model allow them. */
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

onet_status csv_settle_features(csv_table *t, const onet_read_options *options, onet_error *err) {
    onet_status status = keep_features(t, options, err);
    if (!status) status = classes_expand(t, err);
    if (!status) status = check_missing(t, options, err);
    if (!status && t->width) status = make_columns(t, options, err);
    if (!status && t->width) status = list_unused(t, options, err);
    if (status || !t->columns_of_items || !t->columns_of_items->name) return status;
    return unknown_say(&t->unknown, t->columns_of_items, t->file, &t->columns_of_items->unknown, err);
}
