/* Creates and copies columns, sets their kinds and the values that replace missing ones, parses lists of
 * names, and selects features of sets by name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/arguments.h"
#include "engine/base/memory.h"
#include "engine/base/names.h"
#include "engine/base/utf8.h"
#include "engine/data/columns.h"
#include "engine/data/lost.h"
#include "engine/data/sets.h"

static const char indicator[] = "missing ";

static onet_status check_names(int width, const char *const *name, onet_error *err) {
    names seen = {0};
    onet_status status = ONET_OK;
    for (int j = 0; j < width && !status; j++) {
        size_t number, length = name[j] ? strlen(name[j]) : 0;
        if (!name[j] || utf8_valid(name[j], length) < length)
            status = fail(err, ONET_BAD, "the name of feature %d is missing or not UTF-8", j + 1);
        else if (!names_add(&seen, name[j], length, &number))
            status = fail_memory(err, "the names of the features");
        else if (number < (size_t)j)
            status = fail(err, ONET_BAD, "two features are called `%.100s`; rename one of them", name[j]);
    }
    names_free(&seen);
    return status;
}

/* Allocates the names [inputs] in one block: those of the features, then those of the indicators. */
static char **make_names(int width, const char *const *from, const uint8_t *flag, int inputs) {
    size_t letters = 0;
    for (int j = 0; j < width; j++)
        letters +=
            (strlen(from[j]) + 1) * (flag && flag[j] ? 2 : 1) + (flag && flag[j] ? strlen(indicator) : 0);
    char **name = malloc((size_t)inputs * sizeof *name + letters);
    if (!name) return NULL;
    char *to = (char *)(name + inputs);
    for (int j = 0; j < width; j++) {
        name[j] = to;
        to = stpcpy(to, from[j]) + 1;
    }
    for (int j = 0, k = width; flag && j < width; j++) {
        if (!flag[j]) continue;
        name[k++] = to;
        to = stpcpy(stpcpy(to, indicator), from[j]) + 1;
    }
    return name;
}

onet_status onet_columns_new(onet_columns **result, int width, const char *const *name, const char *set,
                             const char *rank, onet_error *err) {
    NEED(result, "columns");
    *result = NULL;
    if (width < 1 || width > MAX_WIDTH)
        return fail(err, ONET_USAGE, "columns of %d features; from 1 to %d are possible", width, MAX_WIDTH);
    onet_status status = name ? check_names(width, name, err) : ONET_OK;
    if (status) return status;
    onet_columns *c = calloc(1, sizeof *c);
    if (!c) return fail_memory(err, "the names of the features");
    c->width = c->inputs = width;
    if ((name && !(c->name = make_names(width, name, NULL, width))) || (set && !(c->set = strdup(set))) ||
        (rank && !(c->rank = strdup(rank)))) {
        onet_columns_free(c);
        return fail_memory(err, "the names of the features");
    }
    *result = c;
    return ONET_OK;
}

size_t columns_next_name(const char **list, char *name) {
    const char *p = *list, *end = p + strcspn(p, ",");
    size_t length = 0;
    if (*p == '"') {
        const char *q = p + 1;
        for (; *q && (*q != '"' || q[1] == '"'); q++) {
            if (*q == '"') q++;
            name[length++] = *q;
        }
        bool closed = *q && (!q[1] || q[1] == ',');
        if (closed) end = q + 1;
        if (!closed) length = 0;
        p = closed ? end : p;
    }
    for (; p < end; p++) name[length++] = *p;
    name[length] = '\0';
    *list = *end ? end + 1 : NULL;
    return length;
}

onet_status columns_of_list(onet_columns **columns, const char *list, onet_error *err) {
    size_t most = 1, width = 0;
    for (const char *p = list; *p; p++) most += *p == ',';
    char *text = malloc(strlen(list) + 1), *at = text;
    const char **name = malloc(most * sizeof *name);
    onet_status status = text && name ? ONET_OK : fail_memory(err, "the names of the features");
    for (const char *p = list; p && !status; at += columns_next_name(&p, at) + 1) name[width++] = at;
    if (!status)
        status = onet_columns_new(columns, width > MAX_WIDTH ? 0 : (int)width, name, NULL, NULL, err);
    free(text);
    free(name);
    return status;
}

/* Whether the model knows a column by its values: features `name=value`, behind all others. */
static bool is_category(const onet_columns *model, const char *name, size_t length) {
    for (int j = 0; j < model->width; j++)
        if (!strncmp(model->name[j], name, length) && model->name[j][length] == '=') return true;
    return false;
}

bool columns_other(const char *list, const onet_columns *model, char *name) {
    while (list) {
        size_t length = columns_next_name(&list, name);
        bool own = is_category(model, name, length);
        for (int j = 0; j < model->width && !own; j++) own = !strcmp(model->name[j], name);
        if (!own) return true;
    }
    return false;
}

onet_status columns_check_list(const char *list, const onet_columns *model, onet_error *err) {
    if (!list || !model || !model->name) return ONET_OK;
    char *name = malloc(strlen(list) + 1);
    onet_status status = name ? ONET_OK : fail_memory(err, "the names of the features");
    for (int at = 0; list && !status;) {
        size_t length = columns_next_name(&list, name);
        if (is_category(model, name, length)) continue;
        for (int j = 0; j < model->width && !status; j++)
            if (j != at && !strcmp(model->name[j], name))
                status = fail_field(
                    err, ONET_USAGE, "onet_read_options.features",
                    "`%.100s`, the model's feature %d, would stand for its feature %d: leave the names "
                    "out, as the model finds its features by their own, or name them in its order",
                    name, j + 1, at + 1);
        at++;
    }
    free(name);
    return status;
}

onet_status columns_take_missing(onet_columns *c, onet_missing missing, const float *fill,
                                 const uint8_t *flag, onet_error *err) {
    size_t width = (size_t)c->width;
    int inputs = c->width;
    for (size_t j = 0; flag && j < width; j++) inputs += flag[j] != 0;
    if (inputs > MAX_WIDTH)
        return fail(err, ONET_BAD,
                    "%d features, counting those that indicate missing values; at most %d are possible",
                    inputs, MAX_WIDTH);
    float *own_fill = malloc(width * sizeof *own_fill);
    uint8_t *own_flag = inputs > c->width ? malloc(width) : NULL;
    char **name =
        c->name && own_flag ? make_names(c->width, (const char *const *)c->name, flag, inputs) : NULL;
    if (!own_fill || (inputs > c->width && !own_flag) || (c->name && own_flag && !name)) {
        free(own_fill);
        free(own_flag);
        free(name);
        return fail_memory(err, "the missing values");
    }
    memcpy(own_fill, fill, width * sizeof *own_fill);
    for (size_t j = 0; own_flag && j < width; j++) own_flag[j] = flag[j] != 0;
    if (name) {
        free(c->name);
        c->name = name;
    }
    free(c->fill);
    free(c->flag);
    c->missing = missing;
    c->fill = own_fill;
    c->flag = own_flag;
    c->inputs = inputs;
    return ONET_OK;
}

onet_status columns_take_kinds(onet_columns *c, const char *kind, onet_error *err) {
    size_t width = (size_t)c->width, plain = 0;
    while (plain < width && kind[plain] == (char)KIND_NUMBER) plain++;
    free(c->kind);
    c->kind = plain < width ? strndup(kind, width) : NULL;
    return plain == width || c->kind ? ONET_OK : fail_memory(err, "the kinds of the features");
}

onet_status onet_columns_set_kinds(onet_columns *columns, const char *kinds, onet_error *err) {
    static const char known[] = {KIND_NUMBER, KIND_DATE, KIND_TRUTH, 0};
    NEED(columns, "columns");
    NEED(kinds, "kinds");
    size_t width = (size_t)columns->width;
    if (strlen(kinds) != width || strspn(kinds, known) != width)
        return fail(err, ONET_USAGE,
                    "the kinds \"%.100s\" of %d features; give a letter for each: - for a number, d for a "
                    "date, t for a truth value",
                    kinds, columns->width);
    return columns_take_kinds(columns, kinds, err);
}

onet_status columns_add_unused(onet_columns *c, const char *name, size_t length, onet_error *err) {
    char *list;
    if (asprintf(&list, "%s%s%.*s", c->unused ? c->unused : "", c->unused ? ", " : "", (int)length, name) < 0)
        return fail_memory(err, "the names of the columns");
    free(c->unused);
    c->unused = list;
    return ONET_OK;
}

onet_status columns_add_misspelt(onet_columns *c, const char *sentence, onet_error *err) {
    char *list;
    if (asprintf(&list, "%s%s\n", c->misspelt ? c->misspelt : "", sentence) < 0)
        return fail_memory(err, "the names of the columns");
    free(c->misspelt);
    c->misspelt = list;
    return ONET_OK;
}

onet_status onet_columns_copy(onet_columns **copy, const onet_columns *from, onet_error *err) {
    NEED(copy, "copy");
    *copy = NULL;
    NEED(from, "columns");
    onet_status status =
        onet_columns_new(copy, from->width, (const char *const *)from->name, from->set, from->rank, err);
    if (!status && from->fill)
        status = columns_take_missing(*copy, from->missing, from->fill, from->flag, err);
    if (!status && from->kind) status = columns_take_kinds(*copy, from->kind, err);
    if (!status && from->unused) status = columns_add_unused(*copy, from->unused, strlen(from->unused), err);
    if (!status && from->misspelt && !((*copy)->misspelt = strdup(from->misspelt)))
        status = fail_memory(err, "the names of the columns");
    if (!status && from->unknown && !((*copy)->unknown = strdup(from->unknown)))
        status = fail_memory(err, "the names of the columns");
    if (status) {
        onet_columns_free(*copy);
        *copy = NULL;
    }
    return status;
}

onet_status onet_sets_set_columns(onet_sets *sets, const onet_columns *columns, onet_error *err) {
    onet_columns *copy = NULL;
    NEED(sets, "sets");
    if (columns && sets->word)
        return fail(err, ONET_USAGE, "the items of the sets are words, which have no columns");
    if (columns && sets->width && columns->inputs != sets->width)
        return fail(err, ONET_USAGE, "columns of %d features for items of %d", columns->inputs, sets->width);
    onet_status status = columns ? onet_columns_copy(&copy, columns, err) : ONET_OK;
    if (status) return status;
    onet_columns_free(sets->columns);
    sets->columns = copy;
    return ONET_OK;
}

/* ---- Features by name -------------------------------------------------------------------------------- */

/* Sets from [width] to the index of each name in `have`, and *lacks to the first name that is not there, or
 * -1. */
static void find_names(const onet_columns *have, char *const *name, int width, int *from, int *lacks) {
    *lacks = -1;
    for (int j = 0; j < width && *lacks < 0; j++) {
        from[j] = 0;
        while (from[j] < have->inputs && strcmp(have->name[from[j]], name[j])) from[j]++;
        if (from[j] == have->inputs) *lacks = j;
    }
}

/* Keeps the features `from` [width] of each item, in that order, and no others. */
static onet_status take_features(onet_sets *sets, const int *from, int width, char *const *name,
                                 onet_error *err) {
    size_t items = sets->start[sets->count], w = (size_t)width, before = (size_t)sets->width;
    const double *had = sets->exact;
    float *own = array_new(items, w * sizeof *own);
    double *exact = had ? array_new(items, w * sizeof *exact) : NULL;
    onet_columns *columns = NULL;
    onet_status status = own && (exact || !had) ? ONET_OK : fail_memory(err, "the features");
    if (!status)
        status = onet_columns_new(&columns, width, (const char *const *)name, sets->columns->set,
                                  sets->columns->rank, err);
    if (status) {
        free(own);
        free(exact);
        return status;
    }
    char *kind = sets->columns->kind ? array_new(w + 1, 1) : NULL;
    if (sets->columns->kind && !kind) status = fail_memory(err, "the kinds of the features");
    for (size_t j = 0; j < w && kind; j++)
        kind[j] = from[j] < sets->columns->width ? sets->columns->kind[from[j]] : KIND_NUMBER;
    if (kind) status = columns_take_kinds(columns, kind, err);
    free(kind);
    if (status) {
        free(own);
        free(exact);
        onet_columns_free(columns);
        return status;
    }
    for (size_t i = 0; i < items; i++)
        for (size_t j = 0; j < w; j++) {
            own[i * w + j] = sets->items[i * before + (size_t)from[j]];
            if (had) exact[i * w + j] = had[i * before + (size_t)from[j]];
        }
    free(sets->items);
    onet_columns_free(sets->columns);
    free(sets->exact);
    lost_take_features(sets, from, width);
    sets->exact = exact;
    sets->items = own;
    sets->width = width;
    sets->columns = columns;
    sets_taken(sets);
    return ONET_OK;
}

onet_status columns_choose(onet_sets *sets, const char *file, const onet_read_options *o, onet_error *err) {
    const onet_columns *have = sets->columns, *wanted = o->columns;
    onet_columns *list = NULL;
    bool named = have && have->name;
    if (o->features && !named) return columns_no_names(file, 0, err);
    if (!named || (!o->features && (!wanted || !wanted->name))) return ONET_OK;
    onet_status status = o->features ? columns_of_list(&list, o->features, err) : ONET_OK;
    if (status) return status;
    if (list) wanted = list;
    /* Sets that were filled in have the indicators already. */
    int width = have->flag && wanted->flag ? wanted->inputs : wanted->width, lacks = -1;
    bool same = width == have->inputs;
    int *from = array_new((size_t)width, sizeof *from);
    if (!from) status = fail_memory(err, "the features");
    if (!status) find_names(have, wanted->name, width, from, &lacks);
    if (!status && lacks >= 0)
        status =
            fail_field(err, ONET_BAD, "onet_read_options.features",
                       "%s: no feature is called `%.100s`%s; add it, or name the features to take instead",
                       file, wanted->name[lacks], list ? "" : ", as one of the model's is");
    for (int j = 0; j < width && !status; j++) same &= from[j] == j;
    if (!status && !same) status = take_features(sets, from, width, wanted->name, err);
    onet_columns_free(list);
    free(from);
    return status;
}

onet_status columns_no_names(const char *file, long line, onet_error *err) {
    char place[32] = "";
    if (line) snprintf(place, sizeof place, ":%ld", line);
    return fail_field(
        err, ONET_BAD, "onet_read_options.features",
        "%s%s: the features have no names to choose by; choose none, or use a table or JSON with keys", file,
        place);
}
