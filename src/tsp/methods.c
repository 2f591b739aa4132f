/* The table of solvers that tsp solve, compare and evaluate choose from. */
#include "tsp/methods.h"

const onet_choice *tsp_methods(void) {
    static const onet_choice list[] = {
        {"exact", "branch and bound, with proof", TSP_EXACT},
        {"held-karp", "dynamic program, up to 20 cities", TSP_HELD_KARP},
        {"christofides", "at most half as long again as the optimum", TSP_CHRISTOFIDES},
        {"farthest", "farthest insertion", TSP_FARTHEST},
        {"nearest", "nearest neighbour", TSP_NEAREST},
        {"2opt", "2-opt and Or-opt from the nearest neighbour's tour", TSP_TWO_OPT},
        {"ordernet", "the trained net", TSP_ORDERNET},
        {0},
    };
    return list;
}

typedef onet_status solver(const tsp_instance *t, const tsp_effort *effort, int32_t *tour, tsp_proof *found,
                           onet_error *err);

static onet_status exact(const tsp_instance *t, const tsp_effort *effort, int32_t *tour, tsp_proof *found,
                         onet_error *err) {
    return tsp_exact(t, effort->seconds, tour, found, err);
}

static onet_status held_karp(const tsp_instance *t, const tsp_effort *effort, int32_t *tour, tsp_proof *found,
                             onet_error *err) {
    (void)effort;
    found->proven = true;
    return tsp_held_karp(t, tour, err);
}

static onet_status christofides(const tsp_instance *t, const tsp_effort *effort, int32_t *tour,
                                tsp_proof *found, onet_error *err) {
    (void)effort, (void)found;
    return tsp_christofides(t, tour, err);
}

static onet_status farthest(const tsp_instance *t, const tsp_effort *effort, int32_t *tour, tsp_proof *found,
                            onet_error *err) {
    (void)effort, (void)found;
    return tsp_farthest(t, tour, err);
}

static onet_status nearest(const tsp_instance *t, const tsp_effort *effort, int32_t *tour, tsp_proof *found,
                           onet_error *err) {
    (void)effort, (void)found;
    return tsp_nearest(t, 0, tour, err);
}

static onet_status two_opt(const tsp_instance *t, const tsp_effort *effort, int32_t *tour, tsp_proof *found,
                           onet_error *err) {
    (void)found;
    onet_status status = tsp_nearest(t, 0, tour, err);
    return status ? status : tsp_local(t, effort->kicks, effort->seconds, effort->seed, tour, err);
}

static onet_status ordernet(const tsp_instance *t, const tsp_effort *effort, int32_t *tour, tsp_proof *found,
                            onet_error *err) {
    (void)found;
    return tsp_net_tours(effort->net, t, 1, TSP_FITTED, effort->symmetries, effort->shortest ? NULL : &tour,
                         effort->shortest ? &tour : NULL, err);
}

onet_status tsp_solve(const tsp_instance *t, tsp_method method, const tsp_effort *effort, int32_t *tour,
                      tsp_proof *proof, onet_error *err) {
    static solver *const solvers[TSP_METHODS] = {
        [TSP_EXACT] = exact,       [TSP_HELD_KARP] = held_karp, [TSP_CHRISTOFIDES] = christofides,
        [TSP_FARTHEST] = farthest, [TSP_NEAREST] = nearest,     [TSP_TWO_OPT] = two_opt,
        [TSP_ORDERNET] = ordernet,
    };
    tsp_proof found = {0};
    onet_status status = solvers[method](t, effort, tour, &found, err);
    if (status) return status;
    tsp_finish(t, tour, &found);
    if (proof) *proof = found;
    return ONET_OK;
}
