/* Reads and writes the safetensors format: 8 bytes header length (little-endian), a JSON header that says for
 * each tensor its type, shape and offset, then the tensors' bytes without gaps. Reading goes in steps, so
 * that no size in the file is used unchecked and no number is held twice: safetensors_open checks the header,
 * the caller looks at the tensors and loads those that it wants. The header of a compressed file is checked
 * before the rest is unpacked. */
#ifndef DATA_SAFETENSORS_H
#define DATA_SAFETENSORS_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/file.h"

typedef enum st_type {
    ST_F64,
    ST_I64,
    ST_U64,
    ST_F32,
    ST_I32,
    ST_U32,
    ST_F16,
    ST_BF16,
    ST_I16,
    ST_U16,
    ST_I8,
    ST_U8,
    ST_BOOL,
    ST_F8_E5M2,
    ST_F8_E4M3,
    ST_TYPES
} st_type;

enum { ST_DIMS = 8 };

typedef struct st_tensor {
    const char *name;
    st_type type;
    int dims;
    size_t shape[ST_DIMS];
    size_t bytes;     /* of the whole tensor; the writer works it out itself */
    size_t begin;     /* its place behind the header; likewise */
    const void *data; /* to be written; not used in reading */
} st_tensor;

typedef struct st_pair {
    const char *key, *value;
} st_pair;

typedef struct safetensors {
    st_tensor *tensor; /* [tensors], sorted by name */
    size_t tensors;
    st_pair *metadata; /* [pairs], in the file's order */
    size_t pairs;
    struct st_source *source; /* the reader's own */
} safetensors;

/* ONET_BAD for a value of the metadata that this version does not know, so that the file is of a newer
 * version; value NULL: the file lacks the key, and is corrupt. */
onet_status safetensors_newer(const safetensors *file, const char *key, const char *value, onet_error *err);

/* "-" is standard input; compressed files are read too. safetensors_from leaves the input to its owner, who
 * keeps it open as long as the file. */
onet_status safetensors_open(safetensors **file, const char *path, onet_error *err);
onet_status safetensors_from(safetensors **file, input *in, onet_error *err);
/* The path, or "standard input". */
const char *safetensors_name(const safetensors *file);
/* NULL when there is none of that name. */
const st_tensor *safetensors_find(const safetensors *file, const char *name);
const char *safetensors_metadata(const safetensors *file, const char *key);
/* The tensor of that name, of this type and shape ([dims]; SIZE_MAX stands for any size), or ONET_BAD. */
onet_status safetensors_expect(const safetensors *file, const char *name, st_type type, int dims,
                               const size_t *shape, const st_tensor **tensor, onet_error *err);
/* The same for numbers that are read as float: F32, F16 or BF16. */
onet_status safetensors_expect_floats(const safetensors *file, const char *name, int dims,
                                      const size_t *shape, const st_tensor **tensor, onet_error *err);
/* Reads what stands behind the header, if it comes from a pipe or is compressed: to be called when the header
 * has been looked at and before memory is taken for what it promises. ONET_BAD if that is more than `limit`
 * bytes, or other than what comes. */
onet_status safetensors_data(const safetensors *file, size_t limit, onet_error *err);
/* The tensor's bytes into memory: [tensor->bytes]. */
onet_status safetensors_load(const safetensors *file, const st_tensor *tensor, void *into, onet_error *err);
/* The numbers of a tensor of F32, F16 or BF16 as floats: [tensor->bytes / size of a number]. */
onet_status safetensors_load_floats(const safetensors *file, const st_tensor *tensor, float *into,
                                    onet_error *err);
void safetensors_close(safetensors *file);

const char *st_type_name(st_type type);

/* Writes a file through the atomic output, the same bytes for the same tensors and metadata: larger number
 * types first (so that all are aligned), else in the order given. */
onet_status safetensors_write(const char *path, const st_tensor *tensor, size_t tensors,
                              const st_pair *metadata, size_t pairs, onet_error *err);
/* The same bytes in memory: *bytes [*size], which the caller frees. */
onet_status safetensors_bytes(void **bytes, size_t *size, const st_tensor *tensor, size_t tensors,
                              const st_pair *metadata, size_t pairs, onet_error *err);

#endif
