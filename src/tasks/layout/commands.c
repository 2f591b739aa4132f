/* What the `pages` commands share: reads page files in parallel, opens the model, predicts orders by the
 * network or by a rule, tries which model or rule orders corrected pages best, scores given orders, and
 * counts the documents and titles of pages. */
#include "tasks/layout/commands.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/model_path.h"
#include "engine/base/choice.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/shown.h"
#include "ordernet_measure.h"
#include "tasks/layout/order/features.h"
#include "tasks/layout/order/layout.h"
#include "tasks/layout/order/ways.h"

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

typedef struct reading {
    pages_read *read;
    const page_paths *paths;
    size_t from;
    const pages_values *v;
    onet_error *errors;
    onet_status *status;
} reading;

static void read_one(void *context, int job, int thread) {
    (void)thread;
    reading *r = context;
    r->status[job] = page_file_read(&r->read->files[job], r->paths->path[r->from + (size_t)job], r->v->types,
                                    &r->errors[job]);
}

/* Writes lines to standard error. They quote text of files, whose control characters must not reach the
 * terminal. */
static void say(const char *lines) {
    while (*lines) {
        size_t length = strcspn(lines, "\n");
        char line[4 * SHOWN];
        fprintf(stderr, "%s\n", shown_text(line, sizeof line, lines, length));
        lines += length + (lines[length] == '\n');
    }
}

onet_status pages_read_files(pages_read *r, thread_pool *threads, const page_paths *paths, size_t from,
                             size_t count, const pages_values *v, bool notes, onet_error *err) {
    *r = (pages_read){.files = array_new(count + 1, sizeof *r->files), .count = count};
    reading all = {r,
                   paths,
                   from,
                   v,
                   array_new(count + 1, sizeof *all.errors),
                   array_new(count + 1, sizeof *all.status)};
    onet_status status = r->files && all.errors && all.status ? ONET_OK : fail_memory(err, "the files");
    xml_start();
    if (!status) thread_pool_run(threads, (int)count, read_one, &all);
    for (size_t i = 0; i < count && !status; i++) {
        if (all.status[i] == ONET_MEMORY)
            status = fail(err, ONET_MEMORY, "%s", all.errors[i].text);
        else if (all.status[i]) {
            say(all.errors[i].text);
            r->bad++;
        } else if (notes && r->files[i].notes)
            say(r->files[i].notes);
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

static bool has_type(const page_file *f, const char *type, size_t length) {
    for (size_t i = 0; i < f->count; i++)
        for (int k = 0; k < f->pages[i].count; k++)
            if (page_region_is(&f->pages[i].regions[k], type, length)) return true;
    return false;
}

uint64_t pages_types_seen(const pages_read *r, const char *types) {
    uint64_t seen = 0;
    size_t length;
    const char *type;
    for (int bit = 0; types && bit < 64 && (type = page_next_type(&types, &length)); bit++)
        for (size_t i = 0; i < r->count; i++)
            if (has_type(&r->files[i], type, length)) seen |= UINT64_C(1) << bit;
    return seen;
}

void pages_types_report(const char *types, uint64_t seen) {
    size_t length;
    const char *type;
    for (int bit = 0; types && bit < 64 && (type = page_next_type(&types, &length)); bit++)
        if (!(seen >> bit & 1)) fprintf(stderr, "--types: no region is of type '%.*s'\n", (int)length, type);
}

onet_status pages_known_read(pages_known *k, const pages_values *v, int count, char **operands, bool notes,
                             onet_error *err) {
    size_t all = 0;
    thread_pool *threads = NULL;
    *k = (pages_known){.single = true};
    onet_status status = page_paths_find(&k->paths, count, operands, err);
    if (!status && !(threads = thread_pool_new(v->order.threads))) status = fail_memory(err, "the threads");
    if (!status) status = pages_read_files(&k->read, threads, &k->paths, 0, k->paths.count, v, notes, err);
    thread_pool_free(threads);
    if (!status) pages_types_report(v->types, pages_types_seen(&k->read, v->types));
    for (size_t i = 0; i < k->read.count; i++) all += k->read.files[i].count;
    if (!status && !(k->pages = array_new(all + 1, sizeof *k->pages))) status = fail_memory(err, "the pages");
    for (size_t i = 0; i < k->read.count && !status; i++)
        for (size_t n = 0; n < k->read.files[i].count; n++) {
            page *p = &k->read.files[i].pages[n];
            if (p->ordered && p->placed > 1) k->pages[k->count++] = p;
            if (p->placed > 1) k->single = false;
        }
    k->left_out = all - k->count;
    k->single = k->single && all && !k->read.bad && !status;
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
    if (!onet_model_words(model) && onet_model_width(model) == page_feature_count()) return ONET_OK;
    return fail(err, ONET_BAD,
                "%s is not a model for pages, or one of an earlier version; 'ordernet pages train' makes one",
                path);
}

onet_status pages_net_with(pages_net *net, const onet_model *model, const pages_values *v, onet_error *err) {
    *net = (pages_net){0};
    onet_status status = pages_style_of(&net->style, model, err);
    if (status) return status;
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
    if (!status && rule == RULE_GUTTERS)
        status = page_way(PAGE_WAY_GUTTERS, &l, order, err);
    else if (!status)
        status = rule_order(rule, l.boxes, l.kind, l.n, l.lines, order, err);
    if (!status) page_placed(p, index);
    for (int k = 0; k < l.n && !status; k++) order[k] = index[order[k]];
    if (!status) page_found(p, order);
    page_layout_free(&l);
    free(index);
    free(order);
    return status;
}

onet_status pages_order(const pages_net *net, page_rule rule, bool rtl, page **pages, size_t count,
                        double *confidence, progress *line, onet_error *err) {
    onet_status status = ONET_OK;
    for (size_t i = 0; i < count && !status; i++) {
        page *p = pages[i];
        page_tables tables = {0};
        if (rtl) page_mirror(p);
        status = page_tables_fold(&tables, p, err);
        if (!status && net && net->orderer)
            status = pages_choose(net->orderer, &net->style, &p, 1, confidence ? &confidence[i] : NULL, err);
        else if (!status && p->placed)
            status = order_by_rule(p, rule, err);
        onet_status unfolded = page_tables_unfold(&tables, p, !status && p->placed, err);
        if (!status) status = unfolded;
        if (rtl) page_mirror(p);
        if (line) progress_count(line, "ordered", "pages", (double)(i + 1), (double)count);
    }
    return status;
}

/* Returns the share of regions that follow the right one in the found order. */
static double page_neighbours(const page *p) {
    int right = 0;
    int32_t *given = array_new((size_t)p->placed + 1, sizeof *given);
    if (!given) return 0;
    page_order_of(p, false, given);
    for (int k = 1; k < p->placed; k++)
        right += p->regions[given[k]].found == p->regions[given[k - 1]].found + 1;
    free(given);
    return p->placed > 1 ? (double)right / (p->placed - 1) : 1;
}

/* Orders the pages by a net, or by a rule if it is NULL; *mean: the mean of page_neighbours. */
static onet_status try_on(const pages_known *known, const pages_net *net, int rule, bool rtl, double *mean,
                          onet_error *err) {
    onet_status status = pages_order(net, (page_rule)rule, rtl, known->pages, known->count, NULL, NULL, err);
    *mean = 0;
    for (size_t i = 0; i < known->count && !status; i++)
        *mean += page_neighbours(known->pages[i]) / (double)known->count;
    return status;
}

onet_status pages_find_best(pages_best *best, const pages_values *v, const pages_known *known,
                            onet_error *err) {
    onet_status status = ONET_OK;
    *best = (pages_best){.rule = -1, .neighbours = -1};
    /* The models first, so that a rule must be better than they are. */
    for (int k = v->model ? -2 : -1; k < PAGE_RULES && !status; k++) {
        pages_values one = *v;
        pages_net net = {0};
        double mean;
        one.rule = k < 0 ? -1 : k;
        one.model = k == -2 ? v->model : NULL;
        status = pages_net_open(&net, &one, err);
        if (status == ONET_IO && k == -1 && v->model) { /* a program without the shipped models */
            status = ONET_OK;
            continue;
        }
        if (!status) status = try_on(known, k < 0 ? &net : NULL, k, v->rtl, &mean, err);
        pages_net_close(&net);
        if (!status && mean > best->neighbours) *best = (pages_best){one.rule, one.model, mean};
    }
    return status;
}

const char *pages_best_text(const pages_best *best, char text[], size_t size) {
    if (best->rule >= 0)
        snprintf(text, size, "--rule %s", choice_name(page_rules(), best->rule));
    else
        snprintf(text, size, "%s%s", best->model ? "--model " : "the shipped model",
                 best->model ? best->model : "");
    return text;
}

void pages_best_warn(const pages_best *best) {
    if (best->model)
        fprintf(stderr, "the figures of %s are too good on pages that it was trained on: compare on others\n",
                best->model);
}

onet_status pages_best_of(pages_values *v, const char *folder, onet_error *err) {
    pages_known known;
    char *operand = (char *)folder, text[PATH_MAX];
    pages_best best = {0};
    onet_status status = pages_known_read(&known, v, 1, &operand, false, err);
    if (!status) status = pages_find_best(&best, v, &known, err);
    if (!status) {
        v->rule = best.rule;
        v->model = best.model;
        fprintf(stderr, "best on the %zu page%s of %s: %s, neighbours right %.1f%%\n", known.count,
                known.count == 1 ? "" : "s", folder, pages_best_text(&best, text, sizeof text),
                100 * best.neighbours);
        pages_best_warn(&best);
    }
    pages_known_free(&known);
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

/* Returns the title of a document: its name without the numbers at its end (a date, a volume), and without
 * the folder unless that is all of it. */
static named title_of(const char *document) {
    const char *slash = strrchr(document, '/'), *name = slash && slash[1] ? slash + 1 : document;
    size_t all = strlen(name), length = all;
    while (length && strchr("0123456789_-. /", name[length - 1])) length--;
    return (named){name, length ? length : all, 0};
}

/* Counts the different documents, or titles, of the pages: *found. number [count]: the number of each page's,
 * or NULL. */
static onet_status distinct(page **pages, size_t count, bool titles, size_t *number, size_t *found,
                            onet_error *err) {
    named *all = array_new(count + 1, sizeof *all);
    *found = 0;
    if (!all) return fail_memory(err, "the names of the documents");
    for (size_t i = 0; i < count; i++) {
        const char *name = pages[i]->document;
        all[i] = titles ? title_of(name) : (named){name, strlen(name), 0};
        all[i].index = i;
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
