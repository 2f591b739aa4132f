/* Tests the engine in float32, with every kernel set that this CPU runs, against the golden results of the
 * PyTorch reference, for sets of one size and of several: log-probabilities, loss, every gradient, running
 * statistics, ten steps of Adam, greedy orders. Also tests the presets' numbers of parameters. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/data/sets.h"
#include "engine/kernels/backend.h"
#include "engine/model/generated.h"
#include "engine/model/model.h"
#include "golden_file.h"
#include "ordernet_io.h"
#include "unit.h"

enum { SLACK = 8 }; /* how much further off than the twin's own float32 the engine may be */

/* Sets of one item have one cell each, and next to no variance: the norm multiplies rounding by up to 316,
 * the root of 1/epsilon. (Training leaves them out.) */
static double floor_of(const golden *g) {
    return g->n == 1 ? 3e-4 : 1e-6;
}

typedef struct bench {
    golden g;
    net_shape sh;
    net *t;
    onet_sets *sets; /* GOLDEN_STEPS batches, one after the other */
    uint32_t *index;
    float *theta, *out;
    double *wide;
} bench;

static void *need(void *p) {
    assert_non_null(p);
    return p;
}

/* The sets of a batch: those of generated_batch(), or where sizes differ each set from a batch of its own,
 * with the first of its order placed and the others context. */
static void add_batch(bench *b, int step, uint8_t *context) {
    onet_error err;
    int B = b->g.B, d = b->g.settings.width, R = b->g.settings.relations, largest = 0;
    for (int k = 0; k < B; k++) largest = golden_items(&b->g, k) > largest ? golden_items(&b->g, k) : largest;
    float *x = need(malloc((size_t)B * (size_t)largest * (size_t)d * sizeof *x));
    int32_t *y = need(malloc((size_t)B * (size_t)largest * sizeof *y));
    float *e = need(malloc((size_t)B * (size_t)(largest * largest) * (size_t)R * sizeof *e + 1));
    if (!b->g.sizes) {
        generated_batch(b->g.seed, step, B, b->g.n, d, x, y);
        generated_pairs(b->g.seed, step, B, b->g.n, R, e);
    }
    for (int k = 0; k < B; k++) {
        int n = golden_items(&b->g, k), m = golden_placed(&b->g, k), at = m;
        size_t from = b->g.sizes ? 0 : (size_t)k * (size_t)n;
        if (b->g.sizes) generated_batch(b->g.seed, step * B + k, 1, n, d, x, y);
        if (b->g.sizes) generated_pairs(b->g.seed, step * B + k, 1, n, R, e);
        uint8_t *is_context = context + b->sets->start[b->sets->count];
        memset(is_context, 0, (size_t)n);
        for (int t = m; t < n; t++) is_context[y[from + (size_t)t]] = 1;
        for (int i = 0; i < n; i++)
            if (is_context[i]) y[from + (size_t)at++] = i;
        assert_int_equal(sets_append(b->sets, (size_t)n, d, x + from * (size_t)d, y + from, &err), ONET_OK);
        assert_int_equal(sets_append_pairs(b->sets, R, e + from * (size_t)n * (size_t)R, &err), ONET_OK);
    }
    free(e);
    free(x);
    free(y);
}

static void setup(bench *b, const char *name, const char *kernel_set) {
    onet_error err;
    golden_load(&b->g, name);
    assert_int_equal(net_shape_make(&b->sh, &b->g.settings, &err), ONET_OK);
    batch_size size = {0};
    for (int k = 0; k < b->g.B; k++) batch_size_add(&size, golden_items(&b->g, k), golden_placed(&b->g, k));
    uint8_t *context = need(malloc(GOLDEN_STEPS * size.items));
    assert_int_equal(sets_new(&b->sets, b->g.settings.width, &err), ONET_OK);
    for (int step = 0; step < GOLDEN_STEPS; step++) add_batch(b, step, context);
    if (size.steps < size.items) assert_int_equal(onet_sets_set_context(b->sets, context, &err), ONET_OK);
    free(context);
    size_t sets = b->sets->count;
    b->index = need(malloc(sets * sizeof *b->index));
    for (size_t i = 0; i < sets; i++) b->index[i] = (uint32_t)i;
    b->theta = need(malloc(b->sh.total * sizeof *b->theta));
    b->out = need(malloc(b->sh.total * sizeof *b->out));
    b->wide = need(malloc(b->sh.total * sizeof *b->wide));
    generated_theta(&b->sh, b->g.seed, b->theta);
    assert_int_equal(cpu_open(&b->t, &b->sh, kernel_set, 2, &err), ONET_OK);
    assert_int_equal(b->t->ops->reserve(b->t, size, &err), ONET_OK);
    assert_int_equal(b->t->ops->data(b->t, b->sets, NULL, NULL, 0, &err), ONET_OK);
    assert_int_equal(b->t->ops->put(b->t, NET_THETA, b->theta, &err), ONET_OK);
}

static void teardown(bench *b) {
    b->t->ops->close(b->t);
    onet_sets_free(b->sets);
    free(b->index);
    free(b->theta);
    free(b->out);
    free(b->wide);
    golden_free(&b->g);
}

static void near(const bench *b, const char *what, double got, double want, double allowed) {
    if (!(fabs(got - want) <= allowed))
        fail_msg("%s %s: %.9g, the twin has %.9g, allowed %.2g", b->g.name, what, got, want, allowed);
}

/* Returns the records of all tensors up to `tensors` from a block of floats, minus another block if given. */
static double *records(bench *b, int tensors, const float *block, const float *minus) {
    size_t total = 0;
    for (int k = 0; k < tensors; k++) total += golden_record_size(b->sh.tensor[k].size);
    double *out = need(malloc(total * sizeof *out)), *at = out;
    for (int k = 0; k < tensors; k++) {
        const tensor *t = &b->sh.tensor[k];
        for (size_t i = 0; i < t->size; i++)
            b->wide[i] = (double)block[t->offset + i] - (minus ? (double)minus[t->offset + i] : 0);
        at += golden_record(k, b->wide, t->size, at);
    }
    return out;
}

static int trained_tensors(const net_shape *sh) {
    int count = 0;
    while (count < sh->tensors && sh->tensor[count].trained) count++;
    return count;
}

static void one_batch(bench *b) {
    golden_noise noise = golden_expected(&b->g);
    onet_error err;
    int B = b->g.B;
    b->t->ops->start_step(b->t, b->index, B);
    b->t->ops->forward(b->t);
    near(b, "loss", b->t->ops->loss(b->t), *golden_get(&b->g, "loss", NULL),
         SLACK * noise.loss + floor_of(&b->g));
    size_t count;
    const double *want = golden_get(&b->g, "log_probs", &count), *end = want + count;
    const real *got = cpu_logprob(b->t); /* of the placed items, smallest index first */
    for (int set = 0; set < B; set++) {
        int n = golden_items(&b->g, set), m = golden_placed(&b->g, set);
        const int32_t *order = b->sets->order + b->sets->start[set];
        for (int t = 0; t < m; t++)
            for (int i = 0; i < n; i++) {
                bool placed = false, free_item = false;
                for (int k = 0; k < m; k++) placed |= order[k] == i;
                for (int k = t; k < m; k++) free_item |= order[k] == i;
                if (free_item)
                    near(b, "log-probability", (double)*got, *want++,
                         SLACK * noise.logits + 10 * floor_of(&b->g));
                got += placed;
            }
    }
    assert_ptr_equal(want, end);
    b->t->ops->get(b->t, NET_THETA, b->out, &err);
    want = golden_get(&b->g, "running", NULL);
    for (size_t i = b->sh.trained; i < b->sh.total; i++)
        near(b, "running statistics", (double)b->out[i], want[i - b->sh.trained],
             SLACK * noise.running + floor_of(&b->g));
    b->t->ops->backward(b->t);
    b->t->ops->get(b->t, NET_GRAD, b->out, &err);
    int trained = trained_tensors(&b->sh), worst = 0;
    double *mine = records(b, trained, b->out, NULL);
    double off = golden_records_error(&b->sh, trained, mine, golden_get(&b->g, "gradients", NULL), &worst);
    if (!(off <= SLACK * noise.gradients + 2e-5))
        fail_msg("%s: gradient of %s is off by %.3g, allowed %.3g", b->g.name, b->sh.tensor[worst].name, off,
                 SLACK * noise.gradients + 2e-5);
    free(mine);
}

static void ten_steps(bench *b) {
    golden_noise noise = golden_expected(&b->g);
    onet_error err;
    const double *loss = golden_get(&b->g, "adam_loss", NULL);
    b->t->ops->put(b->t, NET_THETA, b->theta, &err);
    for (int s = 0; s < GOLDEN_STEPS; s++) {
        b->t->ops->start_step(b->t, b->index + (size_t)s * b->g.B, b->g.B);
        b->t->ops->forward(b->t);
        near(b, "loss of a step", b->t->ops->loss(b->t), loss[s], SLACK * noise.adam_loss + 3e-3);
        b->t->ops->backward(b->t);
        b->t->ops->optimise(b->t,
                            &(adam_step){.scale = 1,
                                         .rate = b->g.lr,
                                         .beta1 = 0.9,
                                         .beta2 = 0.999,
                                         .epsilon = 1e-8,
                                         .correction1 = 1 - pow(0.9, s + 1),
                                         .correction2 = 1 - pow(0.999, s + 1)},
                            0, NULL);
    }
    b->t->ops->get(b->t, NET_THETA, b->out, &err);
    int trained = trained_tensors(&b->sh);
    double *mine = records(b, trained, b->out, b->theta);
    double off = golden_records_distance(&b->sh, trained, mine, golden_get(&b->g, "adam_change", NULL));
    if (!(off <= SLACK * noise.adam_change + 1e-2))
        fail_msg("%s: ten steps of Adam are off by %.3g, allowed %.3g", b->g.name, off,
                 SLACK * noise.adam_change + 1e-2);
    free(mine);
}

/* Ordering with the running statistics: greedy, and the best of all orders by a beam that holds them all. */
static void orders(bench *b, const char *kernel_set) {
    golden_noise noise = golden_expected(&b->g);
    onet_error err;
    onet_model *model;
    int n = b->g.n;
    size_t B = (size_t)b->g.B, first = b->sets->count;
    assert_int_equal(model_new(&model, &b->g.settings, &err), ONET_OK);
    memcpy(model->theta, b->theta, b->sh.total * sizeof(float));
    onet_answer *answer = need(calloc(B, sizeof *answer));
    int32_t *order = need(malloc(B * (size_t)n * sizeof *order));
    double *logprob = need(malloc(B * sizeof *logprob));
    for (size_t s = 0; s < B; s++) answer[s] = (onet_answer){.order = order + s * n, .logprob = logprob + s};
    for (int best = 0; best < 2; best++) {
        const double *want = golden_get(&b->g, best ? "best_order" : "greedy_order", NULL);
        const double *want_p = golden_get(&b->g, best ? "best_log_prob" : "greedy_log_prob", NULL);
        if (!want) continue;
        onet_orderer *o;
        onet_order_options options = {.size = sizeof options,
                                      .decode = best ? ONET_BEAM : ONET_GREEDY,
                                      .beam = 120,
                                      .threads = 2,
                                      .kernels = kernel_set};
        assert_int_equal(onet_orderer_new(&o, model, &options, &err), ONET_OK);
        b->sets->count = B;
        assert_int_equal(onet_orderer_run(o, b->sets, answer, &err), ONET_OK);
        b->sets->count = first;
        for (size_t s = 0; s < B; s++) {
            near(b, "log-probability of an order", logprob[s], want_p[s],
                 SLACK * n * noise.eval_logits + 1e-4);
            for (int t = 0; t < n; t++) assert_int_equal(order[s * n + t], (int)want[s * n + t]);
        }
        onet_orderer_free(o);
    }
    free(answer);
    free(order);
    free(logprob);
    onet_model_free(model);
}

/* The log-probabilities of the right orders with the running statistics. */
static void right_orders(bench *b, const char *kernel_set) {
    golden_noise noise = golden_expected(&b->g);
    onet_error err;
    onet_model *model;
    onet_orderer *o;
    size_t all = b->sets->count, B = (size_t)b->g.B;
    double *got = need(malloc(B * sizeof *got));
    const double *want = golden_get(&b->g, "eval_log_prob", NULL);
    assert_int_equal(model_new(&model, &b->g.settings, &err), ONET_OK);
    memcpy(model->theta, b->theta, b->sh.total * sizeof(float));
    onet_order_options options = {.size = sizeof options, .threads = 2, .kernels = kernel_set};
    assert_int_equal(onet_orderer_new(&o, model, &options, &err), ONET_OK);
    b->sets->count = B;
    assert_int_equal(onet_orderer_score(o, b->sets, got, &err), ONET_OK);
    b->sets->count = all;
    for (size_t s = 0; s < B; s++)
        near(b, "log-probability of a right order", got[s], want[s],
             SLACK * golden_placed(&b->g, (int)s) * noise.eval_logits + 1e-5);
    onet_orderer_free(o);
    onet_model_free(model);
    free(got);
}

/* All golden cases of a list, which must be more than `least`; ordered: the last comparison of each. */
static void agrees_on(char **names, size_t least, const char *kernel_set,
                      void (*ordered)(bench *b, const char *kernel_set)) {
    size_t count = 0;
    for (; names[count]; count++) {
        bench b;
        setup(&b, names[count], kernel_set);
        one_batch(&b);
        ten_steps(&b);
        ordered(&b, kernel_set);
        teardown(&b);
    }
    assert_true(count > least);
    golden_names_free(names);
}

static void agrees_with_the_twin(void **state) {
    agrees_on(golden_names(), 20, *state, orders);
}

/* Batches of sets of different sizes, with and without context items. */
static void agrees_on_mixed_batches(void **state) {
    agrees_on(golden_mixed_names(), 5, *state, right_orders);
}

static void parameter_counts(void **state) {
    static const struct {
        const char *preset;
        int width;
        size_t total, trained;
    } want[] = {{"tsp", 2, 72903, 71623}, {"words", 50, 1385367, 1380247}};
    for (int i = 0; i < 2; i++) {
        onet_settings s;
        onet_model *model;
        onet_error err;
        assert_int_equal(onet_settings_preset(&s, want[i].preset, &err), ONET_OK);
        s.width = want[i].width;
        assert_int_equal(model_new(&model, &s, &err), ONET_OK);
        assert_int_equal(onet_model_parameters(model, 0), want[i].total);
        assert_int_equal(onet_model_parameters(model, 1), want[i].trained);
        onet_model_free(model);
    }
}

int main(void) {
    static const struct {
        const char *name;
        CMUnitTestFunction run;
    } each[] = {{"agrees_with_the_twin", agrees_with_the_twin},
                {"agrees_on_mixed_batches", agrees_on_mixed_batches}};
    enum { MOST = 9 };
    struct CMUnitTest tests[MOST] = {cmocka_unit_test(parameter_counts)};
    static char names[MOST][64];
    size_t count = 1;
    for (const char *const *k = kernels_available(); *k; k++)
        for (int i = 0; i < 2 && count < MOST; i++, count++) {
            snprintf(names[count], sizeof names[0], "%s: %s", each[i].name, *k);
            tests[count] = (struct CMUnitTest){names[count], each[i].run, NULL, NULL, (void *)*k};
        }
    return _cmocka_run_group_tests("golden", tests, count, NULL, NULL);
}
