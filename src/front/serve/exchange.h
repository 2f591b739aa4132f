/* Internal to the server: the structs of the server and of one request with its response, shared by server.c,
 * http.c and reply.c. */
#ifndef SERVE_EXCHANGE_H
#define SERVE_EXCHANGE_H

#include <microhttpd.h>

#include "front/serve/clients.h"
#include "front/serve/files.h"
#include "front/serve/metrics.h"
#include "front/serve/server.h"

struct server {
    server_options o;
    service shared;
    void *worker[ENDPOINTS]; /* of the endpoints */
    struct MHD_Daemon *daemon;
    metrics counts;
    clients open;
    pthread_rwlock_t site_lock;
    site_files site;
    atomic_int queued;    /* requests that wait for the engine or are in it */
    atomic_int suspended; /* connections */
    atomic_size_t held;   /* bytes of all bodies */
    atomic_bool quiet;    /* no longer listening */
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
    size_t body_read; /* with what was thrown away */
    double began;
    int code;            /* of the answer, or of the error that is known before the body is read */
    bool post, answered; /* answered: a response is queued */
    bool submitted;
    bool last; /* on its connection */
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

/* {"error": sentence} */
enum MHD_Result reply_error(exchange *x, int code, const char *sentence);
/* The sentence in x->err, with the HTTP code of the status (app/request.h). */
enum MHD_Result reply_failure(exchange *x, onet_status status);
/* Answers a CORS preflight request of an allowed origin; false: it is not one. *queued: as for the others. */
bool reply_preflight(exchange *x, enum MHD_Result *queued);
/* Takes ownership of the text. */
enum MHD_Result reply_text(exchange *x, text *t, const char *type);
/* Answers the GET of a path. */
enum MHD_Result reply_get(exchange *x);

#endif
