/* Describes a training run in one line of keys, values and hashes, and names what differs between two runs.
 */
#include "engine/train/identity.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/choice.h"
#include "engine/base/error.h"
#include "engine/base/number.h"
#include "engine/base/sha256.h"
#include "engine/data/columns.h"
#include "engine/data/sets.h"
#include "engine/model/settings.h"
#include "engine/words/words.h"

/* ---- One line ---------------------------------------------------------------------------------------- */

enum { HASH_TEXT = 17 }; /* 64 bits of a SHA-256 in hex: enough to tell runs apart */

typedef struct line {
    char *text;
    size_t used;
} line;

__attribute__((format(printf, 2, 3))) static void put(line *l, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(l->text + l->used, IDENTITY_TEXT - l->used, format, arguments);
    va_end(arguments);
    if (length > 0) l->used += (size_t)length;
    if (l->used >= IDENTITY_TEXT) l->used = IDENTITY_TEXT - 1;
}

static void put_number(line *l, const char *key, double value) {
    char text[NUMBER_TEXT];
    number_text_double(text, value);
    put(l, " %s=%s", key, text);
}

static void put_hash(line *l, const char *key, const sha256 *sum) {
    char hex[65];
    sha256_hex(sum, hex);
    put(l, "%s%s=%.16s", l->used ? " " : "", key, hex);
}

/* Adds the sizes and items of sets. */
static void sum_items(sha256 *sum, const onet_sets *s) {
    size_t items = s->start[s->count] - s->start[0];
    for (size_t k = 0; k <= s->count + 1; k++) { /* in 64 bits, in the browser too */
        uint64_t number = k ? s->start[k - 1] : s->count;
        sha256_add(sum, &number, sizeof number);
    }
    if (s->items) sha256_add(sum, s->items, items * (size_t)s->width * sizeof *s->items);
    if (s->word) sha256_add(sum, s->word, items * sizeof *s->word);
    if (s->lost)
        sha256_add(sum, s->lost->hash + s->start[0] * (size_t)s->lost->width,
                   items * (size_t)s->lost->width * sizeof *s->lost->hash);
}

static void sum_pairs(sha256 *sum, const onet_sets *s) {
    for (size_t k = 0; s->pairs && k < s->count; k++)
        sha256_add(sum, sets_pairs(s, s->start[k]),
                   sets_size(s, k) * sets_size(s, k) * (size_t)s->pairs->width * sizeof(float));
}

/* Adds the orders, and the marks of context items, which are not placed. */
static void sum_orders(sha256 *sum, const onet_sets *s) {
    size_t items = s->start[s->count] - s->start[0];
    if (s->order) sha256_add(sum, s->order, items * sizeof *s->order);
    if (s->context) sha256_add(sum, s->context, items);
}

static void sum_columns(sha256 *sum, const onet_columns *c) {
    for (int j = 0; c->name && j < c->inputs; j++) sha256_add(sum, c->name[j], strlen(c->name[j]) + 1);
    if (c->fill) sha256_add(sum, c->fill, (size_t)c->width * sizeof *c->fill);
}

static void sum_words(sha256 *sum, const onet_words *w) {
    sha256_add(sum, w->at, ((size_t)w->count + 1) * sizeof *w->at);
    sha256_add(sum, w->text, w->at[w->count]);
    sha256_add(sum, w->vectors, (size_t)w->count * (size_t)w->width * sizeof *w->vectors);
}

static void put_data(line *l, const onet_sets *train, const onet_sets *valid) {
    sha256 sum;
    sha256_start(&sum);
    sum_items(&sum, train);
    put_hash(l, "items", &sum);
    sha256_start(&sum);
    sum_orders(&sum, train);
    put_hash(l, "orders", &sum);
    if (train->pairs) {
        sha256_start(&sum);
        sum_pairs(&sum, train);
        put_hash(l, "pairs", &sum);
    }
    if (train->pairs && train->pairs->names) {
        sha256_start(&sum);
        sha256_add(&sum, train->pairs->names, strlen(train->pairs->names));
        put_hash(l, "relation_names", &sum);
    }
    if (train->columns) {
        sha256_start(&sum);
        sum_columns(&sum, train->columns);
        put_hash(l, "names", &sum);
    }
    if (train->word) {
        sha256_start(&sum);
        sum_words(&sum, train->words);
        put_hash(l, "vectors", &sum);
    }
    if (!valid) return;
    sha256_start(&sum);
    sum_items(&sum, valid);
    sum_pairs(&sum, valid);
    sum_orders(&sum, valid);
    put_hash(l, "valid", &sum);
}

void identity_make(char text[IDENTITY_TEXT], const onet_sets *train, const onet_sets *valid,
                   const onet_settings *s, const onet_train_options *o, const char *from, uint64_t steps) {
    line l = {text, 0};
    text[0] = '\0';
    put_data(&l, train, valid);
    put(&l, " sets=%zu", train->count);
    for (const setting *k = settings_list; k < settings_list + SETTINGS; k++) {
        char value[16];
        if (k->version < 3 || *setting_of(s, k)) put(&l, " %s=%s", k->key, setting_text(s, k, value));
    }
    put(&l, " batch=%d batches=%s", o->batch, choice_name(onet_batch_kinds(), o->batches));
    put(&l, " schedule=%s", choice_name(onet_schedules(), o->schedule));
    const struct {
        const char *key;
        double value;
    } numbers[] = {{"learning_rate", o->learning_rate},
                   {"warmup", o->warmup},
                   {"beta1", o->beta1},
                   {"beta2", o->beta2},
                   {"epsilon", o->epsilon},
                   {"weight_decay", o->weight_decay},
                   {"clip", o->clip},
                   {"average", o->average},
                   {"forget", o->forget},
                   {"drop", o->drop},
                   {"jitter", o->jitter},
                   {"stray", o->stray}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        put_number(&l, numbers[i].key, numbers[i].value);
    put(&l, " seed=%" PRIu64 " standardise=%d train_vectors=%d precision=%s", o->seed, o->standardise,
        o->train_vectors, choice_name(onet_precisions(), o->precision));
    /* The kind of norm statistics is left out: it may be changed when a run is resumed. */
    if (valid) put(&l, " valid_limit=%d", o->valid_limit);
    sha256 sum;
    sha256_start(&sum);
    if (o->scale) sha256_add(&sum, o->scale, strlen(o->scale));
    if (!from[0] && o->scale && strcmp(o->scale, "auto") != 0) put_hash(&l, "scale", &sum);
    if (!from[0] && o->within) put(&l, " within=1");
    sha256_start(&sum);
    if (o->relate) sha256_add(&sum, o->relate, strlen(o->relate));
    if (o->relate) put_hash(&l, "relate", &sum);
    if (o->crop) put(&l, " crop=%d", o->crop);
    if (o->dropout > 0) put_number(&l, "dropout", o->dropout);
    if (from[0]) put(&l, " from=%.16s", from);
    put(&l, " steps=%" PRIu64, steps);
}

/* ---- Two lines --------------------------------------------------------------------------------------- */

/* Returns the value of a key in a line, and its length; NULL: the line does not have the key. */
static const char *find(const char *text, const char *key, size_t key_length, size_t *length) {
    for (const char *p = text; *p; p += strspn(p, " ")) {
        size_t word = strcspn(p, " ");
        if (word > key_length && p[key_length] == '=' && !memcmp(p, key, key_length)) {
            *length = word - key_length - 1;
            return p + key_length + 1;
        }
        p += word;
    }
    return NULL;
}

/* Keys whose values are hashes, and what an error message calls that which was hashed. */
static const struct {
    const char *key, *what;
} hashed[] = {{"items", "the items of the training sets"},
              {"orders", "the orders of the training sets"},
              {"pairs", "the relations between the items"},
              {"relation_names", "the names of the relations"},
              {"names", "the names of the features"},
              {"vectors", "the words or their vectors"},
              {"valid", "the validation sets"},
              {"scale", "the scales of the features"},
              {"relate", "the relations made from features"},
              {"from", "the weights to begin with"}};

static bool is(const char *key, size_t length, const char *name) {
    return strlen(name) == length && !memcmp(key, name, length);
}

static bool is_setting(const char *key, size_t length) {
    for (const setting *k = settings_list; k < settings_list + SETTINGS; k++)
        if (is(key, length, k->key)) return true;
    return false;
}

/* Adds to the list how a key differs; what does not fit is cut off. */
static void add_difference(char *list, size_t room, const char *key, size_t key_length, const char *before,
                           size_t before_length, const char *now, size_t now_length) {
    size_t used = strlen(list);
    const char *between = used ? "; " : "";
    for (size_t i = 0; i < sizeof hashed / sizeof *hashed; i++)
        if (is(key, key_length, hashed[i].key)) {
            snprintf(list + used, room - used, "%s%s differ", between, hashed[i].what);
            if (!before) snprintf(list + used, room - used, "%s%s were not there", between, hashed[i].what);
            if (!now) snprintf(list + used, room - used, "%s%s are not there now", between, hashed[i].what);
            return;
        }
    if (!before || !now) {
        /* Other keys that only one line has follow from what else differs. */
        if (!is_setting(key, key_length) && !is(key, key_length, "crop") && !is(key, key_length, "dropout") &&
            !is(key, key_length, "within"))
            return;
        if (before ? is(before, before_length, "0") : is(now, now_length, "0")) return;
        if (!before) before = "0", before_length = 1; /* a setting that a line does not have */
        if (!now) now = "0", now_length = 1;
    }
    snprintf(list + used, room - used, "%s%.*s was %.*s, now %.*s", between, (int)key_length, key,
             (int)before_length, before, (int)now_length, now);
}

/* Lists the keys of one line that the other has with another value or, with only_missing, not at all. */
static void compare(char *list, size_t room, const char *keys_of, const char *other, bool only_missing,
                    bool keys_are_before) {
    for (const char *p = keys_of; *p; p += strspn(p, " ")) {
        size_t word = strcspn(p, " "), key = strcspn(p, "="), length = word > key ? word - key - 1 : 0,
               theirs = 0;
        const char *value = p + key + 1, *found = find(other, p, key, &theirs);
        bool differs = found ? !only_missing && (theirs != length || memcmp(found, value, length) != 0)
                             : only_missing || !keys_are_before;
        /* Numbers of sets and steps follow from the data and the epochs. */
        if (differs && !is(p, key, "sets") && !is(p, key, "width") && !is(p, key, "steps"))
            add_difference(list, room, p, key, keys_are_before ? value : found,
                           keys_are_before ? length : theirs, keys_are_before ? found : value,
                           keys_are_before ? theirs : length);
        p += word;
    }
}

onet_status identity_check(const char *checkpoint, const char *now, const char *path, uint64_t *steps_before,
                           onet_error *err) {
    char list[600] = "";
    size_t length;
    compare(list, sizeof list, now, checkpoint, false, false);
    compare(list, sizeof list, checkpoint, now, true, true);
    if (list[0])
        return fail_field(
            err, ONET_BAD, "onet_train_options.keep",
            "%s belongs to another run: %s. Resume with the same, name another model, or train anew", path,
            list);
    const char *before = find(checkpoint, "steps", 5, &length), *after = find(now, "steps", 5, &length);
    *steps_before = before ? strtoull(before, NULL, 10) : 0;
    uint64_t steps = after ? strtoull(after, NULL, 10) : 0;
    if (steps < *steps_before)
        return fail(err, ONET_BAD,
                    "%s belongs to a run of %" PRIu64 " steps, more than the %" PRIu64
                    " asked for now: resume with as many epochs as before, or more",
                    path, *steps_before, steps);
    return ONET_OK;
}
