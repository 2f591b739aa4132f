/* Example of the C API: orders one set with a trained model.
 *   cc order.c $(pkg-config --cflags --libs ordernet) -o order
 *   ./order sort.safetensors 0.3 0.1 0.2
 * Each item is as many numbers as the model was trained on. */
#include <ordernet.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    onet_error err;
    onet_model *model;
    if (argc < 3) {
        fprintf(stderr, "usage: order MODEL NUMBER ...\n");
        return ONET_USAGE;
    }
    onet_status status = onet_model_load(&model, argv[1], &err);
    if (status) {
        fprintf(stderr, "%s\n", err.text);
        return status;
    }
    int width = onet_model_settings(model)->width, n = (argc - 2) / width;
    float *items = calloc((size_t)(argc - 2), sizeof *items); /* [n, width] */
    int32_t *order = calloc((size_t)n + 1, sizeof *order);    /* [n] */
    double logprob;
    for (int i = 0; items && i < argc - 2; i++) items[i] = strtof(argv[i + 2], NULL);
    status = items && order ? onet_order(model, items, n, order, &logprob, &err) : ONET_MEMORY;
    if (status)
        fprintf(stderr, "%s\n", status == ONET_MEMORY ? onet_status_name(status) : err.text);
    else {
        for (int t = 0; t < n; t++) {
            for (int k = 0; k < width; k++) printf("%g ", (double)items[order[t] * width + k]);
            printf("(item %d)\n", order[t]);
        }
        printf("log-probability %.4f\n", logprob);
    }
    free(items);
    free(order);
    onet_model_free(model);
    return status;
}
