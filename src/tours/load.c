/* Reads instances from TSPLIB files and from files of sets. */
#include "tours/load.h"

#include "base/error.h"
#include "base/file.h"
#include "tours/generate.h"
#include "tours/tsplib.h"
#include <stdio.h>
#include <string.h>

/* The rest of an input, for the library. */
static ptrdiff_t rest(void *in, void *buffer, size_t size) {
    size_t got;
    return input_read(in, buffer, size, &got, NULL) ? -1 : (ptrdiff_t)got;
}

/* Standard input was looked at already and cannot be opened again. */
static onet_status read_sets(onet_sets **sets, const char *path, input *in, const onet_read_options *options,
                             onet_error *err) {
    onet_read_options own = *options;
    if (strcmp(path, "-") != 0) return onet_sets_read(sets, path, options, err);
    own.bytes = rest;
    own.context = in;
    return onet_sets_read(sets, input_name(in), &own, err);
}

onet_status tsp_load(tsp_file *file, const char *path, const onet_read_options *options, onet_error *err) {
    *file = (tsp_file){.count = 1};
    input *in;
    bool tsplib;
    onet_status status = input_open(&in, path, err);
    if (status) return status;
    status = tsplib_is(in, &tsplib, err);
    if (!status && tsplib) status = tsplib_read(&file->one, in, err);
    if (!status && !tsplib) status = read_sets(&file->sets, path, in, options, err);
    input_close(in);
    if (status || tsplib) return status;
    file->count = file->sets->count;
    if (file->sets->width != 2 || file->sets->words)
        status = fail(err, ONET_BAD, "%s: its items are not points x, y of the plane", path);
    else if (file->sets->context)
        status = fail(err, ONET_BAD, "%s: a tour visits every city; leave the context items out", path);
    else
        return ONET_OK;
    tsp_unload(file);
    return status;
}

void tsp_unload(tsp_file *file) {
    onet_tsp_free(&file->one);
    onet_sets_free(file->sets);
    *file = (tsp_file){0};
}

static onet_status copy(const onet_tsp *from, onet_tsp *t, onet_error *err) {
    onet_status status = onet_tsp_blank(t, from->n, from->xy != NULL, err);
    if (status) return status;
    size_t n = (size_t)from->n;
    memcpy(t->dist, from->dist, n * n * sizeof *t->dist);
    if (t->xy) memcpy(t->xy, from->xy, 2 * n * sizeof *t->xy);
    memcpy(t->name, from->name, sizeof t->name);
    t->whole = from->whole;
    return ONET_OK;
}

onet_status tsp_get(const tsp_file *file, size_t i, onet_tsp *t, onet_error *err) {
    if (!file->sets) return copy(&file->one, t, err);
    size_t from = file->sets->start[i], n = onet_sets_size(file->sets, i);
    *t = (onet_tsp){0};
    if (n > ONET_TSP_MAX_CITIES)
        return fail(err, ONET_BAD, "set %zu has %zu cities; an instance has at most %d", i + 1, n,
                    ONET_TSP_MAX_CITIES);
    onet_status status = tsp_floats(t, (int)n, file->sets->items + 2 * from, err);
    if (!status) snprintf(t->name, sizeof t->name, "set %zu", i + 1);
    return status;
}
