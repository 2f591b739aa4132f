/* The server's endpoint /v1/pages: parses pages as boxes in JSON, predicts their reading orders in a thread
 * of its own, and answers with JSON. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "app/request.h"
#include "engine/base/error.h"
#include "engine/base/json_tree.h"
#include "engine/base/memory.h"
#include "engine/base/utf8.h"
#include "ordernet_pages.h"
#include "tasks/layout/commands.h"

typedef struct page_boxes {
    double *boxes;    /* [n, 4] */
    int32_t *regions; /* [n] */
    int32_t *order;   /* [n]: the answer, `count` of them */
    int n, count;
    double confidence; /* 0: no network judged it */
} page_boxes;

typedef struct pages_request {
    request r;
    const model_slot *slot; /* NULL: by the rule */
    model_version *version;
    page_boxes *pages; /* [count] */
    size_t count, ordered;
    int rtl;
    struct pages_request *next;
} pages_request;

/* A thread that orders a page of each request in turn, so that a short one need not wait for a long one. */
typedef struct desk {
    const char *kernels;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t news;
    pages_request *first, **last;
    size_t queued;
    bool stop;
    model_version *version; /* of `pages`, which is kept while requests ask for the same; NULL: the rule */
    onet_pages *pages;
} desk;

static void release(request *base) {
    pages_request *r = (pages_request *)(void *)base;
    for (size_t i = 0; i < r->count; i++) {
        free(r->pages[i].boxes);
        free(r->pages[i].regions);
        free(r->pages[i].order);
    }
    free(r->pages);
    model_release(r->version);
}

static onet_status read_box(double box[4], const json_value *value, size_t number, size_t i,
                            onet_error *err) {
    for (size_t k = 0; k < 4; k++) {
        if (json_elements(value) != 4 || !json_is(&value->items[k], '0'))
            return fail(err, ONET_BAD, "request:%zu: field `boxes`[%zu] is not [x0, y0, x1, y1]", number, i);
        box[k] = value->items[k].number;
    }
    return ONET_OK;
}

/* Reads the boxes and types of page `number`, from 1. */
static onet_status read_page(page_boxes *p, const json_value *boxes, const json_value *types, size_t number,
                             const request_limits *limits, onet_error *err) {
    size_t n = json_elements(boxes);
    if (!json_is(boxes, '['))
        return fail(
            err, ONET_BAD,
            "request:%zu: field `boxes` is missing or not a list: {\"boxes\": [[x0, y0, x1, y1], ...]}",
            number);
    if (n > (size_t)limits->items)
        return fail(err, ONET_FAILED, "request:%zu: %zu boxes; this server takes at most %d", number, n,
                    limits->items);
    if (types && json_elements(types) != n)
        return fail(err, ONET_BAD,
                    "request:%zu: field `types` must have one string for each of the %zu boxes", number, n);
    p->n = (int)n; /* 0: a blank page */
    p->confidence = 1;
    p->boxes = array_new(4 * n + 1, sizeof *p->boxes);
    p->regions = array_new(n + 1, sizeof *p->regions);
    p->order = array_new(n + 1, sizeof *p->order);
    onet_status status = p->boxes && p->regions && p->order ? ONET_OK : fail_memory(err, "the boxes");
    for (size_t i = 0; i < n && !status; i++) {
        const json_value *type = json_element(types, i);
        status = read_box(p->boxes + 4 * i, &boxes->items[i], number, i, err);
        if (!status && types && !json_is(type, '"') && !json_is(type, 'n'))
            status = fail(err, ONET_BAD, "request:%zu: field `types`[%zu] is neither a string nor null",
                          number, i);
        p->regions[i] = (int32_t)onet_region_of(json_text(type));
    }
    return status;
}

/* The members of the body that are lists; NULL: missing. */
typedef struct lists {
    json_tree tree[3];
    const json_value *pages, *boxes, *types;
} lists;

static onet_status read_list(json_tree *tree, const json_value **value, const envelope *e, const char *key,
                             const char *body, onet_error *err) {
    const span *given = envelope_find(e, key);
    if (!given) return ONET_OK;
    json_scan s = scan_of(given->at, given->length);
    size_t valid = utf8_valid(given->at, given->length);
    if (valid < given->length) {
        s.at += valid;
        scan_fail(&s, "text in UTF-8");
    } else if (json_tree_read(tree, &s)) {
        *value = &tree->root;
        return ONET_OK;
    }
    if (!s.expected) return fail_memory(err, "the boxes");
    return fail(err, ONET_BAD, "field `%s`: not valid JSON at byte %td of the body: expected %s", key,
                s.at - body + 1, s.expected);
}

static void free_lists(lists *l) {
    for (int i = 0; i < 3; i++) json_tree_free(&l->tree[i]);
}

/* Refuses other keys than those of a page, and a key that is there twice. */
static onet_status check_keys(const json_value *p, size_t number, onet_error *err) {
    for (size_t i = 0; json_is(p, '{') && i < p->count; i += 2) {
        const char *key = p->items[i].text;
        if (strcmp(key, "boxes") && strcmp(key, "types"))
            return fail(err, ONET_BAD, "request:%zu: unknown key; a page has `boxes` and `types`", number);
        if (json_is_twice(p, key))
            return fail(err, ONET_BAD, "request:%zu: the key `%s` is there twice", number, key);
    }
    return ONET_OK;
}

/* What a page of n regions costs, in the unit of limits->cells and by n * n; measured roughly. */
static const double PAGE_COST = 100;

static onet_status add_pages(pages_request *r, const lists *l, const request_limits *limits,
                             onet_error *err) {
    size_t count = l->pages ? json_elements(l->pages) : 1;
    double cells = 0;
    if (l->pages && (l->boxes || l->types))
        return fail(err, ONET_BAD,
                    "field `boxes` or `types` stands beside `pages`; they belong in each page");
    if (!count) return fail(err, ONET_BAD, "field `pages` is not a list of pages");
    if (count > (size_t)limits->sets)
        return fail(err, ONET_FAILED, "%zu pages; this server takes at most %d", count, limits->sets);
    if (!(r->pages = array_new(count, sizeof *r->pages))) return fail_memory(err, "the pages");
    onet_status status = ONET_OK;
    for (; r->count < count && !status; r->count++) {
        const json_value *p = json_element(l->pages, r->count),
                         *boxes = p ? json_member(p, "boxes") : l->boxes,
                         *types = p ? json_member(p, "types") : l->types;
        page_boxes *to = &r->pages[r->count];
        status = check_keys(p, r->count + 1, err);
        if (!status) status = read_page(to, boxes, types, r->count + 1, limits, err);
        cells += PAGE_COST * to->n * to->n;
        if (!status) status = request_cells(cells, limits, err);
    }
    return status;
}

static onet_status parse(request *base, const service *shared, char *body, size_t length, onet_error *err) {
    pages_request *r = (pages_request *)(void *)base;
    static const char *const options[] = {"model", "direction", "pages", "boxes", "types", NULL};
    envelope e;
    lists l = {0};
    onet_status status = envelope_members(&e, body, length, err);
    if (!status) status = request_keys(&e, options, NULL, err);
    if (!status) status = request_choice(&e, "direction", page_directions(), &r->rtl, err);
    if (!status && (envelope_find(&e, "model") || models_find(shared->m, "pages", 5))) {
        model_slot *slot;
        if ((status = request_model(&e, shared, "pages", &slot, err))) return status;
        r->slot = slot;
        r->version = model_acquire(slot);
        status = pages_model_check(r->version->model, slot->name, err);
    }
    if (!status) status = read_list(&l.tree[0], &l.pages, &e, "pages", body, err);
    if (!status) status = read_list(&l.tree[1], &l.boxes, &e, "boxes", body, err);
    if (!status) status = read_list(&l.tree[2], &l.types, &e, "types", body, err);
    if (!status) status = add_pages(r, &l, &shared->limits, err);
    free_lists(&l);
    return status;
}

static void answer(const request *base, text *t) {
    const pages_request *r = (const pages_request *)(const void *)base;
    if (r->slot)
        text_printf(t, "{\"model\":\"%s\",\"answers\":[", r->slot->name);
    else
        text_put(t, "{\"rule\":\"gutters\",\"answers\":[");
    for (size_t i = 0; i < r->count; i++) {
        text_put(t, i ? ",{\"order\":" : "{\"order\":");
        text_order(t, r->pages[i].order, (size_t)r->pages[i].count);
        if (r->pages[i].confidence > 0) text_printf(t, ",\"confidence\":%.3f", r->pages[i].confidence);
        text_put(t, "}");
    }
    text_put(t, "]}\n");
}

static onet_status find_model(desk *d, pages_request *r) {
    if (d->pages && d->version == r->version) return ONET_OK;
    onet_pages_free(d->pages);
    model_release(d->version);
    d->pages = NULL;
    d->version = NULL;
    onet_order_options o = {.size = sizeof o, .threads = 1, .kernels = d->kernels, .device = "cpu"};
    onet_status status = onet_pages_new(&d->pages, r->version ? r->version->model : NULL, &o, &r->r.err);
    if (status || !r->version) return status;
    atomic_fetch_add(&r->version->users, 1);
    d->version = r->version;
    return ONET_OK;
}

/* Puts a request at the end of the queue. */
static void add(desk *d, pages_request *r) {
    r->next = NULL;
    pthread_mutex_lock(&d->lock);
    *d->last = r;
    d->last = &r->next;
    d->queued++;
    pthread_cond_signal(&d->news);
    pthread_mutex_unlock(&d->lock);
}

static void *work(void *context) {
    desk *d = context;
    for (;;) {
        pthread_mutex_lock(&d->lock);
        while (!d->first && !d->stop) pthread_cond_wait(&d->news, &d->lock);
        pages_request *r = d->first;
        if (r) {
            d->first = r->next;
            if (!d->first) d->last = &d->first;
            d->queued--;
        }
        pthread_mutex_unlock(&d->lock);
        if (!r) return NULL;
        page_boxes *p = &r->pages[r->ordered++];
        onet_error *err = &r->r.err;
        r->r.status = find_model(d, r);
        if (!r->r.status && p->n)
            r->r.status = onet_pages_order_confidence(d->pages, p->boxes, p->regions, p->n, r->rtl, p->order,
                                                      &p->count, &p->confidence, err);
        if (r->r.status) error_prefix(err, "request:%zu", r->ordered);
        if (r->r.status || r->ordered == r->count)
            r->r.done(&r->r);
        else
            add(d, r);
    }
}

static void submit(request *base, const service *shared) {
    (void)shared;
    add(base->worker, (pages_request *)(void *)base);
}

static onet_status open_desk(void **worker, const service *shared, onet_error *err) {
    desk *d = calloc(1, sizeof *d);
    if (!d) return fail_memory(err, "a queue");
    d->kernels = shared->kernels;
    d->last = &d->first;
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->news, NULL);
    if (pthread_create(&d->thread, NULL, work, d)) {
        free(d);
        return fail(err, ONET_FAILED, "cannot start a thread; are there too many?");
    }
    *worker = d;
    return ONET_OK;
}

static void close_desk(void *worker) {
    desk *d = worker;
    if (!d) return;
    pthread_mutex_lock(&d->lock);
    d->stop = true;
    pthread_cond_signal(&d->news);
    pthread_mutex_unlock(&d->lock);
    pthread_join(d->thread, NULL);
    pthread_cond_destroy(&d->news);
    pthread_mutex_destroy(&d->lock);
    onet_pages_free(d->pages);
    model_release(d->version);
    free(d);
}

static void metrics(void *worker, text *t) {
    desk *d = worker;
    pthread_mutex_lock(&d->lock);
    size_t queued = d->queued;
    pthread_mutex_unlock(&d->lock);
    text_printf(
        t,
        "# HELP ordernet_queue_pages Requests waiting for the order of pages.\n# TYPE ordernet_queue_pages "
        "gauge\nordernet_queue_pages %zu\n",
        queued);
}

const endpoint pages_endpoint = {
    .path = "/v1/pages",
    .answers = "the reading order of pages",
    .size = sizeof(pages_request),
    .open = open_desk,
    .close = close_desk,
    .metrics = metrics,
    .parse = parse,
    .submit = submit,
    .answer = answer,
    .release = release,
};
