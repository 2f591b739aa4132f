/* A safetensors file of any bytes: no crash; what is accepted can be read, and written and read again. */
#include <string.h>

#include "data/safetensors.h"
#include "memory_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[64];
    int fd = memory_file(data, size, path);
    safetensors *file;
    onet_error err;
    if (safetensors_open(&file, path, &err) == ONET_OK) {
        size_t sum = 0;
        for (size_t i = 0; i < file->tensors; i++) {
            const st_tensor *t = &file->tensor[i];
            void *into = malloc(t->bytes + 1);
            if (!into || safetensors_load(file, t, into, &err)) abort();
            if (safetensors_find(file, t->name) != t) abort();
            file->tensor[i].data = into;
            sum += t->bytes;
        }
        if (sum > size) abort();
        if (safetensors_write("/dev/null", file->tensor, file->tensors, file->metadata, file->pairs, &err))
            abort();
        for (size_t i = 0; i < file->tensors; i++) free((void *)file->tensor[i].data);
        safetensors_close(file);
    } else if (!memchr(err.text, 0, sizeof err.text))
        abort();
    close(fd);
    return 0;
}
