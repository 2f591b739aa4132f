/* Tests batches of sets of different sizes, with context items: properties that hold for any weights, and
 * that a wide mix of sizes is learned at every size. `test_mixed learn` (make check-learn, slow) instead
 * compares this with batches of one size. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "context_help.h"
#include "engine/kernels/backend.h"
#include "number_sets.h"
#include "random_model.h"

/* ---- one step ---- */

typedef struct step {
    net_shape sh;
    net *t;
    float *theta, *grad; /* [total]: the running statistics after the step; the gradient */
    double loss;
} step;

static void step_open(step *s, const onet_settings *settings, const onet_sets *sets, const char *kernel_set,
                      int threads) {
    onet_error err;
    batch_size room = {0};
    assert_int_equal(net_shape_make(&s->sh, settings, &err), ONET_OK);
    s->theta = need(malloc(s->sh.total * sizeof *s->theta));
    s->grad = need(calloc(s->sh.total, sizeof *s->grad));
    for (size_t k = 0; k < sets->count; k++)
        batch_size_add(&room, (int)sets_size(sets, k), (int)sets_placed(sets, k));
    assert_int_equal(cpu_open(&s->t, &s->sh, kernel_set, threads, &err), ONET_OK);
    assert_int_equal(s->t->ops->reserve(s->t, room, &err), ONET_OK);
    assert_int_equal(s->t->ops->data(s->t, sets, NULL, NULL, 0, &err), ONET_OK);
}

/* Runs a step on the batch of the given sets, always with the same weights. */
static void step_run(step *s, const uint32_t *index, int B) {
    onet_error err;
    generated_theta(&s->sh, 6, s->theta);
    assert_int_equal(s->t->ops->put(s->t, NET_THETA, s->theta, &err), ONET_OK);
    s->t->ops->start_step(s->t, index, B);
    s->t->ops->forward(s->t);
    s->loss = s->t->ops->loss(s->t);
    s->t->ops->backward(s->t);
    assert_int_equal(s->t->ops->get(s->t, NET_GRAD, s->grad, &err), ONET_OK);
    assert_int_equal(s->t->ops->get(s->t, NET_THETA, s->theta, &err), ONET_OK);
}

static void step_close(step *s) {
    s->t->ops->close(s->t);
    free(s->theta);
    free(s->grad);
}

static void same_bits(const step *a, const step *b) {
    assert_true(a->loss == b->loss);
    assert_memory_equal(a->grad, b->grad, a->sh.trained * sizeof *a->grad);
    assert_memory_equal(a->theta, b->theta, a->sh.total * sizeof *a->theta);
}

static void same_but_for_rounding(const step *a, const step *b) {
    size_t trained = a->sh.trained, statistics = a->sh.total - trained;
    double gradient = relative_difference(a->grad, b->grad, trained),
           running = relative_difference(a->theta + trained, b->theta + trained, statistics);
    if (!(fabs(a->loss - b->loss) < 1e-5 && gradient < 1e-4 && running < 1e-6))
        fail_msg("loss %.9g and %.9g, gradients differ by %.2g, running statistics by %.2g", a->loss, b->loss,
                 gradient, running);
}

/* Returns some sets of all sizes; every third item of the larger ones is context. */
static onet_sets *various(const onet_settings *of, int count, int with_context, uint64_t seed) {
    onet_sets *sets = random_sets(of->width, count, 2, 11, seed);
    return with_context ? give_context(sets, 3) : sets;
}

enum { B = 24 }; /* more sets than the CPU backend has groups of sets */

static void for_each_net(void (*check)(const onet_settings *of, int with_context, const char *kernel_set)) {
    for (const char *const *kernel_set = kernels_available(); *kernel_set; kernel_set++)
        for (int k = 0; k < NETS; k++)
            for (int with_context = 0; with_context < 2; with_context++)
                check(&nets[k], with_context, *kernel_set);
}

static void reordered_sets(const onet_settings *of, int with_context, const char *kernel_set) {
    onet_sets *sets = various(of, B, with_context, 1);
    step forth, back;
    uint32_t index[B];
    step_open(&forth, of, sets, kernel_set, 2);
    step_open(&back, of, sets, kernel_set, 2);
    for (uint32_t i = 0; i < B; i++) index[i] = i;
    step_run(&forth, index, B);
    for (uint32_t i = 0; i < B; i++) index[i] = B - 1 - i;
    step_run(&back, index, B);
    same_but_for_rounding(&forth, &back);
    step_close(&forth);
    step_close(&back);
    onet_sets_free(sets);
}

static void the_order_of_the_sets_does_not_matter(void **state) {
    for_each_net(reordered_sets);
}

/* Returns a copy of the sets, each with its items, order and context flags rotated by one place. */
static onet_sets *rotated(const onet_sets *sets) {
    onet_sets *out;
    onet_error err;
    int d = sets->width;
    size_t items = sets->start[sets->count];
    uint8_t *context = need(calloc(items, 1));
    assert_int_equal(sets_new(&out, d, &err), ONET_OK);
    for (size_t s = 0; s < sets->count; s++) {
        size_t n = sets_size(sets, s), m = sets_placed(sets, s), from = sets->start[s], at = m;
        float *x = need(malloc(n * (size_t)d * sizeof *x));
        int32_t *y = need(malloc(n * sizeof *y));
        for (size_t i = 0; i < n; i++) {
            memcpy(x + (i + 1) % n * (size_t)d, sets_item(sets, from + i), (size_t)d * sizeof *x);
            if (sets->context) context[from + (i + 1) % n] = sets->context[from + i];
        }
        for (size_t t = 0; t < m; t++) y[t] = (int32_t)((size_t)(sets->order[from + t] + 1) % n);
        for (size_t i = 0; i < n; i++)
            if (context[from + i]) y[at++] = (int32_t)i;
        assert_int_equal(sets_append(out, n, d, x, y, &err), ONET_OK);
        free(x);
        free(y);
    }
    if (sets->context) assert_int_equal(onet_sets_set_context(out, context, &err), ONET_OK);
    free(context);
    return out;
}

static void permuted_items(const onet_settings *of, int with_context, const char *kernel_set) {
    onet_sets *sets = various(of, B, with_context, 2), *other = rotated(sets);
    step a, b;
    uint32_t index[B];
    for (uint32_t i = 0; i < B; i++) index[i] = i;
    step_open(&a, of, sets, kernel_set, 2);
    step_open(&b, of, other, kernel_set, 2);
    step_run(&a, index, B);
    step_run(&b, index, B);
    same_but_for_rounding(&a, &b);
    step_close(&a);
    step_close(&b);
    onet_sets_free(sets);
    onet_sets_free(other);
}

static void the_order_of_the_items_does_not_matter(void **state) {
    for_each_net(permuted_items);
}

/* A batch of other sizes in between changes no bit: what it left in memory is not read. Nor does the number
 * of threads. */
static void batch_after_batch(const onet_settings *of, int with_context, const char *kernel_set) {
    onet_sets *sets = various(of, 2 * B, with_context, 3);
    step fresh, used;
    uint32_t index[2 * B];
    for (uint32_t i = 0; i < 2 * B; i++) index[i] = i * 5 % (2 * B);
    step_open(&fresh, of, sets, kernel_set, 1);
    step_run(&fresh, index, B);
    for (int threads = 1; threads <= 3; threads++) {
        step_open(&used, of, sets, kernel_set, threads);
        step_run(&used, index + B, B);
        assert_true(used.loss != fresh.loss);
        step_run(&used, index + 3, 2 * B - 3);
        step_run(&used, index, B);
        same_bits(&fresh, &used);
        step_close(&used);
    }
    step_close(&fresh);
    onet_sets_free(sets);
}

static void a_batch_leaves_nothing_behind(void **state) {
    for_each_net(batch_after_batch);
}

static void context_that_no_item_has_changes_no_bit(void **state) {
    onet_error err;
    onet_sets *plain = various(&nets[1], B, 0, 4), *marked = various(&nets[1], B, 0, 4);
    uint8_t *none = need(calloc(marked->start[B], 1));
    uint32_t index[B];
    step a, b;
    for (uint32_t i = 0; i < B; i++) index[i] = i;
    assert_int_equal(onet_sets_set_context(marked, none, &err), ONET_OK);
    step_open(&a, &nets[1], plain, NULL, 2);
    step_open(&b, &nets[1], marked, NULL, 2);
    step_run(&a, index, B);
    step_run(&b, index, B);
    same_bits(&a, &b);
    step_close(&a);
    step_close(&b);
    free(none);
    onet_sets_free(plain);
    onet_sets_free(marked);
}

/* Context items are seen: another one changes the loss. */
static void context_is_seen(void **state) {
    onet_sets *sets = various(&nets[1], B, 1, 5);
    uint32_t index[B];
    step a, b;
    for (uint32_t i = 0; i < B; i++) index[i] = i;
    step_open(&a, &nets[1], sets, NULL, 2);
    step_run(&a, index, B);
    size_t item = 0;
    while (!sets->context[item]) item++;
    sets->items[item * (size_t)nets[1].width] += 1;
    step_open(&b, &nets[1], sets, NULL, 2);
    step_run(&b, index, B);
    assert_true(fabs(a.loss - b.loss) > 1e-4);
    step_close(&a);
    step_close(&b);
    onet_sets_free(sets);
}

/* ---- training ---- */

static onet_model *train(const onet_sets *sets, const onet_train_options *o) {
    onet_model *m;
    onet_error err;
    if (onet_train(&m, sets, NULL, o, &err)) fail_msg("training failed: %s", err.text);
    return m;
}

static onet_train_options small_run(onet_batches batches) {
    onet_train_options o;
    onet_train_defaults(&o, sizeof o);
    o.settings = (onet_settings){0, 2, 16, 8, ONET_POOL_MEAN, 2, 8, 0, 0, {0}};
    o.batch = 16;
    o.epochs = 2;
    o.batches = batches;
    o.statistics = ONET_STATISTICS_RUNNING;
    return o;
}

static void sets_of_one_size_make_the_same_batches(void **state) {
    onet_sets *sets = random_sets(2, 90, 6, 6, 7);
    onet_train_options mixed = small_run(ONET_BATCHES_MIXED), one = small_run(ONET_BATCHES_ONE_SIZE);
    onet_model *a = train(sets, &mixed), *b = train(sets, &one);
    assert_memory_equal(a->theta, b->theta, a->sh.total * sizeof *a->theta);
    onet_model_free(a);
    onet_model_free(b);
    onet_sets_free(sets);
}

/* However many sizes there are, batches are full: each size here has at most three sets. */
static void sizes_share_batches(void **state) {
    onet_sets *sets = random_sets(1, 0, 1, 1, 0), *more;
    onet_error err;
    for (int n = 1; n <= 60; n++) {
        more = random_sets(1, 1 + n % 3, n, n, (uint64_t)n);
        for (size_t s = 0; s < more->count; s++)
            assert_int_equal(sets_append(sets, (size_t)n, 1, more->items + more->start[s],
                                         more->order + more->start[s], &err),
                             ONET_OK);
        onet_sets_free(more);
    }
    for (int with_drop = 0; with_drop < 2; with_drop++) {
        onet_train_options o = small_run(ONET_BATCHES_MIXED);
        o.drop = with_drop ? 0.5 : 0;
        onet_model *m = train(sets, &o);
        size_t used = sets->count - 2; /* two sets have one item and no order to learn */
        assert_int_equal(atoi(onet_model_record(m, "steps")), 2 * ((used + 15) / 16));
        onet_model_free(m);
    }
    onet_sets_free(sets);
}

/* ---- a wide mix of sizes ---- */

enum { SMALLEST = 2, LARGEST = 40, REGION = 4 }; /* items of a page; features of a region */

/* Pages of n regions in one to three columns, read column by column, each from top to bottom. A region is x,
 * y, width and height: the more regions, the smaller they are, so the features of a set depend on its size.
 */
static void add_page(onet_sets *sets, rng *r, int n) {
    float x[LARGEST * REGION];
    int32_t order[LARGEST], item[LARGEST];
    onet_error err;
    int columns = 1 + (int)rng_below(r, n < 3 ? (uint64_t)n : 3), at = 0;
    for (int i = 0; i < n; i++) item[i] = i; /* where the next region of the order stands in the set */
    for (int i = n - 1; i > 0; i--) {
        int j = (int)rng_below(r, (uint64_t)i + 1);
        int32_t swap = item[i];
        item[i] = item[j];
        item[j] = swap;
    }
    for (int c = 0; c < columns; c++) {
        int later = columns - c - 1, rows = n - at;
        if (later) rows = 1 + (int)rng_below(r, (uint64_t)(n - at - later));
        for (int i = 0; i < rows; i++, at++) {
            float *to = x + item[at] * REGION;
            to[0] = (float)(c / (double)columns + 0.02 * rng_uniform(r));
            to[1] = (float)((i + 0.3 * rng_uniform(r)) / rows);
            to[2] = (float)(0.9 / columns);
            to[3] = (float)((0.5 + 0.3 * rng_uniform(r)) / rows);
            order[at] = item[at];
        }
    }
    assert_int_equal(sets_append(sets, (size_t)n, REGION, x, order, &err), ONET_OK);
}

typedef struct by_size {
    double exact[LARGEST + 1], loglik[LARGEST + 1]; /* share of sets; mean per step */
    int worst;                                      /* size with the lowest log-likelihood */
} by_size;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
/* Sanitizers look for errors in the code, which two epochs of a few sets run as well. */
enum { PAGES = 60, EACH = 3, LEARNS = 0 };
#else
enum { PAGES = 400, EACH = 50, LEARNS = 1 };
#endif

/* Measures on new pages, EACH of each size. */
static by_size measure(const onet_model *m) {
    by_size out = {.worst = SMALLEST};
    onet_sets *sets;
    onet_error err;
    rng r;
    rng_seed(&r, 1000, 0);
    for (int n = SMALLEST; n <= LARGEST; n++) {
        assert_int_equal(sets_new(&sets, REGION, &err), ONET_OK);
        for (int s = 0; s < EACH; s++) add_page(sets, &r, n);
        result greedy = run(m, sets, (onet_order_options){.decode = ONET_GREEDY});
        double *p = scores(m, sets);
        for (int s = 0; s < EACH; s++) {
            size_t from = sets->start[s];
            out.exact[n] += !memcmp(greedy.order + from, sets->order + from, (size_t)n * sizeof(int32_t));
            out.loglik[n] += p[s] / n;
        }
        out.exact[n] /= EACH;
        out.loglik[n] /= EACH;
        free(p);
        result_free(&greedy);
        onet_sets_free(sets);
        if (out.loglik[n] < out.loglik[out.worst]) out.worst = n;
    }
    return out;
}

static by_size trained_with(const onet_sets *sets, onet_batches batches, onet_statistics statistics,
                            uint64_t seed) {
    onet_train_options o;
    onet_train_defaults(&o, sizeof o);
    o.batches = batches;
    o.statistics = statistics;
    o.seed = seed;
    if (!LEARNS) o.epochs = 2;
    onet_model *m = train(sets, &o);
    by_size out = measure(m);
    print_message("%s, seed %d: exact %.2f at 2 and %.2f at 3, lowest log-likelihood %.4f at %d\n",
                  batches == ONET_BATCHES_MIXED ? "mixed" : "one size", (int)seed, out.exact[2], out.exact[3],
                  out.loglik[out.worst], out.worst);
    onet_model_free(m);
    return out;
}

static onet_sets *pages_of(uint64_t seed) {
    onet_sets *sets;
    onet_error err;
    rng r;
    rng_seed(&r, seed, 0);
    assert_int_equal(sets_new(&sets, REGION, &err), ONET_OK);
    for (int s = 0; s < PAGES; s++) add_page(sets, &r, SMALLEST + (int)rng_below(&r, LARGEST - SMALLEST + 1));
    return sets;
}

static double lowest_mixed(const onet_sets *sets, uint64_t seed) {
    by_size mixed = trained_with(sets, ONET_BATCHES_MIXED, ONET_STATISTICS_RUNNING, seed);
    if (LEARNS) assert_true(mixed.exact[2] >= 0.97 && mixed.exact[3] >= 0.97);
    if (LEARNS) assert_true(mixed.loglik[mixed.worst] > -0.03);
    return mixed.loglik[mixed.worst];
}

/* About ten sets of each size. */
static void a_wide_mix_of_sizes_is_learned_at_every_size(void **state) {
    onet_sets *sets = pages_of(1);
    lowest_mixed(sets, 1);
    onet_sets_free(sets);
}

/* For make check-learn: batches of one size with measured statistics fail here at small sizes (docs/model.md,
 * Norms, says why); which size suffers is chance, and of six seeds one was spared, so the comparison is over
 * three seeds. It prints, with the mean pool and AVX-512:
 *
 *     mixed, seed 1: exact 1.00 at 2 and 1.00 at 3, lowest log-likelihood -0.0006 at 5
 *     one size, seed 1: exact 0.10 at 2 and 0.66 at 3, lowest log-likelihood -84.7028 at 4
 *     mixed, seed 2: exact 1.00 at 2 and 1.00 at 3, lowest log-likelihood -0.0040 at 39
 *     one size, seed 2: exact 0.12 at 2 and 0.22 at 3, lowest log-likelihood -17.5657 at 2
 *     mixed, seed 3: exact 1.00 at 2 and 1.00 at 3, lowest log-likelihood -0.0057 at 39
 *     one size, seed 3: exact 0.68 at 2 and 0.66 at 3, lowest log-likelihood -17.6976 at 2
 */
static void batches_of_one_size_learn_some_sizes_less(void **state) {
    double mixed = 0, one_size = 0;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        onet_sets *sets = pages_of(seed);
        by_size one = trained_with(sets, ONET_BATCHES_ONE_SIZE, ONET_STATISTICS_MEASURED, seed);
        mixed = fmin(mixed, lowest_mixed(sets, seed));
        one_size = fmin(one_size, one.loglik[one.worst]);
        onet_sets_free(sets);
    }
    if (LEARNS) assert_true(one_size < mixed);
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "learn") == 0) {
        const struct CMUnitTest learn[] = {cmocka_unit_test(batches_of_one_size_learn_some_sizes_less)};
        return cmocka_run_group_tests(learn, NULL, NULL);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_order_of_the_sets_does_not_matter),
        cmocka_unit_test(the_order_of_the_items_does_not_matter),
        cmocka_unit_test(a_batch_leaves_nothing_behind),
        cmocka_unit_test(context_that_no_item_has_changes_no_bit),
        cmocka_unit_test(context_is_seen),
        cmocka_unit_test(sets_of_one_size_make_the_same_batches),
        cmocka_unit_test(sizes_share_batches),
        cmocka_unit_test(a_wide_mix_of_sizes_is_learned_at_every_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
