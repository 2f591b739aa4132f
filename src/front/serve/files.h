/* The static files of the page. They are listed when the server starts and at each reload, and a request's
 * path is only compared with the list: no path leads out of the folder. */
#ifndef SERVE_FILES_H
#define SERVE_FILES_H

#include <sys/stat.h>

#include "ordernet.h"

typedef struct page_file {
    char *name; /* "/index.html" */
    char *path;
    const char *type; /* MIME */
} page_file;

/* Zeroed: no files. */
typedef struct page_files {
    page_file *file; /* [count] */
    size_t count, room;
} page_files;

/* Lists the files of a folder and of the folders in it; hidden ones and links are left out. */
onet_status page_files_list(page_files *f, const char *folder, onet_error *err);
void page_files_free(page_files *f);
/* The file for the path of a request; "/" is index.html. NULL: there is none. */
const page_file *page_files_find(const page_files *f, const char *path);
/* Opens it for reading; -1: it is gone. */
int page_file_open(const page_file *file, struct stat *state);

/* What is at "/" where there is no page. */
extern const char page_index[];

#endif
