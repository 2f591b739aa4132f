#include "tsp/methods.h"

#include <string.h>

static const char *const names[TSP_METHODS] = {"exact",   "held-karp", "christofides", "farthest",
                                               "nearest", "2opt",      "ordernet"};

const char *tsp_method_name(tsp_method method) {
    return names[method];
}

tsp_method tsp_method_find(const char *name, size_t length) {
    int m = 0;
    while (m < TSP_METHODS && (strlen(names[m]) != length || memcmp(names[m], name, length))) m++;
    return (tsp_method)m;
}

static onet_status two_opt(const tsp_instance *t, const tsp_effort *effort, int32_t *tour, onet_error *err) {
    onet_status status = tsp_nearest(t, 0, tour, err);
    return status ? status : tsp_local(t, effort->kicks, effort->seconds, effort->seed, tour, err);
}

onet_status tsp_solve(const tsp_instance *t, tsp_method method, const tsp_effort *effort, int32_t *tour,
                      tsp_proof *proof, onet_error *err) {
    tsp_proof found = {0};
    onet_status status;
    switch (method) {
    case TSP_EXACT:
        status = tsp_exact(t, effort->seconds, tour, &found, err);
        break;
    case TSP_HELD_KARP:
        status = tsp_held_karp(t, tour, err);
        found.proven = true;
        break;
    case TSP_CHRISTOFIDES:
        status = tsp_christofides(t, tour, err);
        break;
    case TSP_FARTHEST:
        status = tsp_farthest(t, tour, err);
        break;
    case TSP_NEAREST:
        status = tsp_nearest(t, 0, tour, err);
        break;
    case TSP_TWO_OPT:
        status = two_opt(t, effort, tour, err);
        break;
    default:
        status = tsp_net_tours(effort->net, t, 1, TSP_FITTED, effort->symmetries,
                               effort->shortest ? NULL : &tour, effort->shortest ? &tour : NULL, err);
    }
    if (status) return status;
    tsp_canonical(t, tour);
    found.length = tsp_length(t, tour);
    if (found.proven) found.bound = found.length;
    if (proof) *proof = found;
    return ONET_OK;
}
