/* Checks whether the constraints on the order of a set can be met, and builds the graph by which a search
 * keeps to them. */
#ifndef DATA_CONSTRAINTS_H
#define DATA_CONSTRAINTS_H

#include <stdbool.h>

#include "ordernet.h"

/* Items are counted within the set. Items that follow each other directly are a chain; a single item is a
 * chain of one. A search that takes fixed[t] for t < fixed_count, after that the next item of the chain that
 * it is in, and else any item whose predecessors are all placed (that of the last chain only when nothing
 * else is left), keeps the constraints and never gets stuck. */
typedef struct constraint_graph {
    int n;
    int fixed_count;
    int32_t last;      /* -1: any item may be last */
    int32_t last_head; /* the first item of its chain, which has last_length items */
    int last_length;
    int32_t *fixed;        /* [fixed_count]: the items of the first places */
    int32_t *next;         /* [n]: the next item of the chain, -1 at its end */
    int32_t *predecessors; /* [n]: how many items must come before an item */
    size_t *after_start;   /* [n + 1] */
    int32_t *after;        /* [after_start[n]]: item i comes before after[after_start[i]] .. */
} constraint_graph;

/* Checks that each constraint is of a known kind and names items and places of the set; the arguments are
 * those of constraint_graph_make. */
onet_status constraints_check(const onet_constraint *constraints, size_t count, size_t base, int n,
                              const uint8_t *context, onet_error *err);

/* Used where constraints enter, which are then refused with their file and line, and once more by the search:
 * the caller may change the arrays of onet_sets in between, so that no graph is kept with them.
 *
 * The constraints of a set whose items are base .. base + n - 1 and whose context items, which must not be
 * named, are marked in context [n] (or NULL). ONET_BAD, with an error message that names the constraints,
 * when they contradict each other or name no item of the set; there is nothing to free then. */
onet_status constraint_graph_make(constraint_graph *g, const onet_constraint *constraints, size_t count,
                                  size_t base, int n, const uint8_t *context, onet_error *err);
void constraint_graph_free(constraint_graph *g);

/* Makes the graphs of all sets: [count], n = 0 for sets without constraints. ONET_BAD names the set. */
onet_status constraint_graphs_new(constraint_graph **graphs, const onet_sets *sets, onet_error *err);
void constraint_graphs_free(constraint_graph *graphs, size_t count);

/* After `before` (an item of the set, -1: none was placed yet), may `item`, which is not placed yet, stand at
 * place t of `placed`? waits [n]: how many of its predecessors an item still waits for. */
static inline bool constraint_allows(const constraint_graph *g, const int32_t *waits, int32_t before,
                                     int32_t item, int t, int placed) {
    if (t < g->fixed_count) return item == g->fixed[t];
    if (before >= 0 && g->next[before] >= 0) return item == g->next[before];
    return !waits[item] && (item != g->last_head || t == placed - g->last_length);
}

/* Whether `other` of such a constraint is an item too. */
static inline bool constraint_is_pair(onet_constraint_kind kind) {
    return kind == ONET_BEFORE || kind == ONET_NEXT;
}

/* Finds the constraints on items first .. end - 1: *count of them from *from on. They are sorted by set. */
void constraints_of(const onet_sets *sets, size_t first, size_t end, size_t *from, size_t *count);

#endif
