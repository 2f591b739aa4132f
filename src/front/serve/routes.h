/* Numbers the routes of the server: first the endpoints, which answer POST, then the paths that answer
 * GET. */
#ifndef SERVE_ROUTES_H
#define SERVE_ROUTES_H

#include "app/endpoint.h"

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

/* /v1/order, then those of the tasks; NULL: there is none of that number. */
const endpoint *route_endpoint(int route);
/* The route of a path; ROUTE_SITE for all that is not listed. */
int route_find(const char *path);
/* The path of a route, as the label of its counts: "page" for the static files; NULL: there is no such route.
 */
const char *route_path(int route);

#endif
