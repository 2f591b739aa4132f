/* Files: input that may be compressed or a pipe, and output that is there whole or not at all. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "ordernet.h"

/* ---- Input (input.c) --------------------------------------------------------------------------------- */

/* The longest line that input_line gives, in bytes, unless input_line_limit says otherwise. */
#define MAX_LINE ((size_t)1 << 30)

typedef struct input input;

/* "-" is standard input. gzip and xz are recognised by their first bytes, whatever the name. */
onet_status input_open(input **in, const char *path, onet_error *err);
/* *got == 0 only at the end. Does not wait to fill the buffer when a pipe has some bytes. */
onet_status input_read(input *in, void *buffer, size_t size, size_t *got, onet_error *err);
/* The next line without its newline (and carriage return), NUL-terminated, the input's own until the next
 * call; *line == NULL at the end. number counts from 1. length and number may be NULL. */
onet_status input_line(input *in, char **line, size_t *length, long *number, onet_error *err);
void input_line_limit(input *in, size_t bytes);
/* The first bytes of what comes next, without taking them: at least `want`, fewer where the input or its
 * first line ends before. Valid until the next call. */
onet_status input_peek(input *in, size_t want, const char **data, size_t *got, onet_error *err);
/* From here on the rest of the input is used by place: input_at gives `size` bytes from `offset`, which must
 * lie within the *size that input_whole tells. A plain file stays on disk; a pipe or a compressed file is
 * read into memory, ONET_BAD when that is more than limit bytes. */
onet_status input_whole(input *in, size_t limit, size_t *size, onet_error *err);
onet_status input_at(input *in, size_t offset, void *buffer, size_t size, onet_error *err);
/* The path, or "standard input". */
const char *input_name(const input *in);
/* True when input_line would have to wait for a pipe or terminal: time to flush one's answers. */
bool input_waits(input *in);
/* SHA-256 of the decompressed bytes read so far, of the whole file once the end was seen. After input_whole
 * always of the whole file. */
void input_sha256(input *in, char hex[65]);
/* NULL is allowed. */
void input_close(input *in);

/* ---- Output (output.c) ------------------------------------------------------------------------------- */

typedef struct output output;

/* Writes beside the path, into a file without a name where the file system has those, else into PATH.tmp.PID;
 * output_commit puts it in the path's place. "-" is standard
 * output, which like a pipe or a device is written as it comes. A name in .gz is compressed, one in .xz
 * refused. */
onet_status output_open(output **out, const char *path, onet_error *err);
onet_status output_write(output *out, const void *data, size_t size, onet_error *err);
onet_status output_printf(output *out, onet_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Hands all that was written so far to the system: a reader of the pipe sees it now. */
onet_status output_flush(output *out, onet_error *err);
/* Makes the file durable and takes the path's place; frees out. On failure the old file is as it was. */
onet_status output_commit(output *out, onet_error *err);
/* Drops what was written; the old file is as it was. NULL is allowed. */
void output_abort(output *out);
/* Whether output_open would open it now: asked before work whose result is to go there. */
onet_status output_possible(const char *path, onet_error *err);
/* Whether what is written to path would take the place of the file `read`, whatever names the two go by. */
bool output_replaces(const char *path, const char *read);

#endif
