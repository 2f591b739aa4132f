/* Replaces engine/base/temporary.c in the WebAssembly module: writes temporary files under WASI (its system
 * interface), which has neither file permissions nor unnamed files. */
#include "engine/base/temporary.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool temporary_open(temporary *t, const char *path, const struct stat *old) {
    (void)old;
    *t = (temporary){.fd = -1, .path = strdup(path)};
    if (!t->path) return false;
    if (asprintf(&t->name, "%s.tmp", t->path) < 0) {
        t->name = NULL;
        return false;
    }
    t->fd = open(t->name, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    t->named = t->fd >= 0;
    return t->named;
}

bool temporary_finish(temporary *t) {
    (void)t;
    return true;
}

bool temporary_replace(temporary *t) {
    if (rename(t->name, t->path)) return false;
    t->named = false;
    return true;
}

void temporary_drop(temporary *t) {
    if (t->named) unlink(t->name);
    free(t->path);
    free(t->name);
    *t = (temporary){.fd = -1};
}
