/* Converts a file of sets from any bytes to every format: it is read or refused with a sentence; the sets are
 * valid, and whether the file is read does not depend on the target format. */
#ifndef FUZZ_CONVERT_ALL_H
#define FUZZ_CONVERT_ALL_H

#include <string.h>

#include "data/sets.h"
#include "data/sets_io.h"
#include "memory_file.h"

static inline void convert_all(const uint8_t *data, size_t size, const onet_read_options *options) {
    char path[64];
    int fd = memory_file(data, size, path);
    onet_error err = {""};
    onet_sets *sets;
    onet_status status = onet_sets_read(&sets, path, options, &err);
    if (!status != !!sets || (status && !err.text[0])) abort();
    if (sets && sets_check(sets, &err)) abort();
    onet_sets_free(sets);
    for (const data_format *const *format = data_formats; *format; format++) {
        onet_write_options writing = {.size = sizeof writing, .format = (*format)->format};
        if ((*format)->write) continue; /* what is written whole was read above */
        onet_status converted = onet_sets_convert(path, "/dev/null", options, &writing, &err);
        if (writing.format == ONET_FORMAT_JSONL && !status && converted) abort();
    }
    close(fd);
}

#endif
