/* Finds a minimum-cost perfect matching, for Christofides' heuristic, by the blossom algorithm: primal-dual,
 * with one tree-growing search per matched pair.
 *
 * Nodes 0 .. n-1 are cities, nodes from n on are blossoms: odd rings of nodes that act as one. `top` is the
 * outermost node that a city lies in. A search labels top nodes EVEN (reached over a matched edge, or free
 * at its start) and ODD, and lets dual values move until a tight edge joins two EVEN nodes: of two trees,
 * then the matching grows along the path; of one tree, then they become a blossom. Dual values are kept
 * doubled, so that all stay whole:
 *   slack(u,v) = dual(u) + dual(v) + 2 cost(u,v) >= 0      for cities in different top nodes
 * (the algorithm maximises -cost), and a blossom's dual, never negative, adds to the slack of the edges
 * inside it. */
#include "tasks/tours/solve/solvers.h"

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { NONE = -1 };
typedef enum kind { OUTSIDE, EVEN, ODD } kind;

/* An edge between two nodes: the cities at its ends. u == NONE: no edge. */
typedef struct edge {
    int32_t u, v;
} edge;

typedef struct graph {
    int n, room;         /* cities; nodes that there is memory for */
    int used;            /* nodes in use, numbers below this */
    const int64_t *cost; /* [n, n] */
    int64_t *dual;       /* [room] */
    int32_t *mate;       /* [room]: city at the other end of the node's matched edge, or NONE */
    int32_t *top;        /* [room]: outermost node around it; NONE: a blossom that is not in use */
    int32_t *reached;    /* [room]: of an ODD node: the city of the EVEN node that it was reached from */
    int32_t *tightest;   /* [room]: EVEN city with the least slack to this node, or NONE */
    kind *kind;          /* [room] */
    unsigned *seen;      /* [room]: mark of the last walk that visited it */
    unsigned walk;
    edge *best;      /* [room, room]: the edge of least slack between two nodes */
    int32_t **ring;  /* [room]: a blossom's nodes, its base first */
    int *rings;      /* [room]: how many */
    int32_t *inside; /* [room, n]: the ring's node that holds the city, or NONE */
    int32_t *queue;  /* [n]: EVEN cities whose edges must be checked */
    int head, tail;
} graph;

static edge *best(const graph *g, int a, int b) {
    return &g->best[(size_t)a * (size_t)g->room + (size_t)b];
}

static int32_t *inside(const graph *g, int node, int city) {
    return &g->inside[(size_t)node * (size_t)g->n + (size_t)city];
}

static int64_t slack(const graph *g, edge e) {
    return g->dual[e.u] + g->dual[e.v] + 2 * g->cost[(size_t)e.u * (size_t)g->n + (size_t)e.v];
}

static void note_slack(graph *g, int city, int node) {
    int old = g->tightest[node];
    if (old == NONE || slack(g, *best(g, city, node)) < slack(g, *best(g, old, node)))
        g->tightest[node] = city;
}

static void find_slack(graph *g, int node) {
    g->tightest[node] = NONE;
    for (int city = 0; city < g->n; city++)
        if (g->top[city] != node && g->kind[g->top[city]] == EVEN) note_slack(g, city, node);
}

static void enqueue(graph *g, int node) {
    if (node < g->n) {
        g->queue[g->tail++] = node;
        return;
    }
    for (int i = 0; i < g->rings[node]; i++) enqueue(g, g->ring[node][i]);
}

static void set_top(graph *g, int node, int top) {
    g->top[node] = top;
    if (node >= g->n)
        for (int i = 0; i < g->rings[node]; i++) set_top(g, g->ring[node][i], top);
}

static void reverse(int32_t *first, int count) {
    for (int i = 0, j = count - 1; i < j; i++, j--) {
        int32_t swap = first[i];
        first[i] = first[j];
        first[j] = swap;
    }
}

/* Returns the index of `node` in the ring; the ring is reversed, if necessary, so that the path from the base
 * to it has an even number of steps. */
static int even_place(graph *g, int blossom, int node) {
    int place = 0;
    while (g->ring[blossom][place] != node) place++;
    if (place % 2 == 0) return place;
    reverse(g->ring[blossom] + 1, g->rings[blossom] - 1);
    return g->rings[blossom] - place;
}

/* Matches node a with node b over their best edge; inside a blossom the matching shifts so that the edge's
 * end becomes its base. */
static void set_mate(graph *g, int a, int b) {
    edge e = *best(g, a, b);
    g->mate[a] = e.v;
    if (a < g->n) return;
    int base = *inside(g, a, e.u), place = even_place(g, a, base);
    int32_t *ring = g->ring[a];
    for (int i = 0; i < place; i += 2) {
        set_mate(g, ring[i], ring[i + 1]);
        set_mate(g, ring[i + 1], ring[i]);
    }
    set_mate(g, base, b);
    /* The base comes first: rotate left by three reversals. */
    reverse(ring, place);
    reverse(ring + place, g->rings[a] - place);
    reverse(ring, g->rings[a]);
}

/* Flips the path from the EVEN node a to its tree's root, a being matched with b. */
static void augment(graph *g, int a, int b) {
    for (;;) {
        int city = g->mate[a];
        set_mate(g, a, b);
        if (city == NONE) return;
        int odd = g->top[city], even = g->top[g->reached[odd]];
        set_mate(g, odd, even);
        b = odd;
        a = even;
    }
}

/* Returns the EVEN node above an EVEN node in its tree, or NONE at the root. */
static int above(const graph *g, int node) {
    if (g->mate[node] == NONE) return NONE;
    return g->top[g->reached[g->top[g->mate[node]]]];
}

static int common_ancestor(graph *g, int a, int b) {
    for (g->walk++; a != NONE || b != NONE;) {
        if (a != NONE) {
            if (g->seen[a] == g->walk) return a;
            g->seen[a] = g->walk;
            a = above(g, a);
        }
        int swap = a;
        a = b;
        b = swap;
    }
    return NONE;
}

/* Writes the ring's nodes from an EVEN node up to but without the ancestor; returns their number. */
static int climb(graph *g, int node, int ancestor, int32_t *ring) {
    int count = 0;
    while (node != ancestor) {
        int odd = g->top[g->mate[node]];
        ring[count++] = node;
        ring[count++] = odd;
        enqueue(g, odd);
        node = g->top[g->reached[odd]];
    }
    return count;
}

static void make_blossom(graph *g, int a, int base, int b) {
    int blossom = g->n;
    while (blossom < g->used && g->top[blossom] != NONE) blossom++;
    if (blossom == g->used) g->used++;
    int32_t *ring = g->ring[blossom];
    ring[0] = base;
    int count = 1 + climb(g, a, base, ring + 1);
    reverse(ring + 1, count - 1);
    count += climb(g, b, base, ring + count);
    g->rings[blossom] = count;
    g->dual[blossom] = 0;
    g->kind[blossom] = EVEN;
    g->mate[blossom] = g->mate[base];
    set_top(g, blossom, blossom);
    for (int x = 0; x < g->used; x++) best(g, blossom, x)->u = best(g, x, blossom)->u = NONE;
    for (int city = 0; city < g->n; city++) *inside(g, blossom, city) = NONE;
    for (int i = 0; i < count; i++) {
        for (int x = 0; x < g->used; x++) {
            edge e = *best(g, ring[i], x);
            if (e.u == NONE || g->top[x] == blossom) continue;
            if (best(g, blossom, x)->u == NONE || slack(g, e) < slack(g, *best(g, blossom, x))) {
                *best(g, blossom, x) = e;
                *best(g, x, blossom) = (edge){e.v, e.u};
            }
        }
        for (int city = 0; city < g->n; city++)
            if (*inside(g, ring[i], city) != NONE) *inside(g, blossom, city) = ring[i];
    }
    find_slack(g, blossom);
}

/* Expands an ODD blossom whose dual fell to 0: the even path from its base to where the tree enters stays in
 * the tree, the rest of the ring leaves it. */
static void open_blossom(graph *g, int b) {
    int32_t *ring = g->ring[b];
    for (int i = 0; i < g->rings[b]; i++) set_top(g, ring[i], ring[i]);
    int entry = *inside(g, b, best(g, b, g->reached[b])->u), place = even_place(g, b, entry);
    for (int i = 0; i < place; i += 2) {
        int odd = ring[i], even = ring[i + 1];
        g->reached[odd] = best(g, even, odd)->u;
        g->kind[odd] = ODD;
        g->kind[even] = EVEN;
        g->tightest[odd] = NONE;
        find_slack(g, even);
        enqueue(g, even);
    }
    g->kind[entry] = ODD;
    g->reached[entry] = g->reached[b];
    for (int i = place + 1; i < g->rings[b]; i++) {
        g->kind[ring[i]] = OUTSIDE;
        find_slack(g, ring[i]);
    }
    g->top[b] = NONE;
}

/* Uses a tight edge from an EVEN node; true if the matching grew. */
static bool use_edge(graph *g, edge e) {
    int a = g->top[e.u], b = g->top[e.v];
    if (g->kind[b] == OUTSIDE) {
        int even = g->top[g->mate[b]];
        g->reached[b] = e.u;
        g->kind[b] = ODD;
        g->kind[even] = EVEN;
        g->tightest[b] = g->tightest[even] = NONE;
        enqueue(g, even);
    } else if (g->kind[b] == EVEN) {
        int base = common_ancestor(g, a, b);
        if (base == NONE) {
            augment(g, a, b);
            augment(g, b, a);
            return true;
        }
        make_blossom(g, a, base, b);
    }
    return false;
}

/* Returns by how much the duals may move before an edge becomes tight or a blossom opens. */
static int64_t dual_step(const graph *g) {
    int64_t step = INT64_MAX;
    for (int x = 0; x < g->used; x++) {
        if (g->top[x] != x) continue;
        int64_t most = INT64_MAX;
        if (g->kind[x] == ODD) {
            if (x >= g->n) most = g->dual[x] / 2;
        } else if (g->tightest[x] != NONE) {
            most = slack(g, *best(g, g->tightest[x], x));
            if (g->kind[x] == EVEN) most /= 2;
        }
        if (most < step) step = most;
    }
    return step;
}

static void move_duals(graph *g, int64_t step) {
    for (int city = 0; city < g->n; city++) {
        kind k = g->kind[g->top[city]];
        if (k == EVEN) g->dual[city] -= step;
        if (k == ODD) g->dual[city] += step;
    }
    for (int b = g->n; b < g->used; b++) {
        if (g->top[b] != b) continue;
        if (g->kind[b] == EVEN) g->dual[b] += 2 * step;
        if (g->kind[b] == ODD) g->dual[b] -= 2 * step;
    }
}

/* One search: matches two more cities. False if that is impossible, which a complete graph of even size rules
 * out. */
static bool grow_matching(graph *g) {
    g->head = g->tail = 0;
    for (int x = 0; x < g->used; x++) {
        g->kind[x] = OUTSIDE;
        g->tightest[x] = NONE;
        if (g->top[x] == x && g->mate[x] == NONE) {
            g->kind[x] = EVEN;
            enqueue(g, x);
        }
    }
    for (;;) {
        while (g->head < g->tail) {
            int u = g->queue[g->head++];
            if (g->kind[g->top[u]] == ODD) continue;
            for (int v = 0; v < g->n; v++) {
                if (g->top[u] == g->top[v]) continue;
                if (slack(g, (edge){u, v}) > 0)
                    note_slack(g, u, g->top[v]);
                else if (use_edge(g, (edge){u, v}))
                    return true;
            }
        }
        int64_t step = dual_step(g);
        if (step == INT64_MAX) return false;
        move_duals(g, step);
        g->head = g->tail = 0;
        for (int x = 0; x < g->used; x++) {
            if (g->top[x] != x || g->tightest[x] == NONE || g->kind[x] == ODD) continue;
            edge e = *best(g, g->tightest[x], x);
            if (g->top[e.u] != x && slack(g, e) == 0 && use_edge(g, e)) return true;
        }
        for (int b = g->n; b < g->used; b++)
            if (g->top[b] == b && g->kind[b] == ODD && g->dual[b] == 0) open_blossom(g, b);
    }
}

/* ---- The proof --------------------------------------------------------------------------------------- */

/* Checks the proof: every edge's slack, with the duals of the blossoms around both its ends, is not negative;
 * blossoms' duals are not negative; and all duals add up to the matching's cost. Then no perfect matching is
 * cheaper. */
static bool proven(const graph *g, int64_t *around, int32_t *owner) {
    int64_t total = 0;
    for (int x = 0; x < g->used; x++) owner[x] = NONE;
    for (int b = g->n; b < g->used; b++) {
        if (g->top[b] == NONE) continue;
        int cities = 0;
        for (int city = 0; city < g->n; city++) cities += *inside(g, b, city) != NONE;
        if (g->dual[b] < 0 || cities % 2 == 0) return false;
        total += g->dual[b] * (cities / 2);
        for (int i = 0; i < g->rings[b]; i++) owner[g->ring[b][i]] = b;
    }
    for (int u = 0; u < g->n; u++) {
        int v = g->mate[u];
        if (v < 0 || v >= g->n || v == u || g->mate[v] != u) return false;
        total += g->dual[u] + g->cost[(size_t)u * (size_t)g->n + (size_t)v];
        memset(around, 0, (size_t)g->n * sizeof *around);
        for (int b = owner[u]; b != NONE; b = owner[b])
            for (v = 0; v < g->n; v++)
                if (*inside(g, b, v) != NONE) around[v] += g->dual[b];
        for (v = 0; v < g->n; v++)
            if (v != u && slack(g, (edge){u, v}) + around[v] < 0) return false;
    }
    return total == 0; /* the duals' sum is minus twice the cost, which the loop added once from either end */
}

/* ---- Memory ------------------------------------------------------------------------------------------ */

static void free_graph(graph *g) {
    for (int b = g->n; g->ring && b < g->room; b++) free(g->ring[b]);
    void *all[] = {g->dual, g->mate, g->top,  g->reached, g->tightest, g->kind,
                   g->seen, g->best, g->ring, g->rings,   g->inside,   g->queue};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

static bool new_graph(graph *g, int n, const int64_t *cost) {
    *g = (graph){.n = n, .room = n + n / 2 + 1, .used = n, .cost = cost};
    size_t room = (size_t)g->room, cities = (size_t)n;
    g->dual = array_new(room, sizeof *g->dual);
    g->mate = array_new(room, sizeof *g->mate);
    g->top = array_new(room, sizeof *g->top);
    g->reached = array_new(room, sizeof *g->reached);
    g->tightest = array_new(room, sizeof *g->tightest);
    g->kind = array_new(room, sizeof *g->kind);
    g->seen = array_new(room, sizeof *g->seen);
    g->best = array_new(room * room, sizeof *g->best);
    g->ring = array_new(room, sizeof *g->ring);
    g->rings = array_new(room, sizeof *g->rings);
    g->inside = array_new(room * cities, sizeof *g->inside);
    g->queue = array_new(cities, sizeof *g->queue);
    bool good = g->dual && g->mate && g->top && g->reached && g->tightest && g->kind && g->seen && g->best &&
                g->ring && g->rings && g->inside && g->queue;
    for (int b = n; good && b < g->room; b++)
        good = (g->ring[b] = array_new(cities, sizeof **g->ring)) != NULL;
    if (!good) return false;
    int64_t least = INT64_MAX;
    for (int u = 0; u < g->room; u++) {
        g->mate[u] = NONE;
        g->top[u] = u < n ? u : NONE;
        for (int v = 0; v < n; v++) *inside(g, u, v) = u == v ? u : NONE;
        for (int v = 0; v < g->room; v++)
            *best(g, u, v) = u < n && v < n && u != v ? (edge){u, v} : (edge){NONE, NONE};
    }
    for (int u = 0; u < n; u++)
        for (int v = 0; v < u; v++)
            if (cost[(size_t)u * cities + (size_t)v] < least) least = cost[(size_t)u * cities + (size_t)v];
    for (int u = 0; u < n; u++) g->dual[u] = -least;
    return true;
}

onet_status matching_perfect(int n, const int64_t *cost, int32_t *mate, onet_error *err) {
    if (n < 0 || n % 2) return fail(err, ONET_USAGE, "%d cities cannot be matched in pairs", n);
    if (n == 0) return ONET_OK;
    for (size_t i = 0; i < (size_t)n * (size_t)n; i++)
        if (cost[i] > MATCHING_MAX_COST || cost[i] < -MATCHING_MAX_COST)
            return fail(err, ONET_USAGE, "a cost of the matching is out of range");
    graph g;
    int64_t *around = array_new((size_t)n, sizeof *around);
    int32_t *owner = array_new((size_t)n * 2, sizeof *owner);
    onet_status status = ONET_OK;
    if (!new_graph(&g, n, cost) || !around || !owner) {
        status = fail_memory(err, "a matching");
    } else {
        bool grown = true;
        for (int pairs = 0; pairs < n / 2 && grown; pairs++) grown = grow_matching(&g);
        if (!grown || !proven(&g, around, owner))
            status = fail(err, ONET_FAILED, "the matching of %d cities could not be proven optimal", n);
        else
            memcpy(mate, g.mate, (size_t)n * sizeof *mate);
    }
    free_graph(&g);
    free(around);
    free(owner);
    return status;
}
