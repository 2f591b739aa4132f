/* The regions of a file by their ids, for references to them. */
#ifndef PAGES_NAMES_H
#define PAGES_NAMES_H

#include "pages/format.h"

typedef struct page_names {
    page_region **all; /* [count]: by id, those of one id as they stand in the file */
    size_t count;
} page_names;

/* ONET_MEMORY only. */
onet_status page_names_make(page_names *n, page_file *f, onet_error *err);
/* The first region of that id; NULL: none. */
page_region *page_names_find(const page_names *n, const char *id);
/* Adds a note for each id that is there more than once. */
void page_names_note_repeated(const page_names *n, page_file *f);
void page_names_free(page_names *n);

#endif
