/* Reads instances from TSPLIB files and from files of sets. */
#include "tours/load.h"

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "tours/tsplib.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

onet_status tsp_floats(onet_tsp *t, int n, const float *xy, onet_error *err) {
    double *points = array_new((size_t)n * 2, sizeof *points);
    if (!points) return fail_memory(err, "an instance");
    for (int i = 0; i < 2 * n; i++) points[i] = xy[i];
    onet_status status = onet_tsp_points(t, n, points, err);
    free(points);
    return status;
}

/* The rest of an input, for the library. */
static ptrdiff_t rest(void *in, void *buffer, size_t size) {
    size_t got;
    return input_read(in, buffer, size, &got, NULL) ? -1 : (ptrdiff_t)got;
}

/* What a city may be called under. */
static const char *const name_keys[] = {"name", "city", "label", "place"};

/* The sets as they are read. */
typedef struct loading {
    tsp_file *file;
    size_t name_room, record_room;
    const char *key; /* that the cities have their names under; NULL: they have none */
    int x, y;        /* the features that are the coordinates */
} loading;

/* The two features that are coordinates: the only ones, or those of these names. */
static bool find_points(loading *l, const onet_record *r) {
    l->x = l->y = -1;
    for (int j = 0; j < onet_record_width(r); j++) {
        const char *name = onet_record_feature(r, j);
        if (name && !strcasecmp(name, "x")) l->x = j;
        if (name && !strcasecmp(name, "y")) l->y = j;
    }
    if ((l->x < 0 || l->y < 0) && onet_record_width(r) == 2) {
        l->x = 0;
        l->y = 1;
    }
    return l->x >= 0 && l->y >= 0;
}

static onet_status find_names(loading *l, onet_record *r, onet_error *err) {
    onet_status status = ONET_OK;
    for (size_t k = 0; k < sizeof name_keys / sizeof *name_keys && !l->key && !status; k++) {
        const char *text;
        status = onet_record_item_text(r, name_keys[k], 0, &text, err);
        if (!status && text) l->key = name_keys[k];
    }
    return status;
}

/* The names of the cities of the set that was appended last. */
static onet_status take_names(loading *l, onet_record *r, onet_error *err) {
    tsp_file *file = l->file;
    size_t from = file->named, all = file->sets->start[file->sets->count];
    if (!array_reserve(&file->names, &l->name_room, all, sizeof *file->names))
        return fail_memory(err, "the names of the cities");
    for (int i = 0; i < onet_record_size(r); i++) {
        const char *text;
        onet_status status = onet_record_item_text(r, l->key, i, &text, err);
        if (status) return status;
        file->names[from + (size_t)i] = text ? strdup(text) : NULL;
        file->named++;
        if (text && !file->names[from + (size_t)i]) return fail_memory(err, "the names of the cities");
    }
    return ONET_OK;
}

static onet_status append(loading *l, onet_record *r, onet_error *err) {
    size_t n = (size_t)onet_record_size(r), width = (size_t)onet_record_width(r);
    const float *items = onet_record_items(r);
    float *points = array_new(2 * n, sizeof *points);
    if (!points) return fail_memory(err, "the cities");
    for (size_t i = 0; i < n; i++) {
        points[2 * i] = items[i * width + (size_t)l->x];
        points[2 * i + 1] = items[i * width + (size_t)l->y];
    }
    /* An order that is there is not looked at. */
    onet_status status = onet_sets_append(l->file->sets, (int)n, 2, points, NULL, err);
    free(points);
    return status ? status : l->key ? take_names(l, r, err) : ONET_OK;
}

static onet_status check_points(loading *l, const onet_record *r, onet_error *err) {
    const char *name = onet_reader_name(l->file->in);
    long line = onet_record_line(r);
    if (!onet_record_items(r) || !find_points(l, r))
        return fail(err, ONET_BAD,
                    "%s:%ld: its items are not points x, y of the plane; name the two "
                    "columns (--features x,y)",
                    name, line);
    if (onet_record_placed(r) < onet_record_size(r))
        return fail(err, ONET_BAD, "%s:%ld: a tour visits every city; leave the context items out", name,
                    line);
    return ONET_OK;
}

static onet_status next_set(loading *l, onet_record *r, int *end, onet_error *err) {
    onet_status status = onet_reader_next(l->file->in, r, end, err);
    if (status || *end) return status;
    status = check_points(l, r, err);
    if (!status && !l->file->sets->count) status = find_names(l, r, err);
    return status ? status : append(l, r, err);
}

static onet_status read_records(loading *l, onet_error *err) {
    tsp_file *file = l->file;
    onet_record *r = NULL;
    int end = 0;
    onet_status status = onet_sets_new(&file->sets, 2, err);
    while (!status && !end) {
        if (!r) status = onet_record_new(&r, err);
        if (!status) status = next_set(l, r, &end, err);
        if (status || end || !(l->key || onet_record_format(r) == ONET_FORMAT_CSV)) continue;
        if (!array_reserve(&file->records, &l->record_room, file->kept + 1, sizeof *file->records)) {
            status = fail_memory(err, "the sets");
            break;
        }
        file->records[file->kept++] = r;
        r = NULL;
    }
    onet_record_free(r);
    file->count = file->sets ? file->sets->count : 0;
    return status;
}

/* Standard input was looked at already and cannot be opened again. */
static onet_status read_sets(tsp_file *file, const char *path, input *in, const onet_read_options *options,
                             onet_error *err) {
    onet_read_options own = options ? *options : (onet_read_options){.size = sizeof own};
    loading l = {.file = file};
    own.one_set = 1;
    if (!strcmp(path, "-")) {
        own.bytes = rest;
        own.context = in;
    }
    onet_status status = onet_reader_open(&file->in, strcmp(path, "-") ? path : input_name(in), &own, err);
    return status ? status : read_records(&l, err);
}

onet_status tsp_load(tsp_file *file, const char *path, const onet_read_options *options, onet_error *err) {
    *file = (tsp_file){.count = 1};
    input *in;
    bool tsplib;
    onet_status status = input_open(&in, path, err);
    if (status) return status;
    status = tsplib_is(in, &tsplib, err);
    if (!status && tsplib) status = tsplib_read(&file->one, in, err);
    if (!status && !tsplib) status = read_sets(file, path, in, options, err);
    input_close(in);
    if (status) tsp_unload(file);
    return status;
}

void tsp_unload(tsp_file *file) {
    onet_tsp_free(&file->one);
    for (size_t i = 0; i < file->named; i++) free(file->names[i]);
    free(file->names);
    for (size_t i = 0; i < file->kept; i++) onet_record_free(file->records[i]);
    free(file->records);
    onet_reader_close(file->in);
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

char *const *tsp_names(const tsp_file *file, size_t i) {
    return file->names ? file->names + file->sets->start[i] : NULL;
}
