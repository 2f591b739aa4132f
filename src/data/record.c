#include "data/record.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/utf8.h"

void record_free(record *r) {
    free(r->text);
    free(r->member);
    free(r->keys);
    free(r->item_store);
    free(r->order_store);
    free(r->word_store);
    free(r->letters);
    *r = (record){0};
}

onet_status record_line(record *r, onet_format format, const char *text, size_t length, long line,
                        onet_error *err) {
    r->n = r->width = r->members = 0;
    r->items = NULL;
    r->word = NULL;
    r->order = NULL;
    r->table = NULL;
    r->format = format;
    r->line = line;
    if (!array_reserve(&r->text, &r->text_room, length + 1, 1)) return fail_memory(err, "a line of text");
    memcpy(r->text, text, length);
    r->text[length] = 0;
    r->length = length;
    return ONET_OK;
}

onet_status record_take_order(record *r, size_t length, int first, const char *field, const char *name,
                              onet_error *err) {
    size_t n = (size_t)r->n;
    if (length != n)
        return fail(err, ONET_BAD, "%s:%ld: field `%s`: %zu %s for %d %s; give the index of each item once",
                    name, r->line, field, length, length == 1 ? "index" : "indices", r->n,
                    n == 1 ? "item" : "items");
    if (!array_reserve(&r->order_store, &r->order_room, 2 * n, sizeof *r->order_store))
        return fail_memory(err, "an order");
    int32_t *order = r->order_store, *seen = order + n; /* [n] */
    memset(seen, 0, n * sizeof *seen);
    for (size_t t = 0; t < n; t++) {
        if (order[t] < first || order[t] - first >= r->n)
            return fail(err, ONET_BAD,
                        "%s:%ld: field `%s`[%zu]: %d is not the index of an item; they go from %d to %d",
                        name, r->line, field, t, order[t], first, first + r->n - 1);
        int32_t item = order[t] - first;
        if (seen[item]++)
            return fail(
                err, ONET_BAD,
                "%s:%ld: field `%s`[%zu]: item %d stands there twice; give the index of each item once", name,
                r->line, field, t, order[t]);
        order[t] = item;
    }
    r->order = order;
    return ONET_OK;
}

onet_status record_check_text(const char *text, size_t length, const char *name, long line, onet_error *err) {
    size_t valid = utf8_valid(text, length);
    if (valid == length) return ONET_OK;
    return fail(err, ONET_BAD,
                "%s:%ld: byte %zu of the line (0x%02x) is not UTF-8; convert the file to UTF-8", name, line,
                valid + 1, (unsigned char)text[valid]);
}
