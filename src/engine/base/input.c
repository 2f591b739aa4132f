/* Reads files, pipes and bytes from a callback, plain or compressed (gzip, xz): in blocks, by lines, or with
 * random access. */
#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/sha256.h"

enum { CHUNK = FILE_CHUNK };

/* An xz file says how much memory its decoder needs; more than this is refused. */
#define XZ_MEMORY ((uint64_t)1 << 30)

typedef enum kind { UNKNOWN, PLAIN, GZIP, XZ } kind;

struct input {
    int fd; /* -1: the caller gives the bytes */
    input_bytes *bytes;
    void *context;
    char *name;
    kind kind;
    bool on_disk; /* a regular file, read from disk_from on */
    off_t disk_from;
    bool by_place; /* input_whole was called: input_at reads the file itself, from whole_from on */
    off_t whole_from;
    bool raw_ended; /* the file itself is at its end */
    bool ended;     /* no more bytes will come into data */

    uint8_t *raw; /* [CHUNK]: bytes of the file, raw_from .. raw_to still to be decoded */
    size_t raw_from, raw_to;
    z_stream gzip;
    bool gzip_between; /* a gzip member ended; another one may begin */
    lzma_stream xz;

    char *data; /* decoded bytes; from .. to are still to be given out, from .. scanned hold no newline */
    size_t from, scanned, to, capacity;
    long line;
    size_t line_limit;
    sha256 sum;

    onet_status status; /* the first failure, returned by all later calls */
    onet_error error;
};

onet_status input_open(input **in, const char *path, onet_error *err) {
    *in = NULL;
    bool standard = !strcmp(path, "-");
    int fd = standard ? 0 : open(path, O_RDONLY | O_CLOEXEC);
    struct stat about = {0};
    if (fd < 0)
        return fail(err, ONET_IO, "cannot open %s: %m; check the name and that you may read it", path);
    if (!fstat(fd, &about) && S_ISDIR(about.st_mode)) {
        if (!standard) close(fd);
        return fail(err, ONET_IO, "%s is a directory; name a file in it", standard ? "standard input" : path);
    }
    input *new = calloc(1, sizeof *new);
    if (new) {
        new->fd = fd;
        new->name = strdup(standard ? "standard input" : path);
        new->raw = malloc(CHUNK);
        new->disk_from = lseek(fd, 0, SEEK_CUR);
        new->on_disk = S_ISREG(about.st_mode) && new->disk_from >= 0;
        new->line_limit = MAX_LINE;
        sha256_start(&new->sum);
    }
    if (!new || !new->name || !new->raw) {
        if (new)
            input_close(new);
        else if (!standard)
            close(fd);
        return fail_memory(err, "reading a file");
    }
    *in = new;
    return ONET_OK;
}

onet_status input_from(input **in, const char *name, input_bytes *bytes, void *context, onet_error *err) {
    input *new = calloc(1, sizeof *new);
    *in = NULL;
    if (new) {
        new->fd = -1;
        new->bytes = bytes;
        new->context = context;
        new->name = strdup(name);
        new->raw = malloc(CHUNK);
        new->line_limit = MAX_LINE;
        sha256_start(&new->sum);
    }
    if (!new || !new->name || !new->raw) {
        input_close(new);
        return fail_memory(err, "reading a file");
    }
    *in = new;
    return ONET_OK;
}

void input_close(input *in) {
    if (!in) return;
    if (in->kind == GZIP) inflateEnd(&in->gzip);
    if (in->kind == XZ) lzma_end(&in->xz);
    if (in->fd > 0) close(in->fd);
    free(in->raw);
    free(in->data);
    free(in->name);
    free(in);
}

const char *input_name(const input *in) {
    return in->name;
}

/* Keeps the first failure for later calls. */
static onet_status stop(input *in, onet_status status) {
    in->status = status;
    in->ended = true;
    return status;
}

/* Reads bytes of the file itself (not decompressed), as soon as there are any. */
static onet_status raw_read(input *in, void *buffer, size_t size, size_t *got) {
    for (;;) {
        ssize_t n = in->bytes ? in->bytes(in->context, buffer, size) : read(in->fd, buffer, size);
        if (n >= 0) {
            *got = (size_t)n;
            if (!n) in->raw_ended = true;
            return ONET_OK;
        }
        if (in->bytes) return stop(in, fail(&in->error, ONET_IO, "cannot read %s", in->name));
        if (errno == EAGAIN) {
            struct pollfd wait = {.fd = in->fd, .events = POLLIN};
            poll(&wait, 1, -1);
        } else if (errno != EINTR)
            return stop(in, fail(&in->error, ONET_IO, "cannot read %s: %m", in->name));
    }
}

static onet_status raw_fill(input *in) {
    if (in->raw_from == in->raw_to) in->raw_from = in->raw_to = 0;
    size_t got;
    onet_status status = raw_read(in, in->raw + in->raw_to, CHUNK - in->raw_to, &got);
    if (!status) in->raw_to += got;
    return status;
}

/* Reads only as many bytes as the detection needs, so as not to wait for a slow pipe of plain text. */
static onet_status find_kind(input *in) {
    static const uint8_t gzip[2] = {0x1f, 0x8b}, xz[6] = {0xfd, '7', 'z', 'X', 'Z', 0};
    for (;;) {
        size_t have = in->raw_to;
        if (have >= sizeof gzip && !memcmp(in->raw, gzip, sizeof gzip)) {
            if (inflateInit2(&in->gzip, 15 + 16) != Z_OK)
                return stop(in, fail_memory(&in->error, "reading gzip"));
            in->kind = GZIP;
            return ONET_OK;
        }
        if (have >= sizeof xz && !memcmp(in->raw, xz, sizeof xz)) {
            in->xz = (lzma_stream)LZMA_STREAM_INIT;
            if (lzma_stream_decoder(&in->xz, XZ_MEMORY, LZMA_CONCATENATED) != LZMA_OK)
                return stop(in, fail_memory(&in->error, "reading xz"));
            in->kind = XZ;
            return ONET_OK;
        }
        bool more = !have || (have < sizeof gzip && !memcmp(in->raw, gzip, have)) ||
                    (have < sizeof xz && !memcmp(in->raw, xz, have));
        if (!more || in->raw_ended) {
            in->kind = PLAIN;
            return ONET_OK;
        }
        onet_status status = raw_fill(in);
        if (status) return status;
    }
}

static onet_status corrupt(input *in, const char *method, const char *what) {
    return stop(in,
                fail(&in->error, ONET_BAD, "%s: its %s data %s; get the file again", in->name, method, what));
}

/* gzip_decode and xz_decode decompress raw bytes and write at most `room` bytes to `to`. *got may be 0 before
 * the end; at the end in->ended is set. */
static onet_status gzip_decode(input *in, char *to, size_t room, size_t *got) {
    z_stream *z = &in->gzip;
    if (in->gzip_between) {
        if (in->raw_from == in->raw_to && in->raw_ended) {
            in->ended = true;
            return ONET_OK;
        }
        inflateReset(z);
        in->gzip_between = false;
    }
    z->next_in = in->raw + in->raw_from;
    z->avail_in = (uInt)(in->raw_to - in->raw_from);
    z->next_out = (Bytef *)to;
    z->avail_out = (uInt)room;
    int result = inflate(z, Z_NO_FLUSH);
    in->raw_from = in->raw_to - z->avail_in;
    *got = room - z->avail_out;
    if (result == Z_MEM_ERROR) return stop(in, fail_memory(&in->error, "reading gzip"));
    if (result == Z_STREAM_END)
        in->gzip_between = true;
    else if (result != Z_OK && result != Z_BUF_ERROR)
        return corrupt(in, "gzip", "is corrupt");
    else if (!*got && in->raw_from == in->raw_to && in->raw_ended)
        return corrupt(in, "gzip", "ends too early");
    return ONET_OK;
}

static onet_status xz_decode(input *in, char *to, size_t room, size_t *got) {
    lzma_stream *x = &in->xz;
    x->next_in = in->raw + in->raw_from;
    x->avail_in = in->raw_to - in->raw_from;
    x->next_out = (uint8_t *)to;
    x->avail_out = room;
    lzma_ret result = lzma_code(x, in->raw_ended ? LZMA_FINISH : LZMA_RUN);
    in->raw_from = in->raw_to - x->avail_in;
    *got = room - x->avail_out;
    if (result == LZMA_STREAM_END)
        in->ended = true;
    else if (result == LZMA_MEM_ERROR || result == LZMA_MEMLIMIT_ERROR)
        return stop(in, fail_memory(&in->error, "reading xz"));
    else if (result == LZMA_BUF_ERROR && in->raw_ended && !*got)
        return corrupt(in, "xz", "ends too early");
    else if (result != LZMA_OK && result != LZMA_BUF_ERROR)
        return corrupt(in, "xz", "is corrupt");
    return ONET_OK;
}

/* Writes decoded bytes to `to`. Reads from the file at most once, so *got may be 0 before the end. */
static onet_status decode(input *in, char *to, size_t room, size_t *got) {
    onet_status status;
    *got = 0;
    if (in->status || in->ended) return in->status;
    if (in->kind == UNKNOWN && (status = find_kind(in))) return status;
    if (room > CHUNK) room = CHUNK;
    if (in->kind == PLAIN && in->raw_from == in->raw_to) {
        if (!in->raw_ended && (status = raw_read(in, to, room, got))) return status;
        if (!*got) in->ended = true;
    } else if (in->kind == PLAIN) {
        *got = in->raw_to - in->raw_from < room ? in->raw_to - in->raw_from : room;
        memcpy(to, in->raw + in->raw_from, *got);
        in->raw_from += *got;
    } else {
        if (in->raw_from == in->raw_to && !in->raw_ended && (status = raw_fill(in))) return status;
        if ((status = in->kind == GZIP ? gzip_decode(in, to, room, got) : xz_decode(in, to, room, got)))
            return status;
    }
    sha256_add(&in->sum, to, *got);
    return ONET_OK;
}

/* Calls decode once and appends the result to data. */
static onet_status fill(input *in) {
    if (in->from == in->to) in->from = in->scanned = in->to = 0;
    if (in->from > 0 && in->to + CHUNK > in->capacity) {
        memmove(in->data, in->data + in->from, in->to - in->from);
        in->to -= in->from;
        in->scanned -= in->from;
        in->from = 0;
    }
    /* One byte more than is read: the place of a last line's terminating NUL. */
    if (!array_reserve(&in->data, &in->capacity, in->to + CHUNK + 1, 1))
        return stop(in, fail(&in->error, ONET_MEMORY, "not enough memory for %zu bytes of %s at once",
                             in->to - in->from, in->name));
    size_t got;
    onet_status status = decode(in, in->data + in->to, CHUNK, &got);
    if (!status) in->to += got;
    return status;
}

static onet_status give(const input *in, onet_error *err) {
    if (in->status && err) *err = in->error;
    return in->status;
}

onet_status input_read(input *in, void *buffer, size_t size, size_t *got, onet_error *err) {
    *got = 0;
    if (!size) return ONET_OK;
    if (in->from < in->to) {
        *got = in->to - in->from < size ? in->to - in->from : size;
        memcpy(buffer, in->data + in->from, *got);
        in->from += *got;
        if (in->scanned < in->from) in->scanned = in->from;
        return ONET_OK;
    }
    while (!*got && !in->ended)
        if (decode(in, buffer, size, got)) return give(in, err);
    return give(in, err);
}

/* Whether data holds the end of the next line; then in->scanned is the position of the newline. */
static bool find_newline(input *in) {
    char *end = in->scanned < in->to ? memchr(in->data + in->scanned, '\n', in->to - in->scanned) : NULL;
    in->scanned = end ? (size_t)(end - in->data) : in->to;
    return end != NULL;
}

void input_line_limit(input *in, size_t bytes) {
    in->line_limit = bytes;
}

onet_status input_line(input *in, char **line, size_t *length, long *number, onet_error *err) {
    *line = NULL;
    bool newline;
    while (!(newline = find_newline(in)) && !in->ended) {
        if (in->to - in->from > in->line_limit)
            stop(in, fail(&in->error, ONET_BAD,
                          "%s:%ld: the line is longer than %zu bytes; expected one set per line", in->name,
                          in->line + 1, in->line_limit));
        else
            fill(in);
        if (in->status) return give(in, err);
    }
    if (!newline && in->status) return give(in, err);
    if (in->from == in->to) return ONET_OK;
    char *start = in->data + in->from, *end = in->data + in->scanned;
    in->from = in->scanned += newline;
    if (end > start && end[-1] == '\r') end--;
    *end = 0;
    *line = start;
    if (length) *length = (size_t)(end - start);
    if (number) *number = in->line + 1;
    in->line++;
    return ONET_OK;
}

onet_status input_peek(input *in, size_t want, const char **data, size_t *got, onet_error *err) {
    while (in->to - in->from < want && !in->ended && !find_newline(in))
        if (fill(in)) return give(in, err);
    *data = in->data + in->from;
    *got = in->to - in->from;
    return *got ? ONET_OK : give(in, err);
}

onet_status input_whole(input *in, size_t limit, size_t *size, onet_error *err) {
    const char *unused;
    if (input_peek(in, 1, &unused, size, err)) return in->status;
    if (in->kind == PLAIN && in->on_disk) {
        size_t taken = (size_t)in->sum.length - (in->to - in->from);
        in->whole_from = in->disk_from + (off_t)taken;
        in->by_place = true;
        struct stat about;
        if (fstat(in->fd, &about)) return fail(err, ONET_IO, "cannot read %s: %m", in->name);
        *size = about.st_size > in->whole_from ? (size_t)(about.st_size - in->whole_from) : 0;
        return ONET_OK;
    }
    while (!in->ended) {
        if (in->to - in->from > limit)
            stop(in, fail(&in->error, ONET_BAD, "%s holds more than %zu bytes, the most that is read at once",
                          in->name, limit));
        else
            fill(in);
    }
    *size = in->to - in->from;
    return give(in, err);
}

onet_status input_first(input *in, size_t want, size_t *got, onet_error *err) {
    while (in->to - in->from < want && !in->ended) fill(in);
    *got = in->to - in->from;
    return *got < want ? give(in, err) : ONET_OK;
}

bool input_is_stream(const input *in) {
    return in->kind != PLAIN || !in->on_disk;
}

onet_status input_at(input *in, size_t offset, void *buffer, size_t size, onet_error *err) {
    if (!in->by_place) {
        if (size) memcpy(buffer, in->data + in->from + offset, size);
        return ONET_OK;
    }
    for (char *to = buffer; size;) {
        ssize_t n = pread(in->fd, to, size, in->whole_from + (off_t)offset);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return fail(err, ONET_IO, "cannot read %s: %m", in->name);
        if (!n) return fail(err, ONET_IO, "%s became shorter while it was read; try again", in->name);
        to += n;
        offset += (size_t)n;
        size -= (size_t)n;
    }
    return ONET_OK;
}

void input_sha256(input *in, char hex[65]) {
    char unused[1 << 14];
    size_t got = 1;
    while (in->by_place && got)
        if (input_read(in, unused, sizeof unused, &got, NULL)) break;
    sha256_hex(&in->sum, hex);
}

bool input_waits(input *in) {
    while (!find_newline(in) && !in->ended && in->to - in->from <= in->line_limit) {
        struct pollfd now = {.fd = in->fd, .events = POLLIN};
        if (in->raw_from == in->raw_to && !in->raw_ended && poll(&now, 1, 0) == 0) return true;
        fill(in);
    }
    return false;
}
