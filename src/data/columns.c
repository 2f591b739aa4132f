/* Makes, copies and compares columns, and fills in missing values. */
#include "data/columns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/choice.h"
#include "base/door.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/names.h"
#include "base/utf8.h"
#include "data/sets.h"

static const char indicator[] = "missing ";

const onet_choice *onet_missings(void) {
    static const onet_choice list[] = {
        {"error", "refuse the data", ONET_MISSING_ERROR},
        {"mean", "take the mean of the training data", ONET_MISSING_MEAN},
        {"indicator", "take the mean, and add a feature that is 1 where the value is missing",
         ONET_MISSING_INDICATOR},
        {0},
    };
    return list;
}

/* ---- Making ------------------------------------------------------------------------------------------ */

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

/* Names [inputs] in one block: those of the features, then those of the indicators. */
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

onet_status columns_take_missing(onet_columns *c, onet_missing missing, const float *fill,
                                 const uint8_t *flag, onet_error *err) {
    size_t width = (size_t)c->width;
    int inputs = c->width;
    for (size_t j = 0; flag && j < width; j++) inputs += flag[j] != 0;
    if (inputs > MAX_WIDTH)
        return fail(err, ONET_BAD,
                    "%d features with those that indicate missing values; at most %d are possible", inputs,
                    MAX_WIDTH);
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

onet_status onet_columns_copy(onet_columns **copy, const onet_columns *from, onet_error *err) {
    NEED(copy, "copy");
    *copy = NULL;
    NEED(from, "columns");
    onet_status status =
        onet_columns_new(copy, from->width, (const char *const *)from->name, from->set, from->rank, err);
    if (!status && from->fill)
        status = columns_take_missing(*copy, from->missing, from->fill, from->flag, err);
    if (status) {
        onet_columns_free(*copy);
        *copy = NULL;
    }
    return status;
}

void onet_columns_free(onet_columns *c) {
    if (!c) return;
    free(c->name);
    free(c->set);
    free(c->rank);
    free(c->fill);
    free(c->flag);
    free(c);
}

/* ---- For callers ------------------------------------------------------------------------------------- */

int onet_columns_width(const onet_columns *c) {
    return c ? c->width : 0;
}

int onet_columns_inputs(const onet_columns *c) {
    return c ? c->inputs : 0;
}

const char *onet_columns_name(const onet_columns *c, int feature) {
    return c && c->name && feature >= 0 && feature < c->inputs ? c->name[feature] : NULL;
}

const char *onet_columns_set(const onet_columns *c) {
    return c ? c->set : NULL;
}

const char *onet_columns_rank(const onet_columns *c) {
    return c ? c->rank : NULL;
}

onet_missing onet_columns_missing(const onet_columns *c) {
    return c ? c->missing : ONET_MISSING_ERROR;
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

/* ---- Names ------------------------------------------------------------------------------------------- */

bool columns_differ(const onet_columns *a, const onet_columns *b, int *feature) {
    if (!a || !b || !a->name || !b->name) return false;
    for (*feature = 0; *feature < a->inputs && *feature < b->inputs; ++*feature)
        if (strcmp(a->name[*feature], b->name[*feature]) != 0) return true;
    return false;
}

onet_status columns_check(const onet_columns *sets, const onet_columns *model, onet_error *err) {
    int j;
    if (!columns_differ(sets, model, &j)) return ONET_OK;
    return fail(err, ONET_BAD,
                "feature %d of the sets is `%.100s`, that of the model is `%.100s`; read the sets with the "
                "model's columns (onet_read_options.columns)",
                j + 1, sets->name[j], model->name[j]);
}

/* ---- Missing values ---------------------------------------------------------------------------------- */

bool missing_text(const char *text, size_t length) {
    static const char *const known[] = {"", "NA", "N/A", "#N/A", "NaN", "null", "None", "?"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i]) == length && !strncasecmp(known[i], text, length)) return true;
    return false;
}

void columns_fill(const onet_columns *c, const float *from, size_t n, float *to) {
    for (size_t i = 0; i < n; i++, from += c->width) {
        float *flags = to + c->width;
        for (int j = 0; j < c->width; j++) {
            bool missing = isnan(from[j]);
            if (c->flag && c->flag[j]) *flags++ = missing;
            to[j] = missing && c->fill ? c->fill[j] : from[j];
        }
        to += c->inputs;
    }
}

void missing_add(missing_count *m, const float *items, size_t n, int width, long line, size_t set) {
    for (size_t i = 0; i < n * (size_t)width; i++) {
        if (!isnan(items[i])) continue;
        if (!m->count++) {
            m->line = line;
            m->set = set;
            m->item = i / (size_t)width;
            m->feature = (int)(i % (size_t)width);
        }
    }
}

onet_status missing_refuse(const missing_count *m, const char *file, const onet_columns *columns,
                           bool trained, onet_error *err) {
    if (!m->count) return ONET_OK;
    char place[64] = "", feature[128], others[64] = "";
    if (m->line)
        snprintf(place, sizeof place, ":%ld", m->line);
    else
        snprintf(place, sizeof place, "%sset %zu", file ? ": " : "", m->set + 1);
    if (columns && columns->name)
        snprintf(feature, sizeof feature, "`%.100s`", columns->name[m->feature]);
    else
        snprintf(feature, sizeof feature, "[%d]", m->feature);
    if (m->count > 1) snprintf(others, sizeof others, ", the first of %zu missing values", m->count);
    return fail(err, ONET_BAD, "%s%s: `items`[%zu]: feature %s has no value%s; %s", file ? file : "", place,
                m->item, feature, others,
                trained ? "fill it in, or use a model that was trained with missing values "
                          "(onet_read_options.missing)"
                        : "fill it in, or choose what stands for it (onet_read_options.missing): mean or "
                          "indicator");
}

/* The means of the values that are there, and whether some are missing: [width] each. */
static void means(const onet_sets *sets, double *sum, size_t *count, float *mean, uint8_t *lacks) {
    size_t width = (size_t)sets->width, items = sets->start[sets->count];
    for (size_t i = 0; i < items; i++)
        for (size_t j = 0; j < width; j++) {
            float x = sets->items[i * width + j];
            if (isnan(x)) {
                lacks[j] = 1;
            } else {
                sum[j] += (double)x;
                count[j]++;
            }
        }
    for (size_t j = 0; j < width; j++) mean[j] = count[j] ? (float)(sum[j] / (double)count[j]) : 0;
}

/* The columns of sets to train on, with their means. */
static onet_status learn(onet_columns **result, const onet_sets *sets, onet_missing missing,
                         onet_error *err) {
    size_t width = (size_t)sets->width;
    double *sum = array_new(width, sizeof *sum);
    size_t *count = array_new(width, sizeof *count);
    float *mean = array_new(width, sizeof *mean);
    uint8_t *lacks = array_new(width, 1);
    onet_columns *c = NULL;
    onet_status status = sum && count && mean && lacks ? ONET_OK : fail_memory(err, "the missing values");
    if (!status)
        status = sets->columns ? onet_columns_copy(&c, sets->columns, err)
                               : onet_columns_new(&c, sets->width, NULL, NULL, NULL, err);
    if (!status) {
        means(sets, sum, count, mean, lacks);
        status =
            columns_take_missing(c, missing, mean, missing == ONET_MISSING_INDICATOR ? lacks : NULL, err);
    }
    free(sum);
    free(count);
    free(mean);
    free(lacks);
    if (status) {
        onet_columns_free(c);
        c = NULL;
    }
    *result = c;
    return status;
}

/* All values that sets lack. */
static missing_count count_missing(const onet_sets *sets) {
    missing_count m = {0};
    for (size_t s = 0; s < sets->count; s++)
        missing_add(&m, sets->items + sets->start[s] * (size_t)sets->width, sets_size(sets, s), sets->width,
                    0, s);
    return m;
}

/* The items of the sets as the columns have them: [items, inputs], allocated. */
static onet_status fill_items(const onet_sets *sets, const onet_columns *c, float **items, onet_error *err) {
    if (c->width != sets->width)
        return fail(err, ONET_BAD, "an item has %d feature%s where %d %s meant", sets->width,
                    sets->width == 1 ? "" : "s", c->width, c->width == 1 ? "is" : "are");
    size_t count = sets->start[sets->count];
    if (!(*items = array_new(count, (size_t)c->inputs * sizeof **items)))
        return fail_memory(err, "the missing values");
    columns_fill(c, sets->items, count, *items);
    return ONET_OK;
}

onet_status onet_sets_fill(onet_sets **filled, const onet_sets *sets, const onet_columns *columns,
                           onet_missing missing, onet_error *err) {
    onet_columns *own = NULL;
    NEED(filled, "filled");
    *filled = NULL;
    NEED(sets, "sets");
    onet_status status = sets_check_missing(sets, err);
    if (status) return status;
    if (sets->word) return fail(err, ONET_USAGE, "the items of the sets are words, which have no columns");
    if (!choice_of(onet_missings(), (int)missing))
        return fail(err, ONET_USAGE, "missing is none of those that ordernet.h names");
    if (columns) missing = columns->missing;
    if (missing == ONET_MISSING_ERROR) {
        missing_count m = count_missing(sets);
        status = missing_refuse(&m, NULL, columns ? columns : sets->columns, columns != NULL, err);
        return status ? status : sets_copy(filled, sets, err);
    }
    onet_sets with = *sets;
    with.columns = NULL;
    with.items = NULL;
    status = columns ? ONET_OK : learn(&own, sets, missing, err);
    if (!columns) columns = own;
    if (!status) status = fill_items(sets, columns, &with.items, err);
    if (!status) {
        with.width = columns->inputs;
        status = sets_copy(filled, &with, err);
    }
    if (!status && (status = onet_sets_set_columns(*filled, columns, err))) {
        onet_sets_free(*filled);
        *filled = NULL;
    }
    free(with.items);
    onet_columns_free(own);
    return status;
}

onet_status missing_settle(onet_sets *sets, const char *file, const onet_read_options *options,
                           const missing_count *found, onet_error *err) {
    const onet_columns *columns = options ? options->columns : NULL;
    onet_missing missing = columns ? columns->missing : options ? options->missing : ONET_MISSING_ERROR;
    onet_columns *own = NULL;
    if (sets->word) return ONET_OK;
    if (missing == ONET_MISSING_ERROR) {
        missing_count m = found ? *found : count_missing(sets);
        onet_status status =
            missing_refuse(&m, file, columns ? columns : sets->columns, columns != NULL, err);
        /* Sets of another width than the columns are refused by who uses them, with the model's name. */
        if (!status && columns && columns->inputs == sets->width)
            status = onet_sets_set_columns(sets, columns, err);
        return status;
    }
    float *items = NULL;
    onet_status status = columns ? ONET_OK : learn(&own, sets, missing, err);
    if (!columns) columns = own;
    if (!status && columns->width != sets->width) return ONET_OK; /* likewise */
    if (!status) status = fill_items(sets, columns, &items, err);
    if (!status) {
        free(sets->items);
        sets->items = items;
        sets->width = columns->inputs;
        sets_taken(sets);
        status = onet_sets_set_columns(sets, columns, err);
    }
    onet_columns_free(own);
    return status;
}
