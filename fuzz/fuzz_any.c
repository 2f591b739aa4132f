/* Fuzz target: reads files of sets from any bytes, with the format detected. */
#include "convert_all.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    convert_all(data, size, NULL);
    return 0;
}
