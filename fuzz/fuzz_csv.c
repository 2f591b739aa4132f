/* Fuzz target: reads CSV from any bytes. If the first byte is '!', only the columns x and y are features.
 */
#include "convert_all.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    onet_read_options options = {.size = sizeof options, .format = ONET_FORMAT_CSV};
    if (size && data[0] == '!') {
        options.features = "x,y";
        data++;
        size--;
    }
    convert_all(data, size, &options);
    return 0;
}
