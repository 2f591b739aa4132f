/* Tests features relative to the set: the formula and its invariances, the network's shape, and that training
 * and ordering see the same numbers. */
#include <math.h>

#include "engine/decode/encode.h"
#include "engine/kernels/cpu.h"
#include "engine/kernels/relative.h"
#include "engine/train/augment.h"
#include "number_sets.h"
#include "ordernet_io.h"
#include "random_model.h"

static const onet_settings net_of = {3, 2, 20, 5, ONET_POOL_MAX, 3, 7, 1, 0, {0}};

/* ---- the formula ---- */

enum { N = 7, D = 3, LD = 9 };

static void fill(real x[N * LD], float shift, float factor) {
    rng r;
    rng_seed(&r, 3, 0);
    for (int i = 0; i < N * LD; i++) x[i] = NAN;
    for (int i = 0; i < N; i++)
        for (int c = 0; c < D; c++) x[i * LD + c] = (float)rng_normal(&r) * factor + shift;
}

static void values_by_hand(void **state) {
    /* 1, 2, 6: mean 3, variance (4 + 1 + 9) / 3. */
    real x[] = {1, 5, 0, 0, 2, 5, 0, 0, 6, 5, 0, 0};
    double deviation = sqrt(14.0 / 3);
    relative_features(x, 4, 3, 0, 2, 2);
    assert_true(fabs((double)x[2] + 2 / deviation) < 1e-6);
    assert_true(fabs((double)x[6] + 1 / deviation) < 1e-6);
    assert_true(fabs((double)x[10] - 3 / deviation) < 1e-6);
    for (int i = 0; i < 3; i++) assert_true(x[4 * i + 3] == 0 && x[4 * i + 1] == 5);
}

static void has_mean_0_and_deviation_1(void **state) {
    real x[N * LD], one[N * LD];
    fill(x, 0.5f, 2);
    memcpy(one, x, sizeof x);
    relative_features(x, LD, N, 0, D, D);
    for (int c = 0; c < D; c++) {
        double sum = 0, square = 0;
        for (int i = 0; i < N; i++) {
            sum += (double)x[i * LD + D + c];
            square += (double)x[i * LD + D + c] * (double)x[i * LD + D + c];
            assert_true(x[i * LD + c] == one[i * LD + c]);
        }
        assert_true(fabs(sum) < 1e-6 && fabs(square - N) < 1e-5);
    }
    /* Feature by feature it is the same, and the columns after it are left alone. */
    for (int c = 0; c < D; c++) relative_features(one, LD, N, c, c + 1, D);
    assert_memory_equal(one, x, sizeof x);
    for (int i = 0; i < N; i++) assert_true(isnan(x[i * LD + 2 * D]));
}

static void shift_and_factor_leave_it(void **state) {
    real x[N * LD], y[N * LD];
    fill(x, 0, 1);
    fill(y, 3, 0.25f);
    relative_features(x, LD, N, 0, D, D);
    relative_features(y, LD, N, 0, D, D);
    for (int i = 0; i < N; i++)
        for (int c = 0; c < D; c++)
            assert_true(fabs((double)x[i * LD + D + c] - (double)y[i * LD + D + c]) < 1e-5);
}

static void never_nan(void **state) {
    real one[] = {4, NAN}, small[] = {1, NAN, 1 + 1e-6f, NAN}, spread[] = {0, NAN, 4e-6f, NAN},
         far[] = {-3e38f, NAN, 3e38f, NAN}, over[] = {INFINITY, NAN, 1, NAN};
    relative_features(one, 2, 1, 0, 1, 1);
    assert_true(one[1] == 0);
    relative_features(small, 2, 2, 0, 1, 1); /* deviation 5e-7 */
    assert_true(small[1] == 0 && small[3] == 0);
    relative_features(spread, 2, 2, 0, 1, 1); /* deviation 2e-6 */
    assert_true(spread[1] == -1 && spread[3] == 1);
    relative_features(far, 2, 2, 0, 1, 1);
    assert_true(far[1] == -1 && far[3] == 1);
    relative_features(over, 2, 2, 0, 1, 1);
    assert_true(over[1] == 0 && over[3] == 0);
}

/* ---- the net ---- */

static void shape_and_parameters(void **state) {
    onet_error err;
    net_shape *sh = need(malloc(sizeof *sh)), *plain = need(malloc(sizeof *plain));
    onet_settings s = net_of;
    assert_int_equal(net_shape_make(sh, &s, &err), ONET_OK);
    s.relative = 0;
    assert_int_equal(net_shape_make(plain, &s, &err), ONET_OK);
    assert_int_equal(plain->inputs, 3);
    assert_int_equal(sh->inputs, 6);
    assert_int_equal(sh->s.width, 3);
    assert_int_equal(sh->D, plain->D + 3);
    for (int k = 0; k < 2; k++) assert_int_equal(sh->enc[k].in, 6 + 5 * k);
    /* Three more inputs: twice in each encoder block (x_i, x_j), in the start vector, twice for three taps in
     * each decoder block (x', y'), and twice in the head. */
    assert_int_equal(sh->trained - plain->trained, 3 * (2 * 2 * 20 + 1 + 3 * 2 * 3 * 7 + 2));
    assert_int_equal(sh->total - sh->trained, plain->total - plain->trained);
    s.relative = 2;
    assert_int_equal(net_shape_make(sh, &s, &err), ONET_USAGE);
    assert_non_null(strstr(err.text, "relative is 2: it must be from 0 to 1"));
    free(sh);
    free(plain);
}

static void standardise(onet_model *m) {
    for (int c = 0; c < m->sh.s.width; c++) {
        m->mean[c] = 0.1f * (float)(c + 1);
        m->scale[c] = 1.5f + 0.3f * (float)c;
    }
}

/* A step with all sets, of up to n items; relative: as in backend.h. */
static net *training_net(const onet_model *m, const onet_sets *sets, int n, const float *relative,
                         uint32_t *index) {
    net *t;
    onet_error err;
    int B = (int)sets->count;
    assert_int_equal(cpu_open(&t, &m->sh, NULL, 2, &err), ONET_OK);
    assert_int_equal(t->ops->reserve(t, batch_of_one_size(B, n), &err), ONET_OK);
    t->relative = relative;
    assert_int_equal(t->ops->data(t, sets, m->mean, m->scale, 0, &err), ONET_OK);
    assert_int_equal(t->ops->put(t, NET_THETA, m->theta, &err), ONET_OK);
    for (int b = 0; b < B; b++) index[b] = (uint32_t)b;
    t->ops->start_step(t, index, B);
    return t;
}

static void training_and_ordering_see_the_same_bits(void **state) {
    enum { B = 5 };
    for (int n = 1; n < 60; n += 29) {
        onet_model *m = model_of(&net_of, 6);
        onet_sets *sets = random_sets(3, B, n, n, 7);
        uint8_t *context = need(calloc((size_t)B * n, 1));
        onet_error err;
        /* Of sets with several items, the last of the order is context. */
        for (size_t b = 0; n > 1 && b < B; b++) context[b * n + (size_t)sets->order[b * n + n - 1]] = 1;
        assert_int_equal(onet_sets_set_context(sets, context, &err), ONET_OK);
        uint32_t index[B];
        standardise(m);
        net *t = training_net(m, sets, n, NULL, index);
        const cpu *s = (const cpu *)t;
        freezer z;
        assert_true(freezer_new(&z, m, kernels_pick(NULL)));
        const frozen *f = need((void *)freezer_prepare(&z, n));
        encoded e = {0};
        assert_true(encoded_reserve(&e, f, n));
        const float **items = need(malloc((size_t)n * sizeof *items));
        for (size_t b = 0; b < B; b++) {
            int rows = 0;
            for (size_t i = b * n; i < (b + 1) * n; i++)
                if (context[i])
                    items[n - 1] = sets_item(sets, i);
                else
                    items[rows++] = sets_item(sets, i);
            encode(&e, f, items, (int[]){0, n}, 1, rows, NULL);
            for (int i = 0; i < n; i++)
                assert_memory_equal(e.x + (size_t)i * f->w.D, s->x + (s->at[b].row + (size_t)i) * s->w.D,
                                    6 * sizeof(real));
        }
        free(items);
        free(context);
        encoded_free(&e);
        freezer_free(&z);
        t->ops->close(t);
        onet_sets_free(sets);
        onet_model_free(m);
    }
}

/* Where items are left out, the others stand where they stood in the whole set. */
static void items_left_out_still_count(void **state) {
    enum { B = 5, SIZE = 20 };
    onet_error err;
    onet_model *m = model_of(&net_of, 6);
    onet_sets *sets = random_sets(3, B, SIZE, SIZE, 7);
    onet_train_options o;
    onet_train_defaults(&o, sizeof o);
    o.drop = 0.9;
    augment *drawn;
    assert_int_equal(augment_new(&drawn, sets, sets, &o, 0, 1, &err), ONET_OK);
    standardise(m);
    assert_int_equal(augment_relative(drawn, m->mean, m->scale, &err), ONET_OK);
    for (int whole = 0; whole < 2; whole++) {
        augment_sample(drawn, 0, whole);
        assert_true(whole == (drawn->sets.start[B] == B * SIZE));
        uint32_t index[B];
        net *t = training_net(m, &drawn->sets, SIZE, drawn->relative, index);
        const cpu *s = (const cpu *)t;
        for (size_t b = 0; b < B; b++) {
            real x[SIZE * 6];
            for (int i = 0; i < SIZE; i++)
                for (int c = 0; c < 3; c++)
                    x[i * 6 + c] = (sets_item(sets, b * SIZE + (size_t)i)[c] - m->mean[c]) * m->scale[c];
            relative_features(x, 6, SIZE, 0, 3, 3);
            for (size_t k = 0; k < sets_size(&drawn->sets, b); k++) {
                const real *row = s->x + (s->at[b].row + k) * s->w.D;
                int i = 0; /* which item it was */
                while (i < SIZE && memcmp(x + i * 6, row, 3 * sizeof *x) != 0) i++;
                assert_in_range(i, 0, SIZE - 1);
                assert_memory_equal(x + i * 6, row, 6 * sizeof *x);
            }
        }
        t->ops->close(t);
    }
    augment_free(drawn);
    onet_sets_free(sets);
    onet_model_free(m);
}

/* The statistics of the batch in place of the running ones, from how far these moved: then ordering gives the
 * log-probabilities of training's forward pass. With relative features, and without. */
static void ordering_scores_as_training_does(void **state) {
    enum { B = 6, SIZE = 8 };
    for (int relative = 0; relative < 2; relative++) {
        onet_settings settings = net_of;
        settings.relative = relative;
        onet_model *m = model_of(&settings, 8);
        onet_sets *sets = random_sets(3, B, SIZE, SIZE, 9);
        uint32_t index[B];
        onet_error err;
        standardise(m);
        net *t = training_net(m, sets, SIZE, NULL, index);
        t->ops->forward(t);
        double loss = t->ops->loss(t), cells = B * SIZE * SIZE, sum = 0;
        float *after = need(malloc(m->sh.total * sizeof *after));
        assert_int_equal(t->ops->get(t, NET_THETA, after, &err), ONET_OK);
        for (int k = 0; k < m->sh.tensors; k++) {
            const tensor *te = &m->sh.tensor[k];
            for (size_t i = te->offset; !te->trained && i < te->offset + te->size; i++) {
                double now = ((double)after[i] - (1 - NORM_MOMENTUM) * (double)m->theta[i]) / NORM_MOMENTUM;
                m->theta[i] = (float)(tensor_is_variance(te) ? fmax(0, now) * (cells - 1) / cells : now);
            }
        }
        double *p = scores(m, sets);
        for (int b = 0; b < B; b++) sum += p[b];
        assert_true(fabs(sum / (B * SIZE) + loss) < 1e-4);
        free(p);
        free(after);
        t->ops->close(t);
        onet_sets_free(sets);
        onet_model_free(m);
    }
}

/* A set with one item, one with equal items, one with a constant feature. */
static void degenerate_sets_are_ordered(void **state) {
    onet_error err;
    onet_model *m = model_of(&net_of, 12);
    const float items[] = {1, 2, 3, 1, 2, 3, 1, 2, 3};
    const float constant[] = {1, 2, 3, 4, 2, 3, 9, 2, 3};
    for (int n = 1; n <= 3; n++)
        for (int k = 0; k < 2; k++) {
            int32_t order[3];
            double logprob;
            assert_int_equal(onet_order(m, k ? constant : items, n, order, &logprob, &err), ONET_OK);
            assert_true(isfinite(logprob));
        }
    onet_model_free(m);
}

static void training(void **state) {
    onet_error err;
    onet_train_options o;
    onet_train_defaults(&o, sizeof o);
    assert_int_equal(o.settings.relative, 0);
    o.settings = net_of;
    o.settings.width = 0;
    o.epochs = 1;
    o.device = "cpu";
    onet_sets *sets = need(number_sets(40, 0, 1)), *words = need(number_sets(40, 1, 1));
    onet_model *m, *tuned;
    assert_int_equal(onet_train(&m, sets, NULL, &o, &err), ONET_OK);
    assert_int_equal(onet_model_settings(m)->relative, 1);
    assert_int_equal(onet_model_settings(m)->width, 1);
    assert_non_null(strstr(onet_model_record(m, "run"), " relative=1"));

    /* Fine-tuning takes it from the model. */
    o.settings.relative = 0;
    o.from = m;
    assert_int_equal(onet_train(&tuned, sets, NULL, &o, &err), ONET_OK);
    assert_int_equal(onet_model_settings(tuned)->relative, 1);
    assert_int_equal(onet_model_parameters(tuned, 0), onet_model_parameters(m, 0));
    onet_model_free(tuned);
    onet_model_free(m);

    o.settings.relative = 1;
    o.from = NULL;
    assert_int_equal(onet_train(&m, words, NULL, &o, &err), ONET_USAGE);
    assert_non_null(strstr(err.text, "they are not computed for the vectors of words"));
    onet_sets_free(sets);
    onet_sets_free(words);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_by_hand),
        cmocka_unit_test(has_mean_0_and_deviation_1),
        cmocka_unit_test(shift_and_factor_leave_it),
        cmocka_unit_test(never_nan),
        cmocka_unit_test(shape_and_parameters),
        cmocka_unit_test(training_and_ordering_see_the_same_bits),
        cmocka_unit_test(items_left_out_still_count),
        cmocka_unit_test(ordering_scores_as_training_does),
        cmocka_unit_test(degenerate_sets_are_ordered),
        cmocka_unit_test(training),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
