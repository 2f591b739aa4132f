/* Computes the permutation importance of features and relations: how much a model's answers get worse when
 * one is shuffled within each set. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/arguments.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/rng.h"
#include "engine/data/sets.h"
#include "engine/decode/orderer.h"
#include "engine/evaluate/mean.h"

/* The memory of one run with a shuffled feature or relation. */
typedef struct shuffled {
    onet_sets sets; /* a view with items of its own */
    onet_answer *answers;
    int32_t *order;
    double *logprob;
    onet_set_measure *each;
} shuffled;

static void shuffled_free(shuffled *x) {
    free(x->sets.items);
    free(x->sets.exact);
    if (x->sets.lost) free(x->sets.lost->hash);
    free(x->sets.lost);
    if (x->sets.pairs) free(x->sets.pairs->value);
    free(x->sets.pairs);
    free(x->answers);
    free(x->order);
    free(x->logprob);
    free(x->each);
}

static bool shuffled_new(shuffled *x, const onet_sets *sets, size_t top) {
    size_t first = sets->start[0], end = sets->start[sets->count], numbers;
    *x = (shuffled){.sets = *sets};
    x->sets.items = NULL;
    x->sets.exact = NULL;
    x->sets.lost = NULL;
    x->sets.pairs = NULL;
    if (sets->pairs) { /* a copy of the values alone */
        size_t pairs = sets->pairs->row[end - 1] + sets_size(sets, sets->count - 1);
        onet_pairs *p = x->sets.pairs = array_new(1, sizeof *p);
        if (!p) return false;
        *p = *sets->pairs;
        if (!(p->value = array_new(pairs, (size_t)p->width * sizeof *p->value))) return false;
        memcpy(p->value, sets->pairs->value, pairs * (size_t)p->width * sizeof *p->value);
    }
    if (sets->lost) { /* a copy of the hashes alone */
        size_t bytes = (size_t)sets->lost->width * sizeof *sets->lost->hash;
        onet_lost *l = x->sets.lost = array_new(1, sizeof *l);
        if (!l) return false;
        *l = *sets->lost;
        if (!(l->hash = array_new(end, bytes))) return false;
        memcpy(l->hash, sets->lost->hash, end * bytes);
    }
    if (!size_mul(end, (size_t)sets->width, &numbers) ||
        (sets->items && !(x->sets.items = array_new(numbers, sizeof *x->sets.items))) ||
        (sets->exact && !(x->sets.exact = array_new(numbers, sizeof *x->sets.exact))) ||
        !(x->answers = array_new(sets->count, sizeof *x->answers)) ||
        !(x->order = array_new(end - first, top * sizeof *x->order)) ||
        !(x->logprob = array_new(sets->count, sizeof *x->logprob)) ||
        !(x->each = array_new(sets->count, sizeof *x->each)))
        return false;
    if (sets->items) memcpy(x->sets.items, sets->items, numbers * sizeof *sets->items);
    if (sets->exact) memcpy(x->sets.exact, sets->exact, numbers * sizeof *sets->exact);
    for (size_t s = 0; s < sets->count; s++)
        x->answers[s] = (onet_answer){.order = x->order + (sets->start[s] - first) * top};
    return true;
}

/* Shuffles `span` features from `feature` on within each set. Each set draws its own random numbers, so that
 * its shuffle does not depend on the sets before it. */
static void shuffle(shuffled *x, const onet_sets *from, int feature, int span, int repeat, uint64_t seed) {
    size_t width = (size_t)from->width, lost = 0, columns = from->lost ? (size_t)from->lost->width : 0;
    while (lost < columns && from->lost->feature[lost] != feature)
        lost++; /* the column of the feature in
                 * lost, if it has one */
    for (size_t s = 0; s < from->count; s++) {
        rng r;
        rng_seed(&r, seed, ((uint64_t)repeat * width + (uint64_t)feature) * from->count + s);
        size_t first = from->start[s] * width + (size_t)feature;
        for (size_t i = 0; i < sets_size(from, s); i++) {
            size_t other = rng_below(&r, i + 1), a = first + i * width, b = first + other * width;
            if (lost < columns) {
                size_t one = (from->start[s] + i) * columns + lost;
                size_t two = (from->start[s] + other) * columns + lost;
                x->sets.lost->hash[one] = x->sets.lost->hash[two];
                x->sets.lost->hash[two] = from->lost->hash[one];
            }
            for (int k = 0; k < span; k++, a++, b++) {
                x->sets.items[a] = x->sets.items[b];
                x->sets.items[b] = from->items[a];
                if (!from->exact) continue;
                x->sets.exact[a] = x->sets.exact[b];
                x->sets.exact[b] = from->exact[a];
            }
        }
    }
}

/* Shuffles a relation among all ordered pairs of different items of each set. */
static void shuffle_relation(shuffled *x, const onet_sets *from, int relation, int repeat, uint64_t seed) {
    size_t R = (size_t)from->pairs->width, width = (size_t)from->width + R;
    for (size_t s = 0; s < from->count; s++) {
        rng r;
        rng_seed(&r, seed, ((uint64_t)repeat * width + (uint64_t)(from->width + relation)) * from->count + s);
        size_t n = sets_size(from, s), first = from->pairs->row[from->start[s]] * R + (size_t)relation;
        /* Pair k of different items, row by row: those on the diagonal are left out. */
        for (size_t k = 0; k < n * (n - 1); k++) {
            size_t other = rng_below(&r, k + 1);
            size_t a = first + (k + k / n + 1) * R, b = first + (other + other / n + 1) * R;
            x->sets.pairs->value[a] = x->sets.pairs->value[b];
            x->sets.pairs->value[b] = from->pairs->value[a];
        }
    }
}

onet_status onet_measure_importance(onet_importance *result, onet_orderer *orderer, const onet_sets *sets,
                                    const onet_set_measure *base, int feature, int repeats, uint64_t seed,
                                    onet_error *err) {
    NEED(result, "result");
    NEED(orderer, "orderer");
    NEED(sets, "sets");
    NEED(base, "base");
    memset(result, 0, sizeof *result);
    onet_status status = sets_check(sets, err);
    if (status) return status;
    int relation = feature < 0 ? -1 : feature - sets->width;
    if (!sets->items && relation < 0)
        return fail(err, ONET_BAD, "the items are words, which have no features to shuffle");
    if (!sets->order) return fail(err, ONET_BAD, "the sets have no order to compare with");
    if (feature < 0 || relation >= sets_relations(sets) || repeats < 1)
        return fail(err, ONET_USAGE,
                    "feature %d of %d is to be shuffled %d times; give a feature that there is, counted from "
                    "0, and at least one time",
                    feature, sets->width + sets_relations(sets), repeats);
    int span = relation < 0 ? onet_columns_span(onet_model_columns(orderer->z.model), feature) : 1;
    if (span > sets->width - feature) span = 1;
    shuffled x;
    double *fall = array_new(2 * (sets->count ? sets->count : 1), sizeof *fall);
    status = shuffled_new(&x, sets, (size_t)orderer->top) && fall ? ONET_OK
                                                                  : fail_memory(err, "the shuffled features");
    for (int k = 0; k < repeats && !status; k++) {
        if (relation < 0)
            shuffle(&x, sets, feature, span, k, seed);
        else
            shuffle_relation(&x, sets, relation, k, seed);
        status = onet_orderer_run(orderer, &x.sets, x.answers, err);
        if (!status) status = onet_orderer_score(orderer, &x.sets, x.logprob, err);
        /* Items are equal as they were before the shuffle. */
        if (!status) status = onet_measure_each(x.each, sets, x.answers, x.logprob, err);
        for (size_t s = 0; s < sets->count && !status; s++) {
            fall[2 * s] += (base[s].exact - x.each[s].exact) / repeats;
            fall[2 * s + 1] += (base[s].loglik - x.each[s].loglik) / repeats;
        }
    }
    mean exact = {0}, likely = {0};
    for (size_t s = 0; s < sets->count && !status; s++) {
        mean_add(&exact, fall[2 * s]);
        mean_add(&likely, fall[2 * s + 1]);
    }
    result->exact = mean_interval(&exact, -1, 1);
    result->loglik = mean_interval(&likely, -INFINITY, INFINITY);
    free(fall);
    shuffled_free(&x);
    return status;
}
