/* Tests cities given by longitude and latitude: distances, and the projected map that the network sees, also
 * across the date line and around a pole. */
#include <math.h>

#include "tasks/tours/load.h"
#include "unit.h"

static double on_map(const onet_tsp *t, int i, int j) {
    return hypot(t->xy[2 * i] - t->xy[2 * j], t->xy[2 * i + 1] - t->xy[2 * j + 1]);
}

static void make(onet_tsp *t, int n, const double *places) {
    onet_error err;
    assert_int_equal(geo_instance(t, n, places, &err), ONET_OK);
}

/* A degree of a great circle is 111.195 km, a quarter of one 10,007.557 km. */
static void distances(void **state) {
    const double places[] = {0, 0, 1, 0, 0, 1, 90, 0, 180, 0, 0, 90, -90, 60};
    onet_tsp t;
    make(&t, 7, places);
    assert_near(onet_tsp_distance(&t, 0, 1), 111.195080, 1e-5);
    assert_near(onet_tsp_distance(&t, 0, 2), 111.195080, 1e-5);
    assert_near(onet_tsp_distance(&t, 0, 3), 10007.557222, 1e-5);
    assert_near(onet_tsp_distance(&t, 0, 4), 20015.114443, 1e-5);
    assert_near(onet_tsp_distance(&t, 3, 5), 10007.557222, 1e-5);
    assert_near(onet_tsp_distance(&t, 5, 6), 30 * 111.195080, 1e-4);
    for (int i = 0; i < 7; i++) {
        assert_true(onet_tsp_distance(&t, i, i) == 0);
        for (int j = 0; j < 7; j++) assert_true(onet_tsp_distance(&t, i, j) == onet_tsp_distance(&t, j, i));
    }
    onet_tsp_free(&t);
}

/* The same cities anywhere on a circle of latitude make the same map, also where 180 becomes -180. */
static void date_line(void **state) {
    enum { N = 5 };
    const double here[2 * N] = {10, -18, 8, -20, 13, -17, 4, -14, 12, -9};
    onet_tsp a, b;
    make(&a, N, here);
    for (int shift = 160; shift <= 180; shift += 4) {
        double there[2 * N];
        for (int i = 0; i < N; i++) {
            there[2 * i] = here[2 * i] + shift;
            if (there[2 * i] > 180) there[2 * i] -= 360;
            there[2 * i + 1] = here[2 * i + 1];
        }
        make(&b, N, there);
        for (int i = 0; i < 2 * N; i++) assert_near(a.xy[i], b.xy[i], 1e-6);
        for (int i = 0; i < N * N; i++) assert_near(a.dist[i], b.dist[i], 1e-6);
        onet_tsp_free(&b);
    }
    onet_tsp_free(&a);
}

/* Around a pole the map keeps neighbours neighbours; longitudes as coordinates would tear them apart. */
static void pole(void **state) {
    const double places[] = {0, 85, 90, 85, 180, 85, -90, 85, 45, 90};
    onet_tsp t;
    make(&t, 5, places);
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < i; j++) {
            double true_km = onet_tsp_distance(&t, i, j);
            assert_near(on_map(&t, i, j), true_km, 0.002 * true_km);
        }
    onet_tsp_free(&t);
}

/* North is up and east is right; the map stretches distances as tours/load.h says. */
static void map(void **state) {
    const double places[] = {10, 50, 10, 52, 12, 50, 8, 50, 10, 48};
    onet_tsp t;
    make(&t, 5, places);
    assert_true(t.xy[3] > t.xy[1] && t.xy[1] > t.xy[9]);
    assert_true(t.xy[4] > t.xy[0] && t.xy[0] > t.xy[6]);
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < i; j++) assert_near(on_map(&t, i, j) / onet_tsp_distance(&t, i, j), 1, 1e-3);
    onet_tsp_free(&t);
    const struct { double angle, stretch; } cases[] = {{1560 / 6371.0, 1.01}, {5000 / 6371.0, 1.11}};
    for (int k = 0; k < 2; k++) assert_near(cases[k].angle / sin(cases[k].angle), cases[k].stretch, 2e-3);
}

/* Antipodes and cities all over the Earth have finite coordinates. */
static void whole_earth(void **state) {
    const double places[] = {0, 0, 180, 0, 90, 0, -90, 0, 0, 90, 0, -90};
    onet_tsp t;
    make(&t, 6, places);
    for (int i = 0; i < 12; i++) assert_true(isfinite(t.xy[i]));
    onet_tsp_free(&t);
    make(&t, 2, places);
    assert_near(onet_tsp_distance(&t, 0, 1), 20015.114443, 1e-5);
    onet_tsp_free(&t);
    make(&t, 1, places);
    assert_true(t.xy[0] == 0 && t.xy[1] == 0 && t.dist[0] == 0);
    onet_tsp_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances), cmocka_unit_test(date_line),   cmocka_unit_test(pole),
        cmocka_unit_test(map),       cmocka_unit_test(whole_earth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
