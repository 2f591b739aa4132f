/* Maps the paths of the server to route numbers: the endpoints of the program and of its tasks, and the fixed
 * paths for GET. */
#include "front/serve/exchange.h"

#include <string.h>

#include "app/task.h"

extern const endpoint order_endpoint;

const endpoint *route_endpoint(int route) {
    if (!route) return &order_endpoint;
    int at = 1;
    for (const task *const *t = tasks; *t; t++)
        for (const endpoint *const *e = (*t)->endpoints; *e; e++, at++)
            if (at == route && route < ENDPOINTS) return *e;
    return NULL;
}

const char *route_path(int route) {
    static const char *const path[ROUTES] = {[ROUTE_MODELS] = "/v1/models",
                                             [ROUTE_OPENAPI] = "/openapi.json",
                                             [ROUTE_HEALTH] = "/healthz",
                                             [ROUTE_METRICS] = "/metrics",
                                             [ROUTE_SITE] = "page"};
    if (route >= ENDPOINTS) return path[route];
    const endpoint *e = route_endpoint(route);
    return e ? e->path : NULL;
}

int route_find(const char *path) {
    for (int r = 0; r < ROUTE_SITE; r++) {
        const char *own = route_path(r);
        if (own && !strcmp(path, own)) return r;
    }
    return ROUTE_SITE;
}
