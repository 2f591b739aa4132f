/* Explores a subtree of the branch and bound: 1-trees with a Lagrangian bound.
 *
 * A 1-tree is a spanning tree of all cities but one, and the two shortest edges of that one. Every tour is a
 * 1-tree, so the shortest 1-tree is a lower bound. Adding a price to each city,
 *   c'(i,j) = c(i,j) + price(i) + price(j),
 * changes every tour by the same 2 * sum(price) but pushes the tree towards degree 2 everywhere; the bound
 *   L(price) = length of the best 1-tree under c' - 2 * sum(price)
 * is raised by subgradient steps price(i) += step * (degree(i) - 2). Each node of the search then fixes
 * edges:
 *   - an edge outside the tree whose entry would raise the bound to the best tour is shut for this subtree;
 *   - an edge inside the tree whose removal would do so is forced;
 *   - a city with two forced edges has all others shut, one with two open edges has both forced.
 * Then it branches at a city of degree 3 or more, on its edges whose removal costs most: of a few such cities
 * at the one whose children have the best bounds at the same prices.
 *
 * Bounds are computed in double from the true distances of the tree's edges. A subtree is cut off when its
 * bound comes within 1e-10 of the best tour's length (relative), or, where all distances are whole numbers,
 * when it rounds up to it. */
#include "tasks/tours/solve/subtree.h"

#include "engine/base/clock.h"
#include "engine/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Keys used instead of a distance; so large that adding prices does not change them. */
#define SHUT   1e30
#define FORCED -1e30

static const double TOLERANCE = 1e-10;

/* Subgradient steps at the root and at the other nodes, the share of the gap that a step aims at, and the
 * steps without progress after which that share is halved. Measured best at 20 to 50 cities. */
typedef struct effort {
    int rounds;
    double speed;
    int patience;
} effort;
static const effort ROOT = {100, 1.0, 5}, NODE = {15, 1.0, 3};

/* Cities at which branching is tried, and the share of the best tour by which a child's bound must rise to
 * make its subtree e times smaller. */
enum { CANDIDATES = 5 };
static const double DECLINE = 0.005;

typedef struct change {
    int i, j;
} change;

/* Where to branch: a city of degree 3 or more and its two free tree edges whose removal costs most. */
typedef struct choice {
    int city, to[2];
    double cost[2];
    double score; /* a high one promises a small tree */
} choice;

typedef struct search {
    const onet_tsp *t;
    int n;
    int special;        /* the city outside the spanning tree */
    double *key;        /* [n, n]: distance, or SHUT, or FORCED */
    int *open, *forced; /* [n]: edges not shut; edges forced */
    change *trail;      /* edges fixed on the way to this node, to be undone */
    size_t trail_size, trail_room;
    int *dirty;     /* [n]: cities whose edges must be checked */
    bool *is_dirty; /* [n] */
    int dirties;
    double *prices; /* [depth, n]: the best prices of each node on the path; depth 0: above the subtree */
    size_t price_room;
    effort effort; /* of the next bound */
    /* The 1-tree of the last call of build_tree. */
    int *parent;     /* [n]: -1 for the root; of the special city: unused */
    int *rank;       /* [n]: in the order of joining */
    int *degree;     /* [n] */
    int ends[2];     /* the special city's two neighbours, the nearer one first */
    double *removal; /* [n]: by how much the bound rises if the edge to the parent is removed */
    double end_removal[2];
    /* Scratch. */
    choice *choices;  /* [n] */
    double *doubles;  /* one block for all arrays of doubles of this struct */
    int *ints;        /* and one for those of ints */
    int *list, *from; /* [n]: Prim: cities outside the tree, and the tree city nearest to each; keep_tour: the
                         two neighbours of a city */
    double *reach, *toll; /* [n] */
    double *price, *last; /* [n]: the prices being tried; the degrees of the tree before, less 2 */
    double cut;           /* a bound from `cut` on ends a subtree */
    exploration *e;
    bool no_memory;
} search;

static double *key_of(search *s, int i, int j) {
    return &s->key[(size_t)i * (size_t)s->n + (size_t)j];
}

double subtree_cut(const onet_tsp *t, double length) {
    return t->whole ? length - 1 + 1e-6 : length - TOLERANCE * length;
}

static void set_best(search *s, double length) {
    s->e->length = length;
    s->cut = subtree_cut(s->t, length);
}

/* ---- Fixing edges ------------------------------------------------------------------------------------ */

static void mark(search *s, int city) {
    if (s->is_dirty[city]) return;
    s->is_dirty[city] = true;
    s->dirty[s->dirties++] = city;
}

/* Shuts or forces a free edge and notes it for undo. */
static bool fix(search *s, int i, int j, double value) {
    if (!array_reserve(&s->trail, &s->trail_room, s->trail_size + 1, sizeof *s->trail)) {
        s->no_memory = true;
        return false;
    }
    s->trail[s->trail_size++] = (change){i, j};
    *key_of(s, i, j) = *key_of(s, j, i) = value;
    if (value == SHUT)
        s->open[i]--, s->open[j]--;
    else
        s->forced[i]++, s->forced[j]++;
    mark(s, i);
    mark(s, j);
    return true;
}

static void undo(search *s, size_t size) {
    while (s->trail_size > size) {
        change c = s->trail[--s->trail_size];
        if (*key_of(s, c.i, c.j) == SHUT)
            s->open[c.i]++, s->open[c.j]++;
        else
            s->forced[c.i]--, s->forced[c.j]--;
        *key_of(s, c.i, c.j) = *key_of(s, c.j, c.i) = onet_tsp_distance(s->t, c.i, c.j);
    }
}

/* Follows the consequences at the marked cities; false when no tour is left (or memory is out). */
static bool propagate(search *s) {
    bool possible = true;
    while (s->dirties) {
        int i = s->dirty[--s->dirties];
        s->is_dirty[i] = false;
        if (!possible) continue;
        if (s->open[i] < 2 || s->forced[i] > 2) {
            possible = false;
            continue;
        }
        double value = s->forced[i] == 2 ? SHUT : FORCED;
        if ((value == SHUT && s->open[i] == 2) || (value == FORCED && s->open[i] > 2)) continue;
        for (int j = 0; j < s->n && possible; j++) {
            double key = *key_of(s, i, j);
            if (j != i && key != SHUT && key != FORCED) possible = fix(s, i, j, value);
        }
    }
    return possible;
}

/* ---- The 1-tree -------------------------------------------------------------------------------------- */

/* Builds the best 1-tree under the prices, by Prim's algorithm; returns the bound L, INFINITY if no 1-tree is
 * left. */
static double build_tree(search *s, const double *price) {
    int n = s->n, special = s->special, left = 0;
    int u = special ? 0 : 1;
    memset(s->degree, 0, (size_t)n * sizeof *s->degree);
    for (int v = 0; v < n; v++) {
        if (v == special || v == u) continue;
        s->list[left] = v;
        s->reach[left] = INFINITY;
        s->toll[left++] = price[v];
    }
    s->parent[u] = -1;
    s->rank[u] = 0;
    double bound = 0;
    for (int joined = 1; left; joined++) {
        const double *row = s->key + (size_t)u * (size_t)n;
        double pay = price[u], least = INFINITY;
        int next = 0;
        for (int k = 0; k < left; k++) {
            double r = row[s->list[k]] + pay, old = s->reach[k];
            s->from[k] = r < old ? u : s->from[k];
            r = r < old ? r : old;
            s->reach[k] = r;
            r += s->toll[k];
            next = r < least ? k : next;
            least = r < least ? r : least;
        }
        int v = s->list[next], p = s->from[next];
        if (least > SHUT / 2) return INFINITY;
        s->parent[v] = p;
        s->rank[v] = joined;
        s->degree[v]++, s->degree[p]++;
        bound += onet_tsp_distance(s->t, v, p);
        left--;
        s->list[next] = s->list[left];
        s->reach[next] = s->reach[left];
        s->from[next] = s->from[left];
        s->toll[next] = s->toll[left];
        u = v;
    }
    const double *row = s->key + (size_t)special * (size_t)n;
    double first = INFINITY, second = INFINITY;
    int a = -1, b = -1;
    for (int v = 0; v < n; v++) {
        if (v == special) continue;
        double r = row[v] + price[v];
        if (r < first)
            second = first, b = a, first = r, a = v;
        else if (r < second)
            second = r, b = v;
    }
    if (second > SHUT / 2) return INFINITY;
    s->ends[0] = a, s->ends[1] = b;
    s->degree[a]++, s->degree[b]++, s->degree[special] = 2;
    bound += onet_tsp_distance(s->t, special, a) + onet_tsp_distance(s->t, special, b);
    for (int v = 0; v < n; v++) bound += price[v] * (s->degree[v] - 2);
    return bound;
}

static bool tree_is_tour(const search *s) {
    for (int v = 0; v < s->n; v++)
        if (s->degree[v] != 2) return false;
    return true;
}

/* Keeps the tree as the best tour: it has degree 2 everywhere, so it is a path from one end to the other,
 * closed by the special city. */
static void keep_tour(search *s) {
    int n = s->n, place = 0;
    int32_t *path = s->e->tour;
    /* The neighbours in the tree: one in list, the other in from. */
    for (int v = 0; v < n; v++) s->list[v] = s->from[v] = -1;
    for (int v = 0; v < n; v++) {
        if (v == s->special || s->parent[v] < 0) continue;
        int p = s->parent[v];
        *(s->list[v] < 0 ? &s->list[v] : &s->from[v]) = p;
        *(s->list[p] < 0 ? &s->list[p] : &s->from[p]) = v;
    }
    path[place++] = s->special;
    for (int v = s->ends[0], before = -1; v >= 0 && place < n;) {
        path[place++] = v;
        int next = s->list[v] != before ? s->list[v] : s->from[v];
        before = v;
        v = next;
    }
}

/* ---- The bound --------------------------------------------------------------------------------------- */

/* Takes subgradient steps from the prices given, which become the best ones found; returns the best bound.
 * Ends early if the bound reaches the cut or the tree is a tour. */
static double raise_bound(search *s, double *best_price, const effort *e) {
    int n = s->n, idle = 0;
    double speed = e->speed;
    size_t bytes = (size_t)n * sizeof *best_price;
    double best = -INFINITY;
    memcpy(s->price, best_price, bytes);
    for (int round = 0; round < e->rounds; round++) {
        double bound = build_tree(s, s->price);
        if (bound > best) {
            if (bound > best + 1e-3 * (s->e->length - best)) idle = 0;
            best = bound;
            memcpy(best_price, s->price, bytes);
            if (bound >= s->cut) return bound;
            if (tree_is_tour(s)) {
                keep_tour(s);
                set_best(s, onet_tsp_length(s->t, s->e->tour));
                return INFINITY;
            }
        } else {
            idle++;
        }
        if (idle > e->patience) {
            speed *= 0.5;
            idle = 0;
            memcpy(s->price, best_price, bytes);
            if (speed < 0.02) break;
        }
        double norm = 0;
        for (int v = 0; v < n; v++) norm += (double)((s->degree[v] - 2) * (s->degree[v] - 2));
        if (norm == 0) break;
        double step = speed * (s->e->length - bound) / norm;
        for (int v = 0; v < n; v++) {
            double g = s->degree[v] - 2;
            s->price[v] += step * (round ? 0.7 * g + 0.3 * s->last[v] : g);
            s->last[v] = g;
        }
    }
    return best;
}

/* ---- What the bound says about single edges ---------------------------------------------------------- */

/* Returns the weight, with prices, of the tree edge from v to its parent; a forced edge cannot be removed. */
static double tree_weight(search *s, int v, const double *price) {
    double key = *key_of(s, v, s->parent[v]);
    return key == FORCED ? -HUGE_VAL : key + price[v] + price[s->parent[v]];
}

/* Shuts and forces what the gap between bound and cut allows, and finds the removal costs of the tree's
 * free edges. False when no tour is left. */
static bool fix_by_bound(search *s, const double *price, double bound) {
    int n = s->n, special = s->special;
    double gap = s->cut - bound;
    double *weight = s->reach; /* [n]: of the edge to the parent */
    for (int v = 0; v < n; v++) {
        s->removal[v] = INFINITY;
        if (v != special && s->parent[v] >= 0) weight[v] = tree_weight(s, v, price);
    }
    for (int i = 0; i < n; i++) {
        const double *row = s->key + (size_t)i * (size_t)n;
        if (i == special) continue;
        for (int j = 0; j < i; j++) {
            if (j == special || row[j] == SHUT || row[j] == FORCED) continue;
            if (s->parent[i] == j || s->parent[j] == i) continue;
            double enter = row[j] + price[i] + price[j], leave = -INFINITY;
            for (int a = i, b = j; a != b;) {
                int *low = s->rank[a] > s->rank[b] ? &a : &b;
                if (weight[*low] > leave) leave = weight[*low];
                *low = s->parent[*low];
            }
            if (enter - leave >= gap) {
                if (!fix(s, i, j, SHUT)) return false;
                continue;
            }
            for (int a = i, b = j; a != b;) {
                int *low = s->rank[a] > s->rank[b] ? &a : &b;
                if (enter - weight[*low] < s->removal[*low]) s->removal[*low] = enter - weight[*low];
                *low = s->parent[*low];
            }
        }
    }
    /* The special city: another edge replaces its longer one. */
    double laden[2];
    for (int e = 0; e < 2; e++) {
        double key = *key_of(s, special, s->ends[e]);
        laden[e] = key == FORCED ? -HUGE_VAL : key + price[s->ends[e]];
        s->end_removal[e] = INFINITY;
    }
    for (int v = 0; v < n; v++) {
        double key = *key_of(s, special, v);
        if (v == special || v == s->ends[0] || v == s->ends[1] || key == SHUT) continue;
        double enter = key + price[v];
        if (enter - laden[1] >= gap) {
            if (!fix(s, special, v, SHUT)) return false;
            continue;
        }
        for (int e = 0; e < 2; e++)
            if (enter - laden[e] < s->end_removal[e]) s->end_removal[e] = enter - laden[e];
    }
    for (int v = 0; v < n; v++)
        if (v != special && s->parent[v] >= 0 && weight[v] != -HUGE_VAL && s->removal[v] >= gap)
            if (!fix(s, v, s->parent[v], FORCED)) return false;
    for (int e = 0; e < 2; e++)
        if (laden[e] != -HUGE_VAL && s->end_removal[e] >= gap)
            if (!fix(s, special, s->ends[e], FORCED)) return false;
    return propagate(s);
}

/* Whether every edge of the tree is still open. */
static bool tree_is_open(search *s) {
    for (int v = 0; v < s->n; v++)
        if (v != s->special && s->parent[v] >= 0 && *key_of(s, v, s->parent[v]) == SHUT) return false;
    for (int e = 0; e < 2; e++)
        if (*key_of(s, s->special, s->ends[e]) == SHUT) return false;
    return true;
}

/* ---- Branching --------------------------------------------------------------------------------------- */

static void offer(search *s, choice *c, int city, int to, double cost) {
    if (s->degree[city] < 3 || *key_of(s, city, to) == FORCED) return;
    choice *own = &c[city];
    if (own->to[0] < 0 || cost > own->cost[0]) {
        own->to[1] = own->to[0], own->cost[1] = own->cost[0];
        own->to[0] = to, own->cost[0] = cost;
    } else if (own->to[1] < 0 || cost > own->cost[1]) {
        own->to[1] = to, own->cost[1] = cost;
    }
}

/* One child of a node: edges at a city to be forced or shut; -1: none. */
typedef struct fixing {
    int city, force[2], shut;
} fixing;

/* Returns how many children there are. The tours of a node are those of its children. */
static int children(const search *s, const choice *c, fixing child[3]) {
    int city = c->city, first = c->to[0], second = c->to[1];
    child[0] = (fixing){city, {-1, -1}, first};
    child[1] = (fixing){city, {first, -1}, second};
    child[2] = (fixing){city, {first, second}, -1};
    if (!s->forced[city]) return 3;
    child[1].shut = -1; /* it follows, since the city has two forced edges then */
    return 2;
}

/* Fixes the child's edges and what follows from them; false when no tour is left (or memory is out). */
static bool enter(search *s, const fixing *f) {
    bool possible = true;
    for (int i = 0; i < 2 && possible; i++)
        if (f->force[i] >= 0) possible = fix(s, f->city, f->force[i], FORCED);
    if (possible && f->shut >= 0) possible = fix(s, f->city, f->shut, SHUT);
    return propagate(s) && possible;
}

/* Returns how much work is left below a node that branches so: e to the power of each child's gap in units of
 * DECLINE. */
static double remaining_work(search *s, const choice *c, const double *price) {
    fixing child[3];
    int count = children(s, c, child);
    double work = 0;
    for (int i = 0; i < count; i++) {
        size_t size = s->trail_size;
        double bound = enter(s, &child[i]) ? build_tree(s, price) : (double)INFINITY;
        if (bound < s->cut) work += exp((s->cut - bound) / (DECLINE * s->e->length));
        undo(s, size);
    }
    return work;
}

static int by_score(const void *a, const void *b) {
    const choice *x = a, *y = b;
    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    return x->city - y->city;
}

/* Chooses where to branch. Overwrites the tree. */
static choice choose_branch(search *s, const double *price) {
    choice *all = s->choices;
    int count = 0;
    for (int v = 0; v < s->n; v++) all[v] = (choice){v, {-1, -1}, {0, 0}, 0};
    for (int v = 0; v < s->n; v++) {
        if (v == s->special || s->parent[v] < 0) continue;
        offer(s, all, v, s->parent[v], s->removal[v]);
        offer(s, all, s->parent[v], v, s->removal[v]);
    }
    for (int e = 0; e < 2; e++) offer(s, all, s->ends[e], s->special, s->end_removal[e]);
    for (int v = 0; v < s->n; v++) {
        if (all[v].to[1] < 0) continue;
        choice c = all[v];
        c.score = c.cost[1] + 1e-3 * c.cost[0] + (s->forced[v] ? c.cost[1] : 0);
        all[count++] = c;
    }
    qsort(all, (size_t)count, sizeof *all, by_score);
    choice best = all[0];
    double least = INFINITY;
    for (int i = 0; i < count && i < CANDIDATES && count > 1; i++) {
        choice c = all[i];
        double work = remaining_work(s, &c, price);
        if (work < least) least = work, best = c;
    }
    return best;
}

/* ---- The search -------------------------------------------------------------------------------------- */

/* Keeps the subtree at which the search stands, for later. */
static bool keep_subtree(search *s, const double *price, double bound) {
    subtree_list *left = &s->e->left;
    size_t n = (size_t)s->n, undecided = 0, forced = 0;
    if (!array_reserve(&left->list, &left->room, left->count + 1, sizeof *left->list)) return false;
    for (size_t i = 0; i < n; i++) undecided += (size_t)s->open[i], forced += (size_t)s->forced[i];
    subtree *sub = &left->list[left->count];
    *sub = (subtree){.bound = bound, .edges = (int)(undecided / 2), .forced = (int)(forced / 2)};
    sub->price = array_new(n, sizeof *sub->price);
    sub->edge = array_new((size_t)sub->edges, sizeof *sub->edge);
    left->count++;
    if (!sub->price || !sub->edge) return false;
    memcpy(sub->price, price, n * sizeof *price);
    int first = 0, next = sub->forced;
    for (int i = 0; i < s->n; i++)
        for (int j = 0; j < i; j++) {
            double key = *key_of(s, i, j);
            if (key == SHUT) continue;
            int32_t *edge = sub->edge[key == FORCED ? first++ : next++];
            edge[0] = i, edge[1] = j;
        }
    return true;
}

static void explore(search *s, int depth, double parent_bound) {
    size_t n = (size_t)s->n;
    exploration *e = s->e;
    if (s->no_memory || parent_bound >= s->cut) return;
    if (!array_reserve(&s->prices, &s->price_room, ((size_t)depth + 1) * n, sizeof *s->prices)) {
        s->no_memory = true;
        return;
    }
    double *price = s->prices + (size_t)depth * n, bound;
    if ((e->end > 0 && clock_seconds() > e->end) || tsp_stopped(e->limit)) e->stopped = true;
    if (e->stopped || (e->most && e->nodes >= e->most)) {
        s->no_memory = !keep_subtree(s, price - n, parent_bound);
        return;
    }
    e->nodes++;
    memcpy(price, price - n, n * sizeof *price);
    for (;;) {
        bound = raise_bound(s, price, &s->effort);
        s->effort = NODE;
        if (bound >= s->cut) return;
        bound = build_tree(s, price);
        if (!fix_by_bound(s, price, bound)) return;
        if (tree_is_open(s)) break;
    }
    if (bound < parent_bound) bound = parent_bound;
    choice c = choose_branch(s, price);
    fixing child[3];
    int count = children(s, &c, child);
    for (int i = 0; i < count; i++) {
        size_t size = s->trail_size;
        if (enter(s, &child[i])) explore(s, depth + 1, bound);
        undo(s, size);
    }
}

/* Returns the city whose second-nearest neighbour is farthest: its two edges add most to the bound. */
static int special_city(const onet_tsp *t) {
    int special = 0;
    double most = -1;
    for (int i = 0; i < t->n; i++) {
        double first = INFINITY, second = INFINITY;
        for (int j = 0; j < t->n; j++) {
            double d = onet_tsp_distance(t, i, j);
            if (i == j) continue;
            if (d < first)
                second = first, first = d;
            else if (d < second)
                second = d;
        }
        if (second > most) most = second, special = i;
    }
    return special;
}

static void free_search(search *s) {
    free(s->key);
    free(s->trail);
    free(s->prices);
    free(s->choices);
    free(s->doubles);
    free(s->ints);
    free(s->is_dirty);
}

static bool new_search(search *s, const onet_tsp *t) {
    size_t n = (size_t)t->n;
    *s = (search){.t = t, .n = t->n};
    s->key = array_new(n * n, sizeof *s->key);
    s->choices = array_new(n, sizeof *s->choices);
    s->doubles = array_new(5 * n, sizeof *s->doubles);
    s->ints = array_new(8 * n, sizeof *s->ints);
    s->is_dirty = array_new(n, sizeof *s->is_dirty);
    if (!s->key || !s->choices || !s->doubles || !s->ints || !s->is_dirty) return false;
    double **doubles[] = {&s->removal, &s->reach, &s->toll, &s->price, &s->last};
    int **ints[] = {&s->open, &s->forced, &s->dirty, &s->parent, &s->rank, &s->degree, &s->list, &s->from};
    for (size_t i = 0; i < 5; i++) *doubles[i] = s->doubles + i * n;
    for (size_t i = 0; i < 8; i++) *ints[i] = s->ints + i * n;
    s->special = special_city(t);
    return array_reserve(&s->prices, &s->price_room, n, sizeof *s->prices);
}

/* Fixes the edges of a subtree, or none for the whole tree. */
static void begin(search *s, const subtree *from) {
    size_t n = (size_t)s->n;
    s->effort = from->price ? NODE : ROOT;
    if (!from->price) {
        memset(s->prices, 0, n * sizeof *s->prices);
        memcpy(s->key, s->t->dist, n * n * sizeof *s->key);
        for (int i = 0; i < s->n; i++) {
            *key_of(s, i, i) = SHUT;
            s->open[i] = s->n - 1;
        }
        return;
    }
    memcpy(s->prices, from->price, n * sizeof *s->prices);
    for (size_t i = 0; i < n * n; i++) s->key[i] = SHUT;
    for (int e = 0; e < from->edges; e++) {
        int i = from->edge[e][0], j = from->edge[e][1];
        bool forced = e < from->forced;
        *key_of(s, i, j) = *key_of(s, j, i) = forced ? FORCED : onet_tsp_distance(s->t, i, j);
        s->open[i]++, s->open[j]++;
        s->forced[i] += forced, s->forced[j] += forced;
    }
}

bool subtree_explore(const onet_tsp *t, const subtree *from, exploration *e) {
    search s;
    bool ready = new_search(&s, t);
    if (ready) {
        s.e = e;
        set_best(&s, e->length);
        begin(&s, from);
        explore(&s, 1, from->bound);
    }
    free_search(&s);
    return ready && !s.no_memory;
}

void subtree_free(subtree *s) {
    free(s->price);
    free(s->edge);
}

void subtree_list_free(subtree_list *l) {
    for (size_t i = 0; i < l->count; i++) subtree_free(&l->list[i]);
    free(l->list);
}
