/* Creates, grows, slices and frees sets of items in memory (onet_sets), and sets their context items,
 * constraints and relations. */
#include "engine/data/sets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/arguments.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/data/constraints.h"
#include "engine/data/lost.h"

/* The public part comes first, so that a pointer to one is a pointer to the other. */
typedef struct growing {
    onet_sets sets;
    size_t start_room, item_room, word_room, order_room;
    bool missing; /* items may have NaN for a value that is missing */
    size_t exact_room;
    size_t row_room, value_room; /* of pairs */
    size_t lost_room;
    bool words_lent; /* the vocabulary stays its owner's */
} growing;

onet_status sets_new(onet_sets **sets, int width, onet_error *err) {
    growing *g = calloc(1, sizeof *g);
    *sets = NULL;
    if (!g || !array_reserve(&g->sets.start, &g->start_room, 1, sizeof *g->sets.start)) {
        free(g);
        return fail_memory(err, "the sets");
    }
    g->sets.start[0] = 0;
    g->sets.width = width;
    *sets = &g->sets;
    return ONET_OK;
}

onet_status sets_room(onet_sets **sets, size_t count, size_t total, int width, bool words, bool order,
                      onet_error *err) {
    onet_status status = sets_new(sets, width, err);
    if (status) return status;
    growing *g = (growing *)*sets;
    onet_sets *s = *sets;
    size_t row = (size_t)width * sizeof *s->items;
    if (!array_reserve(&s->start, &g->start_room, count + 1, sizeof *s->start) ||
        (words && !array_reserve(&s->word, &g->word_room, total, sizeof *s->word)) ||
        (!words && !array_reserve(&s->items, &g->item_room, total, row ? row : 1)) ||
        (order && !array_reserve(&s->order, &g->order_room, total, sizeof *s->order))) {
        onet_sets_free(s);
        *sets = NULL;
        return fail_memory(err, "the sets");
    }
    memset(s->start, 0, (count + 1) * sizeof *s->start);
    s->count = count;
    return ONET_OK;
}

void sets_taken(onet_sets *s) {
    growing *g = (growing *)s;
    size_t total = s->start[s->count];
    g->start_room = s->count + 1;
    g->item_room = s->items ? total : 0;
    g->exact_room = s->exact ? total : 0;
    g->word_room = s->word ? total : 0;
    g->order_room = s->order ? total : 0;
    g->lost_room = s->lost ? total : 0;
}

void sets_free_pairs(onet_pairs *p) {
    if (!p) return;
    free(p->row);
    free(p->value);
    free(p->names);
    free(p->fill);
    free(p);
}

void sets_drop_words(onet_sets *sets) {
    growing *g = (growing *)sets;
    if (!g->words_lent) words_free((onet_words *)(uintptr_t)sets->words); /* the owner's: const for others */
    sets->words = NULL;
    g->words_lent = false;
}

void onet_sets_lend_words(onet_sets *sets, const onet_words *words) {
    if (!sets) return;
    if (sets->words != words) sets_drop_words(sets);
    sets->words = words;
    ((growing *)sets)->words_lent = words != NULL;
}

void onet_sets_free(onet_sets *sets) {
    if (!sets) return;
    free(sets->start);
    free(sets->items);
    free(sets->word);
    free(sets->order);
    free(sets->context);
    free(sets->constraints);
    onet_columns_free(sets->columns);
    sets_drop_words(sets);
    free(sets->exact);
    sets_free_pairs(sets->pairs);
    lost_free(sets->lost);
    free(sets);
}

/* ---- Context and constraints ------------------------------------------------------------------------- */

/* Makes room for `total` flags, of which the first `known` stay and the others are zero. To the byte, since
 * the setters of ordernet.h may have put another block in its place: realloc moves large blocks cheaply. */
static bool reserve_context(onet_sets *s, size_t known, size_t total) {
    uint8_t *context = realloc(s->context, total ? total : 1);
    if (!context) return false;
    memset(context + known, 0, total - known);
    s->context = context;
    return true;
}

onet_status sets_room_context(onet_sets *s, size_t total, onet_error *err) {
    return reserve_context(s, 0, total) ? ONET_OK : fail_memory(err, "the context items");
}

onet_status sets_append_context(onet_sets *s, const uint8_t *context, onet_error *err) {
    size_t from = s->start[s->count - 1], n = s->start[s->count] - from;
    onet_status status = sets_check_context(context, s->order ? s->order + from : NULL, n, err);
    if (!status && !s->context) status = sets_room_context(s, from + n, err);
    if (!status) memcpy(s->context + from, context, n);
    return status;
}

onet_status sets_append_lost(onet_sets *s, const onet_lost *lost, size_t first, onet_error *err) {
    growing *g = (growing *)s;
    size_t from = s->start[s->count - 1], n = s->start[s->count] - from;
    lost_rows own = {s->lost, s->lost ? from + n : 0, g->lost_room};
    bool made = true;
    for (size_t i = 0; lost && i < n; i++)
        for (int k = 0; k < lost->width && made; k++)
            made = lost_note(&own, from + i, lost->feature[k], lost->span[k],
                             lost->hash[(first + i) * (size_t)lost->width + (size_t)k]);
    made = made && lost_extend(&own, from + n);
    s->lost = own.of;
    g->lost_room = own.room;
    return made ? ONET_OK : fail_memory(err, "the texts of the items");
}

onet_status sets_append_constraints(onet_sets *s, const onet_constraint *list, size_t count,
                                    onet_error *err) {
    size_t from = s->start[s->count - 1], before = s->constraint_count;
    onet_constraint *all = realloc(s->constraints, (before + count) * sizeof *all);
    if (!all) return fail_memory(err, "the constraints");
    s->constraints = all;
    for (size_t k = 0; k < count; k++) {
        onet_constraint *to = &s->constraints[before + k];
        *to = list[k];
        to->item += from;
        if (constraint_is_pair(to->kind)) to->other += from;
    }
    s->constraint_count = before + count;
    return ONET_OK;
}

onet_status onet_sets_set_context(onet_sets *s, const uint8_t *context, onet_error *err) {
    NEED(s, "sets");
    onet_sets without = *s;
    without.context = NULL;
    onet_status status = sets_check_but_constraints(&without, false, err);
    if (status) return status;
    uint8_t *copy = NULL;
    size_t total = s->start[s->count];
    for (size_t k = 0; context && k < s->count; k++) {
        size_t from = s->start[k];
        status = sets_check_context(context + from, s->order ? s->order + from : NULL, s->start[k + 1] - from,
                                    err);
        if (!status) continue;
        error_prefix(err, "set %zu", k + 1);
        return status;
    }
    if (context && !(copy = malloc(total ? total : 1))) return fail_memory(err, "the context items");
    for (size_t i = 0; copy && i < total; i++) copy[i] = context[i] != 0;
    uint8_t *before = s->context;
    s->context = copy;
    status = sets_check_constraints(s, true, err);
    if (status) s->context = before;
    free(status ? copy : before);
    return status;
}

onet_status onet_sets_set_constraints(onet_sets *s, const onet_constraint *list, size_t count,
                                      onet_error *err) {
    NEED(s, "sets");
    if (count) NEED(list, "constraints");
    onet_sets with = *s;
    with.constraints = NULL;
    with.constraint_count = 0;
    with.order = NULL; /* which constraints are not about */
    onet_status status = sets_check_but_constraints(&with, false, err);
    if (status) return status;
    size_t bytes;
    if (!size_mul(count, sizeof *list, &bytes)) return fail_memory(err, "the constraints");
    with.constraint_count = count;
    if (count && !(with.constraints = malloc(bytes))) return fail_memory(err, "the constraints");
    if (count) memcpy(with.constraints, list, bytes);
    status = sets_check_constraints(&with, true, err);
    if (status) {
        free(with.constraints);
        return status;
    }
    free(s->constraints);
    s->constraints = with.constraints;
    s->constraint_count = count;
    return ONET_OK;
}

/* ---- Relations --------------------------------------------------------------------------------------- */

onet_status sets_append_pairs(onet_sets *s, int width, const float *value, onet_error *err) {
    growing *g = (growing *)s;
    size_t from = s->start[s->count - 1], n = s->start[s->count] - from, at = 0, w = (size_t)width, end;
    int before = sets_relations(s);
    static const float zero[MAX_RELATIONS];
    if (!width && !before) return ONET_OK;
    /* A set of one item has no pair of different items: it takes the width of the other sets. */
    bool takes = n == 1 && s->count > 1 && width && before;
    if (takes) {
        width = before;
        w = (size_t)width;
        value = zero;
    }
    bool gives = width && before && width != before && from == s->count - 1; /* those before have one item */
    if (s->count > 1 && width != before && !gives)
        return fail(
            err, ONET_BAD,
            "the set has %d relation%s between two items where those before it have %d; give every set "
            "as many",
            width, width == 1 ? "" : "s", before);
    onet_status status = sets_check_relations(width, err);
    if (!status) status = sets_check_pairs(value, n, w, err);
    if (status) return status;
    if (!s->pairs && !(s->pairs = calloc(1, sizeof *s->pairs))) return fail_memory(err, "the relations");
    onet_pairs *p = s->pairs;
    if (from) at = p->row[from - 1] + (from - s->start[s->count - 2]);
    if (gives) g->value_room = 0; /* it counts groups of `before` numbers */
    if (!size_mul(n, n, &end) || end > SIZE_MAX / 2 - at || (end += at, false) ||
        !array_reserve(&p->row, &g->row_room, from + n, sizeof *p->row) ||
        !array_reserve(&p->value, &g->value_room, end, w * sizeof *p->value))
        return fail_memory(err, "the relations");
    p->width = width;
    if (gives) memset(p->value, 0, at * w * sizeof *value);
    for (size_t i = 0; i < n; i++) p->row[from + i] = at + i * n;
    memcpy(p->value + at * w, value, n * n * w * sizeof *value);
    for (size_t i = 0; i < n; i++) /* whatever stood there */
        memset(p->value + (at + i * n + i) * w, 0, w * sizeof *value);
    return ONET_OK;
}

onet_status sets_name_pairs(onet_sets *s, const char *names, onet_error *err) {
    onet_status status = names ? sets_check_names(names, s->pairs->width, err) : ONET_OK;
    if (status) return status;
    char *copy = names ? strdup(names) : NULL;
    if (names && !copy) return fail_memory(err, "the names of the relations");
    free(s->pairs->names);
    s->pairs->names = copy;
    return ONET_OK;
}

onet_status sets_fill_pairs(onet_sets *s, const float *fill, onet_error *err) {
    size_t bytes = (size_t)s->pairs->width * sizeof *fill;
    float *copy = fill ? malloc(bytes) : NULL;
    if (fill && !copy) return fail_memory(err, "the relations");
    if (fill) memcpy(copy, fill, bytes);
    free(s->pairs->fill);
    s->pairs->fill = copy;
    return ONET_OK;
}

/* Sets *numbers to how many numbers the relations of all sets have; returns false if that is more than memory
 * can hold. */
static bool count_pairs(const onet_sets *s, int width, size_t *numbers) {
    size_t sum = 0, own;
    for (size_t k = 0; k < s->count; k++) {
        if (!size_mul(sets_size(s, k), sets_size(s, k), &own) || own > SIZE_MAX / 2 - sum) return false;
        sum += own;
    }
    return size_mul(sum, (size_t)width * sizeof(float), &own) && size_mul(sum, (size_t)width, numbers);
}

onet_status sets_take_pairs(onet_sets *s, int width, float *value, const char *names, onet_error *err) {
    growing *g = (growing *)s;
    size_t total = s->start[s->count], w = (size_t)width, at = 0;
    onet_sets with = *s;
    onet_pairs *p = with.pairs = calloc(1, sizeof *p);
    onet_status status = sets_check_relations(width, err);
    if (!status && (!p || !(p->row = array_new(total, sizeof *p->row))))
        status = fail_memory(err, "the relations");
    if (!status) p->width = width;
    for (size_t k = 0; k < s->count && !status; k++) {
        size_t n = sets_size(s, k), from = s->start[k];
        float *own = value + at * w;
        if ((status = sets_check_pairs(own, n, w, err))) error_prefix(err, "set %zu", k + 1);
        for (size_t i = 0; i < n && !status; i++) {
            memset(own + (i * n + i) * w, 0, w * sizeof *own); /* whatever stood there */
            p->row[from + i] = at + i * n;
        }
        at += n * n;
    }
    if (!status && names) status = sets_name_pairs(&with, names, err);
    if (status) {
        sets_free_pairs(p);
        free(value);
        return status;
    }
    p->value = value;
    sets_free_pairs(s->pairs);
    s->pairs = p;
    g->row_room = total;
    g->value_room = at;
    return ONET_OK;
}

onet_status onet_sets_set_pairs(onet_sets *s, int width, const float *value, const char *names,
                                onet_error *err) {
    NEED(s, "sets");
    if (!width && !s->width) return fail(err, ONET_USAGE, "the items have neither features nor relations");
    if (!width) {
        sets_free_pairs(s->pairs);
        s->pairs = NULL;
        return ONET_OK;
    }
    NEED(value, "value");
    NEED(s->start, "onet_sets.start");
    onet_status status = sets_check_relations(width, err);
    if (status) return status;
    size_t numbers;
    float *copy = count_pairs(s, width, &numbers) ? array_new(numbers, sizeof *copy) : NULL;
    if (!copy) return fail_memory(err, "the relations");
    memcpy(copy, value, numbers * sizeof *copy);
    return sets_take_pairs(s, width, copy, names, err);
}

/* ---- Appending --------------------------------------------------------------------------------------- */

/* Checks a new set against those before it, and makes room in start and order. */
static onet_status begin(growing *g, size_t n, const int32_t *order, onet_error *err) {
    onet_sets *s = &g->sets;
    size_t total = s->start[s->count];
    if (n < 1) return fail(err, ONET_BAD, "the set has no items; leave it out or give it one");
    if (n > INT32_MAX || total > SIZE_MAX / 2) return fail(err, ONET_BAD, "the set has too many items");
    if (s->count && !s->order != !order)
        return fail(err, ONET_BAD,
                    "the set has %s order where those before it have %s; give all sets an order "
                    "or none",
                    order ? "an" : "no", order ? "none" : "one");
    onet_status status = order ? sets_check_order(order, n, err) : ONET_OK;
    if (status) return status;
    if (!array_reserve(&s->start, &g->start_room, s->count + 2, sizeof *s->start) ||
        (order && !array_reserve(&s->order, &g->order_room, total + n, sizeof *s->order)) ||
        (s->context && !reserve_context(s, total, total + n)))
        return fail_memory(err, "the sets");
    lost_rows lost = {s->lost, total, g->lost_room};
    bool room = lost_extend(&lost, total + n);
    g->lost_room = lost.room;
    return room ? ONET_OK : fail_memory(err, "the sets");
}

static void end(onet_sets *s, size_t n, const int32_t *order) {
    size_t total = s->start[s->count];
    if (order) memcpy(s->order + total, order, n * sizeof *order);
    s->count++;
    s->start[s->count] = total + n;
}

/* Checks a new set of numbers against those before it, and makes room for its items. */
static onet_status begin_numbers(growing *g, size_t n, int width, const int32_t *order, bool exact,
                                 onet_error *err) {
    onet_sets *s = &g->sets;
    size_t total = s->start[s->count], w = (size_t)width, row;
    if (s->word) return fail(err, ONET_BAD, "the set's items are numbers where those before it have words");
    if (width < 0 || width > MAX_WIDTH)
        return fail(err, ONET_BAD, "an item has %d features; from 1 to %d are possible", width, MAX_WIDTH);
    if ((s->width || s->count) && s->width != width)
        return fail(err, ONET_BAD,
                    "the set's items have %d feature%s where %d are expected; give every item as many", width,
                    width == 1 ? "" : "s", s->width);
    onet_status status = begin(g, n, order, err);
    if (status) return status;
    bool before = s->exact != NULL;
    if (!size_mul(w, sizeof *s->exact, &row) ||
        !array_reserve(&s->items, &g->item_room, total + n, w ? w * sizeof *s->items : 1) ||
        ((exact || before) && !array_reserve(&s->exact, &g->exact_room, total + n, row)))
        return fail_memory(err, "the sets");
    for (size_t i = 0; exact && !before && i < total * w; i++) s->exact[i] = (double)s->items[i];
    return ONET_OK;
}

onet_status sets_append(onet_sets *s, size_t n, int width, const float *items, const int32_t *order,
                        onet_error *err) {
    onet_status status = begin_numbers((growing *)s, n, width, order, false, err);
    size_t at = s->start[s->count] * (size_t)width, count = n * (size_t)width;
    if (status || (status = sets_check_features(items, n, (size_t)width, ((growing *)s)->missing, err)))
        return status;
    s->width = width;
    memcpy(s->items + at, items, count * sizeof *items);
    for (size_t i = 0; s->exact && i < count; i++) s->exact[at + i] = (double)items[i];
    end(s, n, order);
    return ONET_OK;
}

onet_status sets_append_doubles(onet_sets *s, size_t n, int width, const double *values, const int32_t *order,
                                onet_error *err) {
    bool rounded = false;
    for (size_t i = 0; width > 0 && i < n * (size_t)width && !rounded; i++)
        rounded = !isnan(values[i]) && (double)(float)values[i] != values[i];
    onet_status status = begin_numbers((growing *)s, n, width, order, rounded, err);
    if (status) return status;
    size_t at = s->start[s->count] * (size_t)width, count = n * (size_t)width;
    for (size_t i = 0; i < count; i++) {
        s->items[at + i] = (float)values[i];
        if (s->exact) s->exact[at + i] = values[i];
    }
    if ((status = sets_check_features(s->items + at, n, (size_t)width, ((growing *)s)->missing, err)))
        return status;
    s->width = width;
    end(s, n, order);
    return ONET_OK;
}

onet_status sets_append_words(onet_sets *s, size_t n, const int32_t *word, const int32_t *order,
                              onet_error *err) {
    growing *g = (growing *)s;
    size_t total = s->start[s->count];
    if (s->items) return fail(err, ONET_BAD, "the set's items are words where those before it have numbers");
    onet_status status = begin(g, n, order, err);
    if (status) return status;
    if (!array_reserve(&s->word, &g->word_room, total + n, sizeof *word)) return fail_memory(err, "the sets");
    memcpy(s->word + total, word, n * sizeof *word);
    end(s, n, order);
    return ONET_OK;
}

void sets_slice(onet_sets *view, const onet_sets *sets, size_t first, size_t end) {
    size_t from = 0;
    *view = *sets;
    view->start = sets->start + first;
    view->count = end - first;
    if (!sets->constraints) return;
    constraints_of(sets, sets->start[first], sets->start[end], &from, &view->constraint_count);
    view->constraints = sets->constraints + from;
}

void sets_allow_missing(onet_sets *s) {
    ((growing *)s)->missing = true;
}

onet_status onet_sets_from(onet_sets **sets, size_t count, int n, int width, const float *items,
                           const int32_t *order, onet_error *err) {
    NEED(sets, "sets");
    *sets = NULL;
    NEED(items, "items");
    size_t total;
    if (count < 1 || n < 1 || width < 1)
        return fail(err, ONET_USAGE, "%zu sets of %d items of %d features: each must be 1 or more", count, n,
                    width);
    if (!size_mul(count, (size_t)n, &total) || !size_mul(total, (size_t)width * sizeof *items, &total))
        return fail_memory(err, "the sets");
    onet_sets *new;
    onet_status status = sets_new(&new, width, err);
    for (size_t s = 0; s < count && !status; s++) {
        size_t at = s * (size_t)n;
        status =
            sets_append(new, (size_t)n, width, items + at * (size_t)width, order ? order + at : NULL, err);
        if (status == ONET_BAD) error_prefix(err, "set %zu", s + 1);
    }
    if (status) {
        if (new) onet_sets_free(new);
        return status;
    }
    *sets = new;
    return ONET_OK;
}

onet_status onet_sets_append_doubles(onet_sets *sets, int n, int width, const double *values,
                                     const int32_t *order, onet_error *err) {
    NEED(sets, "sets");
    NEED(values, "values");
    if (n < 1) return fail(err, ONET_BAD, "a set of %d items; at least 1 is needed", n);
    return sets_append_doubles(sets, (size_t)n, width, values, order, err);
}

onet_status onet_sets_new(onet_sets **sets, int width, onet_error *err) {
    NEED(sets, "sets");
    *sets = NULL;
    if (width < 0 || width > MAX_WIDTH)
        return fail(err, ONET_USAGE, "items of %d features; 0 (as the first set has) to %d are possible",
                    width, MAX_WIDTH);
    return sets_new(sets, width, err);
}

onet_status onet_sets_append(onet_sets *sets, int n, int width, const float *items, const int32_t *order,
                             onet_error *err) {
    NEED(sets, "sets");
    NEED(items, "items");
    if (n < 1) return fail(err, ONET_BAD, "a set of %d items; at least 1 is needed", n);
    return sets_append(sets, (size_t)n, width, items, order, err);
}

onet_status onet_sets_append_words(onet_sets *sets, int n, const int32_t *rows, const int32_t *order,
                                   onet_error *err) {
    NEED(sets, "sets");
    NEED(rows, "rows");
    if (n < 1) return fail(err, ONET_BAD, "a set of %d words; at least 1 is needed", n);
    if (!sets->words) return fail(err, ONET_USAGE, "the sets have no words; set onet_sets.words first");
    for (int i = 0; i < n; i++)
        if (rows[i] < 0 || rows[i] >= sets->words->count)
            return fail(err, ONET_BAD, "rows[%d] is %ld: the vocabulary has %d words", i, (long)rows[i],
                        sets->words->count);
    onet_status status = sets_append_words(sets, (size_t)n, rows, order, err);
    if (!status) sets->width = sets->words->width;
    return status;
}
