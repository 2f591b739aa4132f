/* Checks the constraints on the order of a set (known items, no two in one place, no cycle) and makes the
 * graph that a search follows. A chain of items that follow each other directly is placed as a whole: what
 * must come before one of its items must come before its first. */
#include "engine/data/constraints.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/data/sets.h"

void constraints_of(const onet_sets *sets, size_t first, size_t end, size_t *from, size_t *count) {
    size_t edge[2] = {first, end}, found[2];
    for (int k = 0; k < 2; k++) {
        size_t low = 0, high = sets->constraint_count;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (sets->constraints[middle].item < edge[k])
                low = middle + 1;
            else
                high = middle;
        }
        found[k] = low;
    }
    *from = found[0];
    *count = found[1] - found[0];
}

void constraint_graph_free(constraint_graph *g) {
    free(g->fixed);
    free(g->next);
    free(g->predecessors);
    free(g->after_start);
    free(g->after);
    *g = (constraint_graph){0};
}

/* ---- Does each name what it may? --------------------------------------------------------------------- */

static const char *const kind_name[] = {"`before`", "`first` or `prefix`", "`last`", "`next`"};

static onet_status check_item(const onet_constraint *c, size_t item, size_t base, int n,
                              const uint8_t *context, onet_error *err) {
    if (item < base || item - base >= (size_t)n)
        return fail(err, ONET_BAD,
                    "the constraint %s names item %lld, which the set does not have; its items are 0 to %d",
                    kind_name[c->kind], (long long)(item - base), n - 1);
    if (context && context[item - base])
        return fail(err, ONET_BAD,
                    "the constraint %s names item %zu, a context item, which is never placed; leave it out",
                    kind_name[c->kind], item - base);
    return ONET_OK;
}

static onet_status check_names(const onet_constraint *c, size_t base, int n, int placed,
                               const uint8_t *context, onet_error *err) {
    if ((unsigned)c->kind > ONET_NEXT)
        return fail(err, ONET_BAD,
                    "a constraint is of kind %d; it must be ONET_BEFORE, ONET_PLACE, ONET_LAST or ONET_NEXT",
                    (int)c->kind);
    onet_status status = check_item(c, c->item, base, n, context, err);
    if (!status && constraint_is_pair(c->kind)) status = check_item(c, c->other, base, n, context, err);
    if (status) return status;
    if (constraint_is_pair(c->kind) && c->item == c->other)
        return fail(err, ONET_BAD, "item %zu cannot come %s itself; leave that constraint out",
                    c->item - base, c->kind == ONET_NEXT ? "after" : "before");
    if (c->kind == ONET_PLACE && c->other >= (size_t)placed)
        return fail(err, ONET_BAD,
                    "item %zu is to stand at place %zu, but the set has %d to place, from place 0 on",
                    c->item - base, c->other, placed);
    return ONET_OK;
}

onet_status constraints_check(const onet_constraint *list, size_t count, size_t base, int n,
                              const uint8_t *context, onet_error *err) {
    onet_status status = ONET_OK;
    int placed = (int)context_placed(context, (size_t)n);
    for (size_t k = 0; k < count && !status; k++)
        status = check_names(&list[k], base, n, placed, context, err);
    return status;
}

/* ---- Do they go together? ---------------------------------------------------------------------------- */

/* The place and the chain of each item: [n]. */
typedef struct chains {
    int32_t *place;    /* the fixed place, -1: none */
    int32_t *previous; /* of its chain, -1: it is the first */
    int32_t *head;     /* the first item of its chain */
    int32_t *depth;    /* items of the chain before it */
} chains;

/* Joins items that follow each other directly to chains. */
static onet_status join_chains(constraint_graph *g, const onet_constraint *list, size_t count, size_t base,
                               const chains *c, onet_error *err) {
    for (int i = 0; i < g->n; i++) g->next[i] = c->previous[i] = c->head[i] = -1;
    for (size_t k = 0; k < count; k++) {
        if (list[k].kind != ONET_NEXT) continue;
        int32_t a = (int32_t)(list[k].item - base), b = (int32_t)(list[k].other - base);
        if (g->next[a] >= 0 && g->next[a] != b)
            return fail(err, ONET_BAD, "items %d and %d are both to come directly after item %d; keep one",
                        g->next[a], b, a);
        if (c->previous[b] >= 0 && c->previous[b] != a)
            return fail(err, ONET_BAD,
                        "item %d is to come directly after item %d and after item %d; keep one", b,
                        c->previous[b], a);
        g->next[a] = b;
        c->previous[b] = a;
    }
    for (int32_t i = 0; i < g->n; i++)
        for (int32_t j = i, depth = 0; c->previous[i] < 0 && j >= 0; j = g->next[j], depth++) {
            c->head[j] = i;
            c->depth[j] = depth;
        }
    for (int i = 0; i < g->n; i++)
        if (c->head[i] < 0)
            return fail(err, ONET_BAD,
                        "the constraints `next` go in a circle through item %d; leave one of them out", i);
    return ONET_OK;
}

/* Finds the fixed places and the last item, and refuses those that contradict each other or a chain. */
static onet_status fix_places(constraint_graph *g, const onet_constraint *list, size_t count, size_t base,
                              int placed, const chains *c, onet_error *err) {
    int32_t *place = c->place;
    for (int i = 0; i < g->n; i++) g->fixed[i] = place[i] = -1;
    for (size_t k = 0; k < count; k++) {
        int32_t item = (int32_t)(list[k].item - base);
        if (list[k].kind == ONET_PLACE) {
            int32_t to = (int32_t)list[k].other;
            if (place[item] >= 0 && place[item] != to)
                return fail(err, ONET_BAD, "item %d is to stand at place %d and at place %d; keep one", item,
                            place[item], to);
            if (g->fixed[to] >= 0 && g->fixed[to] != item)
                return fail(err, ONET_BAD, "items %d and %d are both to stand at place %d; keep one",
                            g->fixed[to], item, to);
            g->fixed_count += place[item] < 0;
            place[item] = to;
            g->fixed[to] = item;
        } else if (list[k].kind == ONET_LAST) {
            if (g->last >= 0 && g->last != item)
                return fail(err, ONET_BAD, "items %d and %d are both to be last; keep one", g->last, item);
            g->last = item;
        }
    }
    for (int t = 0; t < g->fixed_count; t++)
        if (g->fixed[t] < 0)
            return fail(err, ONET_BAD,
                        "a later place is fixed and place %d is not; fixed places go from 0 on without a gap",
                        t);
    for (int t = 0; t < g->fixed_count; t++) {
        int32_t item = g->fixed[t], previous = c->previous[item], next = g->next[item];
        if (previous >= 0 && (!t || g->fixed[t - 1] != previous))
            return fail(
                err, ONET_BAD,
                "item %d is to come directly after item %d, but stands at place %d of the prefix without "
                "it; change one",
                item, previous, t);
        if (next >= 0 && t + 1 < g->fixed_count && g->fixed[t + 1] != next)
            return fail(
                err, ONET_BAD,
                "item %d is to come directly after item %d, but item %d does in the prefix; change one", next,
                item, g->fixed[t + 1]);
    }
    if (g->last < 0) return ONET_OK;
    if (g->next[g->last] >= 0)
        return fail(err, ONET_BAD, "item %d is to be last and item %d to come directly after it; keep one",
                    g->last, g->next[g->last]);
    g->last_head = c->head[g->last];
    g->last_length = c->depth[g->last] + 1;
    if (place[g->last_head] >= 0 && place[g->last_head] + g->last_length != placed)
        return fail(err, ONET_BAD, "item %d is to be %s and last, of %d items; keep one", g->last,
                    place[g->last_head] || g->last != g->last_head ? "within the prefix" : "first", placed);
    return ONET_OK;
}

static onet_status check_pairs(const constraint_graph *g, const onet_constraint *list, size_t count,
                               size_t base, const chains *c, onet_error *err) {
    for (size_t k = 0; k < count; k++) {
        if (list[k].kind != ONET_BEFORE) continue;
        int32_t a = (int32_t)(list[k].item - base), b = (int32_t)(list[k].other - base), head = c->head[b];
        if (c->head[a] == head && c->depth[a] > c->depth[b])
            return fail(
                err, ONET_BAD,
                "item %d is to come before item %d, and directly after it or what follows it; keep one", a,
                b);
        if (c->head[a] == head) continue;
        if (g->last >= 0 && c->head[a] == g->last_head)
            return fail(err, ONET_BAD, "item %d is to be last and to come before item %d; keep one", a, b);
        if (c->place[head] >= 0 && (c->place[a] < 0 || c->place[a] > c->place[head]))
            return fail(err, ONET_BAD,
                        "item %d is to come before item %d, which stands at place %d of the prefix%s; "
                        "change one",
                        a, b, c->place[head] + c->depth[b], c->place[a] < 0 ? " without it" : " already");
    }
    return ONET_OK;
}

/* Returns the chain head (or, in a chain, the item) that must wait for the constraint's first item; -1: none.
 */
static int32_t waiting(const onet_constraint *c, size_t base, const int32_t *head) {
    int32_t other = (int32_t)(c->other - base);
    if (c->kind == ONET_NEXT) return other;
    return c->kind == ONET_BEFORE && head[c->item - base] != head[other] ? head[other] : -1;
}

/* Sorts the pairs by their first item (counting sort). */
static void link_pairs(constraint_graph *g, const onet_constraint *list, size_t count, size_t base,
                       const int32_t *head) {
    size_t n = (size_t)g->n;
    memset(g->after_start, 0, (n + 1) * sizeof *g->after_start);
    memset(g->predecessors, 0, n * sizeof *g->predecessors);
    for (size_t k = 0; k < count; k++)
        if (waiting(&list[k], base, head) >= 0) g->after_start[list[k].item - base + 1]++;
    for (size_t i = 0; i < n; i++) g->after_start[i + 1] += g->after_start[i];
    for (size_t k = 0; k < count; k++) {
        int32_t waits = waiting(&list[k], base, head);
        if (waits < 0) continue;
        g->after[g->after_start[list[k].item - base]++] = waits;
        g->predecessors[waits]++;
    }
    memmove(g->after_start + 1, g->after_start, n * sizeof *g->after_start);
    g->after_start[0] = 0;
}

/* Names the items of a cycle. Every remaining item has a remaining predecessor, so n steps from predecessor
 * to predecessor end on a cycle. */
static onet_status name_circle(const constraint_graph *g, const int32_t *left, int32_t *before,
                               onet_error *err) {
    enum { LISTED = 8 };
    char list[LISTED * 20] = "";
    size_t used = 0;
    int32_t at = 0, length = 0;
    bool chained = false;
    for (int32_t i = 0; i < g->n; i++)
        for (size_t k = g->after_start[i]; left[i] && k < g->after_start[i + 1]; k++) before[g->after[k]] = i;
    while (!left[at]) at++;
    for (int step = 0; step < g->n; step++) at = before[at];
    int32_t first = at;
    do {
        if (length < LISTED) used += (size_t)snprintf(list + used, sizeof list - used, "%d after ", at);
        chained |= g->next[before[at]] == at;
        at = before[at];
        length++;
    } while (at != first);
    return fail(err, ONET_BAD,
                "the constraints `before`%s go in a circle of %d items: %s%s%d; leave one of them out",
                chained ? " and `next`" : "", length, list, length > LISTED ? "... after " : "", first);
}

/* Removes items without predecessors until none is left; items that cannot be removed have a cycle. */
static onet_status check_circles(const constraint_graph *g, int32_t *left, int32_t *queue, onet_error *err) {
    int taken = 0, ready = 0;
    memcpy(left, g->predecessors, (size_t)g->n * sizeof *left);
    for (int i = 0; i < g->n; i++)
        if (!left[i]) queue[ready++] = i;
    for (; taken < ready; taken++) {
        int32_t i = queue[taken];
        for (size_t k = g->after_start[i]; k < g->after_start[i + 1]; k++)
            if (!--left[g->after[k]]) queue[ready++] = g->after[k];
    }
    return taken == g->n ? ONET_OK : name_circle(g, left, queue, err);
}

onet_status constraint_graph_make(constraint_graph *g, const onet_constraint *list, size_t count, size_t base,
                                  int n, const uint8_t *context, onet_error *err) {
    size_t pairs = 0, items = (size_t)n;
    int placed = (int)context_placed(context, items);
    *g = (constraint_graph){.n = n, .last = -1, .last_head = -1};
    onet_status status = constraints_check(list, count, base, n, context, err);
    if (status) return status;
    for (size_t k = 0; k < count; k++) pairs += constraint_is_pair(list[k].kind);
    int32_t *scratch = array_new(4 * items, sizeof *scratch);
    const chains c = {scratch, scratch ? scratch + items : NULL, scratch ? scratch + 2 * items : NULL,
                      scratch ? scratch + 3 * items : NULL};
    g->fixed = array_new(items, sizeof *g->fixed);
    g->next = array_new(items, sizeof *g->next);
    g->predecessors = array_new(items, sizeof *g->predecessors);
    g->after_start = array_new(items + 1, sizeof *g->after_start);
    g->after = array_new(pairs ? pairs : 1, sizeof *g->after);
    if (!scratch || !g->fixed || !g->next || !g->predecessors || !g->after_start || !g->after)
        status = fail_memory(err, "the constraints of a set");
    if (!status) status = join_chains(g, list, count, base, &c, err);
    if (!status) status = fix_places(g, list, count, base, placed, &c, err);
    if (!status) status = check_pairs(g, list, count, base, &c, err);
    if (!status) {
        link_pairs(g, list, count, base, c.head);
        status = check_circles(g, scratch, scratch + n, err);
    }
    free(scratch);
    if (status) constraint_graph_free(g);
    return status;
}

onet_status constraint_graphs_new(constraint_graph **graphs, const onet_sets *sets, onet_error *err) {
    *graphs = NULL;
    constraint_graph *made = array_new(sets->count, sizeof *made);
    onet_status status = made ? ONET_OK : fail_memory(err, "the constraints");
    for (size_t s = 0; s < sets->count && !status; s++) {
        size_t from, count, first = sets->start[s];
        constraints_of(sets, first, sets->start[s + 1], &from, &count);
        if (!count) continue;
        status =
            constraint_graph_make(&made[s], sets->constraints + from, count, first, (int)sets_size(sets, s),
                                  sets->context ? sets->context + first : NULL, err);
        if (status == ONET_BAD) error_prefix(err, "set %zu", s + 1);
    }
    if (status)
        constraint_graphs_free(made, sets->count);
    else
        *graphs = made;
    return status;
}

void constraint_graphs_free(constraint_graph *graphs, size_t count) {
    for (size_t s = 0; graphs && s < count; s++) constraint_graph_free(&graphs[s]);
    free(graphs);
}
