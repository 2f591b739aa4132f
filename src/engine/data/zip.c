/* Reads and writes zip archives: finds the directory, decompresses members, writes uncompressed ones. */
#include "engine/data/zip.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "engine/base/error.h"

/* How large a directory may be: NumPy's has two entries. */
#define MAX_DIRECTORY ((size_t)1 << 24)

enum { LOCAL = 0x04034b50, ENTRY = 0x02014b50, END = 0x06054b50, END64 = 0x06064b50, LOCATOR64 = 0x07064b50 };
enum { LOCAL_SIZE = 30, ENTRY_SIZE = 46, END_SIZE = 22, END64_SIZE = 56, LOCATOR64_SIZE = 20 };
enum { STORED = 0, DEFLATED = 8, CHUNK = 1 << 16 };

/* Deflate packs 1032 bytes into one at best; a member that claims more is not believed. */
enum { BEST_DEFLATE = 1032 };

struct zip {
    input *in;
    size_t size;
    uint8_t *directory; /* [directory_size], which begins at directory_at */
    size_t directory_at, directory_size;
};

struct zip_member {
    zip *archive;
    char name[64]; /* for error messages */
    int method;
    uint32_t crc, meant_crc;
    size_t at, packed_left; /* the bytes in the file that are still to be read */
    size_t size, size_left; /* decompressed */
    z_stream inflate;
    uint8_t buffer[CHUNK];
};

static uint64_t number_at(const uint8_t *p, int bytes) {
    uint64_t value = 0;
    for (int i = bytes - 1; i >= 0; i--) value = value << 8 | p[i];
    return value;
}

static onet_status bad(const zip *z, const char *what, onet_error *err) {
    return fail(err, ONET_BAD, "%s: %s; the file is corrupt or not a zip such as numpy.savez makes",
                input_name(z->in), what);
}

/* ---- Directory --------------------------------------------------------------------------------------- */

/* Finds the end record, which only a comment may follow, and from it the directory. */
static onet_status find_directory(zip *z, onet_error *err) {
    uint8_t tail[END_SIZE + 65535], end64[END64_SIZE], locator[LOCATOR64_SIZE];
    size_t length = z->size < sizeof tail ? z->size : sizeof tail, at = z->size - length;
    if (length < END_SIZE) return bad(z, "it is too short", err);
    onet_status status = input_at(z->in, at, tail, length, err);
    if (status) return status;
    size_t i = length - END_SIZE + 1;
    do {
        if (!i--) return bad(z, "it has no directory at its end", err);
    } while (number_at(tail + i, 4) != END || number_at(tail + i + 20, 2) != length - END_SIZE - i);
    uint64_t size = number_at(tail + i + 12, 4), from = number_at(tail + i + 16, 4), limit = at + i;
    if ((size == UINT32_MAX || from == UINT32_MAX) && limit >= LOCATOR64_SIZE) {
        if ((status = input_at(z->in, limit - LOCATOR64_SIZE, locator, sizeof locator, err))) return status;
        uint64_t end64_at = number_at(locator + 8, 8);
        if (number_at(locator, 4) == LOCATOR64) {
            if (limit < LOCATOR64_SIZE + END64_SIZE || end64_at > limit - LOCATOR64_SIZE - END64_SIZE)
                return bad(z, "its 64-bit directory is out of place", err);
            if ((status = input_at(z->in, end64_at, end64, sizeof end64, err))) return status;
            if (number_at(end64, 4) != END64) return bad(z, "its 64-bit directory is out of place", err);
            size = number_at(end64 + 40, 8);
            from = number_at(end64 + 48, 8);
            limit = end64_at;
        }
    }
    if (from > limit || size > limit - from) return bad(z, "its directory is out of place", err);
    if (size > MAX_DIRECTORY) return bad(z, "its directory is over 16 MB long", err);
    z->directory_at = from;
    z->directory_size = size;
    return ONET_OK;
}

onet_status zip_open(zip **archive, input *in, onet_error *err) {
    *archive = NULL;
    zip *z = calloc(1, sizeof *z);
    if (!z) return fail_memory(err, "reading a zip");
    z->in = in;
    onet_status status = input_whole(in, MAX_WHOLE, &z->size, err);
    if (!status && !z->size) status = bad(z, "it is empty", err);
    if (!status) status = find_directory(z, err);
    if (!status && !(z->directory = malloc(z->directory_size + 1)))
        status = fail_memory(err, "reading a zip");
    if (!status) status = input_at(in, z->directory_at, z->directory, z->directory_size, err);
    if (status)
        zip_close(z);
    else
        *archive = z;
    return status;
}

void zip_close(zip *z) {
    if (!z) return;
    free(z->directory);
    free(z);
}

/* ---- Members ----------------------------------------------------------------------------------------- */

/* An entry's numbers; those that do not fit 32 bits stand in its 64-bit extra field. */
typedef struct entry {
    const uint8_t *header;
    uint64_t size, packed, local;
} entry;

static onet_status read_entry(const zip *z, entry *e, const uint8_t *header, onet_error *err) {
    const uint8_t *extra = header + ENTRY_SIZE + number_at(header + 28, 2),
                  *end = extra + number_at(header + 30, 2);
    uint64_t *number[3] = {&e->size, &e->packed, &e->local};
    *e = (entry){header, number_at(header + 24, 4), number_at(header + 20, 4), number_at(header + 42, 4)};
    while (end - extra >= 4) {
        const uint8_t *field = extra + 4, *field_end = field + number_at(extra + 2, 2);
        if (field_end > end) return bad(z, "an extra field of its directory is cut off", err);
        for (int i = 0; i < 3 && number_at(extra, 2) == 1; i++)
            if (*number[i] == UINT32_MAX) {
                if (field_end - field < 8) return bad(z, "a 64-bit field of its directory is cut off", err);
                *number[i] = number_at(field, 8);
                field += 8;
            }
        extra = field_end;
    }
    return ONET_OK;
}

static onet_status find_entry(const zip *z, const char *name, entry *e, onet_error *err) {
    const uint8_t *p = z->directory, *end = p + z->directory_size;
    e->header = NULL;
    while (end - p >= ENTRY_SIZE) {
        size_t name_length = number_at(p + 28, 2);
        size_t length = ENTRY_SIZE + name_length + number_at(p + 30, 2) + number_at(p + 32, 2);
        if (number_at(p, 4) != ENTRY || length > (size_t)(end - p))
            return bad(z, "its directory is damaged", err);
        if (name_length == strlen(name) && !memcmp(p + ENTRY_SIZE, name, name_length)) {
            if (e->header)
                return fail(err, ONET_BAD, "%s: it holds %s twice; make the file again", input_name(z->in),
                            name);
            onet_status status = read_entry(z, e, p, err);
            if (status) return status;
        }
        p += length;
    }
    if (p != end) return bad(z, "its directory is damaged", err);
    return ONET_OK;
}

static onet_status bad_member(const zip_member *m, const char *what, onet_error *err) {
    return fail(err, ONET_BAD, "%s: its member %s %s; make the file again with numpy.savez",
                input_name(m->archive->in), m->name, what);
}

/* Finds the member's bytes, and checks that they lie before the directory. */
static onet_status place(zip_member *m, const entry *e, onet_error *err) {
    const zip *z = m->archive;
    uint8_t local[LOCAL_SIZE];
    if (number_at(e->header + 8, 2) & 1) return bad_member(m, "is encrypted", err);
    if (m->method != STORED && m->method != DEFLATED)
        return bad_member(m, "is compressed by a method other than deflate", err);
    if (e->local > z->directory_at || z->directory_at - e->local < LOCAL_SIZE)
        return bad_member(m, "is out of place", err);
    onet_status status = input_at(z->in, e->local, local, sizeof local, err);
    if (status) return status;
    if (number_at(local, 4) != LOCAL) return bad_member(m, "is out of place", err);
    m->at = e->local + LOCAL_SIZE + number_at(local + 26, 2) + number_at(local + 28, 2);
    if (m->at > z->directory_at || e->packed > z->directory_at - m->at)
        return bad_member(m, "is cut off", err);
    if ((size_t)e->size != e->size ||
        (m->method == STORED ? e->size != e->packed : e->size / BEST_DEFLATE > e->packed))
        return bad_member(m, "has an impossible size", err);
    m->packed_left = e->packed;
    m->size = m->size_left = e->size;
    return ONET_OK;
}

onet_status zip_member_open(zip_member **member, zip *z, const char *name, onet_error *err) {
    entry e;
    *member = NULL;
    onet_status status = find_entry(z, name, &e, err);
    if (status || !e.header) return status;
    zip_member *m = calloc(1, sizeof *m);
    if (!m) return fail_memory(err, "reading a zip");
    m->archive = z;
    snprintf(m->name, sizeof m->name, "%s", name);
    m->method = (int)number_at(e.header + 10, 2);
    m->meant_crc = (uint32_t)number_at(e.header + 16, 4);
    status = place(m, &e, err);
    if (!status && m->method == DEFLATED && inflateInit2(&m->inflate, -15) != Z_OK) {
        m->method = STORED; /* nothing to end */
        status = fail_memory(err, "reading a zip");
    } else if (status)
        m->method = STORED;
    if (status)
        zip_member_close(m);
    else
        *member = m;
    return status;
}

void zip_member_close(zip_member *m) {
    if (!m) return;
    if (m->method == DEFLATED) inflateEnd(&m->inflate);
    free(m);
}

size_t zip_member_size(const zip_member *m) {
    return m->size;
}

static onet_status inflate_some(zip_member *m, uint8_t *to, size_t room, size_t *got, onet_error *err) {
    z_stream *s = &m->inflate;
    if (!s->avail_in && m->packed_left) {
        size_t part = m->packed_left < CHUNK ? m->packed_left : CHUNK;
        onet_status status = input_at(m->archive->in, m->at, m->buffer, part, err);
        if (status) return status;
        m->at += part;
        m->packed_left -= part;
        s->next_in = m->buffer;
        s->avail_in = (uInt)part;
    }
    s->next_out = to;
    s->avail_out = (uInt)(room < CHUNK ? room : CHUNK);
    uInt before = s->avail_out;
    int result = inflate(s, Z_NO_FLUSH);
    *got = before - s->avail_out;
    if (result == Z_MEM_ERROR) return fail_memory(err, "reading a zip");
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
        return bad_member(m, "is corrupt", err);
    if (!*got && (result == Z_STREAM_END || (!s->avail_in && !m->packed_left)))
        return bad_member(m, "ends too early", err);
    return ONET_OK;
}

onet_status zip_member_read(zip_member *m, void *buffer, size_t size, onet_error *err) {
    uint8_t *to = buffer;
    if (size > m->size_left) return bad_member(m, "ends too early", err);
    while (size) {
        size_t got = size;
        onet_status status;
        if (m->method == STORED) {
            if (got > CHUNK) got = CHUNK;
            status = input_at(m->archive->in, m->at, to, got, err);
            m->at += got;
        } else
            status = inflate_some(m, to, size, &got, err);
        if (status) return status;
        m->crc = (uint32_t)crc32(m->crc, to, (uInt)got);
        m->size_left -= got;
        to += got;
        size -= got;
    }
    if (!m->size_left && m->crc != m->meant_crc)
        return bad_member(m, "is corrupt: its checksum is wrong", err);
    return ONET_OK;
}

/* ---- Writing ----------------------------------------------------------------------------------------- */

enum { MAX_PARTS = 8, ENTRY_ROOM = ENTRY_SIZE + 64 + 28 };

/* A header of a member or of the directory, which grows number by number, little-endian. */
typedef struct header {
    uint8_t bytes[ENTRY_ROOM];
    size_t length;
} header;

static void put(header *h, int bytes, uint64_t value) {
    for (int i = 0; i < bytes; i++) h->bytes[h->length++] = (uint8_t)(value >> (8 * i));
}

/* The part that a local header and a directory entry share: version to name length. */
static void put_shared_fields(header *h, const zip_part *p, uint32_t crc, int extra) {
    uint64_t size = p->head_size + p->data_size, shown = size < UINT32_MAX ? size : UINT32_MAX;
    put(h, 2, 45); /* version needed: 64-bit sizes */
    put(h, 2, 0);
    put(h, 2, STORED);
    put(h, 2, 0);
    put(h, 2, 1 << 5 | 1); /* 1 January 1980: the same bytes at any time */
    put(h, 4, crc);
    put(h, 4, shown);
    put(h, 4, shown);
    put(h, 2, strlen(p->name));
    put(h, 2, (uint64_t)extra);
}

static void put_name(header *h, const zip_part *p) {
    for (const char *c = p->name; *c; c++) put(h, 1, (uint8_t)*c);
}

static void write_part(output *out, const zip_part *p, uint32_t crc, uint64_t *at) {
    uint64_t size = p->head_size + p->data_size;
    bool large = size >= UINT32_MAX;
    header h = {.length = 0};
    put(&h, 4, LOCAL);
    put_shared_fields(&h, p, crc, large ? 20 : 0);
    put_name(&h, p);
    if (large) {
        put(&h, 2, 1);
        put(&h, 2, 16);
        put(&h, 8, size);
        put(&h, 8, size);
    }
    *at += h.length + size;
    output_write(out, h.bytes, h.length);
    output_write(out, p->head, p->head_size);
    output_write(out, p->data, p->data_size);
}

static void write_entry(output *out, const zip_part *p, uint32_t crc, uint64_t local, uint64_t *at) {
    uint64_t size = p->head_size + p->data_size;
    bool large = size >= UINT32_MAX, far = local >= UINT32_MAX;
    int extra = (large ? 16 : 0) + (far ? 8 : 0);
    header h = {.length = 0};
    put(&h, 4, ENTRY);
    put(&h, 2, 45);
    put_shared_fields(&h, p, crc, extra ? extra + 4 : 0);
    put(&h, 2, 0); /* comment */
    put(&h, 2, 0); /* disk */
    put(&h, 2, 0);
    put(&h, 4, 0);
    put(&h, 4, far ? UINT32_MAX : local);
    put_name(&h, p);
    if (extra) {
        put(&h, 2, 1);
        put(&h, 2, (uint64_t)extra);
        if (large) put(&h, 8, size);
        if (large) put(&h, 8, size);
        if (far) put(&h, 8, local);
    }
    *at += h.length;
    output_write(out, h.bytes, h.length);
}

static void write_end(output *out, int parts, uint64_t from, uint64_t at) {
    header h = {.length = 0};
    uint64_t size = at - from;
    bool far = from >= UINT32_MAX;
    if (far) {
        put(&h, 4, END64);
        put(&h, 8, END64_SIZE - 12);
        put(&h, 2, 45);
        put(&h, 2, 45);
        put(&h, 4, 0);
        put(&h, 4, 0);
        put(&h, 8, (uint64_t)parts);
        put(&h, 8, (uint64_t)parts);
        put(&h, 8, size);
        put(&h, 8, from);
        put(&h, 4, LOCATOR64);
        put(&h, 4, 0);
        put(&h, 8, at);
        put(&h, 4, 1);
    }
    put(&h, 4, END);
    put(&h, 4, 0);
    put(&h, 2, (uint64_t)parts);
    put(&h, 2, (uint64_t)parts);
    put(&h, 4, size);
    put(&h, 4, far ? UINT32_MAX : from);
    put(&h, 2, 0);
    output_write(out, h.bytes, h.length);
}

onet_status zip_write(const char *path, const zip_part *part, int parts, onet_error *err) {
    uint64_t at = 0, local[MAX_PARTS];
    uint32_t crc[MAX_PARTS];
    output *out;
    onet_status status = output_open(&out, path, err);
    if (status) return status;
    for (int i = 0; i < parts; i++) {
        local[i] = at;
        crc[i] =
            (uint32_t)crc32_z(crc32_z(0, part[i].head, part[i].head_size), part[i].data, part[i].data_size);
        write_part(out, &part[i], crc[i], &at);
    }
    uint64_t from = at;
    for (int i = 0; i < parts; i++) write_entry(out, &part[i], crc[i], local[i], &at);
    write_end(out, parts, from, at);
    return output_commit(out, err);
}
