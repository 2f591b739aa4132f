/* Replaces the file locks of engine/base/lock.c in the WebAssembly module: always succeeds, since no other
 * process can open its files. */
#include "engine/base/lock.h"

onet_status lock_acquire(lock *l, const char *path, const char *what, onet_error *err) {
    (void)path, (void)what, (void)err;
    *l = (lock){.fd = -1};
    return ONET_OK;
}

void lock_release(lock *l) {
    *l = (lock){.fd = -1};
}
