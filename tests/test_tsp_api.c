/* Tests ordernet_tsp.h as a user's program calls it: distances of very small and very large coordinates,
 * every method but the network (test_tsp_net.c), the stop of a search, the start of the local search, the
 * improvement of a given tour, and invalid calls. */
#include <math.h>
#include <string.h>

#include "ordernet_tsp.h"
#include "unit.h"

enum { N = 9 };

/* N cities on a circle, in a mixed order: the tour around it is the shortest. */
static void on_a_circle(onet_tsp *t, int n) {
    double xy[2 * 400];
    assert_true(n <= 400);
    for (int i = 0; i < n; i++) {
        double angle = 6.283185307179586 * (i * 7 % n) / n;
        xy[2 * i] = 100 * cos(angle);
        xy[2 * i + 1] = 100 * sin(angle);
    }
    assert_int_equal(onet_tsp_points(t, n, xy, NULL), ONET_OK);
}

static void every_method_gives_a_canonical_tour(void **state) {
    onet_tsp t;
    on_a_circle(&t, N);
    double shortest = 2 * N * 100 * sin(3.141592653589793 / N);
    int asked = 0;
    for (const onet_choice *c = onet_tsp_methods(); c->name; c++) {
        if (c->value == ONET_TSP_ORDERNET) continue; /* test_tsp_net.c has it */
        int32_t tour[N], again[N];
        onet_tsp_proof proof;
        assert_int_equal(onet_tsp_solve(&t, (onet_tsp_method)c->value, NULL, tour, &proof, NULL), ONET_OK);
        assert_true(onet_tsp_is_tour(N, tour));
        memcpy(again, tour, sizeof tour);
        onet_tsp_canonical(&t, again);
        assert_memory_equal(again, tour, sizeof tour);
        assert_true(proof.length == onet_tsp_length(&t, tour));
        assert_true(proof.length >= shortest * (1 - 1e-12));
        int exact = c->value == ONET_TSP_EXACT || c->value == ONET_TSP_HELD_KARP;
        assert_int_equal(proof.proven, exact);
        if (exact) assert_true(fabs(proof.length / shortest - 1) < 1e-12);
        assert_true(exact ? proof.bound == proof.length : proof.bound == 0);
        asked++;
    }
    assert_int_equal(asked, ONET_TSP_METHODS - 1);
    onet_tsp_free(&t);
}

/* As hypot has it up to the last bits, where squares overflow and underflow too. */
static void distances_over_the_whole_range(void **state) {
    static const double away[][2] = {{3, 4},           {0.1, 0.7},     {1e-200, 2e-200}, {5e-324, 0},
                                     {0, 0},           {3e200, 4e200}, {1e154, 1e-300},  {-1e308, 1e308},
                                     {1e-160, 1e-160}, {1e150, 1},     {0, -1e-300}};
    for (size_t i = 0; i < sizeof away / sizeof *away; i++) {
        onet_tsp t;
        assert_int_equal(onet_tsp_points(&t, 2, (double[]){0, 0, away[i][0], away[i][1]}, NULL), ONET_OK);
        double d = onet_tsp_distance(&t, 0, 1), h = hypot(away[i][0], away[i][1]);
        assert_true(fabs(d - h) <= 4e-16 * h);
        assert_true(d == onet_tsp_distance(&t, 1, 0));
        onet_tsp_free(&t);
    }
    onet_tsp t;
    onet_error err;
    assert_int_equal(onet_tsp_points(&t, 2, (double[]){-1e308, 0, 1e308, 0}, &err), ONET_BAD);
    assert_int_equal(onet_tsp_points(&t, 2, (double[]){0, 0, 1.7e308, 1.7e308}, &err), ONET_BAD);
}

static int count_calls(void *context) {
    return ++*(int *)context > 1;
}

/* Random cities, which take the exact solver much longer than a few questions. */
static void stop_ends_a_search(void **state) {
    enum { MANY = 200 };
    onet_tsp t;
    double xy[2 * MANY];
    uint32_t seed = 1;
    for (int i = 0; i < 2 * MANY; i++) xy[i] = (seed = seed * 1664525u + 1013904223u) >> 8;
    assert_int_equal(onet_tsp_points(&t, MANY, xy, NULL), ONET_OK);
    int32_t tour[MANY];
    int calls = 0;
    onet_tsp_options options;
    onet_tsp_defaults(&options, sizeof options);
    assert_int_equal(options.seed, 1);
    options.stop = count_calls;
    options.context = &calls;
    onet_tsp_proof proof;
    assert_int_equal(onet_tsp_solve(&t, ONET_TSP_EXACT, &options, tour, &proof, NULL), ONET_OK);
    assert_true(calls > 1);
    assert_false(proof.proven);
    assert_true(onet_tsp_is_tour(MANY, tour));
    assert_true(proof.bound < proof.length);
    int flag = 1;
    onet_tsp_options by_flag = {.size = sizeof by_flag, .stop = onet_tsp_stop_flag, .context = &flag};
    assert_int_equal(onet_tsp_solve(&t, ONET_TSP_EXACT, &by_flag, tour, &proof, NULL), ONET_OK);
    assert_false(proof.proven);
    assert_true(onet_tsp_is_tour(MANY, tour));
    calls = 0;
    options.kicks = 1000000000;
    assert_int_equal(onet_tsp_solve(&t, ONET_TSP_TWO_OPT, &options, tour, NULL, NULL), ONET_OK);
    assert_int_equal(calls, 2);
    onet_tsp_free(&t);
}

static void farthest_start_differs(void **state) {
    enum { MANY = 200 };
    onet_tsp t;
    double xy[2 * MANY];
    uint32_t seed = 5;
    for (int i = 0; i < 2 * MANY; i++) xy[i] = (seed = seed * 1664525u + 1013904223u) >> 8;
    assert_int_equal(onet_tsp_points(&t, MANY, xy, NULL), ONET_OK);
    int32_t nearest[MANY], farthest[MANY], start[MANY];
    onet_tsp_options options = {.size = sizeof options};
    assert_int_equal(onet_tsp_solve(&t, ONET_TSP_TWO_OPT, &options, nearest, NULL, NULL), ONET_OK);
    options.farthest = 1;
    assert_int_equal(onet_tsp_solve(&t, ONET_TSP_TWO_OPT, &options, farthest, NULL, NULL), ONET_OK);
    assert_int_equal(onet_tsp_solve(&t, ONET_TSP_FARTHEST, NULL, start, NULL, NULL), ONET_OK);
    assert_memory_not_equal(nearest, farthest, sizeof nearest);
    assert_true(onet_tsp_length(&t, farthest) <= onet_tsp_length(&t, start));
    onet_tsp_free(&t);
}

static void refuses(onet_tsp *t, int method, const onet_tsp_options *options, const char *sentence) {
    int32_t tour[N];
    onet_error err;
    assert_int_equal(onet_tsp_solve(t, (onet_tsp_method)method, options, tour, NULL, &err), ONET_USAGE);
    assert_string_equal(err.text, sentence);
}

static void wrong_calls_get_a_sentence(void **state) {
    onet_tsp t, none = {0};
    on_a_circle(&t, N);
    onet_tsp_options options = {.size = sizeof options};
    refuses(&t, 99, &options, "there is no method number 99");
    refuses(&t, ONET_TSP_ORDERNET, &options, "the method 'ordernet' needs a net (onet_tsp_net_new)");
    refuses(&none, ONET_TSP_NEAREST, &options, "the instance has no cities");
    options.seconds = -1;
    refuses(&t, ONET_TSP_EXACT, &options, "the time limit is -1 s");
    options.size = 0;
    refuses(&t, ONET_TSP_EXACT, &options, "onet_tsp_options.size is 0; set it to sizeof(onet_tsp_options)");
    onet_tsp_free(&t);
    onet_tsp_free(&t);
    double xy[] = {0, 0, 1, NAN};
    onet_error err;
    assert_int_equal(onet_tsp_points(&t, 2, xy, &err), ONET_BAD);
    assert_string_equal(err.text, "city 1 has a coordinate that is not a finite number");
    assert_int_equal(onet_tsp_points(&t, 0, xy, &err), ONET_BAD);
    int32_t twice[] = {0, 1, 1}, beyond[] = {0, 1, 3};
    assert_false(onet_tsp_is_tour(3, twice));
    assert_false(onet_tsp_is_tour(3, beyond));
}

/* A poor tour is improved, and its length before is told; a proven one is left alone. */
static void improve_shortens_a_tour(void **state) {
    enum { CITIES = 60 };
    double xy[2 * CITIES];
    uint32_t seed = 1;
    for (int i = 0; i < 2 * CITIES; i++) xy[i] = (double)((seed = seed * 1664525 + 1013904223) >> 8);
    onet_tsp t;
    onet_error err;
    int32_t tour[CITIES];
    onet_tsp_proof plain, better, kicked;
    onet_tsp_options options;
    onet_tsp_defaults(&options, sizeof options);
    assert_int_equal(onet_tsp_points(&t, CITIES, xy, &err), ONET_OK);
    assert_int_equal(onet_tsp_solve(&t, ONET_TSP_NEAREST, &options, tour, &plain, &err), ONET_OK);
    assert_true(plain.before == 0);
    options.improve = 1;
    assert_int_equal(onet_tsp_solve(&t, ONET_TSP_NEAREST, &options, tour, &better, &err), ONET_OK);
    assert_near(better.before, plain.length, 1e-9 * plain.length); /* summed from another city */
    assert_true(better.length < plain.length);
    assert_true(onet_tsp_is_tour(CITIES, tour) && onet_tsp_length(&t, tour) == better.length);
    options.kicks = 1000;
    assert_int_equal(onet_tsp_solve(&t, ONET_TSP_NEAREST, &options, tour, &kicked, &err), ONET_OK);
    assert_true(kicked.before == better.before && kicked.length < better.length);
    onet_tsp_free(&t);
    assert_int_equal(onet_tsp_points(&t, 12, xy, &err), ONET_OK);
    assert_int_equal(onet_tsp_solve(&t, ONET_TSP_HELD_KARP, &options, tour, &better, &err), ONET_OK);
    assert_true(better.proven && better.before == 0);
    onet_tsp_free(&t);
}

static void null_is_refused(void **state) {
    onet_tsp t;
    onet_error err;
    onet_tsp_net *net;
    int32_t tour[N] = {0};
    double xy[2] = {0, 0};
    assert_int_equal(onet_tsp_points(NULL, 1, xy, &err), ONET_USAGE);
    assert_string_equal(err.text, "onet_tsp_points: t is NULL");
    assert_int_equal(onet_tsp_points(&t, 1, NULL, &err), ONET_USAGE);
    assert_int_equal(onet_tsp_blank(NULL, 1, 0, &err), ONET_USAGE);
    onet_tsp_free(&t);
    onet_tsp_free(NULL);
    on_a_circle(&t, N);
    assert_int_equal(onet_tsp_solve(NULL, ONET_TSP_NEAREST, NULL, tour, NULL, &err), ONET_USAGE);
    assert_int_equal(onet_tsp_solve(&t, ONET_TSP_NEAREST, NULL, NULL, NULL, &err), ONET_USAGE);
    assert_int_equal(onet_tsp_net_new(&net, NULL, NULL, &err), ONET_USAGE);
    assert_int_equal(onet_tsp_net_new(NULL, NULL, NULL, &err), ONET_USAGE);
    assert_int_equal(onet_tsp_net_tours(NULL, &t, 1, ONET_TSP_FITTED, 1, NULL, NULL, &err), ONET_USAGE);
    assert_true(isnan(onet_tsp_length(&t, NULL)) && isnan(onet_tsp_length(NULL, tour)));
    assert_false(onet_tsp_is_tour(0, tour));
    assert_false(onet_tsp_is_tour(3, NULL));
    assert_false(onet_tsp_stop_flag(NULL));
    onet_tsp_canonical(NULL, tour);
    onet_tsp_canonical(&t, NULL);
    onet_tsp_defaults(NULL, 8);
    onet_tsp_net_free(NULL);
    onet_tsp_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_over_the_whole_range),
        cmocka_unit_test(every_method_gives_a_canonical_tour),
        cmocka_unit_test(stop_ends_a_search),
        cmocka_unit_test(farthest_start_differs),
        cmocka_unit_test(wrong_calls_get_a_sentence),
        cmocka_unit_test(improve_shortens_a_tour),
        cmocka_unit_test(null_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
