#include "data/safetensors.h"

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "safetensors are little-endian, and numbers are read and written here as the machine has them"
#endif

/* The format's own limit for a header, and what is read of a file whose size is not known beforehand. */
#define MAX_HEADER ((size_t)100000000)
#define MAX_STREAM ((size_t)1 << 36)

struct st_source {
    input *in;
    bool own_input;
    size_t data;    /* where the tensors' bytes begin */
    json_t *header; /* owns all strings */
};

static const struct {
    const char *name;
    size_t size;
} types[ST_TYPES] = {
    [ST_F64] = {"F64", 8},   [ST_I64] = {"I64", 8},         [ST_U64] = {"U64", 8},
    [ST_F32] = {"F32", 4},   [ST_I32] = {"I32", 4},         [ST_U32] = {"U32", 4},
    [ST_F16] = {"F16", 2},   [ST_BF16] = {"BF16", 2},       [ST_I16] = {"I16", 2},
    [ST_U16] = {"U16", 2},   [ST_I8] = {"I8", 1},           [ST_U8] = {"U8", 1},
    [ST_BOOL] = {"BOOL", 1}, [ST_F8_E5M2] = {"F8_E5M2", 1}, [ST_F8_E4M3] = {"F8_E4M3", 1},
};

const char *st_type_name(st_type type) {
    return types[type].name;
}

/* type size * shape, or false where that overflows. */
static bool tensor_bytes(const st_tensor *t, size_t *bytes) {
    *bytes = types[t->type].size;
    for (int i = 0; i < t->dims; i++)
        if (!size_mul(*bytes, t->shape[i], bytes)) return false;
    return true;
}

/* ---- Reading ----------------------------------------------------------------------------------------- */

static onet_status bad_tensor(const safetensors *file, const char *name, const char *what, onet_error *err) {
    return fail(err, ONET_BAD, "%s: tensor \"%.100s\" %s; the file is corrupt or not safetensors",
                safetensors_name(file), name, what);
}

static onet_status bad_file(const safetensors *file, const char *what, onet_error *err) {
    return fail(err, ONET_BAD, "%s: %s; the file is corrupt or not safetensors", safetensors_name(file),
                what);
}

/* The name is printed in sentences: no control characters. */
static bool good_name(const char *name) {
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127) return false;
    return *name != 0;
}

static bool get_size(const json_t *value, size_t *size) {
    if (!json_is_integer(value) || json_integer_value(value) < 0) return false;
    *size = (size_t)json_integer_value(value);
    return true;
}

static onet_status parse_tensor(const safetensors *file, st_tensor *t, const char *name, json_t *about,
                                size_t data_size, onet_error *err) {
    t->name = name;
    if (!good_name(name)) return bad_file(file, "a tensor's name is empty or has control characters", err);
    const json_t *shape = json_object_get(about, "shape"), *offsets = json_object_get(about, "data_offsets");
    const char *type = json_string_value(json_object_get(about, "dtype"));
    if (!type || !json_is_array(shape) || !json_is_array(offsets) || json_object_size(about) != 3)
        return bad_tensor(file, name, "does not have just dtype, shape and data_offsets", err);
    for (t->type = 0; t->type < ST_TYPES && strcmp(type, types[t->type].name); t->type++) continue;
    if (t->type == ST_TYPES) return bad_tensor(file, name, "has a dtype that is not known", err);
    if (json_array_size(shape) > ST_DIMS) return bad_tensor(file, name, "has more than 8 dimensions", err);
    t->dims = (int)json_array_size(shape);
    for (int i = 0; i < t->dims; i++)
        if (!get_size(json_array_get(shape, (size_t)i), &t->shape[i]))
            return bad_tensor(file, name, "has a shape that is not of whole numbers", err);
    if (!tensor_bytes(t, &t->bytes)) return bad_tensor(file, name, "has an impossibly large shape", err);
    size_t end;
    if (json_array_size(offsets) != 2 || !get_size(json_array_get(offsets, 0), &t->begin) ||
        !get_size(json_array_get(offsets, 1), &end))
        return bad_tensor(file, name, "has data_offsets that are not two whole numbers", err);
    if (end > data_size || t->begin > end)
        return bad_tensor(file, name, "has data_offsets outside of the file", err);
    if (end - t->begin != t->bytes)
        return bad_tensor(file, name, "has data_offsets that do not fit its shape and dtype", err);
    return ONET_OK;
}

static onet_status parse_metadata(safetensors *file, json_t *pairs, onet_error *err) {
    if (!json_is_object(pairs)) return bad_file(file, "its __metadata__ is not an object", err);
    if (!(file->metadata = array_new(json_object_size(pairs), sizeof *file->metadata)))
        return fail_memory(err, "a file's metadata");
    const char *key;
    json_t *value;
    json_object_foreach(pairs, key, value) {
        if (!json_is_string(value))
            return bad_file(file, "its __metadata__ has a value that is not text", err);
        file->metadata[file->pairs++] = (st_pair){key, json_string_value(value)};
    }
    return ONET_OK;
}

static int by_place(const void *a, const void *b) {
    const st_tensor *x = *(st_tensor *const *)a, *y = *(st_tensor *const *)b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const st_tensor *)a)->name, ((const st_tensor *)b)->name);
}

/* Each tensor begins where the one before it ends, and the last ends with the file. */
static onet_status check_places(safetensors *file, size_t data_size, onet_error *err) {
    st_tensor **order = array_new(file->tensors, sizeof *order);
    if (!order) return fail_memory(err, "a file's tensors");
    for (size_t i = 0; i < file->tensors; i++) order[i] = &file->tensor[i];
    qsort(order, file->tensors, sizeof *order, by_place);
    size_t at = 0;
    onet_status status = ONET_OK;
    for (size_t i = 0; i < file->tensors && !status; at = order[i]->begin + order[i]->bytes, i++)
        if (order[i]->begin != at)
            status = bad_tensor(
                file, order[i]->name,
                order[i]->begin < at ? "overlaps another one" : "stands behind a hole in the data", err);
    free(order);
    if (!status && at != data_size) status = bad_file(file, "there are bytes behind its last tensor", err);
    return status;
}

static onet_status parse_header(safetensors *file, const char *text, size_t length, size_t data_size,
                                onet_error *err) {
    json_error_t problem;
    json_t *header = file->source->header = json_loadb(text, length, JSON_REJECT_DUPLICATES, &problem);
    if (!header && json_error_code(&problem) == json_error_out_of_memory)
        return fail_memory(err, "a file's header");
    if (!header)
        return fail(err, ONET_BAD,
                    "%s: its header is not right JSON at byte %d: %.160s; the file is corrupt or "
                    "not safetensors",
                    safetensors_name(file), problem.position + 8, problem.text);
    if (!json_is_object(header)) return bad_file(file, "its header is not a JSON object", err);
    if (!(file->tensor = array_new(json_object_size(header), sizeof *file->tensor)))
        return fail_memory(err, "a file's tensors");
    const char *key;
    json_t *value;
    json_object_foreach(header, key, value) {
        onet_status status;
        if (!strcmp(key, "__metadata__"))
            status = parse_metadata(file, value, err);
        else
            status = parse_tensor(file, &file->tensor[file->tensors++], key, value, data_size, err);
        if (status) return status;
    }
    qsort(file->tensor, file->tensors, sizeof *file->tensor, by_name);
    return check_places(file, data_size, err);
}

static onet_status read_header(safetensors *file, onet_error *err) {
    input *in = file->source->in;
    unsigned char first[8];
    uint64_t length = 0;
    size_t size;
    onet_status status = input_whole(in, MAX_STREAM, &size, err);
    if (status) return status;
    if (!size) return bad_file(file, "it is empty", err);
    if (size < sizeof first) return bad_file(file, "it is too short", err);
    if ((status = input_at(in, 0, first, sizeof first, err))) return status;
    for (int i = 7; i >= 0; i--) length = length << 8 | first[i];
    if (length > MAX_HEADER) return bad_file(file, "its header is over 100 MB long", err);
    if (length > size - sizeof first) return bad_file(file, "it ends within its header", err);
    file->source->data = sizeof first + length;
    char *text = malloc(length + 1);
    if (!text) return fail_memory(err, "a file's header");
    status = input_at(in, sizeof first, text, length, err);
    if (!status && (!length || text[0] != '{'))
        status = bad_file(file, "its header is not a JSON object", err);
    if (!status) status = parse_header(file, text, length, size - file->source->data, err);
    free(text);
    return status;
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
    json_decref(file->source->header);
    free(file->source);
    free(file->tensor);
    free(file->metadata);
    free(file);
}

const char *safetensors_name(const safetensors *file) {
    return input_name(file->source->in);
}

const st_tensor *safetensors_find(const safetensors *file, const char *name) {
    st_tensor wanted = {.name = name};
    return file->tensors ? bsearch(&wanted, file->tensor, file->tensors, sizeof wanted, by_name) : NULL;
}

const char *safetensors_metadata(const safetensors *file, const char *key) {
    for (size_t i = 0; i < file->pairs; i++)
        if (!strcmp(file->metadata[i].key, key)) return file->metadata[i].value;
    return NULL;
}

/* "F32 [4, 2]", any size as "n". */
static void describe(char *text, size_t room, st_type type, int dims, const size_t *shape) {
    int used = snprintf(text, room, "%s [", types[type].name);
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
        return fail(err, ONET_BAD, "%s: tensor \"%s\" is %s where %s is meant", safetensors_name(file), name,
                    found, meant);
    }
    *tensor = t;
    return ONET_OK;
}

onet_status safetensors_load(const safetensors *file, const st_tensor *t, void *into, onet_error *err) {
    return input_at(file->source->in, file->source->data + t->begin, into, t->bytes, err);
}

/* ---- Writing ----------------------------------------------------------------------------------------- */

static json_t *describe_tensor(const st_tensor *t, size_t bytes, size_t at) {
    json_t *shape = json_array();
    bool good = true;
    for (int i = 0; i < t->dims; i++)
        good &= !json_array_append_new(shape, json_integer((json_int_t)t->shape[i]));
    if (!good) {
        json_decref(shape);
        return NULL;
    }
    return json_pack("{s:s, s:o, s:[I, I]}", "dtype", types[t->type].name, "shape", shape, "data_offsets",
                     (json_int_t)at, (json_int_t)(at + bytes));
}

/* Visits the tensors in the order in which the file has them. */
#define EACH_TENSOR(t, tensor, tensors)                                                                      \
    for (st_type type_ = 0; type_ < ST_TYPES; type_++)                                                       \
        for (const st_tensor *t = (tensor); t < (tensor) + (tensors); t++)                                   \
            if (t->type == type_)

/* The header's text, padded to 8 bytes; NULL when memory is short or a text is not UTF-8. */
static char *make_header(const st_tensor *tensor, size_t tensors, const st_pair *metadata, size_t pairs,
                         size_t *length) {
    json_t *header = json_object(), *meta = json_object();
    bool good = header && meta;
    for (size_t i = 0; i < pairs && good; i++)
        good = !json_object_set_new(meta, metadata[i].key, json_string(metadata[i].value));
    good = good && !json_object_set(header, "__metadata__", meta);
    size_t at = 0, bytes;
    EACH_TENSOR(t, tensor, tensors) {
        good = good && tensor_bytes(t, &bytes) && bytes <= INT64_MAX - at &&
               !json_object_set_new(header, t->name, describe_tensor(t, bytes, at));
        if (good) at += bytes;
    }
    char *text = good ? json_dumps(header, JSON_COMPACT) : NULL;
    json_decref(meta);
    json_decref(header);
    if (!text) return NULL;
    size_t used = strlen(text);
    *length = (used + 7) / 8 * 8;
    char *padded = realloc(text, *length + 1);
    if (!padded) {
        free(text);
        return NULL;
    }
    memset(padded + used, ' ', *length - used);
    return padded;
}

onet_status safetensors_write(const char *path, const st_tensor *tensor, size_t tensors,
                              const st_pair *metadata, size_t pairs, onet_error *err) {
    size_t length, bytes;
    char *header = make_header(tensor, tensors, metadata, pairs, &length);
    if (!header) return fail_memory(err, "a file's header");
    output *out;
    onet_status status = output_open(&out, path, err);
    if (!status) {
        unsigned char first[8];
        for (int i = 0; i < 8; i++) first[i] = (unsigned char)((uint64_t)length >> (8 * i));
        if (!(status = output_write(out, first, sizeof first, err)))
            status = output_write(out, header, length, err);
        EACH_TENSOR(t, tensor, tensors) {
            if (!status && tensor_bytes(t, &bytes)) status = output_write(out, t->data, bytes, err);
        }
        if (status)
            output_abort(out);
        else
            status = output_commit(out, err);
    }
    free(header);
    return status;
}
