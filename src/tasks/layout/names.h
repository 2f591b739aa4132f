/* Looks up the regions of a file by their ids or by those of their lines, to resolve references between
 * elements (ReadingOrder in PAGE XML and ALTO, IDNEXT in ALTO). */
#ifndef LAYOUT_NAMES_H
#define LAYOUT_NAMES_H

#include "tasks/layout/format.h"

typedef struct page_name {
    const char *id;
    page_region *region;
    bool line; /* it is the id of one of the region's lines */
} page_name;

typedef struct page_names {
    page_name *all; /* [count]: by id; of one id regions first, as they stand in the file */
    size_t count;
} page_names;

/* Lists the ids of all regions and lines of a file. Fails only with ONET_MEMORY. */
onet_status page_names_make(page_names *n, page_file *f, onet_error *err);
/* Returns the first region with this id, or the region of the first line with it (*line: true); NULL: none.
 */
page_region *page_names_find(const page_names *n, const char *id, bool *line);
/* Adds a note for each id that several regions have. */
void page_names_note_repeated(const page_names *n, page_file *f);
void page_names_free(page_names *n);

#endif
