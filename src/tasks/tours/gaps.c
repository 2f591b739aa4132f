/* Measures one row of the table of `tsp eval`: solves the instances of one size with Christofides, farthest
 * insertion, 2-opt and the net (greedy, most probable and shortest of the beam, shortest of 8 symmetries),
 * and averages lengths and gaps to the tours given with the instances. Without a net its columns are NaN. */
#include "tasks/tours/gaps.h"

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "tasks/tours/load.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[GAP_METHODS] = {
    "reference",       "christofides", "farthest",          "2opt",
    "ordernet greedy", "ordernet",     "ordernet shortest", "ordernet symmetries",
};

const char *gap_method_name(gap_method method) {
    return names[method];
}

/* Sums of a value and its square. */
typedef struct sums {
    double one, two;
} sums;

static void add(sums *s, double value) {
    s->one += value;
    s->two += value * value;
}

static onet_measure mean(const sums *s, size_t count) {
    double m = s->one / (double)count, variance = s->two / (double)count - m * m;
    double half = count > 1 ? 1.96 * sqrt(fmax(variance, 0) / (double)(count - 1)) : (double)NAN;
    return (onet_measure){m, m - half, m + half};
}

/* Some of the instances, solved together. */
typedef struct piece {
    size_t room, count;
    int n;
    onet_tsp *t;                 /* [room] */
    int32_t *block;              /* [GAP_METHODS, room, n] */
    int32_t **tour[GAP_METHODS]; /* [room] each, into block */
    onet_status *status;         /* [room] */
} piece;

static void free_piece(piece *p) {
    for (size_t i = 0; p->t && i < p->room; i++) onet_tsp_free(&p->t[i]);
    for (int m = 0; m < GAP_METHODS; m++) free(p->tour[m]);
    free(p->t);
    free(p->block);
    free(p->status);
}

static onet_status new_piece(piece *p, int n, size_t room, onet_error *err) {
    *p = (piece){.room = room, .n = n};
    p->t = array_new(room, sizeof *p->t);
    p->block = array_new(GAP_METHODS * room * (size_t)n, sizeof *p->block);
    p->status = array_new(room, sizeof *p->status);
    bool good = p->t && p->block && p->status;
    for (int m = 0; m < GAP_METHODS && good; m++) {
        p->tour[m] = array_new(room, sizeof *p->tour[m]);
        good = p->tour[m] != NULL;
        for (size_t i = 0; good && i < room; i++)
            p->tour[m][i] = p->block + ((size_t)m * room + i) * (size_t)n;
    }
    return good ? ONET_OK : fail_memory(err, "the tours to compare");
}

static void solve_classic(void *arg, int job, int thread) {
    (void)thread;
    piece *p = arg;
    static const struct {
        gap_method column;
        onet_tsp_method method;
    } classics[] = {{GAP_CHRISTOFIDES, ONET_TSP_CHRISTOFIDES},
                    {GAP_FARTHEST, ONET_TSP_FARTHEST},
                    {GAP_TWO_OPT, ONET_TSP_TWO_OPT}};
    onet_tsp_options effort = {.size = sizeof effort, .seed = 1};
    for (size_t k = 0; k < sizeof classics / sizeof *classics && !p->status[job]; k++)
        p->status[job] = onet_tsp_solve(&p->t[job], classics[k].method, &effort,
                                        p->tour[classics[k].column][job], NULL, NULL);
}

static onet_status solve_piece(piece *p, const gap_setting *s, onet_error *err) {
    thread_pool_run(s->threads, (int)p->count, solve_classic, p);
    for (size_t i = 0; i < p->count; i++)
        if (p->status[i])
            return p->status[i] == ONET_MEMORY
                       ? fail_memory(err, "solving an instance")
                       : fail(err, p->status[i], "an instance of %d cities could not be solved", p->n);
    if (!s->beam) return ONET_OK;
    onet_status status =
        onet_tsp_net_tours(s->greedy, p->t, p->count, ONET_TSP_AS_IS, 1, p->tour[GAP_GREEDY], NULL, err);
    if (!status)
        status = onet_tsp_net_tours(s->beam, p->t, p->count, ONET_TSP_AS_IS, 1, p->tour[GAP_PROBABLE],
                                    p->tour[GAP_SHORTEST], err);
    if (!status)
        status =
            onet_tsp_net_tours(s->beam, p->t, p->count, ONET_TSP_AS_IS, 8, NULL, p->tour[GAP_SYMMETRIC], err);
    return status;
}

/* Puts the next instances of n cities into the piece, from number *at on. */
static onet_status fill_piece(piece *p, const tsp_cities *c, size_t *at, onet_error *err) {
    p->count = 0;
    for (; *at < c->count && p->count < p->room; ++*at) {
        if (tsp_cities_size(c, *at) != p->n) continue;
        size_t from = c->start[*at];
        onet_tsp_free(&p->t[p->count]);
        onet_status status = onet_tsp_points(&p->t[p->count], p->n, c->xy + 2 * from, err);
        if (status) return status;
        memcpy(p->tour[GAP_REFERENCE][p->count], c->order + from, (size_t)p->n * sizeof *c->order);
        p->count++;
    }
    return ONET_OK;
}

onet_status gap_measure(gap_row *row, int n, const gap_setting *s, onet_error *err) {
    *row = (gap_row){.n = n};
    if (!s->cities->order) return fail(err, ONET_BAD, "the sets have no order to compare with");
    size_t total = 0, at = 0, cells = (size_t)n * (size_t)n;
    for (size_t i = 0; i < s->cities->count; i++) total += tsp_cities_size(s->cities, i) == n;
    if (!total) return fail(err, ONET_USAGE, "there are no sets of %d cities", n);
    sums length[GAP_METHODS] = {{0}}, gap[GAP_METHODS] = {{0}};
    piece p;
    onet_status status = new_piece(&p, n, cells > 62500 ? 16 : 128, err);
    while (!status && row->count < total) {
        status = fill_piece(&p, s->cities, &at, err);
        if (!status) status = solve_piece(&p, s, err);
        for (size_t i = 0; i < p.count && !status; i++) {
            double best = onet_tsp_length(&p.t[i], p.tour[GAP_REFERENCE][i]);
            for (int m = 0; m < GAP_METHODS; m++) {
                bool net = m >= GAP_GREEDY && !s->beam;
                double l = net ? (double)NAN : onet_tsp_length(&p.t[i], p.tour[m][i]);
                add(&length[m], l);
                double over = best > 0 ? l / best - 1 : 0;
                add(&gap[m], fabs(over) < 1e-12 ? 0 : over); /* the same tour, summed from another city */
            }
        }
        row->count += p.count;
        if (!status && s->tick && s->tick(s->context, n, row->count, total))
            status = fail(err, ONET_INTERRUPTED, "stopped");
    }
    for (int m = 0; m < GAP_METHODS; m++) {
        row->length[m] = mean(&length[m], row->count);
        row->gap[m] = mean(&gap[m], row->count);
    }
    free_piece(&p);
    return status;
}
