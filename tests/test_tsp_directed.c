/* Tests asymmetric instances of the travelling-salesman problem: the exact solver and the local search
 * against all permutations, bounds, the canonical form, and what is refused. */
#include <math.h>
#include <string.h>

#include "engine/base/rng.h"
#include "tasks/tours/solve/solvers.h"
#include "unit.h"

enum { MOST = 60 };

/* n cities with costs of their own in each direction: whole numbers, or closed under shortest paths. */
static void draw(onet_tsp *t, int n, uint64_t seed) {
    rng r;
    rng_seed(&r, seed, (uint64_t)n);
    assert_int_equal(onet_tsp_blank(t, n, false, NULL), ONET_OK);
    t->asymmetric = 1;
    t->whole = seed % 2 == 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (i != j) t->dist[i * n + j] = t->whole ? (double)rng_below(&r, 20) : rng_uniform(&r);
    for (int k = 0; k < n && !t->whole; k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                if (i != j)
                    t->dist[i * n + j] = fmin(t->dist[i * n + j], t->dist[i * n + k] + t->dist[k * n + j]);
}

/* Returns the length of the shortest tour whose first `placed` cities are those of `tour`. */
static double shortest(const onet_tsp *t, int32_t *tour, int placed) {
    if (placed == t->n) return onet_tsp_length(t, tour);
    double best = INFINITY;
    for (int i = placed; i < t->n; i++) {
        int32_t a = tour[placed], b = tour[i];
        tour[placed] = b, tour[i] = a;
        best = fmin(best, shortest(t, tour, placed + 1));
        tour[placed] = a, tour[i] = b;
    }
    return best;
}

static double optimum(const onet_tsp *t) {
    int32_t tour[MOST];
    for (int i = 0; i < t->n; i++) tour[i] = i;
    return shortest(t, tour, 1);
}

static double solved(const onet_tsp *t, onet_tsp_method method, const onet_tsp_options *options,
                     onet_tsp_proof *proof) {
    int32_t tour[MOST];
    onet_tsp_proof own;
    if (!proof) proof = &own;
    assert_int_equal(onet_tsp_solve(t, method, options, tour, proof, NULL), ONET_OK);
    assert_true(onet_tsp_is_tour(t->n, tour));
    assert_int_equal(tour[0], 0);
    assert_true(proof->length == onet_tsp_length(t, tour));
    return proof->length;
}

static void equals_all_permutations(void **state) {
    int best = 0, tries = 0;
    for (int n = 1; n <= 8; n++)
        for (uint64_t seed = 0; seed < (n < 8 ? 60 : 20); seed++) {
            onet_tsp t;
            onet_tsp_proof proof;
            draw(&t, n, seed);
            double least = optimum(&t), rounding = 1e-12 * (1 + least);
            assert_true(fabs(solved(&t, ONET_TSP_EXACT, NULL, &proof) - least) <= rounding);
            assert_true(proof.proven && proof.bound == proof.length);
            assert_true(fabs(solved(&t, ONET_TSP_HELD_KARP, NULL, NULL) - least) <= rounding);
            double local = solved(&t, ONET_TSP_TWO_OPT, NULL, &proof);
            assert_true(local >= least - rounding && !proof.proven);
            assert_true(solved(&t, ONET_TSP_NEAREST, NULL, NULL) >= local - rounding);
            assert_true(solved(&t, ONET_TSP_FARTHEST, NULL, NULL) >= local - rounding);
            best += local <= least + rounding, tries++;
            onet_tsp_free(&t);
        }
    print_message("local search: the optimum in %d of %d\n", best, tries);
    assert_true(best >= tries * 98 / 100);
}

/* From a bad tour: every step of the search keeps a tour and shortens it by what it says. */
static void local_search_keeps_a_tour(void **state) {
    for (int n = 3; n <= MOST; n += 3)
        for (uint64_t seed = 0; seed < 10; seed++) {
            onet_tsp t;
            int32_t tour[MOST], again[MOST];
            draw(&t, n, seed);
            for (int i = 0; i < n; i++) tour[i] = i;
            double before = onet_tsp_length(&t, tour);
            assert_int_equal(tsp_local(&t, 0, NULL, 1, tour, NULL), ONET_OK);
            double after = onet_tsp_length(&t, tour);
            assert_true(onet_tsp_is_tour(n, tour) && after <= before);
            memcpy(again, tour, sizeof tour);
            assert_int_equal(tsp_local(&t, 200, NULL, 1, tour, NULL), ONET_OK);
            assert_true(onet_tsp_is_tour(n, tour) && onet_tsp_length(&t, tour) <= after + 1e-12);
            assert_int_equal(tsp_local(&t, 200, NULL, 1, again, NULL), ONET_OK);
            assert_memory_equal(tour, again, (size_t)n * sizeof *tour);
            onet_tsp_free(&t);
        }
}

/* At 12 to 16 cities the dynamic program is the reference; kicks find what the starts do not. */
static void local_search_is_near_the_optimum(void **state) {
    double none = 0, kicked = 0;
    onet_tsp_options options;
    onet_tsp_defaults(&options, sizeof options);
    options.kicks = 500;
    for (uint64_t seed = 0; seed < 20; seed++) {
        onet_tsp t;
        draw(&t, 12 + (int)seed % 5, 2 * seed + 1);
        double least = solved(&t, ONET_TSP_EXACT, NULL, NULL), rounding = 1e-12 * (1 + least);
        double starts = solved(&t, ONET_TSP_TWO_OPT, NULL, NULL);
        double more = solved(&t, ONET_TSP_TWO_OPT, &options, NULL);
        assert_true(starts >= least - rounding && more >= least - rounding && more <= starts + rounding);
        none += starts / least - 1;
        kicked += more / least - 1;
        onet_tsp_free(&t);
    }
    print_message("gap %.3f%%, with kicks %.3f%%\n", 100 * none / 20, 100 * kicked / 20);
    assert_true(none / 20 < 0.02 && kicked / 20 < 0.001);
}

/* Beyond the dynamic program: a bound below the tour, and no proof unless they meet. */
static void large_instances_have_a_bound(void **state) {
    onet_tsp_options options;
    onet_tsp_defaults(&options, sizeof options);
    int proven = 0;
    for (uint64_t seed = 0; seed < 10; seed++) {
        onet_tsp t;
        onet_tsp_proof proof;
        draw(&t, ONET_TSP_HELD_KARP_MAX + 1 + 5 * (int)(seed % 3), seed);
        double length = solved(&t, ONET_TSP_EXACT, &options, &proof);
        assert_true(proof.bound <= length && proof.bound >= 0.6 * length);
        assert_int_equal(proof.proven, proof.bound >= length);
        proven += proof.proven;
        onet_tsp_free(&t);
    }
    print_message("%d of 10 proven\n", proven);
    /* A cycle of free steps is the optimum, and every assignment agrees. */
    onet_tsp t;
    onet_tsp_proof proof;
    int n = MOST;
    draw(&t, n, 2);
    for (int i = 0; i < n * n; i++) t.dist[i] = i % (n + 1) ? t.dist[i] + 1 : 0;
    for (int i = 0; i < n; i++) t.dist[i * n + (i + 7) % n] = 0;
    assert_true(solved(&t, ONET_TSP_EXACT, &options, &proof) == 0);
    assert_true(proof.proven && proof.bound == 0);
    onet_tsp_free(&t);
}

/* The dual value is a bound: never above the optimum of the dynamic program. Checked where both are known, by
 * adding cities that cost nothing: the program sees 13, the bound 21 or more. */
static void bound_is_below_the_optimum(void **state) {
    for (uint64_t seed = 0; seed < 20; seed++) {
        onet_tsp small, large;
        onet_tsp_proof proof;
        draw(&small, 13, seed);
        int more = 9, n = 13 + more;
        assert_int_equal(onet_tsp_blank(&large, n, false, NULL), ONET_OK);
        large.asymmetric = 1;
        /* Cities 13 and up are copies of city 0, free among each other: the optimum stays. */
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                large.dist[i * n + j] = onet_tsp_distance(&small, i < 13 ? i : 0, j < 13 ? j : 0);
        double least = solved(&small, ONET_TSP_EXACT, NULL, NULL);
        double found = solved(&large, ONET_TSP_EXACT, NULL, &proof);
        assert_true(proof.bound <= least * (1 + 1e-12));
        if (!small.whole) assert_true(found >= least * (1 - 1e-12));
        onet_tsp_free(&small);
        onet_tsp_free(&large);
    }
}

static void keeps_its_direction(void **state) {
    onet_tsp t;
    draw(&t, 5, 1);
    int32_t tour[] = {3, 1, 0, 4, 2}, want[] = {0, 4, 2, 3, 1};
    onet_tsp_canonical(&t, tour);
    assert_memory_equal(tour, want, sizeof want);
    onet_tsp_free(&t);
    /* One way round is free. */
    assert_int_equal(onet_tsp_blank(&t, 3, true, NULL), ONET_OK);
    t.asymmetric = 1;
    double costs[] = {0, 9, 0, 0, 0, 9, 9, 0, 0};
    memcpy(t.dist, costs, sizeof costs);
    t.xy[0] = 5; /* city 0 is the start, wherever it lies */
    for (int method = 0; method < ONET_TSP_ORDERNET; method++) {
        if (method == ONET_TSP_CHRISTOFIDES) continue;
        assert_true(solved(&t, (onet_tsp_method)method, NULL, NULL) == 0);
    }
    onet_tsp_free(&t);
}

static void refusals(void **state) {
    onet_tsp t;
    onet_error err;
    int32_t tour[MOST];
    draw(&t, 6, 1);
    assert_int_equal(onet_tsp_solve(&t, ONET_TSP_CHRISTOFIDES, NULL, tour, NULL, &err), ONET_USAGE);
    assert_non_null(strstr(err.text, "the same in both directions"));
    t.asymmetric = 0;
    assert_int_equal(onet_tsp_solve(&t, ONET_TSP_EXACT, NULL, tour, NULL, &err), ONET_BAD);
    assert_non_null(strstr(err.text, "there and"));
    t.asymmetric = 2;
    assert_int_equal(onet_tsp_solve(&t, ONET_TSP_EXACT, NULL, tour, NULL, &err), ONET_USAGE);
    t.asymmetric = 1;
    double bad[] = {NAN, -1, INFINITY};
    for (int i = 0; i < 6; i++) {
        int at = i < 3 ? 1 * 6 + 4 : 4 * 6 + 1; /* either triangle */
        double good = t.dist[at];
        t.dist[at] = bad[i % 3];
        assert_int_equal(onet_tsp_solve(&t, ONET_TSP_NEAREST, NULL, tour, NULL, &err), ONET_BAD);
        t.dist[at] = good;
    }
    onet_tsp_free(&t);
    draw(&t, ONET_TSP_HELD_KARP_MAX + 1, 1);
    assert_int_equal(onet_tsp_solve(&t, ONET_TSP_HELD_KARP, NULL, tour, NULL, &err), ONET_USAGE);
    onet_tsp_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_all_permutations),
        cmocka_unit_test(local_search_keeps_a_tour),
        cmocka_unit_test(local_search_is_near_the_optimum),
        cmocka_unit_test(large_instances_have_a_bound),
        cmocka_unit_test(bound_is_below_the_optimum),
        cmocka_unit_test(keeps_its_direction),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
