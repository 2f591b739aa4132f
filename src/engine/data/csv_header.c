/* Reads the header of a CSV file: finds the columns of sets, ranks, context items and item names, and those
 * that are features by name. */
#include "engine/data/csv.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/data/csv_classes.h"

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
    /* The categories of a model are values of one column. */
    const char *equal = !c && t->model ? memchr(name, '=', length) : NULL;
    if (equal && equal > name) length = (size_t)(equal - name);
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
        bool text = false; /* a text column: the model has one feature per value, listed after all numeric
                            * columns */
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

/* Returns the kind that a column's name tells: columns without a special name are features, or text if
 * features are named. */
static csv_kind kind_of_name(const char *name, const char *set, const char *rank, bool features_named) {
    if (set && !strcmp(name, set)) return CSV_SET;
    if (!strcmp(name, rank)) return CSV_RANK;
    if (!strcmp(name, "logprob")) return CSV_LOGPROB;
    if (!strcmp(name, "context")) return CSV_CONTEXT;
    return features_named ? CSV_TEXT : CSV_OPEN;
}

/* Returns the name of the set or rank column: from the option, else from the model, else the default. */
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

onet_status csv_read_header(csv_table *t, csv_rows *rows, const onet_read_options *o, onet_error *err) {
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
