/* Opens a safetensors file: checks its header and size, then loads the requested tensors. */
#include "engine/data/safetensors.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/half.h"
#include "engine/data/safetensors_header.h"

/* The format's own limit for a header. */
#define MAX_HEADER ((size_t)100000000)

struct st_source {
    input *in;
    bool own_input;
    bool whole;   /* input_at reaches the tensors' bytes */
    size_t data;  /* where they begin */
    char *header; /* its text: names and metadata point into it */
};

static onet_status bad_file(const safetensors *file, const char *what, onet_error *err) {
    return fail(err, ONET_BAD, "%s: %s; the file is corrupt or not safetensors", safetensors_name(file),
                what);
}

/* The header is read and checked before anything behind it: a small compressed file may unpack to more than
 * any memory holds. */
static onet_status read_header(safetensors *file, onet_error *err) {
    struct st_source *source = file->source;
    input *in = source->in;
    unsigned char first[8];
    uint64_t length = 0;
    size_t size;
    onet_status status = input_first(in, sizeof first, &size, err);
    if (status) return status;
    if (!size) return bad_file(file, "it is empty", err);
    if (size < sizeof first) return bad_file(file, "it is too short", err);
    if ((status = input_at(in, 0, first, sizeof first, err))) return status;
    for (int i = 7; i >= 0; i--) length = length << 8 | first[i];
    if (!memchr(first, 0, sizeof first) && !memchr(first, 0xff, sizeof first)) /* text has neither byte */
        return bad_file(file, "its first bytes are not the length of a header", err);
    if (length > MAX_HEADER) return bad_file(file, "its header is over 100 MB long", err);
    source->data = sizeof first + length;
    if ((status = input_first(in, source->data, &size, err))) return status;
    if (size < source->data) return bad_file(file, "it ends within its header", err);
    char *text = source->header = malloc(length + 1);
    if (!text) return fail_memory(err, "a file's header");
    text[length] = 0;
    if ((status = input_at(in, sizeof first, text, length, err))) return status;
    if (input_is_stream(in)) return st_header_parse(file, text, length, SIZE_MAX, err);
    if ((status = input_whole(in, MAX_WHOLE, &size, err))) return status;
    source->whole = true;
    if (size < source->data) return bad_file(file, "it ends within its header", err);
    return st_header_parse(file, text, length, size - source->data, err);
}

onet_status safetensors_data(const safetensors *file, size_t limit, onet_error *err) {
    struct st_source *source = file->source;
    size_t size, bytes = 0;
    if (source->whole) return ONET_OK;
    for (size_t i = 0; i < file->tensors; i++)
        if (file->tensor[i].begin + file->tensor[i].bytes > bytes)
            bytes = file->tensor[i].begin + file->tensor[i].bytes;
    if (bytes > limit)
        return fail(err, ONET_BAD,
                    "%s: it unpacks to %zu bytes, and at most %zu are read from a compressed "
                    "file or a pipe; unpack it to a file first",
                    safetensors_name(file), bytes, limit);
    size_t meant = source->data + bytes;
    onet_status status = input_first(source->in, meant + 1, &size, err);
    if (status) return status;
    if (size != meant)
        return bad_file(
            file, size < meant ? "it ends within its tensors" : "there are bytes behind its last tensor",
            err);
    source->whole = true;
    return ONET_OK;
}

static onet_status make(safetensors **result, input *in, bool own_input, onet_error *err) {
    *result = NULL;
    safetensors *file = calloc(1, sizeof *file);
    if (!file || !(file->source = calloc(1, sizeof *file->source))) {
        free(file);
        if (own_input) input_close(in);
        return fail_memory(err, "reading a file");
    }
    file->source->in = in;
    file->source->own_input = own_input;
    onet_status status = read_header(file, err);
    if (status)
        safetensors_close(file);
    else
        *result = file;
    return status;
}

onet_status safetensors_from(safetensors **result, input *in, onet_error *err) {
    return make(result, in, false, err);
}

onet_status safetensors_open(safetensors **result, const char *path, onet_error *err) {
    input *in;
    *result = NULL;
    onet_status status = input_open(&in, path, err);
    return status ? status : make(result, in, true, err);
}

void safetensors_close(safetensors *file) {
    if (!file) return;
    if (file->source->own_input) input_close(file->source->in);
    free(file->source->header);
    free(file->source);
    free(file->tensor);
    free(file->metadata);
    free(file);
}

const char *safetensors_name(const safetensors *file) {
    return input_name(file->source->in);
}

onet_status safetensors_newer(const safetensors *file, const char *key, const char *value, onet_error *err) {
    if (!value)
        return fail(err, ONET_BAD, "%s: its metadata has no %s; the file is corrupt", safetensors_name(file),
                    key);
    return fail(err, ONET_BAD,
                "%s: its %s is \"%.40s\", which this version does not know; use a newer OrderNet",
                safetensors_name(file), key, value);
}

const st_tensor *safetensors_find(const safetensors *file, const char *name) {
    st_tensor wanted = {.name = name};
    return file->tensors ? bsearch(&wanted, file->tensor, file->tensors, sizeof wanted, st_by_name) : NULL;
}

const char *safetensors_metadata(const safetensors *file, const char *key) {
    for (size_t i = 0; i < file->pairs; i++)
        if (!strcmp(file->metadata[i].key, key)) return file->metadata[i].value;
    return NULL;
}

/* Writes a type and shape such as "F32 [4, 2]", any size as "n". */
static void describe(char *text, size_t room, st_type type, int dims, const size_t *shape) {
    int used = snprintf(text, room, "%s [", st_type_name(type));
    for (int i = 0; i < dims && (size_t)used < room; i++) {
        const char *comma = i ? ", " : "";
        used += shape[i] == SIZE_MAX ? snprintf(text + used, room - (size_t)used, "%sn", comma)
                                     : snprintf(text + used, room - (size_t)used, "%s%zu", comma, shape[i]);
    }
    if ((size_t)used < room) snprintf(text + used, room - (size_t)used, "]");
}

onet_status safetensors_expect(const safetensors *file, const char *name, st_type type, int dims,
                               const size_t *shape, const st_tensor **tensor, onet_error *err) {
    const st_tensor *t = safetensors_find(file, name);
    char meant[256], found[256];
    describe(meant, sizeof meant, type, dims, shape);
    if (!t)
        return fail(err, ONET_BAD, "%s: tensor \"%s\" (%s) is missing", safetensors_name(file), name, meant);
    bool same = t->type == type && t->dims == dims;
    for (int i = 0; i < dims && same; i++) same = shape[i] == SIZE_MAX || shape[i] == t->shape[i];
    if (!same) {
        describe(found, sizeof found, t->type, t->dims, t->shape);
        return fail(err, ONET_BAD, "%s: tensor \"%s\" is %s where %s is expected", safetensors_name(file),
                    name, found, meant);
    }
    *tensor = t;
    return ONET_OK;
}

onet_status safetensors_expect_floats(const safetensors *file, const char *name, int dims,
                                      const size_t *shape, const st_tensor **tensor, onet_error *err) {
    const st_tensor *t = safetensors_find(file, name);
    bool narrow = t && (t->type == ST_F16 || t->type == ST_BF16);
    return safetensors_expect(file, name, narrow ? t->type : ST_F32, dims, shape, tensor, err);
}

onet_status safetensors_load(const safetensors *file, const st_tensor *t, void *into, onet_error *err) {
    onet_status status = safetensors_data(file, MAX_WHOLE, err);
    if (status) return status;
    return input_at(file->source->in, file->source->data + t->begin, into, t->bytes, err);
}

onet_status safetensors_load_floats(const safetensors *file, const st_tensor *t, float *into,
                                    onet_error *err) {
    if (t->type == ST_F32) return safetensors_load(file, t, into, err);
    /* The 16-bit numbers stand in the second half of the room: number i is read before its bytes, or those
     * of a later one, are written over. */
    size_t count = t->bytes / 2;
    const char *from = (char *)into + t->bytes;
    onet_status status = safetensors_load(file, t, (char *)into + t->bytes, err);
    if (status) return status;
    if (t->type == ST_F16)
        half_to_floats(into, from, count);
    else
        for (size_t i = 0; i < count; i++) {
            uint16_t number;
            memcpy(&number, from + 2 * i, sizeof number);
            into[i] = bfloat_to_float(number);
        }
    return ONET_OK;
}
