/* The server's endpoint /v1/tour: parses cities and options from JSON, submits them to the solver threads,
 * and answers with tours, as `tsp solve` does. */
#include <math.h>
#include <string.h>

#include "app/request.h"
#include "engine/base/choice.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "tasks/tours/net_options.h"
#include "tasks/tours/solver.h"

typedef struct tour_request {
    request r;
    tour_job job;
    const model_slot *slot; /* NULL: no model is used */
    onet_error note;        /* a warning of what looks odd but may be intended; empty: none */
} tour_request;

static void release(request *base) {
    tour_job_free(&((tour_request *)(void *)base)->job);
}

static bool has_limit(const tour_job *job) {
    return job->method == ONET_TSP_EXACT || (job->method == ONET_TSP_TWO_OPT && job->options.kicks);
}

/* Returns what an instance of n cities costs, in the unit of limits->cells; measured roughly. */
static double cost(const tour_job *job, int n) {
    double square = (double)n * n;
    switch (job->method) {
    case ONET_TSP_ORDERNET:
        return square * job->beam * job->options.symmetries;
    case ONET_TSP_HELD_KARP:
        return n > ONET_TSP_HELD_KARP_MAX ? 0 : square * ldexp(1, n) / 100; /* more cities are refused */
    default:
        return 100 * square;
    }
}

static onet_status read_options(tour_request *r, const envelope *e, const request_limits *limits,
                                onet_error *err) {
    tour_job *job = &r->job;
    int method = ONET_TSP_EXACT, decode = ONET_BEAM, symmetries = 1, kicks = 0;
    uint64_t seed = 1;
    bool shortest = true;
    job->beam = 5;
    onet_status status = request_choice(e, "method", onet_tsp_methods(), &method, err);
    if (!status) status = request_choice(e, "decode", tour_decodes(), &decode, err);
    if (!status) status = request_int(e, "beam", 1, limits->beam, &job->beam, err);
    if (!status) status = request_int(e, "symmetries", 1, 8, &symmetries, err);
    if (!status && symmetries != 1 && symmetries != 8)
        status = fail(err, ONET_BAD, "field `symmetries` takes 1 or 8");
    if (!status) status = request_bool(e, "shortest", &shortest, err);
    if (!status) status = request_int(e, "kicks", 0, INT32_MAX, &kicks, err);
    if (!status) status = request_seed(e, &seed, err);
    job->method = (onet_tsp_method)method;
    job->decode = (onet_decode)decode;
    onet_tsp_defaults(&job->options, sizeof job->options);
    job->options.kicks = kicks;
    job->options.seed = seed;
    job->options.symmetries = symmetries;
    job->options.shortest = shortest || symmetries > 1;
    return status;
}

static onet_status read_points(tour_request *r, const envelope *e, const request_limits *limits, char *body,
                               size_t length, onet_error *err) {
    set_source *source = NULL;
    onet_record *record = NULL;
    enum { QUICK_CITIES = 12 }; /* so many cities are proven within milliseconds */
    double cells = 0;
    int most = 0;
    onet_status status = set_source_open(&source, e, body, length, limits, NULL, err);
    if (!status) status = onet_record_new(&record, err);
    while (!status) {
        int end = 0;
        status = set_source_next(source, record, &end, err);
        if (status || end) break;
        int at[2] = {0, 1};
        if (onet_record_relations(record))
            status = fail(err, ONET_BAD, "request: its sets have relations; tours here are of points x, y");
        else if (!tsp_find_points(record, false, at))
            status = fail(err, ONET_BAD, "request: its items are not points x, y of the plane");
        else if (!r->job.cities.count)
            tsp_note_degrees(record, at, "request", &r->note);
        cells += cost(&r->job, onet_record_size(record));
        if (onet_record_size(record) > most) most = onet_record_size(record);
        if (!status) status = request_cells(cells, limits, err);
        if (!status && onet_record_placed(record) < onet_record_size(record))
            status = fail(err, ONET_BAD, "request: a tour visits every city; leave the context items out");
        if (!status) status = tsp_cities_take(&r->job.cities, record, at, err);
    }
    r->job.quick =
        cells <= SMALL_CELLS && (!has_limit(&r->job) || (most <= QUICK_CITIES && !r->job.options.kicks));
    onet_record_free(record);
    set_source_close(source);
    return status;
}

/* Reads the time limit of a set: the sets share the time of the request. */
static onet_status read_limit(tour_request *r, const envelope *e, const request_limits *limits,
                              onet_error *err) {
    double sets = (double)r->job.cities.count;
    r->job.options.seconds = limits->seconds / sets;
    onet_status status = request_double(e, "time_limit", 0.001, 1e9, &r->job.options.seconds, err);
    if (status || !has_limit(&r->job) || r->job.options.seconds * sets <= limits->seconds * 1.000001)
        return status;
    return fail(err, ONET_FAILED,
                "field `time_limit`: %zu sets of %g seconds are more than the %g of a request",
                r->job.cities.count, r->job.options.seconds, limits->seconds);
}

static onet_status parse(request *base, const service *shared, char *body, size_t length, onet_error *err) {
    tour_request *r = (tour_request *)(void *)base;
    const request_limits *limits = &shared->limits;
    static const char *const options[] = {"model", "method", "decode", "beam",       "symmetries", "shortest",
                                          "kicks", "seed",   "sets",   "time_limit", NULL};
    static const char *const set_keys[] = {"items", "order", "context", NULL};
    envelope e;
    onet_status status = envelope_members(&e, body, length, err);
    if (!status) status = request_keys(&e, options, set_keys, err);
    if (!status) status = read_options(r, &e, limits, err);
    if (!status && (r->job.method == ONET_TSP_ORDERNET || envelope_find(&e, "model"))) {
        model_slot *slot;
        if ((status = request_model(&e, shared, "tsp", &slot, err))) return status;
        r->slot = slot;
        r->job.version = model_acquire(slot);
    }
    if (!status) status = read_points(r, &e, limits, body, length, err);
    if (!status) status = read_limit(r, &e, limits, err);
    if (status) return status;
    size_t cities = r->job.cities.start[r->job.cities.count];
    r->job.tour = array_new(cities, sizeof *r->job.tour);
    r->job.proof = array_new(r->job.cities.count, sizeof *r->job.proof);
    return r->job.tour && r->job.proof ? ONET_OK : fail_memory(err, "the tours");
}

static void answer(const request *base, text *t) {
    const tour_request *r = (const tour_request *)(const void *)base;
    const tour_job *job = &r->job;
    bool bounds = job->method == ONET_TSP_EXACT || job->method == ONET_TSP_HELD_KARP;
    text_printf(t, "{\"method\":\"%s\",", choice_name(onet_tsp_methods(), (int)job->method));
    if (r->slot) text_printf(t, "\"model\":\"%s\",", r->slot->name);
    text_put(t, "\"answers\":[");
    for (size_t s = 0; s < job->cities.count; s++) {
        text_put(t, s ? ",{\"tour\":" : "{\"tour\":");
        text_order(t, job->tour + job->cities.start[s], (size_t)tsp_cities_size(&job->cities, s));
        text_put(t, ",\"length\":");
        text_double(t, job->proof[s].length);
        if (bounds) {
            text_printf(t, ",\"optimal\":%s,\"bound\":", job->proof[s].proven ? "true" : "false");
            text_double(t, job->proof[s].bound);
        }
        text_put(t, "}");
    }
    text_put(t, "]");
    if (r->note.text[0]) {
        text_put(t, ",\"note\":");
        text_string(t, r->note.text, strlen(r->note.text));
    }
    text_put(t, "}\n");
}

static void tour_done(tour_job *job) {
    tour_request *r = job->context;
    r->r.status = job->status;
    r->r.err = job->err;
    r->r.done(&r->r);
}

static void submit(request *base, const service *shared) {
    (void)shared;
    tour_request *r = (tour_request *)(void *)base;
    r->job.context = r;
    r->job.done = tour_done;
    solver_add(base->worker, &r->job);
}

static onet_status open_solver(void **worker, const service *shared, onet_error *err) {
    solver *s;
    onet_status status = solver_new(&s, shared->kernels, err);
    *worker = s;
    return status;
}

static void close_solver(void *worker) {
    solver_free(worker);
}

static void hurry(void *worker) {
    solver_hurry(worker);
}

static void metrics(void *worker, text *t) {
    text_printf(
        t,
        "# HELP ordernet_queue_tours Requests waiting for a tour.\n# TYPE ordernet_queue_tours gauge\n"
        "ordernet_queue_tours %zu\n",
        solver_queued(worker));
}

const endpoint tour_endpoint = {
    .path = "/v1/tour",
    .answers = "tours through cities",
    .size = sizeof(tour_request),
    .open = open_solver,
    .close = close_solver,
    .hurry = hurry,
    .metrics = metrics,
    .parse = parse,
    .submit = submit,
    .answer = answer,
    .release = release,
};
