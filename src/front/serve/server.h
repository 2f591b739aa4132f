/* The HTTP server: connections, routes and statuses. */
#ifndef SERVE_SERVER_H
#define SERVE_SERVER_H

#include "app/endpoint.h"
#include "app/models.h"

typedef struct server_options {
    const char *host;
    int port;
    const char *const *name; /* [names]: other names that requests may give in Host */
    int names;
    const char *const *origin; /* [origins]: whose pages may ask (CORS); "*": any */
    int origins;
    const char *token; /* of `Authorization: Bearer`; NULL: none is asked for */
    const char *page;  /* folder of static files; NULL: a small index */
    request_limits limits;
    size_t body, header; /* bytes */
    int connections;
    int queue;      /* requests that wait or are worked on; more get 503 */
    double timeout; /* seconds to send a request, and to take its answer */
    batcher_options batch;
} server_options;

typedef struct server server;

/* Listens; the models must live as long as the server. */
onet_status server_start(server **s, models *m, const server_options *options, onet_error *err);
/* The port that it listens on. */
int server_port(const server *s);
/* To be called a few times per second: cuts slow clients off. */
void server_watch(server *s);
/* The files of the page are listed anew, and models that have been replaced are let go of. */
onet_status server_refresh(server *s, onet_error *err);
/* Stops listening; requests on open connections still get answers, which close them. */
void server_quiesce(server *s);
/* Requests without a whole answer. */
int server_under_way(const server *s);
/* Those of them that the engine has; the server must not be stopped before it gives them back. */
int server_working(const server *s);
/* Long searches for tours end with what they have. */
void server_hurry(server *s);
/* After the last answer. NULL is allowed. */
void server_stop(server *s);

#endif
