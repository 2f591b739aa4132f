/* Parses the JSON header of a safetensors file and checks it: types, shapes, offsets, no overlap, no
 * duplicate name. */
#include "engine/data/safetensors_header.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/memory.h"
#include "engine/base/utf8.h"

typedef struct scan {
    json_scan j;
    safetensors *file;
    char *text; /* j.text, writable: strings lose their escapes in place */
    size_t data_size, tensor_room, pair_room;
    onet_error *err;
} scan;

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

bool st_bytes(const st_tensor *t, size_t *bytes) {
    *bytes = types[t->type].size;
    for (int i = 0; i < t->dims; i++)
        if (!size_mul(*bytes, t->shape[i], bytes)) return false;
    return true;
}

/* ---- Error messages ---------------------------------------------------------------------------------------
 */

static onet_status bad_header(scan *s, const char *expected) {
    scan_fail(&s->j, expected);
    return fail(s->err, ONET_BAD,
                "%s: expected %s at byte %td of its header; the file is corrupt or not safetensors",
                safetensors_name(s->file), s->j.expected, s->j.at - s->j.text + 8);
}

static onet_status bad_tensor(const scan *s, const char *name, const char *what) {
    return fail(s->err, ONET_BAD, "%s: tensor \"%.100s\" %s; the file is corrupt or not safetensors",
                safetensors_name(s->file), name, what);
}

/* ---- JSON -------------------------------------------------------------------------------------------- */

/* Removes the escapes of a string or key in place. */
static onet_status string(scan *s, const char **text, bool (*take)(json_scan *, char *, size_t *)) {
    size_t length;
    scan_next(&s->j);
    char *to = s->text + (s->j.at - s->j.text) + 1;
    if (!take(&s->j, to, &length)) return bad_header(s, NULL);
    to[length] = 0;
    *text = to;
    return ONET_OK;
}

/* Reads [1, 2, 3], at most `room` numbers. */
static onet_status numbers(scan *s, size_t *list, int room, int *count, const char *expected) {
    bool first = true;
    if (!scan_accept(&s->j, '[')) return bad_header(s, expected);
    for (*count = 0; scan_more(&s->j, ']', &first); ++*count) {
        uint64_t value = 0;
        if (*count == room) return bad_header(s, expected);
        if (!scan_whole(&s->j, &value) || value > SIZE_MAX) return bad_header(s, "a smaller number");
        list[*count] = (size_t)value;
    }
    return s->j.expected ? bad_header(s, NULL) : ONET_OK;
}

/* Calls each(s, key, context) for each member of an object, behind its colon. */
static onet_status object(scan *s, onet_status (*each)(scan *s, const char *key, void *context),
                          void *context) {
    bool first = true;
    if (!scan_accept(&s->j, '{')) return bad_header(s, "{");
    while (scan_more(&s->j, '}', &first)) {
        const char *key;
        onet_status status = string(s, &key, scan_key);
        if (!status) status = each(s, key, context);
        if (status) return status;
    }
    return s->j.expected ? bad_header(s, NULL) : ONET_OK;
}

/* ---- Tensors ----------------------------------------------------------------------------------------- */

/* A tensor that is being read, and which of its three members were there. */
typedef struct tensor_scan {
    st_tensor t;
    bool type, shape, places;
    size_t place[2];
} tensor_scan;

static onet_status tensor_member(scan *s, const char *key, void *context) {
    tensor_scan *one = context;
    onet_status status;
    if (!strcmp(key, "dtype") && !one->type) {
        const char *type;
        if ((status = string(s, &type, scan_string))) return status;
        one->type = true;
        for (one->t.type = 0; one->t.type < ST_TYPES && strcmp(type, types[one->t.type].name); one->t.type++)
            continue;
        if (one->t.type == ST_TYPES) return bad_tensor(s, one->t.name, "has a dtype that is not known");
        return ONET_OK;
    }
    if (!strcmp(key, "shape") && !one->shape) {
        one->shape = true;
        return numbers(s, one->t.shape, ST_DIMS, &one->t.dims, "a shape of at most 8 dimensions");
    }
    if (!strcmp(key, "data_offsets") && !one->places) {
        int count;
        one->places = true;
        if ((status = numbers(s, one->place, 2, &count, "data_offsets of two numbers"))) return status;
        return count == 2 ? ONET_OK : bad_header(s, "data_offsets of two numbers");
    }
    return bad_tensor(s, one->t.name, "does not have just dtype, shape and data_offsets");
}

/* Whether a name may be printed in error messages: it has no control characters and is not empty. */
static bool good_name(const char *name) {
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127) return false;
    return *name != 0;
}

static onet_status read_tensor(scan *s, const char *name) {
    safetensors *file = s->file;
    tensor_scan one = {.t = {.name = name}};
    if (!good_name(name)) return bad_header(s, "a tensor's name, not empty and without control characters,");
    onet_status status = object(s, tensor_member, &one);
    if (status) return status;
    if (!one.type || !one.shape || !one.places)
        return bad_tensor(s, name, "does not have just dtype, shape and data_offsets");
    if (!st_bytes(&one.t, &one.t.bytes)) return bad_tensor(s, name, "has an impossibly large shape");
    if (one.place[1] > s->data_size || one.place[0] > one.place[1])
        return bad_tensor(s, name, "has data_offsets outside of the file");
    if (one.place[1] - one.place[0] != one.t.bytes)
        return bad_tensor(s, name, "has data_offsets that do not fit its shape and dtype");
    one.t.begin = one.place[0];
    if (!array_reserve(&file->tensor, &s->tensor_room, file->tensors + 1, sizeof *file->tensor))
        return fail_memory(s->err, "a file's tensors");
    file->tensor[file->tensors++] = one.t;
    return ONET_OK;
}

static onet_status metadata_member(scan *s, const char *key, void *context) {
    (void)context;
    safetensors *file = s->file;
    const char *value;
    onet_status status = string(s, &value, scan_string);
    if (status) return status;
    if (!array_reserve(&file->metadata, &s->pair_room, file->pairs + 1, sizeof *file->metadata))
        return fail_memory(s->err, "a file's metadata");
    file->metadata[file->pairs++] = (st_pair){key, value};
    return ONET_OK;
}

static onet_status header_member(scan *s, const char *key, void *context) {
    bool *metadata = context;
    if (strcmp(key, "__metadata__")) return read_tensor(s, key);
    if (*metadata) return bad_header(s, "no second __metadata__");
    *metadata = true;
    return object(s, metadata_member, NULL);
}

/* ---- The whole --------------------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b) {
    const st_tensor *x = a, *y = b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

int st_by_name(const void *a, const void *b) {
    return strcmp(((const st_tensor *)a)->name, ((const st_tensor *)b)->name);
}

static int by_key(const void *a, const void *b) {
    return strcmp(((const st_pair *)a)->key, ((const st_pair *)b)->key);
}

/* Checks that each tensor begins where the one before it ends, and that the last ends with the file. */
static onet_status check_places(scan *s) {
    safetensors *file = s->file;
    size_t at = 0;
    if (file->tensors) qsort(file->tensor, file->tensors, sizeof *file->tensor, by_place);
    for (size_t i = 0; i < file->tensors; i++) {
        const st_tensor *t = &file->tensor[i];
        if (t->begin != at)
            return bad_tensor(s, t->name,
                              t->begin < at ? "overlaps another one" : "stands behind a hole in the data");
        at += t->bytes;
    }
    if (at == s->data_size || s->data_size == SIZE_MAX) return ONET_OK;
    return fail(s->err, ONET_BAD,
                "%s: there are bytes behind its last tensor; the file is corrupt or not safetensors",
                safetensors_name(file));
}

static onet_status check_names(scan *s) {
    safetensors *file = s->file;
    if (file->tensors) qsort(file->tensor, file->tensors, sizeof *file->tensor, st_by_name);
    for (size_t i = 1; i < file->tensors; i++)
        if (!strcmp(file->tensor[i - 1].name, file->tensor[i].name))
            return bad_tensor(s, file->tensor[i].name, "appears twice");
    return ONET_OK;
}

/* Checks that no key is there twice, in a sorted copy: the pairs stay in the file's order. */
static onet_status check_keys(scan *s) {
    safetensors *file = s->file;
    if (file->pairs < 2) return ONET_OK;
    st_pair *sorted = array_new(file->pairs, sizeof *sorted);
    if (!sorted) return fail_memory(s->err, "a file's metadata");
    memcpy(sorted, file->metadata, file->pairs * sizeof *sorted);
    qsort(sorted, file->pairs, sizeof *sorted, by_key);
    const char *twice = NULL;
    for (size_t i = 1; i < file->pairs && !twice; i++)
        if (!strcmp(sorted[i - 1].key, sorted[i].key)) twice = sorted[i].key;
    free(sorted);
    if (!twice) return ONET_OK;
    return fail(s->err, ONET_BAD,
                "%s: its __metadata__ has \"%.100s\" twice; the file is corrupt or not safetensors",
                safetensors_name(file), good_name(twice) ? twice : "?");
}

onet_status st_header_parse(safetensors *file, char *text, size_t length, size_t data_size, onet_error *err) {
    scan s = {.j = scan_of(text, length), .file = file, .text = text, .data_size = data_size, .err = err};
    bool metadata = false;
    size_t valid = utf8_valid(text, length);
    if (valid < length) {
        s.j.at += valid;
        return bad_header(&s, "UTF-8");
    }
    if (!length || text[0] != '{') return bad_header(&s, "{");
    onet_status status = object(&s, header_member, &metadata);
    if (!status && !scan_end(&s.j, "the end")) status = bad_header(&s, NULL);
    if (!status) status = check_places(&s);
    if (!status) status = check_names(&s);
    return status ? status : check_keys(&s);
}
