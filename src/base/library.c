/* Finds and loads libordernet-cuda.so and libordernet-mpi.so. */
#include "base/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

/* The folder of this code with a slash at its end, or "" if it is unknown. */
static void own_folder(char *path, size_t room) {
    static const char here = 0;
    Dl_info info;
    path[0] = '\0';
    if (!dladdr(&here, &info) || !info.dli_fname) return;
    const char *slash = strrchr(info.dli_fname, '/');
    if (slash) {
        int length = (int)(slash - info.dli_fname) + 1;
        if ((size_t)length < room) snprintf(path, room, "%.*s", length, info.dli_fname);
        return;
    }
    /* The name of a program that was found through PATH has no folder. */
    ssize_t length = readlink("/proc/self/exe", path, room - 1);
    if (length < 0) length = 0;
    while (length && path[length - 1] != '/') length--;
    path[length] = '\0';
}

/* RTLD_GLOBAL: MPI loads plugins that look for its symbols. */
static void *open_file(const char *path) {
    return dlopen(path, RTLD_NOW | RTLD_GLOBAL);
}

const char *library_named(const char *variable) {
    const char *named = getenv(variable);
    return named && *named ? named : NULL;
}

onet_status library_symbol(void **address, const char *name, const char *variable, const char *symbol,
                           const char *how, onet_error *err) {
    const char *named = library_named(variable), *opened = named ? named : name;
    char folder[4096], path[4400];
    void *handle = NULL;
    if (named) {
        if (!(handle = open_file(named)))
            return fail(err, ONET_FAILED,
                        "%s, which %s names, cannot be opened: %s; name another, or unset it", named,
                        variable, dlerror());
    } else {
        static const char *const from[] = {"", "../lib/"};
        own_folder(folder, sizeof folder);
        for (size_t i = 0; i < sizeof from / sizeof *from && !handle && folder[0]; i++) {
            snprintf(path, sizeof path, "%s%s%s", folder, from[i], name);
            if (access(path, F_OK)) continue;
            if (!(handle = open_file(path)))
                return fail(err, ONET_FAILED, "%s cannot be opened: %s", path, dlerror());
            opened = path;
        }
        if (!handle && !(handle = open_file(name)))
            return fail(err, ONET_FAILED,
                        "%s is neither beside the program, nor where the loader looks, nor named by %s: %s",
                        name, variable, how);
    }
    *address = dlsym(handle, symbol);
    if (!*address)
        return fail(
            err, ONET_FAILED,
            "%s has no %s: it is no %s, or that of another version; build it together with this program",
            opened, symbol, name);
    return ONET_OK;
}
