/* Counts requests by route and status code, keeps a histogram of response times, and writes both, with counts
 * of connections and the memory and open files of the process, in Prometheus's text format. */
#include "front/serve/exchange.h"

#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

/* Other status codes are counted as 500. */
static const int codes[METRIC_CODES] = {200, 204, 304, 400, 401, 404, 405, 408, 413, 415, 421, 431, 500, 503};
static const double bounds[METRIC_BUCKETS] = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                              0.05,   0.1,   0.25,   1,     5,    30};

void metrics_count(metrics *m, int r, int code, double seconds) {
    int c = 0, b = 0;
    while (c < METRIC_CODES && codes[c] != code) c++;
    if (c == METRIC_CODES)
        for (c = 0; codes[c] != 500;) c++;
    while (b < METRIC_BUCKETS && seconds > bounds[b]) b++;
    atomic_fetch_add(&m->requests[r][c], 1);
    atomic_fetch_add(&m->bucket[r][b], 1);
    atomic_fetch_add(&m->nanoseconds[r], (unsigned long long)(seconds * 1e9));
}

static void head(text *t, const char *name, const char *type, const char *help) {
    text_printf(t, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void write_requests(metrics *m, text *t) {
    head(t, "ordernet_requests_total", "counter", "Requests answered, by path and status code.");
    for (int r = 0; r < ROUTES; r++)
        for (int c = 0; c < METRIC_CODES && route_path(r); c++) {
            unsigned long long count = atomic_load(&m->requests[r][c]);
            if (count)
                text_printf(t, "ordernet_requests_total{path=\"%s\",code=\"%d\"} %llu\n", route_path(r),
                            codes[c], count);
        }
    head(t, "ordernet_errors_total", "counter", "Requests answered with a status code of 400 or more.");
    for (int r = 0; r < ROUTES; r++) {
        if (!route_path(r)) continue;
        unsigned long long count = 0;
        for (int c = 0; c < METRIC_CODES; c++)
            if (codes[c] >= 400) count += atomic_load(&m->requests[r][c]);
        text_printf(t, "ordernet_errors_total{path=\"%s\"} %llu\n", route_path(r), count);
    }
}

static void write_times(metrics *m, text *t) {
    head(t, "ordernet_request_seconds", "histogram",
         "Seconds from a request's first header to its answer, by path.");
    for (int r = 0; r < ROUTES; r++) {
        const char *path = route_path(r);
        if (!path) continue;
        unsigned long long count = 0;
        for (int b = 0; b < METRIC_BUCKETS; b++) {
            count += atomic_load(&m->bucket[r][b]);
            text_printf(t, "ordernet_request_seconds_bucket{path=\"%s\",le=\"%g\"} %llu\n", path, bounds[b],
                        count);
        }
        count += atomic_load(&m->bucket[r][METRIC_BUCKETS]);
        text_printf(t, "ordernet_request_seconds_bucket{path=\"%s\",le=\"+Inf\"} %llu\n", path, count);
        text_printf(t, "ordernet_request_seconds_sum{path=\"%s\"} %.9f\n", path,
                    1e-9 * (double)atomic_load(&m->nanoseconds[r]));
        text_printf(t, "ordernet_request_seconds_count{path=\"%s\"} %llu\n", path, count);
    }
}

static long open_files(void) {
    DIR *folder = opendir("/proc/self/fd");
    long count = -1; /* opendir's own descriptor does not count */
    if (!folder) return 0;
    for (struct dirent *entry; (entry = readdir(folder));) count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

static void write_process(text *t) {
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%*u %lu", &pages) != 1) pages = 0;
    if (file) fclose(file);
    head(t, "process_resident_memory_bytes", "gauge", "Resident memory.");
    text_printf(t, "process_resident_memory_bytes %llu\n",
                (unsigned long long)pages * (unsigned long long)sysconf(_SC_PAGESIZE));
    head(t, "process_open_fds", "gauge", "Open file descriptors.");
    text_printf(t, "process_open_fds %ld\n", open_files());
}

void metrics_write(metrics *m, text *t) {
    write_requests(m, t);
    write_times(m, t);
    head(t, "ordernet_connections", "gauge", "Open connections.");
    text_printf(t, "ordernet_connections %d\n", atomic_load(&m->connections));
    head(t, "ordernet_requests_under_way", "gauge", "Requests that have no whole answer yet.");
    text_printf(t, "ordernet_requests_under_way %d\n", atomic_load(&m->under_way));
    head(t, "ordernet_slow_connections_total", "counter",
         "Connections closed because the client was too slow.");
    text_printf(t, "ordernet_slow_connections_total %llu\n", atomic_load(&m->cut));
    write_process(t);
}
