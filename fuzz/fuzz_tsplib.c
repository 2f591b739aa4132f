/* Fuzz target: reads TSPLIB instances from any bytes: no crash, and either an error or distances that a
 * solver can work with. */
#include <math.h>

#include "bytes.h"
#include "tasks/tours/tsplib.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    bytes b = {data, size};
    input *in = bytes_input(&b);
    onet_tsp t;
    onet_error err;
    bool is;
    if (!tsplib_is(in, &is, &err) && tsplib_read(&t, in, &err) == ONET_OK) {
        for (int i = 0; i < t.n; i++)
            for (int j = 0; j < t.n; j++) {
                double d = onet_tsp_distance(&t, i, j);
                if (!isfinite(d) || d < 0 || d != onet_tsp_distance(&t, j, i) || (i == j && d != 0)) abort();
            }
        onet_tsp_free(&t);
    }
    input_close(in);
    return 0;
}
