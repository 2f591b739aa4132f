/* Fuzz target: reads sets in safetensors files from any bytes, and writes those that were accepted. */
#include "engine/data/format.h"
#include "read_again.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    read_again(data, size, sets_binary_read, sets_binary_write);
    return 0;
}
