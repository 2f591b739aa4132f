/* Tests gradients with the whole engine compiled in double precision: the engine's factorised form against
 * the paper's formulas written out, and every gradient against finite differences. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/rng.h"
#include "engine/kernels/cpu.h"
#include "engine/model/generated.h"
#include "paper_form.h"
#include "unit.h"

const kernels *kernels_pick(const char *name) {
    return name && strcmp(name, "plain") ? NULL : &kernels_plain;
}

typedef struct trial {
    onet_settings s;
    int B, n;
    int smaller,
        context; /* set b has n - b * smaller items, and every context-th item is seen only; 0: none */
} trial;

static const trial trials[] = {
    {{3, 2, 8, 4, ONET_POOL_MAX, 2, 4, 0, 0, {0}}, 3, 5, 0, 0},
    {{3, 2, 8, 4, ONET_POOL_MEAN, 2, 4, 0, 0, {0}}, 3, 5, 0, 0},
    {{2, 3, 20, 5, ONET_POOL_MAX, 4, 7, 0, 0, {0}}, 2, 6, 0, 0},
    {{2, 3, 20, 5, ONET_POOL_MEAN, 4, 7, 0, 0, {0}}, 1, 6, 0, 0},
    {{1, 1, 16, 16, ONET_POOL_MAX, 3, 16, 0, 0, {0}}, 5, 4, 0, 0},
    {{4, 2, 9, 3, ONET_POOL_MAX, 3, 5, 0, 0, {0}}, 4, 2, 0, 0},
    {{4, 2, 9, 3, ONET_POOL_MEAN, 3, 5, 0, 0, {0}}, 4, 1, 0, 0},
    {{4, 2, 9, 3, ONET_POOL_MAX, 3, 5, 0, 0, {0}}, 4, 1, 0, 0},
    {{4, 0, 9, 3, ONET_POOL_MAX, 2, 5, 0, 0, {0}}, 4, 3, 0, 0},
    {{4, 2, 9, 3, ONET_POOL_MAX, 0, 5, 0, 0, {0}}, 4, 3, 0, 0},
    {{2, 2, 24, 18, ONET_POOL_MEAN, 2, 20, 0, 0, {0}}, 19, 3, 0, 0},
    {{3, 2, 8, 4, ONET_POOL_MAX, 2, 4, 1, 0, {0}}, 3, 5, 0, 0},
    {{2, 3, 20, 5, ONET_POOL_MEAN, 2, 7, 1, 0, {0}}, 4, 6, 0, 0},
    {{4, 0, 9, 3, ONET_POOL_MAX, 2, 5, 1, 0, {0}}, 4, 3, 0, 0},
    {{4, 2, 9, 3, ONET_POOL_MAX, 3, 5, 1, 0, {0}}, 4, 1, 0, 0},
    {{3, 2, 8, 4, ONET_POOL_MAX, 2, 4, 0, 1, {0}}, 3, 5, 0, 0},   /* with relations */
    {{3, 1, 64, 4, ONET_POOL_MAX, 1, 2, 0, 16, {0}}, 3, 5, 0, 0}, /* whose gradient needs the most memory */
    {{0, 3, 20, 5, ONET_POOL_MEAN, 3, 7, 0, 3, {0}}, 4, 6, 0, 0},
    {{2, 2, 9, 3, ONET_POOL_MAX, 0, 5, 0, 2, {0}}, 4, 3, 0, 0},
    {{2, 0, 9, 3, ONET_POOL_MAX, 2, 5, 1, 16, {0}}, 4, 3, 0, 0},
};
/* Sets of different sizes in a batch, and context items. */
static const trial mixed[] = {
    {{3, 2, 8, 4, ONET_POOL_MAX, 2, 4, 0, 0, {0}}, 4, 7, 2, 0},
    {{3, 2, 8, 4, ONET_POOL_MEAN, 3, 4, 0, 0, {0}}, 5, 6, 1, 0},
    {{2, 3, 20, 5, ONET_POOL_MAX, 4, 7, 0, 0, {0}}, 3, 8, 3, 3},
    {{2, 1, 9, 5, ONET_POOL_MEAN, 2, 7, 0, 0, {0}}, 3, 8, 2, 2},
    {{2, 2, 18, 5, ONET_POOL_MEAN, 2, 17, 0, 0, {0}}, 20, 5, 0, 4},
    {{2, 2, 12, 5, ONET_POOL_MAX, 2, 7, 1, 0, {0}}, 3, 8, 2, 3},
    {{2, 2, 12, 5, ONET_POOL_MEAN, 3, 7, 0, 2, {0}}, 3, 8, 2, 3},
};
enum { TRIALS = sizeof trials / sizeof *trials, MIXED = sizeof mixed / sizeof *mixed };

typedef struct bench {
    net_shape sh;
    net *t;
    cpu *c;
    onet_sets *sets;
    uint32_t index[64];
    double *theta;
    double *x, *e;
    int32_t *y;
    int32_t *target; /* as in backend.h; NULL: the orders do not stray */
} bench;

/* Makes sets of one size smaller and items of them context, as the trial says; the order of such sets is that
 * of falling indices. */
static batch_size cut(onet_sets *sets, const trial *tr) {
    batch_size size = {0};
    size_t d = (size_t)tr->s.width, to = 0;
    if (!tr->smaller && !tr->context) return batch_of_one_size(tr->B, tr->n);
    sets->context = calloc((size_t)tr->B * (size_t)tr->n, 1);
    for (int b = 0; b < tr->B; b++) {
        int n = tr->n - b * tr->smaller, m = 0;
        memmove(sets->items + to * d, sets->items + (size_t)b * (size_t)tr->n * d,
                (size_t)n * d * sizeof *sets->items);
        for (int i = 0; i < n; i++)
            sets->context[to + (size_t)i] = tr->context && i % tr->context == tr->context - 1;
        for (int i = n - 1; i >= 0; i--)
            if (!sets->context[to + (size_t)i]) sets->order[to + (size_t)m++] = i;
        batch_size_add(&size, n, m);
        for (int i = 0; i < n; i++)
            if (sets->context[to + (size_t)i]) sets->order[to + (size_t)m++] = i;
        to += (size_t)n;
        sets->start[b + 1] = to;
    }
    return size;
}

static void setup(bench *b, const trial *tr, unsigned seed) {
    onet_error err;
    memset(b, 0, sizeof *b);
    assert_int_equal(net_shape_make(&b->sh, &tr->s, &err), ONET_OK);
    size_t total = b->sh.total, items = (size_t)tr->B * tr->n * tr->s.width;
    float *theta = malloc(total * sizeof *theta), *x = malloc(items * sizeof *x);
    b->theta = malloc(total * sizeof *b->theta);
    b->x = malloc(items * sizeof *b->x);
    b->y = malloc((size_t)tr->B * tr->n * sizeof *b->y);
    generated_theta(&b->sh, seed, theta);
    generated_batch(seed, 0, tr->B, tr->n, tr->s.width, x, b->y);
    for (size_t i = 0; i < total; i++) b->theta[i] = theta[i];
    for (size_t i = 0; i < items; i++) b->x[i] = x[i];
    assert_int_equal(sets_new(&b->sets, tr->s.width, &err), ONET_OK);
    for (int k = 0; k < tr->B; k++)
        assert_int_equal(sets_append(b->sets, (size_t)tr->n, tr->s.width, x + k * tr->n * tr->s.width,
                                     b->y + k * tr->n, &err),
                         ONET_OK);
    batch_size size = cut(b->sets, tr);
    size_t pairs = (size_t)tr->B * (size_t)(tr->n * tr->n) * (size_t)tr->s.relations;
    float *e = malloc(pairs * sizeof *e + 1); /* more than smaller sets take */
    b->e = malloc(pairs * sizeof *b->e + 1);
    generated_pairs(seed, 0, tr->B, tr->n, tr->s.relations, e);
    for (size_t i = 0; i < pairs; i++) b->e[i] = e[i];
    assert_int_equal(onet_sets_set_pairs(b->sets, tr->s.relations, e, NULL, &err), ONET_OK);
    free(e);
    assert_int_equal(cpu_open(&b->t, &b->sh, "plain", 2, &err), ONET_OK);
    b->c = (cpu *)b->t;
    assert_int_equal(b->t->ops->reserve(b->t, size, &err), ONET_OK);
    assert_int_equal(b->t->ops->data(b->t, b->sets, NULL, NULL, 0, &err), ONET_OK);
    assert_int_equal(b->t->ops->put(b->t, NET_THETA, theta, &err), ONET_OK);
    for (int i = 0; i < tr->B; i++) b->index[i] = (uint32_t)i;
    free(theta);
    free(x);
}

static void teardown(bench *b) {
    b->t->ops->close(b->t);
    onet_sets_free(b->sets);
    free(b->theta);
    free(b->x);
    free(b->e);
    free(b->y);
    free(b->target);
}

/* At each step any item that is left is right: the last one, the one that is placed, in turn. */
static void stray(bench *b) {
    onet_error err;
    const onet_sets *sets = b->sets;
    b->target = malloc(sets->start[sets->count] * sizeof *b->target);
    assert_non_null(b->target);
    memcpy(b->target, sets->order, sets->start[sets->count] * sizeof *b->target);
    for (size_t s = 0; s < sets->count; s++) {
        size_t placed = sets_placed(sets, s);
        for (size_t t = 0; t < placed; t += 2)
            b->target[sets->start[s] + t] = sets->order[sets->start[s] + placed - 1];
    }
    b->t->target = b->target;
    assert_int_equal(b->t->ops->data(b->t, sets, NULL, NULL, 0, &err), ONET_OK);
}

static double forward(bench *b, const trial *tr) {
    b->t->ops->start_step(b->t, b->index, tr->B);
    b->t->ops->forward(b->t);
    return b->t->ops->loss(b->t);
}

static void split_form_is_the_papers(void **state) {
    for (int i = 0; i < TRIALS; i++) {
        const trial *tr = &trials[i];
        bench b;
        setup(&b, tr, 7 + (unsigned)i);
        size_t cells = (size_t)tr->B * tr->n * tr->n, stats = b.sh.total - b.sh.trained;
        double *logits = malloc(cells * sizeof *logits), *running = malloc((stats + 1) * sizeof *running),
               loss;
        paper_forward_placed(&b.sh, b.theta, running, tr->B, tr->n, tr->n, b.x, b.e, b.y, 1, logits, &loss);
        double got = forward(&b, tr);
        assert_true(fabs(got - loss) < 1e-10);
        for (size_t s = 0; s < stats; s++)
            assert_true(fabs(b.c->theta[b.sh.trained + s] - running[s]) < 1e-10);
        const real *lp = cpu_logprob(b.t);
        for (int set = 0; set < tr->B; set++)
            for (int t = 0; t < tr->n; t++) {
                size_t row = ((size_t)set * tr->n + t) * tr->n;
                double top = -1e300, sum = 0;
                char placed[64] = {0};
                for (int e = 0; e < t; e++) placed[b.y[set * tr->n + e]] = 1;
                for (int k = 0; k < tr->n; k++)
                    if (!placed[k] && logits[row + k] > top) top = logits[row + k];
                for (int k = 0; k < tr->n; k++)
                    if (!placed[k]) sum += exp(logits[row + k] - top);
                for (int k = 0; k < tr->n; k++)
                    if (!placed[k]) assert_true(fabs(logits[row + k] - top - log(sum) - lp[row + k]) < 1e-9);
            }
        free(logits);
        free(running);
        teardown(&b);
    }
}

/* Central differences along each tensor's own random direction, and along single numbers. */
static void differences(const trial *all, int count, bool strays, float dropout) {
    for (int i = 0; i < count; i++) {
        const trial *tr = &all[i];
        bench b;
        setup(&b, tr, 70 + (unsigned)i);
        if (strays) stray(&b);
        b.t->update = 0;
        b.t->dropout = dropout;
        b.t->dropout_seed = 9;
        forward(&b, tr);
        b.t->ops->backward(b.t);
        double *grad = malloc(b.sh.total * sizeof *grad), *dir = malloc(b.sh.total * sizeof *dir);
        memcpy(grad, b.c->grad, b.sh.total * sizeof *grad);
        rng r;
        rng_seed(&r, 5, (uint64_t)i);
        int bad = 0, bends = 0, probes = 0;
        for (int k = 0; k < b.sh.tensors; k++) {
            const tensor *te = &b.sh.tensor[k];
            if (!te->trained) continue;
            for (int probe = 0; probe < 6; probe++) {
                size_t one = rng_below(&r, te->size);
                double eps = 1e-6, want = 0, sides[2];
                for (size_t e = 0; e < te->size; e++) {
                    dir[e] = probe ? (e == one) : rng_normal(&r);
                    want += dir[e] * grad[te->offset + e];
                }
                for (int side = 0; side < 2; side++) {
                    for (size_t e = 0; e < te->size; e++)
                        b.c->theta[te->offset + e] = b.theta[te->offset + e] + (side ? eps : -eps) * dir[e];
                    sides[side] = forward(&b, tr);
                }
                memcpy(b.c->theta, b.theta, b.sh.total * sizeof(double));
                double slope = (sides[1] - sides[0]) / (2 * eps), here = forward(&b, tr);
                probes++;
                /* A ReLU or a maximum that switches within eps shows as a bend: the sides' slopes differ. */
                if (fabs(sides[1] - 2 * here + sides[0]) / eps > 1e-5 * (1 + fabs(want))) {
                    bends++;
                    continue;
                }
                if (fabs(slope - want) > 1e-7 + 2e-5 * fabs(want)) {
                    print_message("trial %d %s probe %d: gradient %.10g, difference %.10g\n", i, te->name,
                                  probe, want, slope);
                    bad++;
                }
            }
        }
        assert_int_equal(bad, 0);
        assert_true(bends * 20 <= probes);
        free(grad);
        free(dir);
        teardown(&b);
    }
}

static void gradients_are_differences(void **state) {
    differences(trials, TRIALS, false, 0);
}

static void gradients_of_mixed_sizes_are_differences(void **state) {
    differences(mixed, MIXED, false, 0);
}

static void gradients_of_orders_that_stray_are_differences(void **state) {
    differences(mixed, MIXED, true, 0);
}

static void gradients_with_dropout_are_differences(void **state) {
    differences(trials, TRIALS, false, 0.25f);
    differences(mixed, MIXED, false, 0.5f);
}

/* About the given share of the pooled features is 0, the others are scaled up, and the features that were
 * given stay; another seed drops others. */
static void dropout_drops_its_share(void **state) {
    const trial tr = {{3, 2, 8, 16, ONET_POOL_MEAN, 2, 4, 0, 0, {0}}, 40, 7, 0, 0};
    bench b;
    setup(&b, &tr, 3);
    size_t rows = (size_t)tr.B * (size_t)tr.n, width = (size_t)b.c->w.D;
    int from = b.sh.enc[0].in, to = from + tr.s.encoder_out;
    double *whole = malloc(rows * width * sizeof *whole);
    forward(&b, &tr);
    memcpy(whole, b.c->x, rows * width * sizeof *whole);
    double first = 0;
    for (unsigned seed = 1; seed < 4; seed++) {
        b.t->dropout = 0.25f;
        b.t->dropout_seed = seed;
        double loss = forward(&b, &tr);
        assert_true(seed == 1 || loss != first);
        if (seed == 1) first = loss;
        int gone = 0, all = 0;
        for (size_t r = 0; r < rows; r++)
            for (int c = 0; c < to; c++) {
                double was = whole[r * width + (size_t)c], is = b.c->x[r * width + (size_t)c];
                if (c < from) assert_true(is == was);
                if (c < from) continue;
                assert_true(is == 0 || fabs(is - was / 0.75) < 1e-7 * fabs(was));
                gone += is == 0;
                all++;
            }
        assert_true(fabs((double)gone / all - 0.25) < 0.02); /* 4,480 features: a deviation of 0.0065 */
    }
    free(whole);
    teardown(&b);
}

/* The loss is the mean over all steps of that of the right item, not of the placed one. */
static void the_loss_is_that_of_the_right_items(void **state) {
    for (int i = 0; i < TRIALS; i++) {
        const trial *tr = &trials[i];
        bench b;
        setup(&b, tr, 7 + (unsigned)i);
        double before = forward(&b, tr), sum = 0;
        stray(&b);
        double loss = forward(&b, tr);
        const real *lp = cpu_logprob(b.t);
        for (int step = 0; step < tr->B * tr->n; step++) sum += lp[step * tr->n + b.target[step]];
        assert_true(fabs(loss + sum / (tr->B * tr->n)) < 1e-12);
        assert_true(tr->n < 3 || loss != before);
        teardown(&b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(split_form_is_the_papers),
                                       cmocka_unit_test(gradients_are_differences),
                                       cmocka_unit_test(gradients_of_mixed_sizes_are_differences),
                                       cmocka_unit_test(gradients_of_orders_that_stray_are_differences),
                                       cmocka_unit_test(gradients_with_dropout_are_differences),
                                       cmocka_unit_test(dropout_drops_its_share),
                                       cmocka_unit_test(the_loss_is_that_of_the_right_items)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
