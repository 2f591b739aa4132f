/* Splits the JSON body of a request into its members, refuses unknown and misspelt keys, and reads the
 * members that are not sets: numbers, choices, the model. Brackets are only counted here; the function that
 * reads a member's value reports errors inside it. */
#include <string.h>
#include <strings.h>

#include "app/request.h"
#include "engine/base/choice.h"
#include "engine/base/error.h"
#include "engine/base/json.h"

/* ---- The body, taken apart -------------------------------------------------------------------------- */

static onet_status syntax(json_scan *s, const char *expected, onet_error *err) {
    scan_fail(s, expected);
    return fail(err, ONET_BAD, "the body is not valid JSON at byte %td: expected %s", s->at - s->text + 1,
                s->expected);
}

/* Takes the next value as a span. A line end within a string is refused here, since the reader of sets gets
 * one line per set. */
static onet_status skip(json_scan *s, char *body, span *value, onet_error *err) {
    scan_next(s);
    char *from = body + (s->at - s->text);
    if (!scan_extent(s)) return syntax(s, NULL, err);
    *value = (span){from, (size_t)(s->at - s->text) - (size_t)(from - body)};
    return ONET_OK;
}

static bool same(const span *a, const char *name, size_t length) {
    return a->length == length && !memcmp(a->at, name, length);
}

static onet_status member(json_scan *s, char *body, envelope *e, onet_error *err) {
    span key;
    if (scan_next(s) != '"') return syntax(s, "a key in quotes", err);
    onet_status status = skip(s, body, &key, err);
    if (status) return status;
    key = (span){key.at + 1, key.length - 2};
    for (int k = 0; k < e->count; k++)
        if (same(&e->key[k], key.at, key.length))
            return fail(err, ONET_BAD, "the key `%.*s` is there twice",
                        (int)(key.length < 64 ? key.length : 64), key.at);
    if (e->count == ENVELOPE_MEMBERS) return syntax(s, "no more than 64 keys", err);
    if (!scan_accept(s, ':')) return syntax(s, "a colon after the key", err);
    e->key[e->count] = key;
    status = skip(s, body, &e->value[e->count], err);
    e->count += !status;
    return status;
}

onet_status envelope_members(envelope *e, char *body, size_t length, onet_error *err) {
    json_scan s = scan_of(body, length);
    e->count = 0;
    if (!scan_accept(&s, '{')) return syntax(&s, "a JSON object, in braces", err);
    for (bool first = true; scan_more(&s, '}', &first);) {
        onet_status status = member(&s, body, e, err);
        if (status) return status;
    }
    return scan_end(&s, "nothing after the object") ? ONET_OK : syntax(&s, NULL, err);
}

const span *envelope_find(const envelope *e, const char *key) {
    for (int k = 0; k < e->count; k++)
        if (same(&e->key[k], key, strlen(key))) return &e->value[k];
    return NULL;
}

onet_status envelope_elements(const span *list, span *elements, size_t most, size_t *count, const char *what,
                              onet_error *err) {
    json_scan s = scan_of(list->at, list->length);
    *count = 0;
    if (!scan_accept(&s, '[')) return fail(err, ONET_BAD, "field `%s`: not an array", what);
    for (bool first = true; scan_more(&s, ']', &first); ++*count) {
        if (*count == most)
            return fail(err, ONET_FAILED,
                        "field `%s`: more than the %zu that one request may have; send several", what, most);
        onet_status status = skip(&s, list->at, &elements[*count], err);
        if (status) return status;
    }
    if (!scan_end(&s, "nothing after the array")) return syntax(&s, NULL, err);
    return *count ? ONET_OK
                  : fail(err, ONET_BAD, "field `%s`: the array is empty; expected at least one", what);
}

/* ---- Fields ----------------------------------------------------------------------------------------- */

static bool listed(const char *const *list, const span *key) {
    for (; list && *list; list++)
        if (same(key, *list, strlen(*list))) return true;
    return false;
}

/* Whether a key differs from a name by one typing error: its case, a letter more or less, two swapped,
 * or, in a long word, another letter; `text` is not taken for `next`. */
static bool is_slip(const char *key, size_t length, const char *name) {
    size_t own = strlen(name), front = 0, back = 0;
    while (front < length && front < own && !strncasecmp(key + front, name + front, 1)) front++;
    while (back < length - front && back < own - front &&
           !strncasecmp(key + length - 1 - back, name + own - 1 - back, 1))
        back++;
    const char *a = key + front, *b = name + front;
    size_t left = length - front - back, wanted = own - front - back;
    if (left + wanted <= 1) return true;
    if (left == 1 && wanted == 1) return own > 4;
    return left == 2 && wanted == 2 && !strncasecmp(a, b + 1, 1) && !strncasecmp(a + 1, b, 1);
}

/* Refuses an unknown key of a set that looks like a misspelt constraint. Other unknown keys, such as an id,
 * are ignored, as in files. */
static onet_status check_key(const span *key, const char *const *set_keys, size_t set, onet_error *err) {
    static const char *const all[] = {"first", "last", "prefix", "before", "next", "context", "order", NULL};
    int length = (int)(key->length < 64 ? key->length : 64);
    for (const char *const *name = all; *name && !listed(set_keys, key); name++) {
        if (same(key, *name, strlen(*name)))
            return fail(err, ONET_BAD, "request:%zu: unknown key `%s`", set, *name);
        if (is_slip(key->at, key->length, *name))
            return fail(err, ONET_BAD, "request:%zu: unknown key `%.*s`; did you mean `%s`?", set, length,
                        key->at, *name);
    }
    return ONET_OK;
}

/* Checks the keys of all objects under "sets". What is not valid JSON is left to the reader of sets. */
static onet_status check_sets(const span *sets, const char *const *set_keys, onet_error *err) {
    json_scan s = scan_of(sets->at, sets->length);
    size_t set = 1;
    scan_accept(&s, '[');
    for (bool first = true; scan_more(&s, ']', &first); set++) {
        if (!scan_accept(&s, '{')) return ONET_OK;
        for (bool first_key = true; scan_more(&s, '}', &first_key);) {
            span key = {0}, value;
            if (*s.at != '"' || skip(&s, sets->at, &key, NULL)) return ONET_OK;
            key = (span){key.at + 1, key.length - 2};
            onet_status status = check_key(&key, set_keys, set, err);
            if (status) return status;
            if (!scan_accept(&s, ':') || skip(&s, sets->at, &value, NULL)) return ONET_OK;
        }
    }
    return ONET_OK;
}

onet_status request_keys(const envelope *e, const char *const *options, const char *const *set_keys,
                         onet_error *err) {
    const span *several = envelope_find(e, "sets");
    for (int k = 0; k < e->count; k++) {
        const span *key = &e->key[k];
        int length = (int)(key->length < 64 ? key->length : 64);
        if (listed(options, key)) continue;
        if (!listed(set_keys, key)) return fail(err, ONET_BAD, "unknown key `%.*s`", length, key->at);
        if (several)
            return fail(err, ONET_BAD, "the key `%.*s` belongs to one set; put it into the objects of `sets`",
                        length, key->at);
    }
    return several && set_keys ? check_sets(several, set_keys, err) : ONET_OK;
}

/* Whether the scan took the whole value. */
static bool whole(json_scan *s, bool taken) {
    return taken && scan_end(s, "");
}

/* Writes the text of a field, NUL-terminated; false: it is not a string, or longer than any name. */
static bool name_of(const span *at, char name[256], size_t *length) {
    json_scan s = scan_of(at->at, at->length);
    if (at->length > 256 || !whole(&s, scan_string(&s, name, length))) return false;
    name[*length] = '\0';
    return true;
}

static bool whole_of(const span *at, uint64_t *value) {
    json_scan s = scan_of(at->at, at->length);
    return whole(&s, scan_whole(&s, value));
}

onet_status request_int(const envelope *e, const char *key, int low, int high, int *value, onet_error *err) {
    const span *at = envelope_find(e, key);
    uint64_t v;
    if (!at) return ONET_OK;
    if (!whole_of(at, &v) || v < (uint64_t)low || v > (uint64_t)high)
        return fail(err, ONET_BAD, "field `%s` takes a whole number from %d to %d", key, low, high);
    *value = (int)v;
    return ONET_OK;
}

onet_status request_seed(const envelope *e, uint64_t *value, onet_error *err) {
    const span *at = envelope_find(e, "seed");
    uint64_t seed;
    if (!at) return ONET_OK;
    if (!whole_of(at, &seed))
        return fail(err, ONET_BAD, "field `seed` takes a whole number from 0 to 18446744073709551615");
    *value = seed;
    return ONET_OK;
}

onet_status request_double(const envelope *e, const char *key, double low, double high, double *value,
                           onet_error *err) {
    const span *at = envelope_find(e, key);
    double v;
    if (!at) return ONET_OK;
    json_scan s = scan_of(at->at, at->length);
    if (!whole(&s, scan_number(&s, &v)) || v < low || v > high)
        return fail(err, ONET_BAD, "field `%s` takes a number from %g to %g", key, low, high);
    *value = v;
    return ONET_OK;
}

onet_status request_bool(const envelope *e, const char *key, bool *value, onet_error *err) {
    const span *at = envelope_find(e, key);
    if (!at) return ONET_OK;
    json_scan s = scan_of(at->at, at->length);
    bool yes = scan_literal(&s, "true");
    if (!whole(&s, yes || scan_literal(&s, "false")))
        return fail(err, ONET_BAD, "field `%s` takes true or false", key);
    *value = yes;
    return ONET_OK;
}

onet_status request_choice(const envelope *e, const char *key, const onet_choice *choices, int *value,
                           onet_error *err) {
    const span *at = envelope_find(e, key);
    char name[256];
    size_t length;
    if (!at) return ONET_OK;
    const onet_choice *found = name_of(at, name, &length) ? choice_named(choices, name, length) : NULL;
    if (!found)
        return fail(err, ONET_BAD, "field `%s` is one of %s", key,
                    choice_names(choices, ", ", name, sizeof name));
    *value = found->value;
    return ONET_OK;
}

onet_status request_model(const envelope *e, const service *shared, const char *fallback, model_slot **slot,
                          onet_error *err) {
    models *m = shared->m;
    const span *at = envelope_find(e, "model");
    char names[512], name[256];
    size_t length = 0;
    if (at && !name_of(at, name, &length))
        return fail(err, ONET_BAD, "field `model` takes a name: %s", models_names(m, names, sizeof names));
    if (at)
        *slot = models_find(m, name, length);
    else if (fallback)
        *slot = models_find(m, fallback, strlen(fallback));
    else
        *slot = m->count == 1 ? &m->slot[0] : NULL;
    if (*slot) return ONET_OK;
    if (!at && !fallback)
        return fail(err, ONET_BAD, "name a model in field `model`: %s", models_names(m, names, sizeof names));
    return fail(err, ONET_IO, "there is no such model; served are: %s", models_names(m, names, sizeof names));
}
