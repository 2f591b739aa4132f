/* Manages a record, one set as it was read: its memory, the checks of its order, context and text, and the
 * accessors of the public API. */
#include "engine/data/record.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/arguments.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/utf8.h"
#include "engine/data/sets.h"

void record_free(record *r) {
    free(r->text);
    free(r->member);
    free(r->keys);
    free(r->item_store);
    lost_free(r->lost_store.of);
    free(r->pair_store);
    free(r->float_store);
    free(r->order_store);
    free(r->index_store);
    free(r->prefix_store);
    free(r->context_store);
    free(r->constraint_store);
    free(r->word_store);
    free(r->letters);
    free(r->value);
    onet_columns_free(r->own_columns);
    *r = (record){0};
}

onet_status record_line(record *r, onet_format format, const char *text, size_t length, long line,
                        onet_error *err) {
    r->n = r->width = r->members = r->relations = 0;
    r->pairs = NULL;
    r->pair_names = NULL;
    r->items = NULL;
    r->single = false;
    r->word = NULL;
    r->order = NULL;
    r->context = NULL;
    r->constraints = NULL;
    r->constraint_count = 0;
    r->lost = NULL;
    r->lost_from = 0;
    lost_clear(&r->lost_store);
    r->table = NULL;
    r->columns = NULL;
    r->format = format;
    r->line = line;
    if (!array_reserve(&r->text, &r->text_room, length + 1, 1)) return fail_memory(err, "a line of text");
    memcpy(r->text, text, length);
    r->text[length] = 0;
    r->length = length;
    return ONET_OK;
}

int record_placed(const record *r) {
    return (int)context_placed(r->context, (size_t)r->n);
}

onet_status record_take_context(record *r, size_t length, const char *name, onet_error *err) {
    size_t n = (size_t)r->n;
    if (!length) return ONET_OK;
    if (!array_reserve(&r->context_store, &r->context_room, n, 1)) return fail_memory(err, "a set's context");
    memset(r->context_store, 0, n);
    for (size_t k = 0; k < length; k++) {
        int32_t i = r->index_store[k];
        if (i < 0 || i >= r->n)
            return fail(err, ONET_BAD,
                        "%s:%ld: field `context`[%zu]: %d is not the index of an item; they go from 0 to %d",
                        name, r->line, k, i, r->n - 1);
        if (r->context_store[i]++)
            return fail(err, ONET_BAD, "%s:%ld: field `context`[%zu]: item %d appears twice; keep one", name,
                        r->line, k, i);
    }
    r->context = r->context_store;
    if (length < n) return ONET_OK;
    return fail(err, ONET_BAD,
                "%s:%ld: field `context`: all items are context; leave the set out or place one", name,
                r->line);
}

onet_status record_take_order(record *r, size_t length, int first, const char *field, const char *name,
                              onet_error *err) {
    size_t n = (size_t)r->n, placed = (size_t)record_placed(r);
    if (length != placed && !r->context)
        return fail(err, ONET_BAD, "%s:%ld: field `%s`: %zu %s for %d %s; give the index of each item once%s",
                    name, r->line, field, length, length == 1 ? "index" : "indices", r->n,
                    n == 1 ? "item" : "items",
                    length && length < n && r->format == ONET_FORMAT_JSONL
                        ? ", or list those that are not placed under `context`"
                        : "");
    if (length != placed)
        return fail(err, ONET_BAD,
                    "%s:%ld: field `%s`: %zu %s for %zu %s that %s not in `context`; give each of them once",
                    name, r->line, field, length, length == 1 ? "index" : "indices", placed,
                    placed == 1 ? "item" : "items", placed == 1 ? "is" : "are");
    if (!array_reserve(&r->order_store, &r->order_room, 2 * n, sizeof *r->order_store))
        return fail_memory(err, "an order");
    int32_t *order = r->order_store, *seen = order + n; /* [n] */
    memset(seen, 0, n * sizeof *seen);
    for (size_t t = 0; t < placed; t++) {
        if (order[t] < first || order[t] - first >= r->n)
            return fail(err, ONET_BAD,
                        "%s:%ld: field `%s`[%zu]: %d is not the index of an item; they go from %d to %d",
                        name, r->line, field, t, order[t], first, first + r->n - 1);
        int32_t item = order[t] - first;
        if (r->context && r->context[item])
            return fail(err, ONET_BAD,
                        "%s:%ld: field `%s`[%zu]: item %d stands in `context` too; keep it in one of them",
                        name, r->line, field, t, order[t]);
        if (seen[item]++)
            return fail(err, ONET_BAD,
                        "%s:%ld: field `%s`[%zu]: item %d appears twice; give the index of each item once",
                        name, r->line, field, t, order[t]);
        order[t] = item;
    }
    for (size_t i = 0, t = placed; r->context && i < n; i++)
        if (r->context[i]) order[t++] = (int32_t)i;
    r->order = order;
    return ONET_OK;
}

size_t record_number(const record *r, size_t i, char text[NUMBER_TEXT]) {
    return r->single ? number_text_float(text, (float)r->items[i]) : number_text_exact(text, r->items[i]);
}

onet_status record_check_text(const char *text, size_t length, const char *name, long line, onet_error *err) {
    size_t valid = utf8_valid(text, length);
    if (valid == length) return ONET_OK;
    return fail(err, ONET_BAD,
                "%s:%ld: byte %zu of the line (0x%02x) is not UTF-8; convert the file to UTF-8", name, line,
                valid + 1, (unsigned char)text[valid]);
}

/* ---- For callers ------------------------------------------------------------------------------------- */

onet_status onet_record_new(onet_record **r, onet_error *err) {
    NEED(r, "record");
    *r = calloc(1, sizeof **r);
    return *r ? ONET_OK : fail_memory(err, "a set");
}

void onet_record_free(onet_record *r) {
    if (!r) return;
    record_free(r);
    free(r);
}

int onet_record_size(const onet_record *r) {
    return r ? r->n : 0;
}

int onet_record_placed(const onet_record *r) {
    return r ? record_placed(r) : 0;
}

int onet_record_width(const onet_record *r) {
    return r ? r->width : 0;
}

int onet_record_relations(const onet_record *r) {
    return r ? r->relations : 0;
}

const char *onet_record_relation_names(const onet_record *r) {
    return r ? r->pair_names : NULL;
}

const double *onet_record_values(const onet_record *r) {
    return r ? r->items : NULL;
}

const float *onet_record_items(const onet_record *given) {
    record *r = (record *)(uintptr_t)given; /* the cached floats are not part of the set */
    if (!r || !r->items) return NULL;
    size_t count = (size_t)r->n * (size_t)r->width;
    if (!array_reserve(&r->float_store, &r->float_room, count, sizeof *r->float_store)) return NULL;
    for (size_t i = 0; i < count; i++) r->float_store[i] = (float)r->items[i];
    return r->float_store;
}

const char *onet_record_word(const onet_record *r, int item) {
    return r && r->word && item >= 0 && item < r->n ? r->word[item] : NULL;
}

const int32_t *onet_record_order(const onet_record *r) {
    return r ? r->order : NULL;
}

long onet_record_line(const onet_record *r) {
    return r ? r->line : 0;
}

onet_format onet_record_format(const onet_record *r) {
    return r ? r->format : ONET_FORMAT_AUTO;
}
