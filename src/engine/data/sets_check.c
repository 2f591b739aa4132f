/* Checks sets in memory (onet_sets), before they are ordered, trained on or written: features, words, orders,
 * context items, relations and their names, constraints. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/arguments.h"
#include "engine/base/error.h"
#include "engine/base/lines.h"
#include "engine/base/memory.h"
#include "engine/base/utf8.h"
#include "engine/data/columns.h"
#include "engine/data/constraints.h"
#include "engine/data/sets.h"

onet_status sets_check_order(const int32_t *order, size_t n, onet_error *err) {
    uint64_t small[32] = {0}, *seen = small; /* one bit per item */
    if (n > sizeof small * 8 && !(seen = calloc((n + 63) / 64, sizeof *seen)))
        return fail_memory(err, "checking an order");
    onet_status status = ONET_OK;
    for (size_t t = 0; t < n && !status; t++) {
        size_t i = (size_t)order[t];
        if (order[t] < 0 || i >= n)
            status = fail(err, ONET_BAD,
                          "order[%zu] is %ld: it must be an index of one of the set's items, from 0 to %zu",
                          t, (long)order[t], n - 1);
        else if (seen[i / 64] >> i % 64 & 1)
            status = fail(err, ONET_BAD,
                          "order[%zu] is %zu, which stands in the order already: each item must "
                          "appear once",
                          t, i);
        else
            seen[i / 64] |= (uint64_t)1 << i % 64;
    }
    if (seen != small) free(seen);
    return status;
}

onet_status sets_check_features(const float *items, size_t n, size_t width, bool missing, onet_error *err) {
    for (size_t i = 0; i < n * width; i++)
        if (!isfinite(items[i]) && !(missing && isnan(items[i])))
            return fail(err, ONET_BAD,
                        "items[%zu][%zu] is not a finite number; leave the set out or put a number there",
                        i / width, i % width);
    return ONET_OK;
}

static onet_status check_exact(const onet_sets *s, size_t from, size_t n, onet_error *err) {
    size_t width = (size_t)s->width;
    const float *items = s->items + from * width;
    const double *exact = s->exact + from * width;
    for (size_t i = 0; i < n * width; i++)
        if ((float)exact[i] != items[i] && !(isnan(items[i]) && isnan(exact[i])))
            return fail(err, ONET_USAGE,
                        "items[%zu][%zu] differs from onet_sets.exact rounded to float32: change both, or "
                        "set exact to NULL",
                        i / width, i % width);
    return ONET_OK;
}

static onet_status check_lost(const onet_sets *s, onet_error *err) {
    const onet_lost *l = s->lost;
    bool good = l->width >= 1 && l->feature && l->span && l->hash && !l->reserved[0] && !l->reserved[1];
    for (int k = 0; good && k < l->width; k++)
        good = l->feature[k] >= 0 && l->span[k] >= 0 && l->span[k] <= s->width &&
               l->feature[k] <= s->width - l->span[k];
    return good
               ? ONET_OK
               : fail(
                     err, ONET_USAGE,
                     "onet_sets.lost has no column, a NULL, features that the items do not have, or reserved "
                     "fields that are set");
}

onet_status sets_check_context(const uint8_t *context, const int32_t *order, size_t n, onet_error *err) {
    size_t placed = context_placed(context, n);
    if (!placed) return fail(err, ONET_BAD, "all %zu items are context; leave the set out or place one", n);
    for (size_t t = 0; context && order && t < n; t++) {
        if (t < placed && context[order[t]])
            return fail(err, ONET_BAD, "order[%zu] is %ld, a context item, which is never placed", t,
                        (long)order[t]);
        if (t > placed && order[t - 1] > order[t])
            return fail(err, ONET_BAD,
                        "order[%zu] is %ld: behind the placed items stand the context items, smallest index "
                        "first",
                        t, (long)order[t]);
    }
    return ONET_OK;
}

onet_status sets_check_relations(int width, onet_error *err) {
    if (width >= 1 && width <= MAX_RELATIONS) return ONET_OK;
    return fail(err, ONET_BAD, "two items have %d relations; from 1 to %d are possible", width,
                MAX_RELATIONS);
}

onet_status sets_check_pairs(const float *value, size_t n, size_t width, onet_error *err) {
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            for (size_t r = 0; r < width && i != j; r++)
                if (!isfinite(value[(i * n + j) * width + r]))
                    return fail(
                        err, ONET_BAD,
                        "relation %zu from item %zu to item %zu is not a finite number; leave the set "
                        "out or put a number there",
                        r + 1, i, j);
    return ONET_OK;
}

onet_status sets_check_names(const char *lines, int width, onet_error *err) {
    if (lines_count(lines) != width)
        return fail(err, ONET_BAD, "%d name%s for %d relation%s; give a name for each", lines_count(lines),
                    lines_count(lines) == 1 ? "" : "s", width, width == 1 ? "" : "s");
    if (utf8_valid(lines, strlen(lines)) != strlen(lines))
        return fail(err, ONET_BAD, "the names of the relations are not UTF-8");
    for (int a = 0; a < width; a++) {
        const char *name, *other;
        size_t length = lines_find(lines, a, &name);
        if (!length) return fail(err, ONET_BAD, "relation %d has an empty name", a + 1);
        for (int b = 0; b < a; b++)
            if (lines_find(lines, b, &other) == length && !memcmp(name, other, length))
                return fail(err, ONET_BAD, "relations %d and %d have the same name; rename one of them",
                            b + 1, a + 1);
    }
    return ONET_OK;
}

/* Checks that the relations of the items of a set are contiguous, and those of the sets too. */
static onet_status check_set_pairs(const onet_sets *s, size_t k, onet_error *err) {
    size_t from = s->start[k], n = sets_size(s, k), at = s->pairs->row[from];
    if (k && at != s->pairs->row[from - 1] + (from - s->start[k - 1]))
        return fail(err, ONET_USAGE,
                    "onet_pairs.row[%zu] is %zu, but must be %zu, behind the relations of the set before",
                    from, at, s->pairs->row[from - 1] + (from - s->start[k - 1]));
    for (size_t i = 1; i < n; i++)
        if (s->pairs->row[from + i] != at + i * n)
            return fail(
                err, ONET_USAGE,
                "onet_pairs.row[%zu] is %zu, but must be %zu: the row of the set's first item plus %zu * %zu",
                from + i, s->pairs->row[from + i], at + i * n, i, n);
    return sets_check_pairs(sets_pairs(s, from), n, (size_t)s->pairs->width, err);
}

onet_status sets_check_constraints(const onet_sets *s, bool kept, onet_error *err) {
    size_t at = 0;
    for (size_t k = 0; k < s->count && s->constraint_count; k++) {
        size_t from = s->start[k], end = s->start[k + 1], first = at;
        while (at < s->constraint_count && s->constraints[at].item >= from && s->constraints[at].item < end)
            at++;
        if (at == first) continue;
        const onet_constraint *list = s->constraints + first;
        const uint8_t *context = s->context ? s->context + from : NULL;
        constraint_graph g = {0};
        onet_status status =
            kept ? constraint_graph_make(&g, list, at - first, from, (int)(end - from), context, err)
                 : constraints_check(list, at - first, from, (int)(end - from), context, err);
        constraint_graph_free(&g);
        if (status) {
            if (status == ONET_BAD) error_prefix(err, "set %zu", k + 1);
            return status;
        }
    }
    if (at == s->constraint_count) return ONET_OK;
    return fail(err, ONET_BAD,
                "constraint %zu is on item %zu of all sets: constraints must stand in the order of the sets, "
                "which have %zu items",
                at + 1, s->constraints[at].item, s->start[s->count]);
}

onet_status sets_check_but_constraints(const onet_sets *s, bool missing, onet_error *err) {
    if (!s->start) return fail(err, ONET_USAGE, "onet_sets.start is NULL");
    for (size_t i = 0; s->pairs && i < sizeof s->pairs->reserved / sizeof *s->pairs->reserved; i++)
        if (s->pairs->reserved[i])
            return fail(err, ONET_USAGE, "onet_pairs.reserved[%zu] is set; it must be NULL", i);
    if (s->constraint_count && !s->constraints)
        return fail(err, ONET_USAGE, "onet_sets.constraints is NULL, and constraint_count %zu",
                    s->constraint_count);
    if (!s->count) return fail(err, ONET_BAD, "there are no sets");
    if (s->columns && (s->word || s->columns->inputs != s->width))
        return fail(err, ONET_USAGE,
                    "onet_sets.columns describe %d features, but the items are words or have another width",
                    s->columns->inputs);
    if (s->width < !s->pairs || s->width > MAX_WIDTH)
        return fail(err, ONET_BAD, "an item has %d features; from 1 to %d are possible", s->width, MAX_WIDTH);
    onet_status related = s->pairs ? sets_check_relations(s->pairs->width, err) : ONET_OK;
    if (related) return related;
    if (s->pairs && s->pairs->names && (related = sets_check_names(s->pairs->names, s->pairs->width, err)))
        return related;
    if (s->pairs && (!s->pairs->row || !s->pairs->value))
        return fail(err, ONET_USAGE, "onet_pairs.row or value is NULL");
    if (s->lost && (related = check_lost(s, err))) return related;
    if (!s->items == !s->word) return fail(err, ONET_BAD, "the sets have neither items nor words, or both");
    if (s->word && s->exact) return fail(err, ONET_USAGE, "the items are words, and onet_sets.exact is set");
    if (s->word && (!s->words || s->words->width != s->width))
        return fail(err, ONET_BAD, "the sets' words have no vocabulary of their width");
    for (size_t k = 0; k < s->count; k++) {
        size_t from = s->start[k], n = s->start[k + 1] - from;
        onet_status status = ONET_OK;
        if (s->start[k + 1] <= from || n > INT32_MAX)
            status = fail(err, ONET_BAD, "the set has no items; leave it out or give it one");
        else if (s->items) {
            status =
                sets_check_features(s->items + from * (size_t)s->width, n, (size_t)s->width, missing, err);
            if (!status && s->exact) status = check_exact(s, from, n, err);
        } else
            for (size_t i = 0; i < n && !status; i++)
                if (s->word[from + i] < 0 || s->word[from + i] >= s->words->count)
                    status = fail(err, ONET_BAD, "word[%zu] is %ld: the vocabulary has %d words", i,
                                  (long)s->word[from + i], s->words->count);
        if (!status && s->pairs) status = check_set_pairs(s, k, err);
        if (!status && s->order) status = sets_check_order(s->order + from, n, err);
        if (!status && s->context)
            status = sets_check_context(s->context + from, s->order ? s->order + from : NULL, n, err);
        if (status) {
            error_prefix(err, "set %zu", k + 1);
            return status;
        }
    }
    size_t numbers;
    if (!size_mul(s->start[s->count], (size_t)s->width, &numbers) || numbers > SIZE_MAX / sizeof(float))
        return fail(err, ONET_BAD, "the sets have %zu items of %d features: more than any memory holds",
                    s->start[s->count], s->width);
    return ONET_OK;
}

onet_status sets_check(const onet_sets *s, onet_error *err) {
    onet_status status = sets_check_but_constraints(s, false, err);
    return status ? status : sets_check_constraints(s, false, err);
}

onet_status sets_check_missing(const onet_sets *s, onet_error *err) {
    onet_status status = sets_check_but_constraints(s, true, err);
    return status ? status : sets_check_constraints(s, true, err);
}

onet_status onet_sets_check(const onet_sets *sets, onet_error *err) {
    NEED(sets, "sets");
    onet_status status = sets_check_but_constraints(sets, false, err);
    return status ? status : sets_check_constraints(sets, true, err);
}
