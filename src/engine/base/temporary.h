/* Writes to a temporary file, which replaces the file of the wanted name only when it is complete; used by
 * output.c. */
#ifndef BASE_TEMPORARY_H
#define BASE_TEMPORARY_H

#include <stdbool.h>
#include <sys/stat.h>

typedef struct temporary {
    int fd;     /* -1: not open */
    char *path; /* the file to replace, links resolved */
    char *name; /* PATH.tmp.PID */
    bool named; /* whether it has that name already */
} temporary;

/* Opens it with the permissions of the file that it will replace, *old, if there is one, and removes the
 * temporary files that killed processes left there. All functions return false on failure and leave the
 * reason in errno; temporary_drop frees what an open that failed has made. */
bool temporary_open(temporary *t, const char *path, const struct stat *old);
/* Writes it to disk and gives it its name, if it does not have one yet. */
bool temporary_finish(temporary *t);
/* Renames it, once it is finished and closed, to the path. */
bool temporary_replace(temporary *t);
/* Removes it, unless it was renamed, and frees the names. */
void temporary_drop(temporary *t);

#endif
