/* Tests the exact solver of the travelling-salesman problem against the dynamic program (held_karp.c) and on
 * inputs made to break it; its answer must not depend on the number of threads, and a time limit gives a
 * bound. */
#include <math.h>
#include <stdbool.h>

#include "engine/base/rng.h"
#include "engine/data/sets.h"
#include "tasks/tours/generate.h"
#include "tasks/tours/solve/solvers.h"
#include "unit.h"

static bool near_same(double a, double b) {
    return fabs(a - b) <= 1e-9 * (1 + fabs(a));
}

static void equals_held_karp(void **state) {
    enum { EACH = 220 };
    int checked = 0;
    for (int n = 4; n <= 13; n++) {
        tsp_plan plan = {.size = &n, .sizes = 1, .seed = 11};
        for (size_t i = 0; i < EACH; i++) {
            float xy[2 * 13];
            tsp_sample(&plan, i, xy);
            onet_tsp t;
            int32_t exact[13], oracle[13];
            onet_tsp_proof proof;
            assert_int_equal(tsp_floats(&t, n, xy, NULL), ONET_OK);
            assert_int_equal(tsp_exact(&t, NULL, exact, &proof, NULL), ONET_OK);
            assert_int_equal(tsp_held_karp(&t, oracle, NULL), ONET_OK);
            assert_true(proof.proven && onet_tsp_is_tour(n, exact) && onet_tsp_is_tour(n, oracle));
            assert_true(near_same(proof.length, onet_tsp_length(&t, oracle)));
            assert_true(proof.bound == proof.length && proof.length == onet_tsp_length(&t, exact));
            onet_tsp_free(&t);
            checked++;
        }
    }
    print_message("%d instances\n", checked);
    assert_true(checked >= 2000);
}

/* Whole-number distances without geometry: bounds are rounded up there. */
static void equals_held_karp_on_matrices(void **state) {
    rng r;
    rng_seed(&r, 5, 0);
    for (int round = 0; round < 200; round++) {
        int n = 4 + round % 7;
        onet_tsp t;
        assert_int_equal(onet_tsp_blank(&t, n, false, NULL), ONET_OK);
        t.whole = true;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < i; j++)
                t.dist[i * n + j] = t.dist[j * n + i] = (double)rng_below(&r, round % 2 ? 4 : 100);
        int32_t exact[16], oracle[16];
        assert_int_equal(tsp_exact(&t, NULL, exact, NULL, NULL), ONET_OK);
        assert_int_equal(tsp_held_karp(&t, oracle, NULL), ONET_OK);
        assert_true(onet_tsp_length(&t, exact) == onet_tsp_length(&t, oracle));
        assert_int_equal(exact[0], 0);
        assert_true(exact[1] < exact[n - 1]);
        onet_tsp_free(&t);
    }
}

/* Every solver on one instance; `optimum` < 0 when it is not known. */
static void all_solvers(int n, const double *xy, double optimum) {
    onet_tsp t;
    int32_t tour[64];
    onet_tsp_proof proof;
    assert_true(n <= 64);
    assert_int_equal(onet_tsp_points(&t, n, xy, NULL), ONET_OK);
    assert_int_equal(tsp_exact(&t, &(tsp_limit){.seconds = 60}, tour, &proof, NULL), ONET_OK);
    assert_true(onet_tsp_is_tour(n, tour) && proof.proven);
    if (optimum >= 0) assert_true(near_same(proof.length, optimum));
    if (n <= 13) {
        assert_int_equal(tsp_held_karp(&t, tour, NULL), ONET_OK);
        assert_true(onet_tsp_is_tour(n, tour) && near_same(onet_tsp_length(&t, tour), proof.length));
    }
    assert_int_equal(tsp_farthest(&t, tour, NULL), ONET_OK);
    assert_true(onet_tsp_is_tour(n, tour) && onet_tsp_length(&t, tour) >= proof.length * (1 - 1e-9));
    assert_int_equal(tsp_nearest(&t, n - 1, tour, NULL), ONET_OK);
    assert_true(onet_tsp_is_tour(n, tour) && tour[0] == n - 1);
    double before = onet_tsp_length(&t, tour);
    assert_int_equal(tsp_local(&t, 50, NULL, 1, tour, NULL), ONET_OK);
    assert_true(onet_tsp_is_tour(n, tour) && onet_tsp_length(&t, tour) <= before * (1 + 1e-9));
    assert_int_equal(tsp_christofides(&t, tour, NULL), ONET_OK);
    assert_true(onet_tsp_is_tour(n, tour) && onet_tsp_length(&t, tour) <= 1.5 * proof.length * (1 + 1e-9));
    onet_tsp_free(&t);
}

static void degenerate_inputs(void **state) {
    double xy[128];
    for (int n = 1; n <= 30; n++) {
        for (int i = 0; i < 2 * n; i++) xy[i] = 0.3;
        all_solvers(n, xy, 0); /* all the same */
        for (int i = 0; i < n; i++) xy[2 * i] = (i * 7 % n) * 0.1, xy[2 * i + 1] = 0.2 + (i * 7 % n) * 0.05;
        if (n % 7) all_solvers(n, xy, 2 * (n - 1) * hypot(0.1, 0.05)); /* on a line */
        for (int i = 0; i < n; i++) xy[2 * i] = 5, xy[2 * i + 1] = i % 3;
        all_solvers(n, xy, n == 1 ? 0 : n == 2 ? 2 : 4); /* three places, many times each */
        for (int i = 0; i < n; i++)
            xy[2 * i] = 1e6 + cos(6.28318530717958 * i / n),
                   xy[2 * i + 1] = -1e6 + sin(6.28318530717958 * i / n);
        all_solvers(n, xy, -1); /* a circle, far away */
    }
    for (int side = 2; side <= 6; side++) {
        for (int i = 0; i < side * side; i++) xy[2 * i] = i % side, xy[2 * i + 1] = i / side;
        all_solvers(side * side, xy, side * side + (side % 2 ? sqrt(2) - 1 : 0)); /* a grid */
    }
}

static void canonical_form(void **state) {
    double xy[] = {1, 1, 0, 1, 1, 0, 0, 0};
    onet_tsp t;
    assert_int_equal(onet_tsp_points(&t, 4, xy, NULL), ONET_OK);
    int32_t want[] = {3, 2, 0, 1};
    int32_t given[][4] = {{0, 1, 3, 2}, {2, 3, 1, 0}, {3, 1, 0, 2}, {3, 2, 0, 1}, {1, 0, 2, 3}};
    for (int i = 0; i < 5; i++) {
        onet_tsp_canonical(&t, given[i]);
        assert_memory_equal(given[i], want, sizeof want);
    }
    onet_tsp_free(&t);
    int n = 12;
    tsp_plan plan = {.size = &n, .sizes = 1, .seed = 3};
    for (size_t k = 0; k < 50; k++) {
        float points[24];
        int32_t tour[12];
        tsp_sample(&plan, k, points);
        assert_int_equal(tsp_floats(&t, n, points, NULL), ONET_OK);
        assert_int_equal(tsp_exact(&t, NULL, tour, NULL, NULL), ONET_OK);
        double area = 0;
        for (int i = 0; i < n; i++) {
            const double *a = t.xy + 2 * tour[i], *b = t.xy + 2 * tour[(i + 1) % n];
            area += a[0] * b[1] - a[1] * b[0];
            assert_true(a[0] + a[1] >= t.xy[2 * tour[0]] + t.xy[2 * tour[0] + 1]);
        }
        assert_true(area > 0);
        onet_tsp_free(&t);
    }
}

/* Generates instances with 1, 2, 3 and 8 threads; frees the sets. */
static void same_for_any_number(const tsp_plan *plan, size_t first, size_t count) {
    static const int numbers[] = {1, 2, 3, 8};
    onet_sets *sets[4];
    for (int i = 0; i < 4; i++) {
        thread_pool *threads = thread_pool_new(numbers[i]);
        assert_non_null(threads);
        assert_int_equal(sets_new(&sets[i], 2, NULL), ONET_OK);
        assert_int_equal(tsp_generate(plan, first, count, threads, tsp_append, sets[i], NULL), ONET_OK);
        thread_pool_free(threads);
        assert_int_equal(sets[i]->count, count);
        size_t items = sets[0]->start[count];
        assert_memory_equal(sets[i]->start, sets[0]->start, (count + 1) * sizeof(size_t));
        assert_memory_equal(sets[i]->items, sets[0]->items, items * 2 * sizeof(float));
        assert_memory_equal(sets[i]->order, sets[0]->order, items * sizeof(int32_t));
    }
    for (size_t s = 0; s < count; s++)
        assert_int_equal(sets_size(sets[0], s), plan->size[(first + s) % (size_t)plan->sizes]);
    for (int i = 0; i < 4; i++) onet_sets_free(sets[i]);
}

static void same_for_any_number_of_threads(void **state) {
    int sizes[] = {5, 9, 20, 14};
    tsp_plan plan = {.size = sizes, .sizes = 4, .seed = 77};
    same_for_any_number(&plan, 0, 301);
    assert_int_equal(tsp_generate(&plan, 0, (size_t)INT32_MAX + 1, NULL, tsp_append, NULL, NULL),
                     ONET_USAGE); /* pools count tasks in an int */
}

/* Instances whose search is divided: some alone in their block, some in the middle of one, and some with many
 * tours that are the shortest. */
static void same_for_divided_searches(void **state) {
    int large = 50, small = 18;
    tsp_plan uniform = {.size = &large, .sizes = 1, .seed = 1};
    tsp_plan lines = {
        .size = &small, .sizes = 1, .seed = 3, .shape = TSP_SHAPE_LINES, .label = TSP_LABEL_EXACT};
    tsp_plan grid = {
        .size = &large, .sizes = 1, .seed = 3, .shape = TSP_SHAPE_GRID, .label = TSP_LABEL_EXACT};
    same_for_any_number(&uniform, 120, 20);
    same_for_any_number(&lines, 0, 100);
    same_for_any_number(&grid, 0, 12);
}

/* A search of several rounds gives the answer of the pieces in any order. The instance is the hardest of the
 * first 400 of 50 cities; with many threads a round takes as long as its longest piece, at most 100 nodes. */
static void pieces_in_any_order(void **state) {
    int n = 50, rounds = 0;
    tsp_plan plan = {.size = &n, .sizes = 1, .seed = 1};
    float xy[100];
    int32_t forward[50], backward[50];
    onet_tsp t;
    onet_tsp_proof one, other;
    tsp_sample(&plan, 218, xy);
    assert_int_equal(tsp_floats(&t, n, xy, NULL), ONET_OK);
    assert_int_equal(tsp_exact(&t, NULL, forward, &one, NULL), ONET_OK);
    tsp_tree *tree;
    assert_int_equal(tsp_tree_new(&tree, &t, NULL, NULL), ONET_OK);
    for (; tsp_tree_pieces(tree); rounds++) {
        for (int i = tsp_tree_pieces(tree); i--;) tsp_tree_explore(tree, i);
        tsp_tree_next(tree);
    }
    assert_int_equal(tsp_tree_tour(tree, backward, &other, NULL), ONET_OK);
    tsp_tree_free(tree);
    onet_tsp_free(&t);
    print_message("%lld nodes in %d rounds\n", (long long)one.nodes, rounds);
    assert_true(rounds >= 3 && 100 * rounds < one.nodes / 5);
    assert_memory_equal(forward, backward, sizeof forward);
    assert_true(one.nodes == other.nodes && one.length == other.length && one.proven && other.proven);
}

/* The search stays small, as it does while each node begins with its parent's prices and fixed edges. */
static void few_nodes(void **state) {
    int n = 60;
    tsp_plan plan = {.size = &n, .sizes = 1, .seed = 5};
    int64_t nodes = 0;
    for (size_t i = 0; i < 20; i++) {
        float xy[2 * 60];
        int32_t tour[60];
        onet_tsp t;
        onet_tsp_proof proof;
        tsp_sample(&plan, i, xy);
        assert_int_equal(tsp_floats(&t, n, xy, NULL), ONET_OK);
        assert_int_equal(tsp_exact(&t, NULL, tour, &proof, NULL), ONET_OK);
        assert_true(proof.proven);
        nodes += proof.nodes;
        onet_tsp_free(&t);
    }
    print_message("%lld nodes\n", (long long)nodes);
    assert_true(nodes < 12000); /* 9,400; 19,441 where branching is not tried at several cities */
}

static void time_limit_gives_a_bound(void **state) {
    int n = 200;
    tsp_plan plan = {.size = &n, .sizes = 1, .seed = 1};
    float xy[400];
    int32_t tour[200];
    onet_tsp t;
    onet_tsp_proof proof;
    tsp_sample(&plan, 0, xy);
    assert_int_equal(tsp_floats(&t, n, xy, NULL), ONET_OK);
    double seconds = 0.05; /* a busy machine may need more for its first bound */
    do {
        assert_int_equal(tsp_exact(&t, &(tsp_limit){.seconds = seconds}, tour, &proof, NULL), ONET_OK);
        assert_true(onet_tsp_is_tour(n, tour));
        assert_true(proof.bound <= proof.length);
        seconds *= 4;
    } while (proof.bound <= 0.5 * proof.length && seconds < 60);
    assert_true(proof.bound > 0.5 * proof.length);
    onet_tsp_free(&t);
}

static void hostile_points(void **state) {
    onet_tsp t;
    onet_error err;
    double bad[][4] = {{0, NAN, 1, 1}, {0, INFINITY, 1, 1}, {-1e308, -1e308, 1e308, 1e308}};
    for (int i = 0; i < 3; i++) assert_int_equal(onet_tsp_points(&t, 2, bad[i], &err), ONET_BAD);
    assert_int_equal(onet_tsp_blank(&t, 0, true, &err), ONET_BAD);
    assert_int_equal(onet_tsp_blank(&t, ONET_TSP_MAX_CITIES + 1, true, &err), ONET_BAD);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_held_karp),
        cmocka_unit_test(equals_held_karp_on_matrices),
        cmocka_unit_test(degenerate_inputs),
        cmocka_unit_test(canonical_form),
        cmocka_unit_test(same_for_any_number_of_threads),
        cmocka_unit_test(same_for_divided_searches),
        cmocka_unit_test(pieces_in_any_order),
        cmocka_unit_test(few_nodes),
        cmocka_unit_test(time_limit_gives_a_bound),
        cmocka_unit_test(hostile_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
