/* Fuzz target: loads a model file of any bytes. It must not crash; an accepted model can be saved, as it is
 * and in half precision, and is the same model when it is loaded again. */
#include "bytes.h"
#include "engine/model/model.h"

static void save_again(const onet_model *model) {
    char sum[65], again_sum[65];
    void *file;
    size_t size;
    onet_model *again;
    onet_error err;
    if (onet_model_to_bytes(model, &file, &size, &err)) abort();
    if (onet_model_from_bytes(&again, file, size, &err)) abort();
    model_checksum(model, sum);
    model_checksum(again, again_sum);
    if (strlen(sum) != 64 || strcmp(sum, again_sum) || onet_model_half(again) > onet_model_half(model))
        abort();
    onet_bytes_free(file);
    onet_model_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    onet_model *model;
    onet_error err;
    if (onet_model_from_bytes(&model, data, size, &err) == ONET_OK) {
        save_again(model);
        if (onet_model_set_half(model, 1, &err)) abort();
        save_again(model);
        onet_model_free(model);
    } else if (model)
        abort();
    return 0;
}
