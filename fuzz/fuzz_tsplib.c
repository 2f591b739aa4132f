/* Fuzz target: reads TSPLIB instances and tables of costs from any bytes: no crash, and either an error or
 * distances that a solver can work with. */
#include <math.h>

#include "bytes.h"
#include "tasks/tours/matrix.h"
#include "tasks/tours/tsplib.h"

static void check(const onet_tsp *t) {
    for (int i = 0; i < t->n; i++)
        for (int j = 0; j < t->n; j++) {
            double d = onet_tsp_distance(t, i, j);
            if (!isfinite(d) || d < 0 || (i == j && d != 0)) abort();
            if (!t->asymmetric && d != onet_tsp_distance(t, j, i)) abort();
            if (t->whole && d != floor(d)) abort();
        }
}

static void read_tsplib(const uint8_t *data, size_t size) {
    bytes b = {data, size};
    input *in = bytes_input(&b);
    onet_tsp t;
    onet_error err;
    bool is;
    if (!tsplib_is(in, &is, &err) && tsplib_read(&t, in, &err) == ONET_OK) {
        check(&t);
        onet_tsp_free(&t);
    }
    input_close(in);
}

static void read_matrix(const uint8_t *data, size_t size) {
    bytes b = {data, size};
    input *in = bytes_input(&b);
    onet_tsp t;
    onet_error err;
    char **names;
    if (matrix_read(&t, &names, in, 0, NULL, &err) == ONET_OK) {
        check(&t);
        for (int i = 0; i < t.n && names; i++) {
            if (!names[i] || !*names[i]) abort();
            free(names[i]);
        }
        free(names);
        onet_tsp_free(&t);
    }
    input_close(in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    read_tsplib(data, size);
    read_matrix(data, size);
    return 0;
}
