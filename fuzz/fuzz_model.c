/* A model file of any bytes: no crash; what is accepted can be saved, and its checksum holds. */
#include <string.h>

#include "memory_file.h"
#include "model/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[64], sum[65];
    int fd = memory_file(data, size, path);
    onet_model *model;
    onet_error err;
    if (onet_model_load(&model, path, &err) == ONET_OK) {
        model_checksum(model, sum);
        if (strlen(sum) != 64 || onet_model_save(model, "/dev/null", &err)) abort();
        onet_model_free(model);
    } else if (model)
        abort();
    close(fd);
    return 0;
}
