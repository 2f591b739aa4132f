/* Shared by the fuzz targets: lets the readers read bytes in memory as if they were a file, without system
 * calls. */
#ifndef FUZZ_BYTES_H
#define FUZZ_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct bytes {
    const uint8_t *from;
    size_t left;
} bytes;

static inline ptrdiff_t bytes_give(void *context, void *buffer, size_t size) {
    bytes *b = context;
    if (size > b->left) size = b->left;
    if (size) memcpy(buffer, b->from, size);
    b->from += size;
    b->left -= size;
    return (ptrdiff_t)size;
}

/* Returns an input that reads the bytes; the caller closes it, and `b` must live as long. */
static inline input *bytes_input(bytes *b) {
    input *in;
    if (input_from(&in, "bytes", bytes_give, b, NULL)) abort();
    return in;
}

#endif
