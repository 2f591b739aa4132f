/* Defines the format text: reads and writes plain text, in which each line is a set of words separated by
 * spaces. */

#include <limits.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/number.h"
#include "engine/data/format.h"

onet_status text_parse(record *r, const char *name, onet_error *err) {
    onet_status status = record_check_text(r->text, r->length, name, r->line, err);
    if (status) return status;
    if (strlen(r->text) != r->length)
        return fail(err, ONET_BAD, "%s:%ld: a NUL byte in the line; this is not text", name, r->line);
    size_t n = 0;
    if (!array_reserve(&r->letters, &r->letter_room, r->length + 1, 1))
        return fail_memory(err, "a set's words");
    memcpy(r->letters, r->text, r->length + 1);
    char *rest;
    for (char *word = strtok_r(r->letters, " \t\r\v\f", &rest); word;
         word = strtok_r(NULL, " \t\r\v\f", &rest)) {
        if (n == INT_MAX) return fail(err, ONET_BAD, "%s:%ld: more than %d words", name, r->line, INT_MAX);
        if (!array_reserve(&r->word_store, &r->word_room, n + 1, sizeof *r->word_store) ||
            !array_reserve(&r->order_store, &r->order_room, n + 1, sizeof *r->order_store))
            return fail_memory(err, "a set's words");
        r->word_store[n] = word;
        r->order_store[n] = (int32_t)n;
        n++;
    }
    if (!n)
        return fail(err, ONET_BAD, "%s:%ld: an empty set; give it a word or leave the line out", name,
                    r->line);
    r->n = (int)n;
    r->word = r->word_store;
    r->order = r->order_store;
    return ONET_OK;
}

/* Writes the words in this order. */
static onet_status text_write(output *out, const record *r, const int32_t *order, onet_error *err) {
    for (int t = 0; t < r->n; t++) {
        output_put(out, r->word[order ? order[t] : t]);
        output_put(out, t + 1 < r->n ? " " : "\n");
    }
    return output_status(out, err);
}

/* ---- The format -------------------------------------------------------------------------------------- */

/* Any text that is no other format's. */
static bool recognise(const char *data, size_t size) {
    const char *line, *end;
    bool whole;
    return format_first_line(data, size, &line, &end, &whole);
}

static onet_status parse(record *r, const onet_read_options *options, const char *name, onet_error *err) {
    (void)options;
    return text_parse(r, name, err);
}

/* Writes one line, or with scores or several orders a line for each, with its log-probability in front. */
static onet_status put(output *out, void **state, const record *r, const onet_answer *answer,
                       const onet_write_options *options, onet_error *err) {
    (void)state;
    int most = options->top > 1 ? options->top : 1;
    if (!answer || (most == 1 && !options->score))
        return text_write(out, r, answer ? answer->order : r->order, err);
    onet_status status = ONET_OK;
    for (int k = 0; k < answer->found && k < most && !status; k++) {
        char number[NUMBER_TEXT];
        number_text_double(number, answer->logprob[k]);
        output_printf(out, "%s\t", number);
        status = text_write(out, r, answer->order + (size_t)k * (size_t)r->n, err);
    }
    return status;
}

const data_format text_format = {
    .format = ONET_FORMAT_TEXT,
    .name = "text",
    .help = "a line of words per set",
    .holds = HOLDS_WORDS | HOLDS_SIZES | HOLDS_SEVERAL | HOLDS_SCORE,
    .recognise = recognise,
    .parse = parse,
    .put = put,
};
