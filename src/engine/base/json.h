/* Parses JSON text (RFC 8259) in memory with a pull scanner: the caller asks for what should come next, and
 * nothing is allocated. All readers of JSON use it: sets (data/jsonl.c), safetensors headers, HTTP requests,
 * boxes of pages (through json_tree.h, which keeps all values). */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/number.h"

/* Functions that return false because the text is not valid say in `expected` what should be at `at`; the
 * caller adds the file and line to the error message. */

enum { JSON_DEPTH = 512 }; /* the most arrays and objects in one another */

typedef struct json_scan {
    const char *text, *at, *end; /* the text is text .. end - 1; at: what comes next */
    const char *expected;        /* NULL: valid so far */
    bool nan;                    /* NaN, a missing value, is valid too */
} json_scan;

static inline json_scan scan_of(const char *from, size_t length) {
    return (json_scan){.text = from, .at = from, .end = from + length};
}

/* Records what was expected, unless an earlier error is recorded. Returns false. */
static inline bool scan_fail(json_scan *s, const char *expected) {
    if (!s->expected) s->expected = expected;
    return false;
}

/* Skips white space; returns the next character without taking it, 0 at the end. */
static inline char scan_next(json_scan *s) {
    const char *p = s->at;
    while (p < s->end && (unsigned char)*p <= ' ' && (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n'))
        p++;
    s->at = p;
    return p < s->end ? *p : 0;
}

/* Takes the next character behind white space if it is c; returns whether it was. */
static inline bool scan_accept(json_scan *s, char c) {
    if (scan_next(s) != c) return false;
    s->at++;
    return true;
}

/* Steps through an array or object, from behind its opening bracket (*first) or from behind a value: true if
 * another element or key comes next; false behind the closing bracket, or with an error. */
static inline bool scan_more(json_scan *s, char close, bool *first) {
    char c = scan_next(s);
    if (c == close || (!*first && c == ',')) s->at++;
    if (c == close) return false;
    if (!*first && c != ',') return scan_fail(s, close == '}' ? "a comma or }" : "a comma or ]");
    if (!*first) scan_next(s);
    *first = false;
    return true;
}

/* Returns whether only white space is left; if not, fails with `expected`. */
static inline bool scan_end(json_scan *s, const char *expected) {
    scan_next(s);
    return !s->expected && (s->at == s->end || scan_fail(s, expected));
}

/* scan_number takes a number, scan_literal the literal given, such as null, that starts at `at`. If there is
 * none, both return false and leave `at`, without an error. */
static inline bool scan_number(json_scan *s, double *value) {
    const char *from = s->at;
    return (s->at = number_scan(from, s->end, NUMBER_JSON, value)) != from;
}
bool scan_literal(json_scan *s, const char *literal);

/* Takes a whole number without a sign, exactly, up to UINT64_MAX. */
bool scan_whole(json_scan *s, uint64_t *value);

/* Takes a string and writes it without quotes and escapes to `to` (NULL: nowhere), which needs no more room
 * than the string takes in the text and may be its place there. */
bool scan_string(json_scan *s, char *to, size_t *length);

/* Takes the key of a member like a string, and the colon behind it. */
bool scan_key(json_scan *s, char *to, size_t *length);

/* Skips a value, which must be valid throughout; depth: how many arrays and objects it is in. */
bool scan_skip(json_scan *s, int depth);

/* Skips a value without checking it: brackets are counted, not matched. */
bool scan_extent(json_scan *s);

/* scan_extent for text that comes in pieces: goes on at `at`, which is first an opening bracket or quote, and
 * returns what follows the bracket or quote that closes it (depth is 0 then), or `end`. Stops at a control
 * character in a string, with `quoted` set. */
typedef struct json_extent {
    size_t depth;
    bool quoted; /* within a string */
} json_extent;
const char *json_extent_end(json_extent *e, const char *at, const char *end);

/* Writes the valid string at `from`, without quotes and escapes, to `to`; returns its length. */
static inline size_t json_unquote(const char *from, const char *end, char *to) {
    json_scan s = scan_of(from, (size_t)(end - from));
    size_t length = 0;
    scan_string(&s, to, &length);
    return length;
}

#endif
