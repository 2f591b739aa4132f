/* Sends HTTP responses: errors, JSON, the list of models, metrics, the OpenAPI document and the static files
 * of the browser page, each with its headers (CORS, caching, compression). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/error_line.h"
#include "engine/base/lines.h"
#include "front/serve/exchange.h"
#include "ordernet_io.h"
#include "ordernet_words.h"

/* The assembler copies docs/openapi.json into the program: the one in docs/ is the one that is served. */
extern const char openapi_json[] __attribute__((visibility("hidden")));
extern const char openapi_json_end[] __attribute__((visibility("hidden")));
__asm__(".section .rodata\n"
        ".global openapi_json\n.hidden openapi_json\nopenapi_json:\n"
        ".incbin \"docs/openapi.json\"\n"
        ".global openapi_json_end\n.hidden openapi_json_end\nopenapi_json_end:\n.byte 0\n"
        ".previous\n");

static const char API_POLICY[] = "default-src 'none'; frame-ancestors 'none'";
static const char SITE_POLICY[] =
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";

/* Returns the value of Access-Control-Allow-Origin for the origin of the request; NULL: it is not allowed. */
static const char *origin_allowed(const exchange *x) {
    const server_options *o = &x->s->o;
    const char *given =
        o->origins ? MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, "Origin") : NULL;
    for (int i = 0; i < o->origins && given; i++)
        if (!strcmp(o->origin[i], "*") || !strcmp(o->origin[i], given)) return o->origin[i];
    return NULL;
}

static void add_origin(const exchange *x, struct MHD_Response *response, bool api) {
    const char *origin = api ? origin_allowed(x) : NULL;
    MHD_add_response_header(response, "Cross-Origin-Resource-Policy",
                            origin ? "cross-origin" : "same-origin");
    if (api && x->s->o.origins) MHD_add_response_header(response, "Vary", "Origin");
    if (!origin) return;
    MHD_add_response_header(response, "Access-Control-Allow-Origin", origin);
    MHD_add_response_header(response, "Access-Control-Expose-Headers", "Retry-After");
}

static enum MHD_Result send_response(exchange *x, int code, struct MHD_Response *response, const char *type,
                                     const char *policy) {
    if (!response) return MHD_NO;
    MHD_add_response_header(response, "Content-Type", type);
    MHD_add_response_header(response, "Content-Security-Policy", policy);
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
    MHD_add_response_header(response, "Cross-Origin-Opener-Policy", "same-origin");
    MHD_add_response_header(response, "Cross-Origin-Embedder-Policy", "require-corp");
    add_origin(x, response, policy == API_POLICY);
    if (policy == API_POLICY) MHD_add_response_header(response, "Cache-Control", "no-store");
    if (code == 503) MHD_add_response_header(response, "Retry-After", "1");
    if (code == 401) MHD_add_response_header(response, "WWW-Authenticate", "Bearer");
    if (code == 405) MHD_add_response_header(response, "Allow", x->to < ENDPOINTS ? "POST" : "GET, HEAD");
    if (x->last || atomic_load(&x->s->draining)) MHD_add_response_header(response, "Connection", "close");
    enum MHD_Result queued = MHD_queue_response(x->connection, (unsigned)code, response);
    MHD_destroy_response(response);
    x->code = code;
    x->answered = true;
    client_waited_for(&x->s->open, x->who);
    return queued;
}

enum MHD_Result reply_error(exchange *x, int code, const char *sentence) {
    text t = {0};
    text_put(&t, "{\"error\":");
    text_string(&t, sentence, strlen(sentence));
    text_put(&t, "}\n");
    if (t.failed) {
        free(t.data);
        return MHD_NO;
    }
    return send_response(x, code, MHD_create_response_from_buffer(t.length, t.data, MHD_RESPMEM_MUST_FREE),
                         "application/json", API_POLICY);
}

bool reply_preflight(exchange *x, enum MHD_Result *queued) {
    if (x->to == ROUTE_SITE || !origin_allowed(x) ||
        !MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, "Access-Control-Request-Method"))
        return false;
    struct MHD_Response *response = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    if (response) {
        MHD_add_response_header(response, "Access-Control-Allow-Methods",
                                x->to < ENDPOINTS ? "POST" : "GET, HEAD");
        MHD_add_response_header(response, "Access-Control-Allow-Headers", "Authorization, Content-Type");
        MHD_add_response_header(response, "Access-Control-Max-Age", "600");
    }
    *queued = send_response(x, 204, response, "text/plain", API_POLICY);
    return true;
}

static enum MHD_Result send_text(exchange *x, text *t, const char *type, const char *policy) {
    if (t->failed) {
        free(t->data);
        return reply_error(x, 503, "not enough memory for the answer");
    }
    return send_response(x, 200, MHD_create_response_from_buffer(t->length, t->data, MHD_RESPMEM_MUST_FREE),
                         type, policy);
}

enum MHD_Result reply_text(exchange *x, text *t, const char *type) {
    return send_text(x, t, type, API_POLICY);
}

static int code_of(onet_status status) {
    switch (status) {
    case ONET_BAD:
    case ONET_USAGE:
        return 400;
    case ONET_IO:
        return 404;
    case ONET_FAILED:
        return 413;
    case ONET_MEMORY:
        return 503;
    default:
        return 500;
    }
}

/* The field_namer of the server: the request's field for a library field; false: clients cannot set it. */
static bool request_field(const char *field, char name[FIELD_NAME]) {
    static const char *const known[] = {"decode", "beam", "top", "seed"};
    static const char options[] = "onet_order_options.";
    if (strncmp(field, options, sizeof options - 1) != 0) return false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(field + sizeof options - 1, known[i]))
            return snprintf(name, FIELD_NAME, "`%s`", known[i]) > 0;
    return false;
}

enum MHD_Result reply_failure(exchange *x, onet_status status) {
    char line[ERROR_LINE];
    return reply_error(x, code_of(status), error_line(&x->err, request_field, line));
}

/* ---- GET --------------------------------------------------------------------------------------------- */

static void write_columns(text *t, const onet_columns *columns) {
    text_put(t, "\"columns\":[");
    for (int j = 0; j < onet_columns_width(columns); j++) {
        const char *name = onet_columns_name(columns, j);
        if (j) text_put(t, ",");
        text_string(t, name, strlen(name));
    }
    text_put(t, "],");
}

/* Writes how many relations a set needs beside its items, and their names if the model has them. */
static void write_relations(text *t, const onet_model *model) {
    const char *all = onet_model_relations(model), *name;
    int count = onet_model_given_relations(model);
    text_printf(t, "\"relations\":%d,", count);
    if (!all) return;
    text_put(t, "\"relation_names\":[");
    for (int r = 0; r < count; r++) {
        size_t length = lines_find(all, r, &name);
        if (r) text_put(t, ",");
        text_string(t, name, length);
    }
    text_put(t, "],");
}

static enum MHD_Result send_models(exchange *x) {
    text t = {0};
    text_put(&t, "{\"models\":[");
    for (int i = 0; i < x->s->shared.m->count; i++) {
        model_slot *slot = &x->s->shared.m->slot[i];
        model_version *v = model_acquire(slot);
        const onet_words *words = onet_model_words(v->model);
        char when[32];
        struct tm utc;
        strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&v->loaded, &utc));
        const onet_columns *columns = onet_model_columns(v->model);
        int width = columns ? onet_columns_width(columns) : onet_model_width(v->model);
        text_printf(&t, "%s{\"name\":\"%s\",\"items\":\"%s\",\"width\":%d,", i ? "," : "", slot->name,
                    words ? "words" : "numbers", width);
        if (columns && onet_columns_name(columns, 0)) write_columns(&t, columns);
        if (onet_model_given_relations(v->model)) write_relations(&t, v->model);
        if (words) text_printf(&t, "\"words\":%d,", onet_words_count(words));
        text_printf(&t, "\"parameters\":%zu,\"sha256\":\"%s\",\"loaded\":\"%s\"}",
                    onet_model_parameters(v->model, 0), v->checksum, when);
        model_release(v);
    }
    text_put(&t, "]}\n");
    return reply_text(x, &t, "application/json");
}

static enum MHD_Result send_metrics(exchange *x) {
    server *s = x->s;
    text t = {0};
    metrics_write(&s->counts, &t);
    text_put(&t, "# HELP ordernet_queue_requests Requests waiting to be ordered, by model.\n"
                 "# TYPE ordernet_queue_requests gauge\n");
    batcher_counts counts[MODELS];
    for (int i = 0; i < s->shared.m->count; i++) {
        counts[i] = batcher_count(s->shared.batch[i]);
        text_printf(&t, "ordernet_queue_requests{model=\"%s\"} %zu\n", s->shared.m->slot[i].name,
                    counts[i].queued);
    }
    const endpoint *e;
    for (int r = 0; (e = route_endpoint(r)); r++)
        if (e->metrics) e->metrics(s->worker[r], &t);
    text_put(&t, "# HELP ordernet_batches_total Batches ordered, by model.\n"
                 "# TYPE ordernet_batches_total counter\n");
    for (int i = 0; i < s->shared.m->count; i++)
        text_printf(&t, "ordernet_batches_total{model=\"%s\"} %llu\n", s->shared.m->slot[i].name,
                    counts[i].batches);
    text_put(&t, "# HELP ordernet_batched_requests_total Requests in these batches.\n"
                 "# TYPE ordernet_batched_requests_total counter\n");
    for (int i = 0; i < s->shared.m->count; i++)
        text_printf(&t, "ordernet_batched_requests_total{model=\"%s\"} %llu\n", s->shared.m->slot[i].name,
                    counts[i].requests);
    text_put(&t, "# HELP ordernet_sets_total Sets in these batches.\n# TYPE ordernet_sets_total counter\n");
    for (int i = 0; i < s->shared.m->count; i++)
        text_printf(&t, "ordernet_sets_total{model=\"%s\"} %llu\n", s->shared.m->slot[i].name,
                    counts[i].sets);
    text_put(&t, "# HELP ordernet_model_loads_total Times that a model's file was loaded.\n"
                 "# TYPE ordernet_model_loads_total counter\n");
    for (int i = 0; i < s->shared.m->count; i++)
        text_printf(&t, "ordernet_model_loads_total{model=\"%s\"} %u\n", s->shared.m->slot[i].name,
                    atomic_load(&s->shared.m->slot[i].loads));
    return reply_text(x, &t, "text/plain; version=0.0.4; charset=utf-8");
}

/* Whether a client takes gzip: Accept-Encoding names it or *, and not with the weight 0. */
static bool takes_gzip(exchange *x) {
    const char *given = MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, "Accept-Encoding");
    bool all = false;
    for (const char *at = given; at && *at; at += *at == ',') {
        at += strspn(at, " \t");
        size_t name = strcspn(at, " \t;,"), part = strcspn(at, ",");
        const char *weight = memchr(at, ';', part);
        bool none = weight && (weight += 1 + strspn(weight + 1, " \t")) < at + part &&
                    !strncasecmp(weight, "q=", 2) && strtod(weight + 2, NULL) == 0;
        if (name == 4 && !strncasecmp(at, "gzip", 4)) return !none;
        if (name == 1 && *at == '*') all = !none;
        at += part;
    }
    return all;
}

/* Sends a file, or 304 if the client has it. packed: gzip of the file, which the response frees; NULL: the
 * file is sent as it is. */
static enum MHD_Result send_file(exchange *x, int fd, const struct stat *state, const char *type,
                                 char *packed, size_t packed_size) {
    char tag[80];
    snprintf(tag, sizeof tag, "\"%llx-%llx-%llx%s\"", (unsigned long long)state->st_size,
             (unsigned long long)state->st_mtim.tv_sec, (unsigned long long)state->st_mtim.tv_nsec,
             packed ? "-gzip" : "");
    const char *known = MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, "If-None-Match");
    bool same = known && !strcmp(known, tag);
    struct MHD_Response *response;
    if (same) {
        response = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
        free(packed);
    } else if (packed) {
        response = MHD_create_response_from_buffer(packed_size, packed, MHD_RESPMEM_MUST_FREE);
        if (!response) free(packed);
    } else if ((response = MHD_create_response_from_fd64((uint64_t)state->st_size, fd))) {
        fd = -1;
    }
    if (fd >= 0) close(fd);
    if (response) {
        MHD_add_response_header(response, "ETag", tag);
        MHD_add_response_header(response, "Cache-Control", "no-cache");
        MHD_add_response_header(response, "Vary", "Accept-Encoding");
        if (packed && !same) MHD_add_response_header(response, "Content-Encoding", "gzip");
    }
    return send_response(x, same ? 304 : 200, response, type, SITE_POLICY);
}

/* Sends the page at "/" if no browser page is installed. */
static enum MHD_Result send_index(exchange *x) {
    text t = {0};
    text_put(&t,
             "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>OrderNet</title>\n"
             "<h1>OrderNet</h1>\n<p>This server puts sets in order. The page that shows it at work is not "
             "installed here; <code>make page</code> builds it.</p>\n<ul>\n");
    const endpoint *e;
    for (int r = 0; (e = route_endpoint(r)); r++)
        text_printf(&t, "<li><code>POST %s</code>: %s</li>\n", e->path, e->answers);
    text_put(
        &t,
        "<li><a href=\"/v1/models\">/v1/models</a>: the models</li>\n"
        "<li><a href=\"/openapi.json\">/openapi.json</a>: all of it, as OpenAPI</li>\n"
        "<li><a href=\"/healthz\">/healthz</a>, <a href=\"/metrics\">/metrics</a></li>\n</ul>\n</html>\n");
    return send_text(x, &t, "text/html; charset=utf-8", SITE_POLICY);
}

static enum MHD_Result send_site(exchange *x) {
    server *s = x->s;
    struct stat state;
    char *packed = NULL;
    size_t packed_size = 0;
    pthread_rwlock_rdlock(&s->site_lock);
    const site_file *file = site_files_find(&s->site, x->path);
    const char *type = file ? file->type : NULL;
    int fd = file ? site_file_open(&s->site, file, &state) : -1;
    /* A copy: a reload may free the list while it is sent. */
    if (fd >= 0 && site_file_packed(file, &state) && takes_gzip(x) && (packed = malloc(file->packed_size)))
        memcpy(packed, file->packed, packed_size = file->packed_size);
    pthread_rwlock_unlock(&s->site_lock);
    if (fd >= 0) return send_file(x, fd, &state, type, packed, packed_size);
    if (strcmp(x->path, "/"))
        return reply_error(x, 404, "there is nothing at this path; /openapi.json lists what there is");
    return send_index(x);
}

enum MHD_Result reply_get(exchange *x) {
    text t = {0};
    switch (x->to) {
    case ROUTE_MODELS:
        return send_models(x);
    case ROUTE_METRICS:
        return send_metrics(x);
    case ROUTE_OPENAPI:
        text_add(&t, openapi_json, (size_t)(openapi_json_end - openapi_json));
        return reply_text(x, &t, "application/json");
    case ROUTE_HEALTH:
        text_put(&t, "{\"status\":\"ok\"}\n");
        return reply_text(x, &t, "application/json");
    default:
        return send_site(x);
    }
}
