/* Reads items of JSON Lines that are objects, {"height": 1.71, "age": 36}: decides which keys are features,
 * and reads their values (numbers, dates, truth values, texts of categories). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/memory.h"
#include "engine/base/names.h"
#include "engine/data/columns.h"
#include "engine/data/csv_classes.h"
#include "engine/data/jsonl.h"
#include "engine/data/jsonl_texts.h"
#include "engine/data/sets.h"
#include "engine/data/text_value.h"

typedef struct walk {
    json_scan j; /* valid: an array of items */
    record *r;
    const char *name;          /* of the file */
    const onet_columns *model; /* its kinds are those that the features must have; NULL: not known */
    onet_error *err;
} walk;

/* Reads the next key into r->letters and returns its length; its value then comes next. */
static size_t take_key(walk *w) {
    size_t length = 0;
    scan_key(&w->j, w->r->letters, &length);
    return length;
}

typedef enum value_kind { VALUE_NUMBER, VALUE_MISSING, VALUE_TEXT } value_kind;

/* Reads a value: a number, or true or false as 1 or 0; null, NaN or a text that means missing; or anything
 * else. */
static value_kind take_value(walk *w, double *value) {
    const char *from = w->j.at;
    *value = NAN;
    if (scan_number(&w->j, value)) return VALUE_NUMBER;
    scan_skip(&w->j, 0);
    if (*from == 'n' || *from == 'N') return VALUE_MISSING;
    if (*from == 't' || *from == 'f') *value = *from == 't';
    if (*from == 't' || *from == 'f') return VALUE_NUMBER;
    if (*from != '"') return VALUE_TEXT;
    return missing_text(from + 1, (size_t)(w->j.at - from) - 2) ? VALUE_MISSING : VALUE_TEXT;
}

static onet_status bad(const walk *w, const char *key, size_t length, const char *sentence) {
    return fail(w->err, ONET_BAD, "%s:%ld: field `items`[%d], `%.*s`: %s", w->name, w->r->line, w->r->n,
                length > 100 ? 100 : (int)length, key, sentence);
}

/* As bad, for errors that the user can avoid by naming the features. */
static onet_status bad_feature(const walk *w, const char *key, size_t length, const char *sentence) {
    onet_status status = bad(w, key, length, sentence);
    error_field(w->err, "onet_read_options.features");
    return status;
}

static onet_status not_an_object(const walk *w) {
    return fail(w->err, ONET_BAD,
                "%s:%ld: field `items`[%d]: not an object with keys, as the items before it are", w->name,
                w->r->line, w->r->n);
}

/* ---- Which keys are features ------------------------------------------------------------------------- */

typedef struct key_values {
    size_t numbers, texts, strings; /* strings: texts that are no lists or objects */
} key_values;

static onet_status count_keys(walk *w, names *keys, key_values **seen, size_t *room) {
    bool first = scan_accept(&w->j, '[');
    for (w->r->n = 0; scan_more(&w->j, ']', &first); w->r->n++) {
        if (!scan_accept(&w->j, '{')) return not_an_object(w);
        for (bool begin = true; scan_more(&w->j, '}', &begin);) {
            size_t length = take_key(w), before = keys->count, k;
            double value;
            if (!names_add(keys, w->r->letters, length, &k) ||
                !array_reserve(seen, room, keys->count, sizeof **seen))
                return fail_memory(w->err, "the keys of the items");
            if (k == before) (*seen)[k] = (key_values){0};
            const char *from = w->j.at;
            value_kind kind = take_value(w, &value);
            if (kind == VALUE_NUMBER) (*seen)[k].numbers++;
            if (kind == VALUE_TEXT) (*seen)[k].texts++;
            if (kind == VALUE_TEXT && *from == '"') (*seen)[k].strings++;
            if ((*seen)[k].numbers && (*seen)[k].texts)
                return bad_feature(
                    w, keys->text + keys->at[k], length,
                    "a number in some items of the set and something else in others; correct it, "
                    "or name the features");
        }
    }
    return ONET_OK;
}

/* Whether a key without numbers may be a feature: the reader takes texts, and it has no lists or objects. */
static bool may_be_feature(const walk *w, const key_values *seen) {
    return w->r->texts && seen->strings && seen->strings == seen->texts;
}

/* Finds the features of a file that no model has columns for: the keys with numbers, and those with text that
 * may turn out to be categories, dates or truth values. */
static onet_status find_columns(walk *w, onet_columns **columns) {
    names keys = {0};
    key_values *seen = NULL;
    size_t room = 0, width = 0;
    onet_status status = count_keys(w, &keys, &seen, &room);
    char *text = status ? NULL : malloc((keys.count ? keys.at[keys.count] : 0) + keys.count + 1), *to = text;
    const char **name = status ? NULL : malloc((keys.count + 1) * sizeof *name);
    if (!status && (!text || !name)) status = fail_memory(w->err, "the keys of the items");
    for (size_t k = 0; k < keys.count && !status; k++) {
        if (!seen[k].numbers && !may_be_feature(w, &seen[k])) continue;
        if (w->r->texts && keys.at[k + 1] - keys.at[k] == 4 && !memcmp(keys.text + keys.at[k], "rank", 4)) {
            status = fail_field(
                w->err, ONET_BAD, "onet_read_options.features",
                "%s:%ld: field `items`: a key `rank`, which is the right order as a rule: leave it "
                "out, or name the features",
                w->name, w->r->line);
            break;
        }
        name[width++] = to;
        to = mempcpy(to, keys.text + keys.at[k], keys.at[k + 1] - keys.at[k]);
        *to++ = '\0';
    }
    if (!status && !width)
        status =
            fail(w->err, ONET_BAD,
                 "%s:%ld: field `items`: no key with numbers; give every item at least one feature%s",
                 w->name, w->r->line, keys.count && !w->r->texts ? " (only training takes text as one)" : "");
    if (!status && width > MAX_WIDTH)
        status =
            fail(w->err, ONET_BAD, "%s:%ld: field `items`: %zu keys with numbers; at most %d are possible",
                 w->name, w->r->line, width, MAX_WIDTH);
    if (!status) status = onet_columns_new(columns, (int)width, name, NULL, NULL, w->err);
    if (!status && w->r->texts) {
        w->r->texts->unasked = true;
        w->r->texts->line = w->r->line;
        status = jsonl_texts_reserve(w->r->texts, (int)width, w->err);
    }
    for (size_t k = 0, j = 0; k < keys.count && !status; k++) {
        bool found = may_be_feature(w, &seen[k]);
        if (found || seen[k].numbers) {
            if (found) w->r->texts->found[j] = true;
            j++;
        } else if (seen[k].texts)
            status =
                columns_add_unused(*columns, keys.text + keys.at[k], keys.at[k + 1] - keys.at[k], w->err);
    }
    names_free(&keys);
    free(seen);
    free(text);
    free(name);
    return status;
}

/* ---- Their values ------------------------------------------------------------------------------------ */

/* Returns the number of the feature with that name, mostly the one after `near`; -1: there is none. */
static int find_feature(const onet_columns *c, const char *key, size_t length, int near) {
    for (int i = 0; i < c->width; i++) {
        int j = (near + 1 + i) % c->width;
        if (strlen(c->name[j]) == length && !memcmp(c->name[j], key, length)) return j;
    }
    return -1;
}

/* Returns the text of the value from .. w->j.at: a string without its quotes and escapes, behind the key, of
 * `length`, in w->r->letters; others as they are. */
static const char *value_text(const walk *w, size_t length, const char *from, size_t *size) {
    char *plain = w->r->letters + length;
    *size = (size_t)(w->j.at - from);
    if (*from != '"') return from;
    *size = json_unquote(from, w->j.at, plain);
    return plain;
}

/* Sets the features COLUMN=VALUE of the key in w->r->letters [length], the column: 1 if the value from ..
 * w->j.at is VALUE, else 0. *found: there are some. */
static onet_status take_classes(const walk *w, const onet_columns *c, size_t length, const char *from,
                                value_kind kind, double *row, uint8_t *have, bool *found) {
    const char *key = w->r->letters;
    int first = c->width, some = 0;
    bool numbers = true, known = false;
    size_t size;
    const char *text = value_text(w, length, from, &size);
    for (int j = c->width - 1; j >= 0; j--) {
        const char *name = c->name[j];
        if (strncmp(name, key, length) != 0 || name[length] != '=') continue;
        numbers = numbers && unknown_is_number(name + length + 1, strlen(name + length + 1));
        first = j;
        some++;
    }
    *found = some > 0;
    if (!some) return ONET_OK;
    for (int j = first; j < c->width; j++) {
        const char *name = c->name[j];
        if (strncmp(name, key, length) != 0 || name[length] != '=') continue;
        row[j] = unknown_same(name + length + 1, text, size, numbers);
        have[j] = 7;
        known |= row[j] > 0;
    }
    unknown_note(w->r->unknown, first, known, text, size);
    uint64_t hash = kind == VALUE_MISSING ? LOST_MISSING : lost_hash(text, size);
    return known || lost_note(&w->r->lost_store, (size_t)w->r->n, first, some, hash)
               ? ONET_OK
               : fail_memory(w->err, "the texts of the items");
}

/* Notes as missing the categories whose key the item that was read last lacks. */
static onet_status note_missing(const walk *w, const onet_columns *c, const uint8_t *have) {
    for (int j = 0; c->name && j < c->width; j++) {
        size_t length = strcspn(c->name[j], "=");
        if (!c->name[j][length] || (j && !strncmp(c->name[j - 1], c->name[j], length + 1))) continue;
        int span = onet_columns_span(c, j);
        if (have[j] & 1) continue;
        if (!lost_note(&w->r->lost_store, (size_t)w->r->n, j, span, LOST_MISSING))
            return fail_memory(w->err, "the texts of the items");
    }
    return ONET_OK;
}

/* Whether feature j is not named, but has text in the first set. */
static bool found_text(const record *r, int j) {
    return r->texts && r->texts->width && r->texts->found[j];
}

/* Takes a text, or a number, under the key in w->r->letters [length], feature j of `width`; a feature is one
 * or the other. A text becomes its number in t->value[j]. */
static onet_status take_text(walk *w, int j, int width, size_t length, const char *from, value_kind *kind,
                             double *value) {
    jsonl_texts *t = w->r->texts;
    const char *key = w->r->letters;
    if (!t || *kind == VALUE_MISSING || (t->unasked && !found_text(w->r, j))) return ONET_OK;
    onet_status status = jsonl_texts_reserve(t, width, w->err);
    if (status) return status;
    if (*kind == VALUE_NUMBER) t->number[j] = true;
    if (t->found[j] && *kind == VALUE_TEXT && (*from != '"' || t->value[j].count > MOST_VALUES)) {
        t->odd[j] = true;
        *kind = VALUE_MISSING;
    }
    if (*kind == VALUE_TEXT && *from == '"') {
        size_t size, number;
        const char *text = value_text(w, length, from, &size);
        if (!names_add(&t->value[j], text, size, &number))
            return fail_memory(w->err, "the texts of the items");
        *kind = VALUE_NUMBER;
        *value = (double)number;
    }
    return t->number[j] && t->value[j].count
               ? bad(w, key, length, "a number in some items and a text in others; correct it")
               : ONET_OK;
}

/* Refuses a value: the one under the key in w->r->letters [length], of feature j of `width`, is of another
 * kind than those that the model was trained on, or than others under this key. */
static onet_status check_kind(const walk *w, int j, int width, size_t length, unsigned seen) {
    const char *key = w->r->letters, *why = columns_refuse(w->model, j, seen);
    jsonl_texts *t = w->r->texts;
    char what[256];
    if (why) {
        snprintf(what, sizeof what, "%s%s", seen_name(seen), why);
        return bad(w, key, length, what);
    }
    if (!t) return ONET_OK;
    onet_status status = jsonl_texts_reserve(t, width, w->err);
    if (status) return status;
    if (!kind_of_seen(t->seen[j] | seen)) {
        snprintf(what, sizeof what,
                 "%s, but %s stands under this key before; give it one kind of values, or name the features",
                 seen_name(seen), seen_name(t->seen[j]));
        return bad_feature(w, key, length, what);
    }
    t->seen[j] |= seen;
    return ONET_OK;
}

/* Reads the features of an object, behind its bracket, into row [width], and sets have [width] (take_items)
 * for those that it has. */
static onet_status take_item(walk *w, const onet_columns *c, bool found_here, double *row, uint8_t *have) {
    bool first = true;
    for (int j = 0, near = -1; scan_more(&w->j, '}', &first); near = j >= 0 ? j : near) {
        size_t length = take_key(w);
        const char *key = w->r->letters;
        double value;
        const char *from = w->j.at;
        value_kind kind = take_value(w, &value);
        j = find_feature(c, key, length, near);
        bool classes = false;
        onet_status status = j < 0 ? take_classes(w, c, length, from, kind, row, have, &classes) : ONET_OK;
        if (status) return status;
        if (classes) continue;
        bool truth = *from == 't' || *from == 'f', date = false;
        if (j >= 0 && !found_text(w->r, j) && kind == VALUE_TEXT && *from == '"' &&
            text_value(from + 1, (size_t)(w->j.at - from) - 2, &value)) {
            kind = VALUE_NUMBER;
            date = from[1] >= '0' && from[1] <= '9';
            truth = !date;
            if (date && !lost_note(&w->r->lost_store, (size_t)w->r->n, j, 1,
                                   text_value_lost(from + 1, (size_t)(w->j.at - from) - 2)))
                return fail_memory(w->err, "the dates of the items");
        }
        if (j < 0 && found_here && kind == VALUE_NUMBER)
            return bad_feature(w, key, length,
                               "a number, but the first set has none under this key; give it one there, or "
                               "name the features");
        if (j < 0) continue;
        if (have[j] & 1) return bad(w, key, length, "appears twice; keep one of them");
        unsigned seen = date ? SEEN_DATE : truth ? SEEN_TRUTH : seen_number(value);
        status = kind == VALUE_NUMBER ? check_kind(w, j, c->width, length, seen) : ONET_OK;
        if (!status) status = take_text(w, j, c->width, length, from, &kind, &value);
        if (status) return status;
        if (kind == VALUE_TEXT) return bad(w, key, length, "not a number; every feature must be a number");
        float nearest;
        if (kind == VALUE_NUMBER && !number_to_float(value, &nearest))
            return bad(w, key, length, "out of range; features are 32-bit, at most 3.4e38 in size");
        if (number_is_rounded(from, w->j.at, value)) return bad(w, key, length, NUMBER_ROUNDED);
        row[j] = value; /* NaN where it is missing */
        have[j] = (uint8_t)(3 | (have[j] & 24) | (date ? 8 : 0) | (truth ? 16 : 0));
    }
    return ONET_OK;
}

/* Reads the items. A key that an item lacks is a missing value; one that all items of the set lack, a column
 * that is not there. have [width]: bit 0: this item has it; bit 1: some item of the set has; bit 2: it is a
 * text's; bits 3 and 4: it is a date, a truth value. */
static onet_status take_items(walk *w, const onet_columns *c, bool found_here, uint8_t *have) {
    record *r = w->r;
    size_t width = (size_t)c->width;
    onet_status status = ONET_OK;
    bool first = scan_accept(&w->j, '[');
    for (r->n = 0; !status && scan_more(&w->j, ']', &first); r->n++) {
        if (!scan_accept(&w->j, '{')) return not_an_object(w);
        if (!array_reserve(&r->item_store, &r->item_room, ((size_t)r->n + 1) * width, sizeof *r->item_store))
            return fail_memory(w->err, "a set's items");
        double *row = r->item_store + (size_t)r->n * width;
        for (size_t j = 0; j < width; j++) {
            row[j] = NAN;
            have[j] &= 30;
        }
        status = take_item(w, c, found_here, row, have);
        if (!status) status = note_missing(w, c, have);
    }
    if (!status && !lost_extend(&r->lost_store, (size_t)r->n)) status = fail_memory(w->err, "a set's items");
    r->lost = r->lost_store.of;
    for (size_t i = 0; i < (size_t)r->n * width && !status; i++) /* no text: none of those that are known */
        if (have[i % width] & 4 && isnan(r->item_store[i])) r->item_store[i] = 0;
    for (size_t j = 0; j < width && !status; j++)
        if (!have[j] && !found_text(r, (int)j)) {
            size_t key = strcspn(c->name[j], "="); /* the categories of a model are values of one key */
            status =
                fail_field(w->err, ONET_BAD, "onet_read_options.features",
                           "%s:%ld: field `items`: no item has the key `%.*s`, a feature of %s; add it, or "
                           "name the keys to take instead",
                           w->name, r->line, found_here || !key || key > 100 ? 100 : (int)key, c->name[j],
                           found_here ? "the sets before" : "the model");
        }
    r->width = c->width;
    r->items = r->item_store;
    return status;
}

static onet_status note_kinds(onet_columns *c, const uint8_t *have, onet_error *err) {
    char *kind = array_new((size_t)c->width + 1, 1);
    if (!kind) return fail_memory(err, "the kinds of the features");
    for (int j = 0; j < c->width; j++)
        kind[j] = have[j] & 8 ? KIND_DATE : have[j] & 16 ? KIND_TRUTH : KIND_NUMBER;
    onet_status status = columns_take_kinds(c, kind, err);
    free(kind);
    return status;
}

/* Keys are not taken for those of a model with categories, which would need their values too. */
static onet_status check_own(const walk *w, const char *list, const onet_columns *model) {
    char *name = malloc(strlen(list) + 1);
    onet_status status = name ? ONET_OK : fail_memory(w->err, "the names of the features");
    if (!status && columns_other(list, model, name))
        status =
            fail_field(w->err, ONET_BAD, "onet_read_options.features",
                       "%s:%ld: `%.100s` is no feature of the model, and a model with categories takes its "
                       "own keys of JSON alone; give the key the model's name",
                       w->name, w->r->line, name);
    free(name);
    return status;
}

onet_status jsonl_keyed(record *r, const char *from, const char *end, const onet_read_options *options,
                        const char *name, onet_error *err) {
    const onet_columns *given = options ? options->columns : NULL;
    walk w = {scan_of(from, (size_t)(end - from)), r, name, r->found_here ? NULL : given, err};
    const char *list = options ? options->features : NULL;
    onet_columns *own = NULL;
    onet_status status = ONET_OK;
    w.j.nan = true;
    if (!array_reserve(&r->letters, &r->letter_room, r->length + 1, 1))
        return fail_memory(err, "the keys of the items");
    bool classes = false;
    for (int j = 0; given && given->name && j < given->width; j++)
        classes |= strchr(given->name[j], '=') != NULL;
    if (list && !r->found_here && classes)
        status = check_own(&w, list, given);
    else if (list && !r->found_here)
        status = columns_of_list(&own, list, err);
    else if (!given || !given->name)
        status = find_columns(&w, &own);
    const onet_columns *columns = own ? own : given;
    if (!status && given && own && own->width != given->width)
        status = fail_field(err, ONET_BAD, "onet_read_options.features",
                            "%s:%ld: items have %d keys with numbers, but the model has %d features; name "
                            "those to take",
                            name, r->line, own->width, given->width);
    uint8_t *have = status ? NULL : array_new((size_t)columns->width, 1);
    if (!status && !have) status = fail_memory(err, "the keys of the items");
    w.j.at = from;
    if (!status) status = take_items(&w, columns, r->found_here && !list, have);
    if (!status && own) status = note_kinds(own, have, err);
    free(have);
    onet_columns_free(r->own_columns);
    r->own_columns = own;
    r->columns = columns;
    return status;
}
