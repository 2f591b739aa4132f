/* Creates, locks (flock) and removes lock files. A killed process may leave its file behind, but never its
 * lock. src/front/wasm has the version for the browser. */
#include "engine/base/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "engine/base/error.h"

enum { HOLDER = 300 };

/* "process 4711 on host, since 2026-05-04 12:30:15 UTC" */
static void write_holder(int fd) {
    char host[128] = "an unknown machine", when[32] = "", text[HOLDER];
    time_t now = time(NULL);
    struct tm utc;
    gethostname(host, sizeof host - 1);
    if (gmtime_r(&now, &utc)) strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &utc);
    int length = snprintf(text, sizeof text, "process %ld on %s, since %s UTC\n", (long)getpid(), host, when);
    /* What the file says is for people: the lock holds without it, on a full disk too. */
    if (ftruncate(fd, 0) || pwrite(fd, text, (size_t)length, 0) < 0) return;
}

static onet_status held(int fd, const char *what, onet_error *err) {
    char text[HOLDER] = "";
    ssize_t got = pread(fd, text, sizeof text - 1, 0);
    text[got > 0 ? got : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return fail(err, ONET_FAILED, "%s is being written by another training: %s; wait for it, or name another",
                what, text[0] ? text : "an unknown process");
}

/* Whether the file that was locked is still the one at the path: the last holder may have removed it. */
static bool is_current(int fd, const char *path) {
    struct stat own, there;
    return !fstat(fd, &own) && !stat(path, &there) && own.st_ino == there.st_ino &&
           own.st_dev == there.st_dev;
}

onet_status lock_acquire(lock *l, const char *path, const char *what, onet_error *err) {
    *l = (lock){.fd = -1};
    if (!(l->path = strdup(path))) return fail_memory(err, "the name of the lock");
    for (;;) {
        int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (fd < 0)
            return fail(err, ONET_IO, "cannot write %s: %s; make room or name another place", path,
                        strerror(errno));
        if (flock(fd, LOCK_EX | LOCK_NB)) {
            /* A file system without locks cannot keep two trainings apart. */
            onet_status status = errno == EWOULDBLOCK ? held(fd, what, err) : ONET_OK;
            if (!status) unlink(path); /* lock_release will not */
            close(fd);
            return status;
        }
        if (is_current(fd, path)) {
            l->fd = fd;
            write_holder(fd);
            return ONET_OK;
        }
        close(fd);
    }
}

void lock_release(lock *l) {
    if (l->fd >= 0) {
        unlink(l->path);
        close(l->fd);
    }
    free(l->path);
    *l = (lock){.fd = -1};
}
