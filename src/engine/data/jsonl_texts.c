/* Turns the text values of JSON items into one-hot features (jsonl_texts.h). */
#include "engine/data/jsonl_texts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/data/csv_classes.h"
#include "engine/data/sets.h"

void jsonl_texts_free(jsonl_texts *t) {
    for (int j = 0; j < t->width; j++) names_free(&t->value[j]);
    free(t->value);
    free(t->number);
}

/* Features of the sets as they become: numbers first, then the values of each key in the order of their
 * texts. */
typedef struct expanded {
    int width;
    char **name;    /* [width] */
    int *from;      /* [width]: the feature that it comes from */
    double *wanted; /* [width]: the number of the text; NaN: as it is */
    size_t room;
} expanded;

static bool add_feature(expanded *x, int from, double wanted, const char *format, const char *name,
                        size_t length, const char *value) {
    size_t need = (size_t)x->width + 1, room[3] = {x->room, x->room, x->room};
    if (!array_reserve(&x->name, &room[0], need, sizeof *x->name) ||
        !array_reserve(&x->from, &room[1], need, sizeof *x->from) ||
        !array_reserve(&x->wanted, &room[2], need, sizeof *x->wanted))
        return false;
    x->room = room[0];
    if (asprintf(&x->name[x->width], format, name, (int)length, value) < 0) return false;
    x->from[x->width] = from;
    x->wanted[x->width++] = wanted;
    return true;
}

/* The values of feature j that become features. */
static bool add_values(expanded *x, const jsonl_texts *t, const onet_sets *sets, int j) {
    size_t items = sets->start[sets->count], width = (size_t)sets->width, count = 0;
    csv_column c = {.values = t->value[j], .coded = items, .code = array_new(items, sizeof *c.code)};
    class_value *v = NULL;
    for (size_t i = 0; c.code && i < items; i++) {
        float code = sets->items[i * width + (size_t)j];
        c.code[i] = isnan(code) ? SIZE_MAX : (size_t)code;
    }
    bool made = c.code && (v = classes_choose(&c, &count));
    for (size_t k = 0; k < count && made; k++)
        made = add_feature(x, j, (double)v[k].number, "%s=%.*s", onet_columns_name(sets->columns, j),
                           v[k].length, v[k].text);
    free(v);
    free(c.code);
    return made;
}

onet_status jsonl_texts_expand(const jsonl_texts *t, onet_sets *sets, onet_error *err) {
    bool some = false;
    for (int j = 0; j < t->width; j++) some |= t->value[j].count > 0;
    if (!some || !sets->columns || t->width != sets->width) return ONET_OK;
    expanded x = {0};
    bool made = true;
    for (int j = 0; j < t->width && made; j++)
        if (!t->value[j].count)
            made = add_feature(&x, j, NAN, "%s%.*s", onet_columns_name(sets->columns, j), 0, "");
    for (int j = 0; j < t->width && made; j++)
        if (t->value[j].count) made = add_values(&x, t, sets, j);
    size_t items = sets->start[sets->count], before = (size_t)sets->width, w = (size_t)x.width;
    float *own = made ? array_new(items, w * sizeof *own) : NULL;
    double *exact = made && sets->exact ? array_new(items, w * sizeof *exact) : NULL;
    onet_columns *columns = NULL;
    onet_status status = own && (exact || !sets->exact) ? ONET_OK : fail_memory(err, "the features");
    if (!status) status = onet_columns_new(&columns, x.width, (const char *const *)x.name, NULL, NULL, err);
    char *kind = status ? NULL : array_new(w + 1, 1);
    if (!status && !kind) status = fail_memory(err, "the kinds of the features");
    for (size_t j = 0; j < w && !status; j++)
        kind[j] = sets->columns->kind && isnan(x.wanted[j]) ? sets->columns->kind[x.from[j]] : KIND_NUMBER;
    if (!status) status = columns_take_kinds(columns, kind, err);
    free(kind);
    for (size_t i = 0; i < items && !status; i++)
        for (size_t j = 0; j < w; j++) {
            size_t at = i * before + (size_t)x.from[j];
            bool plain = isnan(x.wanted[j]);
            own[i * w + j] = plain ? sets->items[at] : sets->items[at] == (float)x.wanted[j];
            if (exact) exact[i * w + j] = plain ? sets->exact[at] : (double)own[i * w + j];
        }
    for (int j = 0; j < x.width; j++) free(x.name[j]);
    free(x.name);
    free(x.from);
    free(x.wanted);
    if (status) {
        free(own);
        free(exact);
        onet_columns_free(columns);
        return status;
    }
    free(sets->items);
    free(sets->exact);
    onet_columns_free(sets->columns);
    sets->items = own;
    sets->exact = exact;
    sets->width = x.width;
    sets->columns = columns;
    sets_taken(sets);
    return ONET_OK;
}
