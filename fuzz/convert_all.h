/* Shared by the fuzz targets of data formats: reads a file of sets from any bytes and converts it to a format
 * that depends on its size. The file must be read, or refused with an error message. Sets that are read must
 * be valid, and can be converted to JSON Lines unless all of their features are text, which only training
 * takes without an option. */
#ifndef FUZZ_CONVERT_ALL_H
#define FUZZ_CONVERT_ALL_H

#include <string.h>

#include "bytes.h"
#include "engine/data/columns.h"
#include "engine/data/sets.h"
#include "engine/data/sets_io.h"
#include "ordernet_io.h"

/* Whether some feature is a number in the file: not COLUMN=VALUE, not a date, not true or false. */
static inline bool has_numbers(const onet_sets *sets) {
    const onet_columns *columns = sets->columns;
    for (int j = 0; columns && j < columns->width; j++)
        if ((!columns->name || !strchr(columns->name[j], '=')) &&
            (!columns->kind || columns->kind[j] == KIND_NUMBER))
            return true;
    return !columns;
}

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
    bool numbers = sets && has_numbers(sets);
    onet_sets_free(sets);
    size_t formats = 0;
    while (data_formats[formats]) formats++;
    const data_format *to = data_formats[size % formats];
    if (to->write) return; /* what is written whole was read above */
    onet_write_options writing = {.size = sizeof writing, .format = to->format};
    b = (bytes){data, size};
    onet_status converted = onet_sets_convert("bytes", "/dev/null", &options, &writing, &err);
    if (writing.format == ONET_FORMAT_JSONL && numbers && converted) abort();
}

#endif
