/* Files of sets whose format is not told, from any bytes. */
#include "convert_all.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    convert_all(data, size, NULL);
    return 0;
}
