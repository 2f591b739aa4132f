/* Shared by the fuzz targets of binary formats: reads sets from any bytes. There must be no crash, and
 * accepted sets without missing values can be written. */
#ifndef FUZZ_READ_AGAIN_H
#define FUZZ_READ_AGAIN_H

#include "bytes.h"
#include "engine/data/sets.h"

static inline void read_again(const uint8_t *data, size_t size,
                              onet_status (*read)(onet_sets **sets, input *in, onet_error *err),
                              onet_status (*write_sets)(const onet_sets *sets, const char *path,
                                                        const char *made, onet_error *err)) {
    bytes b = {data, size};
    input *in = bytes_input(&b);
    onet_sets *sets;
    onet_error err;
    if (read(&sets, in, &err) == ONET_OK) {
        /* Values that are missing are filled in before sets are written. */
        if (!sets_check(sets, &err) && write_sets(sets, "/dev/null", NULL, &err)) abort();
        onet_sets_free(sets);
    } else if (sets)
        abort();
    input_close(in);
}

#endif
