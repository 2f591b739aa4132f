/* Measures the library's own rate, the baseline of bench/serve.py: sets of 10 numbers, 1,024 per call, in
 * memory. Prints sets per second and per second of CPU time, as JSON.
 * usage: serve_engine MODEL SECONDS */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "app/ordering.h"
#include "engine/base/clock.h"
#include "engine/base/rng.h"

enum { SETS = 1024, N = 10 };

static double cpu_seconds(void) {
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static onet_status measure(const onet_model *model, double seconds, onet_error *err) {
    static float items[SETS * N];
    rng r;
    rng_seed(&r, 1, 0);
    for (int i = 0; i < SETS * N; i++) items[i] = (float)(rng_u64(&r) >> 40) * 0x1p-24f;
    onet_order_options o = {.size = sizeof o, .device = "cpu"};
    onet_orderer *orderer = NULL;
    onet_sets *sets = NULL;
    answer_room room = {0};
    onet_status status = onet_orderer_new(&orderer, model, &o, err);
    if (!status) status = onet_sets_from(&sets, SETS, N, 1, items, NULL, err);
    if (!status) status = answer_room_make(&room, sets, 1, false, err);
    if (!status) status = onet_orderer_run(orderer, sets, room.answers, err); /* memory and caches are warm */
    double began = clock_seconds(), cpu = cpu_seconds(), count = 0;
    while (!status && clock_seconds() - began < seconds) {
        status = onet_orderer_run(orderer, sets, room.answers, err);
        count += SETS;
    }
    if (!status)
        printf("{\"sets_per_second\": %.1f, \"sets_per_cpu_second\": %.1f}\n",
               count / (clock_seconds() - began), count / (cpu_seconds() - cpu));
    answer_room_free(&room);
    onet_sets_free(sets);
    onet_orderer_free(orderer);
    return status;
}

int main(int argc, char **argv) {
    onet_model *model = NULL;
    onet_error err;
    if (argc != 3) return 2;
    onet_status status = onet_model_load(&model, argv[1], &err);
    if (!status) status = measure(model, atof(argv[2]), &err);
    if (status) fprintf(stderr, "%s\n", err.text);
    onet_model_free(model);
    return (int)status;
}
