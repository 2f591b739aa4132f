/* Divides the training sets into batches (of one size of set, or mixed) and shuffles them for each epoch,
 * from the seed and the epoch alone; sets with fewer than two items to place are left out. Also chooses the
 * default batch size (onet_train_batch). */
#include "engine/train/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/rng.h"
#include "engine/data/sets.h"
#include "engine/train/train.h"
#include "ordernet_train.h"

void batches_free(batches *b) {
    if (!b) return;
    free(b->index);
    free(b->group);
    free(b->batch);
    free(b->sorted);
    free(b);
}

static size_t group_of(size_t n, onet_batches how) {
    return how == ONET_BATCHES_ONE_SIZE ? n : 2;
}

onet_status batches_new(batches **out, const onet_sets *sets, int most, onet_batches how, onet_error *err) {
    if (sets->count > UINT32_MAX - 1)
        return fail(err, ONET_BAD, "more than 4294967294 sets: too many to train on");
    size_t largest = 0;
    for (size_t s = 0; s < sets->count; s++)
        if (sets_size(sets, s) > largest) largest = sets_size(sets, s);
    batches *b = calloc(1, sizeof *b);
    size_t *count =
        array_new(largest + 2, sizeof *count); /* sets of each group: by size, or all in group 2 */
    if (!b || !count) goto memory;
    for (size_t s = 0; s < sets->count; s++) {
        size_t n = sets_size(sets, s);
        if (sets_placed(sets, s) > 1) count[group_of(n, how)]++; /* one placed item teaches nothing */
    }
    for (size_t n = 2; n <= largest; n++) {
        if (!count[n]) continue;
        b->groups++;
        b->used += count[n];
        b->count += (count[n] + (size_t)most - 1) / (size_t)most;
    }
    if (!b->used) {
        free(count);
        batches_free(b);
        return fail(err, ONET_BAD, NO_ORDER);
    }
    b->index = array_new(b->used, sizeof *b->index);
    b->sorted = array_new(b->used, sizeof *b->sorted);
    b->group = array_new((size_t)b->groups + 1, sizeof *b->group);
    b->batch = array_new(b->count, sizeof *b->batch);
    if (!b->index || !b->sorted || !b->group || !b->batch) goto memory;
    int g = 0;
    size_t at = 0;
    for (size_t n = 2; n <= largest; n++) {
        if (!count[n]) continue;
        b->group[g++] = (uint32_t)at;
        at += count[n];
        count[n] = at - count[n]; /* from now on: where the next set of this group goes */
    }
    b->group[g] = (uint32_t)at;
    for (size_t s = 0; s < sets->count; s++)
        if (sets_placed(sets, s) > 1) b->sorted[count[group_of(sets_size(sets, s), how)]++] = (uint32_t)s;
    free(count);
    for (g = 0; g < b->groups; g++) {
        uint32_t sets_here = b->group[g + 1] - b->group[g];
        int here = sets_here < (uint32_t)most ? (int)sets_here : most;
        if (here > b->largest) b->largest = here;
    }
    *out = b;
    return ONET_OK;
memory:
    free(count);
    batches_free(b);
    return fail_memory(err, "the plan of the batches");
}

void batches_shuffle(batches *b, uint64_t seed, uint64_t epoch) {
    rng r;
    rng_seed(&r, seed, UINT64_C(0x6261746368000000) + epoch);
    memcpy(b->index, b->sorted, b->used * sizeof *b->index);
    size_t at = 0;
    for (int g = 0; g < b->groups; g++) {
        uint32_t *index = b->index + b->group[g], count = b->group[g + 1] - b->group[g];
        for (uint32_t i = count; i > 1; i--) {
            uint32_t j = (uint32_t)rng_below(&r, i), swap = index[i - 1];
            index[i - 1] = index[j];
            index[j] = swap;
        }
        uint64_t parts = (count + (uint64_t)b->largest - 1) / (uint64_t)b->largest;
        for (uint64_t p = 0; p < parts; p++) {
            uint32_t first = (uint32_t)(count * p / parts), last = (uint32_t)(count * (p + 1) / parts);
            b->batch[at++] = (batch){b->group[g] + first, (int)(last - first)};
        }
    }
    for (size_t i = at; i > 1; i--) {
        size_t j = (size_t)rng_below(&r, i);
        batch swap = b->batch[i - 1];
        b->batch[i - 1] = b->batch[j];
        b->batch[j] = swap;
    }
    b->count = at;
}

static int batch_for(const onet_sets *sets, bool related) {
    /* Pairs of a batch: memory is about 600 bytes for each with the default net. */
    enum { MOST_PAIRS = 1 << 20, LEAST_OTHERS = MOST_PAIRS / 16 };
    onet_train_options plain;
    onet_train_defaults(&plain, sizeof plain);
    if (!related || !sets->start || !sets->count) return plain.batch;
    double most = 0, mean = 0;
    for (size_t s = 0; s < sets->count; s++) {
        double pairs = (double)sets_size(sets, s) * (double)sets_size(sets, s);
        mean += pairs / (double)sets->count;
        if (pairs > most) most = pairs;
    }
    /* A batch holds the largest set and some of the others, so that one large set alone does not make all
     * batches small. */
    double others = MOST_PAIRS - most > LEAST_OTHERS ? MOST_PAIRS - most : LEAST_OTHERS;
    double fits = 1 + floor(others / mean);
    return fits < plain.batch ? (int)fits : plain.batch;
}

int onet_train_batch(const onet_sets *sets) {
    return batch_for(sets, sets && sets->pairs);
}

int onet_train_batch_related(const onet_sets *sets) {
    return batch_for(sets, sets != NULL);
}

batch_size batches_size(const batches *b, const batch *one, const onet_sets *sets) {
    batch_size size = {0};
    for (int i = 0; i < one->count; i++) {
        uint32_t s = b->index[one->first + (uint32_t)i];
        batch_size_add(&size, (int)sets_size(sets, s), (int)sets_placed(sets, s));
    }
    return size;
}

batch_size batches_most(const batches *b, const onet_sets *sets) {
    batch_size most = {0};
    for (size_t i = 0; i < b->count; i++) most = batch_size_most(most, batches_size(b, &b->batch[i], sets));
    return most;
}
