/* Creates, syncs and renames temporary files on Linux: without a name until the end where the file system
 * can (O_TMPFILE), else as PATH.tmp.PID, locked. Removes those that killed processes left behind.
 * src/front/wasm has the version for the browser. */
#include "engine/base/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/* Writes the folder of a path, with its last slash ("." if it has none); returns false if it does not fit. */
static bool folder_of(const char *path, char *folder, size_t room) {
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) + 1 : 1;
    if (length >= room) return false;
    memcpy(folder, slash ? path : ".", length);
    folder[length] = 0;
    return true;
}

/* Opens an unnamed file in the folder of the path, so that a killed process leaves nothing behind; returns -1
 * if the file system has no unnamed files. */
static int open_nameless(const char *path) {
    char folder[PATH_MAX];
    /* give_name names the file through /proc. */
    if (access("/proc/self/fd", X_OK) || !folder_of(path, folder, sizeof folder)) return -1;
    return open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
}

/* Locks a temporary file while it is written; the kernel drops the lock when the process ends, however it
 * ends. Returns false if another process holds the lock; true on file systems without locks. */
static bool lock(int fd) {
    return !flock(fd, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK;
}

/* Removes PATH.tmp.PID of processes that were killed: those that are not locked. */
static void remove_strays(const char *path) {
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t length = strlen(name);
    DIR *list = folder_of(path, folder, sizeof folder) ? opendir(folder) : NULL;
    for (struct dirent *entry; list && (entry = readdir(list));) {
        const char *rest = entry->d_name + length;
        if (strncmp(entry->d_name, name, length) || strncmp(rest, ".tmp.", 5) || !rest[5] ||
            rest[5 + strspn(rest + 5, "0123456789")])
            continue;
        int fd = openat(dirfd(list), entry->d_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (fd < 0) continue;
        if (!flock(fd, LOCK_EX | LOCK_NB)) unlinkat(dirfd(list), entry->d_name, 0);
        close(fd);
    }
    if (list) closedir(list);
}

/* Creates the file under its temporary name and locks it; tries again if another process removed it as a
 * stray one before the lock. */
static int open_named(const char *name) {
    for (int tries = 0; tries < 10; tries++) {
        int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        struct stat about;
        if (fd < 0) return -1;
        if (lock(fd) && !fstat(fd, &about) && about.st_nlink) return fd;
        close(fd);
    }
    errno = EBUSY;
    return -1;
}

bool temporary_open(temporary *t, const char *path, const struct stat *old) {
    *t = (temporary){.fd = -1, .path = old ? realpath(path, NULL) : strdup(path)};
    if (!t->path) return false;
    if (asprintf(&t->name, "%s.tmp.%ld", t->path, (long)getpid()) < 0) {
        t->name = NULL;
        return false;
    }
    if (old && access(path, W_OK)) return false;
    remove_strays(t->path);
    t->fd = open_nameless(t->path);
    if (t->fd >= 0)
        lock(t->fd);
    else {
        t->fd = open_named(t->name);
        t->named = t->fd >= 0;
    }
    return t->fd >= 0 && (!old || !fchmod(t->fd, old->st_mode & 0777));
}

static bool give_name(temporary *t) {
    char self[32];
    if (t->named) return true;
    snprintf(self, sizeof self, "/proc/self/fd/%d", t->fd);
    if (linkat(AT_FDCWD, self, AT_FDCWD, t->name, AT_SYMLINK_FOLLOW)) return false;
    t->named = true;
    return true;
}

bool temporary_finish(temporary *t) {
    return !fsync(t->fd) && give_name(t);
}

/* The new name itself must survive a power cut: the folder is synced too. Some file systems cannot. */
static void sync_folder(const char *path) {
    char folder[PATH_MAX];
    if (!folder_of(path, folder, sizeof folder)) return;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    fsync(fd);
    close(fd);
}

bool temporary_replace(temporary *t) {
    if (rename(t->name, t->path)) return false;
    t->named = false;
    sync_folder(t->path);
    return true;
}

void temporary_drop(temporary *t) {
    if (t->named) unlink(t->name);
    free(t->path);
    free(t->name);
    *t = (temporary){.fd = -1};
}
