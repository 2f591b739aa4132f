/* Reads and writes NumPy's .npz: the arrays items, order and context, all sets of one size. */
#include "data/npz.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/format.h"
#include "data/sets.h"
#include "data/zip.h"

enum { MAX_HEADER = 65536, MAX_DIMS = 8, ROWS = 4096 };

/* ---- The header of an array: a Python dictionary in text ---------------------------------------------- */

typedef struct array {
    const char *member; /* items.npy or order.npy */
    char type[16];      /* <f4, ... */
    bool fortran;
    int dims;
    size_t shape[MAX_DIMS];
    size_t bytes; /* of its numbers in the file */
} array;

static onet_status bad(const input *in, const array *a, const char *what, onet_error *err) {
    return fail(err, ONET_BAD, "%s: %s %s", input_name(in), a->member, what);
}

static const char *skip(const char *p, const char *text) {
    while (isspace((unsigned char)*p)) p++;
    size_t length = strlen(text);
    return strncmp(p, text, length) ? NULL : p + length;
}

/* 'text' or "text" into at most `room` characters. */
static const char *scan_string(const char *p, char *text, size_t room) {
    while (isspace((unsigned char)*p)) p++;
    char quote = *p;
    if (quote != '\'' && quote != '"') return NULL;
    const char *end = strchr(++p, quote);
    if (!end || (size_t)(end - p) >= room) return NULL;
    memcpy(text, p, (size_t)(end - p));
    text[end - p] = 0;
    return end + 1;
}

/* (10, 5, 2) */
static const char *scan_shape(const char *p, array *a) {
    if (!(p = skip(p, "("))) return NULL;
    for (a->dims = 0;; a->dims++) {
        const char *end = skip(p, ")");
        if (end) return end;
        if (a->dims == MAX_DIMS) return NULL;
        while (isspace((unsigned char)*p)) p++;
        if (!isdigit((unsigned char)*p)) return NULL;
        size_t value = 0;
        for (; isdigit((unsigned char)*p); p++) {
            if (value > (SIZE_MAX - 9) / 10) return NULL;
            value = value * 10 + (size_t)(*p - '0');
        }
        a->shape[a->dims] = value;
        if ((end = skip(p, ",")))
            p = end;
        else if (!skip(p, ")"))
            return NULL;
    }
}

static bool scan_header(const char *p, array *a) {
    bool type = false, order = false, shape = false;
    if (!(p = skip(p, "{"))) return false;
    for (;;) {
        char key[16];
        const char *end = skip(p, "}");
        if (end) return type && order && shape && !*(end + strspn(end, " \n"));
        if (!(p = scan_string(p, key, sizeof key)) || !(p = skip(p, ":"))) return false;
        if (!type && !strcmp(key, "descr"))
            type = (p = scan_string(p, a->type, sizeof a->type)) != NULL;
        else if (!order && !strcmp(key, "fortran_order")) {
            a->fortran = (end = skip(p, "True")) != NULL;
            order = (p = end ? end : skip(p, "False")) != NULL;
        } else if (!shape && !strcmp(key, "shape"))
            shape = (p = scan_shape(p, a)) != NULL;
        else
            return false;
        if (!p) return false;
        if ((end = skip(p, ",")))
            p = end;
        else if (!skip(p, "}"))
            return false;
    }
}

static onet_status read_header(const input *in, zip_member *m, array *a, onet_error *err) {
    unsigned char first[12];
    onet_status status = zip_member_read(m, first, 10, err);
    if (status) return status;
    if (memcmp(first, "\x93NUMPY", 6) || first[6] < 1 || first[6] > 3)
        return bad(in, a, "is not an array as NumPy saves it; make it with numpy.savez", err);
    size_t length = first[8] | (size_t)first[9] << 8, start = 10;
    if (first[6] > 1) {
        if ((status = zip_member_read(m, first + 10, 2, err))) return status;
        length |= (size_t)first[10] << 16 | (size_t)first[11] << 24;
        start = 12;
    }
    if (length > MAX_HEADER) return bad(in, a, "has a header of over 64 KiB; it is corrupt", err);
    char *text = calloc(length + 1, 1);
    if (!text) return fail_memory(err, "an array's header");
    status = zip_member_read(m, text, length, err);
    if (!status && !scan_header(text, a))
        status = bad(in, a, "has a header that cannot be understood; make it with numpy.savez", err);
    free(text);
    if (status) return status;
    if (a->fortran) return bad(in, a, "is in Fortran order; save numpy.ascontiguousarray(array)", err);
    a->bytes = zip_member_size(m) - start - length;
    return ONET_OK;
}

/* An array whose type is known: there must be just as many bytes as it takes. */
static onet_status check_bytes(const input *in, const array *a, onet_error *err) {
    size_t bytes = (size_t)(a->type[2] - '0');
    for (int i = 0; i < a->dims; i++)
        if (!size_mul(bytes, a->shape[i], &bytes)) return bad(in, a, "has an impossibly large shape", err);
    if (bytes != a->bytes)
        return bad(in, a,
                   "does not have as many bytes as its shape and type ask for; it is cut off or corrupt",
                   err);
    return ONET_OK;
}

/* ---- Numbers ----------------------------------------------------------------------------------------- */

static onet_status read_items(const input *in, zip_member *m, const array *a, float *items, size_t count,
                              onet_error *err) {
    if (!strcmp(a->type, "<f4")) return zip_member_read(m, items, count * sizeof *items, err);
    size_t width = a->shape[2], n = a->shape[1];
    double some[ROWS];
    for (size_t at = 0; at < count;) {
        size_t part = count - at < ROWS ? count - at : ROWS;
        onet_status status = zip_member_read(m, some, part * sizeof *some, err);
        if (status) return status;
        for (size_t i = 0; i < part; i++, at++) {
            items[at] = (float)some[i];
            if (items[at] - items[at] != 0)
                return fail(err, ONET_BAD,
                            "%s: set %zu: items[%zu][%zu] is %g, which is not a finite float32; put "
                            "another number there",
                            input_name(in), at / width / n + 1, at / width % n, at % width, some[i]);
        }
    }
    return ONET_OK;
}

static onet_status read_order(const input *in, zip_member *m, const array *a, int32_t *order, size_t count,
                              onet_error *err) {
    if (!strcmp(a->type, "<i4")) return zip_member_read(m, order, count * sizeof *order, err);
    int64_t some[ROWS];
    for (size_t at = 0; at < count;) {
        size_t part = count - at < ROWS ? count - at : ROWS;
        onet_status status = zip_member_read(m, some, part * sizeof *some, err);
        if (status) return status;
        for (size_t i = 0; i < part; i++, at++) {
            if (some[i] < 0 || some[i] > INT32_MAX)
                return fail(err, ONET_BAD,
                            "%s: set %zu: order[%zu] is %lld: it must be an index of one of the set's "
                            "items",
                            input_name(in), at / a->shape[1] + 1, at % a->shape[1], (long long)some[i]);
            order[at] = (int32_t)some[i];
        }
    }
    return ONET_OK;
}

static onet_status check_context(const input *in, const array *a, const array *items, onet_error *err) {
    if (strcmp(a->type, "|b1") && strcmp(a->type, "|u1"))
        return fail(err, ONET_BAD,
                    "%s: context.npy is of type %s where bool or uint8 is meant; save context.astype(bool)",
                    input_name(in), a->type);
    if (a->dims != 2 || a->shape[0] != items->shape[0] || a->shape[1] != items->shape[1])
        return fail(err, ONET_BAD,
                    "%s: context.npy must have the shape (%zu, %zu), a flag for each of the items",
                    input_name(in), items->shape[0], items->shape[1]);
    return check_bytes(in, a, err);
}

static onet_status check_items(const input *in, const array *a, onet_error *err) {
    if (a->dims != 3) return bad(in, a, "does not have three dimensions, [sets, n, features]", err);
    if (strcmp(a->type, "<f4") && strcmp(a->type, "<f8"))
        return fail(err, ONET_BAD,
                    "%s: items.npy is of type %s where float32 or float64 is meant; save "
                    "items.astype(\"float32\")",
                    input_name(in), a->type);
    if (!a->shape[0]) return bad(in, a, "holds no sets", err);
    if (!a->shape[1]) return bad(in, a, "holds sets without items", err);
    if (a->shape[1] > INT32_MAX || a->shape[2] < 1 || a->shape[2] > MAX_WIDTH)
        return fail(err, ONET_BAD,
                    "%s: items.npy has %zu items a set and %zu features an item; from 1 to %d features "
                    "are possible",
                    input_name(in), a->shape[1], a->shape[2], MAX_WIDTH);
    return check_bytes(in, a, err);
}

static onet_status check_order(const input *in, const array *a, const array *items, onet_error *err) {
    if (strcmp(a->type, "<i4") && strcmp(a->type, "<i8"))
        return fail(err, ONET_BAD,
                    "%s: order.npy is of type %s where int32 or int64 is meant; save "
                    "order.astype(\"int32\")",
                    input_name(in), a->type);
    if (a->dims != 2 || a->shape[0] != items->shape[0] || a->shape[1] != items->shape[1])
        return fail(err, ONET_BAD,
                    "%s: order.npy must have the shape (%zu, %zu), one place for each of the items",
                    input_name(in), items->shape[0], items->shape[1]);
    return check_bytes(in, a, err);
}

/* ---- Reading ----------------------------------------------------------------------------------------- */

/* Items first: they say how much memory is needed, and have been seen to be there. */
static onet_status read_arrays(onet_sets **sets, input *in, zip_member *items, zip_member *order,
                               zip_member *context, onet_error *err) {
    array a = {.member = "items.npy"}, b = {.member = "order.npy"}, c = {.member = "context.npy"};
    onet_status status = read_header(in, items, &a, err);
    if (status || (status = check_items(in, &a, err))) return status;
    if (order && ((status = read_header(in, order, &b, err)) || (status = check_order(in, &b, &a, err))))
        return status;
    if (context &&
        ((status = read_header(in, context, &c, err)) || (status = check_context(in, &c, &a, err))))
        return status;
    size_t total = a.shape[0] * a.shape[1];
    if ((status = sets_room(sets, a.shape[0], total, (int)a.shape[2], false, order != NULL, err)))
        return status;
    for (size_t k = 0; k < a.shape[0]; k++) (*sets)->start[k + 1] = (k + 1) * a.shape[1];
    if ((status = read_items(in, items, &a, (*sets)->items, total * a.shape[2], err)) ||
        (order && (status = read_order(in, order, &b, (*sets)->order, total, err))) ||
        (context && ((status = sets_room_context(*sets, total, err)) ||
                     (status = zip_member_read(context, (*sets)->context, total, err)))))
        return status;
    status = sets_check_missing(*sets, err);
    if (status == ONET_BAD) error_prefix(err, "%s", input_name(in));
    return status;
}

onet_status npz_read(onet_sets **sets, input *in, onet_error *err) {
    zip *archive;
    zip_member *items = NULL, *order = NULL, *context = NULL;
    *sets = NULL;
    onet_status status = zip_open(&archive, in, err);
    if (status) return status;
    status = zip_member_open(&items, archive, "items.npy", err);
    if (!status && !items)
        status = fail(err, ONET_BAD,
                      "%s: there is no array \"items\" in it; save it with numpy.savez(file, "
                      "items=..., order=...)",
                      input_name(in));
    if (!status) status = zip_member_open(&order, archive, "order.npy", err);
    if (!status) status = zip_member_open(&context, archive, "context.npy", err);
    if (!status) status = read_arrays(sets, in, items, order, context, err);
    zip_member_close(items);
    zip_member_close(order);
    zip_member_close(context);
    zip_close(archive);
    if (status) {
        onet_sets_free(*sets);
        *sets = NULL;
    } else
        input_sha256(in, (*sets)->hash);
    return status;
}

/* ---- Writing ----------------------------------------------------------------------------------------- */

/* The header of a version 1 file, padded so that the numbers begin at a multiple of 64; its length. */
static size_t make_header(char head[128], const char *type, const char *shape) {
    memset(head, ' ', 128);
    memcpy(head, "\x93NUMPY\x01\x00\x76\x00", 10);
    int used =
        snprintf(head + 10, 118, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", type, shape);
    head[10 + used] = ' ';
    head[127] = '\n';
    return 128;
}

onet_status npz_write(const onet_sets *s, const char *path, onet_error *err) {
    onet_status status = sets_check(s, err);
    if (status) return status;
    unsigned needs = s->word ? HOLDS_WORDS : HOLDS_NUMBERS;
    if (s->constraint_count) needs |= HOLDS_CONSTRAINTS;
    if ((status = format_must_hold(format_find(ONET_FORMAT_NPZ), needs, ONET_BAD, err))) {
        error_prefix(err, "cannot write %s", path);
        return status;
    }
    size_t n = sets_size(s, 0), total = s->start[s->count];
    for (size_t k = 1; k < s->count; k++)
        if (sets_size(s, k) != n)
            return fail(err, ONET_BAD,
                        "cannot write %s: set %zu is of size %zu and set 1 of size %zu, and NumPy's "
                        "format holds sets of one size; write .jsonl or .safetensors",
                        strcmp(path, "-") ? path : "standard output", k + 1, sets_size(s, k), n);
    char shape[64], head_items[128], head_order[128], head_context[128];
    snprintf(shape, sizeof shape, "%zu, %zu, %d", s->count, n, s->width);
    size_t parts = 1;
    zip_part part[3] = {{.name = "items.npy",
                         .head = head_items,
                         .head_size = make_header(head_items, "<f4", shape),
                         .data = s->items,
                         .data_size = total * (size_t)s->width * sizeof *s->items}};
    snprintf(shape, sizeof shape, "%zu, %zu", s->count, n);
    if (s->order)
        part[parts++] = (zip_part){.name = "order.npy",
                                   .head = head_order,
                                   .head_size = make_header(head_order, "<i4", shape),
                                   .data = s->order,
                                   .data_size = total * sizeof *s->order};
    if (s->context)
        part[parts++] = (zip_part){.name = "context.npy",
                                   .head = head_context,
                                   .head_size = make_header(head_context, "|u1", shape),
                                   .data = s->context,
                                   .data_size = total};
    return zip_write(path, part, parts, err);
}

/* ---- The format -------------------------------------------------------------------------------------- */

static bool recognise(const char *data, size_t size) {
    return size >= 4 && !memcmp(data, "PK\3\4", 4);
}

static onet_status read_file(onet_sets **sets, input *in, const onet_read_options *options, size_t limit,
                             onet_error *err) {
    (void)options, (void)limit;
    return npz_read(sets, in, err);
}

const data_format npz_format = {
    .format = ONET_FORMAT_NPZ,
    .name = "npz",
    .help = "NumPy arrays",
    .endings = {".npz"},
    .holds = HOLDS_NUMBERS | HOLDS_CONTEXT,
    .recognise = recognise,
    .read = read_file,
    .write = npz_write,
};
