/* Finds an optimal tour and proves it, by branch and bound (subtree.c) that begins with the tour of a local
 * search.
 *
 * The search tree is explored in rounds. A round takes the first subtrees that are left, at most ROUND, and
 * visits at most NODES nodes of each; what is left of them takes their place. All subtrees of a round begin
 * with the best tour of the rounds before, so they may be explored in any order, by any number of threads,
 * with the same answer: a caller shares them out (tsp_tree_*), or tsp_exact explores them one by one. Cities
 * that coincide are merged first; a search that its limit stops has the best tour so far and a bound. */
#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "tasks/tours/solve/solvers.h"
#include "tasks/tours/solve/subtree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Larger rounds wait less often for their last subtree, but keep more of them in memory. */
enum { ROUND = 64, NODES = 100 };

struct tsp_tree {
    const onet_tsp *given;
    int32_t *first; /* [given.n]: the city that each one coincides with */
    onet_tsp own;   /* the distinct cities, if some coincide */
    int32_t *kept;  /* [own.n]: their numbers in the instance given */
    const onet_tsp *t;
    const tsp_limit *limit;
    double end;
    int32_t *tour; /* [t.n]: the best so far */
    double length;
    subtree_list open; /* the next one last */
    int pieces;        /* of this round: the last ones of open */
    exploration explored[ROUND];
    bool good[ROUND]; /* false: memory ran out */
    int64_t nodes;
    bool stopped, no_memory;
};

/* Makes the instance of the `count` distinct cities. */
static onet_status merge(tsp_tree *s, int count, onet_error *err) {
    onet_status status = onet_tsp_blank(&s->own, count, false, err);
    s->kept = array_new((size_t)count, sizeof *s->kept);
    if (!s->kept && !status) status = fail_memory(err, "the exact solver");
    if (status) return status;
    for (int i = 0, k = 0; i < s->given->n; i++)
        if (s->first[i] == i) s->kept[k++] = i;
    s->own.whole = s->given->whole;
    for (int a = 0; a < count; a++)
        for (int b = 0; b < count; b++)
            s->own.dist[(size_t)a * (size_t)count + (size_t)b] =
                onet_tsp_distance(s->given, s->kept[a], s->kept[b]);
    s->t = &s->own;
    return ONET_OK;
}

static void begin_round(tsp_tree *s) {
    bool goes_on = !s->stopped && !s->no_memory;
    s->pieces = !goes_on ? 0 : s->open.count < ROUND ? (int)s->open.count : ROUND;
}

/* Finds the first tour, and makes the whole tree the one open subtree. */
static onet_status plant(tsp_tree *s, onet_error *err) {
    int n = s->t->n;
    s->tour = array_new((size_t)n, sizeof *s->tour);
    if (!s->tour) return fail_memory(err, "the exact solver");
    for (int i = 0; i < n; i++) s->tour[i] = i;
    if (n <= 3 || degenerate_line(s->t, s->tour)) return ONET_OK;
    tsp_limit start = s->limit ? *s->limit : (tsp_limit){0};
    start.seconds /= 4;
    int64_t kicks =
        n <= 50 ? n * n / 20 : (int64_t)n * n * n / 1000; /* cheap compared with the search that they save */
    onet_status status = tsp_nearest(s->t, 0, s->tour, err);
    if (!status) status = tsp_local(s->t, kicks, &start, 1, s->tour, err);
    s->length = onet_tsp_length(s->t, s->tour);
    if (!status && !array_reserve(&s->open.list, &s->open.room, 1, sizeof *s->open.list))
        status = fail_memory(err, "the exact solver");
    if (!status) s->open.list[s->open.count++] = (subtree){0};
    return status;
}

onet_status tsp_tree_new(tsp_tree **tree, const onet_tsp *t, const tsp_limit *limit, onet_error *err) {
    double began = clock_seconds();
    *tree = NULL;
    tsp_tree *s = array_new(1, sizeof *s);
    if (!s) return fail_memory(err, "the exact solver");
    s->given = s->t = t;
    s->limit = limit;
    s->end = limit && limit->seconds > 0 ? began + limit->seconds : 0;
    s->first = array_new((size_t)t->n, sizeof *s->first);
    onet_status status = s->first ? ONET_OK : fail_memory(err, "the exact solver");
    int count = status ? 0 : degenerate_merge(t, s->first);
    if (!status && count < t->n) status = merge(s, count, err);
    if (!status) status = plant(s, err);
    if (status) {
        tsp_tree_free(s);
        return status;
    }
    begin_round(s);
    *tree = s;
    return ONET_OK;
}

void tsp_tree_free(tsp_tree *s) {
    if (!s) return;
    subtree_list_free(&s->open);
    onet_tsp_free(&s->own);
    free(s->first);
    free(s->kept);
    free(s->tour);
    free(s);
}

int tsp_tree_pieces(const tsp_tree *s) {
    return s->pieces;
}

void tsp_tree_explore(tsp_tree *s, int piece) {
    size_t n = (size_t)s->t->n;
    exploration *e = &s->explored[piece];
    *e = (exploration){.limit = s->limit, .end = s->end, .most = NODES, .length = s->length};
    e->tour = array_new(n, sizeof *e->tour);
    s->good[piece] = e->tour != NULL;
    if (!e->tour) return;
    memcpy(e->tour, s->tour, n * sizeof *e->tour);
    s->good[piece] = subtree_explore(s->t, &s->open.list[s->open.count - 1 - (size_t)piece], e);
}

/* Puts the subtrees that a piece has left on the pile, the first one on top. */
static void pile_up(tsp_tree *s, exploration *e) {
    subtree_list *open = &s->open, *left = &e->left;
    if (!array_reserve(&open->list, &open->room, open->count + left->count, sizeof *open->list)) {
        s->no_memory = true;
        return;
    }
    while (left->count) open->list[open->count++] = left->list[--left->count];
}

void tsp_tree_next(tsp_tree *s) {
    for (int i = 0; i < s->pieces; i++) subtree_free(&s->open.list[--s->open.count]);
    for (int i = s->pieces - 1; i >= 0; i--) {
        exploration *e = &s->explored[i];
        s->no_memory = s->no_memory || !s->good[i];
        s->stopped = s->stopped || e->stopped;
        s->nodes += e->nodes;
        pile_up(s, e);
        if (e->tour && e->length <= s->length) {
            s->length = e->length;
            memcpy(s->tour, e->tour, (size_t)s->t->n * sizeof *s->tour);
        }
        free(e->tour);
        subtree_list_free(&e->left);
    }
    begin_round(s);
}

onet_status tsp_tree_tour(const tsp_tree *s, int32_t *tour, onet_tsp_proof *proof, onet_error *err) {
    if (s->no_memory) return fail_memory(err, "the exact solver's search tree");
    onet_tsp_proof found = {.proven = true, .nodes = s->nodes};
    double least = INFINITY;
    for (size_t i = 0; i < s->open.count; i++) {
        double bound = s->open.list[i].bound;
        if (bound >= subtree_cut(s->t, s->length)) continue;
        found.proven = false;
        least = fmin(least, bound);
    }
    if (!found.proven) found.bound = s->t->whole ? ceil(least - 1e-6) : least;
    /* Each city that was left out follows the one that it coincides with. */
    for (int k = 0, place = 0; k < s->t->n; k++) {
        int32_t city = s->kept ? s->kept[s->tour[k]] : s->tour[k];
        for (int i = city; i < s->given->n; i++)
            if (s->first[i] == city) tour[place++] = i;
    }
    tsp_finish(s->given, tour, &found);
    if (proof) *proof = found;
    return ONET_OK;
}

onet_status tsp_exact(const onet_tsp *t, const tsp_limit *limit, int32_t *tour, onet_tsp_proof *proof,
                      onet_error *err) {
    tsp_tree *tree;
    onet_status status = tsp_tree_new(&tree, t, limit, err);
    if (status) return status;
    while (tsp_tree_pieces(tree)) {
        for (int i = 0; i < tsp_tree_pieces(tree); i++) tsp_tree_explore(tree, i);
        tsp_tree_next(tree);
    }
    status = tsp_tree_tour(tree, tour, proof, err);
    tsp_tree_free(tree);
    return status;
}
