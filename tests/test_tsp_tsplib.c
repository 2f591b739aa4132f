/* Tests TSPLIB files: the published optima, every matrix layout, malformed files, .tour files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ordernet_tsp.h"
#include "tasks/tours/solve/solvers.h"
#include "tasks/tours/tsplib.h"
#include "unit.h"

static bool recognised; /* the file that was read last */

static onet_status read_path(onet_tsp *t, const char *name, onet_error *err) {
    input *in;
    onet_status status = input_open(&in, name, err);
    if (status) return status;
    assert_int_equal(tsplib_is(in, &recognised, err), ONET_OK);
    status = tsplib_read(t, in, err);
    input_close(in);
    return status;
}

static void published_optima(void **state) {
    static const struct {
        const char *file;
        double optimum;
    } cases[] = {{"burma14", 3323}, {"ulysses22", 7013}, {"gr24", 1272}, {"att48", 10628},
                 {"eil51", 426},    {"berlin52", 7542},  {"st70", 675}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[64], path[SHARED_PATH];
        onet_tsp t;
        onet_tsp_proof proof;
        int32_t tour[100];
        onet_error err;
        snprintf(name, sizeof name, "tsplib/%s.tsp", cases[i].file);
        shared_file(path, name);
        assert_int_equal(read_path(&t, path, &err), ONET_OK);
        assert_true(recognised && t.whole && t.n <= 100);
        assert_string_equal(t.name, cases[i].file);
        assert_int_equal(tsp_exact(&t, &(tsp_limit){.seconds = 120}, tour, &proof, &err), ONET_OK);
        assert_true(proof.proven && onet_tsp_is_tour(t.n, tour));
        assert_true(proof.length == cases[i].optimum && onet_tsp_length(&t, tour) == cases[i].optimum);
        assert_int_equal(tsp_christofides(&t, tour, &err), ONET_OK);
        assert_true(onet_tsp_is_tour(t.n, tour));
        onet_tsp_free(&t);
    }
}

static char path[] = "/tmp/ordernet-tsplib-XXXXXX";

static int make_path(void **state) {
    int fd = mkstemp(path);
    if (fd < 0) return -1;
    return close(fd);
}

static int remove_path(void **state) {
    return unlink(path);
}

static void put(const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* d(1,2) = 1, d(1,3) = 2, d(2,3) = 3, in every layout. */
static void every_layout(void **state) {
    static const char *const cases[][2] = {
        {"FULL_MATRIX", "0 1 2\n1 0 3\n2 3 0"},
        {"UPPER_ROW", "1 2\n3"},
        {"LOWER_ROW", "1\n2 3"},
        {"UPPER_DIAG_ROW", "0 1 2 0 3 0"},
        {"LOWER_DIAG_ROW", "0 1 0 2 3 0"},
        {"UPPER_COL", "1 2 3"},
        {"LOWER_COL", "1 2 3"},
        {"UPPER_DIAG_COL", "0 1 0 2 3 0"},
        {"LOWER_DIAG_COL", "0 1 2 0 3 0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        onet_tsp t;
        onet_error err;
        snprintf(
            text, sizeof text,
            "NAME : m.tsp\r\nTYPE: TSP\nDIMENSION:3\nEDGE_WEIGHT_TYPE : EXPLICIT\nEDGE_WEIGHT_FORMAT: %s\n"
            "EDGE_WEIGHT_SECTION\n%s\nDISPLAY_DATA_SECTION\n2 5 6\n1 1 2\n3 0 0\nEOF\n",
            cases[i][0], cases[i][1]);
        put(text);
        assert_int_equal(read_path(&t, path, &err), ONET_OK);
        assert_true(recognised && t.n == 3 && t.whole);
        assert_string_equal(t.name, "m");
        assert_true(onet_tsp_distance(&t, 0, 1) == 1 && onet_tsp_distance(&t, 0, 2) == 2 &&
                    onet_tsp_distance(&t, 1, 2) == 3);
        assert_true(onet_tsp_distance(&t, 1, 0) == 1 && onet_tsp_distance(&t, 2, 0) == 2 &&
                    onet_tsp_distance(&t, 2, 1) == 3);
        assert_true(t.xy[0] == 1 && t.xy[3] == 6);
        onet_tsp_free(&t);
    }
}

/* From node 1 to 2 is not from 2 to 1, wherever TYPE stands; the diagonal may hold anything. */
static void asymmetric_matrix(void **state) {
    static const char *const cases[] = {
        "NAME: one_way.atsp\nTYPE: ATSP\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: "
        "FULL_MATRIX\n"
        "EDGE_WEIGHT_SECTION\n9999 1 2\n3 9999 4\n5 6 9999\nEOF\n",
        "NAME: one_way\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: FULL_MATRIX\n"
        "EDGE_WEIGHT_SECTION\n0 1 2 3 0 4 5 6 0\nTYPE: ATSP\n",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        onet_tsp t;
        onet_error err;
        int32_t tour[3];
        onet_tsp_proof proof;
        put(cases[i]);
        assert_int_equal(read_path(&t, path, &err), ONET_OK);
        assert_true(recognised && t.asymmetric && t.whole);
        assert_string_equal(t.name, "one_way");
        double want[] = {0, 1, 2, 3, 0, 4, 5, 6, 0};
        assert_memory_equal(t.dist, want, sizeof want);
        assert_int_equal(onet_tsp_solve(&t, ONET_TSP_EXACT, NULL, tour, &proof, &err), ONET_OK);
        assert_true(proof.length == 10 && tour[1] == 1); /* 1 + 4 + 5; 2 + 6 + 3 the other way */
        onet_tsp_free(&t);
    }
}

static void rounded_distances(void **state) {
    static const struct {
        const char *type;
        double want;
    } cases[] = {{"EUC_2D", 5}, {"CEIL_2D", 6}, {"ATT", 2}, {"GEO", 630}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        onet_tsp t;
        onet_error err;
        snprintf(text, sizeof text,
                 "DIMENSION: 2\nTYPE: TSP\nEDGE_WEIGHT_TYPE: %s\nNODE_COORD_SECTION\n1 0 0\n2 3.1 4.1\n",
                 cases[i].type);
        put(text);
        assert_int_equal(read_path(&t, path, &err), ONET_OK);
        if (strcmp(cases[i].type, "GEO")) {
            assert_true(onet_tsp_distance(&t, 0, 1) == cases[i].want);
        } else {
            assert_true(onet_tsp_distance(&t, 0, 1) > 500 && onet_tsp_distance(&t, 0, 1) < 600 &&
                        t.xy[2] == 4.1);
        }
        onet_tsp_free(&t);
    }
}

/* Each is refused with the file's name and, if there is one, the line. */
static void bad_files(void **state) {
#define HEAD "TYPE: TSP\nDIMENSION: 2\nEDGE_WEIGHT_TYPE: EUC_2D\n"
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "DIMENSION is missing"},
        {"DIMENSION: 0\n", ":1: DIMENSION 0"},
        {"DIMENSION: 1e30\n", ":1: DIMENSION"},
        {"DIMENSION: 99999999999999999999\n", ":1: DIMENSION"},
        {"DIMENSION: two\n", "'two' stands where DIMENSION"},
        {"TYPE: HCP\n", "only TYPE TSP and TYPE ATSP"},
        {"TYPE: ATSP\nDIMENSION: 2\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n1 0 0\n2 1 1\n",
         "needs EDGE_WEIGHT_TYPE EXPLICIT"},
        {"TYPE: ATSP\nDIMENSION: 2\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: UPPER_ROW\n"
         "EDGE_WEIGHT_SECTION\n1\n",
         "EDGE_WEIGHT_FORMAT FULL_MATRIX"},
        {"DIMENSION: 3\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: UPPER_ROW\nEDGE_WEIGHT_SECTION\n1 2 "
         "3\n"
         "EDGE_WEIGHT_FORMAT: FULL_MATRIX\n",
         ":6: EDGE_WEIGHT_FORMAT comes after"},
        {"DIMENSION: 3\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: FUNCTION\nEDGE_WEIGHT_SECTION\n1 2 "
         "3\n",
         ":4: EDGE_WEIGHT_SECTION needs an EDGE_WEIGHT_FORMAT before it"},
        {"EDGE_WEIGHT_TYPE: EUC_3D\n", "EUC_3D is not known"},
        {"EDGE_WEIGHT_FORMAT: SPIRAL\n", "SPIRAL is not known"},
        {"NODE_COORD_SECTION\n1 0 0\n", "comes before DIMENSION"},
        {"HELLO\n", "'HELLO' is not a keyword"},
        {HEAD, "NODE_COORD_SECTION is missing"},
        {HEAD "NODE_COORD_SECTION\n1 0 0\n", "the file ends"},
        {HEAD "NODE_COORD_SECTION\n1 0 0\n1 1 1\n", "twice"},
        {HEAD "NODE_COORD_SECTION\n1 0 0\n3 1 1\n", "node 3"},
        {HEAD "NODE_COORD_SECTION\n1 0 0\n2 nan 1\n", "'nan' stands"},
        {HEAD "NODE_COORD_SECTION\n1 0 0\n2 1e400 1\n", ":6:"},
        {HEAD "NODE_COORD_SECTION\n1 0 0\n2 1e300 1\n", "beyond"},
        {HEAD "NODE_COORD_SECTION\n1 0 0\n2 0 0\nDIMENSION: 16000\n", "comes after"},
        {"DIMENSION: 2\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_SECTION\n0\n", "needs an EDGE_WEIGHT_FORMAT"},
        {"DIMENSION: 2\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: FULL_MATRIX\nEDGE_WEIGHT_SECTION\n"
         "0 1\n2 0\n",
         ":6: the distance from node 2 to 1 is not that from 1 to 2; TYPE TSP is symmetric"},
        {"DIMENSION: 2\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: UPPER_ROW\nEDGE_WEIGHT_SECTION\n-1\n",
         "a distance of -1"},
        {"DIMENSION: 16384\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: FULL_MATRIX\n"
         "EDGE_WEIGHT_SECTION\n0 1\n",
         "the file ends"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        onet_tsp t;
        onet_error err = {.text = ""};
        put(cases[i].text);
        assert_int_equal(read_path(&t, path, &err), ONET_BAD);
        if (!strstr(err.text, cases[i].says) || !strstr(err.text, path)) fail_msg("%zu: %s", i, err.text);
        assert_null(t.dist);
    }
    onet_tsp t;
    onet_error err;
    assert_int_equal(read_path(&t, "/nowhere/x.tsp", &err), ONET_IO);
}

static void tour_file(void **state) {
    double xy[] = {0, 0, 1, 0, 1, 1, 0, 1};
    int32_t tour[] = {0, 1, 2, 3};
    onet_tsp t;
    onet_error err;
    char text[512] = {0};
    assert_int_equal(onet_tsp_points(&t, 4, xy, &err), ONET_OK);
    strcpy(t.name, "square");
    assert_int_equal(tsplib_write_tour(&t, tour, path, &err), ONET_OK);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    assert_string_equal(text, "NAME : square\nCOMMENT : length 4.000000000\nTYPE : TOUR\nDIMENSION : 4\n"
                              "TOUR_SECTION\n1\n2\n3\n4\n-1\nEOF\n");
    onet_tsp_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_optima),  cmocka_unit_test(every_layout),
        cmocka_unit_test(asymmetric_matrix), cmocka_unit_test(rounded_distances),
        cmocka_unit_test(bad_files),         cmocka_unit_test(tour_file),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
