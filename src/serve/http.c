/* libmicrohttpd's callbacks: a request is read, checked and given to the batcher, its connection suspended
 * until the answer is there. */
#include <microhttpd.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "cli/fields.h"
#include "serve/clients.h"
#include "serve/files.h"
#include "serve/metrics.h"
#include "serve/openapi.h"
#include "serve/server.h"
#include "serve/tour.h"

enum { IO_THREADS = 2, HELD_BODIES = 64, REPLY_HEADER = 4096 };

struct server {
    server_options o;
    models *m;
    batcher *batch[MODELS];
    solver *tours;
    struct MHD_Daemon *daemon;
    metrics counts;
    clients open;
    pthread_rwlock_t page_lock;
    page_files page;
    atomic_int queued;    /* requests that wait for the engine or are in it */
    atomic_int suspended; /* connections */
    atomic_size_t held;   /* bytes of all bodies */
    atomic_bool quiet;    /* no longer listening */
};

/* One request and its answer. */
typedef struct exchange {
    /* One of them, by the route; first: the job is the beginning of both. */
    union {
        order_request order;
        tour_request tour;
    };
    server *s;
    struct MHD_Connection *connection;
    client *who;
    route to;
    char *path;
    text body;
    size_t body_read; /* with what was thrown away */
    double began;
    int code;            /* of the answer, or of the error that is known before the body is read */
    bool post, answered; /* answered: a response is queued */
    bool submitted;
    onet_error err;
} exchange;

/* ---- Responses --------------------------------------------------------------------------------------- */

static const char API_POLICY[] = "default-src 'none'; frame-ancestors 'none'";
static const char PAGE_POLICY[] =
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";

static enum MHD_Result send_response(exchange *x, int code, struct MHD_Response *response, const char *type,
                                     const char *policy) {
    if (!response) return MHD_NO;
    MHD_add_response_header(response, "Content-Type", type);
    MHD_add_response_header(response, "Content-Security-Policy", policy);
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
    MHD_add_response_header(response, "Cross-Origin-Opener-Policy", "same-origin");
    MHD_add_response_header(response, "Cross-Origin-Embedder-Policy", "require-corp");
    MHD_add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
    if (policy == API_POLICY) MHD_add_response_header(response, "Cache-Control", "no-store");
    if (code == 503) MHD_add_response_header(response, "Retry-After", "1");
    if (code == 401) MHD_add_response_header(response, "WWW-Authenticate", "Bearer");
    if (code == 405)
        MHD_add_response_header(response, "Allow", x->to <= ROUTE_UNSCRAMBLE ? "POST" : "GET, HEAD");
    if (atomic_load(&x->s->quiet)) MHD_add_response_header(response, "Connection", "close");
    enum MHD_Result queued = MHD_queue_response(x->connection, (unsigned)code, response);
    MHD_destroy_response(response);
    x->code = code;
    x->answered = true;
    client_waited_for(&x->s->open, x->who);
    return queued;
}

static enum MHD_Result send_error(exchange *x, int code, const char *sentence) {
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

/* Takes the text over. */
static enum MHD_Result send_text(exchange *x, text *t, const char *type) {
    if (t->failed) {
        free(t->data);
        return send_error(x, 503, "not enough memory for the answer");
    }
    return send_response(x, 200, MHD_create_response_from_buffer(t->length, t->data, MHD_RESPMEM_MUST_FREE),
                         type, API_POLICY);
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

static enum MHD_Result send_failure(exchange *x, onet_status status) {
    fields_to_options(&x->err); /* as the program does before it prints a sentence */
    return send_error(x, code_of(status), x->err.text);
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

static enum MHD_Result send_models(exchange *x) {
    text t = {0};
    text_put(&t, "{\"models\":[");
    for (int i = 0; i < x->s->m->count; i++) {
        model_slot *slot = &x->s->m->slot[i];
        model_version *v = model_take(slot);
        const onet_words *words = onet_model_words(v->model);
        char when[32];
        struct tm utc;
        strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&v->loaded, &utc));
        const onet_columns *columns = onet_model_columns(v->model);
        int width = columns ? onet_columns_width(columns) : onet_model_settings(v->model)->width;
        text_printf(&t, "%s{\"name\":\"%s\",\"items\":\"%s\",\"width\":%d,", i ? "," : "", slot->name,
                    words ? "words" : "numbers", width);
        if (columns && onet_columns_name(columns, 0)) write_columns(&t, columns);
        if (words) text_printf(&t, "\"words\":%d,", onet_words_count(words));
        text_printf(&t, "\"parameters\":%zu,\"sha256\":\"%s\",\"loaded\":\"%s\"}",
                    onet_model_parameters(v->model, 0), v->checksum, when);
        model_release(v);
    }
    text_put(&t, "]}\n");
    return send_text(x, &t, "application/json");
}

static enum MHD_Result send_metrics(exchange *x) {
    server *s = x->s;
    text t = {0};
    metrics_write(&s->counts, &t);
    text_put(&t, "# HELP ordernet_queue_requests Requests waiting to be ordered, by model.\n"
                 "# TYPE ordernet_queue_requests gauge\n");
    batcher_counts counts[MODELS];
    for (int i = 0; i < s->m->count; i++) {
        counts[i] = batcher_count(s->batch[i]);
        text_printf(&t, "ordernet_queue_requests{model=\"%s\"} %zu\n", s->m->slot[i].name, counts[i].queued);
    }
    text_printf(
        &t,
        "# HELP ordernet_queue_tours Requests waiting for a tour.\n# TYPE ordernet_queue_tours gauge\n"
        "ordernet_queue_tours %zu\n",
        solver_queued(s->tours));
    text_put(&t, "# HELP ordernet_batches_total Batches ordered, by model.\n"
                 "# TYPE ordernet_batches_total counter\n");
    for (int i = 0; i < s->m->count; i++)
        text_printf(&t, "ordernet_batches_total{model=\"%s\"} %llu\n", s->m->slot[i].name, counts[i].batches);
    text_put(&t, "# HELP ordernet_batched_requests_total Requests in these batches.\n"
                 "# TYPE ordernet_batched_requests_total counter\n");
    for (int i = 0; i < s->m->count; i++)
        text_printf(&t, "ordernet_batched_requests_total{model=\"%s\"} %llu\n", s->m->slot[i].name,
                    counts[i].requests);
    text_put(&t, "# HELP ordernet_sets_total Sets in these batches.\n# TYPE ordernet_sets_total counter\n");
    for (int i = 0; i < s->m->count; i++)
        text_printf(&t, "ordernet_sets_total{model=\"%s\"} %llu\n", s->m->slot[i].name, counts[i].sets);
    text_put(&t, "# HELP ordernet_model_loads_total Times that a model's file was loaded.\n"
                 "# TYPE ordernet_model_loads_total counter\n");
    for (int i = 0; i < s->m->count; i++)
        text_printf(&t, "ordernet_model_loads_total{model=\"%s\"} %u\n", s->m->slot[i].name,
                    atomic_load(&s->m->slot[i].loads));
    return send_text(x, &t, "text/plain; version=0.0.4; charset=utf-8");
}

static enum MHD_Result send_file(exchange *x, int fd, const struct stat *state, const char *type) {
    char tag[64];
    snprintf(tag, sizeof tag, "\"%llx-%llx-%llx\"", (unsigned long long)state->st_size,
             (unsigned long long)state->st_mtim.tv_sec, (unsigned long long)state->st_mtim.tv_nsec);
    const char *known = MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, "If-None-Match");
    bool same = known && !strcmp(known, tag);
    struct MHD_Response *response;
    if (same) {
        close(fd);
        response = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    } else if (!(response = MHD_create_response_from_fd64((uint64_t)state->st_size, fd))) {
        close(fd);
    }
    if (response) {
        MHD_add_response_header(response, "ETag", tag);
        MHD_add_response_header(response, "Cache-Control", "no-cache");
    }
    return send_response(x, same ? 304 : 200, response, type, PAGE_POLICY);
}

static enum MHD_Result send_page(exchange *x) {
    server *s = x->s;
    struct stat state;
    pthread_rwlock_rdlock(&s->page_lock);
    const page_file *file = page_files_find(&s->page, x->path);
    const char *type = file ? file->type : NULL;
    int fd = file ? page_file_open(file, &state) : -1;
    pthread_rwlock_unlock(&s->page_lock);
    if (fd >= 0) return send_file(x, fd, &state, type);
    if (strcmp(x->path, "/"))
        return send_error(x, 404, "there is nothing at this path; /openapi.json lists what there is");
    return send_response(x, 200,
                         MHD_create_response_from_buffer(strlen(page_index), (void *)(uintptr_t)page_index,
                                                         MHD_RESPMEM_PERSISTENT),
                         "text/html; charset=utf-8", PAGE_POLICY);
}

static enum MHD_Result get(exchange *x) {
    text t = {0};
    switch (x->to) {
    case ROUTE_MODELS:
        return send_models(x);
    case ROUTE_METRICS:
        return send_metrics(x);
    case ROUTE_OPENAPI:
        text_add(&t, openapi_json, (size_t)(openapi_json_end - openapi_json));
        return send_text(x, &t, "application/json");
    case ROUTE_HEALTH:
        text_put(&t, "{\"status\":\"ok\"}\n");
        return send_text(x, &t, "application/json");
    default:
        return send_page(x);
    }
}

/* ---- POST -------------------------------------------------------------------------------------------- */

/* The answer is there; from another thread. */
static void resume(exchange *x) {
    server *s = x->s; /* x is gone as soon as its connection goes on */
    atomic_fetch_sub(&s->queued, 1);
    MHD_resume_connection(x->connection);
    atomic_fetch_sub(&s->suspended, 1);
}

static void order_done(order_job *job) {
    exchange *x = (exchange *)(void *)job;
    x->err = job->err;
    resume(x);
}

static void tour_done(tour_job *job) {
    exchange *x = (exchange *)(void *)job;
    x->err = job->err;
    resume(x);
}

static onet_status parse(exchange *x) {
    server *s = x->s;
    const request_limits *limits = &s->o.limits;
    char nothing[1] = "", *body = x->body.data ? x->body.data : nothing;
    switch (x->to) {
    case ROUTE_ORDER:
        return order_request_parse(&x->order, s->m, limits, body, x->body.length, &x->err);
    case ROUTE_TOUR:
        return tour_request_parse(&x->tour, s->m, limits, body, x->body.length, &x->err);
    default:
        return unscramble_request_parse(&x->order, s->m, limits, body, x->body.length, &x->err);
    }
}

static void drop_body(exchange *x) {
    atomic_fetch_sub(&x->s->held, x->body.room);
    free(x->body.data);
    x->body = (text){0};
}

static enum MHD_Result submit(exchange *x) {
    server *s = x->s;
    client_waits(&s->open, x->who);
    if (atomic_fetch_add(&s->queued, 1) >= s->o.queue) {
        atomic_fetch_sub(&s->queued, 1);
        return send_error(x, 503, "too many requests are waiting; try again in a second");
    }
    onet_status status = parse(x);
    drop_body(x);
    if (status) {
        atomic_fetch_sub(&s->queued, 1);
        return send_failure(x, status);
    }
    x->submitted = true;
    /* Before the job is given away: its answer may be there at once. */
    atomic_fetch_add(&s->suspended, 1);
    MHD_suspend_connection(x->connection);
    if (x->to == ROUTE_TOUR) {
        x->tour.job.done = tour_done;
        solver_add(s->tours, &x->tour.job);
    } else {
        x->order.job.done = order_done;
        batcher_add(s->batch[x->order.slot - s->m->slot], &x->order.job);
    }
    return MHD_YES;
}

static enum MHD_Result answer(exchange *x) {
    onet_status status = x->to == ROUTE_TOUR ? x->tour.job.status : x->order.job.status;
    if (status) return send_failure(x, status);
    text t = {0};
    if (x->to == ROUTE_ORDER)
        order_request_answer(&x->order, &t);
    else if (x->to == ROUTE_TOUR)
        tour_request_answer(&x->tour, &t);
    else
        unscramble_request_answer(&x->order, &t);
    return send_text(x, &t, "application/json");
}

/* ---- A request, from its headers on ------------------------------------------------------------------ */

/* In a time that depends on the length of what was given alone. */
static bool same_token(const char *given, const char *token) {
    size_t length = strlen(given), expected = strlen(token);
    volatile size_t differs = length ^ expected;
    for (size_t i = 0; i < length; i++) differs |= (size_t)(unsigned char)(given[i] ^ token[i % expected]);
    return !differs;
}

static bool allowed(exchange *x) {
    static const char scheme[] = "Bearer ";
    if (!x->s->o.token || x->to == ROUTE_PAGE || x->to == ROUTE_HEALTH || x->to == ROUTE_OPENAPI) return true;
    const char *given = MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, "Authorization");
    return given && !strncasecmp(given, scheme, strlen(scheme)) &&
           same_token(given + strlen(scheme), x->s->o.token);
}

static bool is_json(exchange *x) {
    static const char json[] = "application/json";
    const char *type = MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, "Content-Type");
    return type && !strncasecmp(type, json, strlen(json)) && strchr("; ", type[strlen(json)]);
}

static void refuse(exchange *x, int code, const char *sentence) {
    if (x->code) return;
    x->code = code;
    fail(&x->err, ONET_BAD, "%s", sentence);
}

/* What the headers tell. A refusal is sent when the body has been read, so that the connection can be used
 * again; one that is too long is not read. */
static enum MHD_Result begin(exchange *x, const char *method) {
    bool posts = x->to <= ROUTE_UNSCRAMBLE;
    x->post = !strcmp(method, "POST");
    if (MHD_get_connection_info(x->connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE)->header_size >
        x->s->o.header)
        refuse(x, 431, "the headers are longer than this server takes");
    if (!allowed(x)) refuse(x, 401, "this server asks for its token: 'Authorization: Bearer TOKEN'");
    if (posts && !x->post) refuse(x, 405, "this path takes POST");
    if (!posts && strcmp(method, "GET") && strcmp(method, "HEAD")) refuse(x, 405, "this path takes GET");
    if (posts && !is_json(x)) refuse(x, 415, "the body must be JSON: 'Content-Type: application/json'");
    const char *length = MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, "Content-Length");
    if (!length || strtoull(length, NULL, 10) <= x->s->o.body) return MHD_YES;
    x->code = 0;
    char sentence[128];
    snprintf(sentence, sizeof sentence, "the body is longer than the %zu bytes that this server takes",
             x->s->o.body);
    return send_error(x, 413, sentence);
}

static enum MHD_Result take_body(exchange *x, const char *data, size_t size) {
    server *s = x->s;
    x->body_read += size;
    /* No Content-Length told of this: read a little more for the sake of a clear answer, not without end. */
    if (x->body_read > 4 * s->o.body) return MHD_NO;
    if (!x->post || x->to > ROUTE_UNSCRAMBLE)
        refuse(x, 413, "this path takes no body");
    else if (x->body_read > s->o.body)
        refuse(x, 413, "the body is longer than this server takes");
    if (x->code) {
        drop_body(x);
        return MHD_YES;
    }
    size_t before = x->body.room;
    text_add(&x->body, data, size);
    if (atomic_fetch_add(&s->held, x->body.room - before) > HELD_BODIES * s->o.body || x->body.failed) {
        refuse(x, 503, "the server holds too many requests; try again in a second");
        drop_body(x);
    }
    return MHD_YES;
}

static route find_route(const char *path) {
    for (int r = 0; r < ROUTE_PAGE; r++)
        if (!strcmp(path, route_path((route)r))) return (route)r;
    return ROUTE_PAGE;
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *path,
                              const char *method, const char *version, const char *data, size_t *size,
                              void **state) {
    (void)version;
    exchange *x = *state;
    if (!x) {
        if (!(x = calloc(1, sizeof *x)) || !(x->path = strdup(path))) {
            free(x);
            return MHD_NO;
        }
        x->s = context;
        x->connection = connection;
        x->who = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
        x->to = find_route(path);
        x->began = clock_seconds();
        atomic_fetch_add(&x->s->counts.under_way, 1);
        *state = x;
        return begin(x, method);
    }
    if (*size) {
        size_t given = *size;
        *size = 0;
        return take_body(x, data, given);
    }
    if (x->answered) return MHD_YES;
    if (x->submitted) return answer(x);
    if (x->code) return send_error(x, x->code, x->err.text);
    return x->to <= ROUTE_UNSCRAMBLE ? submit(x) : get(x);
}

static void completed(void *context, struct MHD_Connection *connection, void **state,
                      enum MHD_RequestTerminationCode why) {
    (void)context, (void)connection, (void)why;
    exchange *x = *state;
    if (!x) return;
    server *s = x->s;
    if (x->answered) metrics_count(&s->counts, x->to, x->code, clock_seconds() - x->began);
    client_waited_for(&s->open, x->who);
    drop_body(x);
    if (x->to == ROUTE_TOUR)
        tour_request_free(&x->tour);
    else
        order_request_free(&x->order);
    free(x->path);
    free(x);
    *state = NULL;
    atomic_fetch_sub(&s->counts.under_way, 1);
}

static void connected(void *context, struct MHD_Connection *connection, void **socket,
                      enum MHD_ConnectionNotificationCode what) {
    server *s = context;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        *socket = clients_add(
            &s->open, MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd);
        atomic_fetch_add(&s->counts.connections, 1);
    } else {
        clients_remove(&s->open, *socket);
        atomic_fetch_sub(&s->counts.connections, 1);
    }
}

/* ---- The server -------------------------------------------------------------------------------------- */

/* Each connection may have a file of the page open beside its own descriptor; the rest is for models,
 * standard streams and libmicrohttpd. */
static onet_status allow_descriptors(const server *s, onet_error *err) {
    struct rlimit limit;
    rlim_t need = 2 * (rlim_t)s->o.connections + 64;
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= need) return ONET_OK;
    limit.rlim_cur = need;
    if (need <= limit.rlim_max && !setrlimit(RLIMIT_NOFILE, &limit)) return ONET_OK;
    return fail(err, ONET_USAGE,
                "--connections %d may need %llu open files, but this process may have %llu; allow fewer "
                "connections, or raise the limit (ulimit -n)",
                s->o.connections, (unsigned long long)need, (unsigned long long)limit.rlim_max);
}

static onet_status listen_at(server *s, onet_error *err) {
    char port[16];
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV}, *found;
    snprintf(port, sizeof port, "%d", s->o.port);
    int wrong = getaddrinfo(s->o.host, port, &hints, &found);
    if (wrong) return fail(err, ONET_USAGE, "--host %s: %s", s->o.host, gai_strerror(wrong));
    /* Not epoll: with it, libmicrohttpd 0.9.75 misses that a client went away if that comes with the client's
     * last bytes, and keeps the connection until its time is over. */
    unsigned flags = MHD_USE_POLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME;
    if (found->ai_family == AF_INET6) flags |= MHD_USE_IPv6;
    /* The headers of the answer stand in the same memory as those of the request. */
    s->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, handle, s, MHD_OPTION_SOCK_ADDR, found->ai_addr, MHD_OPTION_THREAD_POOL_SIZE,
        (unsigned)IO_THREADS, MHD_OPTION_CONNECTION_MEMORY_LIMIT, s->o.header + REPLY_HEADER,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)s->o.connections, MHD_OPTION_LISTEN_BACKLOG_SIZE, 1024u,
        MHD_OPTION_LISTENING_ADDRESS_REUSE, 1u, MHD_OPTION_NOTIFY_COMPLETED, completed, s,
        MHD_OPTION_NOTIFY_CONNECTION, connected, s, MHD_OPTION_END);
    freeaddrinfo(found);
    if (s->daemon) return ONET_OK;
    return fail(err, ONET_IO, "cannot listen at %s, port %d; is the port in use, or the address not here?",
                s->o.host, s->o.port);
}

onet_status server_start(server **result, models *m, const server_options *options, onet_error *err) {
    *result = NULL;
    server *s = calloc(1, sizeof *s);
    if (!s) return fail_memory(err, "the server");
    s->o = *options;
    s->m = m;
    clients_start(&s->open);
    pthread_rwlock_init(&s->page_lock, NULL);
    onet_status status = s->o.page ? page_files_list(&s->page, s->o.page, err) : ONET_OK;
    for (int i = 0; i < m->count && !status; i++)
        status = batcher_new(&s->batch[i], &m->slot[i], &s->o.batch, err);
    if (!status) status = solver_new(&s->tours, s->o.batch.kernels, err);
    if (!status) status = allow_descriptors(s, err);
    if (!status) status = listen_at(s, err);
    if (status)
        server_stop(s);
    else
        *result = s;
    return status;
}

int server_port(const server *s) {
    return MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_BIND_PORT)->port;
}

void server_watch(server *s) {
    atomic_fetch_add(&s->counts.cut, clients_cut(&s->open, s->o.timeout));
}

onet_status server_refresh(server *s, onet_error *err) {
    for (int i = 0; i < s->m->count; i++) batcher_refresh(s->batch[i]);
    if (!s->o.page) return ONET_OK;
    page_files fresh = {0};
    onet_status status = page_files_list(&fresh, s->o.page, err);
    if (status) return status;
    pthread_rwlock_wrlock(&s->page_lock);
    page_files old = s->page;
    s->page = fresh;
    pthread_rwlock_unlock(&s->page_lock);
    page_files_free(&old);
    return ONET_OK;
}

void server_quiesce(server *s) {
    atomic_store(&s->quiet, true);
    MHD_socket listening = MHD_quiesce_daemon(s->daemon);
    if (listening != MHD_INVALID_SOCKET) close(listening);
}

int server_under_way(const server *s) {
    return atomic_load(&s->counts.under_way);
}

void server_hurry(server *s) {
    solver_hurry(s->tours);
}

int server_working(const server *s) {
    return atomic_load(&s->suspended);
}

void server_stop(server *s) {
    if (!s) return;
    if (s->daemon) MHD_stop_daemon(s->daemon);
    for (int i = 0; i < s->m->count; i++) batcher_free(s->batch[i]);
    solver_free(s->tours);
    page_files_free(&s->page);
    pthread_rwlock_destroy(&s->page_lock);
    pthread_mutex_destroy(&s->open.lock);
    free(s);
}
