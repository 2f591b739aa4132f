/* Implements onet_tsp_solve: the table of all methods (exact, heuristics, the network), from which the `tsp`
 * commands and the API choose by name. */
#include "engine/base/arguments.h"
#include "engine/base/sized.h"
#include "tasks/tours/solve/solvers.h"

const onet_choice *onet_tsp_methods(void) {
    static const onet_choice list[] = {
        {"exact", "branch and bound, with proof", ONET_TSP_EXACT},
        {"held-karp", "dynamic program, up to 20 cities", ONET_TSP_HELD_KARP},
        {"christofides", "at most half as long again as the optimum", ONET_TSP_CHRISTOFIDES},
        {"farthest", "farthest insertion", ONET_TSP_FARTHEST},
        {"nearest", "nearest neighbour", ONET_TSP_NEAREST},
        {"2opt", "2-opt and Or-opt from the nearest neighbour's tour", ONET_TSP_TWO_OPT},
        {"ordernet", "the trained net", ONET_TSP_ORDERNET},
        {0},
    };
    return list;
}

void onet_tsp_defaults(onet_tsp_options *options, size_t size) {
    onet_tsp_options own = {.size = sizeof own, .seed = 1, .symmetries = 1, .shortest = 1};
    if (options) sized_give(options, size, &own, sizeof own);
}

int onet_tsp_stop_flag(void *flag) {
    return flag && __atomic_load_n((const int *)flag, __ATOMIC_RELAXED);
}

static tsp_limit limit_of(const onet_tsp_options *options) {
    return (tsp_limit){options->seconds, options->stop, options->context};
}

typedef onet_status solver(const onet_tsp *t, const onet_tsp_options *options, int32_t *tour,
                           onet_tsp_proof *found, onet_error *err);

static onet_status exact(const onet_tsp *t, const onet_tsp_options *options, int32_t *tour,
                         onet_tsp_proof *found, onet_error *err) {
    tsp_limit limit = limit_of(options);
    if (t->asymmetric) return tsp_directed_exact(t, &limit, options->seed, tour, found, err);
    return tsp_exact(t, &limit, tour, found, err);
}

static onet_status held_karp(const onet_tsp *t, const onet_tsp_options *options, int32_t *tour,
                             onet_tsp_proof *found, onet_error *err) {
    (void)options;
    found->proven = true;
    return tsp_held_karp(t, tour, err);
}

static onet_status christofides(const onet_tsp *t, const onet_tsp_options *options, int32_t *tour,
                                onet_tsp_proof *found, onet_error *err) {
    (void)options, (void)found;
    if (t->asymmetric)
        return fail(err, ONET_USAGE,
                    "christofides needs distances that are the same in both directions; these are not");
    return tsp_christofides(t, tour, err);
}

static onet_status farthest(const onet_tsp *t, const onet_tsp_options *options, int32_t *tour,
                            onet_tsp_proof *found, onet_error *err) {
    (void)options, (void)found;
    return tsp_farthest(t, tour, err);
}

static onet_status nearest(const onet_tsp *t, const onet_tsp_options *options, int32_t *tour,
                           onet_tsp_proof *found, onet_error *err) {
    (void)options, (void)found;
    return tsp_nearest(t, 0, tour, err);
}

static onet_status two_opt(const onet_tsp *t, const onet_tsp_options *options, int32_t *tour,
                           onet_tsp_proof *found, onet_error *err) {
    (void)found;
    tsp_limit limit = limit_of(options);
    if (t->asymmetric) return tsp_directed(t, options->kicks, &limit, options->seed, tour, err);
    onet_status status = options->farthest ? tsp_farthest(t, tour, err) : tsp_nearest(t, 0, tour, err);
    return status ? status : tsp_local(t, options->kicks, &limit, options->seed, tour, err);
}

static onet_status ordernet(const onet_tsp *t, const onet_tsp_options *options, int32_t *tour,
                            onet_tsp_proof *found, onet_error *err) {
    (void)found;
    return onet_tsp_net_tours(options->net, t, 1, ONET_TSP_FITTED, options->symmetries,
                              options->shortest ? NULL : &tour, options->shortest ? &tour : NULL, err);
}

static onet_status check(const onet_tsp *t, onet_tsp_method method, const onet_tsp_options *options,
                         onet_error *err) {
    if ((unsigned)method >= ONET_TSP_METHODS)
        return fail(err, ONET_USAGE, "there is no method number %d", (int)method);
    if (options->kicks < 0)
        return fail(err, ONET_USAGE, "%lld kicks: 0 or more are possible", (long long)options->kicks);
    if (!(options->seconds >= 0)) return fail(err, ONET_USAGE, "the time limit is %g s", options->seconds);
    if (method == ONET_TSP_ORDERNET && !options->net)
        return fail(err, ONET_USAGE, "the method 'ordernet' needs a net (onet_tsp_net_new)");
    return tsp_check(t, err);
}

static onet_status improve(const onet_tsp *t, const onet_tsp_options *options, int32_t *tour,
                           onet_tsp_proof *found, onet_error *err) {
    tsp_limit limit = limit_of(options);
    found->before = onet_tsp_length(t, tour);
    return tsp_local(t, options->kicks, &limit, options->seed, tour, err);
}

onet_status onet_tsp_solve(const onet_tsp *t, onet_tsp_method method, const onet_tsp_options *given,
                           int32_t *tour, onet_tsp_proof *proof, onet_error *err) {
    static solver *const solvers[ONET_TSP_METHODS] = {
        [ONET_TSP_EXACT] = exact,
        [ONET_TSP_HELD_KARP] = held_karp,
        [ONET_TSP_CHRISTOFIDES] = christofides,
        [ONET_TSP_FARTHEST] = farthest,
        [ONET_TSP_NEAREST] = nearest,
        [ONET_TSP_TWO_OPT] = two_opt,
        [ONET_TSP_ORDERNET] = ordernet,
    };
    NEED(t, "t");
    NEED(tour, "tour");
    onet_tsp_options options;
    onet_tsp_defaults(&options, sizeof options);
    onet_tsp_proof found = {0};
    onet_status status = sized_take(&options, sizeof options, given, "onet_tsp_options", err);
    if (!status) status = check(t, method, &options, err);
    if (!status) status = solvers[method](t, &options, tour, &found, err);
    if (!status && options.improve && !found.proven) status = improve(t, &options, tour, &found, err);
    if (status) return status;
    tsp_finish(t, tour, &found);
    if (proof) *proof = found;
    return ONET_OK;
}
