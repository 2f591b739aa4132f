/* ordernet tsp compare: solves the same instances with several methods, prints the tour lengths and draws the
 * tours. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/canvas.h"
#include "app/command.h"
#include "engine/base/choice.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/shown.h"
#include "tasks/tours/draw.h"
#include "tasks/tours/load.h"
#include "tasks/tours/net_options.h"

enum { MOST_METHODS = ONET_TSP_METHODS, MOST_ROWS = 24, NAME_WIDTH = 12 };

typedef struct compare_values {
    const char *methods;
    double seconds;
    const char *draw, *title, *name_column;
    int geo, matrix;
    onet_read_options read;
    tour_net_values net;
} compare_values;

static void defaults(void *values) {
    compare_values *v = values;
    v->methods = "exact,christofides,ordernet";
    v->seconds = 10;
    onet_read_defaults(&v->read, sizeof v->read);
    tour_net_defaults(&v->net);
}

typedef struct comparison {
    onet_tsp_method method[MOST_METHODS];
    int methods;
    onet_tsp_options effort;
    bool related; /* the net sees distances, not points */
    int rows;     /* instances kept for the picture */
    onet_tsp t[MOST_ROWS];
    int32_t *tour[MOST_ROWS * MOST_METHODS];
    char **names[MOST_ROWS]; /* of the cities of each; NULL: they have none */
    tour_panel panel[MOST_ROWS * MOST_METHODS];
} comparison;

static onet_status parse_methods(comparison *c, const char *list, onet_error *err) {
    for (const char *at = list;; at++) {
        size_t length = strcspn(at, ",");
        const onet_choice *found = choice_named(onet_tsp_methods(), at, length);
        if (!found) {
            char names[128];
            return fail(err, ONET_USAGE, "--methods: '%.*s' is not one of %s", (int)length, at,
                        choice_names(onet_tsp_methods(), ", ", names, sizeof names));
        }
        if (c->methods == MOST_METHODS) return fail(err, ONET_USAGE, "--methods: more than %d", MOST_METHODS);
        c->method[c->methods++] = (onet_tsp_method)found->value;
        at += length;
        if (!*at) return ONET_OK;
    }
}

static void print_head(const comparison *c) {
    printf("%-*s %6s", NAME_WIDTH, "instance", "cities");
    for (int m = 0; m < c->methods; m++) printf("  %20s", choice_name(onet_tsp_methods(), c->method[m]));
    printf("\n");
}

/* Prints one method's column, the length and by how much it is over the first method's, and fills in its
 * panel. */
static void describe(const comparison *c, const onet_tsp *t, int m, const onet_tsp_proof *proof, double first,
                     tour_panel *panel) {
    char over[32] = "";
    double more = first > 0 ? 100 * (proof->length / first - 1) : 0;
    if (m && first > 0) snprintf(over, sizeof over, "%+.2f%%", more > -0.005 && more < 0.005 ? 0.0 : more);
    if (proof->proven) snprintf(over, sizeof over, "optimal");
    printf("  %*.*f %8s", 11, t->whole ? 0 : 4, proof->length, over);
    const char *name = t->name[0] ? t->name : "instance";
    char cell[25];
    snprintf(panel->title, sizeof panel->title, "%s, %d cities",
             shown_text(cell, sizeof cell, name, strlen(name)), t->n);
    snprintf(panel->note, sizeof panel->note, "%s %.*f%s%s", choice_name(onet_tsp_methods(), c->method[m]),
             t->whole ? 0 : 4, proof->length, over[0] ? ", " : "", over);
}

/* Copies the names of n cities, which the picture needs after the file is closed. */
static onet_status copy_names(char ***copy, char *const *names, int n, onet_error *err) {
    if (!names) return ONET_OK;
    if (!(*copy = array_new((size_t)n + 1, sizeof **copy)))
        return fail_memory(err, "the names of the cities");
    for (int i = 0; i < n; i++)
        if (!((*copy)[i] = strdup(names[i] ? names[i] : "")))
            return fail_memory(err, "the names of the cities");
    return ONET_OK;
}

static void free_names(char **names) {
    for (int i = 0; names && names[i]; i++) free(names[i]);
    free(names);
}

/* Whether a method can solve the instance. A net with a relation takes any; other nets need points and
 * symmetric distances; Christofides' method needs symmetric distances. */
static bool applies(const comparison *c, onet_tsp_method method, const onet_tsp *t) {
    if (method == ONET_TSP_ORDERNET) return c->related || (t->xy && !t->asymmetric);
    return method != ONET_TSP_CHRISTOFIDES || !t->asymmetric;
}

/* Solves an instance with all methods; keeps it for the picture if there is room and it can be drawn. */
static onet_status compare_one(comparison *c, onet_tsp *t, char *const *names, onet_error *err) {
    onet_status status = copy_names(&c->names[c->rows], names, t->n, err);
    double first = 0;
    int32_t **tour = c->tour + c->rows * c->methods;
    tour_panel *panel = c->panel + c->rows * c->methods;
    bool keep = t->xy && c->rows < MOST_ROWS - 1;
    const char *name = t->name[0] ? t->name : "instance";
    char cell[NAME_WIDTH + 1];
    shown_text(cell, sizeof cell, name, strlen(name));
    printf("%-*s %6d", shown_width(cell, NAME_WIDTH), cell, t->n);
    for (int m = 0; m < c->methods && !status; m++) {
        onet_tsp_proof proof;
        if (!applies(c, c->method[m], t)) {
            printf("  %11s %8s", "-", "");
            continue;
        }
        tour[m] = array_new((size_t)t->n, sizeof **tour);
        if (!tour[m]) status = fail_memory(err, "a tour");
        if (!status) status = onet_tsp_solve(t, c->method[m], &c->effort, tour[m], &proof, err);
        if (status) break;
        panel[m] = (tour_panel){.n = t->n,
                                .xy = t->xy,
                                .tour = tour[m],
                                .against = m ? tour[0] : NULL,
                                .names = c->names[c->rows]};
        describe(c, t, m, &proof, first, &panel[m]);
        if (!m) first = proof.length;
    }
    printf("\n");
    if (keep && !status) {
        c->t[c->rows++] = *t;
        *t = (onet_tsp){0};
        return ONET_OK;
    }
    free_names(c->names[c->rows]);
    c->names[c->rows] = NULL;
    for (int m = 0; m < c->methods; m++) {
        free(tour[m]);
        tour[m] = NULL;
    }
    return status;
}

static onet_status compare_file(comparison *c, const char *path, const tsp_reading *how, onet_error *err) {
    tsp_file file;
    onet_status status = tsp_load(&file, path, how, err);
    if (status) return status;
    for (size_t i = 0; i < file.count && !status; i++) {
        onet_tsp t = {0};
        status = tsp_instance_make(&file, i, &t, err);
        if (!status) status = compare_one(c, &t, tsp_names(&file, i), err);
        onet_tsp_free(&t);
    }
    tsp_unload(&file);
    return status;
}

static onet_status run(void *values, int count, char **operands, onet_error *err) {
    const compare_values *v = values;
    comparison *c = array_new(1, sizeof *c);
    if (!c) return fail_memory(err, "the comparison");
    onet_model *model = NULL;
    tsp_reading how = {.read = &v->read, .geo = v->geo, .matrix = v->matrix, .name_column = v->name_column};
    c->effort = tour_net_effort(&v->net);
    c->effort.seconds = v->seconds;
    c->effort.seed = 1;
    onet_status status = parse_methods(c, v->methods, err);
    for (int i = 0; i < count && v->draw && !status; i++) status = canvas_keeps(v->draw, operands[i], err);
    if (!status && v->draw) status = canvas_possible(v->draw, err);
    for (int m = 0; m < c->methods && !status && !model; m++)
        if (c->method[m] == ONET_TSP_ORDERNET) status = tour_net_open(&v->net, &model, &c->effort.net, err);
    c->related = model && onet_model_settings(model)->relations;
    if (!status) print_head(c);
    for (int i = 0; i < count && !status; i++) status = compare_file(c, operands[i], &how, err);
    if (!status && v->draw) {
        tour_sheet sheet = {
            .title = v->title, .columns = c->methods, .count = c->rows * c->methods, .panels = c->panel};
        status = tours_write(&sheet, v->draw, err);
    }
    for (int i = 0; i < MOST_ROWS; i++) free_names(c->names[i]);
    for (int i = 0; i < c->rows; i++) onet_tsp_free(&c->t[i]);
    for (int i = 0; i < MOST_ROWS * MOST_METHODS; i++) free(c->tour[i]);
    onet_tsp_net_free(c->effort.net);
    onet_model_free(model);
    free(c);
    return status;
}

#define AT(name) offsetof(compare_values, name)

static const option options[] = {
    OPTION(STRING, "methods", AT(methods), .argument = "A,B,...",
           .help = "Methods of 'ordernet tsp solve'; the others are compared with the first."),
    OPTION(DOUBLE, "time-limit", AT(seconds), .argument = "SECONDS", RANGE(0, 1e9),
           .help = "exact: time for an instance; 0 sets no limit. A tour that is not proven in time lacks "
                   "the word optimal."),
    OPTION(STRING, "draw", AT(draw), .argument = "FILE",
           .help = "Draw the tours side by side, one row per instance, 23 at most, steps that the first "
                   "method's tour does not have in another colour: a .svg or .png file, or both where the "
                   "name has neither ending."),
    OPTION(STRING, "title", AT(title), .argument = "TEXT", .help = "Title of the picture."),
    OPTIONS_CITIES(AT(geo), AT(matrix), AT(name_column)),
    OPTIONS_TOURING(AT(net), AT(read)),
    {0},
};

const command cmd_tsp_compare = {
    .name = "tsp compare",
    .summary = "Show several methods' tours side by side",
    .operands = "FILE ...",
    .least = 1,
    .most = -1,
    .about =
        "Finds tours with several methods through the instances of TSPLIB files, tables of costs and files "
        "of sets, prints their lengths and how much longer they are than the first method's, and draws them "
        "side by side.",
    .examples = "ordernet tsp compare --methods exact,christofides,ordernet --draw tours berlin52.tsp",
    .options = options,
    .size = sizeof(compare_values),
    .defaults = defaults,
    .run = run,
};
