/* Loads a shared library with dlopen, from the file that an environment variable names, from beside the
 * program or from the loader's path, and returns one of its symbols. Finds the folder of the running program
 * or library in /proc/self/maps. */
#include "engine/base/library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/error.h"

/* Returns the file name in a line of /proc/self/maps if the address lies in that mapping, else NULL. */
static char *mapped_name(char *line, uintptr_t address) {
    uintptr_t from, to;
    int name = 0;
    if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*s %*s %*s %*s %n", &from, &to, &name) < 2 || !name)
        return NULL;
    return address >= from && address < to && line[name] == '/' ? line + name : NULL;
}

/* The kernel knows which file this code was mapped from. argv[0], and what the loader makes of it, may be a
 * link in a folder that anyone can write to. Allocates nothing: a program that is short of memory must still
 * find its models. */
void library_folder(char *path, size_t room) {
    static const char here = 0;
    char text[2 * PATH_MAX], *name = NULL;
    size_t held = 0;
    int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    path[0] = '\0';
    for (ssize_t got; maps >= 0 && !name && (got = read(maps, text + held, sizeof text - 1 - held)) > 0;) {
        held += (size_t)got;
        text[held] = '\0';
        char *line = text;
        for (char *end; !name && (end = strchr(line, '\n')); line = end + 1) {
            *end = '\0';
            name = mapped_name(line, (uintptr_t)&here);
            if (name) break;
        }
        held -= (size_t)(line - text);
        if (!name) memmove(text, line, held);
    }
    char *slash = name ? strrchr(name, '/') : NULL;
    if (slash && (size_t)(slash + 1 - name) < room)
        snprintf(path, room, "%.*s", (int)(slash + 1 - name), name);
    if (maps >= 0) close(maps);
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
        library_folder(folder, sizeof folder);
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
        return fail(err, ONET_FAILED,
                    "%s has no %s: it is not %s, or of another version; build it together with this program",
                    opened, symbol, name);
    return ONET_OK;
}
