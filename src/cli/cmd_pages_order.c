/* ordernet pages order: files of pages, written back with the reading order changed and nothing else. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/memory.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/pages.h"

typedef struct order_values {
    pages_values pages;
    const char *out;
    int in_place, lines;
} order_values;

static void defaults(void *values) {
    order_values *v = values;
    pages_defaults(&v->pages);
    v->lines = 1;
}

/* Makes the folders that the file at path stands in. */
static onet_status make_folders(const char *path, onet_error *err) {
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(folder, 0777) && errno != EEXIST)
            return fail(err, ONET_IO, "cannot make the folder %s: %s", folder, strerror(errno));
        *slash = '/';
    }
    return ONET_OK;
}

/* Where a file's result goes. */
static onet_status place_of(const order_values *v, const page_paths *paths, size_t i, char path[PATH_MAX],
                            onet_error *err) {
    const char *from = paths->path[i];
    if (v->in_place)
        snprintf(path, PATH_MAX, "%s", from);
    else if (!v->out)
        snprintf(path, PATH_MAX, "-");
    else if (snprintf(path, PATH_MAX, "%s/%s", v->out, paths->rest[i]) >= PATH_MAX)
        return fail(err, ONET_IO, "%s/%s: the name is too long", v->out, paths->rest[i]);
    return v->out ? make_folders(path, err) : ONET_OK;
}

typedef struct writing {
    const order_values *v;
    const page_paths *paths;
    pages_read *read;
    size_t from;
    onet_error *errors;
    onet_status *status;
} writing;

static void write_one(void *context, int task, int thread) {
    (void)thread;
    writing *w = context;
    page_file *f = &w->read->files[task];
    char path[PATH_MAX];
    if (!f->format) return;
    onet_error *err = &w->errors[task];
    onet_status status = place_of(w->v, w->paths, w->from + (size_t)task, path, err);
    for (size_t i = 0; i < f->count && !status && w->v->lines; i++)
        status = page_order_lines(&f->pages[i], w->v->pages.rtl, err);
    if (!status) status = page_file_write(f, path, err);
    w->status[task] = status;
}

static size_t changed_regions(const page *p) {
    size_t changed = 0;
    for (int i = 0; i < p->count; i++)
        changed += p->regions[i].placed && (!p->ordered || p->regions[i].given != p->regions[i].found);
    return changed;
}

typedef struct order_counts {
    size_t files, bad, pages, changed;
} order_counts;

static onet_status order_some(const order_values *v, const pages_net *net, pool *threads,
                              const page_paths *paths, size_t from, size_t count, order_counts *counts,
                              onet_error *err) {
    pages_read read;
    onet_status status = pages_read_files(&read, threads, paths, from, count, &v->pages, true, err);
    if (status) return status;
    size_t pages = 0;
    for (size_t i = 0; i < count; i++) pages += read.files[i].count;
    page **all = array_new(pages + 1, sizeof *all);
    writing w = {v,
                 paths,
                 &read,
                 from,
                 array_new(count + 1, sizeof *w.errors),
                 array_new(count + 1, sizeof *w.status)};
    if (!all || !w.errors || !w.status) status = fail_memory(err, "the pages");
    pages = 0;
    for (size_t i = 0; i < count && !status; i++)
        for (size_t k = 0; k < read.files[i].count; k++) all[pages++] = &read.files[i].pages[k];
    if (!status) status = pages_order(net, (page_rule)v->pages.rule, v->pages.rtl, all, pages, NULL, err);
    if (!status) pool_run(threads, (int)count, write_one, &w);
    for (size_t i = 0; i < count && !status; i++)
        if (w.status[i] == ONET_IO || w.status[i] == ONET_MEMORY) {
            status = fail(err, w.status[i], "%s", w.errors[i].text);
        } else if (w.status[i]) {
            fprintf(stderr, "%s\n", w.errors[i].text);
            counts->bad++;
        }
    for (size_t i = 0; i < pages && !status; i++) counts->changed += changed_regions(all[i]) > 0;
    counts->pages += pages;
    counts->bad += read.bad;
    counts->files += count;
    free(all);
    free(w.errors);
    free(w.status);
    pages_read_free(&read);
    return status;
}

static onet_status run(void *values, int count, char **operands, onet_error *err) {
    order_values *v = values;
    page_paths paths = {0};
    pages_net net = {0};
    pool *threads = NULL;
    order_counts counts = {0};
    progress line;
    enum { AT_ONCE = 64 };
    onet_status status = ONET_OK;
    if (v->out && v->in_place) return fail(err, ONET_USAGE, "--out and --in-place exclude each other");
    status = page_paths_find(&paths, count, operands, err);
    if (!status && paths.count > 1 && !v->out && !v->in_place)
        status =
            fail(err, ONET_USAGE,
                 "%zu files need --out DIR or --in-place; only one can go to standard output", paths.count);
    if (!status) status = pages_net_open(&net, &v->pages, err);
    if (!status && !(threads = pool_new(v->pages.order.threads))) status = fail_memory(err, "the threads");
    interrupt_catch();
    progress_start(&line, v->pages.quiet);
    for (size_t i = 0; i < paths.count && !status; i += AT_ONCE) {
        size_t some = paths.count - i < AT_ONCE ? paths.count - i : AT_ONCE;
        status = order_some(v, &net, threads, &paths, i, some, &counts, err);
        progress_count(&line, "ordered", "files", (double)(i + some), (double)paths.count);
        if (!status && interrupted())
            status = fail(err, ONET_INTERRUPTED, "interrupted after %zu of %zu files", i + some, paths.count);
    }
    progress_end(&line);
    if (!v->pages.quiet && counts.files && (v->out || v->in_place))
        printf("%zu file%s, %zu page%s: the order changed on %zu\n", counts.files - counts.bad,
               counts.files - counts.bad == 1 ? "" : "s", counts.pages, counts.pages == 1 ? "" : "s",
               counts.changed);
    if (!status && counts.bad)
        status = fail(err, ONET_BAD, "%zu of %zu files could not be read; they are named above", counts.bad,
                      counts.files);
    pool_free(threads);
    pages_net_close(&net);
    page_paths_free(&paths);
    return status;
}

#define AT(field) offsetof(order_values, field)

static const option options[] = {
    {.name = "out",
     .kind = OPTION_STRING,
     .argument = "DIR",
     .field = AT(out),
     .help = "Write the files there, under the names that they have below the folder that was given."},
    {.name = "in-place", .kind = OPTION_FLAG, .field = AT(in_place), .help = "Replace the files themselves."},
    OPTION_PAGE_RULE(AT(pages)),
    {.name = "no-lines",
     .kind = OPTION_OFF,
     .field = AT(lines),
     .help = "Leave the lines within regions as they are. Otherwise lines are put in order where they jump "
             "back."},
    OPTIONS_PAGES(AT(pages)),
    {0},
};

const command cmd_pages_order = {
    .name = "pages order",
    .summary = "Put the regions of scanned pages in reading order",
    .operands = "FILE|DIR ...",
    .least = 1,
    .most = -1,
    .about = "Reads PAGE XML, ALTO, hOCR and boxes as JSON, finds the reading order of the regions by their "
             "geometry "
             "and type, and writes the same file with nothing but the order changed. One file goes to "
             "standard output, "
             "several need --out or --in-place. Files that cannot be read are named, the others are ordered, "
             "and the "
             "exit status is then 3. docs/pages.md has more.",
    .examples = "ordernet pages order page.xml >ordered.xml\n"
                "ordernet pages order --out ordered export/page\n"
                "ordernet pages order --rule xy-rows --types text,table --in-place scans",
    .options = options,
    .size = sizeof(order_values),
    .defaults = defaults,
    .run = run,
};
