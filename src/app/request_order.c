/* Submits a request for orders to the batcher of its model, lends its sets the model's vocabulary, frees what
 * it holds, and refuses requests whose estimated work exceeds the server's limit. */

#include "app/request.h"
#include "engine/base/error.h"

void order_request_lend_words(order_request *o) {
    onet_sets_lend_words(o->job.sets, onet_model_words(o->job.version->model));
}

static void order_done(order_job *job) {
    order_request *o = job->context;
    o->r.status = job->status;
    o->r.err = job->err;
    o->r.done(&o->r);
}

void order_request_submit(request *r, const service *s) {
    order_request *o = (order_request *)(void *)r;
    o->job.context = o;
    o->job.done = order_done;
    batcher_add(s->batch[o->slot - s->m->slot], &o->job);
}

void order_request_release(request *r) {
    order_job_free(&((order_request *)(void *)r)->job);
}

onet_status request_cells(double cells, const request_limits *limits, onet_error *err) {
    if (cells <= limits->cells) return ONET_OK;
    return fail(
        err, ONET_FAILED,
        "too much work for one request: items^2 * beam is more than %.0f in all; send fewer sets, or a "
        "narrower beam",
        limits->cells);
}
