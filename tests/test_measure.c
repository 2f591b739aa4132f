/* Tests the measures of answers: their values, intervals within range, equal items as interchangeable, the
 * calibration error and the temperature that calibrates, and no importance for a feature without information.
 */
#include <math.h>

#include "random_model.h"

#include "ordernet_measure.h"

enum { MOST = 16 };

/* Measures the given answers for sets of n items of one feature whose right order is 0 .. n-1. */
static onet_report measure(size_t count, int n, const float *items, const int32_t *answers, double *logprob) {
    int32_t order[MOST * MOST];
    onet_answer answer[MOST];
    onet_sets *sets = NULL;
    onet_report report;
    onet_error err;
    for (size_t s = 0; s < count; s++) {
        for (int t = 0; t < n; t++) order[s * (size_t)n + (size_t)t] = t;
        answer[s] = (onet_answer){.found = 1, .order = (int32_t *)(uintptr_t)answers + s * (size_t)n};
    }
    assert_int_equal(onet_sets_from(&sets, count, n, 1, items, order, &err), ONET_OK);
    assert_int_equal(onet_measure_sets(&report, sets, answer, logprob, 0, &err), ONET_OK);
    onet_sets_free(sets);
    return report;
}

static void within(onet_measure m, double least, double most) {
    assert_true(m.low >= least && m.low <= m.mean && m.mean <= m.high && m.high <= most);
}

/* One bad answer among good ones: the normal interval would go beyond the best possible value. */
static void intervals_stay_in_range(void **state) {
    enum { SETS = 4, N = 3 };
    static const float items[SETS * N] = {1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3};
    static const int32_t good[SETS * N] = {0, 1, 2, 0, 1, 2, 0, 1, 2, 2, 1, 0},
                                     bad[SETS * N] = {2, 0, 1, 2, 0, 1, 2, 0, 1, 0, 1, 2};
    double logprob[SETS] = {-1e-6, -1e-6, -1e-6, -9};
    onet_report r = measure(SETS, N, items, good, logprob);
    within(r.exact, 0, 1);
    within(r.position, 0, 1);
    within(r.tau, -1, 1);
    within(r.loglik, -INFINITY, 0);
    assert_true(r.position.high == 1 && r.tau.high == 1 && r.loglik.high == 0);
    r = measure(SETS, N, items, bad, NULL);
    within(r.exact, 0, 1);
    within(r.position, 0, 1);
    assert_true(r.position.low == 0);
    assert_true(isnan(r.loglik.mean));
}

static void equal_items_are_interchangeable(void **state) {
    static const float items[4] = {5, 0.0f, -0.0f, 5};
    static const int32_t swapped[4] = {3, 2, 1, 0}, wrong[4] = {1, 0, 3, 2};
    onet_report r = measure(1, 4, items, swapped, NULL);
    assert_true(r.exact.mean == 1 && r.position.mean == 1 && r.tau.mean == 1);
    r = measure(1, 4, items, wrong, NULL);
    assert_true(r.exact.mean == 0 && r.position.mean == 0);
}

/* Measures answers with the given probabilities; exact: 1 where the answer is right. */
static onet_report calibration(size_t count, const double *probability, const double *exact) {
    onet_set_measure each[1000];
    onet_report r;
    assert_true(count <= 1000);
    for (size_t s = 0; s < count; s++)
        each[s] = (onet_set_measure){
            .n = 3, .placed = 3, .exact = exact[s], .loglik = NAN, .probability = probability[s]};
    onet_measure_mean(&r, each, NULL, count);
    return r;
}

/* Against the definition on a few sets, and on many with right and wrong probabilities against chance. */
static void calibration_error(void **state) {
    onet_report r = calibration(5, (double[]){0.95, 1, 0.42, 0.48, NAN}, (double[]){1, 0, 1, 0, 1});
    assert_true(fabs(r.probability.mean - 2.85 / 4) < 1e-12);
    assert_true(fabs(r.calibration.mean - (0.95 + 0.1) / 4) < 1e-12);
    assert_true(isnan(calibration(1, (double[]){NAN}, (double[]){1}).calibration.mean));
    rng random;
    rng_seed(&random, 1, 0);
    double p[1000], right[1000], wrong[1000], sum = 0, expected = 0;
    int inside = 0;
    for (int round = 0; round < 200; round++) {
        for (int s = 0; s < 1000; s++) {
            p[s] = rng_uniform(&random);
            right[s] = rng_uniform(&random) < p[s];
            wrong[s] = rng_uniform(&random) < p[s] * p[s];
        }
        onet_report good = calibration(1000, p, right), bad = calibration(1000, p, wrong);
        sum += good.calibration.mean;
        expected += good.calibration_chance.mean;
        assert_true(bad.calibration.low > bad.calibration_chance.high);
        inside += bad.calibration.low < 1 / 6.0 && bad.calibration.high > 1 / 6.0; /* E(p - p^2) */
    }
    assert_true(fabs(sum - expected) < 0.05 * expected);
    assert_true(inside > 180 && inside < 200); /* of a 95% interval */
}

/* The probability of an answer is that of all orders which differ from it in equal items alone: the sum that
 * the network gives to them. */
static void probability_of_equal_items(void **state) {
    enum { N = 5 };
    static const float items[N] = {2, 1, 2, 3, 2};
    static const int32_t right[N] = {1, 0, 3, 2, 4};
    onet_model *model = model_of(&(onet_settings){.width = 1,
                                                  .encoder_blocks = 2,
                                                  .hidden = 8,
                                                  .encoder_out = 4,
                                                  .decoder_blocks = 2,
                                                  .decoder_out = 4},
                                 3);
    onet_order_options o = {.size = sizeof o, .decode = ONET_BEAM, .beam = 120, .top = 120, .device = "cpu"};
    onet_orderer *orderer;
    onet_sets *sets;
    int32_t order[120 * N];
    double logprob[120], sum = 0;
    onet_answer answer = {.order = order, .logprob = logprob};
    onet_set_measure each;
    assert_int_equal(onet_orderer_new(&orderer, model, &o, NULL), ONET_OK);
    assert_int_equal(onet_sets_from(&sets, 1, N, 1, items, right, NULL), ONET_OK);
    assert_int_equal(onet_orderer_run(orderer, sets, &answer, NULL), ONET_OK);
    assert_int_equal(onet_measure_each(&each, sets, &answer, NULL, NULL), ONET_OK);
    for (int k = 0; k < 120; k++) {
        bool same = true;
        for (int t = 0; t < N; t++) same &= items[order[k * N + t]] == items[order[t]];
        if (same) sum += exp(logprob[k]);
    }
    assert_true(fabs(each.probability - sum) < 1e-4 * sum && sum > 4 * exp(logprob[0]));
    onet_sets_free(sets);
    onet_orderer_free(orderer);
    onet_model_free(model);
}

/* Sets whose right orders are drawn by the model's own probabilities: then it is calibrated, and if its
 * logits are multiplied by a number, that is the temperature. */
static void temperature_is_found(void **state) {
    enum { SETS = 1500, N = 5 };
    onet_model *model = model_of(&nets[1], 5);
    onet_sets *sets = random_sets(3, SETS, N, N, 9);
    for (size_t i = 0; i < (size_t)model->sh.head_in; i++) model->theta[model->sh.head_weight + i] *= 25;
    result drawn = run(model, sets, (onet_order_options){.decode = ONET_SAMPLE, .top = 1, .seed = 4});
    memcpy(sets->order, drawn.order, SETS * N * sizeof *sets->order);
    for (int k = 0; k < 2; k++) {
        const double factor = k ? 0.5 : 2;
        onet_calibration found;
        result before = run(model, sets, (onet_order_options){.decode = ONET_GREEDY, .top = 1});
        for (size_t i = 0; i < (size_t)model->sh.head_in; i++)
            model->theta[model->sh.head_weight + i] *= (float)factor;
        onet_order_options top = {.size = sizeof top, .top = k ? 3 : 0}; /* it takes the best order alone */
        assert_int_equal(onet_model_calibrate(model, sets, k ? &top : NULL, &found, NULL), ONET_OK);
        print_message("temperature %g, calibration error %g, before %g, by chance %g\n", found.temperature,
                      found.after.calibration.mean, found.before.calibration.mean,
                      found.after.calibration_chance.mean);
        assert_true(fabs(log(found.temperature / factor)) < 0.2);
        assert_true(found.before.calibration.mean > found.before.calibration_chance.high);
        assert_true(found.after.calibration.mean < found.after.calibration_chance.high);
        result after = run(model, sets, (onet_order_options){.decode = ONET_GREEDY, .top = 1});
        assert_memory_equal(after.order, before.order, SETS * N * sizeof *after.order);
        double recorded = strtod(onet_model_record(model, "temperature"), NULL);
        assert_true(k ? recorded > 0.6 && recorded < 1.6 : fabs(recorded - found.temperature) < 1e-3);
        for (size_t i = 0; i < (size_t)model->sh.head_in; i++) /* exactly calibrated again */
            model->theta[model->sh.head_weight + i] *= (float)(found.temperature / factor);
        result_free(&before);
        result_free(&after);
    }
    int32_t *order = sets->order;
    onet_error err;
    sets->order = NULL;
    assert_int_equal(onet_model_calibrate(model, sets, NULL, NULL, &err), ONET_BAD);
    assert_non_null(strstr(err.text, "no order"));
    sets->order = order;
    result_free(&drawn);
    onet_sets_free(sets);
    onet_model_free(model);
}

static void a_set_of_one_has_no_tau(void **state) {
    static const float items[1] = {5};
    static const int32_t answer[1] = {0};
    onet_report r = measure(1, 1, items, answer, NULL);
    assert_true(r.exact.mean == 1 && r.position.mean == 1 && isnan(r.tau.mean));
}

/* Against the definition: of the adjacent pairs of the right order, those adjacent in the answer. */
static void neighbours(void **state) {
    enum { N = 7, SETS = 200 };
    rng r;
    rng_seed(&r, 5, 0);
    float items[N] = {1, 2, 3, 4, 5, 6, 7};
    for (int s = 0; s < SETS; s++) {
        int32_t right[N], answer[N];
        for (int32_t i = 0; i < N; i++) {
            int j = (int)rng_below(&r, (uint64_t)i + 1), k = (int)rng_below(&r, (uint64_t)i + 1);
            right[i] = right[j], right[j] = i;
            answer[i] = answer[k], answer[k] = i;
        }
        int pairs = 0;
        for (int t = 0; t + 1 < N; t++)
            for (int u = 0; u + 1 < N; u++) pairs += answer[u] == right[t] && answer[u + 1] == right[t + 1];
        onet_sets *sets;
        onet_error err;
        onet_set_measure each;
        double logprob = -3.5;
        assert_int_equal(onet_sets_from(&sets, 1, N, 1, items, right, &err), ONET_OK);
        assert_int_equal(onet_measure_each(&each, sets, &(onet_answer){.order = answer}, &logprob, &err),
                         ONET_OK);
        assert_true(each.n == N && each.placed == N);
        assert_true(fabs(each.neighbours - pairs / (N - 1.0)) < 1e-12);
        assert_true(fabs(each.loglik + 0.5) < 1e-12);
        onet_sets_free(sets);
    }
}

/* Of sets of 1 and 3 items: the mean over sets is not that over steps. Context counts in neither. */
static void means_over_sets_and_steps(void **state) {
    onet_error err;
    onet_sets *sets;
    assert_int_equal(sets_new(&sets, 1, &err), ONET_OK);
    const float items[] = {1, 2, 3, 4};
    assert_int_equal(sets_append(sets, 2, 1, items, (int32_t[]){1, 0}, &err), ONET_OK);
    assert_int_equal(sets_append_context(sets, (uint8_t[]){1, 0}, &err), ONET_OK);
    assert_int_equal(sets_append(sets, 4, 1, items, (int32_t[]){2, 0, 1, 3}, &err), ONET_OK);
    assert_int_equal(sets_append_context(sets, (uint8_t[]){0, 0, 0, 1}, &err), ONET_OK);
    int32_t first[] = {1, 0}, second[] = {1, 2, 0, 3};
    const onet_answer answers[] = {{.order = first}, {.order = second}};
    const double logprob[] = {-1, -6};
    onet_set_measure each[2];
    onet_report all, one;
    assert_int_equal(onet_measure_each(each, sets, answers, logprob, &err), ONET_OK);
    assert_true(each[0].placed == 1 && each[0].n == 2 && each[0].exact == 1 && isnan(each[0].neighbours));
    assert_true(each[1].placed == 3 && each[1].n == 4 && each[1].exact == 0);
    assert_true(each[1].position == 0 && each[1].neighbours == 0.5);
    assert_true(fabs(each[1].tau + 1 / 3.0) < 1e-12);
    onet_measure_mean(&all, each, NULL, 2);
    assert_true(all.sets == 2 && all.neighbours.mean == 0.5);
    assert_true(fabs(all.loglik.mean + 1.5) < 1e-12 && fabs(all.loglik_all.mean + 7 / 4.0) < 1e-12);
    within(all.loglik_all, -INFINITY, 0);
    onet_measure_mean(&one, each, (size_t[]){1}, 1);
    assert_true(one.sets == 1 && one.exact.mean == 0 && one.loglik_all.mean == -2);
    assert_int_equal(onet_measure_sets(&one, sets, answers, logprob, 4, &err), ONET_OK);
    assert_true(one.sets == 1 && one.loglik_all.mean == -2);
    onet_sets_free(sets);
}

/* The interval of the ratio is the normal one when all sets have one size. */
static void ratio_interval(void **state) {
    enum { SETS = 4, N = 3 };
    static const float items[SETS * N] = {1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3};
    static const int32_t good[SETS * N] = {0, 1, 2, 0, 1, 2, 0, 1, 2, 2, 1, 0};
    double logprob[SETS] = {-7, -8, -7.5, -9};
    onet_report r = measure(SETS, N, items, good, logprob);
    assert_true(fabs(r.loglik_all.mean - r.loglik.mean) < 1e-12);
    assert_true(fabs(r.loglik_all.low - r.loglik.low) < 1e-12);
    assert_true(fabs(r.loglik_all.high - r.loglik.high) < 1e-12);
}

static void importance(void **state) {
    onet_error err = {.text = ""};
    onet_model *m = model_of(&nets[1], 81); /* 3 features */
    onet_sets *sets = random_sets(3, 60, 1, 9, 82);
    /* Feature 1 is one value within each set: a shuffle changes nothing. */
    for (size_t s = 0; s < sets->count; s++)
        for (size_t i = sets->start[s]; i < sets->start[s + 1]; i++) sets->items[3 * i + 1] = (float)s / 60;
    result own = run(m, sets, (onet_order_options){.beam = 5});
    memcpy(sets->order, own.order, sets->start[sets->count] * sizeof *sets->order);
    double *p = scores(m, sets);
    onet_set_measure *base = need(calloc(sets->count, sizeof *base));
    assert_int_equal(onet_measure_each(base, sets, own.answer, p, &err), ONET_OK);
    onet_orderer *orderer;
    assert_int_equal(onet_orderer_new(&orderer, m, NULL, &err), ONET_OK);
    onet_importance of[3], again, other;
    for (int c = 0; c < 3; c++)
        assert_int_equal(onet_measure_importance(&of[c], orderer, sets, base, c, 3, 7, &err), ONET_OK);
    assert_true(of[1].exact.mean == 0 && of[1].loglik.mean == 0 && of[1].loglik.high == 0);
    assert_true(of[0].exact.mean > 0.2 && of[2].exact.mean > 0.2);
    assert_true(of[0].loglik.mean > 0 && of[0].loglik.low < of[0].loglik.mean);
    assert_int_equal(onet_measure_importance(&again, orderer, sets, base, 0, 3, 7, &err), ONET_OK);
    assert_int_equal(onet_measure_importance(&other, orderer, sets, base, 0, 3, 8, &err), ONET_OK);
    assert_memory_equal(&again, &of[0], sizeof again);
    assert_true(other.loglik.mean != again.loglik.mean);
    assert_int_equal(onet_measure_importance(&other, orderer, sets, base, 3, 3, 8, &err), ONET_USAGE);
    onet_orderer_free(orderer);
    onet_order_options top = {.size = sizeof top, .top = 3};
    assert_int_equal(onet_orderer_new(&orderer, m, &top, &err), ONET_OK);
    assert_int_equal(onet_measure_importance(&again, orderer, sets, base, 0, 3, 7, &err), ONET_OK);
    assert_memory_equal(&again, &of[0], sizeof again);
    onet_orderer_free(orderer);
    free(base);
    free(p);
    result_free(&own);
    onet_sets_free(sets);
    onet_model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_stay_in_range),
        cmocka_unit_test(equal_items_are_interchangeable),
        cmocka_unit_test(calibration_error),
        cmocka_unit_test(probability_of_equal_items),
        cmocka_unit_test(temperature_is_found),
        cmocka_unit_test(a_set_of_one_has_no_tau),
        cmocka_unit_test(neighbours),
        cmocka_unit_test(means_over_sets_and_steps),
        cmocka_unit_test(ratio_interval),
        cmocka_unit_test(importance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
