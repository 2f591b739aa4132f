/* Improves tours by local search: 2-opt and Or-opt moves over short neighbour lists, and a long search that
 * perturbs the tour with small double bridges and repairs it.
 *
 * The tour is an array with the position of every city beside it. All moves are made of 2-opt moves, which
 * reverse the shorter of the two paths. Cities whose surroundings changed wait in a stack; a search ends
 * when the stack is empty.
 *
 * Where costs depend on the direction, a reversed path costs something else. Then the only move is to
 * exchange two neighbouring paths of any length (or-3-opt, which has Or-opt moves as a special case), and a
 * kick turns three of them, A B C to C B A, which no such exchange undoes. */
#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/rng.h"
#include "tasks/tours/solve/solvers.h"

#include <stdlib.h>
#include <string.h>

enum { NEIGHBOURS = 8, DIRECTED_NEIGHBOURS = 16, LONGEST_SEGMENT = 3, KICK_REACH = 30 };

typedef struct search {
    bool directed;      /* costs depend on the direction */
    int n, k;           /* k: neighbours listed per city */
    const double *dist; /* [n, n] */
    int32_t *tour;      /* [n] */
    int32_t *pos;       /* [n]: tour[pos[city]] == city */
    int32_t *near;      /* [n, k]: nearest first */
    int32_t *stack;     /* [n]: cities to check */
    bool *waiting;      /* [n]: is in the stack */
    int32_t *moved;     /* [n]: cities in a new order, before they are written back; if directed */
    int waits;
    double least_gain; /* smaller gains are rounding */
} search;

static double dist(const search *s, int i, int j) {
    return s->dist[(size_t)i * (size_t)s->n + (size_t)j];
}

static int succ(const search *s, int city) {
    int p = s->pos[city] + 1;
    return s->tour[p < s->n ? p : 0];
}

static int pred(const search *s, int city) {
    int p = s->pos[city];
    return s->tour[p ? p - 1 : s->n - 1];
}

static void look_at(search *s, int city) {
    if (s->waiting[city]) return;
    s->waiting[city] = true;
    s->stack[s->waits++] = city;
}

/* Reverses the path from position i forwards to position j, or the rest of the tour, which is the same. */
static void reverse(search *s, int i, int j) {
    int n = s->n, inside = j - i + 1;
    if (inside <= 0) inside += n;
    if (2 * inside > n) {
        int first = j + 1 < n ? j + 1 : 0;
        j = i ? i - 1 : n - 1;
        i = first;
        inside = n - inside;
    }
    for (int swaps = inside / 2; swaps > 0; swaps--) {
        int32_t a = s->tour[i], b = s->tour[j];
        s->tour[i] = b;
        s->pos[b] = i;
        s->tour[j] = a;
        s->pos[a] = j;
        if (++i == n) i = 0;
        if (--j < 0) j = n - 1;
    }
}

/* Replaces edges (a,b) and (c,d) by (a,c) and (b,d); b follows a and d follows c in the same direction. */
static void exchange(search *s, int a, int b, int c, int d) {
    if (succ(s, a) == b)
        reverse(s, s->pos[b], s->pos[c]);
    else
        reverse(s, s->pos[a], s->pos[d]);
}

/* Returns the next city of the tour, in one direction or the other. */
static int step(const search *s, int city, bool forward) {
    return forward ? succ(s, city) : pred(s, city);
}

static double try_two_opt(search *s, int a, bool forward) {
    int b = step(s, a, forward);
    for (int k = 0; k < s->k; k++) {
        int c = s->near[a * s->k + k];
        double first = dist(s, a, b) - dist(s, a, c);
        if (first <= s->least_gain) break;
        int d = step(s, c, forward);
        double gain = first + dist(s, c, d) - dist(s, b, d);
        if (gain <= s->least_gain) continue;
        exchange(s, a, b, c, d);
        look_at(s, a), look_at(s, b), look_at(s, c), look_at(s, d);
        return gain;
    }
    return 0;
}

/* Moves a segment of 1 to 3 cities that begins at `a` and runs in the given direction to another place, so
 * that `a` comes next to one of its neighbours. */
static double try_or_opt(search *s, int a, bool forward) {
    int before = step(s, a, !forward), end = a, segment[LONGEST_SEGMENT];
    for (int size = 1; size <= LONGEST_SEGMENT && size + 3 <= s->n; size++) {
        if (size > 1) end = step(s, end, forward);
        segment[size - 1] = end;
        int after = step(s, end, forward);
        double taken = dist(s, before, a) + dist(s, end, after) - dist(s, before, after);
        for (int k = 0; k < s->k; k++) {
            int c = s->near[a * s->k + k];
            if (taken - dist(s, a, c) <= s->least_gain) break;
            bool inside = false;
            for (int i = 0; i < size; i++) inside = inside || segment[i] == c;
            if (inside) continue;
            for (int side = 0; side < 2; side++) {
                /* side 0: the place lies between d and c (segment turned), side 1: between c and d. */
                int d = step(s, c, side ? forward : !forward);
                if ((side == 0 && c == after) || (side == 1 && c == before)) continue;
                double gain = taken - dist(s, a, c) - dist(s, end, d) + dist(s, c, d);
                if (gain <= s->least_gain) continue;
                int u = side ? c : d, v = side ? d : c;
                exchange(s, before, a, u, v);
                exchange(s, before, u, after, end);
                if (side) exchange(s, u, end, a, v);
                look_at(s, before), look_at(s, after), look_at(s, a), look_at(s, end), look_at(s, c),
                    look_at(s, d);
                return gain;
            }
        }
    }
    return 0;
}

/* Exchanges the path of size1 cities from position `from` on with that of size2 cities behind it. */
static void exchange_paths(search *s, int from, int size1, int size2) {
    int n = s->n;
    for (int i = 0; i < size1 + size2; i++)
        s->moved[i] = s->tour[(from + (i < size2 ? size1 + i : i - size2)) % n];
    for (int i = 0; i < size1 + size2; i++) {
        int p = (from + i) % n;
        s->tour[p] = s->moved[i];
        s->pos[s->moved[i]] = p;
    }
}

/* Exchanges the paths b .. c and d .. e, where a comes before b and f after e. Of a cycle of three paths any
 * two may be exchanged instead, with the same result: the longest stays where it is. */
static void exchange_between(search *s, int a, int b, int c, int d, int e, int f) {
    int n = s->n;
    int size[3] = {(s->pos[c] - s->pos[b] + n) % n + 1, (s->pos[e] - s->pos[d] + n) % n + 1, 0};
    size[2] = n - size[0] - size[1];
    int start[3] = {b, d, f}, stays = 0;
    for (int i = 1; i < 3; i++)
        if (size[i] > size[stays]) stays = i;
    int first = (stays + 1) % 3, second = (stays + 2) % 3;
    exchange_paths(s, s->pos[start[first]], size[first], size[second]);
    look_at(s, a), look_at(s, b), look_at(s, c), look_at(s, d), look_at(s, e), look_at(s, f);
}

/* Exchanges two neighbouring paths behind `a`, so that one of its neighbours comes after it. The new edges
 * a -> d, c -> f, e -> b are tried in this order, and every partial gain must be positive (Lin and
 * Kernighan's gain criterion). An exchange that helps has a cyclic order with positive partial gains, so it
 * is found from one of its three cities. */
static double try_exchange(search *s, int a) {
    int n = s->n, b = succ(s, a), from = s->pos[b];
    for (int k = 0; k < s->k; k++) {
        int d = s->near[a * s->k + k], c = pred(s, d);
        double first = dist(s, a, b) - dist(s, a, d);
        if (first <= s->least_gain) break;
        if (d == b) continue;
        int reach = (s->pos[d] - from + n) % n; /* f lies behind d, and may be a itself */
        double second = first + dist(s, c, d);
        for (int l = 0; l < s->k; l++) {
            int f = s->near[c * s->k + l];
            if (second - dist(s, c, f) <= s->least_gain) break;
            if ((s->pos[f] - from + n) % n <= reach) continue;
            int e = pred(s, f);
            double gain = second - dist(s, c, f) + dist(s, e, f) - dist(s, e, b);
            if (gain <= s->least_gain) continue;
            exchange_between(s, a, b, c, d, e, f);
            return gain;
        }
    }
    return 0;
}

/* Empties the stack; returns by how much the tour became shorter. */
static double mend(search *s) {
    double total = 0;
    while (s->waits) {
        int city = s->stack[--s->waits];
        s->waiting[city] = false;
        double gain = s->directed ? try_exchange(s, city) : 0;
        for (int forward = 0; forward < 2 && gain == 0 && !s->directed; forward++) {
            gain = try_two_opt(s, city, forward);
            if (gain == 0) gain = try_or_opt(s, city, forward);
        }
        total += gain;
        if (gain > 0) look_at(s, city);
    }
    return total;
}

/* Swaps two neighbouring short paths: a double bridge that no 2-opt or Or-opt move undoes at once. Returns
 * by how much the tour became longer. */
static double kick(search *s, rng *r) {
    int n = s->n, reach = n / 3 < KICK_REACH ? n / 3 : KICK_REACH;
    int from = (int)rng_below(r, (uint64_t)n);
    int size1 = 1 + (int)rng_below(r, (uint64_t)reach), size2 = 1 + (int)rng_below(r, (uint64_t)reach);
    int32_t moved[2 * KICK_REACH] = {0};
    int a = s->tour[from], b, c, d, e, f;
    for (int i = 0; i < size1 + size2; i++) moved[i] = s->tour[(from + 1 + i) % n];
    b = moved[0], c = moved[size1 - 1], d = moved[size1], e = moved[size1 + size2 - 1];
    f = s->tour[(from + 1 + size1 + size2) % n];
    for (int i = 0; i < size1 + size2; i++) {
        int city = moved[i < size2 ? size1 + i : i - size2], p = (from + 1 + i) % n;
        s->tour[p] = city;
        s->pos[city] = p;
    }
    look_at(s, a), look_at(s, b), look_at(s, c), look_at(s, d), look_at(s, e), look_at(s, f);
    return dist(s, a, d) + dist(s, e, b) + dist(s, c, f) - dist(s, a, b) - dist(s, c, d) - dist(s, e, f);
}

/* Turns three neighbouring short paths, A B C to C B A. Returns by how much the tour became longer. */
static double directed_kick(search *s, rng *r) {
    int n = s->n, reach = n / 4 < KICK_REACH ? n / 4 : KICK_REACH, size[3], from[3];
    int at = (int)rng_below(r, (uint64_t)n), before = s->tour[at], end = at + 1;
    for (int i = 0; i < 3; i++) {
        from[i] = end % n;
        size[i] = 1 + (int)rng_below(r, (uint64_t)reach);
        end += size[i];
    }
    int a = s->tour[from[0]], b = s->tour[from[1]], c = s->tour[from[2]], after = s->tour[end % n];
    int a_end = pred(s, b), b_end = pred(s, c), c_end = pred(s, after);
    double was = dist(s, before, a) + dist(s, a_end, b) + dist(s, b_end, c) + dist(s, c_end, after);
    exchange_paths(s, from[0], size[0], size[1]);           /* B A C */
    exchange_paths(s, from[0], size[0] + size[1], size[2]); /* C B A */
    look_at(s, before), look_at(s, a), look_at(s, a_end), look_at(s, b);
    look_at(s, b_end), look_at(s, c), look_at(s, c_end), look_at(s, after);
    return dist(s, before, c) + dist(s, c_end, b) + dist(s, b_end, a) + dist(s, a_end, after) - was;
}

static void list_neighbours(search *s) {
    for (int i = 0; i < s->n; i++) {
        int32_t *list = s->near + i * s->k;
        int have = 0;
        for (int j = 0; j < s->n; j++) {
            if (j == i) continue;
            if (have == s->k && dist(s, i, j) >= dist(s, i, list[have - 1])) continue;
            int at = have < s->k ? have++ : have - 1;
            for (; at > 0 && dist(s, i, list[at - 1]) > dist(s, i, j); at--) list[at] = list[at - 1];
            list[at] = j;
        }
    }
}

static void long_search(search *s, int32_t *best, int64_t kicks, const tsp_limit *limit, uint64_t seed) {
    size_t bytes = (size_t)s->n * sizeof *best;
    double seconds = limit ? limit->seconds : 0, end = clock_seconds() + seconds;
    rng r;
    rng_seed(&r, seed, 0);
    for (int64_t i = 0; i < kicks; i++) {
        if (i % 64 == 0 && ((seconds > 0 && clock_seconds() > end) || tsp_stopped(limit))) break;
        double longer = s->directed ? directed_kick(s, &r) : kick(s, &r);
        longer -= mend(s);
        if (longer <= 0) {
            memcpy(best, s->tour, bytes);
        } else {
            memcpy(s->tour, best, bytes);
            for (int p = 0; p < s->n; p++) s->pos[best[p]] = p;
        }
    }
}

onet_status tsp_local(const onet_tsp *t, int64_t kicks, const tsp_limit *limit, uint64_t seed, int32_t *tour,
                      onet_error *err) {
    bool directed = t->asymmetric;
    int n = t->n, k = directed ? DIRECTED_NEIGHBOURS : NEIGHBOURS;
    if (n < (directed ? 3 : 5)) return ONET_OK; /* too few cities for the moves below */
    if (k > n - 1) k = n - 1;
    search s = {.directed = directed,
                .n = n,
                .k = k,
                .dist = t->dist,
                .least_gain = 1e-13 * onet_tsp_length(t, tour)};
    size_t size = (size_t)n;
    int32_t *block = array_new(size * (size_t)(3 + k + directed), sizeof *block);
    s.waiting = array_new(size, sizeof *s.waiting);
    if (!block || !s.waiting) {
        free(block);
        free(s.waiting);
        return fail_memory(err, "local search");
    }
    s.tour = block, s.pos = block + n, s.stack = block + 2 * n, s.near = block + 3 * n;
    s.moved = directed ? block + (3 + k) * n : NULL;
    list_neighbours(&s);
    for (int p = n - 1; p >= 0; p--) {
        s.tour[p] = tour[p];
        s.pos[tour[p]] = p;
        look_at(&s, tour[p]);
    }
    mend(&s);
    memcpy(tour, s.tour, size * sizeof *tour);
    if (n >= 8) long_search(&s, tour, kicks, limit, seed);
    free(block);
    free(s.waiting);
    return ONET_OK;
}
