/* Lists and opens the static files of the browser page for the server. They are listed when the server starts
 * and at each reload, and a request's path is only compared with the list, so that no path can lead out of
 * the folder. */
#ifndef SERVE_FILES_H
#define SERVE_FILES_H

#include <stdbool.h>
#include <sys/stat.h>

#include "ordernet.h"

typedef struct site_file {
    char *name;       /* "/index.html" */
    const char *type; /* MIME */
    char *packed;     /* [packed_size]: gzip of the file as it was when it was listed; NULL: not worth it */
    size_t packed_size;
    struct stat packed_of;
} site_file;

/* Zeroed: no files. */
typedef struct site_files {
    char *folder;
    site_file *file; /* [count] */
    size_t count, room;
} site_files;

/* Lists the files of a folder and of the folders in it; hidden ones and links are left out. */
onet_status site_files_list(site_files *f, const char *folder, onet_error *err);
void site_files_free(site_files *f);
/* The file for the path of a request; "/" is index.html. NULL: there is none. */
const site_file *site_files_find(const site_files *f, const char *path);
/* Opens it for reading, following no link; -1: it is gone. */
int site_file_open(const site_files *f, const site_file *file, struct stat *state);
/* Whether `packed` is of the file as it is now. */
bool site_file_packed(const site_file *file, const struct stat *now);

#endif
