/* Tests ordering on the GPU against the plain C kernels: greedy, beams, all orders of a set, scores of given
 * orders, sets of many sizes in one call, context items and constraints, poisoned memory, the same bits in
 * every run. Needs a GPU, or the library that emulates one. usage: test_cuda_order [LIBRARY
 * [small|emulated|races|bench]] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/base/memory.h"
#include "engine/data/sets.h"
#include "engine/decode/gpu.h"
#include "engine/model/generated.h"

static int passed, failed;

/* The functions of src/engine/words need libraries that a machine with a GPU may lack; here a vocabulary is
 * shared, never copied. */
bool words_same(const onet_words *a, const onet_words *b) {
    return a == b;
}
void words_free(onet_words *words) {
    (void)words;
}

static void die(const char *what) {
    fprintf(stderr, "test_cuda_order: %s\n", what);
    exit(1);
}

static void *need(void *p) {
    if (!p) die("out of memory");
    return p;
}

static void must(onet_status status, const onet_error *err) {
    if (status) die(err->text);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- models, sets, answers ---- */

static const onet_settings tsp = {2, 4, 128, 16, ONET_POOL_MAX, 4, 16, 0, 0, {0}},
                           words = {50, 8, 256, 32, ONET_POOL_MEAN, 8, 32, 0, 0, {0}},
                           odd = {3, 2, 20, 5, ONET_POOL_MAX, 3, 7, 0, 0, {0}},
                           odd_mean = {3, 3, 36, 18, ONET_POOL_MEAN, 2, 33, 0, 0, {0}},
                           wide = {5, 2, 300, 40, ONET_POOL_MAX, 3, 48, 0, 0, {0}},
                           broad = {3, 1, 16, 8, ONET_POOL_MAX, 2, 128, 0, 0, {0}},
                           tiled = {3, 1, 1000, 5, ONET_POOL_MAX, 1, 7, 0, 0, {0}},
                           flat = {4, 0, 16, 16, ONET_POOL_MAX, 2, 16, 0, 0, {0}},
                           bare = {4, 2, 32, 16, ONET_POOL_MAX, 0, 16, 0, 0, {0}},
                           relative = {3, 2, 20, 5, ONET_POOL_MAX, 3, 7, 1, 0, {0}},
                           related = {3, 2, 20, 5, ONET_POOL_MAX, 3, 7, 0, 1, {0}},
                           related_alone = {0, 2, 36, 18, ONET_POOL_MEAN, 2, 33, 0, 2, {0}},
                           related_flat = {0, 0, 16, 16, ONET_POOL_MAX, 2, 16, 0, 16, {0}},
                           related_bare = {2, 1, 16, 16, ONET_POOL_MAX, 0, 16, 0, 2, {0}},
                           related_tsp = {1, 4, 128, 16, ONET_POOL_MAX, 4, 16, 0, 1, {0}},
                           large_words = {50, 8, 512, 64, ONET_POOL_MEAN, 8, 64, 0, 0, {0}},
                           deep_tsp = {2, 12, 128, 16, ONET_POOL_MAX, 6, 16, 0, 0, {0}};

typedef struct sample {
    onet_model model;
    onet_words words;
    onet_pairs pairs;
    onet_sets sets;
} sample;

static void add_pairs(sample *k, int R, uint64_t seed) {
    size_t at = 0, r = (size_t)R;
    k->pairs.width = R;
    k->pairs.row = need(calloc(k->sets.start[k->sets.count], sizeof *k->pairs.row));
    for (size_t s = 0; s < k->sets.count; s++)
        for (size_t i = k->sets.start[s]; i < k->sets.start[s + 1]; i++, at += sets_size(&k->sets, s))
            k->pairs.row[i] = at;
    k->pairs.value = need(calloc(at * r, sizeof *k->pairs.value));
    for (size_t s = 0; s < k->sets.count; s++)
        generated_pairs(seed, (int)s, 1, (int)sets_size(&k->sets, s), R,
                        k->pairs.value + k->pairs.row[k->sets.start[s]] * r);
    k->sets.pairs = &k->pairs;
}

/* Makes `rounds` sets of each of the sizes (0 ends the list), the sizes in turn. */
static void sample_make(sample *k, const onet_settings *s, const int *sizes, int rounds, uint64_t seed,
                        int vocabulary) {
    onet_error err;
    memset(k, 0, sizeof *k);
    must(net_shape_make(&k->model.sh, s, &err), &err);
    k->model.theta = need(calloc(k->model.sh.total, sizeof(float)));
    generated_theta(&k->model.sh, seed, k->model.theta);
    size_t statistics = k->model.sh.total - k->model.sh.trained;
    k->model.slope = need(calloc(statistics, sizeof(float)));
    k->model.sized = seed % 2;
    k->model.inverse_size = 0.1f;
    for (size_t i = 0; i < statistics; i++)
        k->model.slope[i] = (float)(2 * generated_uniform(seed, 79, i) - 1);
    size_t inputs = (size_t)(s->width + s->relations);
    k->model.mean = need(calloc(inputs + 1, sizeof(float)));
    k->model.scale = need(calloc(inputs + 1, sizeof(float)));
    for (int c = 0; c < s->width + s->relations; c++) {
        k->model.mean[c] = 0.05f * (float)(c % 5);
        k->model.scale[c] = 1.0f + 0.1f * (float)(c % 3);
    }
    size_t count = 0, total = 0;
    while (sizes[count]) total += (size_t)sizes[count++];
    k->sets.count = count * (size_t)rounds;
    total *= (size_t)rounds;
    k->sets.width = s->width;
    k->sets.start = need(calloc(k->sets.count + 1, sizeof *k->sets.start));
    k->sets.items = need(calloc(total * (size_t)s->width, sizeof(float)));
    k->sets.order = need(calloc(total, sizeof(int32_t)));
    for (size_t i = 0; i < k->sets.count; i++) {
        size_t at = k->sets.start[i], n = (size_t)sizes[i % count];
        k->sets.start[i + 1] = at + n;
        generated_batch(seed, (int)i, 1, (int)n, s->width, k->sets.items + at * (size_t)s->width,
                        k->sets.order + at);
    }
    if (s->relations) add_pairs(k, s->relations, seed);
    if (!vocabulary) return;
    size_t numbers = (size_t)vocabulary * (size_t)s->width;
    k->words.count = vocabulary;
    k->words.width = s->width;
    k->words.vectors = need(calloc(numbers, sizeof(float)));
    for (size_t i = 0; i < numbers; i++)
        k->words.vectors[i] = (float)(2 * generated_uniform(seed, 77, i) - 1);
    k->sets.words = k->model.words = &k->words;
    k->sets.word = need(calloc(total, sizeof(int32_t)));
    /* A vocabulary so large that few sets have a word twice. */
    for (size_t i = 0; i < total; i++)
        k->sets.word[i] = (int32_t)(generated_u64(seed, 78, i) % (uint64_t)vocabulary);
    free(k->sets.items);
    k->sets.items = NULL;
}

static void sample_free(sample *k) {
    free(k->model.theta);
    free(k->model.slope);
    free(k->model.mean);
    free(k->model.scale);
    free(k->words.vectors);
    free(k->pairs.row);
    free(k->pairs.value);
    free(k->sets.start);
    free(k->sets.items);
    free(k->sets.order);
    free(k->sets.word);
}

typedef struct answers {
    onet_answer *a; /* [sets] */
    int32_t *order;
    double *logprob;
    float *step;
    size_t orders, places;
} answers;

static answers answers_new(const onet_sets *sets, int top) {
    answers r;
    size_t items = sets->start[sets->count];
    r.orders = sets->count * (size_t)top;
    r.places = items * (size_t)top;
    r.a = need(calloc(sets->count, sizeof *r.a));
    r.order = need(malloc(r.places * sizeof *r.order));
    r.logprob = need(malloc(r.orders * sizeof *r.logprob));
    r.step = need(malloc(r.places * sizeof *r.step));
    memset(r.order, 0xff, r.places * sizeof *r.order);
    memset(r.logprob, 0xff, r.orders * sizeof *r.logprob);
    memset(r.step, 0xff, r.places * sizeof *r.step);
    for (size_t s = 0; s < sets->count; s++) {
        size_t at = sets->start[s] * (size_t)top;
        r.a[s] =
            (onet_answer){.order = r.order + at, .logprob = r.logprob + s * (size_t)top, .step = r.step + at};
    }
    return r;
}

static void answers_free(answers *r) {
    free(r->a);
    free(r->order);
    free(r->logprob);
    free(r->step);
}

static bool answers_same(const onet_sets *sets, const answers *a, const answers *b) {
    for (size_t s = 0; s < sets->count; s++)
        if (a->a[s].found != b->a[s].found) return false;
    return !memcmp(a->order, b->order, a->places * sizeof *a->order) &&
           !memcmp(a->logprob, b->logprob, a->orders * sizeof *a->logprob) &&
           !memcmp(a->step, b->step, a->places * sizeof *a->step);
}

static onet_orderer *orderer(const sample *k, bool gpu, const char *kernel_set, int beam, int top) {
    onet_error err;
    onet_orderer *r = NULL;
    onet_order_options o = {.size = sizeof o,
                            .decode = beam == 1 ? ONET_GREEDY : ONET_BEAM,
                            .beam = beam,
                            .top = top,
                            .kernels = gpu ? NULL : kernel_set,
                            .device = gpu ? "cuda:0" : "cpu"};
    must(onet_orderer_new(&r, &k->model, &o, &err), &err);
    return r;
}

static void check(bool ok, const char *where, const char *what, double value) {
    if (ok)
        passed++;
    else {
        failed++;
        printf("FAILED %s: %s (%.3g)\n", where, what, value);
    }
}

/* ---- the tests ---- */

/* Returns the distance of two log-probabilities, relative to what float32 logits allow. */
static double apart(double a, double b) {
    double d = fabs(a - b) / fmax(1, fabs(b));
    return isfinite(d) ? d : (double)INFINITY;
}
static const double NEAR = 1e-4;

/* Returns the CPU's scores of the orders that the GPU found best. */
static double *scores_of(const sample *k, onet_orderer *cpu, const answers *a) {
    onet_error err;
    double *score = need(calloc(k->sets.count, sizeof *score));
    onet_sets again = k->sets;
    again.order = need(calloc(k->sets.start[k->sets.count], sizeof(int32_t)));
    for (size_t s = 0; s < k->sets.count; s++)
        memcpy(again.order + k->sets.start[s], a->a[s].order, sets_size(&k->sets, s) * sizeof(int32_t));
    must(sets_check(&again, &err), &err); /* they are permutations */
    must(onet_orderer_score(cpu, &again, score, &err), &err);
    free(again.order);
    return score;
}

static void compare(const char *where, const sample *k, onet_orderer *cpu, const answers *got,
                    const answers *want) {
    double *score = scores_of(k, cpu, got), worst = 0, worst_score = 0, worst_step = 0;
    int other = 0, ties = 0, found = 0;
    for (size_t s = 0; s < k->sets.count; s++) {
        const onet_answer *a = &got->a[s], *b = &want->a[s];
        size_t n = sets_size(&k->sets, s);
        found += a->found != b->found;
        worst_score = fmax(worst_score, apart(a->logprob[0], score[s]));
        bool tie = false, differs = false;
        for (int o = 0; o < a->found && o < b->found; o++) {
            double d = apart(a->logprob[o], b->logprob[o]);
            if (memcmp(a->order + (size_t)o * n, b->order + (size_t)o * n, n * sizeof(int32_t))) {
                if (d > NEAR) differs = true;
                tie = true;
                continue;
            }
            worst = fmax(worst, d);
            for (size_t t = 0; t < n; t++) {
                double e = fabs((double)(a->step[(size_t)o * n + t] - b->step[(size_t)o * n + t]));
                worst_step = fmax(worst_step, isfinite(e) ? e : (double)INFINITY);
            }
        }
        other += differs;
        ties += tie && !differs;
    }
    printf("%-24s %4zu sets  log-probability off by %.1e, steps by %.1e; ties %d, other beams %d\n", where,
           k->sets.count, fmax(worst, worst_score), worst_step, ties, other);
    check(!found, where, "another number of orders found", found);
    check(worst <= NEAR, where, "log-probabilities of equal orders differ", worst);
    check(worst_score <= NEAR, where, "the order's score on the CPU differs", worst_score);
    check(worst_step <= 1e-3, where, "probabilities of steps differ", worst_step);
    /* A tie at some step decides which beams are kept: rare, and the scores of the answer must still be
     * right. */
    check(other <= 0.01 * (double)k->sets.count, where, "orders differ without a tie", other);
    check(ties <= 0.05 * (double)k->sets.count + 1, where, "too many ties", ties);
    free(score);
}

/* Returns the number of constraints that the orders found break. */
static int broken(const onet_sets *sets, const answers *got) {
    int count = 0;
    for (size_t s = 0; s < sets->count; s++) {
        size_t first = sets->start[s], n = sets_size(sets, s), from, constraints;
        constraints_of(sets, first, sets->start[s + 1], &from, &constraints);
        for (int o = 0; o < got->a[s].found; o++) {
            const int32_t *order = got->a[s].order + (size_t)o * n;
            for (size_t k = from; k < from + constraints; k++) {
                onet_constraint c = sets->constraints[k];
                size_t place = 0, other = 0;
                while (first + (size_t)order[place] != c.item) place++;
                while (constraint_is_pair(c.kind) && first + (size_t)order[other] != c.other) other++;
                count += c.kind == ONET_BEFORE  ? place > other
                         : c.kind == ONET_NEXT  ? place + 1 != other
                         : c.kind == ONET_PLACE ? place != c.other
                                                : place + 1 != sets_placed(sets, s);
            }
        }
    }
    return count;
}

static void test_orders(const char *name, const sample *k, int beam, int top, const char *kernel_set) {
    onet_error err;
    char where[64];
    snprintf(where, sizeof where, "%s beam %d", name, beam);
    onet_orderer *cpu = orderer(k, false, kernel_set, beam, top), *gpu = orderer(k, true, NULL, beam, top);
    answers want = answers_new(&k->sets, top), got = answers_new(&k->sets, top),
            again = answers_new(&k->sets, top), poisoned = answers_new(&k->sets, top);
    must(onet_orderer_run(cpu, &k->sets, want.a, &err), &err);
    must(onet_orderer_run(gpu, &k->sets, got.a, &err), &err);
    must(onet_orderer_run(gpu, &k->sets, again.a, &err), &err);
    compare(where, k, cpu, &got, &want);
    check(answers_same(&k->sets, &got, &again), where, "another run, other bits", 0);

    freezer z;
    order_device *d;
    if (!freezer_new(&z, &k->model, kernels_pick(NULL))) die("out of memory");
    must(gpu_open(&d, &z, gpu_of_rank(0), &err), &err);
    d->poison = true;
    constraint_graph *graph = NULL;
    if (k->sets.constraint_count) must(constraint_graphs_new(&graph, &k->sets, &err), &err);
    must(gpu_run(
             d,
             &(gpu_work){
                 .z = &z, .sets = &k->sets, .answers = poisoned.a, .graph = graph, .beams = beam, .top = top},
             &err),
         &err);
    constraint_graphs_free(graph, k->sets.count);
    d->close(d);
    freezer_free(&z);
    check(answers_same(&k->sets, &got, &poisoned), where, "poisoned memory, other bits", 0);
    check(!broken(&k->sets, &got), where, "constraints broken", broken(&k->sets, &got));

    double *a = need(calloc(k->sets.count, sizeof *a)), *b = need(calloc(k->sets.count, sizeof *b)), off = 0;
    must(onet_orderer_score(cpu, &k->sets, a, &err), &err);
    must(onet_orderer_score(gpu, &k->sets, b, &err), &err);
    for (size_t s = 0; s < k->sets.count; s++) off = fmax(off, apart(b[s], a[s]));
    check(off <= NEAR, where, "scores of given orders differ", off);
    free(a);
    free(b);
    answers_free(&want);
    answers_free(&got);
    answers_free(&again);
    answers_free(&poisoned);
    onet_orderer_free(cpu);
    onet_orderer_free(gpu);
}

static void test(const char *name, const onet_settings *s, const int *sizes, int rounds, int beam, int top,
                 int vocabulary, const char *kernel_set) {
    sample k;
    sample_make(&k, s, sizes, rounds, 11 + (uint64_t)beam, vocabulary);
    test_orders(name, &k, beam, top, kernel_set);
    sample_free(&k);
}

static const int one_to_100[] = {1, 2, 3, 5, 10, 20, 50, 100, 0}, one_to_33[] = {1, 2, 3, 5, 10, 20, 33, 0},
                 one_to_5[] = {1, 2, 3, 5, 0}, one_to_10[] = {1, 2, 3, 5, 10, 0}, two_and_70[] = {2, 70, 0},
                 thirty_three[] = {33, 0}, ten[] = {10, 0}, twenty[] = {20, 0}, seventy[] = {70, 0},
                 five[] = {5, 0}, four[] = {4, 0}, large[] = {1000, 0};

/* Sets with context items, with constraints of all kinds and with both, among others. Of the orders that the
 * constraints leave, some sets have fewer than the beam has room for. */
static void test_mixed(const char *where, const onet_settings *s, const int *sizes, int rounds, int beam,
                       int top) {
    onet_error err;
    sample k;
    sample_make(&k, s, sizes, rounds, 12, 0);
    size_t items = k.sets.start[k.sets.count], each = k.sets.count / (size_t)rounds, count = 0;
    uint8_t *context = need(calloc(items, 1));
    onet_constraint *list = need(calloc(2 * items, sizeof *list));
    for (size_t i = 0; i < k.sets.count; i++) {
        size_t first = k.sets.start[i], n = sets_size(&k.sets, i), m = n, round = i / each,
               kind = (i + round) % 6;
        int32_t *order = k.sets.order + first; /* a permutation drawn by the seed */
        if (round % 3 == 1) {                  /* a third of the items, the smallest index first */
            m = n - n / 3;
            for (size_t t = m; t < n; t++) context[first + (size_t)order[t]] = 1;
            for (size_t t = m, item = 0; item < n; item++)
                if (context[first + item]) order[t++] = (int32_t)item;
        }
        if (kind == 2 && m > 3) /* a prefix, backward, and two pairs after it */
            for (size_t t = 0; t < 2; t++) {
                list[count++] = (onet_constraint){ONET_PLACE, first + (size_t)order[m - 1 - t], t};
                list[count++] =
                    (onet_constraint){ONET_BEFORE, first + (size_t)order[t + 1], first + (size_t)order[t]};
            }
        else if (kind == 3 && m > 1) /* all but one of the adjacent pairs */
            for (size_t t = 0; t + 1 < m; t++) {
                if (t == 1) continue;
                list[count++] =
                    (onet_constraint){ONET_BEFORE, first + (size_t)order[t], first + (size_t)order[t + 1]};
            }
        else if (kind == 4)
            list[count++] = (onet_constraint){ONET_LAST, first + (size_t)order[0], 0};
        else if (kind == 5 && m > 3) { /* two chains, the second one last, and a pair into the first */
            list[count++] = (onet_constraint){ONET_NEXT, first + (size_t)order[1], first + (size_t)order[0]};
            list[count++] = (onet_constraint){ONET_NEXT, first + (size_t)order[2], first + (size_t)order[3]};
            list[count++] = (onet_constraint){ONET_LAST, first + (size_t)order[3], 0};
            if (m > 4)
                list[count++] =
                    (onet_constraint){ONET_BEFORE, first + (size_t)order[4], first + (size_t)order[0]};
        }
    }
    must(onet_sets_set_context(&k.sets, context, &err), &err);
    must(onet_sets_set_constraints(&k.sets, list, count, &err), &err);
    test_orders(where, &k, beam, top, "plain");
    free(context);
    free(list);
    free(k.sets.context);
    free(k.sets.constraints);
    sample_free(&k);
}

static void test_all(void) {
    test("tsp, n 1-100", &tsp, one_to_100, 4, 1, 1, 0, "plain");
    test("tsp, n 1-100", &tsp, one_to_100, 4, 5, 3, 0, "plain");
    test("tsp, n 5", &tsp, five, 100, 120, 120, 0, "plain");
    test("words, n 1-33", &words, one_to_33, 3, 1, 1, 5000, "plain");
    test("words, n 1-33", &words, one_to_33, 3, 5, 5, 5000, "plain");
    test("words, n 5", &words, five, 20, 120, 120, 5000, "plain");
    test("odd widths, n 1-33", &odd, one_to_33, 40, 5, 2, 0, "plain");
    test("odd, mean, n 1-33", &odd_mean, one_to_33, 40, 5, 2, 0, "plain");
    test("wide, n 1-33", &wide, one_to_33, 10, 7, 7, 0, "plain");
    test("no encoder, n 1-33", &flat, one_to_33, 40, 5, 2, 0, "plain");
    test("no decoder, n 1-33", &bare, one_to_33, 40, 5, 2, 0, "plain");
    test("relative, n 1-33", &relative, one_to_33, 40, 5, 2, 0, "plain");
    test("relations, n 1-33", &related, one_to_33, 40, 5, 2, 0, "plain");
    test("relations alone, n 1-33", &related_alone, one_to_33, 20, 1, 1, 0, "plain");
    test("relations, tsp, n 1-100", &related_tsp, one_to_100, 4, 5, 3, 0, "plain");
    test("relations, tsp, n 1000", &related_tsp, large, 1, 1, 1, 0, "auto");
    test("tsp, n 1000", &tsp, large, 1, 1, 1, 0, "auto");
    test("tsp, n 1000", &tsp, large, 1, 3, 3, 0, "auto");
    test_mixed("tsp, context and constraints", &tsp, one_to_100, 5, 1, 1);
    test_mixed("tsp, context and constraints", &tsp, one_to_33, 15, 5, 5);
    test_mixed("odd, context and constraints", &odd_mean, one_to_10, 15, 40, 9);
    test_mixed("relative, context and constraints", &relative, one_to_33, 15, 5, 3);
    test_mixed("relations, context and constraints", &related, one_to_33, 15, 5, 3);
}

static int stop_later(void *context) {
    return --*(int *)context < 0;
}

/* With little device memory: ordering in parts of few sets, before each of which it can be stopped; or an
 * error.
 */
static void test_memory(void) {
    onet_error err;
    sample k;
    sample_make(&k, &odd, five, 9, 1, 0);
    onet_orderer *gpu = orderer(&k, true, NULL, 3, 2);
    answers want = answers_new(&k.sets, 2), got = answers_new(&k.sets, 2);
    must(onet_orderer_run(gpu, &k.sets, want.a, &err), &err);
    onet_orderer_free(gpu);

    setenv("EMULATE_MEMORY", "65536", 1);
    gpu = orderer(&k, true, NULL, 3, 2);
    must(onet_orderer_run(gpu, &k.sets, got.a, &err), &err);
    check(answers_same(&k.sets, &got, &want), "little memory", "other bits", 0);
    onet_orderer_free(gpu);
    for (int parts = 0; parts < 2; parts++) {
        int left = parts;
        onet_order_options o = {
            .size = sizeof o, .beam = 3, .top = 2, .device = "cuda:0", .context = &left, .stop = stop_later};
        must(onet_orderer_new(&gpu, &k.model, &o, &err), &err);
        onet_status stopped = onet_orderer_run(gpu, &k.sets, got.a, &err);
        check(stopped == ONET_INTERRUPTED && left == -1, "stopped", "another status", stopped);
        left = 1000;
        must(onet_orderer_run(gpu, &k.sets, got.a, &err), &err);
        check(answers_same(&k.sets, &got, &want), "after a stop", "other bits", 0);
        onet_orderer_free(gpu);
    }

    setenv("EMULATE_MEMORY", "2048", 1);
    gpu = orderer(&k, true, NULL, 3, 2);
    onet_status status = onet_orderer_run(gpu, &k.sets, got.a, &err);
    check(status == ONET_MEMORY && strstr(err.text, "not enough memory"), "too little memory", "no error",
          status);
    onet_orderer_free(gpu);
    unsetenv("EMULATE_MEMORY");
    answers_free(&want);
    answers_free(&got);
    sample_free(&k);
}

/* For the emulated GPU, which is slow: sets that share a thread block, sets with a thread block of their
 * own, those whose columns or whose beams do not fit into shared memory, and pairs in tiles. */
static void test_emulated(void) {
    test("odd widths, n 1-33", &odd, one_to_33, 2, 5, 2, 0, "plain");
    test("odd, mean, n 1-10", &odd_mean, one_to_10, 2, 1, 1, 0, "plain");
    test("odd, mean, n 1-5", &odd_mean, one_to_5, 2, 4, 4, 30, "plain");
    test("tsp, n 4", &tsp, four, 9, 24, 24, 0, "plain");
    test("tsp, n 5", &tsp, five, 2, 120, 120, 0, "plain");
    test("tsp, n 33", &tsp, thirty_three, 1, 9, 3, 0, "plain");
    test("wide, n 5", &wide, five, 1, 120, 120, 0, "plain");
    test("wide, n 2 and 70", &wide, two_and_70, 1, 1, 1, 0, "plain");
    test("broad, n 1-5", &broad, one_to_5, 2, 3, 2, 0, "plain");
    test("no encoder, n 1-5", &flat, one_to_5, 2, 3, 2, 0, "plain");
    test("no decoder, n 1-5", &bare, one_to_5, 2, 3, 2, 0, "plain");
    test("relative, n 1-10", &relative, one_to_10, 2, 3, 2, 0, "plain");
    test("relative, n 70", &relative, seventy, 1, 1, 1, 0, "plain");
    test("relations, n 1-10", &related, one_to_10, 2, 5, 2, 0, "plain");
    test("relations, n 1-10", &related, one_to_10, 1, 1, 1, 0, "plain");
    test("relations alone, n 1-5", &related_alone, one_to_5, 2, 5, 5, 0, "plain");
    test("relations, no encoder", &related_flat, one_to_5, 2, 3, 2, 0, "plain");
    test("relations, no decoder", &related_bare, seventy, 1, 1, 1, 0, "plain");
    test_mixed("relations, context", &related, one_to_5, 6, 3, 2);
    test_mixed("odd, context and constraints", &odd, one_to_10, 6, 3, 2);
    test_mixed("relative, context and constraints", &relative, one_to_5, 15, 20, 20);
    test_memory();
}

/* For compute-sanitizer, whose racecheck is hundreds of times slower. */
static void test_small(void) {
    test("tsp, n 4", &tsp, four, 1, 2, 2, 0, "plain");
    test("odd widths, n 4", &odd, four, 1, 2, 2, 0, "plain");
    test("relations, n 4", &related, four, 1, 2, 2, 0, "plain");
    test_mixed("odd, context and constraints", &odd, five, 6, 3, 2);
}

/* For ThreadSanitizer, on an emulated GPU of one multiprocessor. */
static void test_races(void) {
    test("odd widths, n 5", &odd, five, 5, 5, 2, 0, "plain");
    test("odd widths, n 5", &odd, five, 1, 60, 2, 0, "plain");
    test("odd, mean, n 10", &odd_mean, ten, 2, 1, 1, 0, "plain");
    test("odd, mean, n 33", &odd_mean, thirty_three, 1, 9, 2, 0, "plain");
    test("odd widths, n 70", &odd, seventy, 1, 1, 1, 0, "plain");
    test("relative, n 33", &relative, thirty_three, 2, 1, 1, 0, "plain");
    test("tiles, n 20", &tiled, twenty, 1, 1, 1, 0, "plain");
    test("relations, n 10", &related, ten, 2, 5, 2, 0, "plain");
    test_mixed("odd, context and constraints", &odd, five, 6, 3, 2);
}

/* ---- speed ---- */

static double sets_a_second(const onet_settings *s, int n, int rounds, int beam, bool gpu) {
    onet_error err;
    sample k;
    sample_make(&k, s, (int[]){n, 0}, rounds, 1, 0);
    answers a = answers_new(&k.sets, 1);
    onet_orderer *r = orderer(&k, gpu, "auto", beam, 1);
    double best = INFINITY;
    for (int run = 0; run < 3; run++) {
        double from = now();
        must(onet_orderer_run(r, &k.sets, a.a, &err), &err);
        best = fmin(best, now() - from);
        if (best > 2) break;
    }
    onet_orderer_free(r);
    answers_free(&a);
    sample_free(&k);
    return rounds / best;
}

static void bench(const char *name, const onet_settings *s, int n, int beam, int gpu_sets, int cpu_sets) {
    double gpu = sets_a_second(s, n, gpu_sets, beam, true);
    double cpu = cpu_sets ? sets_a_second(s, n, cpu_sets, beam, false) : (double)NAN;
    printf("%-14s n %5d beam %d  %12.1f sets/s on the GPU", name, n, beam, gpu);
    if (cpu_sets) printf(", %10.1f on the CPU, %6.1f times", cpu, gpu / cpu);
    printf("\n");
}

static void bench_all(void) {
    bench("tsp", &tsp, 20, 1, 40000, 2000);
    bench("tsp", &tsp, 20, 5, 40000, 2000);
    bench("tsp", &tsp, 100, 1, 4000, 200);
    bench("tsp", &tsp, 100, 5, 2000, 100);
    bench("words", &words, 5, 5, 40000, 1000);
    bench("words", &words, 20, 5, 2000, 50);
    bench("large words", &large_words, 5, 5, 20000, 200);
    bench("large words", &large_words, 20, 5, 1000, 10);
    bench("deep tsp", &deep_tsp, 50, 5, 4000, 200);
    bench("tsp", &tsp, 10000, 1, 1, 0);
    bench("tsp, relations", &related_tsp, 20, 5, 40000, 2000);
    bench("tsp, relations", &related_tsp, 100, 5, 2000, 100);
}

int main(int argc, char **argv) {
    if (argc > 1) setenv("ORDERNET_CUDA", argv[1], 1);
    const char *what = argc > 2 ? argv[2] : "";
    if (strcmp(what, "bench") == 0) {
        bench_all();
        return 0;
    }
    if (strcmp(what, "small") == 0)
        test_small();
    else if (strcmp(what, "emulated") == 0)
        test_emulated();
    else if (strcmp(what, "races") == 0)
        test_races();
    else
        test_all();
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
