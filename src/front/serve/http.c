/* Handles one HTTP request (callbacks of libmicrohttpd): checks headers, token, method and type, reads the
 * body, submits it to its endpoint, and suspends the connection until the answer is ready. Also the callbacks
 * for connections that open or close. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "front/serve/exchange.h"
#include "front/serve/headers.h"

enum { HELD_BODIES = 64 };

/* ---- The engine's part ------------------------------------------------------------------------------- */

/* Called from another thread when the answer is ready. */
static void resume(request *r) {
    exchange *x = r->context;
    server *s = x->s; /* x may be freed as soon as its connection resumes */
    atomic_fetch_sub(&s->queued, 1);
    MHD_resume_connection(x->connection);
    atomic_fetch_sub(&s->suspended, 1);
}

static onet_status parse(exchange *x) {
    const endpoint *to = route_endpoint(x->to);
    char nothing[1] = "", *body = x->body.data ? x->body.data : nothing;
    if (!(x->asked = calloc(1, to->size))) return fail_memory(&x->err, "a request");
    *x->asked = (request){.to = to, .worker = x->s->worker[x->to], .done = resume, .context = x};
    return to->parse(x->asked, &x->s->shared, body, x->body.length, &x->err);
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
        return reply_error(x, 503, "too many requests are waiting; try again in a second");
    }
    onet_status status = parse(x);
    drop_body(x);
    if (status) {
        atomic_fetch_sub(&s->queued, 1);
        return reply_failure(x, status);
    }
    x->submitted = true;
    /* Before the job is submitted: its answer may arrive at once. */
    atomic_fetch_add(&s->suspended, 1);
    MHD_suspend_connection(x->connection);
    x->asked->to->submit(x->asked, &s->shared);
    return MHD_YES;
}

static enum MHD_Result answer(exchange *x) {
    if (x->asked->status) {
        x->err = x->asked->err;
        return reply_failure(x, x->asked->status);
    }
    text t = {0};
    x->asked->to->answer(x->asked, &t);
    return reply_text(x, &t, "application/json");
}

/* ---- From the headers on ----------------------------------------------------------------------------- */

/* Compares in a time that does not depend on how many characters agree. */
static bool same_token(const char *given, const char *token) {
    size_t length = strlen(given), expected = strlen(token);
    volatile size_t differs = length ^ expected;
    for (size_t i = 0; i < length; i++) differs |= (size_t)(unsigned char)(given[i] ^ token[i % expected]);
    return !differs;
}

static bool allowed(exchange *x) {
    static const char scheme[] = "Bearer ";
    if (!x->s->o.token || x->to == ROUTE_SITE || x->to == ROUTE_HEALTH || x->to == ROUTE_OPENAPI) return true;
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

/* Checks the headers. A refusal is sent when the body has been read, so that the connection can be used
 * again; a body that is too long is not read. */
static enum MHD_Result begin(exchange *x, const char *method, const char *version) {
    bool posts = x->to < ENDPOINTS;
    const server_options *o = &x->s->o;
    const char *why;
    x->post = !strcmp(method, "POST");
    int code = headers_check(x->connection, version, &(header_rules){o->host, o->name, o->names}, &why);
    if (!code && !path_is_plain(x->path)) {
        code = 400;
        why = "the path has a control character";
    }
    if (code) {
        x->last = true;
        return reply_error(x, code, why);
    }
    enum MHD_Result queued;
    if (!strcmp(method, "OPTIONS") && reply_preflight(x, &queued)) return queued;
    if (MHD_get_connection_info(x->connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE)->header_size >
        x->s->o.header)
        refuse(x, 431, "the headers are longer than this server takes");
    if (!allowed(x))
        refuse(x, 401, "the token is missing or wrong: send it as 'Authorization: Bearer TOKEN'");
    if (posts && !x->post) refuse(x, 405, "this path takes POST");
    if (!posts && strcmp(method, "GET") && strcmp(method, "HEAD")) refuse(x, 405, "this path takes GET");
    if (posts && !is_json(x))
        refuse(x, 415, "the body must be JSON, with the header Content-Type: application/json");
    const char *length = MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, "Content-Length");
    if (!length || strtoull(length, NULL, 10) <= x->s->o.body) return MHD_YES;
    x->code = 0;
    char sentence[128];
    snprintf(sentence, sizeof sentence, "the body is longer than the %zu bytes that this server takes",
             x->s->o.body);
    return reply_error(x, 413, sentence);
}

static enum MHD_Result take_body(exchange *x, const char *data, size_t size) {
    server *s = x->s;
    x->body_read += size;
    /* The body has no Content-Length and is too long: some more of it is read, so that the client gets an
     * answer, but not all. */
    if (x->body_read > 4 * s->o.body) return MHD_NO;
    if (!x->post || x->to >= ENDPOINTS)
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

enum MHD_Result http_handle(void *context, struct MHD_Connection *connection, const char *path,
                            const char *method, const char *version, const char *data, size_t *size,
                            void **state) {
    exchange *x = *state;
    if (!x) {
        if (!(x = calloc(1, sizeof *x)) || !(x->path = strdup(path))) {
            free(x);
            return MHD_NO;
        }
        x->s = context;
        x->connection = connection;
        x->who = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
        x->to = route_find(path);
        x->began = clock_seconds();
        atomic_fetch_add(&x->s->counts.under_way, 1);
        *state = x;
        return begin(x, method, version);
    }
    if (*size) {
        size_t given = *size;
        *size = 0;
        return take_body(x, data, given);
    }
    if (x->answered) return MHD_YES;
    if (x->submitted) return answer(x);
    if (x->code) return reply_error(x, x->code, x->err.text);
    return x->to < ENDPOINTS ? submit(x) : reply_get(x);
}

void http_completed(void *context, struct MHD_Connection *connection, void **state,
                    enum MHD_RequestTerminationCode why) {
    (void)context, (void)connection, (void)why;
    exchange *x = *state;
    if (!x) return;
    server *s = x->s;
    if (x->answered) metrics_count(&s->counts, x->to, x->code, clock_seconds() - x->began);
    client_waited_for(&s->open, x->who);
    drop_body(x);
    if (x->asked) x->asked->to->release(x->asked);
    free(x->asked);
    free(x->path);
    free(x);
    *state = NULL;
    atomic_fetch_sub(&s->counts.under_way, 1);
}

void http_connected(void *context, struct MHD_Connection *connection, void **socket,
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
