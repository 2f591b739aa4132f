/* Handles the missing values of sets: counts them, refuses them, or replaces them by the mean of the training
 * data, with indicator features if wanted (onet_sets_fill, and after reading). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/base/arguments.h"
#include "engine/base/choice.h"
#include "engine/base/memory.h"
#include "engine/data/columns.h"
#include "engine/data/sets.h"

/* Counts value i of items [n, width] as missing. */
static void add_one(missing_count *m, size_t i, int width, long line, size_t set) {
    if (m->count++) return;
    m->line = line;
    m->set = set;
    m->item = i / (size_t)width;
    m->feature = (int)(i % (size_t)width);
}

void missing_add(missing_count *m, const double *items, size_t n, int width, long line, size_t set) {
    for (size_t i = 0; i < n * (size_t)width; i++)
        if (isnan(items[i])) add_one(m, i, width, line, set);
}

onet_status missing_refuse(const missing_count *m, const char *file, const onet_columns *columns,
                           bool trained, onet_error *err) {
    if (!m->count) return ONET_OK;
    char place[64] = "", feature[128], others[64] = "";
    if (m->line)
        snprintf(place, sizeof place, ":%ld", m->line);
    else
        snprintf(place, sizeof place, "%sset %zu", file ? ": " : "", m->set + 1);
    if (columns && columns->name && m->feature < columns->width)
        snprintf(feature, sizeof feature, "`%.100s`", columns->name[m->feature]);
    else
        snprintf(feature, sizeof feature, "[%d]", m->feature);
    if (m->count > 1) snprintf(others, sizeof others, ", the first of %zu missing values", m->count);
    return fail_field(err, ONET_BAD, "onet_read_options.missing",
                      "%s%s: `items`[%zu]: feature %s has no value%s; %s", file ? file : "", place, m->item,
                      feature, others,
                      trained ? "fill it in, or use a model that was trained with missing values"
                              : "fill it in, or choose how to replace it: mean or indicator");
}

/* Computes the means of the values that are not missing, and whether some are missing: [width] each. */
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

/* Makes the columns of sets to train on, with their means. */
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

/* Counts the missing values of sets. */
static missing_count count_missing(const onet_sets *sets) {
    missing_count m = {0};
    size_t width = (size_t)sets->width;
    for (size_t s = 0; s < sets->count; s++)
        for (size_t from = sets->start[s] * width, i = from; i < sets->start[s + 1] * width; i++)
            if (isnan(sets->items[i])) add_one(&m, i - from, sets->width, 0, s);
    return m;
}

/* Allocates the items of the sets, and their doubles if there are some, with missing values filled in:
 * [items, inputs]. */
static onet_status fill_items(const onet_sets *sets, const onet_columns *c, float **items, double **exact,
                              onet_error *err) {
    if (c->width != sets->width)
        return fail(err, ONET_BAD, "an item has %d feature%s where %d %s expected", sets->width,
                    sets->width == 1 ? "" : "s", c->width, c->width == 1 ? "is" : "are");
    size_t count = sets->start[sets->count];
    if (!(*items = array_new(count, (size_t)c->inputs * sizeof **items)))
        return fail_memory(err, "the missing values");
    if (sets->exact && !(*exact = array_new(count, (size_t)c->inputs * sizeof **exact)))
        return fail_memory(err, "the missing values");
    columns_fill_floats(c, sets->items, count, *items);
    if (sets->exact) columns_fill(c, sets->exact, count, *exact);
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
        return fail(err, ONET_USAGE, "the treatment of missing values is unknown");
    if (!sets->width) return sets_copy(filled, sets, err); /* relations alone */
    if (columns) missing = columns->missing;
    if (missing == ONET_MISSING_ERROR) {
        missing_count m = count_missing(sets);
        status = missing_refuse(&m, NULL, columns ? columns : sets->columns, columns != NULL, err);
        return status ? status : sets_copy(filled, sets, err);
    }
    onet_sets with = *sets;
    with.columns = NULL;
    with.items = NULL;
    with.exact = NULL;
    status = columns ? ONET_OK : learn(&own, sets, missing, err);
    if (!columns) columns = own;
    if (!status) status = fill_items(sets, columns, &with.items, &with.exact, err);
    if (!status) {
        with.width = columns->inputs;
        status = sets_copy(filled, &with, err);
    }
    if (!status && (status = onet_sets_set_columns(*filled, columns, err))) {
        onet_sets_free(*filled);
        *filled = NULL;
    }
    free(with.items);
    free(with.exact);
    onet_columns_free(own);
    return status;
}

onet_status missing_settle(onet_sets *sets, const char *file, const onet_read_options *options,
                           const missing_count *found, onet_error *err) {
    const onet_columns *columns = options ? options->columns : NULL;
    onet_missing missing = columns ? columns->missing : options ? options->missing : ONET_MISSING_ERROR;
    onet_columns *own = NULL;
    if (sets->word || !sets->width) return ONET_OK;
    if (missing == ONET_MISSING_ERROR) {
        missing_count m = found ? *found : count_missing(sets);
        onet_status status =
            missing_refuse(&m, file, columns ? columns : sets->columns, columns != NULL, err);
        /* A width other than that of the columns is not checked here: the caller refuses it, with the model's
         * name. */
        if (!status && columns && columns->inputs == sets->width)
            status = onet_sets_set_columns(sets, columns, err);
        return status;
    }
    float *items = NULL;
    double *exact = NULL;
    onet_status status = columns ? ONET_OK : learn(&own, sets, missing, err);
    if (!columns) columns = own;
    if (!status && columns->width != sets->width) return ONET_OK; /* the caller refuses it */
    if (!status) status = fill_items(sets, columns, &items, &exact, err);
    if (!status) {
        free(sets->items);
        free(sets->exact);
        sets->items = items;
        sets->exact = exact;
        sets->width = columns->inputs;
        sets_taken(sets);
        status = onet_sets_set_columns(sets, columns, err);
    } else {
        free(items);
        free(exact);
    }
    onet_columns_free(own);
    return status;
}
