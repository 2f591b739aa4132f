/* Writes the predicted orders of a bag of words as sentences. Orders that read the same, because of repeated
 * words, are one, with the probabilities of all of them, also of those that the beam has not kept. Chooses
 * the beam, and tells whether an order is only a guess and which words are the same to the network. */
#include "tasks/words/readings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"

static bool equal_words(const onet_bag *b, int i, int j) {
    return !strcmp(onet_bag_word(b, i, NULL), onet_bag_word(b, j, NULL));
}

/* Returns the log of how many orders have the same words at the same places, the product of the factorials of
 * the repeats. The network gives all of them the same probability. */
static double log_repeats(const onet_bag *b) {
    double sum = 0;
    for (int i = 0; i < onet_bag_count(b); i++) {
        int nth = 1;
        for (int j = 0; j < i; j++) nth += equal_words(b, i, j);
        sum += log(nth);
    }
    return sum;
}

static bool same_words(const onet_bag *b, const int32_t *order, const int32_t *other) {
    for (int t = 0; t < onet_bag_count(b); t++)
        if (!equal_words(b, order[t], other[t])) return false;
    return true;
}

int readings_beam(int n) {
    const int widest = 120, least = 5, cells = 50000;
    int beam = cells / (n > 0 ? n * n : 1);
    return beam > widest ? widest : beam < least ? least : beam;
}

int readings_orders(const onet_bag *b, int top, int beam) {
    double all = top * exp(log_repeats(b));
    return all < beam ? (int)(all + 0.5) : beam;
}

static char *write(const onet_bag *b, const int32_t *order, onet_letters letters) {
    size_t room = onet_bag_write(b, order, letters, NULL, 0) + 1;
    char *text = malloc(room);
    if (text) onet_bag_write(b, order, letters, text, room);
    return text;
}

onet_status readings_make(reading **result, int *count, const onet_bag *b, const onet_answer *a, int top,
                          onet_letters letters, onet_error *err) {
    size_t n = (size_t)onet_bag_count(b);
    double repeats = log_repeats(b);
    reading *r = *result = array_new((size_t)top, sizeof *r);
    int *reads_as = array_new((size_t)a->found, sizeof *reads_as); /* [found]: the reading of an order */
    *count = 0;
    bool memory = r && reads_as;
    for (int k = 0; k < a->found && memory; k++) {
        const int32_t *order = a->order + (size_t)k * n;
        char *text = write(b, order, letters);
        int same = 0, earlier = 0;
        memory = text != NULL;
        while (memory && same < *count && strcmp(r[same].text, text)) same++;
        if (memory && same == *count && *count < top) {
            r[(*count)++] = (reading){.text = text, .order = order};
            text = NULL;
        }
        reads_as[k] = same;
        while (earlier < k &&
               (reads_as[earlier] != same || !same_words(b, order, a->order + (size_t)earlier * n)))
            earlier++;
        if (memory && same < *count && earlier == k)
            r[same].probability = fmin(1, r[same].probability + exp(a->logprob[k] + repeats));
        free(text);
    }
    free(reads_as);
    if (memory) return ONET_OK;
    readings_free(r, *count);
    *result = NULL;
    return fail_memory(err, "the orders");
}

void readings_free(reading *r, int count) {
    for (int k = 0; r && k < count; k++) free(r[k].text);
    free(r);
}

bool reading_is_guess(double logprob, int n) {
    return logprob < (n - 1) * log(0.5);
}

static bool joined(const onet_sets *set, int i) {
    for (size_t k = 0; k < set->constraint_count; k++) {
        const onet_constraint *c = &set->constraints[k];
        if (c->kind == ONET_NEXT && (c->item == (size_t)i || c->other == (size_t)i)) return true;
    }
    return false;
}

bool readings_alike(const onet_bag *b, const onet_sets *set, int i, int j) {
    int i_known, j_known;
    const char *one = onet_bag_word(b, i, &i_known), *other = onet_bag_word(b, j, &j_known);
    return !i_known && !j_known && set->word[i] == set->word[j] && strcmp(one, other) != 0 &&
           !joined(set, i) && !joined(set, j);
}
