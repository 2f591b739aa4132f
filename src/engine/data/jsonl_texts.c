/* Turns the text values of JSON items into features, once all sets are read: one-hot features of categories,
 * dates and truth values (jsonl_texts.h); refuses or notes misspelt numbers. */
#include "engine/data/jsonl_texts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/number.h"
#include "engine/data/csv_classes.h"
#include "engine/data/lost.h"
#include "engine/data/sets.h"
#include "engine/data/spelling.h"
#include "engine/data/text_value.h"

onet_status jsonl_texts_reserve(jsonl_texts *t, int width, onet_error *err) {
    if (t->value) return ONET_OK;
    size_t count = (size_t)width + 1;
    t->value = array_new(count, sizeof *t->value);
    t->number = array_new(count, sizeof *t->number);
    t->found = array_new(count, sizeof *t->found);
    t->odd = array_new(count, sizeof *t->odd);
    t->seen = array_new(count, sizeof *t->seen);
    t->width = t->value ? width : 0;
    return t->value && t->number && t->found && t->odd && t->seen
               ? ONET_OK
               : fail_memory(err, "the texts of the items");
}

void jsonl_texts_free(jsonl_texts *t) {
    for (int j = 0; j < t->width; j++) names_free(&t->value[j]);
    free(t->value);
    free(t->number);
    free(t->found);
    free(t->odd);
    free(t->seen);
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

/* Sets code [items] to the numbers of the texts of feature j; SIZE_MAX: missing. */
static void take_codes(size_t *code, const onet_sets *sets, int j) {
    size_t items = sets->start[sets->count], width = (size_t)sets->width;
    for (size_t i = 0; i < items; i++) {
        float number = sets->items[i * width + (size_t)j];
        code[i] = isnan(number) ? SIZE_MAX : (size_t)number;
    }
}

/* Adds the values of feature j that become features. */
static bool add_values(expanded *x, const jsonl_texts *t, const onet_sets *sets, int j) {
    size_t items = sets->start[sets->count], count = 0;
    csv_column c = {.values = t->value[j], .coded = items, .code = array_new(items, sizeof *c.code)};
    class_value *v = NULL;
    if (c.code) take_codes(c.code, sets, j);
    bool made = c.code && (v = classes_choose(&c, &count));
    for (size_t k = 0; k < count && made; k++)
        made = add_feature(x, j, (double)v[k].number, "%s=%.*s", onet_columns_name(sets->columns, j),
                           v[k].length, v[k].text);
    free(v);
    free(c.code);
    return made;
}

/* Reports, with ONET_BAD, what is misspelt in feature j if its texts are numbers or dates spelt otherwise;
 * code [items]: the texts, set_of [items]: the sets. */
static onet_status misspelt(const jsonl_texts *t, const onet_sets *sets, int j, const size_t *code,
                            const size_t *set_of, const char *file, onet_error *err) {
    const names *values = &t->value[j];
    size_t items = sets->start[sets->count], first = spelling_first(values, code, items);
    if (first == SIZE_MAX) return ONET_OK;
    const char *text = values->text + values->at[code[first]];
    size_t length = values->at[code[first] + 1] - values->at[code[first]];
    return fail(
        err, ONET_BAD,
        "%s: set %zu, item %zu, `%.100s`: \"%.*s\" is not a number, so that the key is not a feature; %s",
        file, set_of[first] + 1, first - sets->start[set_of[first]], onet_columns_name(sets->columns, j),
        length > 40 ? 40 : (int)length, text, spelling(text, length));
}

/* ONET_BAD where feature j, which is named, has more numbers in quotes than a category has values: prices,
 * not classes. */
static onet_status quoted(const jsonl_texts *t, const onet_sets *sets, int j, const char *file,
                          onet_error *err) {
    const names *v = &t->value[j];
    double value;
    for (size_t k = 0; k < v->count; k++) {
        const char *end = v->text + v->at[k + 1];
        if (number_scan(v->text + v->at[k], end, NUMBER_LOOSE, &value) != end) return ONET_OK;
    }
    if (v->count <= MOST_CLASSES) return ONET_OK;
    return fail_field(
        err, ONET_BAD, "onet_read_options.features",
        "%s: `%.100s` has %zu different numbers in quotes, as \"%.*s\", too many for a category; "
        "write them without quotes, or name other features",
        file, onet_columns_name(sets->columns, j), v->count,
        v->at[1] - v->at[0] > 40 ? 40 : (int)(v->at[1] - v->at[0]), v->text + v->at[0]);
}

/* Sets use [width], what each feature becomes: texts that are named are categories. What is misspelt is noted
 * in the columns; where it is named, it is refused. */
static onet_status find_uses(text_use *use, const jsonl_texts *t, const onet_sets *sets, const char *file,
                             onet_error *err) {
    size_t items = sets->start[sets->count];
    size_t *code = array_new(items, sizeof *code), *set_of = array_new(items, sizeof *set_of);
    onet_status status = code && set_of ? ONET_OK : fail_memory(err, "the texts of the items");
    for (size_t s = 0; s < sets->count && !status; s++)
        for (size_t i = sets->start[s]; i < sets->start[s + 1]; i++) set_of[i] = s;
    for (int j = 0; j < t->width && !status; j++) {
        use[j] = t->value[j].count ? TEXT_CATEGORY : TEXT_VALUES;
        if (use[j] == TEXT_CATEGORY || t->found[j]) take_codes(code, sets, j);
        if (!t->found[j] && use[j] == TEXT_CATEGORY) status = misspelt(t, sets, j, code, set_of, file, err);
        if (!t->found[j] && use[j] == TEXT_CATEGORY && !status) status = quoted(t, sets, j, file, err);
        if (!t->found[j]) continue;
        use[j] = TEXT_UNUSED;
        if (t->odd[j]) continue;
        onet_error said;
        if (misspelt(t, sets, j, code, set_of, file, &said)) {
            use[j] = TEXT_MISSPELT;
            status = columns_add_misspelt(sets->columns, said.text, err);
            continue;
        }
        status = classes_use(&use[j], &t->value[j], code, set_of, items, sets->count, t->missing, err);
    }
    free(code);
    free(set_of);
    return status;
}

/* Puts the values of dates and truth values in place of the numbers of their texts. kind [width]. */
static onet_status take_values(const jsonl_texts *t, onet_sets *sets, int j, char *kind, onet_error *err) {
    size_t items = sets->start[sets->count], width = (size_t)sets->width;
    if (!sets->exact) {
        if (!(sets->exact = array_new(items, width * sizeof *sets->exact)))
            return fail_memory(err, "the dates of the items");
        for (size_t i = 0; i < items * width; i++) sets->exact[i] = (double)sets->items[i];
    }
    size_t rows = sets->lost ? items : 0;
    lost_rows lost = {sets->lost, rows, rows};
    bool made = true;
    for (size_t i = 0; i < items && made; i++) {
        size_t at = i * width + (size_t)j;
        if (isnan(sets->items[at])) continue;
        size_t number = (size_t)sets->items[at], from = t->value[j].at[number];
        size_t length = t->value[j].at[number + 1] - from;
        const char *text = t->value[j].text + from;
        text_value(text, length, &sets->exact[at]);
        made = lost_note(&lost, i, j, 1, text_value_lost(text, length));
        sets->items[at] = (float)sets->exact[at];
        kind[j] = kind_of_seen(seen_text(text));
    }
    made = made && lost_extend(&lost, items);
    sets->lost = lost.of;
    return made ? ONET_OK : fail_memory(err, "the dates of the items");
}

/* Makes the columns of the new features, and lists the old ones that are none as unused. */
static onet_status make_columns(onet_columns **columns, const expanded *x, const char *kind,
                                const text_use *use, const onet_sets *sets, onet_error *err) {
    onet_status status = onet_columns_new(columns, x->width, (const char *const *)x->name, NULL, NULL, err);
    char *own = status ? NULL : array_new((size_t)x->width + 1, 1);
    if (!status && !own) status = fail_memory(err, "the kinds of the features");
    for (int j = 0; j < x->width && !status; j++)
        own[j] = isnan(x->wanted[j]) ? kind[x->from[j]] : KIND_NUMBER;
    if (!status) status = columns_take_kinds(*columns, own, err);
    free(own);
    if (!status && sets->columns->unused)
        status = columns_add_unused(*columns, sets->columns->unused, strlen(sets->columns->unused), err);
    if (!status && sets->columns->misspelt && !((*columns)->misspelt = strdup(sets->columns->misspelt)))
        status = fail_memory(err, "the names of the columns");
    for (int j = 0; j < sets->width && !status; j++) {
        const char *name = onet_columns_name(sets->columns, j);
        if (use[j] == TEXT_UNUSED) status = columns_add_unused(*columns, name, strlen(name), err);
    }
    return status;
}

/* Computes the items of the new features: own [items, width], and exact if it is not NULL. */
static void fill_items(const expanded *x, const onet_sets *sets, float *own, double *exact) {
    size_t items = sets->start[sets->count], before = (size_t)sets->width, w = (size_t)x->width;
    for (size_t i = 0; i < items; i++)
        for (size_t j = 0; j < w; j++) {
            size_t at = i * before + (size_t)x->from[j];
            bool plain = isnan(x->wanted[j]);
            own[i * w + j] = plain ? sets->items[at] : sets->items[at] == (float)x->wanted[j];
            if (exact) exact[i * w + j] = plain ? sets->exact[at] : (double)own[i * w + j];
        }
}

/* Notes the texts of category j that are none of its new features; lost goes by the old features. */
static bool lose_texts(lost_rows *lost, const expanded *x, const jsonl_texts *t, const onet_sets *sets,
                       int j) {
    size_t items = sets->start[sets->count], width = (size_t)sets->width;
    const names *v = &t->value[j];
    uint8_t *told = array_new(v->count + 1, 1); /* by the number of the text */
    bool made = told != NULL;
    int span = 0;
    for (int k = 0; made && k < x->width; k++) {
        if (x->from[k] != j) continue;
        told[(size_t)x->wanted[k]] = 1;
        span++;
    }
    for (size_t i = 0; i < items && made; i++) {
        float number = sets->items[i * width + (size_t)j];
        size_t code = isnan(number) ? v->count : (size_t)number;
        if (code == v->count)
            made = lost_note(lost, i, j, span, LOST_MISSING);
        else if (!told[code])
            made =
                lost_note(lost, i, j, span, lost_hash(v->text + v->at[code], v->at[code + 1] - v->at[code]));
    }
    free(told);
    return made;
}

/* Notes the texts that the new features do not distinguish; dates were noted before. */
static onet_status lose(const expanded *x, const jsonl_texts *t, onet_sets *sets, const text_use *use,
                        onet_error *err) {
    size_t items = sets->start[sets->count], rows = sets->lost ? items : 0;
    lost_rows lost = {sets->lost, rows, rows};
    bool made = true;
    for (int j = 0; j < t->width && made; j++)
        if (use[j] == TEXT_CATEGORY) made = lose_texts(&lost, x, t, sets, j);
    made = made && lost_extend(&lost, items);
    sets->lost = lost.of;
    if (made) lost_take_features(sets, x->from, x->width);
    return made ? ONET_OK : fail_memory(err, "the texts of the items");
}

static onet_status expand(const jsonl_texts *t, onet_sets *sets, text_use *use, char *kind, const char *file,
                          onet_error *err) {
    expanded x = {0};
    bool made = true;
    onet_status status = find_uses(use, t, sets, file, err);
    for (int j = 0; j < t->width && !status; j++) {
        kind[j] = sets->columns->kind ? sets->columns->kind[j] : KIND_NUMBER;
        if (t->found[j] && use[j] == TEXT_VALUES) status = take_values(t, sets, j, kind, err);
    }
    for (int j = 0; j < t->width && made && !status; j++)
        if (use[j] == TEXT_VALUES)
            made = add_feature(&x, j, NAN, "%s%.*s", onet_columns_name(sets->columns, j), 0, "");
    for (int j = 0; j < t->width && made && !status; j++)
        if (use[j] == TEXT_CATEGORY) made = add_values(&x, t, sets, j);
    const char *misspelt_keys = sets->columns->misspelt;
    if (!status && made && !x.width && misspelt_keys)
        status = fail(err, ONET_BAD, "%.*s", (int)strcspn(misspelt_keys, "\n"), misspelt_keys);
    if (!status && made && !x.width)
        status =
            fail_field(err, ONET_BAD, "onet_read_options.features",
                       "%s:%ld: field `items`: no key has numbers, or texts that are a category; give every "
                       "item at least one feature, or name the features",
                       file, t->line);
    if (!status && made && x.width > MAX_WIDTH)
        status = fail(err, ONET_BAD, "%s:%ld: field `items`: %d features; at most %d are possible", file,
                      t->line, x.width, MAX_WIDTH);
    size_t items = sets->start[sets->count], w = (size_t)x.width;
    float *own = made && !status ? array_new(items, w * sizeof *own) : NULL;
    double *exact = own && sets->exact ? array_new(items, w * sizeof *exact) : NULL;
    onet_columns *columns = NULL;
    if (!status && (!own || (!exact && sets->exact))) status = fail_memory(err, "the features");
    if (!status) status = make_columns(&columns, &x, kind, use, sets, err);
    if (!status) fill_items(&x, sets, own, exact);
    if (!status) status = lose(&x, t, sets, use, err);
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

/* Sets the kinds of the features by the values of all sets: those of the first set may all be 0 or 1, or
 * missing. */
static onet_status note_kinds(const jsonl_texts *t, onet_columns *columns, onet_error *err) {
    char *kind = array_new((size_t)t->width + 1, 1);
    if (!kind) return fail_memory(err, "the kinds of the features");
    for (int j = 0; j < t->width; j++) kind[j] = kind_of_seen(t->seen[j]);
    onet_status status = columns_take_kinds(columns, kind, err);
    free(kind);
    return status;
}

onet_status jsonl_texts_expand(const jsonl_texts *t, onet_sets *sets, const char *file, onet_error *err) {
    bool some = false;
    if (sets->columns && t->width == sets->width && sets->columns->width == t->width) {
        onet_status noted = note_kinds(t, sets->columns, err);
        if (noted) return noted;
    }
    for (int j = 0; j < t->width; j++) some |= t->found[j] || t->value[j].count > 0;
    if (!some || !sets->columns || t->width != sets->width) return ONET_OK;
    text_use *use = array_new((size_t)t->width, sizeof *use);
    char *kind = array_new((size_t)t->width + 1, 1);
    onet_status status =
        use && kind ? expand(t, sets, use, kind, file, err) : fail_memory(err, "the features");
    free(use);
    free(kind);
    return status;
}
