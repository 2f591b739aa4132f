/* Measures sets per second of training or ordering with the paper's network for tours, 20 items, on one
 * thread, and prints one number for scripts that compare builds (bench/wasm.mjs). usage: speed train|order
 * KERNELS SECONDS */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ordernet_measure.h"

int main(int argc, char **argv) {
    if (argc != 4) return fprintf(stderr, "usage: speed train|order KERNELS SECONDS\n"), ONET_USAGE;
    onet_speed_options options;
    onet_speed speed;
    onet_error err;
    onet_speed_defaults(&options, sizeof options);
    options.kernels = argv[2];
    options.seconds = atof(argv[3]);
    options.threads = 1;
    options.device = "cpu";
    onet_status status = !strcmp(argv[1], "order") ? onet_speed_order(&speed, &options, &err)
                                                   : onet_speed_train(&speed, &options, &err);
    if (status) return fprintf(stderr, "%s\n", err.text), (int)status;
    printf("%.1f\n", speed.sets_per_second);
    return 0;
}
