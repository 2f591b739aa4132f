/* Defines the format pointer: reads and writes the text of the Pointer Network data sets (Vinyals et al.
 * 2015): x1 y1 x2 y2 ... output 1 3 2 ... 1, one set per line. Indices count from 1; the one that closes a
 * tour may be left out, and so may `output` and all after it. */
#include <limits.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/number.h"
#include "engine/data/columns.h"
#include "engine/data/format.h"
#include "engine/data/record.h"

static const char *skip_space(const char *p, const char *end) {
    while (p < end && (*p == ' ' || *p == '\t')) p++;
    return p;
}

static const char *token_end(const char *p, const char *end) {
    while (p < end && *p != ' ' && *p != '\t') p++;
    return p;
}

/* Reports a token that is not a valid number or index. */
static onet_status bad_token(const record *r, const char *name, const char *field, size_t index,
                             const char *p, const char *after, const char *what, onet_error *err) {
    int length = after - p > 40 ? 40 : (int)(after - p);
    return fail(err, ONET_BAD, "%s:%ld: field `%s`[%zu]: \"%.*s\" %s", name, r->line, field, index, length, p,
                what);
}

static onet_status coordinates(record *r, const char **at, const char *end, const char *name, size_t *count,
                               onet_error *err) {
    const char *p = skip_space(*at, end);
    for (; p < end; p = skip_space(p, end)) {
        const char *after = token_end(p, end);
        if (after - p == 6 && !memcmp(p, "output", 6)) break;
        if (!array_reserve(&r->item_store, &r->item_room, *count + 1, sizeof *r->item_store))
            return fail_memory(err, "a set's items");
        double value;
        if (number_scan(p, after, NUMBER_LOOSE, &value) != after)
            return bad_token(r, name, "items", *count, p, after,
                             number_not_finite(p, after)
                                 ? "is not a finite number; give a number or leave the set out"
                                 : "is not a number; the format is x1 y1 x2 y2 ... output 1 2 ...",
                             err);
        float nearest;
        if (!number_to_float(value, &nearest))
            return bad_token(r, name, "items", *count, p, after,
                             "is out of range; features are 32-bit, at most 3.4e38 in size", err);
        if (number_is_rounded(p, after, value))
            return bad_token(r, name, "items", *count, p, after, "is " NUMBER_ROUNDED, err);
        r->item_store[(*count)++] = value;
        p = after;
    }
    *at = p;
    return ONET_OK;
}

static onet_status indices(record *r, const char *p, const char *end, const char *name, size_t *count,
                           onet_error *err) {
    for (; (p = skip_space(p, end)) < end;) {
        const char *after = token_end(p, end), *digit = p;
        while (digit < after && *digit >= '0' && *digit <= '9') digit++;
        double value;
        if (digit < after || number_scan(p, after, NUMBER_LOOSE, &value) != after)
            return bad_token(r, name, "output", *count, p, after, "is not the index of an item", err);
        if (!array_reserve(&r->order_store, &r->order_room, *count + 1, sizeof *r->order_store))
            return fail_memory(err, "an order");
        r->order_store[(*count)++] = value > INT_MAX ? INT_MAX : (int32_t)value;
        p = after;
    }
    return ONET_OK;
}

/* Parses the record's text as items of `width` features. */
static onet_status pointer_parse(record *r, int width, const char *name, onet_error *err) {
    const char *at = r->text, *end = r->text + r->length;
    size_t count = 0, length = 0;
    onet_status status = record_check_text(r->text, r->length, name, r->line, err);
    if (status || (status = coordinates(r, &at, end, name, &count, err))) return status;
    if (!count)
        return fail(err, ONET_BAD, "%s:%ld: an empty set; give it an item or leave the line out", name,
                    r->line);
    if (count % (size_t)width || count / (size_t)width > INT_MAX)
        return fail_field(
            err, ONET_BAD, "onet_read_options.width",
            "%s:%ld: %zu numbers before `output` do not make items of %d features; say how many an item has",
            name, r->line, count, width);
    r->n = (int)(count / (size_t)width);
    r->width = width;
    r->items = r->item_store;
    while (at > r->text && (at[-1] == ' ' || at[-1] == '\t')) at--;
    r->items_end = (size_t)(at - r->text);
    at = skip_space(at, end);
    r->closed = false;
    if (at == end) return ONET_OK;
    if ((status = indices(r, at + 6, end, name, &length, err)) || !length) return status;
    r->closed = length == (size_t)r->n + 1 && r->order_store[length - 1] == r->order_store[0];
    return record_take_order(r, length - r->closed, 1, "output", name, err);
}

/* Writes the items (unchanged if they were read from this format) and the order, which may be NULL. */
static onet_status pointer_write(output *out, const record *r, const int32_t *order, onet_error *err) {
    char text[NUMBER_TEXT];
    if (r->format == ONET_FORMAT_POINTER) {
        output_write(out, r->text, r->items_end);
    } else {
        size_t count = (size_t)r->n * (size_t)r->width;
        for (size_t i = 0; i < count; i++) {
            size_t length = record_number(r, i, text);
            text[length++] = ' ';
            output_write(out, text, length - (i + 1 == count));
        }
    }
    if (order) {
        output_put(out, " output");
        int places = r->n + (r->format == ONET_FORMAT_POINTER && r->closed);
        for (int t = 0; t < places; t++) output_printf(out, " %d", order[t % r->n] + 1);
    }
    output_put(out, "\n");
    return output_status(out, err);
}

/* ---- The format -------------------------------------------------------------------------------------- */

/* Whether the line, as far as it is there, has only numbers, and perhaps `output`. */
static bool is_pointer(const char *p, const char *end, bool whole) {
    int numbers = 0;
    for (;;) {
        while (p < end && (*p == ' ' || *p == '\t' || *p == '\r')) p++;
        const char *token = p;
        while (p < end && *p != ' ' && *p != '\t' && *p != '\r') p++;
        if (token == p || (p == end && !whole)) return numbers > 0;
        if (p - token == 6 && !memcmp(token, "output", 6)) return numbers > 0;
        double value;
        if (number_scan(token, p, NUMBER_LOOSE, &value) != p &&
            number_not_finite(token, p) != (size_t)(p - token))
            return false;
        numbers++;
    }
}

static bool recognise(const char *data, size_t size) {
    const char *line, *end;
    bool whole;
    return format_first_line(data, size, &line, &end, &whole) && is_pointer(line, end, whole);
}

static onet_status parse(record *r, const onet_read_options *options, const char *name, onet_error *err) {
    if (options->features) return columns_no_names(name, r->line, err);
    return pointer_parse(r, options->width, name, err);
}

static onet_status put(output *out, void **state, const record *r, const onet_answer *answer,
                       const onet_write_options *options, onet_error *err) {
    (void)state, (void)options;
    return pointer_write(out, r, answer ? answer->order : r->order, err);
}

/* A name that ends in .txt tells nothing: lines of words have it too. */
const data_format pointer_format = {
    .format = ONET_FORMAT_POINTER,
    .name = "pointer",
    .help = "Pointer Network text",
    .holds = HOLDS_NUMBERS | HOLDS_SIZES,
    .recognise = recognise,
    .parse = parse,
    .put = put,
};
