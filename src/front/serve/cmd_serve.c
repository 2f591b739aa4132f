/* ordernet serve: loads the models, reads the token, and runs the HTTP server until a signal ends it; SIGHUP
 * reloads models and page, SIGTERM and Ctrl-C finish the requests under way. */
#include <ctype.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/command.h"
#include "app/model_path.h"
#include "app/task.h"
#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "front/serve/server.h"

enum { TOKEN = 1024 };

typedef struct serve_values {
    option_list models, names, origins;
    const char *token_file, *site;
    server_options server;
    int max_body, max_header;
    double max_cells, wait;
} serve_values;

static void defaults(void *values) {
    serve_values *v = values;
    v->server = (server_options){.host = "127.0.0.1",
                                 .port = 8080,
                                 .limits = {.sets = 1024, .items = 1000, .beam = 200, .seconds = 10},
                                 .queue = 1000,
                                 .timeout = 30,
                                 .batch = {.device = "cpu"}};
    v->max_body = 4 << 20;
    v->max_header = 16 << 10;
    v->max_cells = 2e8;
    v->wait = 1;
}

/* ---- Before ------------------------------------------------------------------------------------------ */

static onet_status load_models(models *m, const option_list *given, onet_error *err) {
    onet_status status = ONET_OK;
    for (int i = 0; i < given->count && !status; i++) status = models_add(m, given->value[i], err);
    for (const task *const *t = tasks; !given->count && *t && !status; t++) {
        char path[PATH_MAX], both[PATH_MAX + 64];
        if (!(*t)->model_file) continue;
        status = model_path(path, sizeof path, (*t)->model_file, err);
        if (status) break;
        snprintf(both, sizeof both, "%s=%s", (*t)->model_name, path);
        status = models_add(m, both, err);
    }
    return status;
}

/* Reads the first line of the file, without white space around it. */
static onet_status read_token(char token[TOKEN], const char *path, onet_error *err) {
    input *in;
    char *line;
    onet_status status = input_open(&in, path, err);
    if (status) return status;
    input_line_limit(in, TOKEN - 1);
    status = input_line(in, &line, NULL, NULL, err);
    token[0] = '\0';
    if (!status && line) {
        while (isspace((unsigned char)*line)) line++;
        size_t length = strlen(line);
        while (length && isspace((unsigned char)line[length - 1])) length--;
        snprintf(token, TOKEN, "%.*s", (int)length, line);
    }
    input_close(in);
    if (!status && !token[0])
        status = fail(err, ONET_BAD, "%s: the first line is empty; put the token there", path);
    return status;
}

/* Checks that it is written as browsers write the header Origin. */
static onet_status check_origin(const char *origin, onet_error *err) {
    const char *host = strstr(origin, "://");
    if (!strcmp(origin, "*") || (host && host > origin && host[3] && !strpbrk(host + 3, "/ ,")))
        return ONET_OK;
    return fail(err, ONET_USAGE, "--allow-origin takes an origin such as https://example.org, or *, not '%s'",
                origin);
}

/* ---- Until a signal ---------------------------------------------------------------------------------- */

static void reload(models *m, server *s) {
    onet_error err;
    for (int i = 0; i < m->count; i++) {
        bool changed;
        onet_status status = model_reload(&m->slot[i], &changed, &err);
        if (status)
            fprintf(stderr, "ordernet serve: model %s stays as it was: %s\n", m->slot[i].name, err.text);
        else if (changed)
            fprintf(stderr, "ordernet serve: model %s loaded again\n", m->slot[i].name);
    }
    if (server_refresh(s, &err))
        fprintf(stderr, "ordernet serve: the browser page stays as it was: %s\n", err.text);
}

/* Waits until no request has been under way for a moment, so that one in a socket's buffer gets its answer
 * too. A second signal, or clients slower than the timeout, end the wait. */
static void drain(server *s, const sigset_t *signals, double timeout) {
    static const struct timespec moment = {.tv_nsec = 50 * 1000000L};
    double until = clock_seconds() + timeout + 1;
    server_quiesce(s);
    for (int calm = 0; calm < 4 && clock_seconds() < until; calm = server_under_way(s) ? 0 : calm + 1) {
        int number = sigtimedwait(signals, NULL, &moment);
        if (number == SIGTERM || number == SIGINT) break;
        server_watch(s);
    }
    /* Work of the engine cannot be interrupted. */
    server_hurry(s);
    while (server_working(s)) sigtimedwait(signals, NULL, &moment);
}

static void serve(models *m, server *s, const sigset_t *signals, double timeout) {
    static const struct timespec moment = {.tv_nsec = 250 * 1000000L};
    for (;;) {
        int number = sigtimedwait(signals, NULL, &moment);
        server_watch(s);
        if (number == SIGHUP) reload(m, s);
        if (number != SIGTERM && number != SIGINT) continue;
        fprintf(stderr, "ordernet serve: finishing what is under way\n");
        drain(s, signals, timeout);
        return;
    }
}

static bool is_loopback(const char *host) {
    return !strncmp(host, "127.", 4) || !strcmp(host, "::1") || !strcmp(host, "localhost");
}

static onet_status run(void *values, int count, char **operands, onet_error *err) {
    (void)count, (void)operands;
    serve_values *v = values;
    server_options *o = &v->server;
    char token[TOKEN], site[PATH_MAX];
    o->body = (size_t)v->max_body;
    o->header = (size_t)v->max_header;
    o->limits.cells = v->max_cells;
    o->batch.wait = v->wait / 1000;
    o->name = v->names.value;
    o->names = v->names.count;
    o->origin = v->origins.value;
    o->origins = v->origins.count;
    o->site = v->site ? v->site : site_path(site, sizeof site) ? site : NULL;
    models *m = calloc(1, sizeof *m);
    server *s = NULL;
    onet_status status = m ? ONET_OK : fail_memory(err, "the models");
    for (int i = 0; i < o->origins && !status; i++) status = check_origin(o->origin[i], err);
    if (!status && v->token_file && !(status = read_token(token, v->token_file, err))) o->token = token;
    if (!status) status = load_models(m, &v->models, err);
    /* All threads are started with the signals blocked: only sigtimedwait gets them. */
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGHUP);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    if (!status) status = server_start(&s, m, o, err);
    if (!status) {
        char names[1024];
        if (!o->token && !is_loopback(o->host))
            fprintf(stderr,
                    "ordernet serve: warning: anyone who can reach %s may use this server; --token-file "
                    "requires a "
                    "token\n",
                    o->host);
        printf("serving %s at http://%s%s%s:%d/\n", models_names(m, names, sizeof names),
               strchr(o->host, ':') ? "[" : "", o->host, strchr(o->host, ':') ? "]" : "", server_port(s));
        fflush(stdout);
        serve(m, s, &signals, o->timeout);
    }
    server_stop(s);
    if (m) models_free(m);
    free(m);
    return status;
}

#define AT(name) offsetof(serve_values, name)

static const option options[] = {
    OPTION(LIST, "model", AT(models), .argument = "NAME=FILE",
           .default_text = "the shipped model of each task",
           .help = "A model and the name that requests call it by; may be given several times."),

    {.group = "Where"},
    OPTION(INT, "port", AT(server.port), .argument = "N", RANGE(0, 65535),
           .help = "Port to listen on; 0 takes a free one."),
    OPTION(STRING, "host", AT(server.host), .argument = "ADDRESS",
           .help = "Address to listen at; 0.0.0.0 is every IPv4 address of this machine."),
    OPTION(LIST, "host-name", AT(names), .argument = "NAME", .default_text = "localhost and the address",
           .help =
               "Accept requests whose Host header has this name, for a server behind a proxy or with a DNS "
               "name; may be given several times. Other names are refused, against DNS rebinding."),
    OPTION(LIST, "allow-origin", AT(origins), .argument = "ORIGIN", .default_text = "none",
           .help = "Allow requests from pages of this origin, such as https://example.org (CORS); * allows "
                   "any. May be given several times."),
    OPTION(STRING, "token-file", AT(token_file), .argument = "FILE",
           .help = "Answer only requests with 'Authorization: Bearer TOKEN', the token being the first line "
                   "of this file. The browser page, /healthz and /openapi.json need none."),
    OPTION(STRING, "page", AT(site), .argument = "DIR",
           .default_text = "the page beside the program, or that of the installation",
           .help = "Folder of static files that is served at /."),

    {.group = "Limits"},
    OPTION(INT, "max-body", AT(max_body), .argument = "BYTES", RANGE(1, 1 << 30),
           .help = "Longest body of a request."),
    OPTION(INT, "max-header", AT(max_header), .argument = "BYTES", RANGE(1024, 1 << 20),
           .help = "Longest headers of a request."),
    OPTION(INT, "max-sets", AT(server.limits.sets), .argument = "N", RANGE(1, 1 << 20),
           .help = "Sets per request."),
    OPTION(INT, "max-items", AT(server.limits.items), .argument = "N", RANGE(1, 1 << 20),
           .help = "Items per set."),
    OPTION(INT, "max-beam", AT(server.limits.beam), .argument = "K", RANGE(1, 100000),
           .help = "Widest beam, and most orders, that a request may ask for."),
    OPTION(DOUBLE, "max-cells", AT(max_cells), .argument = "N", RANGE(1, 1e15),
           .help = "Work of a request: items^2 * beam, summed over its sets."),
    OPTION(DOUBLE, "max-seconds", AT(server.limits.seconds), .argument = "S", RANGE(0.001, 86400),
           .help = "Time limit of a request for tours, shared by its sets."),
    OPTION(INT, "connections", AT(server.connections), .argument = "N", RANGE(2, 100000),
           .default_text = "1000, or as many as the process may open files for",
           .help = "Open connections; more wait until one is closed."),
    OPTION(INT, "queue", AT(server.queue), .argument = "N", RANGE(1, 1 << 20),
           .help = "Requests that may wait for the engine; more get 503."),
    OPTION(
        DOUBLE, "timeout", AT(server.timeout), .argument = "SECONDS", RANGE(0.1, 86400),
        .help =
            "Time in which a client has to send a request, and to take its answer; slower ones are cut off."),

    {.group = "Machine"},
    OPTION(DOUBLE, "wait", AT(wait), .argument = "MS", RANGE(0, 1000),
           .help = "Longest time that a request waits for others to be ordered with, in milliseconds. It "
                   "waits only while fewer requests are queued than the last batch had."),
    OPTION_THREADS(AT(server.batch.threads)),
    OPTION_KERNELS(AT(server.batch.kernels)),
    OPTION(STRING, "device", AT(server.batch.device), .argument = "DEVICE",
           .help = "Where to compute: auto, cpu, cuda or cuda:N."),
    {0},
};

const command cmd_serve = {
    .name = "serve",
    .summary = "Answer requests over HTTP",
    .about =
        "Serves the page at / and a JSON API: POST /v1/order, and a path for each task, give the answers of "
        "the commands; GET /openapi.json lists all paths, /v1/models the models; /healthz and /metrics "
        "(Prometheus) tell about the server. Requests that arrive together are ordered together. "
        "docs/server.md shows all of it with curl.\n\n"
        "SIGHUP loads the models whose files have changed; requests under way keep the model that they "
        "began with. SIGTERM and Ctrl-C stop listening and end the program when all requests have their "
        "answers; a second one ends it without waiting for slow clients.",
    .examples = "ordernet serve\n"
                "ordernet serve --model sort=sort.safetensors --port 8080\n"
                "ordernet serve --host 0.0.0.0 --token-file token.txt",
    .options = options,
    .size = sizeof(serve_values),
    .defaults = defaults,
    .run = run,
};
