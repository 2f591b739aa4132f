/* Edits a text file without touching the rest: it is read as UTF-8, pieces are replaced or moved, and all
 * other bytes are written back as they were, in the file's own encoding. */
#ifndef LAYOUT_TEXT_H
#define LAYOUT_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "ordernet.h"

typedef struct text_span {
    size_t start, end;
} text_span;

typedef struct text_change {
    text_span at;
    char *text; /* the new text; NULL: the piece `from` comes here */
    text_span from;
} text_change;

typedef struct page_text {
    char *utf8; /* ends in NUL; without byte-order mark */
    size_t size;
    char encoding[40]; /* of the file; "" for UTF-8 */
    char mark[4];      /* the byte-order mark */
    size_t mark_size;
    text_change *changes;
    size_t count, room;
} page_text;

enum { PAGE_FILE_LIMIT = 256 << 20 };

/* Reads a file whole ("-": standard input; gzip and xz as such). ONET_BAD for one of over PAGE_FILE_LIMIT
 * bytes, and for bytes that its encoding does not have. */
onet_status page_text_read(page_text *t, const char *path, onet_error *err);
/* The same for bytes in memory. */
onet_status page_text_from(page_text *t, const char *name, const void *bytes, size_t size, onet_error *err);
onet_status page_text_replace(page_text *t, text_span at, const char *text, onet_error *err);
/* The same for a number, if another one is there. */
onet_status page_text_number(page_text *t, text_span at, int number, onet_error *err);
/* Writes the piece `from`, with its changes, in place of `at`. */
onet_status page_text_move(page_text *t, text_span at, text_span from, onet_error *err);
/* Writes the changed text, whole or not at all. *same: whether it is the text as it was read; if that is
 * `there`, at the path, nothing is written. */
onet_status page_text_write(page_text *t, const char *path, bool there, bool *same, onet_error *err);
/* The changed text as UTF-8, allocated, with its size. */
onet_status page_text_changed(page_text *t, char **changed, size_t *size, onet_error *err);
/* The line, from 1, of a place. */
long page_text_line(const page_text *t, size_t at);
void page_text_free(page_text *t);

#endif
