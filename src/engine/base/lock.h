/* Lets one process at a time write the files of a training run, by a lock file beside them. The system
 * releases the lock when the process ends, however it ends. */
#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include "ordernet.h"

typedef struct lock {
    int fd; /* -1: not held */
    char *path;
} lock;

/* Takes the lock, and writes into the file who has it. ONET_FAILED if another process, or another call in
 * this one, holds it; the error message says which. `what`: what both want to write. */
onet_status lock_acquire(lock *l, const char *path, const char *what, onet_error *err);
/* Removes the file. A lock that is all zero with fd -1, or that was not taken, is left alone. */
void lock_release(lock *l);

#endif
