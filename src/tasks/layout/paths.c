/* Expands the operands of a pages command into a list of page files: searches folders recursively, drops
 * duplicates. */
#include "tasks/layout/commands.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"

static onet_status add_path(page_paths *p, const char *path, const char *rest, onet_error *err) {
    char *copy = strdup(path), *rest_copy = strdup(rest);
    if (!copy || !rest_copy || !array_reserve(&p->path, &p->room, p->count + 1, sizeof *p->path) ||
        !array_reserve(&p->rest, &p->rest_room, p->count + 1, sizeof *p->rest)) {
        free(copy);
        free(rest_copy);
        return fail_memory(err, "the names of the files");
    }
    p->path[p->count] = copy;
    p->rest[p->count++] = rest_copy;
    return ONET_OK;
}

static bool is_page_name(const char *name) {
    static const char *const ends[] = {".xml", ".hocr", ".html", ".json", ".jsonl"};
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof ends / sizeof *ends; i++)
        if (!strcasecmp(dot, ends[i])) return strcasecmp(name, "mets.xml") != 0;
    return false;
}

static int not_hidden(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

enum { MOST_FOLDERS = 40 };

static bool is_folder(const char *folder, const struct stat *there) {
    struct stat about;
    return folder && !stat(folder, &about) && about.st_dev == there->st_dev && about.st_ino == there->st_ino;
}

static onet_status add_folder(page_paths *p, const char *folder, const char *rest, int depth,
                              onet_error *err) {
    struct dirent **entries;
    int count = scandir(folder, &entries, not_hidden, alphasort);
    if (count < 0) return fail(err, ONET_IO, "cannot read the folder %s: %s", folder, strerror(errno));
    onet_status status = ONET_OK;
    for (int i = 0; i < count; i++) {
        char path[PATH_MAX], below[PATH_MAX];
        struct stat there;
        const char *name = entries[i]->d_name;
        bool fits = snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path;
        fits =
            snprintf(below, sizeof below, "%s%s%s", rest, *rest ? "/" : "", name) < (int)sizeof below && fits;
        if (!status && fits && !lstat(path, &there)) { /* links to folders may lead round in circles */
            if (S_ISDIR(there.st_mode) && depth < MOST_FOLDERS && !is_folder(p->pass_over, &there))
                status = add_folder(p, path, below, depth + 1, err);
            else if (!S_ISDIR(there.st_mode) && is_page_name(name))
                status = add_path(p, path, below, err);
        }
        free(entries[i]);
    }
    free(entries);
    return status;
}

/* A file by its path without links. */
typedef struct located {
    char *real;
    const char *rest;
    size_t index;
} located;

static int by_name(const void *a, const void *b) {
    const located *x = a, *y = b;
    int order = strcmp(x->real, y->real);
    return order ? order : strcmp(x->rest, y->rest);
}

static int by_place(const void *a, const void *b) {
    const located *x = a, *y = b;
    int order = by_name(a, b);
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

/* Leaves out files that were named before. */
static onet_status drop_repeated(page_paths *p, onet_error *err) {
    located *all = array_new(p->count + 1, sizeof *all);
    bool *repeated = array_new(p->count + 1, sizeof *repeated);
    onet_status status = all && repeated ? ONET_OK : fail_memory(err, "the names of the files");
    size_t kept = 0;
    for (size_t i = 0; i < p->count && !status; i++) {
        char *real = realpath(p->path[i], NULL);
        if (!real) real = strdup(p->path[i]);
        if (!real) status = fail_memory(err, "the names of the files");
        all[i] = (located){real, p->keep_links ? p->rest[i] : "", i};
    }
    if (!status) qsort(all, p->count, sizeof *all, by_place);
    for (size_t i = 1; i < p->count && !status; i++) repeated[all[i].index] = !by_name(&all[i - 1], &all[i]);
    for (size_t i = 0; i < p->count && !status; i++)
        if (repeated[i]) {
            free(p->path[i]);
            free(p->rest[i]);
        } else {
            p->path[kept] = p->path[i];
            p->rest[kept++] = p->rest[i];
        }
    for (size_t i = 0; i < p->count && all; i++) free(all[i].real);
    if (!status) p->count = kept;
    free(all);
    free(repeated);
    return status;
}

onet_status page_paths_find(page_paths *p, int count, char **operands, onet_error *err) {
    onet_status status = ONET_OK;
    for (int i = 0; i < count && !status; i++) {
        struct stat there;
        const char *slash = strrchr(operands[i], '/');
        if (!strcmp(operands[i], "-"))
            status = add_path(p, operands[i], operands[i], err);
        else if (stat(operands[i], &there))
            status = fail(err, ONET_IO, "cannot open %s: %s; check the name and that you may read it",
                          operands[i], strerror(errno));
        else if (S_ISDIR(there.st_mode)) {
            char folder[PATH_MAX];
            snprintf(folder, sizeof folder, "%s", operands[i]);
            for (size_t end = strlen(folder); end > 1 && folder[end - 1] == '/'; end--)
                folder[end - 1] = '\0';
            size_t before = p->count;
            status = add_folder(p, folder, "", 0, err);
            if (!status && p->count == before)
                status = fail(err, ONET_BAD,
                              "%s: no pages; the names of pages end in .xml, .hocr, .html, .json or .jsonl",
                              operands[i]);
        } else
            status = add_path(p, operands[i], slash ? slash + 1 : operands[i], err);
    }
    return status ? status : drop_repeated(p, err);
}

void page_paths_free(page_paths *p) {
    for (size_t i = 0; i < p->count; i++) {
        free(p->path[i]);
        free(p->rest[i]);
    }
    free(p->path);
    free(p->rest);
}
