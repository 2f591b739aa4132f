/* Constraints on the order of one set: whether they can be kept, and the form in which a search keeps them.
 */
#ifndef DATA_CONSTRAINTS_H
#define DATA_CONSTRAINTS_H

#include <stdbool.h>

#include "ordernet.h"

/* Items are counted within the set. A search that takes fixed[t] for t < fixed_count, and after that any item
 * whose predecessors are all placed (`last` only when nothing else is left), keeps the constraints and never
 * gets stuck. */
typedef struct constraint_graph {
    int n;
    int fixed_count;
    int32_t last;          /* -1: any item may be last */
    int32_t *fixed;        /* [fixed_count]: the items of the first places */
    int32_t *predecessors; /* [n]: how many items must come before an item */
    size_t *after_start;   /* [n + 1] */
    int32_t *after;        /* [after_start[n]]: item i comes before after[after_start[i]] .. */
} constraint_graph;

/* The constraints of a set whose items are base .. base + n - 1 and whose context items, which must not be
 * named, are marked in context [n] (or NULL). ONET_BAD, with a sentence that names the constraints, when they
 * contradict each other or name no item of the set; there is nothing to free then. */
onet_status constraint_graph_make(constraint_graph *g, const onet_constraint *constraints, size_t count,
                                  size_t base, int n, const uint8_t *context, onet_error *err);
void constraint_graph_free(constraint_graph *g);

/* Of all constraints, sorted by set, those whose items are first .. end - 1: from *from on, *count. */
void constraints_of(const onet_sets *sets, size_t first, size_t end, size_t *from, size_t *count);

#endif
