/* NumPy's format from any bytes. */
#include "engine/data/npz.h"
#include "read_again.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    read_again(data, size, npz_read, npz_write);
    return 0;
}
