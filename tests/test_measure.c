/* Measures of answers: their intervals stay in range, equal items are interchangeable. */
#include <math.h>

#include "ordernet.h"
#include "unit.h"

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

/* One bad answer among good ones: the normal interval would pass the best that can be. */
static void intervals_stay_in_range(void **state) {
    (void)state;
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
    (void)state;
    static const float items[4] = {5, 0.0f, -0.0f, 5};
    static const int32_t swapped[4] = {3, 2, 1, 0}, wrong[4] = {1, 0, 3, 2};
    onet_report r = measure(1, 4, items, swapped, NULL);
    assert_true(r.exact.mean == 1 && r.position.mean == 1 && r.tau.mean == 1);
    r = measure(1, 4, items, wrong, NULL);
    assert_true(r.exact.mean == 0 && r.position.mean == 0);
}

static void a_set_of_one_has_no_tau(void **state) {
    (void)state;
    static const float items[1] = {5};
    static const int32_t answer[1] = {0};
    onet_report r = measure(1, 1, items, answer, NULL);
    assert_true(r.exact.mean == 1 && r.position.mean == 1 && isnan(r.tau.mean));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_stay_in_range),
        cmocka_unit_test(equal_items_are_interchangeable),
        cmocka_unit_test(a_set_of_one_has_no_tau),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
