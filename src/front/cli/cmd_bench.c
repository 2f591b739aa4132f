/* ordernet bench: measures for sets of each given size the speed of training and ordering, its share of the
 * CPU's peak speed, and the memory used; prints a table or JSON, and can write CSV. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "app/command.h"
#include "engine/base/error.h"
#include "engine/base/limits.h"
#include "ordernet_measure.h"

typedef struct bench_values {
    const char *preset, *kernels, *device, *csv;
    option_sizes n;
    int width, encoder_blocks, hidden, encoder_out, decoder_blocks, decoder_out;
    int batch, beam, sets, threads, train, order, json;
    double seconds;
} bench_values;

static void defaults(void *values) {
    bench_values *v = values;
    v->preset = "tsp";
    v->batch = 128;
    v->beam = 5;
    v->seconds = 2;
}

typedef struct row {
    const char *work;
    int n, batch, threads;
    double per_second, gflops, peak, loss, memory;
    const char *kernels;
} row;

static double memory_mb(void) {
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (double)use.ru_maxrss / 1024;
}

static void print_heading(const bench_values *v, FILE *csv) {
    if (csv)
        fprintf(
            csv,
            "preset,work,n,batch,threads,kernels,examples_per_second,gflops,peak_gflops,share,memory_mb\n");
    if (!v->json)
        printf("%-6s %6s %6s %8s %-8s %13s %9s %9s %7s %9s\n", "work", "n", "sets", "threads", "kernels",
               "examples/s", "GFLOP/s", "peak", "share", "memory MB");
}

static void print_row(const bench_values *v, const row *r, FILE *csv) {
    double share = r->gflops / r->peak;
    if (csv)
        fprintf(csv, "%s,%s,%d,%d,%d,%s,%.1f,%.2f,%.2f,%.4f,%.1f\n", v->preset, r->work, r->n, r->batch,
                r->threads, r->kernels, r->per_second, r->gflops, r->peak, share, r->memory);
    if (v->json) {
        printf("{\"preset\": \"%s\", \"work\": \"%s\", \"n\": %d, \"batch\": %d, \"threads\": %d, "
               "\"kernels\": \"%s\", \"%s_examples_per_second\": %.3f, \"gflops\": %.3f, \"peak_gflops\": "
               "%.3f, \"share_of_peak\": %.4f, \"memory_mb\": %.1f",
               v->preset, r->work, r->n, r->batch, r->threads, r->kernels, r->work, r->per_second, r->gflops,
               r->peak, share, r->memory);
        if (!isnan(r->loss)) printf(", \"loss\": %.9g", r->loss);
        printf("}\n");
    } else
        printf("%-6s %6d %6d %8d %-8s %13.1f %9.2f %9.2f %6.1f%% %9.0f\n", r->work, r->n, r->batch,
               r->threads, r->kernels, r->per_second, r->gflops, r->peak, 100 * share, r->memory);
    fflush(stdout);
}

/* Sets all options of a measurement except n. */
static onet_status choose(const bench_values *v, onet_speed_options *o, onet_error *err) {
    onet_speed_defaults(o, sizeof *o);
    onet_settings *s = &o->settings;
    onet_status status = onet_settings_preset(s, v->preset, err);
    s->width = !strcmp(v->preset, "words") ? 50 : 2;
    if (v->width) s->width = v->width;
    if (v->encoder_blocks) s->encoder_blocks = v->encoder_blocks;
    if (v->hidden) s->hidden = v->hidden;
    if (v->encoder_out) s->encoder_out = v->encoder_out;
    if (v->decoder_blocks) s->decoder_blocks = v->decoder_blocks;
    if (v->decoder_out) s->decoder_out = v->decoder_out;
    if (s->pool == ONET_POOL_AUTO) s->pool = ONET_POOL_MEAN;
    o->batch = v->batch;
    o->beam = v->beam;
    o->sets = v->sets;
    o->seconds = v->seconds;
    o->threads = v->threads;
    o->kernels = v->kernels;
    o->device = v->device;
    return status;
}

static onet_status measure(const onet_speed_options *o, bool order, row *r, onet_error *err) {
    int threads = onet_threads(o->threads);
    onet_speed speed;
    /* The peak just before and just after: the machine's clock and load change. */
    double before = onet_speed_peak(threads, 0.2);
    onet_status status = order ? onet_speed_order(&speed, o, err) : onet_speed_train(&speed, o, err);
    if (status) return status;
    double after = onet_speed_peak(threads, 0.2);
    *r = (row){.work = order ? "order" : "train",
               .n = o->n,
               .batch = speed.sets,
               .threads = threads,
               .per_second = speed.sets_per_second,
               .gflops = speed.gflops,
               .peak = before > after ? before : after,
               .loss = speed.loss,
               .memory = memory_mb(),
               .kernels = speed.kernels};
    return ONET_OK;
}

static onet_status run(void *values, int count, char **operands, onet_error *err) {
    bench_values *v = values;
    (void)count, (void)operands;
    onet_speed_options o;
    onet_status status = choose(v, &o, err);
    if (status) return status;
    FILE *csv = NULL;
    if (v->csv && !(csv = fopen(v->csv, "w"))) return fail(err, ONET_IO, "%s cannot be written", v->csv);
    if (!v->n.count) {
        static const int sizes[] = {5, 10, 20};
        for (v->n.count = 0; v->n.count < 3; v->n.count++) v->n.value[v->n.count] = sizes[v->n.count];
    }
    bool begun = false;
    for (int i = 0; i < v->n.count && !status; i++)
        for (int order = 0; order < 2 && !status; order++) {
            if ((v->train || v->order) && !(order ? v->order : v->train)) continue;
            row r;
            o.n = v->n.value[i];
            if ((status = measure(&o, order, &r, err))) break;
            if (!begun) print_heading(v, csv); /* not before something could be measured */
            begun = true;
            print_row(v, &r, csv);
        }
    if (csv && fclose(csv) && !status) status = fail(err, ONET_IO, "%s cannot be written", v->csv);
    return status;
}

#define WIDTH(called, at, text)                                                                              \
    {                                                                                                        \
        .name = called, .kind = OPTION_INT, .argument = "N", .field = offsetof(bench_values, at), .low = 0,  \
        .high = MAX_HIDDEN, .default_text = "the preset's", .help = text                                     \
    }

static const option options[] = {
    {.group = "What is measured"},
    OPTION(FLAG, "train", offsetof(bench_values, train), .help = "Training steps only."),
    OPTION(FLAG, "order", offsetof(bench_values, order), .help = "Ordering only."),
    OPTION(SIZES, "n", offsetof(bench_values, n), .argument = "SIZES", RANGE(1, 1000000),
           .default_text = "5,10,20", .help = "Items per set: 5-20,50."),
    OPTION(INT, "batch", offsetof(bench_values, batch), .argument = "N", RANGE(1, 1 << 20),
           .help = "Sets per training step."),
    OPTION(INT, "beam", offsetof(bench_values, beam), .argument = "K", RANGE(1, 1000000),
           .help = "Beam width in ordering; 1 is greedy search."),
    OPTION(INT, "sets", offsetof(bench_values, sets), .argument = "N", RANGE(0, 1 << 24),
           .default_text = "as many as fill the time", .help = "Sets ordered in one call."),
    OPTION(DOUBLE, "seconds", offsetof(bench_values, seconds), .argument = "S", RANGE(0.01, 86400),
           .help = "Time for each measurement; the best of several stretches counts."),
    {.group = "The net"},
    OPTION(NAME, "preset", offsetof(bench_values, preset), .argument = "NAME", .choices = onet_presets,
           .help = "Widths and depths to start from."),
    WIDTH("width", width, "Features per item."),
    WIDTH("encoder-blocks", encoder_blocks, "Encoder blocks."),
    WIDTH("hidden", hidden, "Channels inside an encoder block."),
    WIDTH("encoder-out", encoder_out, "Channels that an encoder block adds."),
    WIDTH("decoder-blocks", decoder_blocks, "Decoder blocks."),
    WIDTH("decoder-out", decoder_out, "Channels that a decoder block adds."),
    {.group = "How"},
    OPTION_THREADS(offsetof(bench_values, threads)),
    OPTION_KERNELS(offsetof(bench_values, kernels)),
    OPTION_DEVICE(offsetof(bench_values, device)),
    OPTION(FLAG, "json", offsetof(bench_values, json), .help = "One JSON object per line."),
    OPTION(STRING, "csv", offsetof(bench_values, csv), .argument = "FILE",
           .help = "Also write the table here."),
    {0},
};

const command cmd_bench = {
    .name = "bench",
    .summary = "Measure the speed of training and ordering",
    .about = "Measures examples per second and useful operations per second (docs/speed.md has the formula), "
             "and compares them with the peak of the CPU, measured in the same run by multiply-adds in "
             "registers on all threads. Weights and sets come from a documented generator, "
             "so that the loss of the first step can be compared with another program's.",
    .examples = "ordernet bench --preset tsp --n 5,10,20 --batch 128\n"
                "ordernet bench --preset words --n 5 --train --json",
    .options = options,
    .size = sizeof(bench_values),
    .defaults = defaults,
    .run = run,
};
