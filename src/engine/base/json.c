/* Scans JSON text: strings with their escapes, keys, literals, whole numbers, values to be skipped, and the
 * extent of values that are not checked. */
#include "engine/base/json.h"

#include <string.h>

#include "engine/base/ascii.h"

/* ---- Strings ----------------------------------------------------------------------------------------- */

/* Returns the value of four hexadecimal digits, or -1. */
static int hex4(const char *p, const char *end) {
    int code = 0;
    if (end - p < 4) return -1;
    for (int i = 0; i < 4; i++) {
        char c = ascii_lower(p[i]);
        if (!ascii_digit(c) && (c < 'a' || c > 'f')) return -1;
        code = code * 16 + (ascii_digit(c) ? c - '0' : c - 'a' + 10);
    }
    return code;
}

static size_t put_utf8(char *to, int code) {
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    size_t more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3; /* bytes after the first */
    static const int mark[] = {0, 0xC0, 0xE0, 0xF0};
    to[0] = (char)(mark[more] | code >> 6 * more);
    for (size_t k = 1; k <= more; k++) to[k] = (char)(0x80 | (code >> 6 * (more - k) & 63));
    return more + 1;
}

/* Writes the escape that starts at p (a backslash) as UTF-8; returns a pointer to what follows it, or NULL if
 * it is not valid. */
static const char *escape(const char *p, const char *end, char utf8[4], size_t *length) {
    static const char name[] = "\"\\/bfnrt", value[] = "\"\\/\b\f\n\r\t";
    if (end - p < 2) return NULL;
    const char *which = p[1] ? strchr(name, p[1]) : NULL;
    if (which) {
        utf8[0] = value[which - name];
        *length = 1;
        return p + 2;
    }
    int code = p[1] == 'u' ? hex4(p + 2, end) : -1;
    if (code <= 0 || (code >= 0xDC00 && code < 0xE000)) return NULL; /* no NUL, no lone second half */
    p += 6;
    if (code >= 0xD800 && code < 0xDC00) {
        int low = end - p >= 6 && p[0] == '\\' && p[1] == 'u' ? hex4(p + 2, end) : -1;
        if (low < 0xDC00 || low >= 0xE000) return NULL;
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        p += 6;
    }
    *length = put_utf8(utf8, code);
    return p;
}

static bool fail_string(json_scan *s, const char *where) {
    s->at = where;
    return scan_fail(s, where == s->end  ? "the string's closing quote"
                        : *where == '\\' ? "an escape such as \\n or \\u00e9 (not \\u0000, no half of a pair)"
                                         : "no control character in a string");
}

bool scan_string(json_scan *s, char *to, size_t *length) {
    if (scan_next(s) != '"') return scan_fail(s, "a string in quotes");
    const char *p = s->at + 1, *end = s->end;
    size_t used = 0;
    while (p < end && *p != '"' && (unsigned char)*p >= 0x20) {
        if (*p != '\\') {
            if (to) to[used] = *p;
            used++;
            p++;
            continue;
        }
        char utf8[4];
        size_t bytes;
        const char *after = escape(p, end, utf8, &bytes);
        if (!after) break;
        if (to) memcpy(to + used, utf8, bytes);
        used += bytes;
        p = after;
    }
    if (p == end || *p != '"') return fail_string(s, p);
    *length = used;
    s->at = p + 1;
    return true;
}

bool scan_key(json_scan *s, char *to, size_t *length) {
    if (scan_next(s) != '"') return scan_fail(s, "a key in quotes");
    if (!scan_string(s, to, length)) return false;
    if (!scan_accept(s, ':')) return scan_fail(s, "a colon after the key");
    scan_next(s);
    return true;
}

/* ---- Other values ------------------------------------------------------------------------------------ */

bool scan_literal(json_scan *s, const char *literal) {
    size_t length = strlen(literal);
    if ((size_t)(s->end - s->at) < length || memcmp(s->at, literal, length)) return false;
    s->at += length;
    return true;
}

bool scan_whole(json_scan *s, uint64_t *value) {
    scan_next(s);
    const char *p = s->at;
    for (*value = 0; p < s->end && ascii_digit(*p); p++) {
        uint64_t digit = (uint64_t)(*p - '0');
        if (*value > (UINT64_MAX - digit) / 10) return scan_fail(s, "a smaller number");
        *value = *value * 10 + digit;
    }
    bool fraction = p < s->end && (*p == '.' || *p == 'e' || *p == 'E');
    if (p == s->at || (*s->at == '0' && p > s->at + 1) || fraction) return scan_fail(s, "a whole number");
    s->at = p;
    return true;
}

bool scan_skip(json_scan *s, int depth) {
    double value;
    size_t length;
    char open = scan_next(s);
    if (open == '"') return scan_string(s, NULL, &length);
    if (open == '[' || open == '{') {
        char close = open == '[' ? ']' : '}';
        s->at++;
        if (depth >= JSON_DEPTH) return scan_fail(s, "no more than 512 arrays and objects in one another");
        for (bool first = true; scan_more(s, close, &first);)
            if ((close == '}' && !scan_key(s, NULL, &length)) || !scan_skip(s, depth + 1)) return false;
        return !s->expected;
    }
    return scan_number(s, &value) || scan_literal(s, "true") || scan_literal(s, "false") ||
           scan_literal(s, "null") || (s->nan && scan_literal(s, "NaN")) || scan_fail(s, "a value");
}

/* ---- Extents ----------------------------------------------------------------------------------------- */

const char *json_extent_end(json_extent *e, const char *p, const char *end) {
    for (; p < end; p++) {
        if (e->quoted) {
            if ((unsigned char)*p < 0x20) return p;
            if (*p == '\\' && p + 1 < end)
                p++;
            else if (*p == '"')
                e->quoted = false;
            if (!e->quoted && !e->depth) return p + 1;
            continue;
        }
        char c = (char)(*p | 0x20); /* [ becomes {, and ] becomes } */
        if (*p == '"')
            e->quoted = true;
        else if (c == '{')
            e->depth++;
        else if (c == '}' && !--e->depth)
            return p + 1;
    }
    return end;
}

bool scan_extent(json_scan *s) {
    json_extent e = {0};
    char c = scan_next(s);
    if (c == '"' || c == '[' || c == '{') {
        s->at = json_extent_end(&e, s->at, s->end);
        if (e.quoted) return fail_string(s, s->at);
        return !e.depth || scan_fail(s, "the rest of an array or object");
    }
    const char *from = s->at;
    while (s->at < s->end && !strchr(" \t\r\n,]}:[{\"", *s->at)) s->at++;
    return s->at > from || scan_fail(s, "a value");
}
