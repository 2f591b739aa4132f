/* The C functions that the browser page calls for tours: make or read an instance, solve it. Conventions as
 * in src/front/wasm/exports.c. */
#include <stdlib.h>
#include <string.h>

#include "app/wasm_export.h"
#include "engine/base/error.h"
#include "ordernet_tsp.h"
#include "tasks/tours/load.h"

/* Makes an instance of n cities at xy [n, 2]; NULL on failure. */
EXPORT(web_tour_points) onet_tsp *web_tour_points(const double *xy, int n) {
    onet_tsp *t = calloc(1, sizeof *t);
    if (!t)
        wasm_no_memory();
    else if (onet_tsp_points(t, n, xy, &wasm_failure)) {
        free(t);
        t = NULL;
    }
    return t;
}

static onet_error odd; /* warning of what looks odd in the last file but may be intended; empty: none */

static void keep_note(const onet_error *text) {
    odd = *text;
}

EXPORT(web_tour_note) const char *web_tour_note(void) {
    return odd.text;
}

/* Reads the first instance of a file, TSPLIB or sets; NULL on failure. web_tour_note then returns a warning,
 * or "". */
EXPORT(web_tour_read) onet_tsp *web_tour_read(const char *path) {
    onet_tsp *t = calloc(1, sizeof *t);
    tsp_file file;
    if (!t) {
        wasm_no_memory();
        return NULL;
    }
    const tsp_reading how = {.note = keep_note};
    odd.text[0] = 0;
    onet_status status = tsp_load(&file, path, &how, &wasm_failure);
    if (!status) {
        status = tsp_instance_make(&file, 0, t, &wasm_failure);
        tsp_unload(&file);
    }
    if (!status) return t;
    free(t);
    return NULL;
}

EXPORT(web_tour_free) void web_tour_free(onet_tsp *t) {
    if (t) onet_tsp_free(t);
    free(t);
}

EXPORT(web_tour_size) int web_tour_size(const onet_tsp *t) {
    return t->n;
}

/* Returns the cities [n, 2]; NULL: only distances are known. */
EXPORT(web_tour_xy) const double *web_tour_xy(const onet_tsp *t) {
    return t->xy;
}

/* Writes the cities as the net sees them to items [n, 2]. Returns the status. */
EXPORT(web_tour_items) int web_tour_items(const onet_tsp *t, float *items) {
    return (int)onet_tsp_net_items(t, ONET_TSP_FITTED, items, &wasm_failure);
}

/* Finds a tour [n] by the method called `method`; model: for "ordernet" alone. proof [3]: length, bound,
 * proven. Returns the status. */
EXPORT(web_tour_solve)
int web_tour_solve(const onet_tsp *t, const char *method, const onet_model *model, double seconds,
                   int symmetries, int32_t *tour, double *proof) {
    const onet_choice *named = onet_tsp_methods();
    while (named->name && strcmp(named->name, method)) named++;
    if (!named->name) return (int)fail(&wasm_failure, ONET_USAGE, "there is no method %s", method);
    onet_tsp_options o;
    onet_tsp_defaults(&o, sizeof o);
    o.seconds = seconds;
    o.symmetries = symmetries;
    onet_order_options order = {.size = sizeof order, .threads = 1, .device = "cpu"};
    onet_status status = model ? onet_tsp_net_new(&o.net, model, &order, &wasm_failure) : ONET_OK;
    onet_tsp_proof found;
    if (!status) status = onet_tsp_solve(t, (onet_tsp_method)named->value, &o, tour, &found, &wasm_failure);
    onet_tsp_net_free(o.net);
    if (status) return (int)status;
    proof[0] = found.length;
    proof[1] = found.bound;
    proof[2] = found.proven;
    return 0;
}
