/* Loads travelling-salesman instances from TSPLIB files, tables of costs and files of sets: finds the columns
 * of coordinates and names, checks cities and costs, warns of likely mistakes, and makes the instance of each
 * set. */
#include "tasks/tours/load.h"

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/names.h"
#include "engine/base/number.h"
#include "tasks/tours/matrix.h"
#include "tasks/tours/tsplib.h"
#include <math.h>
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

onet_status tsp_cities_add(tsp_cities *c, int n, const double *xy, const int32_t *order, onet_error *err) {
    size_t all = c->count ? c->start[c->count] : 0, more = (size_t)n;
    bool ordered = order && (!c->count || c->order);
    if (!array_reserve(&c->start, &c->start_room, c->count + 2, sizeof *c->start) ||
        !array_reserve(&c->xy, &c->city_room, all + more, 2 * sizeof *c->xy) ||
        (ordered && !array_reserve(&c->order, &c->order_room, all + more, sizeof *c->order)))
        return fail_memory(err, "the cities");
    memcpy(c->xy + 2 * all, xy, 2 * more * sizeof *xy);
    if (ordered) memcpy(c->order + all, order, more * sizeof *order);
    if (!ordered) {
        free(c->order);
        c->order = NULL;
        c->order_room = 0;
    }
    if (!c->count) c->start[0] = 0;
    c->start[++c->count] = all + more;
    return ONET_OK;
}

void tsp_cities_free(tsp_cities *c) {
    free(c->start);
    free(c->xy);
    free(c->order);
    *c = (tsp_cities){0};
}

/* Reads the rest of an input, for onet_read_options.bytes. */
static ptrdiff_t rest(void *in, void *buffer, size_t size) {
    size_t got;
    return input_read(in, buffer, size, &got, NULL) ? -1 : (ptrdiff_t)got;
}

/* ---- Which columns ------------------------------------------------------------------------------------ */

/* Common names of columns and keys, in any case. */
static const char *const name_columns[] = {"name", "city", "label", "place", NULL};
static const char *const x_columns[] = {"x", NULL}, *const y_columns[] = {"y", NULL};
static const char *const lon_columns[] = {"lon", "lng", "long", "longitude", NULL};
static const char *const lat_columns[] = {"lat", "latitude", NULL};

static bool is_one_of(const char *const *list, const char *name, size_t length) {
    for (; *list; list++)
        if (strlen(*list) == length && !strncasecmp(*list, name, length)) return true;
    return false;
}

static bool is_named(const char *const *list, const char *name) {
    return name && is_one_of(list, name, strlen(name));
}

/* The header line of a table, split at every separator, even a quoted one: none of the column names looked
 * for contains one. */
typedef struct header {
    char text[4096];
    char separator;
    bool semicolons;                      /* it has them, and no comma and no tab */
    const char *x, *y, *lon, *lat, *name; /* columns under common names, as they are spelt; or NULL */
} header;

static void note_column(header *h, const char *name) {
    size_t length = strlen(name);
    if (!h->x && is_one_of(x_columns, name, length)) h->x = name;
    if (!h->y && is_one_of(y_columns, name, length)) h->y = name;
    if (!h->lon && is_one_of(lon_columns, name, length)) h->lon = name;
    if (!h->lat && is_one_of(lat_columns, name, length)) h->lat = name;
}

static onet_status read_header(header *h, input *in, const onet_read_options *options, onet_error *err) {
    const char *data;
    size_t size;
    onet_status status = input_peek(in, sizeof h->text - 1, &data, &size, err);
    *h = (header){0};
    if (status) return status;
    if (size >= 3 && !memcmp(data, "\xEF\xBB\xBF", 3)) data += 3, size -= 3;
    const char *end = memchr(data, '\n', size);
    size_t length = end ? (size_t)(end - data) : size;
    if (length >= sizeof h->text || memchr(data, 0, length) || (length && (*data == '{' || *data == '[')))
        return ONET_OK;
    memcpy(h->text, data, length);
    h->semicolons = strchr(h->text, ';') && !strpbrk(h->text, ",\t");
    h->separator = options && options->delimiter ? (char)options->delimiter
                   : h->semicolons               ? ';'
                   : strchr(h->text, ',')        ? ','
                                                 : '\t';
    const char *ends = (char[]){h->separator, '\r', 0};
    /* The name column with the first of the common names counts. */
    size_t best = sizeof name_columns / sizeof *name_columns;
    for (char *at = h->text; at;) {
        char *next = strchr(at, h->separator);
        at += strspn(at, " \"");
        at[strcspn(at, ends)] = 0;
        size_t last = strlen(at);
        while (last && strchr(" \"", at[last - 1])) at[--last] = 0;
        note_column(h, at);
        for (size_t k = 0; k < best && name_columns[k]; k++)
            if (!strcasecmp(name_columns[k], at)) best = k, h->name = at;
        at = next ? next + 1 : NULL;
    }
    return ONET_OK;
}

/* ---- Sets ---------------------------------------------------------------------------------------------- */

/* Returns the feature that has one of the names in `list`, or -1. */
static int find_feature(const onet_record *r, const char *const *list) {
    for (int j = 0; j < onet_record_width(r); j++)
        if (is_named(list, onet_record_feature(r, j))) return j;
    return -1;
}

static bool find_pair(const onet_record *r, const char *const *x, const char *const *y, int at[2]) {
    at[0] = find_feature(r, x);
    at[1] = find_feature(r, y);
    return at[0] >= 0 && at[1] >= 0;
}

bool tsp_find_points(const onet_record *r, bool geo, int at[2]) {
    if (!onet_record_values(r)) return false;
    if (find_pair(r, geo ? lon_columns : x_columns, geo ? lat_columns : y_columns, at) ||
        find_pair(r, geo ? x_columns : lon_columns, geo ? y_columns : lat_columns, at))
        return true;
    at[0] = 0;
    at[1] = 1;
    return onet_record_width(r) == 2;
}

bool tsp_note_degrees(const onet_record *r, const int at[2], const char *file, onet_error *note) {
    if (!is_named(lon_columns, onet_record_feature(r, at[0]))) return false;
    fail_field(note, ONET_BAD, "tsp_reading.geo",
               "%s:%ld: `%s` and `%s` are taken as points of the plane, not as places on the Earth", file,
               onet_record_line(r), onet_record_feature(r, at[0]), onet_record_feature(r, at[1]));
    return true;
}

onet_status tsp_cities_take(tsp_cities *c, const onet_record *r, const int at[2], onet_error *err) {
    size_t n = (size_t)onet_record_size(r), width = (size_t)onet_record_width(r);
    const double *items = onet_record_values(r);
    double *points = array_new(2 * n, sizeof *points);
    if (!points) return fail_memory(err, "the cities");
    for (size_t i = 0; i < 2 * n; i++) points[i] = items[i / 2 * width + (size_t)at[i % 2]];
    onet_status status = tsp_cities_add(c, (int)n, points, onet_record_order(r), err);
    free(points);
    return status;
}

/* The sets as they are read. */
typedef struct loading {
    tsp_file *file;
    const tsp_reading *how;
    size_t name_room, record_room;
    const char *key; /* the key or column of the cities' names; NULL: they have none */
    int at[2];       /* the features that are the coordinates, x first */
} loading;

static void note(const loading *l, const onet_error *text) {
    if (l->how->note) l->how->note(text);
}

/* Finds the key of the cities' names, among keys of JSON, which are lower case; a table's name column is
 * known from its header. */
static onet_status find_names(loading *l, onet_record *r, onet_error *err) {
    onet_status status = ONET_OK;
    const char *text, *wanted = l->how->name_column;
    if (wanted && *wanted) {
        status = onet_record_item_text(r, wanted, 0, &text, err);
        if (!status && !text)
            return fail_field(err, ONET_BAD, "tsp_reading.name_column",
                              "%s:%ld: there is no `%s` to call the cities by", onet_reader_name(l->file->in),
                              onet_record_line(r), wanted);
        l->key = wanted;
    }
    for (size_t k = 0; !wanted && name_columns[k] && !l->key && !status; k++) {
        status = onet_record_item_text(r, name_columns[k], 0, &text, err);
        if (!status && text) l->key = name_columns[k];
    }
    return status;
}

/* Whether the record is from a table, each row of which has a line number and a name. */
static bool is_table(const onet_record *r) {
    return onet_record_format(r) == ONET_FORMAT_CSV;
}

/* Warns if two cities have one name: they may be two places, or a row that appears twice. */
static onet_status note_twice(const loading *l, const onet_record *r, char *const *called, onet_error *err) {
    names seen = {0};
    int *first = array_new((size_t)onet_record_size(r), sizeof *first), twice = 0, a = 0, b = 0;
    bool good = first != NULL;
    for (int i = 0; good && i < onet_record_size(r); i++) {
        size_t number, before = seen.count;
        if (!called[i]) continue;
        good = names_add(&seen, called[i], strlen(called[i]), &number);
        if (!good) break;
        if (number == before)
            first[number] = i;
        else if (!twice++)
            a = first[number], b = i;
    }
    free(first);
    names_free(&seen);
    if (!good) return fail_memory(err, "the names of the cities");
    if (!twice) return ONET_OK;
    onet_error text;
    fail(&text, ONET_BAD, "%s:%ld: `%.100s` is the name of line %ld too%s; every row is visited",
         onet_reader_name(l->file->in), onet_record_item_line(r, b), called[b], onet_record_item_line(r, a),
         twice > 1 ? ", and it is not the only one" : "");
    note(l, &text);
    return ONET_OK;
}

/* Reads the names of the cities of the set that was appended last. */
static onet_status take_names(loading *l, onet_record *r, onet_error *err) {
    tsp_file *file = l->file;
    size_t from = file->named, all = file->cities.start[file->cities.count];
    if (!array_reserve(&file->names, &l->name_room, all, sizeof *file->names))
        return fail_memory(err, "the names of the cities");
    for (int i = 0; i < onet_record_size(r); i++) {
        const char *text;
        onet_status status = onet_record_item_text(r, l->key, i, &text, err);
        if (status) return status;
        if (is_table(r) && (!text || !*text))
            return fail_field(
                err, ONET_BAD, "tsp_reading.name_column",
                "%s:%ld: column `%s` is empty; name the city, or give '' as the column to do without names",
                onet_reader_name(file->in), onet_record_item_line(r, i), l->key);
        file->names[from + (size_t)i] = text ? strdup(text) : NULL;
        file->named++;
        if (text && !file->names[from + (size_t)i]) return fail_memory(err, "the names of the cities");
    }
    return is_table(r) ? note_twice(l, r, file->names + from, err) : ONET_OK;
}

/* ONET_BAD if a city is not on the Earth. */
static onet_status check_place(const loading *l, const onet_record *r, int item, const double *place,
                               onet_error *err) {
    char which[32] = "";
    if (!is_table(r)) snprintf(which, sizeof which, "item %d: ", item);
    bool lon = !(place[0] >= -180 && place[0] <= 360);
    if (!lon && place[1] >= -90 && place[1] <= 90) return ONET_OK;
    return fail_field(
        err, ONET_BAD, "onet_read_options.features",
        "%s:%ld: %sthe %s %g is out of range, from %s degrees; check the number, and which column is "
        "which: longitude first",
        onet_reader_name(l->file->in), onet_record_item_line(r, item), which, lon ? "longitude" : "latitude",
        place[!lon], lon ? "-180 to 360" : "-90 to 90");
}

static onet_status append(loading *l, onet_record *r, onet_error *err) {
    tsp_cities *cities = &l->file->cities;
    onet_status status = tsp_cities_take(cities, r, l->at, err);
    for (int i = 0; i < onet_record_size(r) && l->how->geo && !status; i++)
        status = check_place(l, r, i, cities->xy + 2 * (cities->start[cities->count - 1] + (size_t)i), err);
    return status;
}

/* Appends the costs of a set, and its cities without points. */
static onet_status append_costs(loading *l, const onet_record *r, onet_error *err) {
    tsp_file *file = l->file;
    int n = onet_record_size(r);
    onet_status status = file->costs ? ONET_OK : onet_sets_new(&file->costs, 0, err);
    if (!status) status = onet_sets_append_record(file->costs, r, NULL, 0, err);
    if (status) return status;
    const onet_pairs *pairs = file->costs->pairs;
    size_t first = file->costs->start[file->costs->count - 1];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float cost = pairs->value[pairs->row[first + (size_t)i] + (size_t)j];
            if (i != j && !(cost >= 0))
                return fail(err, ONET_BAD, "%s:%ld: the cost from item %d to %d is %g; costs are 0 or more",
                            onet_reader_name(file->in), onet_record_line(r), i, j, (double)cost);
        }
    double *points = array_new(2 * (size_t)n, sizeof *points);
    if (!points) return fail_memory(err, "the cities");
    status = tsp_cities_add(&file->cities, n, points, onet_record_order(r), err);
    free(points);
    return status;
}

/* Whether a table has no header: the numbers of its first city were then taken for column names. */
static bool lacks_header(const onet_record *r) {
    if (!is_table(r)) return false;
    for (int j = 0; j < onet_record_width(r); j++) {
        const char *name = onet_record_feature(r, j);
        double value;
        if (name && *name &&
            number_scan(name, name + strlen(name), NUMBER_LOOSE, &value) == name + strlen(name))
            return true;
    }
    return false;
}

/* Checks that the one relation of a set can be the cost from city to city. */
static onet_status check_costs(const loading *l, const onet_record *r, onet_error *err) {
    const char *name = onet_reader_name(l->file->in);
    long line = onet_record_line(r);
    int relations = onet_record_relations(r), width = onet_record_width(r);
    if (l->file->cities.count && !l->file->costs)
        return fail(err, ONET_BAD, "%s:%ld: the set has relations, and those before it have none", name,
                    line);
    if (relations != 1)
        return fail(err, ONET_BAD,
                    "%s:%ld: two items have %d relations; for a tour give one, the cost from city to city",
                    name, line, relations);
    if (width > 1 && !l->how->matrix)
        return fail_field(err, ONET_BAD, "tsp_reading.matrix",
                          "%s:%ld: the items have %d features and a relation: say that the relation is the "
                          "cost from city to city, or leave one of them out",
                          name, line, width);
    if (l->how->geo)
        return fail_field(err, ONET_USAGE, "tsp_reading.geo",
                          "%s has costs from city to city; only lists of cities may be places on the Earth",
                          name);
    return ONET_OK;
}

static onet_status check_points(loading *l, const onet_record *r, onet_error *err) {
    const char *name = onet_reader_name(l->file->in);
    long line = onet_record_line(r);
    if (l->file->costs || l->how->matrix)
        return fail(err, ONET_BAD,
                    "%s:%ld: the set has no relations (`pairs`), the costs from city to city%s", name, line,
                    l->file->costs ? ", and those before it have" : "");
    if (lacks_header(r))
        return fail(err, ONET_BAD,
                    "%s:1: the first line has numbers where the names of the columns belong; put a header "
                    "before it, as in name,x,y or name,lat,lon",
                    name);
    if (!tsp_find_points(r, l->how->geo, l->at))
        return fail_field(err, ONET_BAD, "onet_read_options.features",
                          "%s:%ld: its items are not points x, y of the plane; name the two columns", name,
                          line);
    return ONET_OK;
}

/* Warns of degrees that are read as points of the plane: a degree of longitude then counts as one of
 * latitude. */
static void note_degrees(const loading *l, const onet_record *r) {
    onet_error text;
    if (!l->how->geo && tsp_note_degrees(r, l->at, onet_reader_name(l->file->in), &text)) note(l, &text);
}

static onet_status next_set(loading *l, onet_record *r, int *end, onet_error *err) {
    onet_status status = onet_reader_next(l->file->in, r, end, err);
    if (status || *end) return status;
    bool costs = onet_record_relations(r) > 0;
    status = costs ? check_costs(l, r, err) : check_points(l, r, err);
    if (!status && onet_record_placed(r) < onet_record_size(r))
        status = fail(err, ONET_BAD, "%s:%ld: a tour visits every city; leave the context items out",
                      onet_reader_name(l->file->in), onet_record_line(r));
    if (!status && !l->file->cities.count && !l->key) status = find_names(l, r, err);
    if (!status && !l->file->cities.count && !costs) note_degrees(l, r);
    if (!status) status = costs ? append_costs(l, r, err) : append(l, r, err);
    return status || !l->key ? status : take_names(l, r, err);
}

static onet_status read_records(loading *l, onet_error *err) {
    tsp_file *file = l->file;
    onet_record *r = NULL;
    int end = 0;
    onet_status status = ONET_OK;
    while (!status && !end) {
        if (!r) status = onet_record_new(&r, err);
        if (!status) status = next_set(l, r, &end, err);
        if (status || end || !(l->how->keep || l->key || onet_record_format(r) == ONET_FORMAT_CSV)) continue;
        if (!array_reserve(&file->records, &l->record_room, file->kept + 1, sizeof *file->records)) {
            status = fail_memory(err, "the sets");
            break;
        }
        file->records[file->kept++] = r;
        r = NULL;
    }
    onet_record_free(r);
    file->count = file->cities.count;
    return status;
}

/* Names the columns of a table if the user did not and they have common names: other columns may then hold
 * anything. features: room for two names. */
static void choose_columns(const header *h, loading *l, onet_read_options *own, char *features, size_t room) {
    bool plane = h->x && h->y, earth = h->lon && h->lat;
    if (h->semicolons && !own->delimiter) own->delimiter = ';';
    if (!l->how->name_column && h->name && !(own->set_column && !strcmp(own->set_column, h->name)))
        l->key = h->name;
    if (!plane && !earth) return;
    own->format = ONET_FORMAT_CSV;
    bool degrees = earth && (l->how->geo || !plane);
    snprintf(features, room, "%s,%s", degrees ? h->lon : h->x, degrees ? h->lat : h->y);
    if (!own->features) own->features = features;
}

/* Writes a file's name without folder and ending; "" for standard input. */
static void name_of(const char *path, char name[64]) {
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    snprintf(name, 64, "%.*s", strcmp(path, "-") ? (int)strcspn(base, ".") : 0, base);
}

/* Names a list of cities after its file. */
static void name_list(tsp_file *file, const char *path) {
    if (file->count == 1 && file->records && is_table(file->records[0])) name_of(path, file->list);
}

/* Reads a file of sets. Standard input was read from already and cannot be opened again. */
static onet_status read_sets(tsp_file *file, const char *path, input *in, const tsp_reading *how,
                             onet_error *err) {
    onet_read_options own = how->read ? *how->read : (onet_read_options){.size = sizeof own};
    loading l = {.file = file, .how = how};
    header h = {0};
    char features[32];
    onet_status status = ONET_OK;
    if (!own.format || own.format == ONET_FORMAT_CSV) status = read_header(&h, in, &own, err);
    if (status) return status;
    choose_columns(&h, &l, &own, features, sizeof features);
    own.one_set = 1;
    file->sets = true;
    file->geo = how->geo;
    if (!strcmp(path, "-")) {
        own.bytes = rest;
        own.context = in;
    }
    status = onet_reader_open(&file->in, strcmp(path, "-") ? path : input_name(in), &own, err);
    if (!status) status = read_records(&l, err);
    if (!status) name_list(file, path);
    return status;
}

static void drop_names(tsp_file *file) {
    for (size_t i = 0; i < file->named; i++) free(file->names[i]);
    free(file->names);
    file->names = NULL;
    file->named = 0;
}

/* *is: whether a file that is to have costs is one table of them, rather than sets. */
static onet_status holds_table(input *in, const char *path, const tsp_reading *how, bool *is,
                               onet_error *err) {
    const char *data;
    size_t size;
    onet_format format = how->read ? how->read->format : ONET_FORMAT_AUTO;
    if (!format && onet_format_of_path(path, &format, NULL)) format = ONET_FORMAT_AUTO;
    *is = format != ONET_FORMAT_JSONL && format != ONET_FORMAT_NPZ && format != ONET_FORMAT_SAFETENSORS;
    onet_status status = input_peek(in, 64, &data, &size, err);
    if (!status && size && (*data == '{' || *data == '[')) *is = false;
    return status;
}

static onet_status read_table(tsp_file *file, const char *path, input *in, const tsp_reading *how,
                              onet_error *err) {
    char **called = NULL;
    if (how->name_column && *how->name_column)
        return fail_field(
            err, ONET_USAGE, "tsp_reading.name_column",
            "only lists of cities have a column of names; a table of costs has names in its first "
            "row and column");
    onet_status status =
        matrix_read(&file->one, &called, in, how->read ? how->read->delimiter : 0, how->note, err);
    if (status) return status;
    file->table = true;
    file->named = called ? (size_t)file->one.n : 0;
    file->names = called;
    if (how->name_column) drop_names(file);
    name_of(path, file->one.name);
    return ONET_OK;
}

onet_status tsp_load(tsp_file *file, const char *path, const tsp_reading *how, onet_error *err) {
    static const tsp_reading none = {0};
    *file = (tsp_file){.count = 1};
    input *in;
    bool tsplib, table = false;
    onet_status status = input_open(&in, path, err);
    if (status) return status;
    if (!how) how = &none;
    status = tsplib_is(in, &tsplib, err);
    if (!status && tsplib && how->geo)
        status = fail_field(err, ONET_USAGE, "tsp_reading.geo",
                            "%s is a TSPLIB file, which defines its own distances; only lists of cities "
                            "may be places on the Earth",
                            path);
    if (!status && tsplib) status = tsplib_read(&file->one, in, err);
    if (!status && !tsplib && how->matrix) status = holds_table(in, path, how, &table, err);
    if (!status && table && how->geo)
        status = fail_field(err, ONET_USAGE, "tsp_reading.geo",
                            "%s has costs from city to city; only lists of cities may be places on the Earth",
                            path);
    if (!status && table) status = read_table(file, path, in, how, err);
    if (!status && !tsplib && !table) status = read_sets(file, path, in, how, err);
    input_close(in);
    if (status) tsp_unload(file);
    return status;
}

void tsp_unload(tsp_file *file) {
    onet_tsp_free(&file->one);
    drop_names(file);
    for (size_t i = 0; i < file->kept; i++) onet_record_free(file->records[i]);
    free(file->records);
    onet_reader_close(file->in);
    onet_sets_free(file->costs);
    tsp_cities_free(&file->cities);
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
    t->asymmetric = from->asymmetric;
    return ONET_OK;
}

/* Makes an instance from the costs of set i. */
static onet_status from_costs(const onet_sets *sets, size_t i, onet_tsp *t, onet_error *err) {
    size_t first = sets->start[i], n = onet_sets_size(sets, i);
    onet_status status = onet_tsp_blank(t, (int)n, false, err);
    if (status) return status;
    t->whole = 1;
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++) {
            double cost = sets->pairs->value[sets->pairs->row[first + a] + b];
            if (a == b) continue;
            t->dist[a * n + b] = cost;
            if (cost != floor(cost)) t->whole = 0;
            if (b < a && cost != t->dist[b * n + a]) t->asymmetric = 1;
        }
    return ONET_OK;
}

onet_status tsp_instance_make(const tsp_file *file, size_t i, onet_tsp *t, onet_error *err) {
    if (!file->sets) return copy(&file->one, t, err);
    int n = tsp_cities_size(&file->cities, i);
    *t = (onet_tsp){0};
    if (n > ONET_TSP_MAX_CITIES)
        return fail(err, ONET_BAD, "set %zu has %d cities; an instance has at most %d", i + 1, n,
                    ONET_TSP_MAX_CITIES);
    const double *points = tsp_points(file, i);
    onet_status status = file->costs ? from_costs(file->costs, i, t, err)
                         : file->geo ? geo_instance(t, n, points, err)
                                     : onet_tsp_points(t, n, points, err);
    if (!status && file->list[0])
        memcpy(t->name, file->list, sizeof t->name);
    else if (!status)
        snprintf(t->name, sizeof t->name, "set %zu", i + 1);
    return status;
}

char *const *tsp_names(const tsp_file *file, size_t i) {
    return file->names && file->sets ? file->names + file->cities.start[i] : file->names;
}
