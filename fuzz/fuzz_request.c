/* Fuzz target: parses the body of a server request from any bytes. It must not crash; what jansson accepts as
 * an object is split into as many members; sets are read to the end or refused with an error message, which
 * is valid JSON when written. */
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "app/request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_sentence(const onet_error *err) {
    text t = {0};
    text_string(&t, err->text, strlen(err->text));
    json_t *back = json_loadb(t.data, t.length, JSON_DECODE_ANY, NULL);
    if (!back || !err->text[0] || memchr(t.data, '<', t.length)) abort();
    json_decref(back);
    free(t.data);
}

static onet_status read_options(const envelope *e, onet_error *err) {
    static models none;
    const service shared = {.m = &none};
    int number;
    double real;
    bool flag;
    model_slot *slot;
    onet_status status = request_int(e, "top", 1, 200, &number, err);
    if (!status) status = request_double(e, "time_limit", 0, 10, &real, err);
    if (!status) status = request_bool(e, "steps", &flag, err);
    if (!status) status = request_choice(e, "format", onet_formats(), &number, err);
    if (!status && request_model(e, &shared, NULL, &slot, err) == ONET_OK) abort();
    return status;
}

static void read_sets(const envelope *e, char *body, size_t size) {
    static const request_limits limits = {.sets = 16, .items = 64, .beam = 5, .cells = 1e9, .seconds = 1};
    static const char *const options[] = {"sets", "top", "steps", "format", "model", "time_limit", NULL};
    static const char *const set_keys[] = {"items",  "pairs",  "order", "first",   "last",
                                           "prefix", "before", "next",  "context", NULL};
    onet_error err = {.text = ""};
    set_source *source = NULL;
    onet_record *record;
    int end = 0, count = 0;
    onet_status status = request_keys(e, options, set_keys, &err);
    if (!status) status = read_options(e, &err);
    if (!status) status = set_source_open(&source, e, body, size, &limits, NULL, &err);
    if (onet_record_new(&record, NULL)) abort();
    while (!status && !end) {
        status = set_source_next(source, record, &end, &err);
        if (!status && !end &&
            (onet_record_size(record) < 1 || onet_record_size(record) > 64 || ++count > 16))
            abort();
    }
    if (status) check_sentence(&err);
    if (!status && !count) abort();
    onet_record_free(record);
    set_source_close(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *body = malloc(size + 1);
    if (!body) return 0;
    if (size) memcpy(body, data, size);
    /* jansson takes a NUL behind a number, which is not JSON. */
    json_t *whole = memchr(body, 0, size) ? NULL : json_loadb(body, size, JSON_REJECT_DUPLICATES, NULL);
    envelope e;
    onet_error err = {.text = ""};
    onet_status status = envelope_members(&e, body, size, &err);
    if (json_is_object(whole) && json_object_size(whole) <= ENVELOPE_MEMBERS &&
        (status || (size_t)e.count != json_object_size(whole)))
        abort();
    if (status)
        check_sentence(&err);
    else
        read_sets(&e, body, size);
    json_decref(whole);
    free(body);
    return 0;
}
