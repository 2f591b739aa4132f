/* Reads JSON Lines: one set per line, scanned in one pass; errors name the line and the key. */
#include "engine/data/jsonl.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/number.h"
#include "engine/data/columns.h"
#include "engine/data/constraints.h"

enum {
    DEPTH = 512,   /* of arrays and objects in one another */
    MEMBERS = 1000 /* keys of a set; each is compared with each */
};

typedef struct scan {
    const char *at, *end;
    record *r;
    const char *name;
    char *key;    /* where the next key goes, without escapes */
    char *letter; /* where the next word goes */
    const onet_read_options *options;
    bool nan; /* NaN is a value: a missing one */
    onet_error *err;
} scan;

/* Of the lists that are checked when the items are known; -1: there is none. */
typedef struct lengths {
    long order, context;
} lengths;

/* ---- Sentences --------------------------------------------------------------------------------------- */

static onet_status syntax(const scan *s, const char *expected) {
    return fail(s->err, ONET_BAD, "%s:%ld: not valid JSON at column %zu: expected %s", s->name, s->r->line,
                (size_t)(s->at - s->r->text) + 1, expected);
}

/* i, j: the item and the feature; -1 for none. */
static onet_status field(const scan *s, const char *what, long i, long j, const char *sentence) {
    char path[64] = "";
    int used = i >= 0 ? snprintf(path, sizeof path, "[%ld]", i) : 0;
    if (j >= 0) snprintf(path + used, sizeof path - (size_t)used, "[%ld]", j);
    return fail(s->err, ONET_BAD, "%s:%ld: field `%s`%s: %s", s->name, s->r->line, what, path, sentence);
}

/* ---- JSON itself ------------------------------------------------------------------------------------- */

static void skip_space(scan *s) {
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\r' || *s->at == '\n')) s->at++;
}

/* The next character, or 0 at the end. */
static char next(const scan *s) {
    return s->at < s->end ? *s->at : 0;
}

static bool take(scan *s, char c) {
    if (next(s) != c || s->at == s->end) return false;
    s->at++;
    return true;
}

/* Four hexadecimal digits, or -1. */
static int hex4(const char *p, const char *end) {
    int code = 0;
    if (end - p < 4) return -1;
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0) return -1;
        code = code * 16 + digit;
    }
    return code;
}

static size_t put_utf8(char *to, int code) {
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        to[0] = (char)(0xC0 | code >> 6);
        to[1] = (char)(0x80 | (code & 63));
        return 2;
    }
    if (code < 0x10000) {
        to[0] = (char)(0xE0 | code >> 12);
        to[1] = (char)(0x80 | (code >> 6 & 63));
        to[2] = (char)(0x80 | (code & 63));
        return 3;
    }
    to[0] = (char)(0xF0 | code >> 18);
    to[1] = (char)(0x80 | (code >> 12 & 63));
    to[2] = (char)(0x80 | (code >> 6 & 63));
    to[3] = (char)(0x80 | (code & 63));
    return 4;
}

/* The escape at p, a backslash, as UTF-8; gives what follows it, or NULL. */
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

const char *jsonl_string(const char *text, const char *end, char *to, size_t *length, const char **where) {
    const char *p = text + 1;
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
        if (!after) {
            *where = p;
            return NULL;
        }
        if (to) memcpy(to + used, utf8, bytes);
        used += bytes;
        p = after;
    }
    if (p == end || *p != '"') {
        *where = p;
        return NULL;
    }
    *length = used;
    return p + 1;
}

static onet_status string(scan *s, char *to, size_t *length) {
    const char *where, *after = jsonl_string(s->at, s->end, to, length, &where);
    if (after) {
        s->at = after;
        return ONET_OK;
    }
    s->at = where;
    return syntax(s, next(s) == '\\'  ? "an escape such as \\n or \\u00e9 (not \\u0000, no half of a pair)"
                     : s->at < s->end ? "no control character in a string"
                                      : "the string's closing quote");
}

static bool take_literal(scan *s, const char *literal) {
    size_t length = strlen(literal);
    if ((size_t)(s->end - s->at) < length || memcmp(s->at, literal, length)) return false;
    s->at += length;
    return true;
}

static onet_status skip_value(scan *s, int depth);

/* The rest of an array or object, from behind its bracket on. */
static onet_status skip_inside(scan *s, char close, int depth) {
    onet_status status;
    size_t length;
    if (depth > DEPTH) return syntax(s, "no more than 512 arrays and objects in one another");
    skip_space(s);
    if (take(s, close)) return ONET_OK;
    for (;;) {
        skip_space(s);
        if (close == '}') {
            if (next(s) != '"') return syntax(s, "a key in quotes");
            if ((status = string(s, NULL, &length))) return status;
            skip_space(s);
            if (!take(s, ':')) return syntax(s, "a colon after the key");
            skip_space(s);
        }
        if ((status = skip_value(s, depth))) return status;
        skip_space(s);
        if (take(s, close)) return ONET_OK;
        if (!take(s, ',')) return syntax(s, close == '}' ? "a comma or }" : "a comma or ]");
    }
}

static onet_status skip_value(scan *s, int depth) {
    double value;
    size_t length;
    const char *after;
    if (take(s, '[')) return skip_inside(s, ']', depth + 1);
    if (take(s, '{')) return skip_inside(s, '}', depth + 1);
    if (next(s) == '"') return string(s, NULL, &length);
    if (take_literal(s, "true") || take_literal(s, "false") || take_literal(s, "null")) return ONET_OK;
    if (s->nan && take_literal(s, "NaN")) return ONET_OK;
    if ((after = number_scan(s->at, s->end, NUMBER_JSON, &value)) == s->at) return syntax(s, "a value");
    s->at = after;
    return ONET_OK;
}

const char *jsonl_value_end(const char *text, const char *end) {
    long depth = 0;
    const char *p = text;
    do {
        const char *where;
        size_t length;
        if (*p == '"') {
            p = jsonl_string(p, end, NULL, &length, &where);
            if (!p) return end;
            continue;
        }
        depth += (*p == '[' || *p == '{') - (*p == ']' || *p == '}');
        p++;
        if (!depth && p[-1] != ']' && p[-1] != '}') /* a number or literal */
            while (p < end && !strchr(" \t\r\n,]}", *p)) p++;
    } while (depth && p < end);
    return p;
}

/* ---- A set ------------------------------------------------------------------------------------------- */

/* What stands where a number is expected. */
static onet_status not_a_number(scan *s, long i, long j) {
    if (number_not_finite(s->at, s->end))
        return field(s, "items", i, j, "not a finite number; give a number or leave the set out");
    if (next(s) && strchr("[{\"tfn", next(s)))
        return field(s, "items", i, j, "not a number; every feature is one");
    return syntax(s, "a number");
}

static onet_status feature(scan *s, long i, long j) {
    record *r = s->r;
    double value;
    const char *after = number_scan(s->at, s->end, NUMBER_JSON, &value);
    float nearest;
    bool missing = after == s->at && (take_literal(s, "null") || take_literal(s, "NaN"));
    if (missing)
        after = s->at;
    else if (after == s->at)
        return not_a_number(s, i, j);
    if (!missing && !number_to_float(value, &nearest))
        return field(s, "items", i, j, "out of range; features are 32-bit, at most 3.4e38 in size");
    size_t at = j < 0 ? (size_t)i : (size_t)i * (size_t)r->width + (size_t)j;
    if (!array_reserve(&r->item_store, &r->item_room, at + 1, sizeof *r->item_store))
        return fail_memory(s->err, "a set's items");
    r->item_store[at] = missing ? (double)NAN : value;
    s->at = after;
    return ONET_OK;
}

/* One item's features, from behind the bracket on. */
static onet_status row(scan *s) {
    record *r = s->r;
    long j = 0;
    skip_space(s);
    if (take(s, ']')) return field(s, "items", r->n, -1, "no features; give every item at least one");
    bool more = true;
    while (more && (!r->n || j < r->width)) {
        skip_space(s);
        onet_status status = feature(s, r->n, j);
        if (status) return status;
        if (++j == INT_MAX) return field(s, "items", r->n, -1, "more than 2147483646 features");
        skip_space(s);
        if (take(s, ']'))
            more = false;
        else if (!take(s, ','))
            return syntax(s, "a comma or ]");
    }
    if (!r->n) r->width = (int)j;
    if (!more && j == r->width) return ONET_OK;
    char sentence[160];
    snprintf(sentence, sizeof sentence,
             "%s features than the %d of the items before it; give each the same number",
             more ? "more" : "fewer", r->width);
    return field(s, "items", r->n, -1, sentence);
}

static onet_status word(scan *s) {
    record *r = s->r;
    size_t length, n = (size_t)r->n;
    /* Each word and its end mark take less room than it did with its quotes. */
    if (!n && !array_reserve(&r->letters, &r->letter_room, r->length + 1, 1))
        return fail_memory(s->err, "a set's words");
    if (!n) s->letter = r->letters;
    if (!array_reserve(&r->word_store, &r->word_room, n + 1, sizeof *r->word_store))
        return fail_memory(s->err, "a set's words");
    onet_status status = string(s, s->letter, &length);
    if (status) return status;
    if (!length) return field(s, "items", r->n, -1, "an empty word; leave it out");
    r->word_store[n] = s->letter;
    s->letter[length] = 0;
    s->letter += length + 1;
    return ONET_OK;
}

static onet_status items(scan *s) {
    record *r = s->r;
    const char *from = s->at;
    char kind = 0; /* of the items: [ features, " words, 0 one bare number each */
    if (!take(s, '['))
        return field(s, "items", -1, -1, "not an array; write [[0.1, 0.2], [0.3, 0.4]], or words in quotes");
    skip_space(s);
    if (take(s, ']')) return field(s, "items", -1, -1, "an empty set; give it an item or leave it out");
    if (next(s) == '{') {
        s->nan = true;
        onet_status status = skip_inside(s, ']', 2);
        s->nan = false;
        return status ? status : jsonl_keyed(r, from, s->at, s->options, s->name, s->err);
    }
    if (s->options && s->options->features && next(s) != '"')
        return columns_no_names(s->name, r->line, s->err);
    for (;;) {
        skip_space(s);
        char c = next(s) == '[' || next(s) == '"' ? next(s) : 0;
        if (!r->n) kind = c;
        if (!next(s) || strchr(",]}", next(s))) return syntax(s, "an item");
        if (c != kind)
            return field(s, "items", r->n, -1,
                         kind == '['   ? "not an array of features, as the items before it are"
                         : kind == '"' ? "not a word in quotes, as the items before it are"
                                       : "not a number, as the items before it are");
        onet_status status;
        if (c == '[') {
            s->at++;
            status = row(s);
        } else {
            status = c == '"' ? word(s) : feature(s, r->n, -1);
        }
        if (status) return status;
        if (r->n == INT_MAX) return field(s, "items", -1, -1, "more than 2147483647 items");
        r->n++;
        skip_space(s);
        if (take(s, ']')) break;
        if (!take(s, ',')) return syntax(s, "a comma or ]");
    }
    if (!kind) r->width = 1;
    if (kind == '"')
        r->word = r->word_store;
    else
        r->items = r->item_store;
    return ONET_OK;
}

/* ---- Order, context, constraints --------------------------------------------------------------------- */

/* A whole number; one beyond 32 bits becomes an index that no item has. */
static onet_status index_of(scan *s, const char *what, long i, long j, int32_t *index) {
    double value;
    const char *after = number_scan(s->at, s->end, NUMBER_JSON, &value);
    if (after == s->at && next(s) && strchr("[{\"tfn", next(s)))
        return field(s, what, i, j, "not a number; give the index of an item");
    if (after == s->at) return syntax(s, "a whole number");
    for (const char *p = s->at; p < after; p++)
        if (*p == '.' || *p == 'e' || *p == 'E')
            return field(s, what, i, j, "not a whole number; give the index of an item");
    *index = -1;
    if (value >= 0) *index = value > INT_MAX ? INT_MAX : (int32_t)value;
    s->at = after;
    return ONET_OK;
}

/* A list of indices, to be checked when the items are known too. *length is -1 for null. */
static onet_status indices(scan *s, const char *what, int32_t **store, size_t *room, long *length) {
    *length = -1;
    if (take_literal(s, "null")) return ONET_OK;
    if (!take(s, '[')) return field(s, what, -1, -1, "not an array; write [1, 0, 2], or leave it out");
    *length = 0;
    skip_space(s);
    if (take(s, ']')) return ONET_OK;
    for (;; (*length)++) {
        skip_space(s);
        if (!array_reserve(store, room, (size_t)*length + 1, sizeof **store))
            return fail_memory(s->err, "a list of indices");
        onet_status status = index_of(s, what, *length, -1, *store + *length);
        if (status) return status;
        skip_space(s);
        if (take(s, ']')) break;
        if (!take(s, ',')) return syntax(s, "a comma or ]");
    }
    ++*length;
    return ONET_OK;
}

static onet_status add_constraint(scan *s, onet_constraint_kind kind, int32_t item, int32_t other) {
    record *r = s->r;
    if (!array_reserve(&r->constraint_store, &r->constraint_room, r->constraint_count + 1,
                       sizeof *r->constraint_store))
        return fail_memory(s->err, "a set's constraints");
    r->constraint_store[r->constraint_count++] =
        (onet_constraint){kind, (size_t)(ptrdiff_t)item, (size_t)(ptrdiff_t)other};
    return ONET_OK;
}

/* "first": 3 or "last": 3. */
static onet_status end_item(scan *s, const char *what, onet_constraint_kind kind) {
    int32_t item;
    if (take_literal(s, "null")) return ONET_OK;
    onet_status status = index_of(s, what, -1, -1, &item);
    return status ? status : add_constraint(s, kind, item, 0);
}

static onet_status prefix(scan *s) {
    record *r = s->r;
    long length;
    onet_status status = indices(s, "prefix", &r->prefix_store, &r->prefix_room, &length);
    for (long t = 0; t < length && !status; t++)
        status = add_constraint(s, ONET_PLACE, r->prefix_store[t], (int32_t)t);
    return status;
}

/* "before": [[0, 1], [4, 2]]: item 0 comes before item 1, item 4 before item 2; or "next" likewise. */
static onet_status pairs(scan *s, const char *what, onet_constraint_kind kind) {
    const char *no_pair = kind == ONET_BEFORE ? "not a pair; write [0, 1] for 0 before 1"
                                              : "not a pair; write [0, 1] for 1 directly after 0";
    if (take_literal(s, "null")) return ONET_OK;
    if (!take(s, '[')) return field(s, what, -1, -1, "not an array; write [[0, 1], [4, 2]]");
    skip_space(s);
    if (take(s, ']')) return ONET_OK;
    for (long k = 0;; k++) {
        int32_t pair[2];
        skip_space(s);
        if (!take(s, '[')) return field(s, what, k, -1, no_pair);
        for (int j = 0; j < 2; j++) {
            skip_space(s);
            onet_status status = index_of(s, what, k, j, &pair[j]);
            if (status) return status;
            skip_space(s);
            if (!take(s, j ? ']' : ',')) return field(s, what, k, -1, no_pair);
        }
        onet_status status = add_constraint(s, kind, pair[0], pair[1]);
        if (status) return status;
        skip_space(s);
        if (take(s, ']')) return ONET_OK;
        if (!take(s, ',')) return syntax(s, "a comma or ]");
    }
}

/* The key of a member, and that no other has it. */
static onet_status key(scan *s, member *m) {
    record *r = s->r;
    if (next(s) != '"') return syntax(s, "a key in quotes");
    m->name = (size_t)(s->key - r->keys);
    size_t length;
    onet_status status = string(s, s->key, &length);
    if (status) return status;
    s->key += length;
    m->name_end = m->name + length;
    for (const member *other = r->member; other < m; other++)
        if (other->name_end - other->name == length &&
            !memcmp(r->keys + other->name, r->keys + m->name, length))
            return fail(s->err, ONET_BAD, "%s:%ld: field `%.*s` stands there twice; keep one of them",
                        s->name, r->line, length > 100 ? 100 : (int)length, r->keys + m->name);
    skip_space(s);
    if (!take(s, ':')) return syntax(s, "a colon after the key");
    skip_space(s);
    return ONET_OK;
}

bool jsonl_is(const record *r, const member *m, const char *name) {
    size_t length = strlen(name);
    return m->name_end - m->name == length && !memcmp(r->keys + m->name, name, length);
}

/* The value of a member, by its name; those of other names are passed over. */
static onet_status value(scan *s, const member *m, lengths *length) {
    record *r = s->r;
    if (jsonl_is(r, m, "items")) return items(s);
    if (jsonl_is(r, m, "order")) return indices(s, "order", &r->order_store, &r->order_room, &length->order);
    if (jsonl_is(r, m, "context"))
        return indices(s, "context", &r->index_store, &r->index_room, &length->context);
    if (jsonl_is(r, m, "first")) return end_item(s, "first", ONET_PLACE);
    if (jsonl_is(r, m, "last")) return end_item(s, "last", ONET_LAST);
    if (jsonl_is(r, m, "prefix")) return prefix(s);
    if (jsonl_is(r, m, "before")) return pairs(s, "before", ONET_BEFORE);
    if (jsonl_is(r, m, "next")) return pairs(s, "next", ONET_NEXT);
    return skip_value(s, 1);
}

static onet_status object(scan *s, lengths *length) {
    record *r = s->r;
    onet_status status;
    if (!array_reserve(&r->keys, &r->key_room, r->length + 1, 1)) return fail_memory(s->err, "a set's keys");
    s->key = r->keys;
    if (!take(s, '{')) return syntax(s, "an object such as {\"items\": [[0.1, 0.2], [0.3, 0.4]]}");
    skip_space(s);
    bool more = !take(s, '}');
    while (more) {
        if (r->members == MEMBERS)
            return fail(s->err, ONET_BAD, "%s:%ld: more than %d fields in one set; leave some out", s->name,
                        r->line, MEMBERS);
        if (!array_reserve(&r->member, &r->member_room, (size_t)r->members + 1, sizeof *r->member))
            return fail_memory(s->err, "a set's keys");
        member *m = &r->member[r->members];
        skip_space(s);
        if ((status = key(s, m))) return status;
        m->value = (size_t)(s->at - r->text);
        if ((status = value(s, m, length))) return status;
        m->value_end = (size_t)(s->at - r->text);
        r->members++;
        skip_space(s);
        if (take(s, '}'))
            more = false;
        else if (!take(s, ','))
            return syntax(s, "a comma or }");
    }
    skip_space(s);
    return s->at < s->end ? syntax(s, "the end of the line: one set a line") : ONET_OK;
}

static onet_status take_constraints(record *r, const char *name, onet_error *err) {
    constraint_graph g;
    onet_status status =
        constraint_graph_make(&g, r->constraint_store, r->constraint_count, 0, r->n, r->context, err);
    if (status == ONET_BAD) error_prefix(err, "%s:%ld", name, r->line);
    constraint_graph_free(&g);
    r->constraints = r->constraint_store;
    return status;
}

onet_status jsonl_parse(record *r, const onet_read_options *options, const char *name, onet_error *err) {
    scan s = {
        .at = r->text, .end = r->text + r->length, .r = r, .name = name, .options = options, .err = err};
    lengths length = {-1, -1};
    onet_status status = record_check_text(r->text, r->length, name, r->line, err);
    if (status) return status;
    skip_space(&s);
    if ((status = object(&s, &length))) return status;
    if (!r->n)
        return fail(err, ONET_BAD, "%s:%ld: field `items` is missing; give the set's items", name, r->line);
    if (length.context > 0) status = record_take_context(r, (size_t)length.context, name, err);
    if (!status && length.order >= 0)
        status = record_take_order(r, (size_t)length.order, 0, "order", name, err);
    if (!status && r->constraint_count) status = take_constraints(r, name, err);
    return status;
}
