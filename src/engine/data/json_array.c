/* Reads a JSON array of sets object by object, as its lines arrive. */
#include "engine/data/json_array.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/memory.h"

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

bool json_array_begins(const char *line, size_t length) {
    const char *end = line + length;
    while (line < end && is_space(*line)) line++;
    if (line == end || *line != '[') return false;
    for (line++; line < end && is_space(*line);) line++;
    return line == end || strchr("{[]", *line);
}

static onet_status take_line(json_array *a, const char *line, size_t length, onet_error *err) {
    if (!array_reserve(&a->copy, &a->copy_room, length + 1, 1)) return fail_memory(err, "a line of text");
    memcpy(a->copy, line, length);
    a->at = a->copy;
    a->end = a->copy + length;
    return ONET_OK;
}

onet_status json_array_open(json_array *a, const char *line, size_t length, long number, onet_error *err) {
    const char *behind = (const char *)memchr(line, '[', length) + 1;
    *a = (json_array){.open = true, .line = number};
    return take_line(a, behind, length - (size_t)(behind - line), err);
}

/* Reads the next line of the input; *more is false at its end. */
static onet_status next_line(json_array *a, input *in, bool *more, onet_error *err) {
    char *line;
    size_t length;
    onet_status status = input_line(in, &line, &length, &a->line, err);
    *more = !status && line;
    a->at = a->end = NULL;
    return *more ? take_line(a, line, length, err) : status;
}

static onet_status not_closed(const input *in, const json_array *a, onet_error *err) {
    return fail(err, ONET_BAD, "%s:%ld: not valid JSON: the array that begins with [ is not closed by ]",
                input_name(in), a->line);
}

/* Skips blanks and line ends; *c: the next character, 0 at the end of the input. */
static onet_status peek(json_array *a, input *in, char *c, onet_error *err) {
    onet_status status = ONET_OK;
    bool more = true;
    while (!status && more) {
        while (a->at < a->end && is_space(*a->at)) a->at++;
        if (a->at < a->end) break;
        status = next_line(a, in, &more, err);
    }
    *c = !status && more ? *a->at : 0;
    return status;
}

/* Checks that only blanks follow the array. */
static onet_status finish(json_array *a, input *in, onet_error *err) {
    char c;
    a->at++;
    a->ended = true;
    onet_status status = peek(a, in, &c, err);
    if (!status && c)
        status = fail(err, ONET_BAD, "%s:%ld: not valid JSON: text behind the array; a file has one",
                      input_name(in), a->line);
    return status;
}

static onet_status add(json_array *a, const char *from, const char *to, onet_error *err) {
    size_t more = (size_t)(to - from);
    if (!array_reserve(&a->text, &a->room, a->length + more + 2, 1)) return fail_memory(err, "a set");
    memcpy(a->text + a->length, from, more);
    a->length += more;
    return ONET_OK;
}

/* Copies the object at a->at, up to the bracket that closes it. Errors inside it are found when it is parsed.
 */
static onet_status take_object(json_array *a, input *in, size_t limit, onet_error *err) {
    json_extent object = {0};
    bool more = true;
    a->length = 0;
    a->begins = a->line;
    for (;;) {
        const char *from = a->at;
        a->at = json_extent_end(&object, from, a->end);
        if (object.quoted)
            return fail(err, ONET_BAD, "%s:%ld: not valid JSON: expected %s", input_name(in), a->line,
                        a->at < a->end ? "no control character in a string" : "the string's closing quote");
        onet_status status = add(a, from, a->at, err);
        if (status || !object.depth) return status;
        if (a->length > limit)
            return fail(err, ONET_BAD, "%s:%ld: a set is longer than %zu bytes; look for an unclosed bracket",
                        input_name(in), a->begins, limit);
        if ((status = next_line(a, in, &more, err))) return status;
        if (!more) return not_closed(in, a, err);
        while (a->at < a->end && is_space(*a->at)) a->at++;
        a->text[a->length++] = ' ';
    }
}

onet_status json_array_next(json_array *a, input *in, size_t limit, bool *end, onet_error *err) {
    char c = 0;
    *end = a->ended;
    if (a->ended) return ONET_OK;
    onet_status status = peek(a, in, &c, err);
    if (!status && c == ',' && a->begins) {
        a->at++;
        status = peek(a, in, &c, err);
    } else if (!status && a->begins && c && c != ']')
        return fail(err, ONET_BAD, "%s:%ld: not valid JSON: expected a comma or ] behind a set",
                    input_name(in), a->line);
    if (status) return status;
    if (!c) return not_closed(in, a, err);
    if (c == '{') return take_object(a, in, limit, err);
    if (c == ']') {
        *end = true;
        return finish(a, in, err);
    }
    return fail(
        err, ONET_BAD,
        "%s:%ld: an array of arrays or numbers; write [{\"items\": [[0.1, 0.2], [0.3, 0.4]]}, ...], or one "
        "such object per line",
        input_name(in), a->line);
}

void json_array_free(json_array *a) {
    free(a->text);
    free(a->copy);
    *a = (json_array){0};
}
