/* Reads a text file as UTF-8 from the encoding that its byte order mark or XML declaration names (else
 * UTF-8), collects replacements and moves of pieces, and writes it back in its encoding. */
#include "tasks/layout/xml.h"

#include <errno.h>
#include <iconv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"

/* Returns the line, from 1, of a byte. */
static long line_of(const char *bytes, size_t at) {
    long line = 1;
    for (size_t i = 0; i < at; i++) line += bytes[i] == '\n';
    return line;
}

/* Converts bytes from one encoding to another; ONET_BAD, with the place, if that cannot be done. */
static onet_status convert(char **out, size_t *out_size, const char *to, const char *from, const char *bytes,
                           size_t size, const char *name, onet_error *err) {
    iconv_t how = iconv_open(to, from);
    if (how == (iconv_t)-1 && errno == ENOMEM) return fail_memory(err, "the text of a file");
    if (how == (iconv_t)-1)
        return fail(err, ONET_BAD, "%s: the encoding %s is not known; save the file as UTF-8", name, from);
    size_t room = 4 * size + 16, left = room, rest = size;
    char *text = malloc(room + 1), *at = text, *read = (char *)bytes;
    onet_status status = text ? ONET_OK : fail_memory(err, "the text of a file");
    if (!status && iconv(how, &read, &rest, &at, &left) == (size_t)-1)
        status =
            fail(err, ONET_BAD,
                 "%s:%ld: byte %zu cannot be read as %s; is the encoding another one, or the file damaged?",
                 name, line_of(bytes, size - rest), size - rest, from);
    /* Encodings that shift between sets of characters end in the first one. */
    if (!status) iconv(how, NULL, NULL, &at, &left);
    iconv_close(how);
    if (status) {
        free(text);
        return status;
    }
    *out_size = room - left;
    text[*out_size] = '\0';
    *out = text;
    return ONET_OK;
}

/* Finds the encoding that an XML declaration names: <?xml version="1.0" encoding="ISO-8859-1"?>. */
static void declared(page_text *t, const char *bytes, size_t size) {
    char head[200];
    size_t length = size < sizeof head - 1 ? size : sizeof head - 1;
    memcpy(head, bytes, length);
    head[length] = '\0';
    char *end = !strncmp(head, "<?xml", 5) ? strstr(head, "?>") : NULL;
    if (!end) return;
    *end = '\0';
    char *at = strstr(head, "encoding");
    if (!at || !(at = strpbrk(at, "\"'"))) return;
    size_t name = strcspn(at + 1, "\"'");
    if (name >= sizeof t->encoding) return;
    snprintf(t->encoding, sizeof t->encoding, "%.*s", (int)name, at + 1);
    /* A declaration that stands here in single bytes is not in UTF-16, whatever it says: programs that save
     * such a file as UTF-8 often leave it as it was. */
    static const char *const utf8[] = {"utf-8", "utf8", "utf-16", "utf-16le", "utf-16be", "utf16", "ucs-2"};
    for (size_t i = 0; i < sizeof utf8 / sizeof *utf8; i++)
        if (!strcasecmp(t->encoding, utf8[i])) t->encoding[0] = '\0';
}

/* Checks that the text in the file's encoding has the bytes of the file. Encodings that have several forms of
 * a character, such as UTF-7, could change what is not to be changed. */
static onet_status check_encoding(const page_text *t, const char *bytes, size_t size, const char *name,
                                  onet_error *err) {
    char *again = NULL;
    size_t again_size = 0;
    onet_status status = convert(&again, &again_size, t->encoding, "UTF-8", t->utf8, t->size, name, err);
    if (!status && (again_size != size || memcmp(again, bytes, size)))
        status = fail(err, ONET_BAD, "%s: the encoding %s cannot be written as it is; save the file as UTF-8",
                      name, t->encoding);
    free(again);
    return status;
}

onet_status page_text_from(page_text *t, const char *name, const void *bytes, size_t size, onet_error *err) {
    static const struct {
        const char *mark;
        size_t size;
        const char *encoding;
    } marks[] = {{"\xEF\xBB\xBF", 3, ""}, {"\xFF\xFE", 2, "UTF-16LE"}, {"\xFE\xFF", 2, "UTF-16BE"}};
    const char *at = bytes;
    *t = (page_text){0};
    for (size_t i = 0; i < sizeof marks / sizeof *marks && !t->mark_size; i++)
        if (size >= marks[i].size && !memcmp(at, marks[i].mark, marks[i].size)) {
            t->mark_size = marks[i].size;
            memcpy(t->mark, at, t->mark_size);
            snprintf(t->encoding, sizeof t->encoding, "%s", marks[i].encoding);
        }
    at += t->mark_size;
    size -= t->mark_size;
    if (!t->mark_size) {
        if (size >= 4 && !memcmp(at, "<\0?\0", 4))
            strcpy(t->encoding, "UTF-16LE");
        else if (size >= 4 && !memcmp(at, "\0<\0?", 4))
            strcpy(t->encoding, "UTF-16BE");
        else
            declared(t, at, size);
    }
    onet_status status =
        convert(&t->utf8, &t->size, "UTF-8", t->encoding[0] ? t->encoding : "UTF-8", at, size, name, err);
    if (!status && memchr(t->utf8, '\0', t->size))
        status = fail(err, ONET_BAD, "%s: has a zero byte; not a file of text", name);
    if (!status && t->encoding[0]) status = check_encoding(t, at, size, name, err);
    if (status) page_text_free(t);
    return status;
}

onet_status page_text_read(page_text *t, const char *path, onet_error *err) {
    input *in = NULL;
    size_t size = 0;
    *t = (page_text){0};
    onet_status status = input_open(&in, path, err);
    if (status) return status;
    status = input_whole(in, PAGE_FILE_LIMIT, &size, err);
    if (!status && size > PAGE_FILE_LIMIT)
        status = fail(err, ONET_BAD, "%s: has over %d MiB, too much for a page", input_name(in),
                      PAGE_FILE_LIMIT >> 20);
    char *bytes = status ? NULL : malloc(size + 1);
    if (!status && !bytes) status = fail_memory(err, "a file");
    if (!status && size) status = input_at(in, 0, bytes, size, err);
    if (!status) status = page_text_from(t, input_name(in), bytes, size, err);
    free(bytes);
    input_close(in);
    return status;
}

static onet_status add(page_text *t, text_change change, onet_error *err) {
    if (!array_reserve(&t->changes, &t->room, t->count + 1, sizeof *t->changes))
        return fail_memory(err, "the changes of a file");
    t->changes[t->count++] = change;
    return ONET_OK;
}

onet_status page_text_replace(page_text *t, text_span at, const char *text, onet_error *err) {
    char *copy = strdup(text);
    onet_status status =
        copy ? add(t, (text_change){.at = at, .text = copy}, err) : fail_memory(err, "a change");
    if (status) free(copy);
    return status;
}

onet_status page_text_number(page_text *t, text_span at, int number, onet_error *err) {
    char text[16];
    size_t length = (size_t)snprintf(text, sizeof text, "%d", number);
    if (length == at.end - at.start && !memcmp(text, t->utf8 + at.start, length)) return ONET_OK;
    return page_text_replace(t, at, text, err);
}

onet_status page_text_move(page_text *t, text_span at, text_span from, onet_error *err) {
    if (at.start == from.start) return ONET_OK;
    return add(t, (text_change){.at = at, .from = from}, err);
}

/* Sorts changes by place; of two that begin at one place the longer one first, since it contains the
 * other. */
static int by_place(const void *a, const void *b) {
    const text_change *x = a, *y = b;
    if (x->at.start != y->at.start) return x->at.start < y->at.start ? -1 : 1;
    return (x->at.end < y->at.end) - (x->at.end > y->at.end);
}

typedef struct buffer {
    char *text;
    size_t size, room;
} buffer;

static bool put(buffer *b, const char *text, size_t size) {
    if (!array_reserve(&b->text, &b->room, b->size + size + 1, 1)) return false;
    memcpy(b->text + b->size, text, size);
    b->size += size;
    b->text[b->size] = '\0';
    return true;
}

/* Writes a piece with the changes inside it. `whole`: a change of the piece as a whole counts too. */
static bool render(const page_text *t, buffer *b, text_span piece, bool whole) {
    size_t low = 0, high = t->count, at = piece.start;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (t->changes[middle].at.start < piece.start)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = low; i < t->count && t->changes[i].at.start <= piece.end; i++) {
        const text_change *c = &t->changes[i];
        if (c->at.end > piece.end || c->at.start < at) continue;
        if (!whole && c->at.start == piece.start && c->at.end == piece.end) continue;
        if (!put(b, t->utf8 + at, c->at.start - at)) return false;
        if (c->text ? !put(b, c->text, strlen(c->text)) : !render(t, b, c->from, false)) return false;
        at = c->at.end;
    }
    return put(b, t->utf8 + at, piece.end - at);
}

onet_status page_text_changed(page_text *t, char **changed, size_t *size, onet_error *err) {
    buffer b = {0};
    if (t->count) qsort(t->changes, t->count, sizeof *t->changes, by_place);
    if (!render(t, &b, (text_span){0, t->size}, true)) {
        free(b.text);
        return fail_memory(err, "a file");
    }
    *changed = b.text;
    *size = b.size;
    return ONET_OK;
}

onet_status page_text_write(page_text *t, const char *path, bool there, bool *same, onet_error *err) {
    char *text = NULL;
    size_t size = 0;
    output *out = NULL;
    onet_status status = page_text_changed(t, &text, &size, err);
    *same = !status && size == t->size && !memcmp(text, t->utf8, size);
    if (*same && there) {
        free(text);
        return ONET_OK;
    }
    if (!status && t->encoding[0]) {
        char *encoded = NULL;
        status = convert(&encoded, &size, t->encoding, "UTF-8", text, size, path, err);
        free(text);
        text = encoded;
    }
    if (!status) status = output_open(&out, path, err);
    if (!status) {
        output_write(out, t->mark, t->mark_size);
        output_write(out, text, size);
        status = output_commit(out, err);
    }
    free(text);
    return status;
}

long page_text_line(const page_text *t, size_t at) {
    return line_of(t->utf8, at < t->size ? at : t->size);
}

void page_text_free(page_text *t) {
    for (size_t i = 0; i < t->count; i++) free(t->changes[i].text);
    free(t->changes);
    free(t->utf8);
    *t = (page_text){0};
}
