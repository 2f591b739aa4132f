/* The HTTP server: start it, watch it, reload its files, drain it and stop it. Used by cmd_serve.c. */
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
    const char *token; /* of `Authorization: Bearer`; NULL: none is needed */
    const char *site;  /* folder of static files; NULL: a small index */
    request_limits limits;
    size_t body, header; /* bytes */
    int connections;     /* 0: as many as the process may open files for, at most 1000 */
    int queue;           /* requests that wait or are worked on; more get 503 */
    double timeout;      /* seconds to send a request, and to take its answer */
    batcher_options batch;
} server_options;

typedef struct server server;

/* Starts to listen; the models must live as long as the server. */
onet_status server_start(server **s, models *m, const server_options *options, onet_error *err);
/* Returns the port that it listens on. */
int server_port(const server *s);
/* Disconnects slow clients; call it a few times per second. */
void server_watch(server *s);
/* Lists the files of the site anew, and frees orderers of models that have been replaced. After a failure the
 * old files stay. */
onet_status server_refresh(server *s, onet_error *err);
/* Stops listening; requests on open connections still get answers, which close them. */
void server_quiesce(server *s);
/* Returns the number of requests without a whole answer. */
int server_under_way(const server *s);
/* Returns the number of requests that the engine works on; stop the server only when they are done. */
int server_working(const server *s);
/* Ends long searches for tours with the best tour so far. */
void server_hurry(server *s);
/* Call after the last answer. NULL is allowed. */
void server_stop(server *s);

#endif
