/* Fuzz target: reads the Pointer Network text format from any bytes. If the first byte is '!', items have
 * three features. */
#include "convert_all.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    onet_read_options options = {.size = sizeof options, .format = ONET_FORMAT_POINTER};
    if (size && data[0] == '!') {
        options.width = 3;
        data++;
        size--;
    }
    convert_all(data, size, &options);
    return 0;
}
