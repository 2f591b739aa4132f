/* Writes files under a temporary name that is renamed at the end, so that a file appears whole or not at all;
 * standard output, pipes and devices directly. Compresses names ending in .gz; quotes fields of CSV. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/number.h"
#include "engine/base/temporary.h"

enum { CHUNK = FILE_CHUNK };

struct output {
    int fd;
    char *name;          /* for error messages */
    temporary temporary; /* its path is NULL if the bytes are written directly */
    bool gzip;
    z_stream z;
    char *buffer; /* [CHUNK] */
    size_t held;
    onet_status status; /* the first error; why has its message */
    onet_error why;
};

void output_abort(output *out) {
    if (!out) return;
    if (out->gzip) deflateEnd(&out->z);
    if (out->fd > 1) close(out->fd);
    free(out->name);
    temporary_drop(&out->temporary);
    free(out->buffer);
    free(out);
}

static onet_status cannot(output *out, const char *what, onet_error *err) {
    if (errno == ENOSPC || errno == EDQUOT)
        return fail(err, ONET_IO, "cannot %s %s: %m; make room or name another place", what, out->name);
    if (errno == EFBIG)
        return fail(err, ONET_IO, "cannot %s %s: %m; raise the limit of a file's size (ulimit -f)", what,
                    out->name);
    if (errno == ENOENT || errno == ENOTDIR || errno == EACCES || errno == EPERM || errno == EROFS)
        return fail(err, ONET_IO, "cannot %s %s: %m; check the name and that you may write there", what,
                    out->name);
    return fail(err, ONET_IO, "cannot %s %s: %m", what, out->name);
}

static onet_status open_temporary(output *out, const char *path, const struct stat *old, onet_error *err) {
    bool opened = temporary_open(&out->temporary, path, old);
    out->fd = out->temporary.fd;
    if (opened) return ONET_OK;
    return errno == ENOMEM ? fail_memory(err, "writing a file") : cannot(out, "write", err);
}

onet_status output_open(output **result, const char *path, onet_error *err) {
    struct stat old;
    bool standard = !strcmp(path, "-"), there = !standard && !stat(path, &old);
    size_t length = strlen(path);
    *result = NULL;
    if (!length) return fail(err, ONET_IO, "the name of the file to write is empty");
    if (length > 3 && !strcmp(path + length - 3, ".xz"))
        return fail(err, ONET_USAGE, "cannot write %s: xz is read, not written; end the name in .gz", path);
    /* Renaming a file over the link would replace the link, not its target. */
    if (!standard && !there && !lstat(path, &old) && S_ISLNK(old.st_mode))
        return fail(
            err, ONET_IO,
            "cannot write %s: it is a link to a file that is not there; make that file, or remove the link",
            path);
    if (there && S_ISDIR(old.st_mode))
        return fail(err, ONET_IO, "cannot write %s: it is a directory; name a file in it", path);
    output *out = calloc(1, sizeof *out);
    if (!out) return fail_memory(err, "writing a file");
    out->fd = -1;
    out->name = strdup(standard ? "standard output" : path);
    out->buffer = malloc(CHUNK);
    onet_status status = ONET_OK;
    if (!out->name || !out->buffer)
        status = fail_memory(err, "writing a file");
    else if (standard)
        out->fd = 1;
    else if (there && !S_ISREG(old.st_mode)) {
        out->fd = open(path, O_WRONLY | O_CLOEXEC);
        if (out->fd < 0) status = cannot(out, "write", err);
    } else
        status = open_temporary(out, path, there ? &old : NULL, err);
    if (!status && length > 3 && !strcmp(path + length - 3, ".gz")) {
        out->gzip = deflateInit2(&out->z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK;
        if (!out->gzip) status = fail_memory(err, "writing gzip");
    }
    if (status) {
        output_abort(out);
        return status;
    }
    *result = out;
    return ONET_OK;
}

static void write_all(output *out, const char *data, size_t size) {
    while (size && !out->status) {
        ssize_t n = write(out->fd, data, size);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            out->status = cannot(out, "write", &out->why);
            break;
        }
        data += n;
        size -= (size_t)n;
    }
}

/* Compresses and writes the buffer; Z_FINISH ends the gzip member. */
static void deflate_held(output *out, int flush) {
    char packed[CHUNK / 4];
    out->z.next_in = (Bytef *)out->buffer;
    out->z.avail_in = (uInt)out->held;
    do {
        out->z.next_out = (Bytef *)packed;
        out->z.avail_out = sizeof packed;
        deflate(&out->z, flush);
        write_all(out, packed, sizeof packed - out->z.avail_out);
    } while (!out->z.avail_out && !out->status);
}

static void write_held(output *out, int flush) {
    if (out->gzip && !out->status)
        deflate_held(out, flush);
    else
        write_all(out, out->buffer, out->held);
    out->held = 0;
}

onet_status output_status(const output *out, onet_error *err) {
    if (out->status && err) *err = out->why;
    return out->status;
}

void output_write(output *out, const void *data, size_t size) {
    const char *from = data;
    while (size && !out->status) {
        size_t take = CHUNK - out->held < size ? CHUNK - out->held : size;
        memcpy(out->buffer + out->held, from, take);
        out->held += take;
        from += take;
        size -= take;
        if (out->held == CHUNK) write_held(out, Z_NO_FLUSH);
    }
}

void output_put(output *out, const char *text) {
    output_write(out, text, strlen(text));
}

void output_printf(output *out, const char *format, ...) {
    char some[512], *text = some;
    va_list args;
    va_start(args, format);
    int length = number_vprint(some, sizeof some, format, args);
    va_end(args);
    if (length >= (int)sizeof some && (text = malloc((size_t)length + 1))) {
        va_start(args, format);
        number_vprint(text, (size_t)length + 1, format, args);
        va_end(args);
    }
    if (length >= 0 && text)
        output_write(out, text, (size_t)length);
    else if (!out->status)
        out->status = fail_memory(&out->why, "writing text");
    if (text != some) free(text);
}

void output_csv_field(output *out, char separator, const char *text, size_t length) {
    bool quote =
        !length || text[0] == ' ' || text[0] == '\t' || text[length - 1] == ' ' || text[length - 1] == '\t';
    for (size_t i = 0; i < length && !quote; i++)
        quote = text[i] == separator || (text[i] && strchr("\"\r\n", text[i]));
    if (quote) output_put(out, "\"");
    for (size_t i = 0; i < length && quote; i++)
        output_write(out, text[i] == '"' ? "\"\"" : text + i, text[i] == '"' ? 2 : 1);
    if (!quote) output_write(out, text, length);
    if (quote) output_put(out, "\"");
}

onet_status output_flush(output *out, onet_error *err) {
    write_held(out, Z_SYNC_FLUSH);
    return output_status(out, err);
}

onet_status output_commit(output *out, onet_error *err) {
    write_held(out, Z_FINISH);
    onet_status status = output_status(out, err);
    if (!status && out->temporary.path && !temporary_finish(&out->temporary))
        status = cannot(out, "write", err);
    if (!status && out->fd > 1) {
        int fd = out->fd;
        out->fd = -1;
        if (close(fd)) status = cannot(out, "write", err);
    }
    if (!status && out->temporary.path && !temporary_replace(&out->temporary))
        status = cannot(out, "replace", err);
    output_abort(out);
    return status;
}

onet_status output_possible(const char *path, onet_error *err) {
    struct stat there;
    output *out;
    /* Closing a named pipe would end its reader's input. */
    if (!stat(path, &there) && S_ISFIFO(there.st_mode)) return ONET_OK;
    onet_status status = output_open(&out, path, err);
    if (!status) output_abort(out);
    return status;
}

bool output_replaces(const char *path, const char *read) {
    struct stat from, to;
    if (!strcmp(path, "-") || !strcmp(read, "-") || stat(read, &from) || stat(path, &to)) return false;
    return S_ISREG(from.st_mode) && from.st_dev == to.st_dev && from.st_ino == to.st_ino;
}
