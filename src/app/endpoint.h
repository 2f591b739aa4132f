/* Defines an endpoint of the server: the functions that parse the JSON body of a POST request to one path,
 * hand the request to worker threads, and write its answer as JSON. Also defines a request, its limits, and
 * the models and batchers that all endpoints share. A task lists its endpoints in its `task` (app/task.h). */
#ifndef APP_ENDPOINT_H
#define APP_ENDPOINT_H

#include "app/batcher.h"
#include "app/text.h"

/* Limits of one request. */
typedef struct request_limits {
    int sets, items; /* per request, per set */
    int beam;        /* beam width, and orders per set */
    double cells;    /* items^2 * beam, summed over the sets: proportional to the time they take */
    double seconds;  /* for tours, shared by the sets */
} request_limits;

/* What all endpoints share. */
typedef struct service {
    models *m;
    batcher *batch[MODELS]; /* one per model */
    request_limits limits;
    const char *kernels; /* as in onet_order_options */
} service;

typedef struct endpoint endpoint;

/* One request; first member of the endpoint's own struct. */
typedef struct request {
    const endpoint *to;
    void *worker; /* what to->open made */
    onet_status status;
    onet_error err;
    void (*done)(struct request *r); /* called once, by any thread, when status and err are filled in */
    void *context;                   /* for `done` */
} request;

struct endpoint {
    const char *path;    /* "/v1/order" */
    const char *answers; /* what it returns, in a few words */
    size_t size;         /* of the struct of its requests, zeroed, whose first member is a `request` */
    /* Makes the threads or memory that it keeps while the server runs; NULL: it needs none. */
    onet_status (*open)(void **worker, const service *s, onet_error *err);
    void (*close)(void *worker);            /* after the last request is done; NULL is allowed */
    void (*hurry)(void *worker);            /* long work ends with its best result so far; may be NULL */
    void (*metrics)(void *worker, text *t); /* in the text format of Prometheus; may be NULL */
    /* May overwrite the body, and keeps no pointer into it. Returns a status as app/request.h says. */
    onet_status (*parse)(request *r, const service *s, char *body, size_t length, onet_error *err);
    void (*submit)(request *r, const service *s); /* starts the work; r->done is called at its end */
    void (*answer)(const request *r, text *t);    /* writes the JSON of a request done with ONET_OK */
    void (*release)(request *r);                  /* frees what it holds, after any of the above */
};

#endif
