/* Defines the formats of page files (PAGE XML, ALTO, hOCR, boxes in JSON), each as functions that read a
 * file, adapt the predicted order to what the file can represent (settle), and write it into the file
 * (change); the functions that read and write a file in any of them; and what several formats share, such as
 * moving the text of regions and lines. */
#ifndef LAYOUT_FORMAT_H
#define LAYOUT_FORMAT_H

#include "tasks/layout/order/page.h"
#include "tasks/layout/xml.h"

typedef struct page_file page_file;

typedef struct page_format {
    const char *name;
    const char *root; /* the local name of the XML root; NULL: not XML */
    /* Fills in the pages: regions with id, type, box, lines, whether they are listed, and their given places.
     */
    onet_status (*read)(page_file *f, onet_error *err);
    /* Makes the found orders such that the file can hold them: groups stay together, elements stay where they
     * belong. NULL: it can hold any. */
    onet_status (*settle)(page_file *f, onet_error *err);
    /* Adds to the text the changes that make the found order the given one. */
    onet_status (*change)(page_file *f, onet_error *err);
} page_format;

struct page_file {
    const page_format *format;
    char *path;
    page_text text;
    page_xml xml;
    page *pages;
    size_t count, room;
    char *notes; /* warnings about the file, one per line; NULL: none */
    size_t notes_size;
    bool changed; /* page_file_write wrote other bytes than were read */
};

extern const page_format page_xml_format, alto_format, hocr_format, boxes_format;

/* Reads a file of any of the formats. types: see page_place. */
onet_status page_file_read(page_file *f, const char *path, const char *types, onet_error *err);
/* As page_file_read, for bytes in memory; path is their name. */
onet_status page_file_from(page_file *f, const char *path, const void *bytes, size_t size, const char *types,
                           onet_error *err);
/* Changes the found orders to those that page_file_write would write. */
onet_status page_file_settle(page_file *f, onet_error *err);
/* Writes the file with the found order; over the file that was read only if that changes it. */
onet_status page_file_write(page_file *f, const char *path, onet_error *err);
void page_file_free(page_file *f);

/* For formats. */
page *page_file_add(page_file *f); /* NULL if memory runs out */
/* Adds "path:line: warning" to the notes. */
void page_file_note(page_file *f, long line, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Replaces the text of spans[k] by that of spans[order[k]], for all n. */
onet_status page_file_permute(page_file *f, const text_span *spans, const int32_t *order, int n,
                              onet_error *err);
/* Makes an UnorderedGroup an OrderedGroup, in both of its tags. */
onet_status page_file_make_ordered(page_file *f, const xmlNode *group, onet_error *err);
/* Turns the numbers [n] of a file into those to write for places 0 .. n-1: the same, sorted, or 0, 1, ... if
 * one is missing (below 0) or there twice. */
void page_numbers(int *numbers, int n);
/* Moves the text of each region to its found place, among the regions of the same element; what is not placed
 * stays. */
onet_status page_file_move_regions(page_file *f, const page *p, onet_error *err);
/* Changes the found orders so that page_file_move_regions can write them: no region leaves its element. */
onet_status page_file_settle_regions(page_file *f, onet_error *err);
/* Moves the text of each line of the region to its found place. */
onet_status page_file_move_lines(page_file *f, const page_region *r, onet_error *err);

#endif
