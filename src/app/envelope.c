/* Splits a JSON object or array one level deep. Brackets are counted, not matched: the reader of a span finds
 * what is wrong inside it. */
#include "app/envelope.h"

#include <string.h>

#include "engine/base/error.h"

typedef struct scan {
    char *start, *at, *end;
    onet_error *err;
} scan;

static onet_status syntax(const scan *s, const char *expected) {
    return fail(s->err, ONET_BAD, "the body is not valid JSON at byte %zu: expected %s",
                (size_t)(s->at - s->start) + 1, expected);
}

static void skip_space(scan *s) {
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\r' || *s->at == '\n')) s->at++;
}

static bool take(scan *s, char c) {
    skip_space(s);
    if (s->at == s->end || *s->at != c) return false;
    s->at++;
    return true;
}

/* A string, from its opening quote on. A line end within it is refused here, since the reader of sets gets
 * one line per set. */
static onet_status skip_string(scan *s) {
    for (s->at++; s->at < s->end && *s->at != '"'; s->at++) {
        if ((unsigned char)*s->at < 0x20) return syntax(s, "no control character in a string");
        if (*s->at == '\\' && s->end - s->at > 1) s->at++;
    }
    if (s->at == s->end) return syntax(s, "the string's closing quote");
    s->at++;
    return ONET_OK;
}

static onet_status skip_value(scan *s, span *value) {
    skip_space(s);
    char *from = s->at;
    size_t depth = 0;
    do {
        if (s->at == s->end) return syntax(s, depth ? "the rest of an array or object" : "a value");
        char c = *s->at;
        if (c == '"') {
            onet_status status = skip_string(s);
            if (status) return status;
        } else if (c == '[' || c == '{') {
            depth++;
            s->at++;
        } else if ((c == ']' || c == '}') && depth) {
            depth--;
            s->at++;
        } else if (depth) {
            s->at++;
        } else {
            while (s->at < s->end && !strchr(" \t\r\n,]}:[{\"", *s->at)) s->at++;
            if (s->at == from) return syntax(s, "a value");
        }
    } while (depth);
    *value = (span){from, (size_t)(s->at - from)};
    return ONET_OK;
}

static bool same(const span *a, const char *text, size_t length) {
    return a->length == length && !memcmp(a->at, text, length);
}

static onet_status member(scan *s, envelope *e) {
    skip_space(s);
    if (s->at == s->end || *s->at != '"') return syntax(s, "a key in quotes");
    char *from = s->at + 1;
    onet_status status = skip_string(s);
    if (status) return status;
    span key = {from, (size_t)(s->at - 1 - from)};
    for (int k = 0; k < e->count; k++)
        if (same(&e->key[k], key.at, key.length))
            return fail(s->err, ONET_BAD, "the key `%.*s` is there twice",
                        (int)(key.length < 64 ? key.length : 64), key.at);
    if (e->count == ENVELOPE_MEMBERS) return syntax(s, "no more than 64 keys");
    if (!take(s, ':')) return syntax(s, "a colon after the key");
    e->key[e->count] = key;
    if ((status = skip_value(s, &e->value[e->count]))) return status;
    e->count++;
    return ONET_OK;
}

onet_status envelope_members(envelope *e, char *body, size_t length, onet_error *err) {
    scan s = {body, body, body + length, err};
    e->count = 0;
    if (!take(&s, '{')) return syntax(&s, "a JSON object, such as {\"items\": [[3], [1], [2]]}");
    if (!take(&s, '}'))
        for (;;) {
            onet_status status = member(&s, e);
            if (status) return status;
            if (take(&s, '}')) break;
            if (!take(&s, ',')) return syntax(&s, "a comma or }");
        }
    skip_space(&s);
    return s.at == s.end ? ONET_OK : syntax(&s, "nothing after the object");
}

const span *envelope_find(const envelope *e, const char *key) {
    for (int k = 0; k < e->count; k++)
        if (same(&e->key[k], key, strlen(key))) return &e->value[k];
    return NULL;
}

onet_status envelope_elements(const span *list, span *elements, size_t most, size_t *count, const char *what,
                              onet_error *err) {
    scan s = {list->at, list->at, list->at + list->length, err};
    *count = 0;
    if (!take(&s, '[')) return fail(err, ONET_BAD, "field `%s`: not an array", what);
    if (take(&s, ']'))
        return fail(err, ONET_BAD, "field `%s`: the array is empty; expected at least one", what);
    for (;;) {
        if (*count == most)
            return fail(err, ONET_FAILED,
                        "field `%s`: more than the %zu that one request may have; send several", what, most);
        onet_status status = skip_value(&s, &elements[*count]);
        if (status) return status;
        ++*count;
        if (take(&s, ']')) break;
        if (!take(&s, ',')) return syntax(&s, "a comma or ]");
    }
    return s.at == s.end ? ONET_OK : syntax(&s, "nothing after the array");
}
