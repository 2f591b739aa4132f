/* Tests generated travelling-salesman instances: their shapes, their symmetries, asymmetric costs, and the
 * tours of the local search against proven ones. */
#include <math.h>
#include <string.h>

#include "engine/data/sets.h"
#include "tasks/tours/generate.h"
#include "unit.h"

static onet_sets *generated(const tsp_plan *plan, size_t count) {
    onet_sets *sets;
    assert_int_equal(sets_new(&sets, 2, NULL), ONET_OK);
    assert_int_equal(tsp_generate(plan, 0, count, NULL, tsp_append, sets, NULL), ONET_OK);
    return sets;
}

static double tour_length(const onet_sets *sets, size_t s) {
    onet_tsp t;
    assert_int_equal(tsp_floats(&t, (int)sets_size(sets, s), sets->items + 2 * sets->start[s], NULL),
                     ONET_OK);
    double length = onet_tsp_length(&t, sets->order + sets->start[s]);
    assert_true(onet_tsp_is_tour(t.n, sets->order + sets->start[s]));
    onet_tsp_free(&t);
    return length;
}

static void shapes_fill_the_square(void **state) {
    enum { MOST = 300 };
    for (const onet_choice *c = tsp_shapes(); c->name; c++)
        for (int n = 1; n <= MOST; n = n * 3 + 1)
            for (uint64_t seed = 0; seed < 20; seed++) {
                float xy[2 * MOST];
                rng r;
                rng_seed(&r, seed, 0);
                assert_true(tsp_shape_sample((tsp_shape)c->value, &r, n, xy));
                float low[2] = {1, 1}, high[2] = {0, 0};
                for (int i = 0; i < 2 * n; i++) {
                    assert_true(xy[i] >= 0 && xy[i] <= 1 && fmodf(xy[i] * 0x1p24f, 1) == 0);
                    low[i % 2] = fminf(low[i % 2], xy[i]);
                    high[i % 2] = fmaxf(high[i % 2], xy[i]);
                }
                if (n == 1 || c->value == TSP_SHAPE_UNIFORM || c->value == TSP_SHAPE_MIXED) continue;
                double side = fmax((double)(high[0] - low[0]), (double)(high[1] - low[1]));
                assert_true(fabs(side - (1 - 2.0 / (n + 1))) < 1e-6);
            }
}

/* Returns the mean distance to the nearest city, times sqrt(n): 0.5 for uniform cities, more on a lattice. */
static double spacing(tsp_shape shape) {
    enum { N = 100, INSTANCES = 30 };
    double sum = 0;
    for (uint64_t seed = 0; seed < INSTANCES; seed++) {
        float xy[2 * N];
        rng r;
        rng_seed(&r, seed, 1);
        assert_true(tsp_shape_sample(shape, &r, N, xy));
        for (int i = 0; i < N; i++) {
            double nearest = 2;
            for (int j = 0; j < N; j++)
                if (j != i)
                    nearest = fmin(nearest, hypot((double)(xy[2 * i] - xy[2 * j]),
                                                  (double)(xy[2 * i + 1] - xy[2 * j + 1])));
            sum += nearest;
        }
    }
    return sum / (N * INSTANCES) * sqrt(N);
}

static void shapes_differ(void **state) {
    double uniform = spacing(TSP_SHAPE_UNIFORM), grid = spacing(TSP_SHAPE_GRID);
    double clustered = spacing(TSP_SHAPE_CLUSTERED), lines = spacing(TSP_SHAPE_LINES);
    print_message("uniform %.3f, grid %.3f, clustered %.3f, lines %.3f\n", uniform, grid, clustered, lines);
    assert_true(fabs(uniform - 0.5) < 0.05);
    assert_true(grid > 1.05 * uniform && clustered < 0.7 * uniform && lines < 0.7 * uniform);
}

static void views_are_the_same_tour(void **state) {
    int sizes[] = {3, 12, 60};
    tsp_plan plan = {.size = sizes, .sizes = 3, .seed = 5, .shape = TSP_SHAPE_MIXED, .kicks = 2};
    onet_sets *once = generated(&plan, 30);
    plan.symmetries = SQUARE_SYMMETRIES;
    onet_sets *sets = generated(&plan, 30);
    assert_int_equal(sets->count, 240);
    for (size_t s = 0; s < sets->count; s++) {
        size_t n = sets_size(sets, s), first = s - s % 8;
        const float *xy = sets->items + 2 * sets->start[s], *seen = sets->items + 2 * sets->start[first];
        assert_int_equal(n, sets_size(once, s / 8));
        if (s == first) {
            assert_memory_equal(xy, once->items + 2 * once->start[s / 8], n * 2 * sizeof *xy);
            assert_memory_equal(sets->order + sets->start[s], once->order + once->start[s / 8],
                                n * sizeof(int32_t));
        }
        for (size_t i = 0; i < n; i++) {
            float x = seen[2 * i], y = seen[2 * i + 1];
            if (s % 8 & 1) x = 1 - x;
            if (s % 8 & 2) y = 1 - y;
            assert_true(xy[2 * i] == (s % 8 & 4 ? y : x) && xy[2 * i + 1] == (s % 8 & 4 ? x : y));
        }
        assert_true(fabs(tour_length(sets, s) - tour_length(sets, first)) < 1e-9);
        int32_t canonical[60];
        memcpy(canonical, sets->order + sets->start[s], n * sizeof *canonical);
        onet_tsp t;
        assert_int_equal(tsp_floats(&t, (int)n, xy, NULL), ONET_OK);
        onet_tsp_canonical(&t, canonical);
        onet_tsp_free(&t);
        assert_memory_equal(canonical, sets->order + sets->start[s], n * sizeof *canonical);
    }
    onet_sets_free(once);
    onet_sets_free(sets);
}

static double mean_length(const onet_sets *sets) {
    double sum = 0;
    for (size_t s = 0; s < sets->count; s++) sum += tour_length(sets, s);
    return sum / (double)sets->count;
}

static void local_search_is_near_the_optimum(void **state) {
    int n = 50;
    tsp_plan plan = {.size = &n, .sizes = 1, .seed = 8, .kicks = TSP_LABEL_KICKS};
    double exact, local, none;
    onet_sets *sets = generated(&plan, 60);
    exact = mean_length(sets);
    onet_sets_free(sets);
    plan.label = TSP_LABEL_LOCAL;
    sets = generated(&plan, 60);
    local = mean_length(sets);
    onet_sets_free(sets);
    plan.kicks = 0;
    sets = generated(&plan, 60);
    none = mean_length(sets);
    onet_sets_free(sets);
    print_message("gap %.4f%%, without kicks %.2f%%\n", 100 * (local / exact - 1), 100 * (none / exact - 1));
    assert_true(local >= exact * (1 - 1e-12) && local <= exact * 1.001 && none > exact * 1.001);
}

/* If no method is named, more cities than can be proven are labelled by the local search. */
static void large_sizes_are_labelled_by_local_search(void **state) {
    int n = 70;
    tsp_plan plan = {.size = &n, .sizes = 1, .seed = 8, .kicks = 3};
    onet_sets *chosen = generated(&plan, 5);
    plan.label = TSP_LABEL_LOCAL;
    onet_sets *local = generated(&plan, 5);
    assert_memory_equal(chosen->order, local->order, 5 * 70 * sizeof(int32_t));
    onet_sets_free(chosen);
    onet_sets_free(local);
}

typedef struct costs_seen {
    size_t count;
    double sum; /* of the tours */
    int n;
} costs_seen;

/* Costs of mean 1 that no detour makes cheaper, and a tour from city 0 on. */
static onet_status see_costs(void *context, int n, const float *costs, const int32_t *tour, onet_error *err) {
    costs_seen *seen = context;
    double mean = 0, length = 0;
    (void)err;
    seen->n = n;
    assert_true(onet_tsp_is_tour(n, tour) && tour[0] == 0);
    for (int i = 0; i < n; i++) {
        assert_true(costs[i * n + i] == 0);
        length += (double)costs[tour[i] * n + tour[(i + 1) % n]];
        for (int j = 0; j < n; j++) {
            mean += (double)costs[i * n + j] / (n > 1 ? n * (n - 1) : 1);
            for (int k = 0; k < n; k++)
                assert_true(costs[i * n + j] <= costs[i * n + k] + costs[k * n + j] + 2e-5f);
        }
    }
    assert_true(n == 1 || fabs(mean - 1) < 1e-4);
    if (n <= 9) {
        onet_tsp t;
        int32_t best[9];
        assert_int_equal(onet_tsp_blank(&t, n, false, NULL), ONET_OK);
        t.asymmetric = 1;
        for (int i = 0; i < n * n; i++) t.dist[i] = (double)costs[i];
        assert_int_equal(onet_tsp_solve(&t, ONET_TSP_HELD_KARP, NULL, best, NULL, NULL), ONET_OK);
        assert_true(length <= onet_tsp_length(&t, best) + 1e-9);
        onet_tsp_free(&t);
    }
    seen->sum += length;
    seen->count++;
    return ONET_OK;
}

static void asymmetric_costs(void **state) {
    int sizes[] = {1, 2, 3, 5, 9, 14, 16, 17, 30};
    double sums[3];
    tsp_plan plan = {.size = sizes, .sizes = 9, .seed = 4, .asymmetric = true, .kicks = 2};
    for (int threads = 1; threads <= 3; threads++) {
        costs_seen seen = {0};
        thread_pool *p = thread_pool_new(threads);
        assert_int_equal(tsp_generate(&plan, 0, 45, p, see_costs, &seen, NULL), ONET_OK);
        assert_int_equal(seen.count, 45);
        sums[threads - 1] = seen.sum;
        thread_pool_free(p);
    }
    assert_true(sums[0] == sums[1] && sums[0] == sums[2]); /* in the same order, to the last bit */
    /* The local search against the dynamic program, which is exact for both names of it. */
    int n = 15;
    costs_seen exact = {0}, program = {0}, local = {0};
    tsp_plan one = {.size = &n, .sizes = 1, .seed = 4, .asymmetric = true, .label = TSP_LABEL_EXACT};
    assert_int_equal(tsp_generate(&one, 0, 10, NULL, see_costs, &exact, NULL), ONET_OK);
    one.label = TSP_LABEL_HELD_KARP;
    assert_int_equal(tsp_generate(&one, 0, 10, NULL, see_costs, &program, NULL), ONET_OK);
    one.label = TSP_LABEL_LOCAL;
    assert_int_equal(tsp_generate(&one, 0, 10, NULL, see_costs, &local, NULL), ONET_OK);
    assert_true(exact.sum == program.sum && local.sum > exact.sum && local.sum < 1.02 * exact.sum);
    n = ONET_TSP_HELD_KARP_MAX + 1;
    one.label = TSP_LABEL_EXACT;
    assert_int_equal(tsp_generate(&one, 0, 1, NULL, see_costs, &exact, NULL), ONET_USAGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_fill_the_square),
        cmocka_unit_test(shapes_differ),
        cmocka_unit_test(views_are_the_same_tour),
        cmocka_unit_test(local_search_is_near_the_optimum),
        cmocka_unit_test(large_sizes_are_labelled_by_local_search),
        cmocka_unit_test(asymmetric_costs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
