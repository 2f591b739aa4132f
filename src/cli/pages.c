/* Finds, reads and orders the pages of the commands for pages. */
#include "cli/pages.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/memory.h"
#include "cli/model_path.h"
#include "cli/ordering.h"
#include "pages/features.h"
#include "pages/layout.h"
#include "pages/ways.h"

const onet_choice *page_directions(void) {
    static const onet_choice directions[] = {
        {"ltr", "from left to right", 0}, {"rtl", "from right to left", 1}, {0}};
    return directions;
}

void pages_defaults(pages_values *v) {
    v->rule = -1;
    onet_order_defaults(&v->order, sizeof v->order);
}

/* ---- Files ------------------------------------------------------------------------------------------- */

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
            if (S_ISDIR(there.st_mode) && depth < MOST_FOLDERS)
                status = add_folder(p, path, below, depth + 1, err);
            else if (!S_ISDIR(there.st_mode) && is_page_name(name))
                status = add_path(p, path, below, err);
        }
        free(entries[i]);
    }
    free(entries);
    return status;
}

onet_status page_paths_find(page_paths *p, int count, char **operands, onet_error *err) {
    onet_status status = ONET_OK;
    for (int i = 0; i < count && !status; i++) {
        struct stat there;
        const char *slash = strrchr(operands[i], '/');
        if (!stat(operands[i], &there) && S_ISDIR(there.st_mode)) {
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
    return status;
}

void page_paths_free(page_paths *p) {
    for (size_t i = 0; i < p->count; i++) {
        free(p->path[i]);
        free(p->rest[i]);
    }
    free(p->path);
    free(p->rest);
}

typedef struct reading {
    pages_read *read;
    const page_paths *paths;
    size_t from;
    const pages_values *v;
    onet_error *errors;
    onet_status *status;
} reading;

static void read_one(void *context, int task, int thread) {
    (void)thread;
    reading *r = context;
    r->status[task] = page_file_read(&r->read->files[task], r->paths->path[r->from + (size_t)task],
                                     r->v->types, &r->errors[task]);
}

onet_status pages_read_files(pages_read *r, pool *threads, const page_paths *paths, size_t from, size_t count,
                             const pages_values *v, bool notes, onet_error *err) {
    *r = (pages_read){.files = array_new(count + 1, sizeof *r->files), .count = count};
    reading all = {r,
                   paths,
                   from,
                   v,
                   array_new(count + 1, sizeof *all.errors),
                   array_new(count + 1, sizeof *all.status)};
    onet_status status = r->files && all.errors && all.status ? ONET_OK : fail_memory(err, "the files");
    xml_start();
    if (!status) pool_run(threads, (int)count, read_one, &all);
    for (size_t i = 0; i < count && !status; i++) {
        if (all.status[i] == ONET_MEMORY)
            status = fail(err, ONET_MEMORY, "%s", all.errors[i].text);
        else if (all.status[i]) {
            fprintf(stderr, "%s\n", all.errors[i].text);
            r->bad++;
        } else if (notes && r->files[i].notes)
            fputs(r->files[i].notes, stderr);
    }
    free(all.errors);
    free(all.status);
    if (status) pages_read_free(r);
    return status;
}

void pages_read_free(pages_read *r) {
    for (size_t i = 0; i < r->count && r->files; i++) page_file_free(&r->files[i]);
    free(r->files);
    *r = (pages_read){0};
}

onet_status pages_known_read(pages_known *k, const pages_values *v, int count, char **operands, bool notes,
                             onet_error *err) {
    size_t all = 0;
    pool *threads = NULL;
    *k = (pages_known){0};
    onet_status status = page_paths_find(&k->paths, count, operands, err);
    if (!status && !(threads = pool_new(v->order.threads))) status = fail_memory(err, "the threads");
    if (!status) status = pages_read_files(&k->read, threads, &k->paths, 0, k->paths.count, v, notes, err);
    pool_free(threads);
    for (size_t i = 0; i < k->read.count; i++) all += k->read.files[i].count;
    if (!status && !(k->pages = array_new(all + 1, sizeof *k->pages))) status = fail_memory(err, "the pages");
    for (size_t i = 0; i < k->read.count && !status; i++)
        for (size_t n = 0; n < k->read.files[i].count; n++) {
            page *p = &k->read.files[i].pages[n];
            if (p->ordered && p->placed > 1) k->pages[k->count++] = p;
        }
    k->left_out = all - k->count;
    if (!status && !k->count) status = fail(err, ONET_BAD, "no page has an order of two regions or more");
    return status;
}

onet_status pages_known_complete(const pages_known *k, onet_error *err) {
    if (!k->read.bad) return ONET_OK;
    return fail(err, ONET_BAD, "%zu of %zu files could not be read; they are named above", k->read.bad,
                k->paths.count);
}

void pages_known_free(pages_known *k) {
    free(k->pages);
    pages_read_free(&k->read);
    page_paths_free(&k->paths);
}

/* ---- Orders ------------------------------------------------------------------------------------------ */

onet_status pages_model_check(const onet_model *model, const char *path, onet_error *err) {
    if (!onet_model_words(model) && onet_model_settings(model)->width == page_feature_count()) return ONET_OK;
    return fail(err, ONET_BAD,
                "%s is no model for pages, or one of an earlier version; 'ordernet pages train' makes one",
                path);
}

/* Whether the model, or every part of a merged one, was fine-tuned. */
static bool fine_tuned(const onet_model *model) {
    if (onet_model_record(model, "from.sha256")) return true;
    for (int part = 1;; part++) {
        char key[48];
        snprintf(key, sizeof key, "merged.%d.sha256", part);
        if (!onet_model_record(model, key)) return part > 1;
        snprintf(key, sizeof key, "merged.%d.from.sha256", part);
        if (!onet_model_record(model, key)) return false;
    }
}

onet_status pages_net_with(pages_net *net, const onet_model *model, const pages_values *v, onet_error *err) {
    const char *usual = onet_model_record(model, PAGES_USUAL_KEY);
    *net = (pages_net){.style = {.tuned = fine_tuned(model), .usual = usual ? page_way_named(usual) : 0}};
    if (net->style.usual < 0)
        return fail(err, ONET_BAD, "this version does not know the way '%s' to order pages of the model",
                    usual);
    return onet_orderer_new(&net->orderer, model, &v->order, err);
}

onet_status pages_net_open(pages_net *net, const pages_values *v, onet_error *err) {
    char shipped[PATH_MAX];
    const char *path = v->model;
    onet_model *model = NULL;
    *net = (pages_net){0};
    if (v->rule >= 0) {
        if (v->model) return fail(err, ONET_USAGE, "--rule orders without a model: leave out --model");
        return ONET_OK;
    }
    onet_status status = ONET_OK;
    if (!path) {
        status = model_path(shipped, sizeof shipped, "pages.safetensors", err);
        path = shipped;
    }
    if (!status) status = onet_model_load(&model, path, err);
    if (!status) status = pages_model_check(model, path, err);
    if (!status) status = pages_net_with(net, model, v, err);
    net->model = model;
    if (status) pages_net_close(net);
    return status;
}

void pages_net_close(pages_net *net) {
    onet_orderer_free(net->orderer);
    onet_model_free(net->model);
    *net = (pages_net){0};
}

static onet_status order_by_rule(page *p, page_rule rule, onet_error *err) {
    page_layout l;
    onet_status status = page_layout_make(&l, p, err);
    if (status) return status;
    int32_t *index = array_new((size_t)l.n + 1, sizeof *index);
    int32_t *order = array_new((size_t)l.n + 1, sizeof *order);
    if (!index || !order) status = fail_memory(err, "the order of a page");
    if (!status) status = rule_order(rule, l.boxes, l.kind, l.n, l.lines, order, err);
    if (!status) page_placed(p, index);
    for (int k = 0; k < l.n && !status; k++) order[k] = index[order[k]];
    if (!status) page_found(p, order);
    page_layout_free(&l);
    free(index);
    free(order);
    return status;
}

onet_status pages_order(const pages_net *net, page_rule rule, bool rtl, page **pages, size_t count,
                        double *logprob, onet_error *err) {
    onet_status status = ONET_OK;
    for (size_t i = 0; i < count && rtl; i++) page_mirror(pages[i]);
    if (net && net->orderer)
        status = pages_choose(net->orderer, &net->style, pages, count, logprob, err);
    else
        for (size_t i = 0; i < count && !status; i++)
            if (pages[i]->placed) status = order_by_rule(pages[i], rule, err);
    for (size_t i = 0; i < count && rtl; i++) page_mirror(pages[i]);
    return status;
}

onet_status pages_score(const pages_net *net, bool rtl, page **pages, size_t count, double *logprob,
                        double *step, onet_error *err) {
    onet_sets *sets = NULL;
    onet_status status = onet_sets_new(&sets, page_feature_count(), err);
    for (size_t i = 0; i < count && rtl; i++) page_mirror(pages[i]);
    for (size_t i = 0; i < count && !status; i++) status = page_append(sets, pages[i], true, err);
    if (!status && count) status = onet_orderer_score_steps(net->orderer, sets, logprob, step, err);
    for (size_t i = 0; i < count && rtl; i++) page_mirror(pages[i]);
    onet_sets_free(sets);
    return status;
}

typedef struct named {
    const char *name;
    size_t length, index;
} named;

static int by_name(const void *a, const void *b) {
    const named *x = a, *y = b;
    int order = strncmp(x->name, y->name, x->length < y->length ? x->length : y->length);
    return order ? order : (x->length > y->length) - (x->length < y->length);
}

/* How long a document's name is without the numbers at its end (a date, a volume): the name of its title. */
static size_t title_length(const char *name) {
    size_t all = strlen(name), length = all;
    while (length && strchr("0123456789_-. ", name[length - 1])) length--;
    return length ? length : all;
}

/* *found: how many different documents, or titles, the pages are of. */
static onet_status distinct(page **pages, size_t count, bool titles, size_t *number, size_t *found,
                            onet_error *err) {
    named *all = array_new(count + 1, sizeof *all);
    *found = 0;
    if (!all) return fail_memory(err, "the names of the documents");
    for (size_t i = 0; i < count; i++) {
        const char *name = pages[i]->document;
        all[i] = (named){name, titles ? title_length(name) : strlen(name), i};
    }
    qsort(all, count, sizeof *all, by_name);
    for (size_t i = 0; i < count; i++) {
        *found += !i || by_name(&all[i], &all[i - 1]) != 0;
        if (number) number[all[i].index] = *found - 1;
    }
    free(all);
    return ONET_OK;
}

onet_status pages_documents(page **pages, size_t count, size_t *number, size_t *documents, onet_error *err) {
    return distinct(pages, count, false, number, documents, err);
}

onet_status pages_describe(page **pages, size_t count, char *text, size_t size, onet_error *err) {
    size_t regions = 0, documents, titles;
    onet_status status = distinct(pages, count, false, NULL, &documents, err);
    if (!status) status = distinct(pages, count, true, NULL, &titles, err);
    if (status) return status;
    for (size_t i = 0; i < count; i++) regions += (size_t)pages[i]->placed;
    snprintf(text, size, "%zu page%s, %zu region%s, %zu document%s of %zu title%s", count,
             count == 1 ? "" : "s", regions, regions == 1 ? "" : "s", documents, documents == 1 ? "" : "s",
             titles, titles == 1 ? "" : "s");
    return ONET_OK;
}
