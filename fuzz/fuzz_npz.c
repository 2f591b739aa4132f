/* Fuzz target: reads NumPy's .npz format from any bytes, and writes the sets that were accepted. */
#include "engine/data/format.h"
#include "read_again.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    read_again(data, size, npz_read, npz_write);
    return 0;
}
