/* The members of a request that are not sets: numbers, choices, the model. */
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "app/request.h"
#include "engine/base/choice.h"
#include "engine/base/error.h"

static bool listed(const char *const *list, const span *key) {
    for (; list && *list; list++)
        if (strlen(*list) == key->length && !memcmp(*list, key->at, key->length)) return true;
    return false;
}

onet_status request_keys(const envelope *e, const char *const *options, const char *const *set_keys,
                         onet_error *err) {
    bool several = envelope_find(e, "sets");
    for (int k = 0; k < e->count; k++) {
        const span *key = &e->key[k];
        int length = (int)(key->length < 64 ? key->length : 64);
        if (listed(options, key)) continue;
        if (!listed(set_keys, key)) return fail(err, ONET_BAD, "unknown key `%.*s`", length, key->at);
        if (several)
            return fail(err, ONET_BAD, "the key `%.*s` belongs to one set; put it into the objects of `sets`",
                        length, key->at);
    }
    return ONET_OK;
}

/* NULL for broken JSON. Jansson's own error does not always tell a lack of memory from that; errno does. */
static onet_status value_of(const span *at, json_t **value, onet_error *err) {
    errno = 0;
    *value = json_loadb(at->at, at->length, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
    return !*value && errno == ENOMEM ? fail_memory(err, "the request") : ONET_OK;
}

onet_status request_int(const envelope *e, const char *key, int low, int high, int *value, onet_error *err) {
    const span *at = envelope_find(e, key);
    if (!at) return ONET_OK;
    json_t *v;
    onet_status status = value_of(at, &v, err);
    if (status) return status;
    bool good = json_is_integer(v) && json_integer_value(v) >= low && json_integer_value(v) <= high;
    if (good) *value = (int)json_integer_value(v);
    json_decref(v);
    return good ? ONET_OK
                : fail(err, ONET_BAD, "field `%s` takes a whole number from %d to %d", key, low, high);
}

onet_status request_seed(const envelope *e, uint64_t *value, onet_error *err) {
    const span *at = envelope_find(e, "seed");
    uint64_t seed = 0;
    if (!at) return ONET_OK;
    /* Jansson's whole numbers have 63 bits. */
    bool good = at->length > 0 && (at->length == 1 || at->at[0] != '0');
    for (size_t i = 0; i < at->length && good; i++) {
        unsigned digit = (unsigned char)at->at[i] - '0';
        good = digit <= 9 && seed <= (UINT64_MAX - digit) / 10;
        seed = 10 * seed + digit;
    }
    if (good) *value = seed;
    return good ? ONET_OK
                : fail(err, ONET_BAD, "field `seed` takes a whole number from 0 to 18446744073709551615");
}

onet_status request_double(const envelope *e, const char *key, double low, double high, double *value,
                           onet_error *err) {
    const span *at = envelope_find(e, key);
    if (!at) return ONET_OK;
    json_t *v;
    onet_status status = value_of(at, &v, err);
    if (status) return status;
    bool good = json_is_number(v) && json_number_value(v) >= low && json_number_value(v) <= high;
    if (good) *value = json_number_value(v);
    json_decref(v);
    return good ? ONET_OK : fail(err, ONET_BAD, "field `%s` takes a number from %g to %g", key, low, high);
}

onet_status request_bool(const envelope *e, const char *key, bool *value, onet_error *err) {
    const span *at = envelope_find(e, key);
    if (!at) return ONET_OK;
    json_t *v;
    onet_status status = value_of(at, &v, err);
    if (status) return status;
    bool good = json_is_boolean(v);
    if (good) *value = json_is_true(v);
    json_decref(v);
    return good ? ONET_OK : fail(err, ONET_BAD, "field `%s` takes true or false", key);
}

onet_status request_choice(const envelope *e, const char *key, const onet_choice *choices, int *value,
                           onet_error *err) {
    const span *at = envelope_find(e, key);
    if (!at) return ONET_OK;
    json_t *v;
    onet_status status = value_of(at, &v, err);
    if (status) return status;
    const onet_choice *found =
        json_is_string(v) ? choice_named(choices, json_string_value(v), json_string_length(v)) : NULL;
    if (found) *value = found->value;
    json_decref(v);
    char names[256];
    return found ? ONET_OK
                 : fail(err, ONET_BAD, "field `%s` is one of %s", key,
                        choice_names(choices, ", ", names, sizeof names));
}

onet_status request_model(const envelope *e, const service *shared, const char *usual, model_slot **slot,
                          onet_error *err) {
    models *m = shared->m;
    const span *at = envelope_find(e, "model");
    char names[512];
    json_t *v = NULL;
    onet_status status = at ? value_of(at, &v, err) : ONET_OK;
    if (status) return status;
    if (at && !json_is_string(v)) {
        json_decref(v);
        return fail(err, ONET_BAD, "field `model` takes a name: %s", models_names(m, names, sizeof names));
    }
    if (at)
        *slot = models_find(m, json_string_value(v), json_string_length(v));
    else if (usual)
        *slot = models_find(m, usual, strlen(usual));
    else
        *slot = m->count == 1 ? &m->slot[0] : NULL;
    json_decref(v);
    if (*slot) return ONET_OK;
    if (!at && !usual)
        return fail(err, ONET_BAD, "name a model in field `model`: %s", models_names(m, names, sizeof names));
    return fail(err, ONET_IO, "there is no such model; served are: %s", models_names(m, names, sizeof names));
}
