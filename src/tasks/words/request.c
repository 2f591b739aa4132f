/* The server's endpoint /v1/unscramble: parses words from JSON, and answers with sentences, as `ordernet
 * unscramble` does. */
#include <stdlib.h>
#include <string.h>

#include "app/request.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "tasks/words/model.h"
#include "tasks/words/readings.h"

typedef struct unscramble_request {
    order_request o;
    onet_bag *words;
    onet_letters letters;
    int top; /* readings */
} unscramble_request;

static void release(request *base) {
    order_request_release(base);
    onet_bag_free(((unscramble_request *)(void *)base)->words);
}

static onet_status add_text(unscramble_request *r, json_scan *s, char *room, onet_error *err) {
    size_t length;
    if (scan_next(s) != '"')
        return fail(err, ONET_BAD, "field `words` takes a string, or an array of strings");
    if (!scan_string(s, room, &length)) return ONET_OK;
    room[length] = '\0';
    return onet_bag_add(r->words, room, READINGS_WORDS, err);
}

static onet_status read_words(unscramble_request *r, const envelope *e, onet_error *err) {
    const span *given = envelope_find(e, "words");
    if (!given) return fail(err, ONET_BAD, "field `words` is missing: {\"words\": \"this an is example\"}");
    json_scan s = scan_of(given->at, given->length);
    char *room = malloc(given->length);
    if (!room) return fail_memory(err, "the request");
    onet_status status = ONET_OK;
    bool first = scan_accept(&s, '[');
    if (!first)
        status = add_text(r, &s, room, err);
    else
        while (!status && !s.expected && scan_more(&s, ']', &first)) status = add_text(r, &s, room, err);
    free(room);
    if (!status && !scan_end(&s, "the end"))
        status = fail(err, ONET_BAD, "field `words`: not valid JSON: expected %s", s.expected);
    if (!status && !onet_bag_count(r->words))
        status = fail(err, ONET_USAGE, "there are no words to put in order");
    return status;
}

static onet_status parse(request *base, const service *shared, char *body, size_t length, onet_error *err) {
    unscramble_request *r = (unscramble_request *)(void *)base;
    order_request *o = &r->o;
    const request_limits *limits = &shared->limits;
    static const char *const options[] = {"model", "words", "beam", "top", "case", NULL};
    envelope e;
    int beam = 0, letters = ONET_CASE_SENTENCE;
    r->top = 3;
    onet_status status = envelope_members(&e, body, length, err);
    if (!status) status = request_keys(&e, options, NULL, err);
    if (!status) status = request_model(&e, shared, "words", &o->slot, err);
    if (!status) status = request_int(&e, "beam", 1, limits->beam, &beam, err);
    if (!status) status = request_int(&e, "top", 1, limits->beam, &r->top, err);
    if (!status) status = request_choice(&e, "case", onet_letter_cases(), &letters, err);
    if (status) return status;
    r->letters = (onet_letters)letters;
    o->job.version = model_acquire(o->slot);
    const onet_words *words = onet_model_words(o->job.version->model);
    if ((status = model_check_words(o->job.version->model, o->slot->name, err))) return status;
    if ((status = onet_bag_new(&r->words, words, err)) || (status = read_words(r, &e, err))) return status;
    int n = onet_bag_count(r->words);
    if (n > limits->items)
        return fail(err, ONET_FAILED, "%d words; this server takes at most %d", n, limits->items);
    if (!beam) beam = readings_beam(n) < limits->beam ? readings_beam(n) : limits->beam;
    if (beam < r->top) beam = r->top;
    if ((status = request_cells((double)n * n * beam, limits, err))) return status;
    o->job.search =
        (search_options){.decode = ONET_BEAM, .beam = beam, .top = readings_orders(r->words, r->top, beam)};
    status = onet_sets_new(&o->job.sets, onet_words_width(words), err);
    if (status) return status;
    order_request_lend_words(o);
    const onet_sets *set = onet_bag_set(r->words);
    status = onet_sets_append_words(o->job.sets, n, set->word, NULL, err);
    if (status || !set->constraint_count) return status;
    return onet_sets_set_constraints(o->job.sets, set->constraints, set->constraint_count, err);
}

static void answer(const request *base, text *t) {
    const unscramble_request *r = (const unscramble_request *)(const void *)base;
    const order_request *o = &r->o;
    const onet_bag *b = r->words;
    reading *readings;
    int count, n = onet_bag_count(b);
    onet_error err;
    if (readings_make(&readings, &count, b, o->job.room.answers, r->top, r->letters, &err)) {
        t->failed = true;
        return;
    }
    text_printf(t, "{\"model\":\"%s\",\"orders\":[", o->slot->name);
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
const endpoint unscramble_endpoint = {
    .path = "/v1/unscramble",
    .answers = "words in order",
    .size = sizeof(unscramble_request),
    .parse = parse,
    .submit = order_request_submit,
    .answer = answer,
    .release = release,
};
