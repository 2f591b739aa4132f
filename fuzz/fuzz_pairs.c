/* Fuzz target: reads CSV with a second file of relations from any bytes: the items up to the first NUL byte,
 * then the pairs. Converts the sets (convert_all.h), and reads them once more with missing values filled in.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "convert_all.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const uint8_t *end = size ? memchr(data, 0, size) : NULL;
    size_t items = end ? (size_t)(end - data) : size, pairs = end ? size - items - 1 : 0;
    int file = memfd_create("pairs", 0);
    if (file < 0) return 0;
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (write(file, pairs ? end + 1 : (const uint8_t *)"", pairs) == (ptrdiff_t)pairs) {
        onet_read_options options = {.size = sizeof options,
                                     .format = ONET_FORMAT_CSV,
                                     .pairs = path,
                                     .name_column = size % 3 ? NULL : ""};
        convert_all(data, items, &options);
        /* Again, with missing values filled in. */
        bytes b = {data, items};
        onet_sets *sets;
        onet_error err;
        options.missing = ONET_MISSING_MEAN;
        options.bytes = bytes_give;
        options.context = &b;
        if (!onet_sets_read(&sets, "bytes", &options, &err) && sets_check(sets, &err)) abort();
        onet_sets_free(sets);
    }
    close(file);
    return 0;
}
