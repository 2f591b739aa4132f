/* Reads a page file in whichever format it has and writes it back; names the document of each page, and
 * collects warnings. Also the changes that several formats make: moving regions and lines to the predicted
 * order. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/shown.h"
#include "tasks/layout/format.h"
#include "tasks/layout/guard.h"

static const page_format *const xml_formats[] = {&page_xml_format, &alto_format, &hocr_format};

page *page_file_add(page_file *f) {
    if (!array_reserve(&f->pages, &f->room, f->count + 1, sizeof *f->pages)) return NULL;
    f->pages[f->count] = (page){0};
    return &f->pages[f->count++];
}

void page_file_note(page_file *f, long line, const char *format, ...) {
    char sentence[512], path[SHOWN], text[SHOWN], *more;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    shown(path, f->path);
    shown(text, sentence);
    size_t need = f->notes_size + strlen(path) + strlen(text) + 32;
    /* A broken file may have thousands; the first few say enough. */
    if (f->notes_size > 2000 || !(more = realloc(f->notes, need))) return;
    f->notes = more;
    f->notes_size +=
        (size_t)snprintf(more + f->notes_size, need - f->notes_size, "%s:%ld: %s\n", path, line, text);
}

/* Returns the document of a page, its folder and its name without its number, which all its pages share:
 * "scans/nfp_19110701_010" is of "scans/nfp_19110701". Of a name that is all number, the folder with its
 * slash. Without the folder, all books of OCR-D, whose scans are called OCR-D-IMG_0001, would be one. */
static char *document_of(const char *path, const char *image) {
    const char *name = image && *image ? image : path, *slash = strrchr(name, '/');
    const char *base = slash ? slash + 1 : name, *dot = strrchr(base, '.');
    size_t length = dot && dot > base ? (size_t)(dot - base) : strlen(base), keep = length;
    while (keep && base[keep - 1] >= '0' && base[keep - 1] <= '9') keep--;
    while (keep && strchr("_-. p", base[keep - 1])) keep--;
    const char *end = strrchr(path, '/');
    size_t folder = end ? (size_t)(end - path) + 1 : 0;
    if (!keep && !folder) keep = length;
    char *document = malloc(folder + keep + 1);
    if (document) snprintf(document, folder + keep + 1, "%.*s%.*s", (int)folder, path, (int)keep, base);
    return document;
}

/* Returns the folder of a file. */
static char *source_of(const char *path) {
    const char *end = strrchr(path, '/');
    if (!end) return strdup(".");
    return end > path ? strndup(path, (size_t)(end - path)) : strdup("/");
}

static onet_status complete(page_file *f, const char *types, onet_error *err) {
    for (size_t i = 0; i < f->count; i++) {
        page *p = &f->pages[i];
        if (!p->id && f->count > 1 && asprintf(&p->id, "%s, page %zu", f->path, i + 1) < 0) p->id = NULL;
        if (!p->id) p->id = strdup(f->path);
        /* PAGE files keep the name of the scan when they are renamed; that in hOCR may be a temporary file.
         */
        if (!p->document) p->document = document_of(f->path, f->format == &page_xml_format ? p->image : NULL);
        if (!p->source) p->source = source_of(f->path);
        if (!p->id || !p->document || !p->source) return fail_memory(err, "the names of a page");
        for (int k = 0; k < p->count; k++) {
            page_region *r = &p->regions[k];
            for (int j = 0; j < r->line_count && !page_box_valid(&r->box); j++)
                if (page_box_valid(&r->lines[j].box)) {
                    r->box = r->lines[j].box;
                    for (int m = 0; m < r->line_count; m++)
                        if (page_box_valid(&r->lines[m].box)) {
                            page_box_add(&r->box, r->lines[m].box.x0, r->lines[m].box.y0);
                            page_box_add(&r->box, r->lines[m].box.x1, r->lines[m].box.y1);
                        }
                }
            if (page_box_valid(&r->box)) continue;
            if (r->kind != KIND_SEPARATOR)
                page_file_note(f, r->line,
                               "region '%s' has no usable outline; it is taken for a point at 0,0", r->id);
            r->box = (page_box){0};
        }
        onet_status status = page_place(p, types, err);
        if (status) return status;
    }
    return ONET_OK;
}

/* A file to be read, and the types that belong into its order. */
typedef struct parsing {
    page_file *f;
    const char *types;
} parsing;

/* Reads the pages of the file's text. */
static onet_status parse(void *context, onet_error *err) {
    page_file *f = ((parsing *)context)->f;
    const char *types = ((parsing *)context)->types;
    size_t start = strspn(f->text.utf8, " \t\r\n");
    if (start == f->text.size) return fail(err, ONET_BAD, "%s: the file is empty", f->path);
    if (f->text.utf8[start] == '<') {
        onet_status status = xml_parse(&f->xml, &f->text, f->path, err);
        if (status) return status;
        const xmlNode *root = xmlDocGetRootElement(f->xml.doc);
        for (size_t i = 0; i < sizeof xml_formats / sizeof *xml_formats; i++)
            if (xml_is(root, xml_formats[i]->root)) f->format = xml_formats[i];
        if (!f->format)
            return fail(err, ONET_BAD, "%s: <%s> is neither PAGE XML (PcGts) nor ALTO (alto) nor hOCR (html)",
                        f->path, (const char *)root->name);
    } else if (f->text.utf8[start] == '[' || f->text.utf8[start] == '{')
        f->format = &boxes_format;
    else
        return fail(err, ONET_BAD,
                    "%s: neither XML nor JSON; pages are PAGE XML, ALTO, hOCR or boxes as JSON", f->path);
    onet_status status = f->format->read(f, err);
    return status ? status : complete(f, types, err);
}

onet_status page_file_read(page_file *f, const char *path, const char *types, onet_error *err) {
    *f = (page_file){.path = strdup(path)};
    if (!f->path) return fail_memory(err, "the name of a file");
    onet_status status = page_text_read(&f->text, path, err);
    if (!status) status = guard_run(parse, &(parsing){f, types}, err);
    if (status) page_file_free(f);
    return status;
}

onet_status page_file_from(page_file *f, const char *path, const void *bytes, size_t size, const char *types,
                           onet_error *err) {
    *f = (page_file){.path = strdup(path)};
    if (!f->path) return fail_memory(err, "the name of a file");
    onet_status status = page_text_from(&f->text, path, bytes, size, err);
    if (!status) status = guard_run(parse, &(parsing){f, types}, err);
    if (status) page_file_free(f);
    return status;
}

static onet_status settle(void *file, onet_error *err) {
    page_file *f = file;
    return f->format->settle ? f->format->settle(f, err) : ONET_OK;
}

onet_status page_file_settle(page_file *f, onet_error *err) {
    return guard_run(settle, f, err);
}

static onet_status change(void *file, onet_error *err) {
    page_file *f = file;
    onet_status status = settle(f, err);
    return status ? status : f->format->change(f, err);
}

onet_status page_file_write(page_file *f, const char *path, onet_error *err) {
    onet_status status = guard_run(change, f, err);
    bool there = strcmp(path, "-") && !strcmp(path, f->path), same = false;
    if (!status) status = page_text_write(&f->text, path, there, &same, err);
    f->changed = !same;
    return status;
}

void page_file_free(page_file *f) {
    for (size_t i = 0; i < f->count; i++) page_free(&f->pages[i]);
    free(f->pages);
    xml_free(&f->xml);
    page_text_free(&f->text);
    free(f->path);
    free(f->notes);
    *f = (page_file){0};
}

onet_status page_file_permute(page_file *f, const text_span *spans, const int32_t *order, int n,
                              onet_error *err) {
    onet_status status = ONET_OK;
    for (int k = 0; k < n && !status; k++) status = page_text_move(&f->text, spans[k], spans[order[k]], err);
    return status;
}

onet_status page_file_make_ordered(page_file *f, const xmlNode *group, onet_error *err) {
    const xml_place *place = xml_place_of(&f->xml, group);
    size_t at = xml_name_end(&f->text, place) - strlen("UnorderedGroup");
    onet_status status = page_text_replace(&f->text, (text_span){at, at + 3}, "O", err);
    const char *end = f->text.utf8 + place->whole.end;
    while (!status && end > f->text.utf8 && strncmp(end, "Unordered", 9)) end--;
    at = (size_t)(end - f->text.utf8);
    if (!status && at > place->open.end)
        status = page_text_replace(&f->text, (text_span){at, at + 3}, "O", err);
    return status;
}

static int by_number(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

void page_numbers(int *numbers, int n) {
    qsort(numbers, (size_t)n, sizeof *numbers, by_number);
    bool usable = n > 0 && numbers[0] >= 0;
    for (int i = 1; i < n; i++) usable = usable && numbers[i] > numbers[i - 1];
    for (int i = 0; i < n && !usable; i++) numbers[i] = i;
}

typedef struct sibling {
    size_t parent;
    int found, index;
} sibling;

static int by_parent(const void *a, const void *b) {
    const sibling *x = a, *y = b;
    if (x->parent != y->parent) return x->parent < y->parent ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}
static int by_found(const void *a, const void *b) {
    const sibling *x = a, *y = b;
    return (x->found > y->found) - (x->found < y->found);
}

/* Finds which placed region takes whose place: from[k] that of to[k], in the same element. Both are [placed];
 * the caller frees them, also after a failure. */
static onet_status find_trades(const page *p, sibling **to, sibling **from, onet_error *err) {
    *to = array_new((size_t)p->placed + 1, sizeof **to);
    *from = array_new((size_t)p->placed + 1, sizeof **from);
    if (!*to || !*from) return fail_memory(err, "the regions of a page");
    int count = 0;
    for (int i = 0; i < p->count; i++)
        if (p->regions[i].placed) (*to)[count++] = (sibling){p->regions[i].parent, p->regions[i].found, i};
    qsort(*to, (size_t)count, sizeof **to, by_parent);
    for (int i = 0, end; i < count; i = end) {
        for (end = i; end < count && (*to)[end].parent == (*to)[i].parent; end++) (*from)[end] = (*to)[end];
        qsort(*from + i, (size_t)(end - i), sizeof **from, by_found);
    }
    return ONET_OK;
}

onet_status page_file_move_regions(page_file *f, const page *p, onet_error *err) {
    sibling *to, *from;
    onet_status status = find_trades(p, &to, &from, err);
    for (int k = 0; k < p->placed && !status; k++)
        status = page_text_move(&f->text, f->xml.places[p->regions[to[k].index].element].whole,
                                f->xml.places[p->regions[from[k].index].element].whole, err);
    free(to);
    free(from);
    return status;
}

static onet_status settle_page(page *p, onet_error *err) {
    sibling *to, *from;
    int *place = array_new((size_t)p->count + 1, sizeof *place), next = 0;
    onet_status status = find_trades(p, &to, &from, err);
    if (!status && !place) status = fail_memory(err, "the regions of a page");
    for (int i = 0; i < p->count && !status; i++) place[i] = next, next += p->regions[i].placed;
    for (int k = 0; k < p->placed && !status; k++) p->regions[from[k].index].found = place[to[k].index];
    free(to);
    free(from);
    free(place);
    return status;
}

onet_status page_file_settle_regions(page_file *f, onet_error *err) {
    onet_status status = ONET_OK;
    for (size_t i = 0; i < f->count && !status; i++) status = settle_page(&f->pages[i], err);
    return status;
}

onet_status page_file_move_lines(page_file *f, const page_region *r, onet_error *err) {
    if (r->line_count < 2) return ONET_OK;
    text_span *spans = array_new((size_t)r->line_count, sizeof *spans);
    int32_t *order = array_new((size_t)r->line_count, sizeof *order);
    onet_status status = spans && order ? ONET_OK : fail_memory(err, "the lines of a region");
    for (int j = 0; j < r->line_count && !status; j++) {
        spans[j] = f->xml.places[r->lines[j].element].whole;
        order[r->lines[j].found] = j;
    }
    if (!status) status = page_file_permute(f, spans, order, r->line_count, err);
    free(spans);
    free(order);
    return status;
}
