/* Fuzz target: reads a safetensors file of any bytes. It must not crash; the tensors of an accepted file can
 * be loaded, are found by their names, are no larger than the file (unless compressed), and can be written.
 */
#include "bytes.h"
#include "engine/data/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    bytes b = {data, size};
    input *in = bytes_input(&b);
    safetensors *file;
    onet_error err;
    if (safetensors_from(&file, in, &err) == ONET_OK && safetensors_data(file, (size_t)1 << 24, &err))
        safetensors_close(file);
    else if (file) {
        size_t sum = 0;
        for (size_t i = 0; i < file->tensors; i++) {
            const st_tensor *t = &file->tensor[i];
            void *into = malloc(t->bytes + 1);
            if (!into || safetensors_load(file, t, into, &err)) abort();
            if (safetensors_find(file, t->name) != t) abort();
            file->tensor[i].data = into;
            sum += t->bytes;
        }
        if (sum > size && size && data[0] != 0x1f && data[0] != 0xfd) abort(); /* not compressed */
        if (safetensors_write("/dev/null", file->tensor, file->tensors, file->metadata, file->pairs, &err))
            abort();
        for (size_t i = 0; i < file->tensors; i++) free((void *)file->tensor[i].data);
        safetensors_close(file);
    } else if (!memchr(err.text, 0, sizeof err.text))
        abort();
    input_close(in);
    return 0;
}
