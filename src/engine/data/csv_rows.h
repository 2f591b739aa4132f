/* The rows and fields of separated text (RFC 4180): quotes, doubled quotes, line breaks within quotes,
 * lines that end in a newline with or without a carriage return. */
#ifndef DATA_CSV_ROWS_H
#define DATA_CSV_ROWS_H

#include "engine/base/file.h"

typedef struct csv_field {
    size_t at, length; /* in the row's text, quotes included */
} csv_field;

typedef struct csv_rows {
    input *in;
    char separator; /* between two fields */
    size_t limit;   /* bytes that a row may take */
    /* The row that was read last. */
    const char *text; /* without its line ending */
    size_t length;
    long line;        /* where it starts, from 1 */
    csv_field *field; /* [fields] */
    size_t fields;
    bool crlf; /* it ended in carriage return and newline */
    /* Memory. */
    char *buffer;
    size_t from, to, room, field_room;
    long lines; /* complete lines before buffer[from] */
    bool ended;
    char *plain; /* the field that csv_plain gave last */
    size_t plain_room;
} csv_rows;

/* Splits a row, text without its line ending. */
onet_status csv_split(csv_rows *rows, const char *text, size_t length, long line, onet_error *err);
/* The next row that is not blank; *end when there is none. */
onet_status csv_next(csv_rows *rows, bool *end, onet_error *err);
/* The value of a field: no quotes around it, no doubled quotes, and, where it was not quoted, no space around
 * it. Valid until the next call. */
onet_status csv_plain(csv_rows *rows, size_t field, const char **text, size_t *length, onet_error *err);
void csv_rows_free(csv_rows *rows);

#endif
