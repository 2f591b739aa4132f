/* Makes and copies columns. */
#include <stdlib.h>
#include <string.h>

#include "engine/base/arguments.h"
#include "engine/base/memory.h"
#include "engine/base/names.h"
#include "engine/base/utf8.h"
#include "engine/data/columns.h"
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
