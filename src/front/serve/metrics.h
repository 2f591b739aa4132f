/* Counts requests and measures response times, for /metrics in Prometheus's text format. */
#ifndef SERVE_METRICS_H
#define SERVE_METRICS_H

#include <stdatomic.h>

#include "app/text.h"
#include "front/serve/routes.h"

enum { METRIC_CODES = 12, METRIC_BUCKETS = 12 };

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

#endif
