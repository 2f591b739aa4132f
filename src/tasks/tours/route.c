/* Writes a tour's stops, with the distances between them, as CSV or JSON. */
#include "tasks/tours/route.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "app/json_report.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/number.h"

static bool ends_in(const char *path, const char *ending) {
    size_t length = strlen(path), n = strlen(ending);
    return length > n && !strcasecmp(path + length - n, ending);
}

static bool is_json(const char *path) {
    return ends_in(path, ".json") || ends_in(path, ".jsonl");
}

onet_status route_check(const char *path, onet_error *err) {
    if (is_json(path) || ends_in(path, ".csv")) return ONET_OK;
    return fail(err, ONET_USAGE,
                "cannot tell from the name %s how to write the stops; end it in .csv or .jsonl", path);
}

/* ---- CSV ------------------------------------------------------------------------------------------------
 */

static void put_field(output *out, const char *text) {
    output_csv_field(out, ',', text, strlen(text));
    output_put(out, ",");
}

static void put_points(output *out, const double *at) {
    char x[NUMBER_TEXT], y[NUMBER_TEXT];
    number_text_exact(x, at[0]);
    number_text_exact(y, at[1]);
    output_printf(out, "%s,%s,", x, y);
}

void route_begin(output *out, const char *path, const tsp_file *file) {
    if (is_json(path)) return;
    output_printf(out, "set,stop,city,%s%s%s\n", file->names ? "name," : "",
                  !tsp_has_points(file) ? ""
                  : file->geo           ? "lon,lat,"
                                        : "x,y,",
                  file->geo ? "leg_km,total_km" : "leg,total");
}

static onet_status put_rows(output *out, const route *r, onet_error *err) {
    char *const *names = tsp_names(r->file, r->instance);
    const double *at = tsp_points(r->file, r->instance);
    double leg, total = 0;
    for (int stop = 0; stop < route_stops(r); stop++) {
        int city = route_stop(r, stop, &leg, &total);
        put_field(out, r->t->name);
        output_printf(out, "%d,%d,", stop, city + tsp_first_number(r->file));
        if (names) put_field(out, names[city] ? names[city] : "");
        if (at) put_points(out, at + 2 * city);
        output_printf(out, "%.9g,%.9g\n", leg, total);
    }
    return output_status(out, err);
}

/* ---- JSON -----------------------------------------------------------------------------------------------
 */

/* A distance in 9 digits; coordinates have those that they came with, 15 at most. */
static json_t *json_distance(double value) {
    char text[NUMBER_TEXT];
    number_text_double(text, value);
    return json_real(number_parse(text, NULL));
}

static json_t *json_stop(const route *r, int city, double leg, double total) {
    char *const *names = tsp_names(r->file, r->instance);
    const double *at = tsp_points(r->file, r->instance);
    bool geo = r->file->geo;
    json_t *stop = json_pack("{s:i}", "city", city + tsp_first_number(r->file));
    if (names && names[city]) json_object_set_new(stop, "name", json_string(names[city]));
    if (at) {
        json_object_set_new(stop, geo ? "lon" : "x", json_real(at[2 * city]));
        json_object_set_new(stop, geo ? "lat" : "y", json_real(at[2 * city + 1]));
    }
    json_object_set_new(stop, geo ? "leg_km" : "leg", json_distance(leg));
    json_object_set_new(stop, geo ? "total_km" : "total", json_distance(total));
    return stop;
}

static onet_status put_object(output *out, const route *r, onet_error *err) {
    char *text;
    double leg, total = 0;
    json_watch();
    json_t *report = json_pack("{s:s, s:s, s:o, s:b}", "set", r->t->name, "method", r->method,
                               r->file->geo ? "length_km" : "length", json_distance(r->proof->length),
                               "optimal", r->proof->proven);
    if (r->proof->before > 0)
        json_object_set_new(report, r->file->geo ? "before_km" : "before", json_distance(r->proof->before));
    json_t *stops = json_array();
    for (int stop = 0; stop < route_stops(r); stop++) {
        int city = route_stop(r, stop, &leg, &total);
        json_array_append_new(stops, json_stop(r, city, leg, total));
    }
    json_object_set_new(report, "stops", stops);
    onet_status status = json_finish(&text, report, JSON_COMPACT | JSON_REAL_PRECISION(15), err);
    if (!status) output_printf(out, "%s\n", text);
    free(text);
    return status ? status : output_status(out, err);
}

onet_status route_put(output *out, const char *path, const route *r, onet_error *err) {
    return is_json(path) ? put_object(out, r, err) : put_rows(out, r, err);
}
