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
    size_t bytes;     /* of the whole tensor; the writer ignores it */
    size_t begin;     /* its offset behind the header; the writer ignores it */
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

/* Open a file and check its header; "-" is standard input, and compressed files are read too. The input of
 * safetensors_from stays its owner's, and must be open as long as the file. */
onet_status safetensors_open(safetensors **file, const char *path, onet_error *err);
onet_status safetensors_from(safetensors **file, input *in, onet_error *err);
/* Returns the path, or "standard input". */
const char *safetensors_name(const safetensors *file);
/* Return the tensor, or the metadata value, of that name; NULL when there is none. */
const st_tensor *safetensors_find(const safetensors *file, const char *name);
const char *safetensors_metadata(const safetensors *file, const char *key);
/* Finds the tensor of that name, which must have this type and shape ([dims]; SIZE_MAX stands for any size);
 * else ONET_BAD. */
onet_status safetensors_expect(const safetensors *file, const char *name, st_type type, int dims,
                               const size_t *shape, const st_tensor **tensor, onet_error *err);
/* As safetensors_expect, for numbers that are read as float: F32, F16 or BF16. */
onet_status safetensors_expect_floats(const safetensors *file, const char *name, int dims,
                                      const size_t *shape, const st_tensor **tensor, onet_error *err);
/* Reads the tensors' bytes into memory, if they come from a pipe or are compressed. To be called when the
 * header was checked, before memory is allocated by its sizes. ONET_BAD if these are more than `limit` bytes,
 * or not as many as follow. */
onet_status safetensors_data(const safetensors *file, size_t limit, onet_error *err);
/* Reads the tensor's bytes into `into` [tensor->bytes]. */
onet_status safetensors_load(const safetensors *file, const st_tensor *tensor, void *into, onet_error *err);
/* Reads the numbers of a tensor of F32, F16 or BF16 as floats into `into` [numbers of the tensor]. */
onet_status safetensors_load_floats(const safetensors *file, const st_tensor *tensor, float *into,
                                    onet_error *err);
void safetensors_close(safetensors *file);

const char *st_type_name(st_type type);

/* Writes a file through the atomic output, the same bytes for the same tensors and metadata: larger number
 * types first (so that all are aligned), else in the order given. */
onet_status safetensors_write(const char *path, const st_tensor *tensor, size_t tensors,
                              const st_pair *metadata, size_t pairs, onet_error *err);
/* Makes the same bytes in memory: *bytes [*size], which the caller frees. */
onet_status safetensors_bytes(void **bytes, size_t *size, const st_tensor *tensor, size_t tensors,
                              const st_pair *metadata, size_t pairs, onet_error *err);

#endif
