/* Writes tours for people and other programs: the stops in their order with the distances between them, as
 * CSV or JSON. Used by `tsp solve`. */
#ifndef TOURS_ROUTE_H
#define TOURS_ROUTE_H

#include "engine/base/file.h"
#include "tasks/tours/load.h"

/* A tour of instance `instance` of a file, and what is known of it. */
typedef struct route {
    const tsp_file *file;
    size_t instance;
    const onet_tsp *t;
    const int32_t *tour; /* [n] */
    const char *method;
    const onet_tsp_proof *proof;
} route;

/* The cities, and the first of them again. */
static inline int route_stops(const route *r) {
    return r->t->n > 1 ? r->t->n + 1 : 1;
}

/* The city at a stop. *total: how far in all, added up by the caller.
 */
static inline int route_stop(const route *r, int stop, double *leg, double *total) {
    int n = r->t->n, city = r->tour[stop < n ? stop : 0];
    *leg = stop ? onet_tsp_distance(r->t, r->tour[stop - 1], city) : 0;
    *total += *leg;
    return city;
}

/* A file that ends in .csv has a row per stop, one in .json or .jsonl an object per tour. ONET_USAGE for
 * other names. */
onet_status route_check(const char *path, onet_error *err);
void route_begin(output *out, const char *path, const tsp_file *file);
onet_status route_put(output *out, const char *path, const route *r, onet_error *err);

#endif
