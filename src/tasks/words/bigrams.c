/* Adds to sets of words the relation log(1 + how often the second word directly follows the first in other
 * sets, or in the sets themselves without the set at hand). */
#include <math.h>
#include <stdlib.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "tasks/words/prepare.h"

/* Counts of ordered pairs of words in a hash table with open addressing, which is never more than half full.
 */
typedef struct bigrams {
    uint64_t *key; /* [mask + 1]: both words, plus 1; 0: the slot is empty */
    uint32_t *count;
    size_t mask, used;
} bigrams;

static uint64_t key_of(int32_t first, int32_t second) {
    return ((uint64_t)(uint32_t)first << 32 | (uint32_t)second) + 1;
}

/* Returns the slot of a key, or the empty one where it belongs. */
static size_t find(const bigrams *b, uint64_t key) {
    size_t at = (size_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & b->mask;
    while (b->key[at] && b->key[at] != key) at = (at + 1) & b->mask;
    return at;
}

static bool grow(bigrams *b) {
    bigrams larger = {.mask = b->key ? 2 * b->mask + 1 : 1023};
    larger.key = array_new(larger.mask + 1, sizeof *larger.key);
    larger.count = array_new(larger.mask + 1, sizeof *larger.count);
    if (!larger.key || !larger.count) {
        free(larger.key);
        free(larger.count);
        return false;
    }
    for (size_t i = 0; b->key && i <= b->mask; i++) {
        if (!b->key[i]) continue;
        size_t at = find(&larger, b->key[i]);
        larger.key[at] = b->key[i];
        larger.count[at] = b->count[i];
    }
    larger.used = b->used;
    free(b->key);
    free(b->count);
    *b = larger;
    return true;
}

static int32_t word_at(const onet_sets *sets, size_t s, size_t place) {
    size_t from = sets->start[s];
    return sets->word[from + (size_t)sets->order[from + place]];
}

static bool count_all(bigrams *b, const onet_sets *sets) {
    for (size_t s = 0; s < sets->count; s++)
        for (size_t t = 1; t < onet_sets_size(sets, s); t++) {
            if (2 * (b->used + 1) > b->mask && !grow(b)) return false;
            uint64_t key = key_of(word_at(sets, s, t - 1), word_at(sets, s, t));
            size_t at = find(b, key);
            b->used += !b->key[at];
            b->key[at] = key;
            if (b->count[at] < UINT32_MAX) b->count[at]++;
        }
    return true;
}

/* Takes the neighbours of a set out of the counts, or puts them back. */
static void leave_out(bigrams *b, const onet_sets *sets, size_t s, bool out) {
    for (size_t t = 1; t < onet_sets_size(sets, s); t++) {
        uint32_t *count = &b->count[find(b, key_of(word_at(sets, s, t - 1), word_at(sets, s, t)))];
        *count += out ? UINT32_MAX : 1; /* wraps around: less one */
    }
}

onet_status bigrams_relate(onet_sets *sets, const onet_sets *text, onet_error *err) {
    bigrams b = {0};
    size_t numbers = 0, at = 0;
    if (!text->word || !text->order)
        return fail(err, ONET_BAD, "neighbours are counted in sets of words in their right order");
    for (size_t s = 0; s < sets->count; s++) numbers += onet_sets_size(sets, s) * onet_sets_size(sets, s);
    float *value = array_new(numbers ? numbers : 1, sizeof *value);
    onet_status status =
        value && grow(&b) && count_all(&b, text) ? ONET_OK : fail_memory(err, "the counts of neighbours");
    for (size_t s = 0; s < sets->count && !status; s++) {
        size_t n = onet_sets_size(sets, s);
        const int32_t *word = sets->word + sets->start[s];
        if (sets == text) leave_out(&b, sets, s, true);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                value[at++] = (float)log1p((double)b.count[find(&b, key_of(word[i], word[j]))]);
        if (sets == text) leave_out(&b, sets, s, false);
    }
    free(b.key);
    free(b.count);
    if (!status) status = onet_sets_set_pairs(sets, 1, value, "bigrams", err);
    free(value);
    return status;
}
