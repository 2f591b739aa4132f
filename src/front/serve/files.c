/* Lists the static files of the browser page in a folder, with their MIME types, and compresses the text
 * files with gzip in advance; finds the file for a path, and opens it without following links. */
#include "front/serve/exchange.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"

enum {
    DEPTH = 4,
    FILES = 1000,
    LEAST = 200, /* bytes of a file that is compressed */
    MOST = 4 << 20
};

static const char *type_of(const char *name) {
    static const struct {
        const char *ending, *type;
    } types[] = {
        {".html", "text/html; charset=utf-8"},
        {".js", "text/javascript; charset=utf-8"},
        {".mjs", "text/javascript; charset=utf-8"},
        {".css", "text/css; charset=utf-8"},
        {".json", "application/json"},
        {".webmanifest", "application/manifest+json"},
        {".wasm", "application/wasm"},
        {".svg", "image/svg+xml"},
        {".png", "image/png"},
        {".ico", "image/vnd.microsoft.icon"},
        {".txt", "text/plain; charset=utf-8"},
        {".csv", "text/csv; charset=utf-8"},
    };
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof types / sizeof *types; i++)
        if (!strcmp(dot, types[i].ending)) return types[i].type;
    return "application/octet-stream";
}

/* Whether files of this type are compressed: others (models, pictures) are compressed already, or large. */
static bool is_text(const char *type) {
    return strncmp(type, "text/", 5) == 0 || strstr(type, "json") || strstr(type, "svg") ||
           strstr(type, "wasm");
}

/* Reads `size` bytes of the file; NULL: read error, the file is shorter, or no memory. */
static char *read_bytes(int fd, size_t size) {
    char *bytes = malloc(size ? size : 1);
    for (size_t got = 0; bytes && got < size;) {
        ssize_t some = read(fd, bytes + got, size - got);
        if (some <= 0) {
            free(bytes);
            return NULL;
        }
        got += (size_t)some;
    }
    return bytes;
}

/* Returns gzip without name and time, so that the same file gives the same bytes; NULL: not shorter, or no
 * memory. */
static char *compress_bytes(const char *bytes, size_t size, size_t *packed) {
    z_stream z = {.next_in = (Bytef *)(uintptr_t)bytes, .avail_in = (uInt)size};
    char *out = malloc(size);
    if (!out || deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        free(out);
        return NULL;
    }
    z.next_out = (Bytef *)out;
    z.avail_out = (uInt)size;
    bool whole = deflate(&z, Z_FINISH) == Z_STREAM_END;
    *packed = z.total_out;
    deflateEnd(&z);
    if (whole) return out;
    free(out);
    return NULL;
}

static void compress_file(const site_files *f, site_file *file) {
    struct stat state;
    int fd = is_text(file->type) ? site_file_open(f, file, &state) : -1;
    if (fd < 0) return;
    if (state.st_size >= LEAST && state.st_size <= MOST) {
        char *bytes = read_bytes(fd, (size_t)state.st_size);
        if (bytes) file->packed = compress_bytes(bytes, (size_t)state.st_size, &file->packed_size);
        file->packed_of = state;
        free(bytes);
    }
    close(fd);
}

bool site_file_packed(const site_file *file, const struct stat *now) {
    const struct stat *of = &file->packed_of;
    return file->packed && of->st_size == now->st_size && of->st_mtim.tv_sec == now->st_mtim.tv_sec &&
           of->st_mtim.tv_nsec == now->st_mtim.tv_nsec && of->st_ino == now->st_ino;
}

static onet_status add(site_files *f, const char *name, onet_error *err) {
    if (f->count == FILES)
        return fail(err, ONET_USAGE,
                    "the folder of the browser page has more than %d files; give one with fewer", FILES);
    if (!array_reserve(&f->file, &f->room, f->count + 1, sizeof *f->file))
        return fail_memory(err, "the files of the site");
    site_file *file = &f->file[f->count];
    *file = (site_file){.name = strdup(name), .type = type_of(name)};
    f->count++;
    if (!file->name) return fail_memory(err, "the files of the site");
    compress_file(f, file);
    return ONET_OK;
}

/* Lists a folder and those in it. name: its path within the site, "" for the top. */
static onet_status list(site_files *f, const char *folder, const char *name, int depth, onet_error *err) {
    DIR *entries = opendir(folder);
    if (!entries && errno == ENOMEM) return fail_memory(err, "the files of the site");
    if (!entries) return fail(err, ONET_IO, "cannot read the folder %s: %s", folder, strerror(errno));
    onet_status status = ONET_OK;
    for (struct dirent *entry; !status && (entry = readdir(entries));) {
        char path[4096], inside[1024];
        struct stat state;
        if (entry->d_name[0] == '.') continue;
        if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) >= sizeof path ||
            (size_t)snprintf(inside, sizeof inside, "%s/%s", name, entry->d_name) >= sizeof inside)
            continue;
        if (lstat(path, &state)) continue;
        if (S_ISREG(state.st_mode))
            status = add(f, inside, err);
        else if (S_ISDIR(state.st_mode) && depth < DEPTH)
            status = list(f, path, inside, depth + 1, err);
    }
    closedir(entries);
    return status;
}

onet_status site_files_list(site_files *f, const char *folder, onet_error *err) {
    f->folder = strdup(folder);
    onet_status status = f->folder ? list(f, folder, "", 0, err) : fail_memory(err, "the files of the site");
    if (status) site_files_free(f);
    return status;
}

void site_files_free(site_files *f) {
    for (size_t i = 0; i < f->count; i++) {
        free(f->file[i].name);
        free(f->file[i].packed);
    }
    free(f->file);
    free(f->folder);
    *f = (site_files){0};
}

const site_file *site_files_find(const site_files *f, const char *path) {
    if (!strcmp(path, "/")) path = "/index.html";
    for (size_t i = 0; i < f->count; i++)
        if (!strcmp(f->file[i].name, path)) return &f->file[i];
    return NULL;
}

/* Each part of the path is opened without following a link, so that none leads out of the folder, not even
 * one that took the place of a folder after the list was made. */
int site_file_open(const site_files *f, const site_file *file, struct stat *state) {
    int at = open(f->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (const char *part = file->name + 1, *end; at >= 0; part = end + 1) {
        char name[NAME_MAX + 1];
        end = strchrnul(part, '/');
        snprintf(name, sizeof name, "%.*s", (int)(end - part), part);
        int kind = *end ? O_PATH | O_DIRECTORY : O_RDONLY | O_NONBLOCK;
        int inside = openat(at, name, kind | O_NOFOLLOW | O_CLOEXEC);
        close(at);
        at = inside;
        if (!*end) break;
    }
    if (at >= 0 && (fstat(at, state) || !S_ISREG(state->st_mode))) {
        close(at);
        at = -1;
    }
    return at;
}
