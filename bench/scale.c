/* Predicts the speed of training on several nodes: counts what a step sends, measures its time on this
 * machine, and puts both into the formula of docs/scale.md.
 *
 *     scale [THREADS [A B SPLIT A B SPLIT]]
 *
 * A B SPLIT describe another kind of node, such as a GPU, once for the TSP and once for the word net: the
 * milliseconds of a step of 128 sets and of 512, and the milliseconds more that a step takes if it is split
 * at its all-reduces. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/base/rng.h"
#include "engine/kernels/backend.h"
#include "engine/kernels/operations.h"
#include "engine/model/generated.h"

enum { LARGEST = 128, NETWORKS = 2 };

typedef struct traffic {
    long sums;
    double bytes;
} traffic;

static void count_sum(void *context, double *values, size_t count) {
    (void)values;
    traffic *t = context;
    t->sums++;
    t->bytes += 8.0 * (double)count;
}

static void count_floats(void *context, real *values, size_t count) {
    (void)values;
    traffic *t = context;
    t->sums++;
    t->bytes += 4.0 * (double)count;
}

static int threads; /* if 1, CPU time is measured, which other programs on the machine do not affect */

static double now(void) {
    struct timespec t;
    clock_gettime(threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static _Noreturn void die(const char *text) {
    fprintf(stderr, "scale: %s\n", text);
    exit(1);
}

static void step(net *t, const uint32_t *index, int B, int n) {
    t->whole = batch_of_one_size(B, n);
    t->ops->start_step(t, index, B);
    t->ops->forward(t);
    t->ops->backward(t);
    t->ops->optimise(t, &(adam_step){1, 1e-5, 0.9, 0.999, 1e-8, 1, 1, 0}, 0, NULL);
}

/* Returns the shortest of many steps: other programs share the machine. */
static double best_step(net *t, const uint32_t *index, int B, int n) {
    double best = INFINITY, begin = now();
    while (now() - begin < 1) {
        double start = now();
        step(t, index, B, n);
        if (now() - start < best) best = now() - start;
    }
    return best;
}

/* The seconds of a step: fixed + each * B, and split if there are several nodes. */
typedef struct node {
    double fixed, each, split;
} node;

/* Measures the seconds of a step of 16 sets of n items and of one of LARGEST sets, and counts what a step
 * sends. */
static void measure(const net_shape *sh, int n, double *small, double *large, traffic *sent) {
    net *t;
    onet_sets *sets = NULL;
    onet_error err;
    int d = sh->s.width;
    float *x = malloc((size_t)LARGEST * n * d * sizeof *x), *theta = malloc(sh->total * sizeof *theta);
    int32_t *y = malloc((size_t)LARGEST * n * sizeof *y);
    uint32_t index[LARGEST];
    if (!x || !y || !theta) die("not enough memory");
    generated_batch(1, 0, LARGEST, n, d, x, y);
    generated_theta(sh, 1, theta);
    for (uint32_t i = 0; i < LARGEST; i++) index[i] = i;
    if (onet_sets_from(&sets, LARGEST, n, d, x, y, &err) || cpu_open(&t, sh, "auto", threads, &err) ||
        t->ops->reserve(t, batch_of_one_size(LARGEST, n), &err) ||
        t->ops->data(t, sets, NULL, NULL, 0, &err) || t->ops->put(t, NET_THETA, theta, &err))
        die(err.text);
    t->sum = count_sum;
    t->sum_floats = count_floats;
    t->sum_context = sent;
    *sent = (traffic){0};
    step(t, index, 1, n);
    sent->sums++; /* world_agree after the step: 64 numbers */
    sent->bytes += 64 * 8;
    traffic once = *sent;
    *small = best_step(t, index, 16, n);
    *large = best_step(t, index, LARGEST, n);
    *sent = once;
    t->ops->close(t);
    onet_sets_free(sets);
    free(x);
    free(y);
    free(theta);
}

/* Returns the mean over batches of the sizes first .. last. */
static node measure_sizes(const net_shape *sh, int first, int last, traffic *sent) {
    double small = 0, large = 0, sizes = last - first + 1;
    for (int n = first; n <= last; n++) {
        double s, l;
        measure(sh, n, &s, &l, sent);
        small += s / sizes;
        large += l / sizes;
    }
    node m = {.each = (large - small) / (LARGEST - 16)};
    m.fixed = small - 16 * m.each;
    if (m.fixed < 0) m.fixed = 0;
    return m;
}

/* Returns the mean of the largest share when B sets fall on k nodes at random. */
static double largest_share(int B, int k) {
    enum { TRIALS = 200 };
    static int share[64];
    double sum = 0;
    rng r;
    rng_seed(&r, 1, (uint64_t)B * 1000 + (uint64_t)k);
    for (int trial = 0; trial < TRIALS; trial++) {
        int most = 0;
        memset(share, 0, sizeof share);
        for (int b = 0; b < B; b++) {
            int s = ++share[rng_below(&r, (uint64_t)k)];
            if (s > most) most = s;
        }
        sum += most;
    }
    return sum / TRIALS;
}

static const struct network {
    const char *name;
    double latency, bandwidth; /* seconds per message; bytes per second */
} networks[NETWORKS] = {{"10 Gbit/s Ethernet", 30e-6, 1.25e9}, {"100 Gbit/s InfiniBand", 2e-6, 12.5e9}};

static double step_time(const node *m, const traffic *sent, const struct network *w, int B, int k, int even) {
    double rounds = 2 * ceil(log2(k)), share = B;
    if (k > 1) share = even ? ceil((double)B / k) : largest_share(B, k);
    return m->fixed + m->each * share + (k > 1 ? m->split : 0) +
           rounds * ((double)sent->sums * w->latency + sent->bytes / w->bandwidth);
}

/* Returns the smallest batch, a power of two, from which on k nodes are `times` as fast as one; 0: none up to
 * 2^16. */
static int pays_from(const node *m, const traffic *sent, const struct network *w, int k, double times) {
    int found = 0;
    for (int B = 1 << 16; B >= 1; B /= 2) {
        if (step_time(m, sent, w, B, 1, 0) < times * step_time(m, sent, w, B, k, 0)) break;
        found = B;
    }
    return found;
}

static void print_node(const char *what, const node *m, const traffic *sent) {
    printf("\n%s: a step takes %.3g ms + %.3g us per set\n", what, 1e3 * m->fixed, 1e6 * m->each);
    for (int i = 0; i < NETWORKS; i++) {
        const struct network *w = &networks[i];
        printf("| %s: nodes | 2 | 4 | 8 | 16 | 32 | 64 |\n| --- | --- | --- | --- | --- | --- | --- |\n",
               w->name);
        static const int batch[] = {128, 1024, 8192};
        for (int b = 0; b < 3; b++) {
            printf("| times as fast, batch %d |", batch[b]);
            for (int k = 2; k <= 64; k *= 2)
                printf(" %.2f |",
                       step_time(m, sent, w, batch[b], 1, 0) / step_time(m, sent, w, batch[b], k, 0));
            printf("\n");
        }
        printf("| the same with even shares, batch 1024 |");
        for (int k = 2; k <= 64; k *= 2)
            printf(" %.2f |", step_time(m, sent, w, 1024, 1, 0) / step_time(m, sent, w, 1024, k, 1));
        printf("\n| pays from batch |");
        for (int k = 2; k <= 64; k *= 2) printf(" %d |", pays_from(m, sent, w, k, 1));
        printf("\n| half of k times as fast from batch |");
        for (int k = 2; k <= 64; k *= 2) {
            int B = pays_from(m, sent, w, k, k / 2.0);
            if (B)
                printf(" %d |", B);
            else
                printf(" - |");
        }
        printf("\n");
    }
}

int main(int argc, char **argv) {
    static const struct {
        const char *preset;
        int width, first, last; /* sizes of the sets */
    } nets[] = {{"tsp", 2, 5, 20}, {"words", 50, 5, 5}};
    threads = argc > 1 ? atoi(argv[1]) : 0;
    for (int i = 0; i < 2; i++) {
        onet_settings s;
        onet_error err;
        net_shape *sh = malloc(sizeof *sh);
        if (!sh || onet_settings_preset(&s, nets[i].preset, &err)) die("the preset");
        s.width = nets[i].width;
        if (net_shape_make(sh, &s, &err)) die(err.text);
        traffic sent;
        int first = nets[i].first, last = nets[i].last;
        node m = measure_sizes(sh, first, last, &sent);
        double operations = 0;
        for (int n = first; n <= last; n++) operations += operations_train(sh, n) / (last - first + 1);
        char sizes[32];
        snprintf(sizes, sizeof sizes, first < last ? "sizes %d-%d" : "n = %d", first, last);
        printf("%s%s net, %s: %.3g million operations per set; %ld all-reduces per step of %.0f KiB, %.0f of "
               "them the "
               "gradient of %zu numbers\n",
               i ? "\n" : "", nets[i].preset, sizes, 1e-6 * operations, sent.sums, sent.bytes / 1024,
               4.0 * (double)sh->trained / 1024, sh->trained);
        print_node("this machine", &m, &sent);
        if (argc >= 8) {
            double small = 1e-3 * atof(argv[2 + 3 * i]), large = 1e-3 * atof(argv[3 + 3 * i]);
            node other = {.each = (large - small) / (512 - 128), .split = 1e-3 * atof(argv[4 + 3 * i])};
            other.fixed = small - 128 * other.each;
            print_node("the other kind of node", &other, &sent);
        }
        free(sh);
    }
    return 0;
}
