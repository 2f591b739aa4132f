/* Defines the format npz: reads and writes sets in NumPy's .npz, and reads .npy: the arrays items, order,
 * context, pairs and sizes. Sets of several sizes either follow each other, with the array sizes, or are
 * padded, items with NaN. */

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/data/format.h"
#include "engine/data/npy.h"
#include "engine/data/sets.h"
#include "engine/data/zip.h"

/* ---- Shapes ------------------------------------------------------------------------------------------ */

/* The arrays of a file; those that it does not have are not open. */
typedef struct arrays {
    npy items, order, context, pairs, sizes;
    bool has_items, has_order, has_context, has_pairs, has_sizes;
    const char *file;
    int32_t *size;   /* [count], of each set; from the array or, once they are read, from the items */
    bool flat;       /* sets one behind the other: items [all, features], pairs [all pairs, relations] */
    size_t count, n; /* sets; items of each, the largest, where they are not flat */
    size_t total;    /* items, padding included */
    size_t width;
    size_t set, pairs_before; /* the set of the pair that is_ignored looked at last; pairs before that set */
} arrays;

static onet_status check_items(arrays *a, onet_error *err) {
    const npy *items = &a->items;
    char shape[128];
    npy_shape(items, shape);
    if (items->dims == 2 && !a->has_sizes)
        return fail(err, ONET_BAD,
                    "%s: items has the shape %s, two dimensions where [sets, n, features] are expected; save "
                    "items[None] for one set, items[..., None] for items of one feature, or an array sizes "
                    "beside it for sets one behind the other",
                    items->file, shape);
    if (items->dims != 3 && items->dims != 2)
        return fail(
            err, ONET_BAD,
            "%s: items has the shape %s where [sets, n, features] are expected; save items.reshape(sets, n, "
            "features)",
            items->file, shape);
    a->flat = items->dims == 2;
    a->width = items->shape[items->dims - 1];
    a->count = a->flat ? a->sizes.shape[0] : items->shape[0];
    a->n = a->flat ? 0 : items->shape[1];
    a->total = a->flat ? items->shape[0] : a->count * a->n; /* no overflow: the file has so many numbers */
    if (!a->count || !a->total)
        return fail(err, ONET_BAD, "%s: items holds no sets, or sets without items", items->file);
    if (a->n > INT32_MAX || a->width < 1 || a->width > MAX_WIDTH)
        return fail(err, ONET_BAD, "%s: items has the shape %s; from 1 to %d features are possible",
                    items->file, shape, MAX_WIDTH);
    return ONET_OK;
}

/* Relations without items say how many sets and items there are. */
static onet_status check_pairs_alone(arrays *a, onet_error *err) {
    const npy *pairs = &a->pairs;
    char shape[128];
    npy_shape(pairs, shape);
    a->flat = pairs->dims < 3;
    if (pairs->dims > 4 || (a->flat && !a->has_sizes))
        return fail(
            err, ONET_BAD,
            "%s: pairs has the shape %s where [sets, n, n] or [sets, n, n, relations] are expected; or "
            "save an array sizes beside it for sets one behind the other",
            a->file, shape);
    a->count = a->flat ? a->sizes.shape[0] : pairs->shape[0];
    a->n = a->flat ? 0 : pairs->shape[1];
    a->total = a->flat ? 0 : a->count * a->n;
    for (size_t k = 0; a->flat && k < a->count; k++) a->total += a->size[k] > 0 ? (size_t)a->size[k] : 0;
    if (!a->count || !a->total)
        return fail(err, ONET_BAD, "%s: pairs holds no sets, or sets without items", a->file);
    if (a->n <= INT32_MAX) return ONET_OK;
    return fail(err, ONET_BAD, "%s: pairs has the shape %s, of sets with too many items", a->file, shape);
}

/* Checks the shape of an array with one number for each item. */
static onet_status check_beside(const arrays *a, const npy *b, onet_error *err) {
    char shape[128], meant[128];
    npy like = {.dims = a->flat ? 1 : 2, .shape = {a->flat ? a->total : a->count, a->n}};
    bool same =
        b->dims == like.dims && b->shape[0] == like.shape[0] && (a->flat || b->shape[1] == like.shape[1]);
    if (same) return ONET_OK;
    return fail(err, ONET_BAD, "%s: %s has the shape %s where %s asks for %s, a number for each item",
                b->file, b->name, npy_shape(b, shape), a->has_items ? "items" : "pairs",
                npy_shape(&like, meant));
}

/* Checks the shape of relations: n * n of each set, with a last dimension for several. */
static onet_status check_pairs(const arrays *a, onet_error *err) {
    const npy *b = &a->pairs;
    char shape[128], meant[128];
    npy like = {.dims = 3, .shape = {a->count, a->n, a->n}};
    if (a->flat) {
        like.dims = 1;
        like.shape[0] = 0; /* which a square of 31 bits does not overflow */
        for (size_t k = 0; k < a->count; k++)
            if (a->size[k] > 0 && like.shape[0] < SIZE_MAX / 4)
                like.shape[0] += (size_t)a->size[k] * (size_t)a->size[k];
    }
    bool same = b->dims == like.dims || b->dims == like.dims + 1;
    for (int i = 0; i < like.dims && same; i++) same = b->shape[i] == like.shape[i];
    if (!same)
        return fail(err, ONET_BAD,
                    "%s: pairs has the shape %s where the sets ask for %s, a number for each ordered pair of "
                    "items, or one dimension more for several",
                    a->file, npy_shape(b, shape), npy_shape(&like, meant));
    if (b->dims == like.dims || (b->shape[like.dims] >= 1 && b->shape[like.dims] <= MAX_RELATIONS))
        return ONET_OK;
    return fail(err, ONET_BAD, "%s: pairs has the shape %s; from 1 to %d relations are possible", a->file,
                npy_shape(b, shape), MAX_RELATIONS);
}

static onet_status check_whole(const npy *a, onet_error *err) {
    if (a->type[1] != 'f') return ONET_OK;
    return fail(err, ONET_BAD,
                "%s: %s is of type %s where whole numbers are expected; save %s.astype(\"int32\")", a->file,
                a->name, a->type, a->name);
}

static onet_status check_shapes(arrays *a, onet_error *err) {
    onet_status status = ONET_OK;
    if (a->has_sizes && a->sizes.dims != 1)
        return fail(err, ONET_BAD, "%s: sizes has %d dimensions where one is expected, a number for each set",
                    a->sizes.file, a->sizes.dims);
    if (a->has_sizes && (status = check_whole(&a->sizes, err))) return status;
    if (a->has_sizes && !(a->size = array_new(a->sizes.shape[0], sizeof *a->size)))
        return fail_memory(err, "the sizes of the sets");
    if (a->has_sizes && (status = npy_ints(&a->sizes, a->size, err))) return status;
    if ((status = a->has_items ? check_items(a, err) : check_pairs_alone(a, err))) return status;
    if (!a->size && !(a->size = array_new(a->count, sizeof *a->size)))
        return fail_memory(err, "the sizes of the sets");
    if (a->has_sizes && a->sizes.shape[0] != a->count)
        return fail(err, ONET_BAD, "%s: sizes has %zu numbers for %zu sets", a->sizes.file, a->sizes.shape[0],
                    a->count);
    if (a->has_order &&
        ((status = check_whole(&a->order, err)) || (status = check_beside(a, &a->order, err))))
        return status;
    if (a->has_context && (status = check_beside(a, &a->context, err))) return status;
    return a->has_pairs ? check_pairs(a, err) : ONET_OK;
}

/* ---- Sets of several sizes --------------------------------------------------------------------------- */

/* Returns the number of items of a set that is padded with rows of NaN. */
static size_t filled_size(const float *items, size_t n, size_t width) {
    while (n) {
        const float *row = items + (n - 1) * width;
        for (size_t j = 0; j < width; j++)
            if (!isnan(row[j])) return n;
        n--;
    }
    return 0;
}

/* Finds the size of each set, once the items are read. */
static onet_status find_sizes(arrays *a, const onet_sets *s, onet_error *err) {
    onet_status status = ONET_OK;
    int32_t *size = a->size;
    size_t sum = 0;
    for (size_t k = 0; k < a->count && !status; k++) {
        if (!a->has_sizes)
            size[k] = a->has_items ? (int32_t)filled_size(s->items + k * a->n * a->width, a->n, a->width)
                                   : (int32_t)a->n;
        if (size[k] < 1 || (!a->flat && (size_t)size[k] > a->n) || (size_t)size[k] > a->total - sum)
            status = fail(err, ONET_BAD,
                          a->has_sizes ? "%s: sizes[%zu] is %ld, which is not the size of a set there"
                                       : "%s: items[%zu] has %ld items: all of it is NaN",
                          a->file, k, (long)size[k]);
        sum += size[k] > 0 ? (size_t)size[k] : 0;
    }
    if (!status && a->flat && sum != a->total)
        status = fail(err, ONET_BAD, "%s: the sizes add up to %zu where there are %zu items", a->file, sum,
                      a->total);
    return status;
}

/* Padding is not checked. But if the file has no `sizes`, an order must not name an all-NaN row: dropping
 * that row as padding would change the order. */
static onet_status check_rest(const arrays *a, const onet_sets *s, onet_error *err) {
    const int32_t *size = a->size;
    size_t from = 0;
    for (size_t k = 0; k < a->count; k++) {
        size_t n = (size_t)size[k];
        for (size_t i = n; s->order && !a->has_sizes && !a->flat && i < a->n; i++) {
            int32_t item = s->order[from + i];
            if (item >= size[k] && (size_t)item < a->n)
                return fail(err, ONET_BAD,
                            "%s: order[%zu][%zu] is %ld, but items[%zu][%ld] is all NaN, which means "
                            "padding; if it is an item, save the array `sizes`; if it is padding, write -1 "
                            "in the order",
                            a->file, k, i, (long)item, k, (long)item);
        }
        for (size_t i = 0; s->context && i < n; i++)
            if (s->context[from + i] == NPY_NO_FLAG)
                return fail(err, ONET_BAD,
                            "%s: the context of set %zu: item %zu has neither 0 nor 1 (seen but not placed)",
                            a->file, k + 1, i);
        from += a->flat ? n : a->n;
    }
    return ONET_OK;
}

/* Makes start from the sizes, and moves the rows of each array together, over the padding. */
static void close_up(const arrays *a, onet_sets *s) {
    const int32_t *size = a->size;
    for (size_t k = 0; k < a->count; k++) {
        size_t from = a->flat ? s->start[k] : k * a->n, to = s->start[k], n = (size_t)size[k];
        s->start[k + 1] = to + n;
        if (from == to) continue;
        memmove(s->items + to * a->width, s->items + from * a->width, n * a->width * sizeof *s->items);
        if (s->exact)
            memmove(s->exact + to * a->width, s->exact + from * a->width, n * a->width * sizeof *s->exact);
        if (s->order) memmove(s->order + to, s->order + from, n * sizeof *s->order);
        if (s->context) memmove(s->context + to, s->context + from, n);
    }
}

/* ---- Reading ----------------------------------------------------------------------------------------- */

/* Reads the items; *exact [total, width] is set if float32 rounds some of them. */
static onet_status read_items(arrays *a, onet_sets *s, double **exact, onet_error *err) {
    if (!npy_is_rounded(&a->items)) return npy_floats(&a->items, s->items, err);
    if (!(*exact = array_new(a->items.count, sizeof **exact))) return fail_memory(err, "the items");
    onet_status status = npy_doubles(&a->items, *exact, err);
    bool rounded = false;
    for (size_t i = 0; i < a->items.count && !status; i++) {
        s->items[i] = (float)(*exact)[i];
        rounded |= (double)s->items[i] != (*exact)[i] && !isnan(s->items[i]);
    }
    if (!status && rounded) return ONET_OK;
    free(*exact);
    *exact = NULL;
    return status;
}

static size_t relations_of(const arrays *a) {
    const npy *b = &a->pairs;
    return b->dims == (a->flat ? 2 : 4) ? b->shape[b->dims - 1] : 1;
}

/* Whether a number of the pairs is a relation from an item to itself, or padding. */
static bool is_ignored(void *context, size_t place) {
    arrays *a = context;
    size_t pair = place / relations_of(a);
    if (pair < a->pairs_before) a->set = a->pairs_before = 0;
    for (;; a->set++) { /* places come in ascending order, as a rule */
        size_t n = a->flat ? (size_t)a->size[a->set] : a->n;
        if (pair - a->pairs_before < n * n) {
            size_t i = (pair - a->pairs_before) / n, j = (pair - a->pairs_before) % n,
                   size = (size_t)a->size[a->set];
            return i == j || i >= size || j >= size;
        }
        a->pairs_before += n * n;
    }
}

/* Reads the relations of each set, without padding. */
static onet_status read_pairs(arrays *a, onet_sets *s, onet_error *err) {
    npy *b = &a->pairs;
    size_t R = relations_of(a), to = 0;
    b->ignored = is_ignored;
    b->context = a;
    float *value = array_new(b->count, sizeof *value);
    onet_status status = value ? npy_floats(b, value, err) : fail_memory(err, "the relations");
    for (size_t k = 0; k < a->count && !status && !a->flat; k++)
        for (size_t i = 0, n = (size_t)a->size[k]; i < n; i++, to += n * R)
            memmove(value + to, value + ((k * a->n + i) * a->n) * R, n * R * sizeof *value);
    if (!status) return sets_take_pairs(s, (int)R, value, NULL, err);
    free(value);
    return status;
}

/* Shapes first: they say how much memory is needed, and the numbers have been seen to be there. */
static onet_status read_arrays(onet_sets **sets, arrays *a, onet_error *err) {
    onet_status status = check_shapes(a, err);
    if (status) return status;
    if ((status = sets_room(sets, a->count, a->total, (int)a->width, false, a->has_order, err)))
        return status;
    onet_sets *s = *sets;
    double *exact = NULL;
    if (a->has_items) status = read_items(a, s, &exact, err);
    s->exact = exact;
    if (!status && a->has_order) status = npy_ints(&a->order, s->order, err);
    if (!status && a->has_context) {
        status = sets_room_context(s, a->total, err);
        if (!status) status = npy_flags(&a->context, s->context, err);
    }
    if (!status) status = find_sizes(a, s, err);
    if (!status) status = check_rest(a, s, err);
    if (!status) close_up(a, s);
    if (!status && a->has_pairs) status = read_pairs(a, s, err);
    if (!status) status = sets_check_missing(s, err);
    if (status == ONET_BAD && strncmp(err ? err->text : "", a->file, strlen(a->file)) != 0)
        error_prefix(err, "%s", a->file);
    return status;
}

/* Opens an array of an archive; *has: whether it is there. */
static onet_status open_member(zip *archive, npy *a, const char *name, const char *file, bool *has,
                               onet_error *err) {
    char path[32];
    *a = (npy){.name = name, .file = file};
    snprintf(path, sizeof path, "%s.npy", name);
    onet_status status = zip_member_open(&a->member, archive, path, err);
    *has = a->member != NULL;
    return status || !*has ? status : npy_open(a, err);
}

static onet_status read_archive(onet_sets **sets, input *in, onet_error *err) {
    zip *archive;
    const char *file = input_name(in);
    arrays a = {.file = file};
    onet_status status = zip_open(&archive, in, err);
    if (status) return status;
    status = open_member(archive, &a.items, "items", file, &a.has_items, err);
    if (!status) status = open_member(archive, &a.pairs, "pairs", file, &a.has_pairs, err);
    if (!status && !a.has_items && !a.has_pairs)
        status = fail(
            err, ONET_BAD,
            "%s: there is no array \"items\" in it; save it with numpy.savez(file, items=..., order=...)",
            file);
    if (!status) status = open_member(archive, &a.order, "order", file, &a.has_order, err);
    if (!status) status = open_member(archive, &a.context, "context", file, &a.has_context, err);
    if (!status) status = open_member(archive, &a.sizes, "sizes", file, &a.has_sizes, err);
    if (!status) status = read_arrays(sets, &a, err);
    free(a.size);
    zip_member_close(a.pairs.member);
    zip_member_close(a.items.member);
    zip_member_close(a.order.member);
    zip_member_close(a.context.member);
    zip_member_close(a.sizes.member);
    zip_close(archive);
    return status;
}

static onet_status read_single(onet_sets **sets, input *in, onet_error *err) {
    arrays a = {.items = {.name = "items", .file = input_name(in), .in = in},
                .has_items = true,
                .file = input_name(in)};
    onet_status status = input_whole(in, MAX_WHOLE, &a.items.size, err);
    if (!status) status = npy_open(&a.items, err);
    if (!status) status = read_arrays(sets, &a, err);
    free(a.size);
    return status;
}

onet_status npz_read(onet_sets **sets, input *in, onet_error *err) {
    const char *data;
    size_t size;
    *sets = NULL;
    onet_status status = input_peek(in, 6, &data, &size, err);
    if (status) return status;
    bool single = size >= 6 && !memcmp(data, "\x93NUMPY", 6);
    status = single ? read_single(sets, in, err) : read_archive(sets, in, err);
    if (status) {
        onet_sets_free(*sets);
        *sets = NULL;
    } else
        input_sha256(in, (*sets)->hash);
    return status;
}

/* ---- Writing ----------------------------------------------------------------------------------------- */

/* Writes the header of a version 1 file, padded so that the numbers begin at a multiple of 64; returns its
 * length. */
static size_t make_header(char head[128], const char *type, const char *shape) {
    memset(head, ' ', 128);
    memcpy(head, "\x93NUMPY\x01\x00\x76\x00", 10);
    int used =
        snprintf(head + 10, 118, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", type, shape);
    head[10 + used] = ' ';
    head[127] = '\n';
    return 128;
}

onet_status npz_write(const onet_sets *s, const char *path, const char *made, onet_error *err) {
    (void)made; /* no place for it */
    onet_status status = sets_check_missing(s, err);
    if (status) return status;
    unsigned needs = s->word ? HOLDS_WORDS : HOLDS_NUMBERS;
    if (s->constraint_count) needs |= HOLDS_CONSTRAINTS;
    if ((status = format_must_hold(format_find(ONET_FORMAT_NPZ), needs, ONET_BAD, err))) {
        error_prefix(err, "cannot write %s", path);
        return status;
    }
    size_t n = sets_size(s, 0), total = s->start[s->count];
    bool mixed = false;
    for (size_t k = 0; k < s->count; k++)
        mixed |=
            sets_size(s, k) != n || (s->width && filled_size(sets_item(s, s->start[k]), n, (size_t)s->width) <
                                                     n); /* items without any value */
    int32_t *size = mixed ? array_new(s->count, sizeof *size) : NULL;
    if (mixed && !size) return fail_memory(err, "the sizes of the sets");
    char shape[64], head_items[128], head_order[128], head_context[128], head_sizes[128], head_pairs[128];
    snprintf(shape, sizeof shape, "%zu, %zu, %d", s->count, n, s->width);
    if (mixed) snprintf(shape, sizeof shape, "%zu, %d", total, s->width);
    int parts = 0;
    zip_part part[5];
    if (s->width)
        part[parts++] = (zip_part){.name = "items.npy",
                                   .head = head_items,
                                   .head_size = make_header(head_items, s->exact ? "<f8" : "<f4", shape),
                                   .data = s->exact ? (const void *)s->exact : s->items,
                                   .data_size = total * (size_t)s->width *
                                                (s->exact ? sizeof *s->exact : sizeof *s->items)};
    if (s->pairs) {
        size_t numbers = s->pairs->row[total - 1] + sets_size(s, s->count - 1), R = (size_t)s->pairs->width;
        snprintf(shape, sizeof shape, mixed ? "%zu," : "%zu, %zu, %zu,", mixed ? numbers : s->count, n, n);
        size_t used = strlen(shape);
        if (R > 1) snprintf(shape + used, sizeof shape - used, " %zu", R);
        part[parts++] = (zip_part){.name = "pairs.npy",
                                   .head = head_pairs,
                                   .head_size = make_header(head_pairs, "<f4", shape),
                                   .data = s->pairs->value,
                                   .data_size = numbers * R * sizeof *s->pairs->value};
    }
    snprintf(shape, sizeof shape, "%zu, %zu", s->count, n);
    if (mixed) snprintf(shape, sizeof shape, "%zu,", total);
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
    for (size_t k = 0; mixed && k < s->count; k++) size[k] = (int32_t)sets_size(s, k);
    snprintf(shape, sizeof shape, "%zu,", s->count);
    if (mixed)
        part[parts++] = (zip_part){.name = "sizes.npy",
                                   .head = head_sizes,
                                   .head_size = make_header(head_sizes, "<i4", shape),
                                   .data = size,
                                   .data_size = s->count * sizeof *size};
    status = zip_write(path, part, parts, err);
    free(size);
    return status;
}

/* ---- The format -------------------------------------------------------------------------------------- */

static bool recognise(const char *data, size_t size) {
    return size >= 6 && (!memcmp(data, "PK\3\4", 4) || !memcmp(data, "\x93NUMPY", 6));
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
    .holds = HOLDS_NUMBERS | HOLDS_CONTEXT | HOLDS_SIZES | HOLDS_MISSING | HOLDS_PAIRS,
    .recognise = recognise,
    .read = read_file,
    .write = npz_write,
};
