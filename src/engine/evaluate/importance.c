/* Which features matter: what the answers lose when one is shuffled among the items of each set. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/arguments.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/rng.h"
#include "engine/data/sets.h"
#include "engine/evaluate/mean.h"

/* What one run with a shuffled feature needs. */
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
    free(x->answers);
    free(x->order);
    free(x->logprob);
    free(x->each);
}

static bool shuffled_new(shuffled *x, const onet_sets *sets) {
    size_t first = sets->start[0], end = sets->start[sets->count], numbers;
    *x = (shuffled){.sets = *sets};
    x->sets.items = NULL;
    x->sets.exact = NULL;
    if (!size_mul(end, (size_t)sets->width, &numbers) ||
        !(x->sets.items = array_new(numbers, sizeof *x->sets.items)) ||
        (sets->exact && !(x->sets.exact = array_new(numbers, sizeof *x->sets.exact))) ||
        !(x->answers = array_new(sets->count, sizeof *x->answers)) ||
        !(x->order = array_new(end - first, sizeof *x->order)) ||
        !(x->logprob = array_new(sets->count, sizeof *x->logprob)) ||
        !(x->each = array_new(sets->count, sizeof *x->each)))
        return false;
    memcpy(x->sets.items, sets->items, numbers * sizeof *sets->items);
    if (sets->exact) memcpy(x->sets.exact, sets->exact, numbers * sizeof *sets->exact);
    for (size_t s = 0; s < sets->count; s++)
        x->answers[s] = (onet_answer){.order = x->order + (sets->start[s] - first)};
    return true;
}

/* Each set draws its own numbers, so that its shuffle does not depend on the sets before it. */
static void shuffle(shuffled *x, const onet_sets *from, int feature, int repeat, uint64_t seed) {
    size_t width = (size_t)from->width;
    for (size_t s = 0; s < from->count; s++) {
        rng r;
        rng_seed(&r, seed, ((uint64_t)repeat * width + (uint64_t)feature) * from->count + s);
        size_t first = from->start[s] * width + (size_t)feature;
        for (size_t i = 0; i < sets_size(from, s); i++) {
            size_t a = first + i * width, b = first + rng_below(&r, i + 1) * width;
            x->sets.items[a] = x->sets.items[b];
            x->sets.items[b] = from->items[a];
            if (!from->exact) continue;
            x->sets.exact[a] = x->sets.exact[b];
            x->sets.exact[b] = from->exact[a];
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
    if (!sets->items) return fail(err, ONET_BAD, "the items are words, which have no features to shuffle");
    if (!sets->order) return fail(err, ONET_BAD, "the sets have no order to compare with");
    if (feature < 0 || feature >= sets->width || repeats < 1)
        return fail(err, ONET_USAGE,
                    "feature %d of %d, shuffled %d times: there is no such feature, or no turn", feature,
                    sets->width, repeats);
    shuffled x;
    double *fall = array_new(2 * (sets->count ? sets->count : 1), sizeof *fall);
    status = shuffled_new(&x, sets) && fall ? ONET_OK : fail_memory(err, "the shuffled features");
    for (int k = 0; k < repeats && !status; k++) {
        shuffle(&x, sets, feature, k, seed);
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
