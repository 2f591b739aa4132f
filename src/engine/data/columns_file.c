/* Reads columns from the tensors and metadata of a safetensors file, and makes the tensors to write. */
#include "engine/data/columns_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/choice.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"

/* ---- Reading ----------------------------------------------------------------------------------------- */

/* Points name [width] at the names in text, each of which ends in NUL. */
static onet_status find_names(const char **name, int width, const char *text, size_t size, const char *file,
                              onet_error *err) {
    const char *at = text, *end = text + size;
    int count = 0;
    for (; at < end && count < width; count++) {
        name[count] = at;
        at += strlen(at) + 1; /* the text ends in NUL */
    }
    if (count == width && at == end) return ONET_OK;
    return fail(err, ONET_BAD,
                "%s: columns.names does not have the names of %d features; make the file again", file, width);
}

static onet_status read_names(onet_columns **columns, const safetensors *file, const st_tensor *tensor,
                              int width, onet_error *err) {
    const char *set = safetensors_metadata(file, "columns.set"),
               *rank = safetensors_metadata(file, "columns.rank");
    size_t size = tensor ? tensor->bytes : 0;
    char *text = array_new(size + 1, 1);
    const char **name = array_new((size_t)width, sizeof *name);
    onet_status status = text && name ? ONET_OK : fail_memory(err, "the names of the features");
    if (!status && tensor) status = safetensors_load(file, tensor, text, err);
    if (!status && tensor) status = find_names(name, width, text, size, safetensors_name(file), err);
    if (!status) {
        status = onet_columns_new(columns, width, tensor ? name : NULL, set, rank, err);
        if (status == ONET_BAD || status == ONET_USAGE) {
            status = ONET_BAD;
            error_prefix(err, "%s: columns.names", safetensors_name(file));
        }
    }
    free(text);
    free(name);
    return status;
}

static onet_status read_missing(onet_columns *c, const safetensors *file, onet_missing missing,
                                const st_tensor *fill, const st_tensor *flag, onet_error *err) {
    size_t width = (size_t)c->width;
    float *values = array_new(width, sizeof *values);
    uint8_t *flags = flag ? array_new(width, 1) : NULL;
    onet_status status = values && (!flag || flags) ? ONET_OK : fail_memory(err, "the missing values");
    if (!status) status = safetensors_load(file, fill, values, err);
    if (!status && flag) status = safetensors_load(file, flag, flags, err);
    for (size_t j = 0; j < width && !status; j++)
        if (!isfinite(values[j]))
            status = fail(err, ONET_BAD,
                          "%s: missing.fill of feature %zu is not a finite number; make the file "
                          "again",
                          safetensors_name(file), j);
    if (!status) status = columns_take_missing(c, missing, values, flags, err);
    free(values);
    free(flags);
    return status;
}

static onet_status read_kinds(onet_columns *c, const safetensors *file, onet_error *err) {
    static const char known[] = {KIND_NUMBER, KIND_DATE, KIND_TRUTH, 0};
    const char *kind = safetensors_metadata(file, "columns.kinds");
    if (!kind) return ONET_OK;
    if (strlen(kind) != (size_t)c->width || strspn(kind, known) != (size_t)c->width)
        return fail(err, ONET_BAD,
                    "%s: columns.kinds does not have the kinds of %d features; make the file again",
                    safetensors_name(file), c->width);
    return columns_take_kinds(c, kind, err);
}

onet_status columns_file_read(onet_columns **columns, const safetensors *file, int inputs, onet_error *err) {
    const size_t any = SIZE_MAX;
    const char *text = safetensors_metadata(file, "missing"), *name = safetensors_name(file);
    const st_tensor *names = safetensors_find(file, "columns.names"),
                    *fill = safetensors_find(file, "missing.fill"),
                    *flag = safetensors_find(file, "missing.flag");
    const onet_choice *missing = text ? choice_named(onet_missings(), text, strlen(text)) : onet_missings();
    onet_status status = ONET_OK;
    *columns = NULL;
    if (!names && !fill) return ONET_OK;
    if (!missing) return safetensors_newer(file, "missing", text, err);
    if ((missing->value != ONET_MISSING_ERROR) != (fill != NULL) || (flag && !fill))
        return fail(err, ONET_BAD,
                    "%s: metadata \"missing\" is \"%.40s\", which contradicts the tensors missing.fill and "
                    "missing.flag; make the "
                    "file again",
                    name, text ? text : "");
    if (names) status = safetensors_expect(file, "columns.names", ST_U8, 1, &any, &names, err);
    if (!status && fill) status = safetensors_expect(file, "missing.fill", ST_F32, 1, &any, &fill, err);
    if (!status && flag) status = safetensors_expect(file, "missing.flag", ST_U8, 1, fill->shape, &flag, err);
    if (status) return status;
    if (fill && (fill->shape[0] < 1 || fill->shape[0] > (size_t)inputs))
        return fail(err, ONET_BAD,
                    "%s: missing.fill has %zu numbers where there are %d features; make the file "
                    "again",
                    name, fill->shape[0], inputs);
    status = read_names(columns, file, names, fill ? (int)fill->shape[0] : inputs, err);
    if (!status) status = read_kinds(*columns, file, err);
    if (!status && fill) status = read_missing(*columns, file, (onet_missing)missing->value, fill, flag, err);
    if (!status && (*columns)->inputs != inputs)
        status =
            fail(err, ONET_BAD, "%s: its columns come to %d features where there are %d; make the file again",
                 name, (*columns)->inputs, inputs);
    if (status) {
        onet_columns_free(*columns);
        *columns = NULL;
    }
    return status;
}

/* ---- Writing ----------------------------------------------------------------------------------------- */

onet_status columns_tensors_make(columns_tensors *t, const onet_columns *c, onet_error *err) {
    *t = (columns_tensors){0};
    if (!c) return ONET_OK;
    size_t width = (size_t)c->width, size = 0;
    for (size_t j = 0; c->name && j < width; j++) size += strlen(c->name[j]) + 1;
    if (c->name) {
        if (!(t->text = malloc(size))) return fail_memory(err, "the names of the features");
        char *to = t->text;
        for (size_t j = 0; j < width; j++) to = stpcpy(to, c->name[j]) + 1;
        t->tensor[t->tensors++] =
            (st_tensor){.name = "columns.names", .type = ST_U8, .dims = 1, .shape = {size}, .data = t->text};
    }
    if (c->fill)
        t->tensor[t->tensors++] =
            (st_tensor){.name = "missing.fill", .type = ST_F32, .dims = 1, .shape = {width}, .data = c->fill};
    if (c->flag)
        t->tensor[t->tensors++] =
            (st_tensor){.name = "missing.flag", .type = ST_U8, .dims = 1, .shape = {width}, .data = c->flag};
    if (c->name && c->set) t->pair[t->pairs++] = (st_pair){"columns.set", c->set};
    if (c->name && c->rank) t->pair[t->pairs++] = (st_pair){"columns.rank", c->rank};
    if (c->kind) t->pair[t->pairs++] = (st_pair){"columns.kinds", c->kind};
    if (c->fill) t->pair[t->pairs++] = (st_pair){"missing", choice_name(onet_missings(), (int)c->missing)};
    return ONET_OK;
}

void columns_tensors_free(columns_tensors *t) {
    free(t->text);
    *t = (columns_tensors){0};
}
