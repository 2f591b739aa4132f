/* Splits sets at random into training and validation sets or into parts; equal sets, which are found and
 * counted by hashes of their items, and sets of one group stay together. */
#include "engine/data/divide.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/arguments.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/names.h"
#include "engine/base/rng.h"
#include "engine/data/lost.h"
#include "engine/data/sets.h"

/* ---- Equal sets -------------------------------------------------------------------------------------- */

/* The finaliser of splitmix64: every bit of x reaches every bit of the result. */
static uint64_t mixed(uint64_t x) {
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* A hash of 128 bits, the same for sets of the same items and relations in any order of the items. */
typedef struct set_key {
    uint64_t low, high, n;
} set_key;

static uint64_t hash_number(uint64_t hash, double x) {
    uint64_t bits;
    x += 0.0; /* -0 is 0 */
    memcpy(&bits, &x, sizeof bits);
    return mixed(hash ^ bits);
}

/* Returns the hash of item i, counted over all sets, without its relations. */
static uint64_t hash_item(const onet_sets *sets, size_t i) {
    size_t width = (size_t)sets->width;
    const onet_lost *lost = sets->lost;
    uint64_t hash = sets->context && sets->context[i] ? 2 : 1;
    /* Only non-zero hashes count: equal items have equal hashes whatever columns of lost their files have. */
    for (int k = 0; lost && k < lost->width; k++) {
        uint64_t own = lost->hash[i * (size_t)lost->width + (size_t)k];
        if (own != LOST_NOTHING) hash += mixed(own + (uint64_t)lost->feature[k] + 1) << 2;
    }
    if (sets->word) return mixed(hash ^ (uint64_t)(uint32_t)sets->word[i] << 2);
    for (size_t j = 0; j < width; j++)
        hash = hash_number(hash + j,
                           sets->exact ? sets->exact[i * width + j] : (double)sets->items[i * width + j]);
    return hash;
}

/* Returns the sum of the hashes of the other items of set s, each with its relations from and to item i; item
 * [n]: their hashes without relations. A sum does not depend on the order of the items. */
static uint64_t hash_relations(const onet_sets *sets, size_t s, size_t i, const uint64_t *item) {
    size_t n = sets_size(sets, s), R = (size_t)sets->pairs->width;
    const float *e = sets_pairs(sets, sets->start[s]); /* [n, n, R] */
    uint64_t sum = 0;
    for (size_t j = 0; j < n; j++) {
        uint64_t hash = item[j];
        for (size_t r = 0; r < R && j != i; r++) {
            hash = hash_number(hash + r, (double)e[(i * n + j) * R + r]);
            hash = hash_number(hash, (double)e[(j * n + i) * R + r]);
        }
        if (j != i) sum += hash;
    }
    return sum;
}

void hash_items(const onet_sets *sets, size_t s, uint64_t *own, uint64_t *hash) {
    size_t n = sets_size(sets, s);
    for (size_t i = 0; i < n; i++) own[i] = hash_item(sets, sets->start[s] + i);
    for (size_t i = 0; i < n; i++)
        hash[i] = sets->pairs ? mixed(own[i] ^ mixed(hash_relations(sets, s, i, own))) : own[i];
}

uint64_t *hash_room(const onet_sets *sets) {
    size_t most = 1;
    for (size_t s = 0; s < sets->count; s++)
        if (sets_size(sets, s) > most) most = sets_size(sets, s);
    return array_new(most, 2 * sizeof(uint64_t));
}

/* Returns the key of set s. room: from hash_room. */
static set_key key_of(const onet_sets *sets, size_t s, uint64_t *room) {
    set_key key = {.n = sets_size(sets, s)};
    uint64_t *hash = room + key.n;
    hash_items(sets, s, room, hash);
    for (size_t i = 0; i < key.n; i++) {
        key.low += hash[i];
        key.high += mixed(hash[i] + UINT64_C(0x9e3779b97f4a7c15));
    }
    return key;
}

/* ---- Bundles ----------------------------------------------------------------------------------------- */

/* Returns the first set that s is bound to: each set points to an earlier one, or to itself. */
static size_t root(size_t *to, size_t s) {
    while (to[s] != s) s = to[s] = to[to[s]];
    return s;
}

static void bind(size_t *to, size_t a, size_t b) {
    a = root(to, a);
    b = root(to, b);
    if (a < b)
        to[b] = a;
    else
        to[a] = b;
}

/* Binds set s to the first of the same name; first [names]. */
static bool bind_named(names *seen, size_t **first, size_t *room, size_t *to, size_t s, const void *name,
                       size_t length) {
    size_t number, before = seen->count;
    if (!names_add(seen, name, length, &number) || !array_reserve(first, room, seen->count, sizeof **first))
        return false;
    if (number == before)
        (*first)[number] = s;
    else
        bind(to, (*first)[number], s);
    return true;
}

onet_status bundles_find(size_t **of, size_t *count, const onet_sets *sets, const char *const *group,
                         const size_t *number, onet_error *err) {
    names seen = {0}, called = {0};
    size_t *to = array_new(sets->count, sizeof *to), *first = NULL, *first_called = NULL, room = 0,
           called_room = 0;
    uint64_t *item = hash_room(sets);
    bool good = to && item;
    for (size_t s = 0; s < sets->count && good; s++) {
        set_key key = key_of(sets, s, item);
        to[s] = s;
        good = bind_named(&seen, &first, &room, to, s, &key, sizeof key);
        if (good && group && group[s])
            good = bind_named(&called, &first_called, &called_room, to, s, group[s], strlen(group[s]));
        if (good && number)
            good = bind_named(&called, &first_called, &called_room, to, s, &number[s], sizeof number[s]);
    }
    names_free(&seen);
    names_free(&called);
    free(item);
    free(first);
    free(first_called);
    *of = NULL;
    *count = 0;
    if (!good) {
        free(to);
        return fail_memory(err, "dividing the sets");
    }
    /* A root comes before the sets that are bound to it, and by then has the number of its bundle. */
    for (size_t s = 0; s < sets->count; s++) to[s] = root(to, s);
    for (size_t s = 0; s < sets->count; s++) to[s] = to[s] == s ? (*count)++ : to[to[s]];
    *of = to;
    return ONET_OK;
}

onet_status sets_count_equal(size_t *count, const onet_sets *train, const onet_sets *test, onet_error *err) {
    onet_sets part[] = {*train, *test};
    if (!train->exact || !test->exact)
        part[0].exact = part[1].exact = NULL; /* if only one has doubles,
                                               * compare both as float32 */
    names seen = {0};
    size_t known = 0;
    bool good = true;
    *count = 0;
    for (int p = 0; p < 2 && good; p++) {
        uint64_t *item = hash_room(&part[p]);
        good = item != NULL;
        for (size_t s = 0, number; s < part[p].count && good; s++) {
            set_key key = key_of(&part[p], s, item);
            good = names_add(&seen, (const char *)&key, sizeof key, &number);
            if (good && p && number < known) ++*count;
        }
        if (!p) known = seen.count;
        free(item);
    }
    names_free(&seen);
    return good ? ONET_OK : fail_memory(err, "comparing the sets");
}

/* Allocates size [count], the number of sets of each bundle, and turn [count], the bundles in a random order.
 */
static onet_status shuffle_bundles(size_t **size, size_t **turn, const size_t *of, size_t count, size_t sets,
                                   uint64_t seed, onet_error *err) {
    size_t *place = array_new(count, sizeof *place);
    *size = array_new(count, sizeof **size);
    *turn = array_new(count, sizeof **turn);
    if (!place || !*size || !*turn) {
        free(place);
        return fail_memory(err, "dividing the sets");
    }
    rng r;
    rng_seed(&r, seed, UINT64_C(0x7069636b00000000));
    rng_permutation(&r, place, count);
    for (size_t b = 0; b < count; b++) {
        (*turn)[place[b]] = b;
        (*size)[b] = 0;
    }
    for (size_t s = 0; s < sets; s++) (*size)[of[s]]++;
    free(place);
    return ONET_OK;
}

onet_status bundles_spread(size_t *part, const size_t *of, size_t count, size_t sets, size_t parts,
                           uint64_t seed, onet_error *err) {
    size_t *size = NULL, *turn = NULL, *full = array_new(parts, sizeof *full),
           *part_of = array_new(count, sizeof *part_of);
    onet_status status = full && part_of ? shuffle_bundles(&size, &turn, of, count, sets, seed, err)
                                         : fail_memory(err, "dividing the sets");
    for (size_t k = 0; k < parts && !status; k++) full[k] = 0;
    for (size_t t = 0; t < count && !status; t++) {
        size_t least = 0;
        for (size_t k = 1; k < parts; k++)
            if (full[k] < full[least]) least = k;
        part_of[turn[t]] = least;
        full[least] += size[turn[t]];
    }
    for (size_t s = 0; s < sets && !status; s++) part[s] = part_of[of[s]];
    free(size);
    free(turn);
    free(full);
    free(part_of);
    return status;
}

/* ---- Public ------------------------------------------------------------------------------------------ */

onet_status onet_sets_divide(size_t *part, const onet_sets *sets, const char *const *group, int parts,
                             uint64_t seed, onet_error *err) {
    NEED(part, "part");
    NEED(sets, "sets");
    size_t *of, count;
    onet_status status = sets_check(sets, err);
    if (status) return status;
    if (parts < 1) return fail(err, ONET_USAGE, "%d parts: 1 or more are possible", parts);
    if ((status = bundles_find(&of, &count, sets, group, NULL, err))) return status;
    if (count < (size_t)parts)
        status = fail(err, ONET_USAGE,
                      "cannot divide %zu sets into %d parts: equal sets%s stay together, which leaves only "
                      "%zu units",
                      sets->count, parts, group ? " and sets of one group" : "", count);
    if (!status) status = bundles_spread(part, of, count, sets->count, (size_t)parts, seed, err);
    free(of);
    return status;
}

onet_status onet_sets_hold_out(uint8_t *take, const onet_sets *sets, const char *const *group, size_t wanted,
                               uint64_t seed, onet_error *err) {
    NEED(take, "take");
    NEED(sets, "sets");
    size_t *of = NULL, *size = NULL, *turn = NULL, count = 0, taken = 0, least;
    onet_status status = sets_check(sets, err);
    if (!status) status = bundles_find(&of, &count, sets, group, NULL, err);
    if (!status && count < 2)
        status =
            fail(err, ONET_USAGE, "all %zu sets are equal%s and stay together: there is nothing to hold out",
                 sets->count, group ? " or of one group" : "");
    if (!status && (!wanted || wanted >= sets->count))
        status = fail(err, ONET_USAGE, "%zu of %zu sets cannot be held out: from 1 to %zu are possible",
                      wanted, sets->count, sets->count - 1);
    if (!status) status = shuffle_bundles(&size, &turn, of, count, sets->count, seed, err);
    if (!status) memset(take, 0, sets->count);
    /* As near to the number as the bundles allow; at least one, and not all. */
    least = status ? 0 : turn[0];
    for (size_t t = 0; t < count && !status; t++) {
        size_t b = turn[t];
        if (size[b] < size[least]) least = b;
        if (2 * taken + size[b] > 2 * wanted || taken + size[b] == sets->count) continue;
        taken += size[b];
        size[b] = 0; /* it is taken */
    }
    if (!status && !taken) size[least] = 0;
    for (size_t s = 0; s < sets->count && !status; s++) take[s] = !size[of[s]];
    free(of);
    free(size);
    free(turn);
    return status;
}
