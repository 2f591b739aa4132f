/* Shared by the fuzz targets of data formats: reads a file of sets from any bytes and converts it to a format
 * that depends on its size. It must be read, or refused with an error message; sets that are read must be
 * valid, and JSON Lines must be able to represent them. */
#ifndef FUZZ_CONVERT_ALL_H
#define FUZZ_CONVERT_ALL_H

#include "bytes.h"
#include "engine/data/sets.h"
#include "engine/data/sets_io.h"
#include "ordernet_io.h"

static inline void convert_all(const uint8_t *data, size_t size, const onet_read_options *given) {
    onet_read_options options = {.size = sizeof options};
    if (given) options = *given;
    bytes b = {data, size};
    options.bytes = bytes_give;
    options.context = &b;
    onet_error err = {.text = ""};
    onet_sets *sets;
    onet_status status = onet_sets_read(&sets, "bytes", &options, &err);
    if (!status != !!sets || (status && !err.text[0])) abort();
    if (sets && sets_check(sets, &err)) abort();
    onet_sets_free(sets);
    size_t formats = 0;
    while (data_formats[formats]) formats++;
    const data_format *to = data_formats[size % formats];
    if (to->write) return; /* what is written whole was read above */
    onet_write_options writing = {.size = sizeof writing, .format = to->format};
    b = (bytes){data, size};
    onet_status converted = onet_sets_convert("bytes", "/dev/null", &options, &writing, &err);
    if (writing.format == ONET_FORMAT_JSONL && !status && converted) abort();
}

#endif
