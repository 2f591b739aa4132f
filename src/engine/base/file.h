/* Reads files that may be compressed or pipes (input.c), and writes files so that they appear whole or not at
 * all (output.c). */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ordernet.h"

/* Bytes per read and write. The fuzzer sets fewer, so that its inputs cross the boundaries. */
#ifndef FILE_CHUNK
#define FILE_CHUNK (1 << 17)
#endif

/* ---- Input (input.c) --------------------------------------------------------------------------------- */

/* The longest line that input_line returns, in bytes, unless input_line_limit sets another limit. */
#define MAX_LINE ((size_t)1 << 30)
/* The most that input_whole should keep in memory of a pipe or a compressed file: 64 GB, or what 32 bits
 * allow. */
#define MAX_WHOLE ((size_t)(SIZE_MAX > UINT32_MAX ? UINT64_C(1) << 36 : UINT64_C(1) << 30))

typedef struct input input;

/* Opens a file for reading; "-" is standard input. gzip and xz are recognised by their first bytes, whatever
 * the name. */
onet_status input_open(input **in, const char *path, onet_error *err);
/* Reads from a callback instead, which writes at most `size` bytes to buffer and returns how many: 0 at the
 * end, -1 on failure. name: for error messages. */
typedef ptrdiff_t input_bytes(void *context, void *buffer, size_t size);
onet_status input_from(input **in, const char *name, input_bytes *bytes, void *context, onet_error *err);
/* Reads up to `size` bytes; *got == 0 only at the end. Does not wait to fill the buffer when a pipe has some
 * bytes. */
onet_status input_read(input *in, void *buffer, size_t size, size_t *got, onet_error *err);
/* Returns the next line without its newline (and carriage return), NUL-terminated, valid until the next call;
 * *line == NULL at the end. number counts from 1. length and number may be NULL. */
onet_status input_line(input *in, char **line, size_t *length, long *number, onet_error *err);
/* Sets the longest line that input_line returns. */
void input_line_limit(input *in, size_t bytes);
/* Returns the next bytes without consuming them: at least `want`, or fewer if the input or its first line
 * ends before. Valid until the next call. */
onet_status input_peek(input *in, size_t want, const char **data, size_t *got, onet_error *err);
/* Switches to random access: afterwards input_at reads `size` bytes from `offset`, which must lie within the
 * *size that input_whole returns. A plain file stays on disk; a pipe or a compressed file is read into
 * memory, ONET_BAD if that takes more than limit bytes. */
onet_status input_whole(input *in, size_t limit, size_t *size, onet_error *err);
/* Reads the first `want` bytes into memory, for input_at. *got: how many there are, fewer than `want` only if
 * the input ends before. */
onet_status input_first(input *in, size_t want, size_t *got, onet_error *err);
/* Whether the bytes come from a pipe or have to be decompressed, so that the size is not known beforehand. To
 * be called after a read or peek. */
bool input_is_stream(const input *in);
onet_status input_at(input *in, size_t offset, void *buffer, size_t size, onet_error *err);
/* Returns the path, or "standard input". */
const char *input_name(const input *in);
/* Whether input_line would have to wait for a pipe or terminal: the caller should flush its output first. */
bool input_waits(input *in);
/* Writes the SHA-256 of the decompressed bytes read so far; after input_whole, of the whole file. */
void input_sha256(input *in, char hex[65]);
/* Closes the input and frees it; in may be NULL. */
void input_close(input *in);

/* ---- Output (output.c) ------------------------------------------------------------------------------- */

typedef struct output output;

/* Writes to an unnamed file in the folder of the path, or to PATH.tmp.PID where the file system has no
 * unnamed files; output_commit renames it to the path. Temporary files that killed processes left beside the
 * path are removed. "-" is standard output, which like a pipe or a device is written directly. A link is
 * followed; a dangling one is refused. If the name ends in .gz, the file is compressed; .xz is refused. */
onet_status output_open(output **out, const char *path, onet_error *err);
/* The first error stays: later writes do nothing, and output_status, output_flush and output_commit return
 * it.
 */
void output_write(output *out, const void *data, size_t size);
void output_put(output *out, const char *text);
void output_printf(output *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Writes a value as a field of CSV, in quotes where it needs them. */
void output_csv_field(output *out, char separator, const char *text, size_t length);
onet_status output_status(const output *out, onet_error *err);
/* Passes everything written so far to the system: the reader of a pipe sees it now. */
onet_status output_flush(output *out, onet_error *err);
/* Syncs the file to disk and renames it to the path; frees out. On failure the old file is unchanged. */
onet_status output_commit(output *out, onet_error *err);
/* Drops what was written; the old file is unchanged. NULL is allowed. */
void output_abort(output *out);
/* Returns the status that output_open would return now. To be called before long work whose result is written
 * to the path. */
onet_status output_possible(const char *path, onet_error *err);
/* Whether writing to path would replace the file `read`, even under another name (a link). */
bool output_replaces(const char *path, const char *read);

#endif
