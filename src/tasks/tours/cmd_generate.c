/* ordernet tsp generate: writes random sets of cities, or of costs between cities, with their shortest tours
 * (for many cities, the best of a local search). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/command.h"
#include "app/interrupt.h"
#include "app/progress.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "tasks/tours/generate.h"

typedef struct generate_values {
    option_sizes n;
    uint64_t per_size, seed;
    tsp_shape shape;
    tsp_label label;
    const char *out;
    int asymmetric, kicks, symmetries, threads, quiet;
} generate_values;

static void defaults(void *values) {
    generate_values *v = values;
    v->per_size = 1000;
    v->seed = 1;
    v->kicks = TSP_LABEL_KICKS;
    v->symmetries = 1;
    v->out = "-";
}

typedef struct generating {
    onet_writer *out;
    onet_record *record;
    progress line;
    size_t done, total;
} generating;

static void count(generating *w) {
    w->done++;
    progress_count(&w->line, "solving", "instances", (double)w->done, (double)w->total);
}

/* Instances are written one by one: formats of lines need not hold all of them. */
static onet_status write_instance(void *context, int n, const float *xy, const int32_t *tour,
                                  onet_error *err) {
    generating *w = context;
    size_t start[] = {0, (size_t)n};
    /* Lent, not owned: this is never freed as sets. */
    onet_sets set = {.count = 1, .width = 2, .start = start, .items = (float *)xy, .order = (int32_t *)tour};
    onet_status status = onet_sets_record(&set, 0, w->record, err);
    if (!status) status = onet_writer_put(w->out, w->record, NULL, err);
    count(w);
    return status;
}

/* Writes an instance with its costs as the one relation. City 0 is the depot: its feature is 1, and it comes
 * first. */
static onet_status write_costs(void *context, int n, const float *costs, const int32_t *tour,
                               onet_error *err) {
    generating *w = context;
    size_t start[] = {0, (size_t)n};
    float *depot = array_new((size_t)n, sizeof *depot);
    size_t *row = array_new((size_t)n, sizeof *row);
    onet_status status = depot && row ? ONET_OK : fail_memory(err, "an instance");
    for (int i = 0; i < n && !status; i++) {
        depot[i] = !i;
        row[i] = (size_t)i * (size_t)n;
    }
    onet_pairs pairs = {.width = 1, .row = row, .value = (float *)costs};
    onet_constraint first = {.kind = ONET_PLACE};
    onet_sets set = {.count = 1,
                     .width = 1,
                     .start = start,
                     .items = depot,
                     .order = (int32_t *)tour,
                     .pairs = &pairs,
                     .constraints = &first,
                     .constraint_count = 1};
    if (!status) status = onet_sets_record(&set, 0, w->record, err);
    if (!status) status = onet_writer_put(w->out, w->record, NULL, err);
    free(depot);
    free(row);
    count(w);
    return status;
}

static onet_status generate(const generate_values *v, thread_pool *threads, onet_writer *out,
                            onet_error *err) {
    enum { MOST = 1 << 30 }; /* instances per call */
    tsp_plan plan = {.size = v->n.value,
                     .sizes = v->n.count,
                     .seed = v->seed,
                     .shape = v->shape,
                     .asymmetric = v->asymmetric,
                     .label = v->label,
                     .kicks = v->kicks,
                     .symmetries = v->symmetries,
                     .stop = interrupt_asked};
    size_t instances = (size_t)v->per_size * (size_t)v->n.count, views = (size_t)v->symmetries;
    generating w = {.out = out, .total = instances * views};
    onet_status status = onet_record_new(&w.record, err);
    progress_start(&w.line, v->quiet);
    interrupt_catch();
    if (!status) status = onet_writer_begin(out, NULL, err);
    for (size_t first = 0; first < instances && !status; first += MOST) {
        size_t count = instances - first < MOST ? instances - first : MOST;
        status =
            tsp_generate(&plan, first, count, threads, v->asymmetric ? write_costs : write_instance, &w, err);
        if (status == ONET_INTERRUPTED)
            fail(err, status, "stopped after %zu of %zu instances", w.done, w.total);
    }
    progress_end(&w.line);
    onet_record_free(w.record);
    return status ? status : onet_writer_end(out, err);
}

static const option options[] = {
    OPTION(SIZES, "n", offsetof(generate_values, n), .required = true, .argument = "SIZES",
           RANGE(1, ONET_TSP_MAX_CITIES), .help = "Numbers of cities: 20, or 5-20, or 5-20,25,30."),
    OPTION(U64, "per-size", offsetof(generate_values, per_size), .argument = "N", RANGE(1, 1e12),
           .help = "Instances of each size."),
    OPTION(U64, "seed", offsetof(generate_values, seed), .argument = "S",
           .help = "Another seed gives other instances."),
    OPTION(CHOICE, "shape", offsetof(generate_values, shape), .argument = "SHAPE", .choices = tsp_shapes,
           .help = "Where the cities lie."),
    OPTION(FLAG, "asymmetric", offsetof(generate_values, asymmetric),
           .help =
               "Costs from city to city that depend on the direction, in place of points: drawn at random, "
               "then shortest paths, as travel times are, with a mean of 1. The first city is the depot, "
               "where a tour begins."),
    OPTION(INT, "symmetries", offsetof(generate_values, symmetries), .argument = "N", RANGE(1, 8),
           .help = "1 or 8: each instance once, or under the 8 symmetries of the square, each with its own "
                   "start and direction of the same tour: eight times the data for the price of one."),
    OPTION(CHOICE, "method", offsetof(generate_values, label), .argument = "METHOD", .choices = tsp_labels,
           .help = "Solver of the tours."),
    OPTION(INT, "kicks", offsetof(generate_values, kicks), .argument = "N", RANGE(0, 1e6),
           .help = "Of the local search: random double bridges per city, each repaired by 2-opt and Or-opt "
                   "moves, and undone if the tour became longer."),
    OPTION(STRING, "out", offsetof(generate_values, out), .argument = "FILE",
           .default_text = "standard output",
           .help = "Where to write; the name says the format: .jsonl, .csv, .npz or .safetensors, and .gz "
                   "behind it compresses."),
    OPTION_THREADS(offsetof(generate_values, threads)),
    OPTION_QUIET(offsetof(generate_values, quiet)),
    {0},
};

/* Writes the command line that the sets depend on: the options in the order of the help page, down to --out.
 */
static void describe(const generate_values *v, char *text, size_t size) {
    size_t used = (size_t)snprintf(text, size, "ordernet tsp generate");
    for (const option *o = options; strcmp(o->name, "out") && used < size; o++) {
        char value[2048];
        if (o->kind == OPTION_FLAG) {
            if (v->asymmetric) used += (size_t)snprintf(text + used, size - used, " --%s", o->name);
            continue;
        }
        option_default(o, v, value, sizeof value);
        used += (size_t)snprintf(text + used, size - used, " --%s %s", o->name, value);
    }
}

static onet_status run(void *values, int count, char **operands, onet_error *err) {
    (void)count;
    (void)operands;
    const generate_values *v = values;
    onet_format format = ONET_FORMAT_JSONL;
    onet_status status = strcmp(v->out, "-") ? onet_format_of_path(v->out, &format, err) : ONET_OK;
    if (!status && v->symmetries != 1 && v->symmetries != 8)
        status = fail(err, ONET_USAGE, "%d symmetries; a square has 1 or 8 to choose from", v->symmetries);
    if (!status && v->asymmetric && (v->shape || v->symmetries != 1))
        status = fail(err, ONET_USAGE, "--asymmetric costs belong to no points; leave out --%s",
                      v->shape ? "shape" : "symmetries");
    if (status) return status;
    thread_pool *threads = thread_pool_new(v->threads);
    if (!threads) return fail_memory(err, "threads");
    char made[4096];
    describe(v, made, sizeof made);
    onet_writer *out = NULL;
    onet_write_options writing = {.size = sizeof writing, .format = format, .made = made};
    status = output_possible(v->out, err);
    if (!status) status = onet_writer_open(&out, v->out, &writing, err);
    if (!status) status = generate(v, threads, out, err);
    if (status)
        onet_writer_abort(out);
    else
        status = onet_writer_commit(out, err);
    thread_pool_free(threads);
    return status;
}

const command cmd_tsp_generate = {
    .name = "tsp generate",
    .summary = "Make random city sets with their shortest tours",
    .about =
        "Draws cities, finds the shortest tour and writes JSON Lines: {\"items\": [[x, y], ...], "
        "\"order\": [...]}; with --asymmetric {\"items\": [[1], [0], ...], \"pairs\": [[null, c, ...], ...], "
        "\"prefix\": [0], \"order\": [...]}, pairs[i][j] the cost from i to j. Up to 50 cities of the unit "
        "square the tour is proven to be the shortest (branch "
        "and bound on 1-trees, in double precision). Beyond, and from 13 cities of the other shapes on, "
        "which are harder to prove, a local search finds it or one that is slightly longer: 0.02% on "
        "average at 100 cities, 0.14% at 200; more --kicks find shorter ones. Asymmetric tours are proven up "
        "to "
        "16 cities, or 20 with --method exact.\n\nThe tour "
        "starts at the city with the smallest x+y and runs counter-clockwise. The sizes are "
        "interleaved: with --n 5-20 the first line has 5 cities, the second 6. Coordinates are float32 "
        "numbers. The file depends on the options alone, not on the number of threads. JSON Lines (the key "
        "\"made\" of the first set) and .safetensors (in the metadata) say which these were.",
    .examples = "ordernet tsp generate --n 5-20 --per-size 100000 --seed 1 --out train.safetensors\n"
                "ordernet tsp generate --n 10-100 --per-size 1000 --shape mixed --symmetries 8 --out "
                "train.safetensors\n"
                "ordernet tsp generate --asymmetric --n 5-14 --per-size 4000 --out train.jsonl\n"
                "ordernet tsp generate --n 10 --per-size 3",
    .options = options,
    .size = sizeof(generate_values),
    .defaults = defaults,
    .run = run,
};
