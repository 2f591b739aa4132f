/* Defines the format safetensors: reads and writes sets in the project's binary form, a safetensors file with
 * sizes, items or words, orders, context, constraints, relations and columns. */

#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/data/columns_file.h"
#include "engine/data/constraints.h"
#include "engine/data/format.h"
#include "engine/data/safetensors.h"
#include "engine/data/sets.h"
#include "engine/data/words_file.h"

static const char format[] = "ordernet-sets";

/* ---- Reading ----------------------------------------------------------------------------------------- */

/* Makes start from the sizes: every set has an item at least, and together they have `total`. */
static onet_status read_sizes(onet_sets *s, const safetensors *file, const st_tensor *sizes, size_t total,
                              onet_error *err) {
    int32_t *size = array_new(s->count, sizeof *size);
    if (!size) return fail_memory(err, "the sets");
    onet_status status = safetensors_load(file, sizes, size, err);
    for (size_t k = 0; k < s->count && !status; k++) {
        if (size[k] < 1 || (size_t)size[k] > total - s->start[k])
            status = fail(err, ONET_BAD,
                          "%s: set %zu: its size is %ld, where %zu items are left; make the file again",
                          safetensors_name(file), k + 1, (long)size[k], total - s->start[k]);
        else
            s->start[k + 1] = s->start[k] + (size_t)size[k];
    }
    free(size);
    if (!status && s->start[s->count] != total)
        status =
            fail(err, ONET_BAD, "%s: its sizes add up to %zu where there are %zu items; make the file again",
                 safetensors_name(file), s->start[s->count], total);
    return status;
}

/* A constraint in the file: set, kind, item, other; the items counted within the set. */
enum { CONSTRAINT_NUMBERS = 4 };

static onet_status read_constraints(onet_sets *s, const safetensors *file, const st_tensor *tensor,
                                    onet_error *err) {
    size_t count = tensor->shape[0];
    int32_t *number = array_new(count * CONSTRAINT_NUMBERS, sizeof *number);
    if (!count || !number) {
        free(number);
        return count ? fail_memory(err, "the constraints") : ONET_OK;
    }
    onet_status status = safetensors_load(file, tensor, number, err);
    if (!status && !(s->constraints = array_new(count, sizeof *s->constraints)))
        status = fail_memory(err, "the constraints");
    for (size_t k = 0; k < count && !status; k++) {
        const int32_t *from = number + k * CONSTRAINT_NUMBERS;
        if (from[0] < 0 || (size_t)from[0] >= s->count || from[2] < 0 || from[3] < 0 ||
            (size_t)from[2] >= sets_size(s, (size_t)from[0])) {
            status = fail(err, ONET_BAD,
                          "%s: constraint %zu is on item %ld of set %ld, which is not there; make the file "
                          "again",
                          safetensors_name(file), k + 1, (long)from[2], (long)from[0]);
            break;
        }
        size_t base = s->start[from[0]];
        bool pair = constraint_is_pair((onet_constraint_kind)from[1]);
        s->constraints[k] = (onet_constraint){(onet_constraint_kind)from[1], base + (size_t)from[2],
                                              (size_t)from[3] + (pair ? base : 0)};
    }
    free(number);
    if (!status) s->constraint_count = count;
    return status;
}

/* Returns the constraints as the file has them: [constraint_count, 4], or NULL when memory is short. */
static int32_t *list_constraints(const onet_sets *s) {
    int32_t *list = array_new(s->constraint_count * CONSTRAINT_NUMBERS, sizeof *list), *to = list;
    for (size_t k = 0, set = 0; list && k < s->constraint_count; k++) {
        const onet_constraint *c = &s->constraints[k];
        while (c->item >= s->start[set + 1]) set++;
        *to++ = (int32_t)set;
        *to++ = (int32_t)c->kind;
        *to++ = (int32_t)(c->item - s->start[set]);
        *to++ = (int32_t)(c->other - (constraint_is_pair(c->kind) ? s->start[set] : 0));
    }
    return list;
}

/* Reads items in double, and rounds them to float32. */
static onet_status read_doubles(onet_sets *s, const safetensors *file, const st_tensor *items,
                                onet_error *err) {
    size_t count = items->bytes / sizeof *s->exact;
    if (!(s->exact = array_new(count, sizeof *s->exact))) return fail_memory(err, "the sets");
    onet_status status = safetensors_load(file, items, s->exact, err);
    for (size_t i = 0; i < count && !status; i++) s->items[i] = (float)s->exact[i];
    return status;
}

static onet_status read_pairs(onet_sets *s, const safetensors *file, const st_tensor *pairs,
                              onet_error *err) {
    size_t meant = 0;
    for (size_t k = 0; k < s->count; k++) meant += sets_size(s, k) * sets_size(s, k);
    if (pairs->shape[0] != meant || pairs->shape[1] < 1 || pairs->shape[1] > MAX_RELATIONS)
        return fail(
            err, ONET_BAD,
            "%s: its pairs have the shape [%zu, %zu], where the sets ask for [%zu, 1 to %d relations]",
            safetensors_name(file), pairs->shape[0], pairs->shape[1], meant, MAX_RELATIONS);
    float *value = array_new(pairs->bytes, 1);
    onet_status status =
        value ? safetensors_load(file, pairs, value, err) : fail_memory(err, "the relations");
    if (status) {
        free(value);
        return status;
    }
    status =
        sets_take_pairs(s, (int)pairs->shape[1], value, safetensors_metadata(file, "relations.names"), err);
    if (status == ONET_BAD) error_prefix(err, "%s", safetensors_name(file));
    return status;
}

static onet_status read_sets(onet_sets **sets, const safetensors *file, onet_error *err) {
    const size_t any[2] = {SIZE_MAX, SIZE_MAX};
    const st_tensor *sizes, *items,
        *order = safetensors_find(file, "order"), *context = safetensors_find(file, "context"),
        *constraints = safetensors_find(file, "constraints"), *pairs = safetensors_find(file, "pairs");
    const char *kind = safetensors_metadata(file, "format"),
               *version = safetensors_metadata(file, "format_version");
    if (kind && !strcmp(kind, "ordernet"))
        return fail(err, ONET_BAD, "%s is a model and holds no sets; name a file of sets",
                    safetensors_name(file));
    if (!kind || strcmp(kind, format))
        return fail(err, ONET_BAD,
                    "%s holds no sets (its metadata has no \"format\": \"%s\"); name a file that "
                    "`ordernet convert` made",
                    safetensors_name(file), format);
    if (!version || (strcmp(version, "1") && strcmp(version, "2")))
        return safetensors_newer(file, "format_version", version, err);
    bool words = safetensors_find(file, "word") != NULL;
    onet_words *vocabulary = NULL;
    onet_status status = safetensors_expect(file, "sizes", ST_I32, 1, any, &sizes, err);
    const st_tensor *numbers = safetensors_find(file, "items");
    bool exact = !words && numbers && numbers->type == ST_F64;
    if (!status)
        status = safetensors_expect(file, words ? "word" : "items",
                                    words   ? ST_I32
                                    : exact ? ST_F64
                                            : ST_F32,
                                    words ? 1 : 2, any, &items, err);
    if (status) return status;
    size_t total = items->shape[0];
    if (order && (status = safetensors_expect(file, "order", ST_I32, 1, &total, &order, err))) return status;
    if (context && (status = safetensors_expect(file, "context", ST_U8, 1, &total, &context, err)))
        return status;
    if (pairs && (status = safetensors_expect(file, "pairs", ST_F32, 2, any, &pairs, err))) return status;
    if (constraints &&
        (status = safetensors_expect(file, "constraints", ST_I32, 2, (size_t[]){SIZE_MAX, CONSTRAINT_NUMBERS},
                                     &constraints, err)))
        return status;
    if (!sizes->shape[0] || !total) return fail(err, ONET_BAD, "%s holds no sets", safetensors_name(file));
    if (!words && (items->shape[1] < !pairs || items->shape[1] > MAX_WIDTH))
        return fail(err, ONET_BAD, "%s: its items have %zu features; from 1 to %d are possible",
                    safetensors_name(file), items->shape[1], MAX_WIDTH);
    if ((status = safetensors_data(file, MAX_WHOLE, err))) return status;
    if (words && (status = words_file_read(&vocabulary, file, err))) return status;
    status = sets_room(sets, sizes->shape[0], total, words ? vocabulary->width : (int)items->shape[1], words,
                       order != NULL, err);
    if (status) {
        words_free(vocabulary);
        return status;
    }
    onet_sets *s = *sets;
    s->words = vocabulary;
    if ((status = read_sizes(s, file, sizes, total, err)) ||
        (status = exact ? read_doubles(s, file, items, err)
                        : safetensors_load(file, items, words ? (void *)s->word : (void *)s->items, err)) ||
        (order && (status = safetensors_load(file, order, s->order, err))) ||
        (context && ((status = sets_room_context(s, total, err)) ||
                     (status = safetensors_load(file, context, s->context, err)))) ||
        (constraints && (status = read_constraints(s, file, constraints, err))) ||
        (pairs && (status = read_pairs(s, file, pairs, err))) ||
        (!words && (status = columns_file_read(&s->columns, file, s->width, err))))
        return status;
    status = sets_check_missing(s, err);
    if (status == ONET_BAD) error_prefix(err, "%s", safetensors_name(file));
    return status;
}

onet_status sets_binary_read(onet_sets **sets, input *in, onet_error *err) {
    safetensors *file;
    *sets = NULL;
    onet_status status = safetensors_from(&file, in, err);
    if (status) return status;
    status = read_sets(sets, file, err);
    if (status) {
        onet_sets_free(*sets);
        *sets = NULL;
    } else
        input_sha256(in, (*sets)->hash);
    safetensors_close(file);
    return status;
}

/* ---- Writing ----------------------------------------------------------------------------------------- */

onet_status sets_binary_write(const onet_sets *s, const char *path, const char *made, onet_error *err) {
    st_pair metadata[8] = {{"format", format}, {"format_version", s->pairs ? "2" : "1"}};
    size_t total = s->start[s->count], count = 0, pairs = 2;
    st_tensor list[11];
    words_tensors w = {0};
    columns_tensors c = {0};
    onet_status status = sets_check_missing(s, err);
    int32_t *size = status ? NULL : array_new(s->count, sizeof *size);
    int32_t *constraints = status || !s->constraint_count ? NULL : list_constraints(s);
    if (!status && (!size || (s->constraint_count && !constraints)))
        status = fail_memory(err, "writing sets");
    if (!status && s->word) status = words_tensors_make(&w, s->words, false, err);
    if (!status) status = columns_tensors_make(&c, s->columns, err);
    if (!status) {
        for (size_t k = 0; k < s->count; k++) size[k] = (int32_t)sets_size(s, k);
        list[count++] =
            (st_tensor){.name = "sizes", .type = ST_I32, .dims = 1, .shape = {s->count}, .data = size};
        if (s->items)
            list[count++] = (st_tensor){.name = "items",
                                        .type = s->exact ? ST_F64 : ST_F32,
                                        .dims = 2,
                                        .shape = {total, (size_t)s->width},
                                        .data = s->exact ? (const void *)s->exact : s->items};
        else {
            list[count++] =
                (st_tensor){.name = "word", .type = ST_I32, .dims = 1, .shape = {total}, .data = s->word};
            list[count++] = w.tensor[0];
            list[count++] = w.tensor[1];
        }
        if (s->order)
            list[count++] =
                (st_tensor){.name = "order", .type = ST_I32, .dims = 1, .shape = {total}, .data = s->order};
        if (s->context)
            list[count++] = (st_tensor){
                .name = "context", .type = ST_U8, .dims = 1, .shape = {total}, .data = s->context};
        if (constraints)
            list[count++] = (st_tensor){.name = "constraints",
                                        .type = ST_I32,
                                        .dims = 2,
                                        .shape = {s->constraint_count, CONSTRAINT_NUMBERS},
                                        .data = constraints};
        size_t last = s->count - 1; /* sets without relations have no row there */
        if (s->pairs)
            list[count++] = (st_tensor){
                .name = "pairs",
                .type = ST_F32,
                .dims = 2,
                .shape = {s->pairs->row[total - 1] + sets_size(s, last) - s->pairs->row[s->start[0]],
                          (size_t)s->pairs->width},
                .data = sets_pairs(s, s->start[0])};
        if (s->pairs && s->pairs->names) metadata[pairs++] = (st_pair){"relations.names", s->pairs->names};
        for (size_t i = 0; i < c.tensors; i++) list[count++] = c.tensor[i];
        for (size_t i = 0; i < c.pairs; i++) metadata[pairs++] = c.pair[i];
        if (made) metadata[pairs++] = (st_pair){"made", made};
        status = safetensors_write(path, list, count, metadata, pairs, err);
    }
    columns_tensors_free(&c);
    words_tensors_free(&w);
    free(constraints);
    free(size);
    return status;
}

/* ---- The format -------------------------------------------------------------------------------------- */

/* Whether the file begins with the length of a header of less than 16 MiB, and the header's {. */
static bool recognise(const char *data, size_t size) {
    return size >= 9 && data[8] == '{' && !data[3] && !data[4] && !data[5] && !data[6] && !data[7];
}

static onet_status read_file(onet_sets **sets, input *in, const onet_read_options *options, size_t limit,
                             onet_error *err) {
    (void)options, (void)limit;
    return sets_binary_read(sets, in, err);
}

const data_format safetensors_format = {
    .format = ONET_FORMAT_SAFETENSORS,
    .name = "safetensors",
    .help = "this project's binary form",
    .endings = {".safetensors"},
    .holds = HOLDS_NUMBERS | HOLDS_WORDS | HOLDS_CONTEXT | HOLDS_CONSTRAINTS | HOLDS_SIZES | HOLDS_MISSING |
             HOLDS_PAIRS,
    .recognise = recognise,
    .read = read_file,
    .write = sets_binary_write,
};
