/* ordernet tsp solve: finds a tour for every instance of a file with a chosen method; prints it, writes it
 * (as TSPLIB or ordered sets, and stop by stop with the distances) or draws it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "app/canvas.h"
#include "app/command.h"
#include "app/error_line.h"
#include "app/interrupt.h"
#include "app/json_report.h"
#include "app/progress.h"
#include "engine/base/choice.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/number.h"
#include "engine/base/shown.h"
#include "tasks/tours/draw.h"
#include "tasks/tours/load.h"
#include "tasks/tours/net_options.h"
#include "tasks/tours/tsplib.h"

enum { MOST_PANELS = 12, COLUMNS = 4 };
static const double NAMED_SIDE = 460; /* points: the panel of one tour, so that there is room for names */

typedef struct solve_values {
    onet_tsp_method method;
    double seconds;
    uint64_t kicks, seed;
    const char *out, *route, *draw, *name_column;
    onet_read_options read;
    tour_net_values net;
    int geo, matrix, improve, quiet;
} solve_values;

static void defaults(void *values) {
    solve_values *v = values;
    v->seconds = 60;
    v->seed = 1;
    onet_read_defaults(&v->read, sizeof v->read);
    tour_net_defaults(&v->net);
}

/* ---- Stops -------------------------------------------------------------------------------------------- */

/* A tour of instance `instance` of a file, and what is known of it. */
typedef struct route {
    const tsp_file *file;
    size_t instance;
    const onet_tsp *t;
    const int32_t *tour; /* [n] */
    const char *method;
    const onet_tsp_proof *proof;
} route;

/* Returns the number of stops: the cities, and the first of them again. */
static int route_stops(const route *r) {
    return r->t->n > 1 ? r->t->n + 1 : 1;
}

/* Returns the city at a stop. *leg: the distance from the stop before, which is added to *total. */
static int route_stop(const route *r, int stop, double *leg, double *total) {
    int n = r->t->n, city = r->tour[stop < n ? stop : 0];
    *leg = stop ? onet_tsp_distance(r->t, r->tour[stop - 1], city) : 0;
    *total += *leg;
    return city;
}

static bool ends_in(const char *path, const char *ending) {
    size_t length = strlen(path), n = strlen(ending);
    return length > n && !strcasecmp(path + length - n, ending);
}

static bool is_json(const char *path) {
    return ends_in(path, ".json") || ends_in(path, ".jsonl");
}

/* Checks the name of --route: a .csv file has a row per stop, a .json or .jsonl file an object per tour. */
static onet_status route_check(const char *path, onet_error *err) {
    if (is_json(path) || ends_in(path, ".csv")) return ONET_OK;
    return fail(err, ONET_USAGE,
                "cannot tell from the name %s how to write the stops; end it in .csv or .jsonl", path);
}

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

static void route_begin(output *out, const char *path, const tsp_file *file) {
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

/* Makes a number of a distance, with 9 digits; coordinates keep theirs, 15 at most. */
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

static onet_status route_put(output *out, const char *path, const route *r, onet_error *err) {
    return is_json(path) ? put_object(out, r, err) : put_rows(out, r, err);
}

/* ---- Solving ------------------------------------------------------------------------------------------ */

/* What is kept of the solved instances for --out, --route and --draw. */
typedef struct kept {
    output *route;
    onet_writer *out; /* sets are written back as they were read */
    tour_panel panel[MOST_PANELS];
    onet_tsp drawn[MOST_PANELS];
    int32_t *drawn_tour[MOST_PANELS];
    int panels;
} kept;

static void free_kept(kept *k) {
    output_abort(k->route);
    onet_writer_abort(k->out);
    for (int i = 0; i < k->panels; i++) {
        onet_tsp_free(&k->drawn[i]);
        free(k->drawn_tour[i]);
    }
}

/* ---- The answer ---------------------------------------------------------------------------------------- */

/* Writes a length: kilometres on the Earth with three decimals; else six decimals, and nine digits for the
 * very small and the very large. */
static const char *length_text(char text[NUMBER_TEXT], const tsp_file *file, const onet_tsp *t,
                               double length) {
    if (t->whole || file->geo || length == 0 || (length >= 0.01 && length < 1e9))
        number_print(text, NUMBER_TEXT, "%.*f", t->whole ? 0 : file->geo ? 3 : 6, length);
    else
        number_print(text, NUMBER_TEXT, "%.9g", length);
    return text;
}

static const char *unit(const tsp_file *file) {
    return file->geo ? " km" : "";
}

/* Prints the stops, one per line: the distance from the one before, the total, and the name. */
static void print_stops(const route *r) {
    char *const *names = tsp_names(r->file, r->instance);
    double leg, total = 0;
    printf("%12s %12s\n", "leg", "total");
    for (int stop = 0; stop < route_stops(r); stop++) {
        char text[SHOWN], one[NUMBER_TEXT], all[NUMBER_TEXT];
        int city = route_stop(r, stop, &leg, &total);
        printf("%12s %12s  ", length_text(one, r->file, r->t, leg), length_text(all, r->file, r->t, total));
        if (names)
            printf("%s\n", shown(text, names[city] ? names[city] : "-"));
        else
            printf("%d\n", city);
    }
}

/* Prints the answer. TSPLIB numbers its nodes from 1, the engine's formats count from 0. */
static void print_answer(const solve_values *v, const route *r) {
    char name[SHOWN], number[NUMBER_TEXT];
    const onet_tsp *t = r->t;
    const onet_tsp_proof *proof = r->proof;
    printf("%s: %d cit%s, %s, length %s%s", shown(name, t->name[0] ? t->name : "instance"), t->n,
           t->n == 1 ? "y" : "ies", r->method, length_text(number, r->file, t, proof->length), unit(r->file));
    if (proof->proven) printf(", optimal");
    if (proof->before > 0) /* The same tour, summed from another city, may come out longer by a rounding. */
        printf(", %.2f%% less than %s%s before", fmax(0, 100 * (1 - proof->length / proof->before)),
               length_text(number, r->file, t, proof->before), unit(r->file));
    if (v->method == ONET_TSP_EXACT && !proof->proven)
        printf(", not proven: no tour is shorter than %s%s (%.2f%% less)",
               length_text(number, r->file, t, proof->bound), unit(r->file),
               100 * (1 - proof->bound / proof->length));
    printf("\n");
    if (v->out || v->route) return;
    for (int i = 0; i < t->n; i++) printf("%s%d", i ? " " : "", r->tour[i] + tsp_first_number(r->file));
    printf("\n");
    if (r->file->names || r->file->geo) print_stops(r);
}

/* ---- Files and pictures ----------------------------------------------------------------------------- */

/* Writes the tour for --out and --route; takes the instance over if it is one of those to draw. */
static onet_status keep(const solve_values *v, const route *r, onet_tsp *t, kept *k, onet_error *err) {
    onet_status status = ONET_OK;
    const tsp_file *file = r->file;
    size_t i = r->instance;
    if (v->route) status = route_put(k->route, v->route, r, err);
    if (status) return status;
    if (v->out && file->records)
        status = onet_writer_put(k->out, file->records[i],
                                 &(onet_answer){.found = 1, .order = (int32_t *)(uintptr_t)r->tour}, err);
    else if (v->out)
        status = tsplib_write_tour(t, r->tour, v->out, err);
    if (status || !v->draw || !t->xy || k->panels == MOST_PANELS) return status;
    int32_t *copy = array_new((size_t)t->n, sizeof *copy);
    if (!copy) return fail_memory(err, "a picture");
    memcpy(copy, r->tour, (size_t)t->n * sizeof *copy);
    tour_panel *p = &k->panel[k->panels];
    char length[NUMBER_TEXT];
    *p = (tour_panel){.n = t->n, .xy = t->xy, .tour = copy, .names = tsp_names(file, i)};
    snprintf(p->title, sizeof p->title, "%s, %d cities", t->name[0] ? t->name : "instance", t->n);
    number_print(length, sizeof length, "%.*f", t->whole ? 0 : file->geo ? 1 : 4, r->proof->length);
    snprintf(p->note, sizeof p->note, "%s%s, length %s%s%s", r->method,
             r->proof->before > 0 ? ", improved" : "", length, unit(file),
             r->proof->proven ? ", optimal" : "");
    k->drawn[k->panels] = *t;
    k->drawn_tour[k->panels++] = copy;
    *t = (onet_tsp){0};
    return ONET_OK;
}

static onet_status solve_one(const solve_values *v, const tsp_file *file, size_t i,
                             const onet_tsp_options *effort, kept *k, double *length, onet_error *err) {
    onet_tsp t = {0};
    onet_tsp_proof proof = {0};
    onet_status status = tsp_instance_make(file, i, &t, err);
    int32_t *tour = status ? NULL : array_new((size_t)t.n, sizeof *tour);
    if (!status && !tour) status = fail_memory(err, "a tour");
    if (!status) status = onet_tsp_solve(&t, v->method, effort, tour, &proof, err);
    /* A search that was interrupted found a tour, but not the one that was asked for. */
    if (!status && interrupted()) status = ONET_INTERRUPTED;
    if (status == ONET_USAGE && file->sets) error_prefix(err, "set %zu", i + 1);
    if (!status) {
        route r = {file, i, &t, tour, choice_name(onet_tsp_methods(), v->method), &proof};
        print_answer(v, &r);
        *length += proof.length;
        status = keep(v, &r, &t, k, err);
    }
    onet_tsp_free(&t);
    free(tour);
    return status;
}

static onet_status start_out(const solve_values *v, const tsp_file *file, kept *k, onet_error *err) {
    onet_status status = v->route ? output_open(&k->route, v->route, err) : ONET_OK;
    if (!status && v->route) route_begin(k->route, v->route, file);
    if (status || !v->out || !file->sets) return status;
    onet_write_options writing = {
        .size = sizeof writing, .set_column = v->read.set_column, .rank_column = v->read.rank_column};
    status = onet_writer_open(&k->out, v->out, &writing, err);
    return status ? status : onet_writer_begin(k->out, file->in, err);
}

static onet_status solve_all(const solve_values *v, const tsp_file *file, const onet_tsp_options *effort,
                             onet_error *err) {
    kept k = {0};
    double length = 0;
    progress p;
    progress_start(&p, v->quiet || file->count == 1);
    interrupt_catch();
    onet_status status = start_out(v, file, &k, err);
    for (size_t i = 0; i < file->count && !status; i++) {
        status = solve_one(v, file, i, effort, &k, &length, err);
        if (status == ONET_INTERRUPTED)
            fail(err, status, "stopped after %zu of %zu instance%s", i, file->count,
                 file->count == 1 ? "" : "s");
        progress_count(&p, "solving", "instances", (double)(i + 1), (double)file->count);
    }
    progress_end(&p);
    if (!status && file->count > 1 && !v->quiet) {
        char text[NUMBER_TEXT];
        printf("%zu instances, mean length %s%s\n", file->count,
               length_text(text, file, &(onet_tsp){0}, length / (double)file->count), unit(file));
    }
    if (!status && k.out && !(status = onet_writer_end(k.out, err))) {
        status = onet_writer_commit(k.out, err);
        k.out = NULL;
    }
    if (!status && k.route) {
        status = output_commit(k.route, err);
        k.route = NULL;
    }
    if (!status && v->draw) {
        tour_sheet sheet = {
            .columns = k.panels < COLUMNS ? k.panels : COLUMNS, .count = k.panels, .panels = k.panel};
        if (k.panels == 1 && k.panel[0].names) sheet.side = NAMED_SIDE;
        status = k.panels ? tours_write(&sheet, v->draw, err)
                          : fail(err, ONET_USAGE, "the instance has no coordinates to draw");
    }
    free_kept(&k);
    return status;
}

/* Refuses files that cannot be written, before the work. */
static onet_status check_places(const solve_values *v, const tsp_file *file, const char *path,
                                onet_error *err) {
    onet_format format;
    if (v->out && output_replaces(v->out, path))
        return fail(err, ONET_USAGE, "%s would be overwritten by --out %s; name another file", path, v->out);
    if (v->route && output_replaces(v->route, path))
        return fail(err, ONET_USAGE, "%s would be overwritten by --route %s; name another file", path,
                    v->route);
    onet_status status = v->draw ? canvas_keeps(v->draw, path, err) : ONET_OK;
    if (!status && v->route) status = route_check(v->route, err);
    if (!status && v->route) status = output_possible(v->route, err);
    if (!status && v->out && file->sets) status = onet_format_of_path(v->out, &format, err);
    if (!status && v->out && !file->sets && !onet_format_of_path(v->out, &format, NULL))
        return fail(
            err, ONET_USAGE,
            "%s: the tours of a TSPLIB instance or a table of costs are written as a TSPLIB .tour file: "
            "name one (or write the stops with --route FILE.csv or FILE.jsonl)",
            v->out);
    if (!status && v->out) status = output_possible(v->out, err);
    if (!status && v->draw) status = canvas_possible(v->draw, err);
    return status;
}

static void note(const onet_error *text) {
    char line[ERROR_LINE];
    fprintf(stderr, "ordernet tsp solve: warning: %s\n", error_line(text, field_option, line));
}

static onet_status run(void *values, int count, char **operands, onet_error *err) {
    (void)count;
    const solve_values *v = values;
    tsp_file file;
    onet_model *model = NULL;
    onet_tsp_options effort = tour_net_effort(&v->net);
    effort.seconds = v->seconds;
    effort.kicks = (int64_t)v->kicks;
    effort.seed = v->seed;
    effort.stop = interrupt_asked;
    effort.improve = v->improve;
    tsp_reading how = {.read = &v->read,
                       .geo = v->geo,
                       .matrix = v->matrix,
                       .name_column = v->name_column,
                       .keep = v->out,
                       .note = v->quiet ? NULL : note};
    onet_status status = tsp_load(&file, operands[0], &how, err);
    if (status) return status;
    status = check_places(v, &file, operands[0], err);
    if (!status && v->method == ONET_TSP_ORDERNET) status = tour_net_open(&v->net, &model, &effort.net, err);
    if (!status) status = solve_all(v, &file, &effort, err);
    onet_tsp_net_free(effort.net);
    onet_model_free(model);
    tsp_unload(&file);
    return status;
}

#define AT(name) offsetof(solve_values, name)

static const option options[] = {
    OPTION(CHOICE, "method", AT(method), .argument = "METHOD", .choices = onet_tsp_methods,
           .help = "How tours are found."),
    OPTION(DOUBLE, "time-limit", AT(seconds), .argument = "SECONDS", RANGE(0, 1e9),
           .help = "exact, and 2opt with --kicks: time for an instance; 0 sets no limit. Where exact cannot "
                   "prove its tour in time it says so and gives the bound that it has."),
    OPTION(U64, "kicks", AT(kicks), .argument = "N", RANGE(0, 1e15),
           .help = "2opt and --improve: go on with N random kicks, each repaired by the same search and kept "
                   "unless the tour became longer."),
    OPTION(FLAG, "improve", AT(improve),
           .help = "Go on from the method's tour with 2-opt and Or-opt moves until none helps, and say what "
                   "that gained. For short tours alone, 2opt with --kicks is the better tool from 20 cities "
                   "on (docs/tours.md)."),
    OPTION(U64, "seed", AT(seed), .argument = "S", .help = "Seed of the kicks."),
    OPTION(STRING, "out", AT(out), .argument = "FILE",
           .help = "Write the tours here instead of printing them: a TSPLIB .tour file for a TSPLIB "
                   "instance or a table of costs, sets with their order in any format for the others."),
    OPTION(STRING, "route", AT(route), .argument = "FILE",
           .help = "Write the stops here in the order of the tour, with the distance from the one before and "
                   "the total: a row per stop (.csv), or an object per tour (.jsonl)."),
    OPTION(STRING, "draw", AT(draw), .argument = "FILE",
           .help = "Draw the first tours, 12 at most: a .svg or .png file, or both where the name has "
                   "neither ending."),
    OPTION_QUIET(AT(quiet)),
    OPTIONS_CITIES(AT(geo), AT(matrix), AT(name_column)),
    OPTIONS_TOURING(AT(net), AT(read)),
    {0},
};

const command cmd_tsp_solve = {
    .name = "tsp solve",
    .summary = "Find tours through cities",
    .operands = "FILE",
    .least = 1,
    .most = 1,
    .about =
        "Reads a TSPLIB file (EUC_2D, CEIL_2D, ATT, GEO, EXPLICIT; TYPE TSP and ATSP), a table of costs "
        "(--matrix), or sets of points or with a relation in any format that 'ordernet order' reads, and "
        "prints for each instance its length and the tour. Distances are Euclidean in double precision, "
        "or rounded as the TSPLIB file asks. A TSPLIB tour is printed in the file's node numbers, from 1; "
        "others in places in the set, from 0, and below, where the cities have names or --geo is given, "
        "stop by stop with the distances. A tour starts at the city with the smallest x+y and runs "
        "counter-clockwise; without coordinates it starts at the first city.\n\n"
        "--matrix: each row has the costs from a city to all others, separated by commas, semicolons or "
        "tabs. The first row, the first column or both may have the names. Where a cost differs from that "
        "of the opposite direction, exact is a dynamic program up to 20 cities, and beyond them gives a "
        "tour and a lower bound; 2opt exchanges paths without reversing any, from several starts; "
        "christofides is not possible; ordernet needs a --model that was trained on costs as its one "
        "relation ('ordernet tsp generate --asymmetric'), and sees them scaled to the mean of its "
        "training data.\n\n"
        "A CSV file without a set column is one list of cities. Columns are found by these names, upper "
        "or lower case: x and y, lon (lng, long, longitude) and lat (latitude), name (city, label, "
        "place). Others may hold anything. --features names other columns.\n\n"
        "For the net, cities of any scale and place are brought to the unit square with one scale for "
        "both axes: the longer side leaves a margin of 1/(n+1) at both ends, the shorter is centred. With "
        "--geo that is done on a map about the middle of the cities, which is continuous across the date "
        "line and the poles. The map is accurate within a few thousand kilometres of the middle; for "
        "cities all over the Earth the net's tours are poor: take --method exact or 2opt there, which use "
        "the distances alone.",
    .examples = "ordernet tsp solve --method exact berlin52.tsp\n"
                "ordernet tsp solve --matrix travel-times.csv\n"
                "ordernet tsp solve --geo --method ordernet --improve --draw tour.png capitals.csv\n"
                "ordernet tsp generate --n 50 --per-size 8 | ordernet tsp solve --method ordernet "
                "--symmetries 8 --draw tours -",
    .options = options,
    .size = sizeof(solve_values),
    .defaults = defaults,
    .run = run,
};
