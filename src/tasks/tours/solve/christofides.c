/* Solves by Christofides' heuristic (spanning tree plus matching of its odd cities): at most 1.5 times the
 * optimum where the triangle inequality holds. */
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "tasks/tours/solve/solvers.h"

#include <math.h>
#include <stdlib.h>

/* Each city's edges in the union of tree and matching: a linked list over half-edges; half-edge h leads to
 * to[h], its other half is h ^ 1. */
typedef struct walk {
    int *head, *next, *to; /* [n], [4n], [4n]; -1 ends a list */
    bool *used;            /* [4n] */
    int halves;
} walk;

static void add_edge(walk *w, int a, int b) {
    int ends[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        int h = w->halves++;
        w->to[h] = ends[1 - i];
        w->next[h] = w->head[ends[i]];
        w->head[ends[i]] = h;
    }
}

/* Builds the tree by Prim's algorithm from city 0: city joined[k] came in k-th, over the edge from
 * from[joined[k]]; degree [n] counts the tree's edges. */
static void spanning_tree(const onet_tsp *t, double *reach, int *from, int *joined, int *degree) {
    int n = t->n;
    for (int i = 1; i < n; i++) reach[i] = onet_tsp_distance(t, 0, i), from[i] = 0;
    reach[0] = -1; /* in the tree */
    for (int k = 1; k < n; k++) {
        int near = -1;
        for (int i = 0; i < n; i++)
            if (reach[i] >= 0 && (near < 0 || reach[i] < reach[near])) near = i;
        joined[k] = near;
        degree[from[near]]++, degree[near]++;
        reach[near] = -1;
        for (int i = 0; i < n; i++)
            if (reach[i] > onet_tsp_distance(t, near, i))
                reach[i] = onet_tsp_distance(t, near, i), from[i] = near;
    }
}

/* Adds the cheapest matching of the cities of odd degree. Distances are scaled by a power of 2 to whole
 * numbers of up to 42 bits; whole numbers stay as they are. */
static onet_status match_odd(const onet_tsp *t, walk *w, const int *degree, int *odd, int32_t *mate,
                             onet_error *err) {
    int count = 0;
    double longest = 0;
    for (int i = 0; i < t->n; i++)
        if (degree[i] % 2) odd[count++] = i;
    for (int a = 0; a < count; a++)
        for (int b = 0; b < a; b++) longest = fmax(longest, onet_tsp_distance(t, odd[a], odd[b]));
    int exponent;
    frexp(longest, &exponent);
    exponent = t->whole && exponent <= 42 ? 0 : 42 - exponent;
    int64_t *cost = array_new((size_t)count * (size_t)count, sizeof *cost);
    if (!cost) return fail_memory(err, "the matching's costs");
    for (int a = 0; a < count; a++)
        for (int b = 0; b < count; b++)
            cost[(size_t)a * (size_t)count + (size_t)b] =
                llround(ldexp(onet_tsp_distance(t, odd[a], odd[b]), exponent));
    onet_status status = matching_perfect(count, cost, mate, err);
    for (int a = 0; a < count && !status; a++)
        if (a < mate[a]) add_edge(w, odd[a], odd[mate[a]]);
    free(cost);
    return status;
}

/* Walks over all edges and back to the start (Hierholzer); a city enters the tour where the walk ends at it
 * first. */
static void euler_tour(walk *w, int *stack, bool *visited, int32_t *tour) {
    int depth = 0, place = 0;
    stack[depth++] = 0;
    while (depth) {
        int city = stack[depth - 1], h = w->head[city];
        while (h >= 0 && w->used[h]) h = w->next[h];
        if (h < 0) {
            depth--;
            if (!visited[city]) tour[place++] = city;
            visited[city] = true;
            w->head[city] = -1;
            continue;
        }
        w->head[city] = w->next[h];
        w->used[h] = w->used[h ^ 1] = true;
        stack[depth++] = w->to[h];
    }
}

onet_status tsp_christofides(const onet_tsp *t, int32_t *tour, onet_error *err) {
    size_t n = (size_t)t->n;
    int *ints = array_new(15 * n, sizeof *ints);
    double *reach = array_new(n, sizeof *reach);
    bool *flags = array_new(5 * n, sizeof *flags);
    int32_t *mate = array_new(n, sizeof *mate);
    onet_status status = ONET_OK;
    if (!ints || !reach || !flags || !mate) {
        status = fail_memory(err, "Christofides' tour");
    } else {
        int *degree = ints, *from = ints + n, *odd = ints + 2 * n, *stack = ints + 3 * n;
        int *joined = ints + 14 * n;
        walk w = {.head = ints + 5 * n, .next = ints + 6 * n, .to = ints + 10 * n, .used = flags};
        for (size_t i = 0; i < n; i++) w.head[i] = -1;
        spanning_tree(t, reach, from, joined, degree);
        status = match_odd(t, &w, degree, odd, mate, err);
        /* The edge added last is walked first: the tree's before the matching's. */
        for (int k = 1; k < t->n; k++) add_edge(&w, from[joined[k]], joined[k]);
        if (!status) euler_tour(&w, stack, flags + 4 * n, tour);
    }
    free(ints);
    free(reach);
    free(flags);
    free(mate);
    return status;
}
