/* /v1/order and /v1/unscramble: what the two commands take and give, as JSON. */
#include "front/serve/request.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"

void order_request_free(order_request *r) {
    order_job_free(&r->job);
    onet_bag_free(r->words);
}

/* The weights of the model live as long as its version, which the job holds. */
static void lend_words(order_request *r) {
    r->job.sets->words = (onet_words *)(uintptr_t)onet_model_words(r->job.version->model);
}

onet_status request_cells(double cells, const request_limits *limits, onet_error *err) {
    if (cells <= limits->cells) return ONET_OK;
    return fail(
        err, ONET_FAILED,
        "too much work for one request: items^2 * beam is more than %.0f in all; send fewer sets, or a "
        "narrower beam",
        limits->cells);
}

/* ---- Order ------------------------------------------------------------------------------------------- */

static onet_status order_options(order_request *r, const envelope *e, const request_limits *limits,
                                 onet_error *err) {
    onet_order_options o = {.size = sizeof o, .top = 1, .seed = 1};
    int decode = ONET_BEAM, seed = 1;
    bool steps = false;
    onet_status status = request_choice(e, "decode", onet_decodes(), &decode, err);
    if (!status) status = request_int(e, "beam", 1, limits->beam, &o.beam, err);
    if (!status) status = request_int(e, "top", 1, limits->beam, &o.top, err);
    if (!status) status = request_int(e, "seed", 0, INT32_MAX, &seed, err);
    if (!status) status = request_bool(e, "steps", &steps, err);
    o.decode = (onet_decode)decode;
    if (!status && (status = ordering_check(&o, err))) request_words(err);
    r->job.search = (search_options){o.decode, o.beam, o.top, (uint64_t)seed, steps};
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
    if (!status) status = onet_sets_new(&r->job.sets, onet_model_settings(model)->width, err);
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
    if (!status) lend_words(r);
    onet_record_free(record);
    set_source_close(source);
    return status;
}

onet_status order_request_parse(order_request *r, models *m, const request_limits *limits, char *body,
                                size_t length, onet_error *err) {
    static const char *const options[] = {"model", "decode", "beam", "top", "steps", "seed", "sets", NULL};
    static const char *const set_keys[] = {"items",  "order", "first",   "last", "prefix",
                                           "before", "next",  "context", NULL};
    envelope e;
    onet_status status = envelope_members(&e, body, length, err);
    if (!status) status = request_keys(&e, options, set_keys, err);
    if (!status) status = request_model(&e, m, NULL, &r->slot, err);
    if (!status) status = order_options(r, &e, limits, err);
    if (status) return status;
    r->job.version = model_take(r->slot);
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

void order_request_answer(const order_request *r, text *t) {
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

/* ---- Unscramble -------------------------------------------------------------------------------------- */

static onet_status add_text(order_request *r, const json_t *string, onet_error *err) {
    if (!json_is_string(string) || strlen(json_string_value(string)) != json_string_length(string))
        return fail(err, ONET_BAD, "field `words` takes a string, or an array of strings");
    return onet_bag_add(r->words, json_string_value(string), READINGS_WORDS, err);
}

static onet_status read_words(order_request *r, const envelope *e, onet_error *err) {
    const span *given = envelope_find(e, "words");
    if (!given) return fail(err, ONET_BAD, "field `words` is missing: {\"words\": \"this an is example\"}");
    json_error_t where;
    json_t *value = json_loadb(given->at, given->length, JSON_DECODE_ANY, &where);
    if (!value) return fail(err, ONET_BAD, "field `words`: not valid JSON: %s", where.text);
    size_t count = json_is_array(value) ? json_array_size(value) : 1;
    onet_status status = ONET_OK;
    for (size_t k = 0; k < count && !status; k++)
        status = add_text(r, json_is_array(value) ? json_array_get(value, k) : value, err);
    json_decref(value);
    if (!status && !onet_bag_count(r->words))
        status = fail(err, ONET_USAGE, "there are no words to put in order");
    return status;
}

onet_status unscramble_request_parse(order_request *r, models *m, const request_limits *limits, char *body,
                                     size_t length, onet_error *err) {
    static const char *const options[] = {"model", "words", "beam", "top", "case", NULL};
    envelope e;
    int beam = 0, letters = ONET_CASE_SENTENCE;
    r->top = 3;
    onet_status status = envelope_members(&e, body, length, err);
    if (!status) status = request_keys(&e, options, NULL, err);
    if (!status) status = request_model(&e, m, "words", &r->slot, err);
    if (!status) status = request_int(&e, "beam", 1, limits->beam, &beam, err);
    if (!status) status = request_int(&e, "top", 1, limits->beam, &r->top, err);
    if (!status) status = request_choice(&e, "case", onet_letter_cases(), &letters, err);
    if (status) return status;
    r->letters = (onet_letters)letters;
    r->job.version = model_take(r->slot);
    const onet_words *words = onet_model_words(r->job.version->model);
    if (!words) return fail(err, ONET_BAD, "%s: its items are numbers, not words", r->slot->name);
    if ((status = onet_bag_new(&r->words, words, err)) || (status = read_words(r, &e, err))) return status;
    int n = onet_bag_count(r->words);
    if (n > limits->items)
        return fail(err, ONET_FAILED, "%d words; this server takes at most %d", n, limits->items);
    if (!beam) beam = readings_beam(n) < limits->beam ? readings_beam(n) : limits->beam;
    if (beam < r->top) beam = r->top;
    if ((status = request_cells((double)n * n * beam, limits, err))) return status;
    r->job.search =
        (search_options){.decode = ONET_BEAM, .beam = beam, .top = readings_orders(r->words, r->top, beam)};
    status = onet_sets_new(&r->job.sets, onet_words_width(words), err);
    if (status) return status;
    lend_words(r);
    const onet_sets *set = onet_bag_set(r->words);
    status = onet_sets_append_words(r->job.sets, n, set->word, NULL, err);
    if (status || !set->constraint_count) return status;
    return onet_sets_set_constraints(r->job.sets, set->constraints, set->constraint_count, err);
}

void unscramble_request_answer(const order_request *r, text *t) {
    const onet_bag *b = r->words;
    reading *readings;
    int count, n = onet_bag_count(b);
    onet_error err;
    if (readings_make(&readings, &count, b, r->job.room.answers, r->top, r->letters, &err)) {
        t->failed = true;
        return;
    }
    text_printf(t, "{\"model\":\"%s\",\"orders\":[", r->slot->name);
    for (int k = 0; k < count; k++) {
        text_put(t, k ? ",{\"text\":" : "{\"text\":");
        text_string(t, readings[k].text, strlen(readings[k].text));
        text_put(t, ",\"words\":[");
        for (int i = 0; i < n; i++) {
            const char *word = onet_bag_word(b, readings[k].order[i], NULL);
            if (i) text_put(t, ",");
            text_string(t, word, strlen(word));
        }
        text_put(t, "],\"probability\":");
        text_double(t, readings[k].probability);
        text_put(t, "}");
    }
    readings_free(readings, count);
    text_put(t, "],\"unknown\":[");
    for (int i = 0, unknown = 0, known; i < n; i++) {
        const char *word = onet_bag_word(b, i, &known);
        if (known) continue;
        if (unknown++) text_put(t, ",");
        text_string(t, word, strlen(word));
    }
    text_put(t, "]}\n");
}
