/* Fuzz target: reads the log of a training, as `draw` does, from any bytes. */
#include "bytes.h"

#include "../src/front/cli/cmd_draw.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    for (curve_what what = CURVE_VALID; what <= CURVE_LOGLIK; what++) {
        bytes b = {data, size};
        input *in = bytes_input(&b);
        curve c = {.count = 0};
        onet_error err = {.text = ""};
        onet_status status = read_lines(&c, in, what, &err);
        if (status && !err.text[0]) abort();
        if (!status) finish(&c, what);
        if (c.count > MOST_POINTS && !status) abort();
        free(c.step);
        free(c.epoch);
        free(c.y);
        input_close(in);
    }
    return 0;
}
