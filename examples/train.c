/* Example of the C API: trains a model on a file of sets with their right order, with a progress callback,
 * and saves it.
 *   cc train.c $(pkg-config --cflags --libs ordernet) -o train
 *   ./train sets.jsonl model.safetensors */
#include <ordernet_io.h>
#include <stdio.h>

/* Called a few times per second; returning a value other than 0 would stop the training. */
static int show(void *context, const onet_progress *p) {
    int *epoch = context;
    if (p->epoch != *epoch) printf("epoch %d of %d: loss %.3f\n", p->epoch, p->epochs, p->loss);
    *epoch = p->epoch;
    return 0;
}

int main(int argc, char **argv) {
    onet_error err;
    onet_sets *sets = NULL;
    onet_model *model = NULL;
    int epoch = 0;
    if (argc != 3) {
        fprintf(stderr, "usage: train SETS MODEL\n");
        return ONET_USAGE;
    }
    onet_train_options options;
    onet_train_defaults(&options, sizeof options);
    options.settings.hidden = 32;
    options.epochs = 2;
    options.progress = show;
    options.context = &epoch;
    onet_status status = onet_sets_read(&sets, argv[1], NULL, &err);
    if (!status) status = onet_train(&model, sets, NULL, &options, &err);
    if (!status) status = onet_model_save(model, argv[2], &err);
    if (status)
        fprintf(stderr, "%s\n", err.text);
    else
        printf("%s: %zu parameters from %zu sets\n", argv[2], onet_model_parameters(model, 1), sets->count);
    onet_model_free(model);
    onet_sets_free(sets);
    return status;
}
