/* Splits CSV text into rows and fields, and removes the quotes of a field. */
#include "engine/data/csv.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/utf8.h"

enum { CHUNK = FILE_CHUNK };

static size_t count(const char *text, size_t length, char c) {
    size_t found = 0;
    for (const char *end = text + length; (text = memchr(text, c, (size_t)(end - text))); text++) found++;
    return found;
}

/* Appends more of the input to the buffer. */
static onet_status fill(csv_rows *rows, onet_error *err) {
    if (rows->from) {
        memmove(rows->buffer, rows->buffer + rows->from, rows->to - rows->from);
        rows->to -= rows->from;
        rows->from = 0;
    }
    if (!array_reserve(&rows->buffer, &rows->room, rows->to + CHUNK, 1)) return fail_memory(err, "a row");
    size_t got;
    onet_status status = input_read(rows->in, rows->buffer + rows->to, rows->room - rows->to, &got, err);
    rows->to += got;
    rows->ended = !got;
    return status;
}

/* Finds the end of the row that starts at buffer[from]: a newline outside quotes, or the end of the input,
 * ends it. Since a quote within quotes is doubled, an odd number of quotes tells that a newline stands
 * inside. */
static onet_status take_row(csv_rows *rows, size_t *end, bool *newline, onet_error *err) {
    size_t at = 0, quotes = 0; /* from rows->from on; quotes before that */
    for (;;) {
        char *start = rows->buffer ? rows->buffer + rows->from : NULL;
        size_t have = rows->to - rows->from;
        char *found = at < have ? memchr(start + at, '\n', have - at) : NULL;
        size_t stop = found ? (size_t)(found - start) : have;
        if (stop > at) quotes += count(start + at, stop - at, '"');
        at = stop;
        if (found && quotes % 2 == 0) {
            *end = at;
            *newline = true;
            return ONET_OK;
        }
        if (found) {
            at++;
        } else if (rows->ended) {
            if (quotes % 2)
                return fail(err, ONET_BAD, "%s:%ld: the row has a quote without a second one that closes it",
                            input_name(rows->in), rows->lines + 1);
            *end = at;
            *newline = false;
            return ONET_OK;
        } else if (have > rows->limit) {
            return fail(err, ONET_BAD, "%s:%ld: the row is longer than %zu bytes; look for an unclosed quote",
                        input_name(rows->in), rows->lines + 1, rows->limit);
        } else {
            onet_status status = fill(rows, err);
            if (status) return status;
        }
    }
}

/* Returns the line of the file that has p, a place in the row. */
static long line_of(const csv_rows *rows, const char *p) {
    return rows->line + (long)count(rows->text, (size_t)(p - rows->text), '\n');
}

onet_status csv_split(csv_rows *rows, const char *text, size_t length, long line, onet_error *err) {
    const char *p = text, *end = p + length;
    rows->text = text;
    rows->length = length;
    rows->line = line;
    rows->fields = 0;
    for (;;) {
        const char *start = p;
        if (p < end && *p == '"') {
            for (p++; p < end && (*p != '"' || (p + 1 < end && p[1] == '"')); p++)
                if (*p == '"') p++;
            if (p < end) p++;
        } else {
            while (p < end && *p != rows->separator && *p != '"') p++;
        }
        if (p < end && *p != rows->separator)
            return fail(
                err, ONET_BAD,
                "%s:%ld: field %zu: a quote in the middle; put quotes around the field and double those "
                "inside",
                input_name(rows->in), line_of(rows, p), rows->fields + 1);
        if (!array_reserve(&rows->field, &rows->field_room, rows->fields + 1, sizeof *rows->field))
            return fail_memory(err, "a row");
        rows->field[rows->fields++] = (csv_field){(size_t)(start - rows->text), (size_t)(p - start)};
        if (p == end) return ONET_OK;
        p++;
    }
}

onet_status csv_next(csv_rows *rows, bool *ended, onet_error *err) {
    size_t length = 0;
    bool newline = false;
    *ended = false;
    do {
        onet_status status = take_row(rows, &length, &newline, err);
        if (status) return status;
        if (!length && !newline) {
            *ended = true;
            return ONET_OK;
        }
        rows->text = rows->buffer + rows->from;
        rows->from += length + newline;
        rows->line = rows->lines + 1;
        rows->lines += (long)count(rows->text, length, '\n') + newline;
        bool cr = length && rows->text[length - 1] == '\r';
        rows->crlf = cr && newline;
        rows->length = length - cr;
        if (rows->line == 1 && rows->length >= 3 && !memcmp(rows->text, "\xEF\xBB\xBF", 3)) {
            rows->text += 3; /* a byte-order mark */
            rows->length -= 3;
        }
    } while (!rows->length);
    size_t valid = utf8_valid(rows->text, rows->length);
    if (valid < rows->length)
        return fail(err, ONET_BAD, "%s:%ld: a byte (0x%02x) that is not UTF-8; convert the file to UTF-8",
                    input_name(rows->in), line_of(rows, rows->text + valid),
                    (unsigned char)rows->text[valid]);
    return csv_split(rows, rows->text, rows->length, rows->line, err);
}

onet_status csv_plain(csv_rows *rows, size_t field, const char **text, size_t *length, onet_error *err) {
    const char *p = rows->text + rows->field[field].at;
    size_t left = rows->field[field].length;
    if (!left || *p != '"') {
        while (left && (*p == ' ' || *p == '\t')) p++, left--;
        while (left && (p[left - 1] == ' ' || p[left - 1] == '\t')) left--;
        *text = p;
        *length = left;
        return ONET_OK;
    }
    p++;
    left -= 2;
    if (!array_reserve(&rows->plain, &rows->plain_room, left + 1, 1)) return fail_memory(err, "a row");
    *length = 0;
    for (; left; p++, left--) {
        rows->plain[(*length)++] = *p;
        if (*p == '"') p++, left--;
    }
    *text = rows->plain;
    return ONET_OK;
}

void csv_rows_free(csv_rows *rows) {
    free(rows->buffer);
    free(rows->field);
    free(rows->plain);
    *rows = (csv_rows){0};
}
