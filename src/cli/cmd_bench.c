/* ordernet bench: how fast training and ordering are, and what share of the machine's peak that is. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/pool.h"
#include "cli/commands.h"
#include "decode/orderer.h"
#include "kernels/net.h"
#include "kernels/operations.h"
#include "kernels/peak.h"
#include "model/generated.h"
#include "model/model.h"

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

/* `count` sets of n items of the documented generator: the first `count` sets of batch 0. */
static onet_status generated_sets(onet_sets **sets, const shape *sh, int count, int n, onet_error *err) {
    size_t items = (size_t)count * (size_t)n;
    float *x = array_new(items * (size_t)sh->s.width, sizeof *x);
    int32_t *y = array_new(items, sizeof *y);
    onet_status status = ONET_MEMORY;
    if (x && y) {
        generated_batch(1, 0, count, n, sh->s.width, x, y);
        status = onet_sets_from(sets, (size_t)count, n, sh->s.width, x, y, err);
    } else
        fail_memory(err, "the sets");
    free(x);
    free(y);
    return status;
}

/* The best of several stretches: other programs share the machine. A training step is measured in short ones,
 * which often pass undisturbed. */
enum { STRETCHES = 5 };
#define STRETCH_SECONDS 0.05

static onet_status bench_train(const bench_values *v, const onet_model *m, int n, row *r, onet_error *err) {
    const shape *sh = &m->sh;
    onet_sets *sets = NULL;
    net *t = NULL;
    uint32_t *index = array_new((size_t)v->batch, sizeof *index);
    onet_status status = index ? generated_sets(&sets, sh, v->batch, n, err) : fail_memory(err, "the batch");
    if (!status) status = net_open(&t, sh, v->device, 0, v->kernels, v->threads, err);
    if (!status) status = t->ops->reserve(t, batch_of_one_size(v->batch, n), err);
    if (!status) status = t->ops->data(t, sets, NULL, NULL, 0, err);
    if (!status) status = t->ops->put(t, NET_THETA, m->theta, err);
    if (!status) {
        for (int i = 0; i < v->batch; i++) index[i] = (uint32_t)i;
        double best = INFINITY;
        long steps = 0;
        double from = clock_seconds();
        for (int stretch = 0; stretch < STRETCHES || clock_seconds() - from < v->seconds; stretch++) {
            double begin = clock_seconds(), end = begin;
            long here = 0;
            do {
                t->ops->take(t, index, v->batch);
                t->ops->forward(t);
                if (!steps++) r->loss = t->ops->loss(t);
                t->ops->backward(t);
                t->ops->optimise(t, &(adam_step){1, 1e-5, 0.9, 0.999, 1e-8, 1, 1, 0}, 0, NULL);
                here++;
                if (t->losses_kept > 1 && here % 50 == 0) t->ops->loss(t); /* waits for the device */
                end = clock_seconds();
            } while (end - begin < STRETCH_SECONDS);
            t->ops->loss(t);
            double each = (clock_seconds() - begin) / (double)here;
            if (each < best) best = each;
        }
        r->work = "train";
        r->per_second = v->batch / best;
        r->gflops = operations_train(sh, n) * v->batch / best * 1e-9;
        r->kernels = net_kernels(t);
    }
    if (t) t->ops->close(t);
    onet_sets_free(sets);
    free(index);
    return status;
}

static onet_status bench_order(const bench_values *v, const onet_model *m, int n, row *r, onet_error *err) {
    onet_sets *sets = NULL;
    onet_orderer *orderer = NULL;
    int threads = r->threads;
    /* Enough sets for every thread to have several, few enough for a stretch to be short. */
    double one = operations_order(&m->sh, n, v->beam) / 2e10;
    int count = v->sets ? v->sets : (int)fmax(1, fmin(512, ceil(v->seconds / STRETCHES / one))) * threads;
    onet_answer *answers = array_new((size_t)count, sizeof *answers);
    int32_t *order = array_new((size_t)count * (size_t)n, sizeof *order);
    onet_status status =
        answers && order ? generated_sets(&sets, &m->sh, count, n, err) : fail_memory(err, "the answers");
    onet_order_options o = {.size = sizeof o,
                            .decode = v->beam == 1 ? ONET_GREEDY : ONET_BEAM,
                            .beam = v->beam,
                            .threads = v->threads,
                            .kernels = v->kernels,
                            .device = v->device};
    if (!status) status = onet_orderer_new(&orderer, m, &o, err);
    double best = INFINITY, begin = clock_seconds();
    for (int i = 0; i < count && !status; i++) answers[i].order = order + (size_t)i * (size_t)n;
    for (int stretch = 0; !status && (stretch < STRETCHES || clock_seconds() - begin < v->seconds);
         stretch++) {
        double from = clock_seconds();
        status = onet_orderer_run(orderer, sets, answers, err);
        if (clock_seconds() - from < best) best = clock_seconds() - from;
        if (clock_seconds() - begin > 2 * v->seconds && stretch) break;
    }
    r->work = "order";
    r->batch = count;
    r->per_second = count / best;
    r->gflops = operations_order(&m->sh, n, v->beam) * count / best * 1e-9;
    r->loss = NAN;
    r->kernels = orderer && orderer->gpu    ? "cuda"
                 : kernels_pick(v->kernels) ? kernels_pick(v->kernels)->name
                                            : "";
    onet_orderer_free(orderer);
    onet_sets_free(sets);
    free(answers);
    free(order);
    return status;
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
               "\"kernels\": \"%s\", "
               "\"%s_examples_per_second\": %.3f, \"gflops\": %.3f, \"peak_gflops\": %.3f, "
               "\"share_of_peak\": %.4f, "
               "\"memory_mb\": %.1f",
               v->preset, r->work, r->n, r->batch, r->threads, r->kernels, r->work, r->per_second, r->gflops,
               r->peak, share, r->memory);
        if (!isnan(r->loss)) printf(", \"loss\": %.9g", r->loss);
        printf("}\n");
    } else
        printf("%-6s %6d %6d %8d %-8s %13.1f %9.2f %9.2f %6.1f%% %9.0f\n", r->work, r->n, r->batch,
               r->threads, r->kernels, r->per_second, r->gflops, r->peak, 100 * share, r->memory);
    fflush(stdout);
}

static onet_status make_model(const bench_values *v, onet_model **m, onet_error *err) {
    onet_settings s;
    onet_status status = onet_settings_preset(&s, v->preset, err);
    if (status) return status;
    s.width = v->width ? v->width : !strcmp(v->preset, "words") ? 50 : 2;
    if (v->encoder_blocks) s.encoder_blocks = v->encoder_blocks;
    if (v->hidden) s.hidden = v->hidden;
    if (v->encoder_out) s.encoder_out = v->encoder_out;
    if (v->decoder_blocks) s.decoder_blocks = v->decoder_blocks;
    if (v->decoder_out) s.decoder_out = v->decoder_out;
    if (s.pool == ONET_POOL_AUTO) s.pool = ONET_POOL_MEAN;
    status = model_new(m, &s, err);
    if (!status) generated_theta(&(*m)->sh, 1, (*m)->theta);
    return status;
}

static onet_status run(void *values, int count, char **operands, onet_error *err) {
    bench_values *v = values;
    (void)count, (void)operands;
    onet_model *m;
    onet_status status = make_model(v, &m, err);
    if (status) return status;
    FILE *csv = NULL;
    if (v->csv && !(csv = fopen(v->csv, "w"))) {
        onet_model_free(m);
        return fail(err, ONET_IO, "%s cannot be written", v->csv);
    }
    pool *p = pool_new(v->threads);
    int threads = pool_threads(p);
    pool_free(p);
    if (!v->n.count) {
        static const int usual[] = {5, 10, 20};
        for (v->n.count = 0; v->n.count < 3; v->n.count++) v->n.value[v->n.count] = usual[v->n.count];
    }
    bool begun = false;
    for (int i = 0; i < v->n.count && !status; i++)
        for (int order = 0; order < 2 && !status; order++) {
            if ((v->train || v->order) && !(order ? v->order : v->train)) continue;
            row r = {.n = v->n.value[i], .batch = v->batch, .threads = threads};
            /* The peak just before and just after: the machine's clock and load change. */
            double before = peak_gflops(threads, 0.2);
            status = order ? bench_order(v, m, r.n, &r, err) : bench_train(v, m, r.n, &r, err);
            if (status) break;
            double after = peak_gflops(threads, 0.2);
            r.peak = before > after ? before : after;
            r.memory = memory_mb();
            if (!begun) print_heading(v, csv); /* not before something could be measured */
            begun = true;
            print_row(v, &r, csv);
        }
    if (csv && fclose(csv) && !status) status = fail(err, ONET_IO, "%s cannot be written", v->csv);
    onet_model_free(m);
    return status;
}

#define WIDTH(called, at, text)                                                                              \
    {                                                                                                        \
        .name = called, .kind = OPTION_INT, .argument = "N", .field = offsetof(bench_values, at), .low = 0,  \
        .high = 8192, .default_text = "the preset's", .help = text                                           \
    }

static const option options[] = {
    {.group = "What is measured"},
    {.name = "train",
     .kind = OPTION_FLAG,
     .field = offsetof(bench_values, train),
     .help = "Training steps only."},
    {.name = "order", .kind = OPTION_FLAG, .field = offsetof(bench_values, order), .help = "Ordering only."},
    {.name = "n",
     .kind = OPTION_SIZES,
     .argument = "SIZES",
     .field = offsetof(bench_values, n),
     .low = 1,
     .high = 1000000,
     .default_text = "5,10,20",
     .help = "Items per set: 5-20,50."},
    {.name = "batch",
     .kind = OPTION_INT,
     .argument = "N",
     .field = offsetof(bench_values, batch),
     .low = 1,
     .high = 1 << 20,
     .help = "Sets a training step."},
    {.name = "beam",
     .kind = OPTION_INT,
     .argument = "K",
     .field = offsetof(bench_values, beam),
     .low = 1,
     .high = 1000000,
     .help = "Beams in ordering; 1 is the greedy search."},
    {.name = "sets",
     .kind = OPTION_INT,
     .argument = "N",
     .field = offsetof(bench_values, sets),
     .low = 0,
     .high = 1 << 24,
     .default_text = "as many as fill the time",
     .help = "Sets put in order at once."},
    {.name = "seconds",
     .kind = OPTION_DOUBLE,
     .argument = "S",
     .field = offsetof(bench_values, seconds),
     .low = 0.01,
     .high = 86400,
     .help = "Time for each measurement; the best of several stretches counts."},
    {.group = "The net"},
    {.name = "preset",
     .kind = OPTION_NAME,
     .argument = "NAME",
     .choices = onet_presets,
     .field = offsetof(bench_values, preset),
     .help = "Widths and depths to start from."},
    WIDTH("width", width, "Features an item."),
    WIDTH("encoder-blocks", encoder_blocks, "Encoder blocks."),
    WIDTH("hidden", hidden, "Channels inside an encoder block."),
    WIDTH("encoder-out", encoder_out, "Channels that an encoder block adds."),
    WIDTH("decoder-blocks", decoder_blocks, "Decoder blocks."),
    WIDTH("decoder-out", decoder_out, "Channels that a decoder block adds."),
    {.group = "How"},
    OPTION_THREADS(offsetof(bench_values, threads)),
    OPTION_KERNELS(offsetof(bench_values, kernels)),
    OPTION_DEVICE(offsetof(bench_values, device)),
    {.name = "json",
     .kind = OPTION_FLAG,
     .field = offsetof(bench_values, json),
     .help = "One JSON object per line."},
    {.name = "csv",
     .kind = OPTION_STRING,
     .argument = "FILE",
     .field = offsetof(bench_values, csv),
     .help = "Also write the table here."},
    {0},
};

const command cmd_bench = {
    .name = "bench",
    .summary = "Measure the speed of training and ordering",
    .about =
        "Measures examples a second and the useful operations a second (after splitting; the formula is in "
        "docs/speed.md), and sets them against what the processor can do at most, measured in the same run: "
        "multiply-adds in registers on all threads. Weights and sets come from a documented generator, so "
        "that the loss of the first step can be compared with another program's.",
    .examples = "ordernet bench --preset tsp --n 5,10,20 --batch 128\n"
                "ordernet bench --preset words --n 5 --train --json",
    .options = options,
    .size = sizeof(bench_values),
    .defaults = defaults,
    .run = run,
};
