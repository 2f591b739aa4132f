/* The files that the operands of the commands for pages name. */
#ifndef CLI_PAGE_PATHS_H
#define CLI_PAGE_PATHS_H

#include <stdbool.h>
#include <stddef.h>

#include "ordernet.h"

/* Files as they are, and in folders, and the folders in them, those whose names end in .xml, .hocr, .html,
 * .json or .jsonl, by name. A file that is named twice counts once. */
typedef struct page_paths {
    const char *pass_over; /* a folder that is not searched, or NULL */
    bool keep_links;       /* a link to a file that is there too counts as well, under its own name */
    char **path;           /* [count] */
    char **rest;           /* [count]: the path below the operand; for a file its name */
    size_t count, room, rest_room;
} page_paths;
onet_status page_paths_find(page_paths *paths, int count, char **operands, onet_error *err);
void page_paths_free(page_paths *paths);

#endif
