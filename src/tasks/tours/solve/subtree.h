/* Declares a subtree of the exact solver's branch and bound (what is left of an instance after some edges
 * are fixed) and how it is explored. Subtrees of one instance can be explored at the same time. */
#ifndef TOURS_SOLVE_SUBTREE_H
#define TOURS_SOLVE_SUBTREE_H

#include "tasks/tours/solve/solvers.h"

/* All zero: the whole tree. */
typedef struct subtree {
    double bound;       /* none of its tours is shorter */
    double *price;      /* [n]: the best prices found above it; NULL: the whole tree */
    int edges, forced;  /* how many edges are not shut, how many of these are forced */
    int32_t (*edge)[2]; /* [edges, 2]: the edges that are not shut, the forced ones first */
} subtree;

void subtree_free(subtree *s);

typedef struct subtree_list {
    subtree *list;
    size_t count, room;
} subtree_list;

void subtree_list_free(subtree_list *l);

typedef struct exploration {
    /* In. */
    const tsp_limit *limit; /* its seconds do not count */
    double end;             /* when the time limit comes (clock_seconds); 0: never */
    int64_t most;           /* nodes to visit; 0: all */
    /* In and out. */
    int32_t *tour; /* [n]: the best tour; a shorter one replaces it */
    double length; /* of that tour */
    /* Out. */
    subtree_list left; /* what was not explored, in the order in which it would have been; to be freed */
    int64_t nodes;     /* visited */
    bool stopped;      /* by the limit */
} exploration;

/* The result depends on `from`, `most` and the tour alone, unless the limit stops it. False if memory ran
 * out. */
bool subtree_explore(const onet_tsp *t, const subtree *from, exploration *e);

/* Returns the bound from which on a subtree is cut off, if the best tour is `length` long. */
double subtree_cut(const onet_tsp *t, double length);

#endif
