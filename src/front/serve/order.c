/* The endpoint /v1/order: parses sets and search options from JSON, and answers with their orders, as
 * `ordernet order` does. */
#include "app/request.h"
#include "engine/base/error.h"

static onet_status order_options(order_request *r, const envelope *e, const request_limits *limits,
                                 onet_error *err) {
    onet_order_options o = {.size = sizeof o, .top = 1, .seed = 1};
    int decode = ONET_BEAM;
    bool steps = false;
    onet_status status = request_choice(e, "decode", onet_decodes(), &decode, err);
    if (!status) status = request_int(e, "beam", 1, limits->beam, &o.beam, err);
    if (!status) status = request_int(e, "top", 1, limits->beam, &o.top, err);
    if (!status) status = request_seed(e, &o.seed, err);
    if (!status) status = request_bool(e, "steps", &steps, err);
    o.decode = (onet_decode)decode;
    if (!status) status = ordering_check(&o, err);
    r->job.search = (search_options){o.decode, o.beam, o.top, o.seed, steps};
    return status;
}

static onet_status read_sets(order_request *r, const envelope *e, const request_limits *limits, char *body,
                             size_t length, onet_error *err) {
    const onet_model *model = r->job.version->model;
    const onet_words *words = onet_model_words(model);
    set_source *source = NULL;
    onet_record *record = NULL;
    double cells = 0;
    /* Every sampled order is a search of its own. */
    int beam = r->job.search.decode == ONET_BEAM ? r->job.search.beam : r->job.search.top;
    onet_status status = set_source_open(&source, e, body, length, limits, model, err);
    if (!status) status = onet_record_new(&record, err);
    if (!status) status = onet_sets_new(&r->job.sets, onet_model_width(model), err);
    if (!status && onet_model_columns(model))
        status = onet_sets_set_columns(r->job.sets, onet_model_columns(model), err);
    while (!status) {
        int end = 0;
        status = set_source_next(source, record, &end, err);
        if (status || end) break;
        status = ordering_fits(model, r->slot->name, record, "request", err);
        cells += (double)onet_record_size(record) * onet_record_size(record) * beam;
        if (!status) status = request_cells(cells, limits, err);
        if (status) break;
        status = onet_sets_append_record(r->job.sets, record, words, 0, err);
        if (status == ONET_BAD) error_prefix(err, "request:%ld", onet_record_line(record));
    }
    if (!status) order_request_lend_words(r);
    onet_record_free(record);
    set_source_close(source);
    return status;
}

static onet_status parse(request *base, const service *shared, char *body, size_t length, onet_error *err) {
    order_request *r = (order_request *)(void *)base;
    const request_limits *limits = &shared->limits;
    static const char *const options[] = {"model", "decode", "beam", "top", "steps", "seed", "sets", NULL};
    static const char *const set_keys[] = {"items",  "pairs",  "order", "first",   "last",
                                           "prefix", "before", "next",  "context", NULL};
    envelope e;
    onet_status status = envelope_members(&e, body, length, err);
    if (!status) status = request_keys(&e, options, set_keys, err);
    if (!status) status = request_model(&e, shared, NULL, &r->slot, err);
    if (!status) status = order_options(r, &e, limits, err);
    if (status) return status;
    r->job.version = model_acquire(r->slot);
    return read_sets(r, &e, limits, body, length, err);
}

static void write_order(text *t, const onet_answer *a, size_t k, size_t n, size_t placed, bool steps) {
    text_put(t, "{\"order\":");
    text_order(t, a->order + k * n, placed);
    text_put(t, ",\"logprob\":");
    text_double(t, a->logprob[k]);
    if (!steps) return;
    text_put(t, ",\"steps\":");
    text_floats(t, a->step + k * n, placed);
}

static void answer(const request *base, text *t) {
    const order_request *r = (const order_request *)(const void *)base;
    const onet_sets *sets = r->job.sets;
    const search_options *search = &r->job.search;
    text_printf(t, "{\"model\":\"%s\",\"answers\":[", r->slot->name);
    for (size_t s = 0; s < sets->count; s++) {
        const onet_answer *a = &r->job.room.answers[s];
        size_t n = onet_sets_size(sets, s), placed = n;
        for (size_t i = 0; sets->context && i < n; i++) placed -= sets->context[sets->start[s] + i];
        if (s) text_put(t, ",");
        write_order(t, a, 0, n, placed, search->steps);
        if (search->top > 1) {
            text_put(t, ",\"top\":[");
            for (int k = 0; k < a->found; k++) {
                if (k) text_put(t, ",");
                write_order(t, a, (size_t)k, n, placed, search->steps);
                text_put(t, "}");
            }
            text_put(t, "]");
        }
        text_put(t, "}");
    }
    text_put(t, "]}\n");
}
const endpoint order_endpoint = {
    .path = "/v1/order",
    .answers = "sets in order",
    .size = sizeof(order_request),
    .parse = parse,
    .submit = order_request_submit,
    .answer = answer,
    .release = order_request_release,
};
