/* Writes a safetensors file, or its bytes to memory: the header as JSON, then the bytes of the tensors. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/data/safetensors_header.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "safetensors are little-endian, and numbers are read and written here as the machine has them"
#endif

/* The header's text as it grows. */
typedef struct text {
    char *bytes;
    size_t length, room;
    bool failed; /* memory ran out */
} text;

static void add(text *t, const char *bytes, size_t length) {
    if (t->failed || !array_reserve(&t->bytes, &t->room, t->length + length, 1)) {
        t->failed = true;
        return;
    }
    memcpy(t->bytes + t->length, bytes, length);
    t->length += length;
}

static void add_plain(text *t, const char *plain) {
    add(t, plain, strlen(plain));
}

static void add_number(text *t, size_t number) {
    char digits[24];
    snprintf(digits, sizeof digits, "%zu", number);
    add_plain(t, digits);
}

/* Writes text as a JSON string. */
static void add_string(text *t, const char *string) {
    add_plain(t, "\"");
    for (const char *c = string; *c; c++) {
        char escape[8];
        if (*c == '"' || *c == '\\')
            snprintf(escape, sizeof escape, "\\%c", *c);
        else if ((unsigned char)*c < ' ')
            snprintf(escape, sizeof escape, "\\u%04x", *c);
        else {
            add(t, c, 1);
            continue;
        }
        add_plain(t, escape);
    }
    add_plain(t, "\"");
}

static void add_tensor(text *t, const st_tensor *one, size_t begin, size_t bytes) {
    add_string(t, one->name);
    add_plain(t, ":{\"dtype\":");
    add_string(t, st_type_name(one->type));
    add_plain(t, ",\"shape\":[");
    for (int i = 0; i < one->dims; i++) {
        if (i) add_plain(t, ",");
        add_number(t, one->shape[i]);
    }
    add_plain(t, "],\"data_offsets\":[");
    add_number(t, begin);
    add_plain(t, ",");
    add_number(t, begin + bytes);
    add_plain(t, "]}");
}

/* Visits the tensors in the order in which the file has them. */
#define EACH_TENSOR(t, tensor, tensors)                                                                      \
    for (st_type type_ = 0; type_ < ST_TYPES; type_++)                                                       \
        for (size_t i_ = 0; i_ < (tensors); i_++)                                                            \
            for (const st_tensor *t = &(tensor)[i_]; t && t->type == type_; t = NULL)

static void make_header(text *t, const st_tensor *tensor, size_t tensors, const st_pair *metadata,
                        size_t pairs) {
    size_t at = 0, bytes;
    add_plain(t, "{\"__metadata__\":{");
    for (size_t i = 0; i < pairs; i++) {
        if (i) add_plain(t, ",");
        add_string(t, metadata[i].key);
        add_plain(t, ":");
        add_string(t, metadata[i].value);
    }
    add_plain(t, "}");
    EACH_TENSOR(one, tensor, tensors) {
        if (!st_bytes(one, &bytes)) continue;
        add_plain(t, ",");
        add_tensor(t, one, at, bytes);
        at += bytes;
    }
    add_plain(t, "}");
    while (t->length % 8 && !t->failed) add_plain(t, " ");
}

static void length_bytes(size_t length, unsigned char first[8]) {
    for (int i = 0; i < 8; i++) first[i] = (unsigned char)((uint64_t)length >> (8 * i));
}

static void write_file(output *out, const text *header, const st_tensor *tensor, size_t tensors) {
    unsigned char first[8];
    size_t bytes;
    length_bytes(header->length, first);
    output_write(out, first, sizeof first);
    output_write(out, header->bytes, header->length);
    EACH_TENSOR(one, tensor, tensors) {
        if (st_bytes(one, &bytes)) output_write(out, one->data, bytes);
    }
}

onet_status safetensors_bytes(void **result, size_t *size, const st_tensor *tensor, size_t tensors,
                              const st_pair *metadata, size_t pairs, onet_error *err) {
    text header = {0};
    size_t at = 0, bytes;
    *result = NULL;
    make_header(&header, tensor, tensors, metadata, pairs);
    *size = 8 + header.length;
    EACH_TENSOR(one, tensor, tensors) {
        if (st_bytes(one, &bytes)) *size += bytes;
    }
    unsigned char *to = header.failed ? NULL : malloc(*size);
    if (to) {
        length_bytes(header.length, to);
        memcpy(to + 8, header.bytes, header.length);
        at = 8 + header.length;
        EACH_TENSOR(one, tensor, tensors) {
            if (!st_bytes(one, &bytes)) continue;
            memcpy(to + at, one->data, bytes);
            at += bytes;
        }
    }
    free(header.bytes);
    *result = to;
    return to ? ONET_OK : fail_memory(err, "a file in memory");
}

onet_status safetensors_write(const char *path, const st_tensor *tensor, size_t tensors,
                              const st_pair *metadata, size_t pairs, onet_error *err) {
    text header = {0};
    output *out;
    onet_status status = ONET_OK;
    make_header(&header, tensor, tensors, metadata, pairs);
    if (header.failed) status = fail_memory(err, "a file's header");
    if (!status && !(status = output_open(&out, path, err))) {
        write_file(out, &header, tensor, tensors);
        status = output_commit(out, err);
    }
    free(header.bytes);
    return status;
}
