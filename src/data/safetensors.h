/* The safetensors format: 8 bytes header length (little-endian), a JSON header that says for each tensor its
 * type, shape and place, then the tensors' bytes without holes. A file is believed only after every check.
 *
 * Reading goes in two steps, so that no number of the file is held twice and no size is believed that the
 * file is too short for: safetensors_open checks the header; the caller looks at the tensors, sets `into`
 * where it wants one, and calls safetensors_load. */
#ifndef DATA_SAFETENSORS_H
#define DATA_SAFETENSORS_H

#include <stdbool.h>
#include <stddef.h>

#include "ordernet.h"

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
    const void *data; /* to be written */
    void *into;       /* set by the reader's caller: [bytes] of memory for safetensors_load to fill */
} st_tensor;

typedef struct st_pair {
    const char *key, *value;
} st_pair;

typedef struct safetensors {
    st_tensor *tensor; /* [tensors], sorted by name */
    size_t tensors;
    st_pair *metadata; /* [pairs], in the file's order */
    size_t pairs;
    struct st_source *source;
} safetensors;

/* "-" is standard input; compressed files are read too. */
onet_status safetensors_open(safetensors **file, const char *path, onet_error *err);
/* The path, or "standard input". */
const char *safetensors_name(const safetensors *file);
/* NULL when there is none of that name. */
st_tensor *safetensors_find(const safetensors *file, const char *name);
const char *safetensors_metadata(const safetensors *file, const char *key);
/* The tensor of that name, of this type and shape ([dims]; SIZE_MAX stands for any size), or ONET_BAD. */
onet_status safetensors_expect(const safetensors *file, const char *name, st_type type, int dims,
                               const size_t *shape, st_tensor **tensor, onet_error *err);
/* Fills all `into`. May be called once. */
onet_status safetensors_load(safetensors *file, onet_error *err);
/* Of the whole file, decompressed; after safetensors_load. */
void safetensors_sha256(const safetensors *file, char hex[65]);
void safetensors_close(safetensors *file);

const char *st_type_name(st_type type);

/* Writes a file through the atomic output, the same bytes for the same tensors and metadata: larger number
 * types first (so that all are aligned), else in the order given. */
onet_status safetensors_write(const char *path, const st_tensor *tensor, size_t tensors,
                              const st_pair *metadata, size_t pairs, onet_error *err);

#endif
