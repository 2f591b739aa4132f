/* The project's binary form of sets from any bytes: no crash; what is accepted can be written again. */
#include "data/sets_binary.h"
#include "memory_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[64];
    int fd = memory_file(data, size, path);
    input *in;
    onet_sets *sets;
    onet_error err;
    if (input_open(&in, path, &err)) abort();
    if (sets_binary_read(&sets, in, &err) == ONET_OK) {
        if (sets_binary_write(sets, "/dev/null", &err)) abort();
        onet_sets_free(sets);
    } else if (sets)
        abort();
    input_close(in);
    close(fd);
    return 0;
}
