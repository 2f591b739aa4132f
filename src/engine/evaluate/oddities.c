/* Finds what looks wrong in training sets and describes it in words: contradictions, ranks given as orders,
 * features that are constant in all items or in each set, id-like or heavy-tailed, equal items, sets of one
 * item, too few sets. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/arguments.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/number.h"
#include "engine/base/shown.h"
#include "engine/data/divide.h"
#include "engine/data/scaling.h"
#include "engine/data/sets.h"
#include "ordernet_io.h"
#include "ordernet_measure.h"
#include "ordernet_train.h"

enum {
    FEW_SETS = 100, /* fewer teach little */
    NAMED = 4       /* the most features that are named for one oddity; further ones are counted */
};
/* A smaller share of equal items is ignored. */
#define MANY_EQUAL 0.05

typedef struct lines {
    char *text;
    size_t room, used;
} lines;

static void add(lines *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(lines *l, const char *format, ...) {
    char line[512];
    va_list args;
    va_start(args, format);
    int length = number_vprint(line, sizeof line, format, args);
    va_end(args);
    if (length < 0 || l->used + strlen(line) + 2 > l->room) return; /* the text is full */
    l->used += (size_t)snprintf(l->text + l->used, l->room - l->used, "%s%s", l->used ? "\n" : "", line);
}

/* ---- Contradictions ---------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* Hashes of a set's items, in any order, and of its right order. */
typedef struct print {
    uint64_t items, order;
} print;

static int by_items(const void *a, const void *b) {
    const print *x = a, *y = b;
    if (x->items != y->items) return x->items > y->items ? 1 : -1;
    return (x->order > y->order) - (x->order < y->order);
}

/* Counts the sets that have the same items as another set in another order, and describes them. */
static onet_status find_contradictions(lines *l, const onet_sets *sets, onet_error *err) {
    print *of = array_new(sets->count, sizeof *of);
    uint64_t *room = hash_room(sets);
    if (!of || !room) {
        free(of);
        free(room);
        return fail_memory(err, "checking the sets");
    }
    size_t contradicted = 0;
    for (size_t s = 0; s < sets->count; s++) {
        size_t first = sets->start[s], n = sets_size(sets, s);
        uint64_t *hash = room + n;
        hash_items(sets, s, room, hash);
        for (size_t t = 0; t < n; t++) {
            of[s].items += hash[sets->order[first + t]];
            of[s].order = mix(of[s].order + hash[sets->order[first + t]]);
        }
    }
    free(room);
    qsort(of, sets->count, sizeof *of, by_items);
    for (size_t a = 0, b; a < sets->count; a = b) {
        for (b = a + 1; b < sets->count && of[b].items == of[a].items;) b++;
        if (of[b - 1].order != of[a].order) contradicted += b - a;
    }
    free(of);
    if (contradicted)
        add(l,
            "Examples contradict each other: %zu of %zu sets have the same items as another set, in another "
            "order. No model can learn both; the features do not contain what decides the order.",
            contradicted, sets->count);
    return ONET_OK;
}

/* ---- Features ---------------------------------------------------------------------------------------- */

typedef enum oddity { CONSTANT, OF_THE_SET, ID, CROWDED, ODDITIES } oddity;

static const char *const what[ODDITIES] = {
    [CONSTANT] = "has the same value in all items, and tells nothing about their order",
    [OF_THE_SET] = "has one value in each set, and tells nothing about the order by itself",
    [ID] = "looks like an id (whole numbers, all distinct): leave it out",
    [CROWDED] = "has heavy tails or far clusters, whose logarithm may tell more than their quantile or rank",
};

/* Returns the oddity of feature j; ODDITIES: none. value [items]: scratch. */
static oddity oddity_of(const onet_sets *sets, size_t j, double *value, bool crowded) {
    size_t items = sets->start[sets->count] - sets->start[0];
    bool constant = true, of_the_set = true;
    for (size_t s = 0, at = 0; s < sets->count; s++)
        for (size_t i = sets->start[s]; i < sets->start[s + 1]; i++, at++) {
            value[at] = sets_value(sets, i, j);
            constant = constant && value[at] == value[0];
            of_the_set = of_the_set && value[at] == sets_value(sets, sets->start[s], j);
        }
    if (constant) return CONSTANT;
    if (of_the_set) return OF_THE_SET;
    if (sets->width > 1 && numbers_are_ids(value, items)) return ID;
    return crowded ? CROWDED : ODDITIES;
}

static onet_status find_features(lines *l, const onet_sets *sets, onet_error *err) {
    size_t items = sets->start[sets->count] - sets->start[0], width = (size_t)sets->width;
    double *value = array_new(items, sizeof *value);
    onet_feature *feature = array_new(width, sizeof *feature);
    uint8_t *found = array_new(width, 1);
    onet_status status = value && feature && found ? ONET_OK : fail_memory(err, "checking the features");
    if (!status) status = onet_train_features(feature, sets, NULL, NULL, err);
    for (size_t j = 0; j < width && !status; j++)
        found[j] = (uint8_t)oddity_of(sets, j, value, feature[j].crowded);
    for (int k = 0; k < ODDITIES && !status; k++) {
        size_t count = 0;
        for (size_t j = 0; j < width; j++) {
            const char *known = sets->columns ? onet_columns_name(sets->columns, (int)j) : NULL;
            char name[SHOWN];
            if (found[j] != k || count++ >= NAMED) continue;
            if (known)
                add(l, "Column %s %s.", shown(name, known), what[k]);
            else
                add(l, "Feature %zu %s.", j + 1, what[k]);
        }
        if (count > NAMED) add(l, "The same holds for %zu other features.", count - NAMED);
    }
    free(value);
    free(feature);
    free(found);
    return status;
}

/* ---- Items ------------------------------------------------------------------------------------------- */

static int by_hash(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static onet_status find_equal(lines *l, const onet_sets *sets, onet_error *err) {
    size_t items = sets->start[sets->count] - sets->start[0], equal = 0, alone = 0;
    uint64_t *room = hash_room(sets);
    if (!room) return fail_memory(err, "checking the items");
    for (size_t s = 0; s < sets->count; s++) {
        size_t n = sets_size(sets, s);
        alone += sets_placed(sets, s) < 2;
        uint64_t *hash = room + n;
        hash_items(sets, s, room, hash);
        qsort(hash, n, sizeof *hash, by_hash);
        for (size_t i = 0; i < n; i++)
            equal += (i && hash[i] == hash[i - 1]) || (i + 1 < n && hash[i] == hash[i + 1]);
    }
    free(room);
    if ((double)equal > MANY_EQUAL * (double)items)
        add(l,
            "%.0f%% of the items are equal to another item of their set: nothing tells which of them comes "
            "first.",
            100 * (double)equal / (double)items);
    if (alone) add(l, "%zu of %zu sets have one item to place, and teach nothing.", alone, sets->count);
    if (sets->count - alone < FEW_SETS)
        add(l, "There are %zu sets to learn from; a network needs hundreds or thousands, a ranker dozens.",
            sets->count - alone);
    return ONET_OK;
}

onet_status onet_sets_oddities(const onet_sets *sets, char *text, size_t room, onet_error *err) {
    NEED(sets, "sets");
    NEED(text, "text");
    if (!room) return fail(err, ONET_USAGE, "onet_sets_oddities: there is no room for a text");
    text[0] = '\0';
    if (!sets->count || !sets->order) return fail(err, ONET_BAD, "the sets have no order to check");
    onet_status status = sets_check(sets, err);
    if (status) return status;
    lines l = {text, room, 0};
    if (onet_sets_look_like_ranks(sets))
        add(&l, "The orders look like ranks: an order lists the indices of the items, first to last, and a "
                "rank is "
                "the place of an item.");
    status = find_contradictions(&l, sets, err);
    if (!status && !sets->word) status = find_features(&l, sets, err);
    return status ? status : find_equal(&l, sets, err);
}
