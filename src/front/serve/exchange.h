/* Declares what the files of the HTTP server share: the structs of the server and of one exchange (a request
 * and its response), routes, counts, static files, the callbacks of libmicrohttpd, replies. */
#ifndef SERVE_EXCHANGE_H
#define SERVE_EXCHANGE_H

#include <microhttpd.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "front/serve/clients.h"
#include "front/serve/server.h"

/* ---- Routes (routes.c) ------------------------------------------------------------------------------- */

/* A route is a number: that of an endpoint, below ENDPOINTS, or one of these. */
enum {
    ENDPOINTS = 16,
    ROUTE_MODELS = ENDPOINTS,
    ROUTE_OPENAPI,
    ROUTE_HEALTH,
    ROUTE_METRICS,
    ROUTE_SITE, /* all other paths: static files */
    ROUTES
};

/* Returns an endpoint: /v1/order is number 0, those of the tasks follow. NULL: there is none of that number.
 */
const endpoint *route_endpoint(int route);
/* Returns the route of a path, ROUTE_SITE for any path not listed. */
int route_find(const char *path);
/* Returns the path of a route, also its label in /metrics; "page" for the static files; NULL: there is no
 * such route. */
const char *route_path(int route);

/* ---- Counts of requests and response times, for /metrics (metrics.c) ---------------------------------- */

enum { METRIC_CODES = 14, METRIC_BUCKETS = 12 };

/* Zeroed: nothing counted. Any thread may count. */
typedef struct metrics {
    atomic_ullong requests[ROUTES][METRIC_CODES];
    atomic_ullong bucket[ROUTES][METRIC_BUCKETS + 1]; /* the last: slower than all */
    atomic_ullong nanoseconds[ROUTES];
    atomic_ullong cut; /* connections that were too slow */
    atomic_int connections, under_way;
} metrics;

void metrics_count(metrics *m, int r, int code, double seconds);
void metrics_write(metrics *m, text *t);

/* ---- Static files (files.c) -------------------------------------------------------------------------- */

/* They are listed when the server starts and at each reload, and a request's path is only compared with the
 * list, so that no path can lead out of the folder. */
typedef struct site_file {
    char *name;       /* "/index.html" */
    const char *type; /* MIME */
    char *packed;     /* [packed_size]: gzip of the file as it was when it was listed; NULL: not worth it */
    size_t packed_size;
    struct stat packed_of;
} site_file;

/* Zeroed: no files. */
typedef struct site_files {
    char *folder;
    site_file *file; /* [count] */
    size_t count, room;
} site_files;

/* Lists the files of a folder and of the folders in it; hidden ones and links are left out. */
onet_status site_files_list(site_files *f, const char *folder, onet_error *err);
void site_files_free(site_files *f);
/* Returns the file for the path of a request; "/" is index.html. NULL: there is none. */
const site_file *site_files_find(const site_files *f, const char *path);
/* Opens a file for reading, following no link; returns its descriptor, -1 if the file is gone. */
int site_file_open(const site_files *f, const site_file *file, struct stat *state);
/* Whether file->packed is gzip of the file as it is now. */
bool site_file_packed(const site_file *file, const struct stat *now);

/* ---- The server, and one request ----------------------------------------------------------------------- */

struct server {
    server_options o;
    service shared;
    void *worker[ENDPOINTS]; /* what endpoint.open made */
    struct MHD_Daemon *daemon;
    metrics counts;
    clients open;
    pthread_rwlock_t site_lock;
    site_files site;
    atomic_int queued;    /* requests that wait for the engine or are in it */
    atomic_int suspended; /* connections that wait for the engine */
    atomic_size_t held;   /* bytes of all bodies */
    atomic_bool draining; /* no longer listening */
};

/* One request and its answer. */
typedef struct exchange {
    server *s;
    request *asked; /* of an endpoint; NULL: not parsed yet */
    struct MHD_Connection *connection;
    client *who;
    int to; /* its route */
    char *path;
    text body;
    size_t body_read; /* bytes received, including those discarded */
    double began;
    int code;            /* status code of the answer, or of an error found before the body was read */
    bool post, answered; /* answered: a response is queued */
    bool submitted;
    bool last; /* the connection is closed after it */
    onet_error err;
} exchange;

/* ---- Callbacks of libmicrohttpd (http.c) ------------------------------------------------------------- */

enum MHD_Result http_handle(void *server, struct MHD_Connection *connection, const char *path,
                            const char *method, const char *version, const char *data, size_t *size,
                            void **state);
void http_completed(void *server, struct MHD_Connection *connection, void **state,
                    enum MHD_RequestTerminationCode why);
void http_connected(void *server, struct MHD_Connection *connection, void **socket,
                    enum MHD_ConnectionNotificationCode what);

/* ---- Answers (reply.c) ------------------------------------------------------------------------------- */

/* Sends {"error": sentence}. */
enum MHD_Result reply_error(exchange *x, int code, const char *sentence);
/* Sends the error message in x->err, with the HTTP code of the status (app/request.h). */
enum MHD_Result reply_failure(exchange *x, onet_status status);
/* Answers a CORS preflight request of an allowed origin; false: it is not one. *queued: what the other
 * functions return. */
bool reply_preflight(exchange *x, enum MHD_Result *queued);
/* Sends the text, and frees it. */
enum MHD_Result reply_text(exchange *x, text *t, const char *type);
/* Answers the GET of a path. */
enum MHD_Result reply_get(exchange *x);

#endif
