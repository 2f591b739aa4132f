/* Tests the blossom algorithm against all matchings of few cities and against networkx, and the quality of
 * Christofides' tours. */
#include <stdio.h>
#include <stdlib.h>

#include "engine/base/rng.h"
#include "tasks/tours/generate.h"
#include "tasks/tours/solve/solvers.h"
#include "unit.h"

/* Returns the cost of the cheapest matching of the cities not in `done`, by trying all. */
static int64_t try_all(int n, const int64_t *cost, unsigned done) {
    int a = 0;
    while (a < n && done >> a & 1) a++;
    if (a == n) return 0;
    int64_t least = INT64_MAX;
    for (int b = a + 1; b < n; b++) {
        if (done >> b & 1) continue;
        int64_t c = cost[a * n + b] + try_all(n, cost, done | 1u << a | 1u << b);
        if (c < least) least = c;
    }
    return least;
}

static int64_t solve(int n, const int64_t *cost) {
    int32_t mate[64];
    onet_error err;
    assert_true(n <= 64);
    assert_int_equal(matching_perfect(n, cost, mate, &err), ONET_OK);
    int64_t total = 0;
    for (int i = 0; i < n; i++) {
        assert_int_equal(mate[mate[i]], i);
        total += cost[i * n + mate[i]];
    }
    return total / 2;
}

static void equals_all_matchings(void **state) {
    rng r;
    rng_seed(&r, 1, 0);
    int64_t cost[100] = {0};
    for (int round = 0; round < 4000; round++) {
        int n = 2 + 2 * (round % 5);
        static const uint64_t largest[] = {2, 12, 1000000000};
        uint64_t most = largest[round % 3];
        for (int i = 0; i < n; i++)
            for (int j = 0; j < i; j++)
                cost[i * n + j] = cost[j * n + i] = (int64_t)rng_below(&r, most) - (round % 7 ? 0 : 5);
        assert_true(solve(n, cost) == try_all(n, cost, 0));
    }
}

/* tests/data/matching.txt is the output of reference/matching_networkx.py. */
static void equals_networkx(void **state) {
    FILE *file = fopen("tests/data/matching.txt", "r");
    assert_non_null(file);
    int n, cases = 0;
    long want;
    int64_t cost[64 * 64] = {0};
    while (fscanf(file, "%d %ld", &n, &want) == 2) {
        assert_true(n <= 64);
        for (int i = 0; i < n; i++)
            for (int j = i + 1; j < n; j++) {
                long c;
                assert_int_equal(fscanf(file, "%ld", &c), 1);
                cost[i * n + j] = cost[j * n + i] = c;
            }
        assert_int_equal(solve(n, cost), want);
        cases++;
    }
    fclose(file);
    assert_int_equal(cases, 60);
}

/* The proof inside matching_perfect is the check here: points in clusters and on grids, hundreds of them. */
static void large_matchings_are_proven(void **state) {
    rng r;
    rng_seed(&r, 2, 0);
    for (int round = 0; round < 12; round++) {
        static const int grids[] = {8, 40, 1 << 20};
        int n = 50 + 30 * round, grid = grids[round % 3];
        int64_t *cost = calloc((size_t)n * (size_t)n, sizeof *cost), *at = calloc((size_t)n, 2 * sizeof *at);
        int32_t *mate = calloc((size_t)n, sizeof *mate);
        assert_true(cost && at && mate);
        for (int i = 0; i < 2 * n; i++) at[i] = (int64_t)rng_below(&r, (uint64_t)grid);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                cost[i * n + j] = llabs(at[2 * i] - at[2 * j]) + llabs(at[2 * i + 1] - at[2 * j + 1]);
        onet_error err;
        assert_int_equal(matching_perfect(n, cost, mate, &err), ONET_OK);
        free(cost);
        free(at);
        free(mate);
    }
}

static void refuses_what_cannot_be_matched(void **state) {
    int64_t cost[9] = {0};
    int32_t mate[3];
    assert_int_equal(matching_perfect(3, cost, mate, NULL), ONET_USAGE);
    cost[1] = cost[2] = INT64_MAX;
    assert_int_equal(matching_perfect(2, cost, mate, NULL), ONET_USAGE);
    assert_int_equal(matching_perfect(0, cost, mate, NULL), ONET_OK);
}

/* Returns the mean length of Christofides' tours of n uniform cities over that of good ones. */
static double mean_gap(int n, int instances) {
    tsp_plan plan = {.size = &n, .sizes = 1, .seed = 4};
    float *xy = calloc((size_t)n, 2 * sizeof *xy);
    int32_t *tour = calloc((size_t)n, sizeof *tour);
    assert_true(xy && tour);
    double sum = 0;
    for (int i = 0; i < instances; i++) {
        onet_tsp t;
        tsp_sample(&plan, (size_t)i, xy);
        assert_int_equal(tsp_floats(&t, n, xy, NULL), ONET_OK);
        assert_int_equal(tsp_christofides(&t, tour, NULL), ONET_OK);
        assert_true(onet_tsp_is_tour(n, tour));
        double length = onet_tsp_length(&t, tour);
        if (n <= 20) {
            assert_int_equal(tsp_exact(&t, NULL, tour, NULL, NULL), ONET_OK);
        } else {
            assert_int_equal(tsp_farthest(&t, tour, NULL), ONET_OK);
            assert_int_equal(tsp_local(&t, 4000, NULL, 1, tour, NULL), ONET_OK);
        }
        sum += length / onet_tsp_length(&t, tour) - 1;
        onet_tsp_free(&t);
    }
    free(xy);
    free(tour);
    print_message("Christofides, %d cities: %.2f%% over the best\n", n, 100 * sum / instances);
    return sum / instances;
}

static void christofides_is_as_good_as_known(void **state) {
    double gap = mean_gap(20, 1000);
    assert_true(gap > 0.083 && gap < 0.103);
    gap = mean_gap(100, 60);
    assert_true(gap > 0.108 && gap < 0.134);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_all_matchings),
        cmocka_unit_test(equals_networkx),
        cmocka_unit_test(large_matchings_are_proven),
        cmocka_unit_test(refuses_what_cannot_be_matched),
        cmocka_unit_test(christofides_is_as_good_as_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
