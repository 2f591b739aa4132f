/* ordernet tsp generate: random city sets with proven optimal tours. */
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "data/jsonl.h"
#include "data/sets.h"
#include "data/sets_io.h"
#include "tsp/generate.h"
#include "tsp/stop.h"

/* Instances solved between two writes: fewer where each takes long, so that progress shows. */
static size_t chunk(const option_sizes *n) {
    int most = 0;
    for (int i = 0; i < n->count; i++)
        if (n->value[i] > most) most = n->value[i];
    return most <= 30 ? 4096 : 64;
}

typedef struct generate_values {
    option_sizes n;
    uint64_t per_size, seed;
    tsp_label label;
    const char *out;
    int threads, quiet;
} generate_values;

static void defaults(void *values) {
    generate_values *v = values;
    v->per_size = 1000;
    v->seed = 1;
    v->out = "-";
}

static onet_status write_lines(output *out, const onet_sets *sets, onet_error *err) {
    static const answer_parts parts = {0};
    record r = {0};
    onet_status status = ONET_OK;
    for (size_t s = 0; s < sets->count && !status; s++) {
        status = sets_record(sets, s, ONET_FORMAT_SAFETENSORS, &r, err);
        if (!status) status = jsonl_write(out, &r, NULL, &parts, err);
    }
    record_free(&r);
    return status;
}

/* Lines are written chunk by chunk; the other formats need all sets at once. */
static onet_status generate(const generate_values *v, pool *threads, output *lines, onet_sets **sets,
                            onet_error *err) {
    tsp_plan plan = {.size = v->n.value, .sizes = v->n.count, .seed = v->seed, .label = v->label};
    size_t total = (size_t)v->per_size * (size_t)v->n.count;
    size_t piece = chunk(&v->n);
    progress p;
    progress_start(&p, v->quiet);
    interrupt_catch();
    tsp_stop_when(interrupted);
    onet_status status = sets_new(sets, 2, err);
    for (size_t first = 0; first < total && !status; first += piece) {
        size_t count = total - first < piece ? total - first : piece;
        status = tsp_generate(*sets, &plan, first, count, threads, err);
        if (status == ONET_INTERRUPTED) fail(err, status, "stopped after %zu of %zu instances", first, total);
        if (!status && lines) {
            status = write_lines(lines, *sets, err);
            onet_sets_free(*sets);
            *sets = NULL;
            if (!status) status = sets_new(sets, 2, err);
        }
        progress_count(&p, "solving", "instances", (double)(first + count), (double)total);
    }
    progress_end(&p);
    return status;
}

static onet_status run(void *values, int count, char **operands, onet_error *err) {
    (void)count;
    (void)operands;
    const generate_values *v = values;
    onet_format format = strcmp(v->out, "-") ? ONET_FORMAT_AUTO : ONET_FORMAT_JSONL;
    onet_status status = format_to_write(v->out, &format, err);
    if (!status && format == ONET_FORMAT_NPZ && v->n.count > 1)
        status = fail(err, ONET_USAGE, "NumPy's format holds sets of one size; write .jsonl or .safetensors");
    if (status) return status;
    pool *threads = pool_new(v->threads);
    if (!threads) return fail_memory(err, "threads");
    output *lines = NULL;
    onet_sets *sets = NULL;
    status = format == ONET_FORMAT_JSONL ? output_open(&lines, v->out, err) : output_possible(v->out, err);
    if (!status) status = generate(v, threads, lines, &sets, err);
    if (!status && lines) {
        status = output_commit(lines, err);
        lines = NULL;
    } else if (!status) {
        status = onet_sets_write(sets, v->out, format, err);
    }
    output_abort(lines);
    onet_sets_free(sets);
    pool_free(threads);
    return status;
}

static const option options[] = {
    {.name = "n",
     .kind = OPTION_SIZES,
     .argument = "SIZES",
     .required = true,
     .low = 1,
     .high = TSP_MAX_CITIES,
     .field = offsetof(generate_values, n),
     .help = "Numbers of cities: 20, or 5-20, or 5-20,25,30."},
    {.name = "per-size",
     .kind = OPTION_U64,
     .argument = "N",
     .low = 1,
     .high = 1e12,
     .field = offsetof(generate_values, per_size),
     .help = "Instances of each size."},
    {.name = "seed",
     .kind = OPTION_U64,
     .argument = "S",
     .field = offsetof(generate_values, seed),
     .help = "Another seed gives other instances."},
    {.name = "method",
     .kind = OPTION_CHOICE,
     .choices = tsp_labels,
     .argument = "METHOD",
     .field = offsetof(generate_values, label),
     .help = "Solver of the tours."},
    {.name = "out",
     .kind = OPTION_STRING,
     .argument = "FILE",
     .default_text = "standard output",
     .field = offsetof(generate_values, out),
     .help = "Where to write; the name says the format: .jsonl, .csv, .npz (one size only) or "
             ".safetensors, and .gz behind it compresses."},
    OPTION_THREADS(offsetof(generate_values, threads)),
    OPTION_QUIET(offsetof(generate_values, quiet)),
    {0},
};

const command cmd_tsp_generate = {
    .name = "tsp generate",
    .summary = "Make random city sets with their optimal tours",
    .about =
        "Draws cities uniformly from the unit square, finds the shortest tour and proves it (branch and "
        "bound "
        "on 1-trees, in double precision), and writes JSON Lines: {\"items\": [[x, y], ...], \"order\": "
        "[...]}.\n\nThe tour starts at the city with the smallest x+y and runs counter-clockwise. The sizes "
        "are interleaved: with --n 5-20 the first line has 5 cities, the second 6. Coordinates are float32 "
        "numbers. The file depends on --n, --per-size and --seed alone, not on the number of threads.",
    .examples = "ordernet tsp generate --n 5-20 --per-size 100000 --seed 1 --out train.safetensors\n"
                "ordernet tsp generate --n 10 --per-size 3",
    .options = options,
    .size = sizeof(generate_values),
    .defaults = defaults,
    .run = run,
};
