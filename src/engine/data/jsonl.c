/* Reads a set from a line of JSON Lines in one pass: items, relations (pairs), order, context items and
 * constraints; errors name the line and the key. */
#include "engine/data/jsonl.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/memory.h"
#include "engine/data/columns.h"
#include "engine/data/constraints.h"
#include "engine/data/sets.h"

enum { MEMBERS = 1000 }; /* keys of a set; each is compared with each */

typedef struct scan {
    json_scan j;
    record *r;
    const char *name;
    char *key;    /* where the next key goes, without escapes */
    char *letter; /* where the next word goes */
    const onet_read_options *options;
    onet_error *err;
} scan;

/* Lengths of the lists that are checked when the items are known; -1: not given. */
typedef struct lengths {
    long order, context, pairs;
} lengths;

/* ---- Error messages ---------------------------------------------------------------------------------------
 */

static onet_status invalid(const scan *s) {
    return fail(s->err, ONET_BAD, "%s:%ld: not valid JSON at column %zu: expected %s", s->name, s->r->line,
                (size_t)(s->j.at - s->j.text) + 1, s->j.expected);
}

static onet_status syntax(scan *s, const char *expected) {
    scan_fail(&s->j, expected);
    return invalid(s);
}

/* i, j: the item and the feature; -1 for none. */
static onet_status field(const scan *s, const char *what, long i, long j, const char *sentence) {
    char path[64] = "";
    int used = i >= 0 ? snprintf(path, sizeof path, "[%ld]", i) : 0;
    if (j >= 0) snprintf(path + used, sizeof path - (size_t)used, "[%ld]", j);
    return fail(s->err, ONET_BAD, "%s:%ld: field `%s`%s: %s", s->name, s->r->line, what, path, sentence);
}

/* ---- A set ------------------------------------------------------------------------------------------- */

/* Whether a value other than a number comes next. */
static bool other_value(scan *s) {
    char c = scan_next(&s->j);
    return c && strchr("[{\"tfn", c);
}

/* Reports what stands where a number is expected. */
static onet_status not_a_number(scan *s, long i, long j) {
    if (number_not_finite(s->j.at, s->j.end))
        return field(s, "items", i, j, "not a finite number; give a number or leave the set out");
    if (other_value(s)) return field(s, "items", i, j, "not a number; every feature must be a number");
    return syntax(s, "a number");
}

static onet_status feature(scan *s, long i, long j) {
    record *r = s->r;
    double value;
    float nearest;
    const char *from = s->j.at;
    if (!scan_number(&s->j, &value)) {
        if (!scan_literal(&s->j, "null") && !scan_literal(&s->j, "NaN")) return not_a_number(s, i, j);
        value = (double)NAN;
    } else if (!number_to_float(value, &nearest))
        return field(s, "items", i, j, "out of range; features are 32-bit, at most 3.4e38 in size");
    else if (number_is_rounded(from, s->j.at, value))
        return field(s, "items", i, j, NUMBER_ROUNDED);
    size_t at = j < 0 ? (size_t)i : (size_t)i * (size_t)r->width + (size_t)j;
    if (!array_reserve(&r->item_store, &r->item_room, at + 1, sizeof *r->item_store))
        return fail_memory(s->err, "a set's items");
    r->item_store[at] = value;
    return ONET_OK;
}

/* Reads an item's features, after its opening bracket. */
static onet_status row(scan *s) {
    record *r = s->r;
    long j = 0;
    bool first = true, more;
    while ((more = scan_more(&s->j, ']', &first)) && (!r->n || j < r->width)) {
        onet_status status = feature(s, r->n, j);
        if (status) return status;
        if (++j == INT_MAX) return field(s, "items", r->n, -1, "more than 2147483646 features");
    }
    if (s->j.expected) return invalid(s);
    if (!j) return field(s, "items", r->n, -1, "no features; give every item at least one");
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
    if (!scan_string(&s->j, s->letter, &length)) return invalid(s);
    if (!length) return field(s, "items", r->n, -1, "an empty word; leave it out");
    r->word_store[n] = s->letter;
    s->letter[length] = 0;
    s->letter += length + 1;
    return ONET_OK;
}

static onet_status items(scan *s) {
    record *r = s->r;
    const char *from = s->j.at;
    char kind = 0; /* of the items: [ features, " words, 0 one bare number each */
    if (!scan_accept(&s->j, '['))
        return field(s, "items", -1, -1, "not an array; write [[0.1, 0.2], [0.3, 0.4]], or words in quotes");
    char c = scan_next(&s->j);
    if (c == '{') {
        s->j.at = from;
        s->j.nan = true;
        bool valid = scan_skip(&s->j, 1);
        s->j.nan = false;
        return valid ? jsonl_keyed(r, from, s->j.at, s->options, s->name, s->err) : invalid(s);
    }
    if (s->options && s->options->features && c != '"' && c != ']')
        return columns_no_names(s->name, r->line, s->err);
    for (bool first = true; scan_more(&s->j, ']', &first); r->n++) {
        c = scan_next(&s->j);
        if (!c || strchr(",]}", c)) return syntax(s, "an item");
        if (c != '[' && c != '"') c = 0;
        if (!r->n) kind = c;
        if (c != kind)
            return field(s, "items", r->n, -1,
                         kind == '['   ? "not an array of features, as the items before it are"
                         : kind == '"' ? "not a word in quotes, as the items before it are"
                                       : "not a number, as the items before it are");
        if (r->n == INT_MAX) return field(s, "items", -1, -1, "more than 2147483647 items");
        s->j.at += c == '[';
        onet_status status = c == '[' ? row(s) : c == '"' ? word(s) : feature(s, r->n, -1);
        if (status) return status;
    }
    if (s->j.expected) return invalid(s);
    if (!r->n) return field(s, "items", -1, -1, "an empty set; give it an item or leave it out");
    if (!kind) r->width = 1;
    if (kind == '"')
        r->word = r->word_store;
    else
        r->items = r->item_store;
    return ONET_OK;
}

/* ---- Relations --------------------------------------------------------------------------------------- */

/* Appends a number of pair (i, j) to pair_store, which has *held. */
static onet_status relation(scan *s, long i, long j, size_t *held) {
    record *r = s->r;
    double value = 0;
    float nearest = 0;
    scan_next(&s->j);
    const char *from = s->j.at;
    if (!scan_number(&s->j, &value))
        return other_value(s) || number_not_finite(s->j.at, s->j.end)
                   ? field(s, "pairs", i, j,
                           "not a number; a relation between two different items must be a number")
                   : syntax(s, "a number");
    if (!number_to_float(value, &nearest))
        return field(s, "pairs", i, j, "out of range; relations are 32-bit, at most 3.4e38 in size");
    if (number_rounds_in_float(value) || number_is_rounded(from, s->j.at, value))
        return field(s, "pairs", i, j, NUMBER_ROUNDED_IN_FLOAT);
    if (!array_reserve(&r->pair_store, &r->pair_room, *held + 1, sizeof *r->pair_store))
        return fail_memory(s->err, "a set's relations");
    r->pair_store[(*held)++] = nearest;
    return ONET_OK;
}

/* Skips a value of the diagonal: JSON, or a number that is not finite, as Python writes it. */
static bool skip_value(json_scan *s, int depth) {
    scan_next(s);
    return scan_literal(s, "NaN") || scan_literal(s, "Infinity") || scan_literal(s, "-Infinity") ||
           scan_skip(s, depth);
}

/* Skips a value of the diagonal, whatever it is, and appends as many zeros as the other pairs have numbers.
 * In a set of one item it tells the number of relations: *alone. */
static onet_status skip_itself(scan *s, size_t *held, int *alone) {
    record *r = s->r;
    *alone = 1;
    if (scan_accept(&s->j, '[')) {
        *alone = 0;
        for (bool first = true; scan_more(&s->j, ']', &first); *alone += *alone <= MAX_RELATIONS)
            if (!skip_value(&s->j, 4)) break;
    } else
        skip_value(&s->j, 3);
    if (s->j.expected) return invalid(s);
    for (int k = 0; k < r->relations; k++) {
        if (!array_reserve(&r->pair_store, &r->pair_room, *held + 1, sizeof *r->pair_store))
            return fail_memory(s->err, "a set's relations");
        r->pair_store[(*held)++] = 0;
    }
    return ONET_OK;
}

/* Reads the relations from item i to another item j: a number, or an array of numbers. */
static onet_status pair_of(scan *s, long i, long j, size_t *held) {
    record *r = s->r;
    size_t before = *held;
    onet_status status = ONET_OK;
    scan_next(&s->j);
    if (!scan_accept(&s->j, '['))
        status = relation(s, i, j, held);
    else
        for (bool first = true; !status && scan_more(&s->j, ']', &first);)
            if (*held - before == MAX_RELATIONS)
                status = field(s, "pairs", i, j, "more than 16 relations; leave some out");
            else
                status = relation(s, i, j, held);
    if (!status && s->j.expected) return invalid(s);
    size_t count = *held - before;
    if (!status && !count) return field(s, "pairs", i, j, "no relations; give every pair as many");
    if (!status && !r->relations) {
        r->relations = (int)count;
        if (i || j) { /* behind that from item 0 to itself */
            if (!array_reserve(&r->pair_store, &r->pair_room, 2 * count, sizeof *r->pair_store))
                return fail_memory(s->err, "a set's relations");
            memmove(r->pair_store + count, r->pair_store, count * sizeof *r->pair_store);
            memset(r->pair_store, 0, count * sizeof *r->pair_store);
            *held += count;
        }
    } else if (!status && (int)count != r->relations)
        return field(s, "pairs", i, j,
                     "another number of relations than the pairs before it; give each as many");
    return status;
}

/* Reads "pairs": [[null, 2], [1, null]], or an array of several numbers in place of each. *n: items. */
static onet_status relations_of_set(scan *s, long *n) {
    size_t held = 0;
    long i = 0;
    int alone = 1; /* relations of a set of one item */
    bool first = true;
    if (scan_literal(&s->j, "null")) return ONET_OK;
    if (!scan_accept(&s->j, '['))
        return field(s, "pairs", -1, -1, "not an array; write [[null, 2], [1, null]]: a row for each item");
    for (; scan_more(&s->j, ']', &first); i++) {
        long j = 0;
        bool first_of_row = true;
        if (i && i == *n) break;
        if (!scan_accept(&s->j, '[')) return field(s, "pairs", i, -1, "not an array: a row for each item");
        for (; scan_more(&s->j, ']', &first_of_row); j++) {
            if (i && j == *n)
                return field(s, "pairs", i, -1, "longer than the rows before it; give every pair");
            onet_status status = i == j ? skip_itself(s, &held, &alone) : pair_of(s, i, j, &held);
            if (status) return status;
        }
        if (s->j.expected) return invalid(s);
        if (!i) *n = j;
        if (j != *n) return field(s, "pairs", i, -1, "shorter than the rows before it; give every pair");
    }
    if (s->j.expected) return invalid(s);
    if (i != *n || s->j.at[-1] != ']' || !i || i > INT_MAX)
        return field(s, "pairs", -1, -1,
                     "not as many rows as columns; give a row and a column for each item");
    if (!s->r->relations) { /* one item */
        if (alone < 1 || alone > MAX_RELATIONS)
            return field(s, "pairs", 0, 0, "expected 1 to 16 relations, or null");
        if (!array_reserve(&s->r->pair_store, &s->r->pair_room, (size_t)alone, sizeof *s->r->pair_store))
            return fail_memory(s->err, "a set's relations");
        s->r->relations = alone;
        memset(s->r->pair_store, 0, (size_t)alone * sizeof *s->r->pair_store);
    }
    s->r->pairs = s->r->pair_store;
    return ONET_OK;
}

/* Checks that there are relations for every item; without items they determine how many there are. */
static onet_status take_pairs(record *r, long n, const char *name, onet_error *err) {
    if (!r->n && !r->items && !r->word) {
        if (!array_reserve(&r->item_store, &r->item_room, 1, sizeof *r->item_store))
            return fail_memory(err, "a set's items");
        r->n = (int)n;
        r->items = r->item_store;
    }
    if (n == r->n) return ONET_OK;
    return fail(err, ONET_BAD,
                "%s:%ld: field `pairs`: %ld rows and columns for %d items; give one of each for every item",
                name, r->line, n, r->n);
}

/* ---- Order, context, constraints --------------------------------------------------------------------- */

/* Reads a whole number; one beyond 32 bits becomes an index that no item has. */
static onet_status index_of(scan *s, const char *what, long i, long j, int32_t *index) {
    double value;
    scan_next(&s->j);
    const char *from = s->j.at;
    if (!scan_number(&s->j, &value))
        return other_value(s) ? field(s, what, i, j, "not a number; give the index of an item")
                              : syntax(s, "a whole number");
    for (const char *p = from; p < s->j.at; p++)
        if (*p == '.' || *p == 'e' || *p == 'E')
            return field(s, what, i, j, "not a whole number; give the index of an item");
    *index = -1;
    if (value >= 0) *index = value > INT_MAX ? INT_MAX : (int32_t)value;
    return ONET_OK;
}

/* Reads a list of indices, to be checked when the items are known too. *length is -1 for null. */
static onet_status indices(scan *s, const char *what, int32_t **store, size_t *room, long *length) {
    *length = -1;
    if (scan_literal(&s->j, "null")) return ONET_OK;
    if (!scan_accept(&s->j, '['))
        return field(s, what, -1, -1, "not an array; write [1, 0, 2], or leave it out");
    *length = 0;
    for (bool first = true; scan_more(&s->j, ']', &first); ++*length) {
        if (!array_reserve(store, room, (size_t)*length + 1, sizeof **store))
            return fail_memory(s->err, "a list of indices");
        onet_status status = index_of(s, what, *length, -1, *store + *length);
        if (status) return status;
    }
    return s->j.expected ? invalid(s) : ONET_OK;
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

/* Reads "first": 3 or "last": 3. */
static onet_status end_item(scan *s, const char *what, onet_constraint_kind kind) {
    int32_t item;
    if (scan_literal(&s->j, "null")) return ONET_OK;
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

/* Reads "before": [[0, 1], [4, 2]]: item 0 comes before item 1, item 4 before item 2; or "next": item 1
 * directly after item 0. */
static onet_status pairs(scan *s, const char *what, onet_constraint_kind kind) {
    const char *no_pair = kind == ONET_BEFORE ? "not a pair; write [0, 1] for 0 before 1"
                                              : "not a pair; write [0, 1] for 1 directly after 0";
    if (scan_literal(&s->j, "null")) return ONET_OK;
    if (!scan_accept(&s->j, '[')) return field(s, what, -1, -1, "not an array; write [[0, 1], [4, 2]]");
    bool first = true;
    for (long k = 0; scan_more(&s->j, ']', &first); k++) {
        int32_t pair[2];
        if (!scan_accept(&s->j, '[')) return field(s, what, k, -1, no_pair);
        for (int j = 0; j < 2; j++) {
            onet_status status = index_of(s, what, k, j, &pair[j]);
            if (status) return status;
            if (!scan_accept(&s->j, j ? ']' : ',')) return field(s, what, k, -1, no_pair);
        }
        onet_status status = add_constraint(s, kind, pair[0], pair[1]);
        if (status) return status;
    }
    return s->j.expected ? invalid(s) : ONET_OK;
}

/* Reads the key of a member, which no other may have. */
static onet_status key(scan *s, member *m) {
    record *r = s->r;
    size_t length;
    if (!scan_key(&s->j, s->key, &length)) return invalid(s);
    m->name = (size_t)(s->key - r->keys);
    s->key += length;
    m->name_end = m->name + length;
    for (const member *other = r->member; other < m; other++)
        if (other->name_end - other->name == length &&
            !memcmp(r->keys + other->name, r->keys + m->name, length))
            return fail(s->err, ONET_BAD, "%s:%ld: field `%.*s` appears twice; keep one of them", s->name,
                        r->line, length > 100 ? 100 : (int)length, r->keys + m->name);
    return ONET_OK;
}

bool jsonl_is(const record *r, const member *m, const char *name) {
    size_t length = strlen(name);
    return m->name_end - m->name == length && !memcmp(r->keys + m->name, name, length);
}

/* Reads the value of a member by its key; those of unknown keys are skipped. */
static onet_status value(scan *s, const member *m, lengths *length) {
    record *r = s->r;
    if (jsonl_is(r, m, "items")) return items(s);
    if (jsonl_is(r, m, "order")) return indices(s, "order", &r->order_store, &r->order_room, &length->order);
    if (jsonl_is(r, m, "context"))
        return indices(s, "context", &r->index_store, &r->index_room, &length->context);
    if (jsonl_is(r, m, "pairs")) return relations_of_set(s, &length->pairs);
    if (jsonl_is(r, m, "first")) return end_item(s, "first", ONET_PLACE);
    if (jsonl_is(r, m, "last")) return end_item(s, "last", ONET_LAST);
    if (jsonl_is(r, m, "prefix")) return prefix(s);
    if (jsonl_is(r, m, "before")) return pairs(s, "before", ONET_BEFORE);
    if (jsonl_is(r, m, "next")) return pairs(s, "next", ONET_NEXT);
    return scan_skip(&s->j, 1) ? ONET_OK : invalid(s);
}

static onet_status object(scan *s, lengths *length) {
    record *r = s->r;
    onet_status status;
    if (!array_reserve(&r->keys, &r->key_room, r->length + 1, 1)) return fail_memory(s->err, "a set's keys");
    s->key = r->keys;
    if (!scan_accept(&s->j, '{')) return syntax(s, "an object such as {\"items\": [[0.1, 0.2], [0.3, 0.4]]}");
    for (bool first = true; scan_more(&s->j, '}', &first); r->members++) {
        if (r->members == MEMBERS)
            return fail(s->err, ONET_BAD, "%s:%ld: more than %d fields in one set; leave some out", s->name,
                        r->line, MEMBERS);
        if (!array_reserve(&r->member, &r->member_room, (size_t)r->members + 1, sizeof *r->member))
            return fail_memory(s->err, "a set's keys");
        member *m = &r->member[r->members];
        if ((status = key(s, m))) return status;
        m->value = (size_t)(s->j.at - r->text);
        if ((status = value(s, m, length))) return status;
        m->value_end = (size_t)(s->j.at - r->text);
    }
    return scan_end(&s->j, "the end of the line: one set per line") ? ONET_OK : invalid(s);
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
    scan s = {.j = scan_of(r->text, r->length), .r = r, .name = name, .options = options, .err = err};
    lengths length = {-1, -1, -1};
    onet_status status = record_check_text(r->text, r->length, name, r->line, err);
    if (!status) status = object(&s, &length);
    if (status) return status;
    if (r->pairs && (status = take_pairs(r, length.pairs, name, err))) return status;
    if (!r->n)
        return fail(err, ONET_BAD, "%s:%ld: field `items` is missing; give the set's items", name, r->line);
    if (length.context > 0) status = record_take_context(r, (size_t)length.context, name, err);
    if (!status && length.order >= 0)
        status = record_take_order(r, (size_t)length.order, 0, "order", name, err);
    if (!status && r->constraint_count) status = take_constraints(r, name, err);
    return status;
}
