/* A model file of any bytes: no crash; what is accepted can be saved, and its checksum holds. */
#include "bytes.h"
#include "model/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char sum[65];
    onet_model *model;
    onet_error err;
    if (onet_model_from_bytes(&model, data, size, &err) == ONET_OK) {
        model_checksum(model, sum);
        if (strlen(sum) != 64 || onet_model_save(model, "/dev/null", &err)) abort();
        onet_model_free(model);
    } else if (model)
        abort();
    return 0;
}
