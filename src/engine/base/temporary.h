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

/* Opens a temporary file for path, with the permissions of the file that it will replace, *old (NULL: none),
 * and removes temporary files of the same path that killed processes left. All functions return false on
 * failure, with the reason in errno; temporary_drop must follow a failed temporary_open too. */
bool temporary_open(temporary *t, const char *path, const struct stat *old);
/* Syncs the file to disk and gives it its temporary name, if it does not have it yet. */
bool temporary_finish(temporary *t);
/* Renames the file to the path. To be called after temporary_finish, when the file is closed. */
bool temporary_replace(temporary *t);
/* Removes the file, unless it was renamed, and frees the names. */
void temporary_drop(temporary *t);

#endif
