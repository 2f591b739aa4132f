/* ordernet pages order: predicts the reading order of page files and writes them with only the order changed:
 * in place, to another folder, or one to standard output. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "app/command.h"
#include "app/interrupt.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "tasks/layout/commands.h"

typedef struct order_values {
    pages_values pages;
    const char *out, *best_of;
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

/* Writes to path where the result of file i goes; "-": standard output. */
static onet_status place_of(const order_values *v, const page_paths *paths, size_t i, char path[PATH_MAX],
                            onet_error *err) {
    const char *from = paths->path[i];
    if (v->in_place)
        snprintf(path, PATH_MAX, "%s", from);
    else if (!v->out)
        snprintf(path, PATH_MAX, "-");
    else if (snprintf(path, PATH_MAX, "%s/%s", v->out, paths->rest[i]) >= PATH_MAX)
        return fail(err, ONET_IO, "%s/%s: the name is too long", v->out, paths->rest[i]);
    return ONET_OK;
}

static int by_rest(const void *a, const void *b, void *context) {
    const page_paths *paths = context;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    int order = strcmp(paths->rest[x], paths->rest[y]);
    return order ? order : (x > y) - (x < y);
}

/* Checks before anything is written that no file would take the place of another. */
static onet_status check_places(const order_values *v, const page_paths *paths, onet_error *err) {
    if (paths->count > 1 && !v->out && !v->in_place)
        return fail(err, ONET_USAGE,
                    "%zu files need --out DIR or --in-place; only one can go to standard output",
                    paths->count);
    for (size_t i = 0; i < paths->count && (v->out || v->in_place); i++) {
        char path[PATH_MAX];
        onet_status status = place_of(v, paths, i, path, err);
        if (status) return status;
        if (!strcmp(paths->path[i], "-"))
            return fail(err, ONET_USAGE, "standard input has no name to be written under: leave out --%s",
                        v->out ? "out" : "in-place");
        if (v->out && output_replaces(path, paths->path[i]))
            return fail(err, ONET_USAGE, "--out %s would replace %s; name another folder, or use --in-place",
                        v->out, paths->path[i]);
    }
    if (!v->out) return ONET_OK;
    onet_status status = ONET_OK;
    size_t *sorted = array_new(paths->count + 1, sizeof *sorted);
    if (!sorted) return fail_memory(err, "the names of the files");
    for (size_t i = 0; i < paths->count; i++) sorted[i] = i;
    qsort_r(sorted, paths->count, sizeof *sorted, by_rest, (void *)paths);
    for (size_t i = 1; i < paths->count && !status; i++) {
        size_t one = sorted[i - 1], other = sorted[i];
        if (strcmp(paths->rest[one], paths->rest[other])) continue;
        status = fail(err, ONET_USAGE,
                      "%s and %s would both be written to %s/%s; give the folder above them, or order them "
                      "one after the other with another --out",
                      paths->path[one], paths->path[other], v->out, paths->rest[one]);
    }
    free(sorted);
    return status;
}

typedef struct writing {
    const order_values *v;
    const page_paths *paths;
    pages_read *read;
    size_t from;
    onet_error *errors;
    onet_status *status;
} writing;

static void write_one(void *context, int job, int thread) {
    (void)thread;
    writing *w = context;
    page_file *f = &w->read->files[job];
    char path[PATH_MAX];
    if (!f->format) return;
    onet_error *err = &w->errors[job];
    onet_status status = place_of(w->v, w->paths, w->from + (size_t)job, path, err);
    if (!status && w->v->out) status = make_folders(path, err);
    for (size_t i = 0; i < f->count && !status && w->v->lines; i++)
        status = page_order_lines(&f->pages[i], w->v->pages.rtl, err);
    if (!status) status = page_file_write(f, path, err);
    w->status[job] = status;
}

/* Whether the page's regions, or the lines in one, have other places than before. */
static bool order_changed(const page *p) {
    for (int i = 0; i < p->count; i++) {
        const page_region *r = &p->regions[i];
        if (r->lines_moved || (r->placed && (!p->ordered || r->given != r->found))) return true;
    }
    return false;
}

typedef struct order_counts {
    size_t files, bad, unwritten, pages, changed, unsure;
    uint64_t types; /* seen, as in pages_types_seen */
} order_counts;

/* Counts what became of the files, and names those that were not written. */
static onet_status count_files(const writing *w, size_t count, order_counts *counts, onet_error *err) {
    size_t written = 0, unwritten = 0;
    for (size_t i = 0; i < count; i++) {
        const page_file *f = &w->read->files[i];
        if (!f->format) continue;
        if (w->status[i] == ONET_MEMORY || (w->status[i] && w->paths->count == 1))
            return fail(err, w->status[i], "%s", w->errors[i].text);
        if (w->status[i]) {
            fprintf(stderr, "%s\n", w->errors[i].text);
            unwritten++;
            continue;
        }
        written++;
        counts->pages += f->count;
        for (size_t k = 0; k < f->count && f->changed; k++) counts->changed += order_changed(&f->pages[k]);
    }
    counts->files += count;
    counts->bad += w->read->bad;
    counts->unwritten += unwritten;
    if (!unwritten || written || counts->files == w->paths->count) return ONET_OK;
    return fail(err, ONET_IO, "nothing can be written; stopped after %zu of %zu files", counts->files,
                w->paths->count);
}

static onet_status order_some(const order_values *v, const pages_net *net, thread_pool *threads,
                              const page_paths *paths, size_t from, size_t count, order_counts *counts,
                              onet_error *err) {
    pages_read read;
    onet_status status = pages_read_files(&read, threads, paths, from, count, &v->pages, true, err);
    if (status) return status;
    size_t pages = 0;
    for (size_t i = 0; i < count; i++) pages += read.files[i].count;
    page **all = array_new(pages + 1, sizeof *all);
    double *confidence = array_new(pages + 1, sizeof *confidence);
    writing w = {v,
                 paths,
                 &read,
                 from,
                 array_new(count + 1, sizeof *w.errors),
                 array_new(count + 1, sizeof *w.status)};
    if (!all || !confidence || !w.errors || !w.status) status = fail_memory(err, "the pages");
    pages = 0;
    for (size_t i = 0; i < count && !status; i++)
        for (size_t k = 0; k < read.files[i].count; k++) all[pages++] = &read.files[i].pages[k];
    if (!status)
        status = pages_order(net, (page_rule)v->pages.rule, v->pages.rtl, all, pages, confidence, NULL, err);
    for (size_t i = 0; i < pages && !status; i++)
        counts->unsure += confidence[i] > 0 && confidence[i] < PAGES_UNSURE;
    if (!status) thread_pool_run(threads, (int)count, write_one, &w);
    if (!status) status = count_files(&w, count, counts, err);
    counts->types |= pages_types_seen(&read, v->pages.types);
    free(all);
    free(confidence);
    free(w.errors);
    free(w.status);
    pages_read_free(&read);
    return status;
}

static onet_status run(void *values, int count, char **operands, onet_error *err) {
    order_values *v = values;
    page_paths paths = {0};
    pages_net net = {0};
    thread_pool *threads = NULL;
    order_counts counts = {0};
    progress line;
    enum { AT_ONCE = 16 }; /* few, since an interrupt waits for them */
    onet_status status = ONET_OK;
    if (v->out && v->in_place) return fail(err, ONET_USAGE, "--out and --in-place exclude each other");
    if (v->out && !*v->out) return fail(err, ONET_USAGE, "--out is empty; name a folder");
    paths.pass_over = v->out;
    paths.keep_links = v->out != NULL;
    status = page_paths_find(&paths, count, operands, err);
    if (!status) status = check_places(v, &paths, err);
    if (!status && v->best_of && v->pages.rule >= 0)
        status = fail(err, ONET_USAGE, "--best-of finds the rule: leave out --rule");
    if (!status && v->best_of) status = pages_best_of(&v->pages, v->best_of, err);
    if (!status) status = pages_net_open(&net, &v->pages, err);
    if (!status && !(threads = thread_pool_new(v->pages.order.threads)))
        status = fail_memory(err, "the threads");
    interrupt_catch();
    progress_start(&line, v->pages.quiet);
    for (size_t i = 0; i < paths.count && !status; i += AT_ONCE) {
        size_t some = paths.count - i < AT_ONCE ? paths.count - i : AT_ONCE;
        status = order_some(v, &net, threads, &paths, i, some, &counts, err);
        progress_count(&line, "ordered", "files", (double)(i + some), (double)paths.count);
        if (!status && interrupted() && i + some < paths.count)
            status = fail(err, ONET_INTERRUPTED, "interrupted after %zu of %zu files", i + some, paths.count);
    }
    progress_end(&line);
    size_t ordered = counts.files - counts.bad - counts.unwritten;
    if (!v->pages.quiet && counts.files && (v->out || v->in_place))
        printf("%zu file%s, %zu page%s: the order changed on %zu\n", ordered, ordered == 1 ? "" : "s",
               counts.pages, counts.pages == 1 ? "" : "s", counts.changed);
    if (!v->pages.quiet && counts.unsure)
        fprintf(stderr,
                "the model is unsure of the order of %zu page%s; 'ordernet pages check' lists them first\n",
                counts.unsure, counts.unsure == 1 ? "" : "s");
    if (!status && counts.bad < counts.files) pages_types_report(v->pages.types, counts.types);
    if (!status && counts.unwritten)
        status = fail(err, ONET_IO, "%zu of %zu files could not be written; they are named above",
                      counts.unwritten, counts.files);
    if (!status && counts.bad)
        status = fail(err, ONET_BAD, "%zu of %zu files could not be read; they are named above", counts.bad,
                      counts.files);
    thread_pool_free(threads);
    pages_net_close(&net);
    page_paths_free(&paths);
    return status;
}

#define AT(field) offsetof(order_values, field)

static const option options[] = {
    OPTION(STRING, "out", AT(out), .argument = "DIR",
           .help = "Write the files there, under the names that they have below the folder that was given."),
    OPTION(FLAG, "in-place", AT(in_place), .help = "Replace the files themselves."),
    OPTION_PAGE_RULE(AT(pages)),
    OPTION(
        STRING, "best-of", AT(best_of), .argument = "DIR",
        .help =
            "Folder of corrected pages like these: order by what is best on them, the model of --model, the "
            "shipped one or a rule."),
    OPTION(OFF, "no-lines", AT(lines),
           .help = "Leave the lines within regions as they are. Otherwise lines are put in order where they "
                   "jump back."),
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
