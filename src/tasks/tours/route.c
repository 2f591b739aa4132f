/* Writes stops as CSV and as JSON. */
#include "tasks/tours/route.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "app/json.h"
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

static const float *points(const route *r) {
    const onet_sets *sets = r->file->sets;
    return sets ? sets->items + 2 * sets->start[r->instance] : NULL;
}

/* ---- CSV ------------------------------------------------------------------------------------------------
 */

static onet_status put_field(output *out, const char *text, onet_error *err) {
    onet_status status = output_csv_field(out, ',', text, strlen(text), err);
    return status ? status : output_write(out, ",", 1, err);
}

static onet_status put_points(output *out, const float *at, onet_error *err) {
    char x[NUMBER_TEXT], y[NUMBER_TEXT];
    number_text_float(x, at[0]);
    number_text_float(y, at[1]);
    return output_printf(out, err, "%s,%s,", x, y);
}

onet_status route_begin(output *out, const char *path, const tsp_file *file, onet_error *err) {
    if (is_json(path)) return ONET_OK;
    return output_printf(out, err, "set,stop,city,%s%s%s\n", file->names ? "name," : "",
                         !file->sets ? ""
                         : file->geo ? "lon,lat,"
                                     : "x,y,",
                         file->geo ? "leg_km,total_km" : "leg,total");
}

static onet_status put_rows(output *out, const route *r, onet_error *err) {
    char *const *names = tsp_names(r->file, r->instance);
    const float *at = points(r);
    double leg, total = 0;
    onet_status status = ONET_OK;
    for (int stop = 0; stop < route_stops(r) && !status; stop++) {
        int city = route_stop(r, stop, &leg, &total);
        status = put_field(out, r->t->name, err);
        if (!status) status = output_printf(out, err, "%d,%d,", stop, city + !r->file->sets);
        if (!status && names) status = put_field(out, names[city] ? names[city] : "", err);
        if (!status && at) status = put_points(out, at + 2 * city, err);
        if (!status) status = output_printf(out, err, "%.9g,%.9g\n", leg, total);
    }
    return status;
}

/* ---- JSON -----------------------------------------------------------------------------------------------
 */

/* The double with the digits of the float: 13.4 and not 13.3999996. */
static json_t *json_float(float value) {
    char text[NUMBER_TEXT];
    number_text_float(text, value);
    return json_real(number_parse(text, NULL));
}

static json_t *json_stop(const route *r, int city, double leg, double total) {
    char *const *names = tsp_names(r->file, r->instance);
    const float *at = points(r);
    bool geo = r->file->geo;
    json_t *stop = json_pack("{s:i}", "city", city + !r->file->sets);
    if (names && names[city]) json_object_set_new(stop, "name", json_string(names[city]));
    if (at) {
        json_object_set_new(stop, geo ? "lon" : "x", json_float(at[2 * city]));
        json_object_set_new(stop, geo ? "lat" : "y", json_float(at[2 * city + 1]));
    }
    json_object_set_new(stop, geo ? "leg_km" : "leg", json_real(leg));
    json_object_set_new(stop, geo ? "total_km" : "total", json_real(total));
    return stop;
}

static onet_status put_object(output *out, const route *r, onet_error *err) {
    char *text;
    double leg, total = 0;
    json_watch();
    json_t *report =
        json_pack("{s:s, s:s, s:f, s:b}", "set", r->t->name, "method", r->method,
                  r->file->geo ? "length_km" : "length", r->proof->length, "optimal", r->proof->proven);
    if (r->proof->before)
        json_object_set_new(report, r->file->geo ? "before_km" : "before", json_real(r->proof->before));
    json_t *stops = json_array();
    for (int stop = 0; stop < route_stops(r); stop++) {
        int city = route_stop(r, stop, &leg, &total);
        json_array_append_new(stops, json_stop(r, city, leg, total));
    }
    json_object_set_new(report, "stops", stops);
    onet_status status = json_finish(&text, report, JSON_COMPACT | JSON_REAL_PRECISION(9), err);
    if (!status) status = output_printf(out, err, "%s\n", text);
    free(text);
    return status;
}

onet_status route_put(output *out, const char *path, const route *r, onet_error *err) {
    return is_json(path) ? put_object(out, r, err) : put_rows(out, r, err);
}
