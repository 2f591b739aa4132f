/* Lists a folder, and knows the MIME types of what a page is made of. */
#include "front/serve/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"

enum { DEPTH = 4, FILES = 1000 };

const char page_index[] =
    "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>OrderNet</title>\n"
    "<h1>OrderNet</h1>\n<p>This server puts sets in order. The page that shows it at work is not installed "
    "here; <code>make page</code> builds it.</p>\n<ul>\n"
    "<li><code>POST /v1/order</code>: sets in order</li>\n"
    "<li><code>POST /v1/tour</code>: tours through cities</li>\n"
    "<li><code>POST /v1/unscramble</code>: words in order</li>\n"
    "<li><a href=\"/v1/models\">/v1/models</a>: the models</li>\n"
    "<li><a href=\"/openapi.json\">/openapi.json</a>: all of it, as OpenAPI</li>\n"
    "<li><a href=\"/healthz\">/healthz</a>, <a href=\"/metrics\">/metrics</a></li>\n</ul>\n</html>\n";

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

static onet_status add(site_files *f, const char *name, const char *path, onet_error *err) {
    if (f->count == FILES) return fail(err, ONET_USAGE, "a page has at most %d files", FILES);
    if (!array_reserve(&f->file, &f->room, f->count + 1, sizeof *f->file))
        return fail_memory(err, "the page's files");
    site_file *file = &f->file[f->count];
    *file = (site_file){.name = strdup(name), .path = strdup(path), .type = type_of(name)};
    f->count++;
    return file->name && file->path ? ONET_OK : fail_memory(err, "the page's files");
}

/* name: of the folder in the page, "" for the page itself. */
static onet_status list(site_files *f, const char *folder, const char *name, int depth, onet_error *err) {
    DIR *entries = opendir(folder);
    if (!entries && errno == ENOMEM) return fail_memory(err, "the page's files");
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
            status = add(f, inside, path, err);
        else if (S_ISDIR(state.st_mode) && depth < DEPTH)
            status = list(f, path, inside, depth + 1, err);
    }
    closedir(entries);
    return status;
}

onet_status site_files_list(site_files *f, const char *folder, onet_error *err) {
    onet_status status = list(f, folder, "", 0, err);
    if (status) site_files_free(f);
    return status;
}

void site_files_free(site_files *f) {
    for (size_t i = 0; i < f->count; i++) {
        free(f->file[i].name);
        free(f->file[i].path);
    }
    free(f->file);
    *f = (site_files){0};
}

const site_file *site_files_find(const site_files *f, const char *path) {
    if (!strcmp(path, "/")) path = "/index.html";
    for (size_t i = 0; i < f->count; i++)
        if (!strcmp(f->file[i].name, path)) return &f->file[i];
    return NULL;
}

int page_file_open(const site_file *file, struct stat *state) {
    int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0 && (fstat(fd, state) || !S_ISREG(state->st_mode))) {
        close(fd);
        fd = -1;
    }
    return fd;
}
