/* Cuts text into words, and adds up the orders that read the same. */
#include "sentences/bag.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/utf8.h"

onet_status bag_add(bag *b, char *text, const onet_words *words, int most, onet_error *err) {
    if (utf8_valid(text, strlen(text)) < strlen(text))
        return fail(err, ONET_BAD, "the words are not UTF-8; is the terminal set to UTF-8?");
    char *rest;
    for (char *word = strtok_r(text, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest)) {
        if (b->n >= (size_t)most)
            return fail(
                err, ONET_USAGE,
                "%d words at most can be put in order here (unscramble's --max-words); time grows with the "
                "square of their number",
                most);
        if (!array_reserve(&b->word, &b->room, b->n + 1, sizeof *b->word) ||
            !array_reserve(&b->row, &b->row_room, b->n + 1, sizeof *b->row))
            return fail_memory(err, "the words");
        b->row[b->n] = onet_words_find(words, word, strlen(word), NULL);
        b->word[b->n++] = word;
    }
    return ONET_OK;
}

void bag_free(bag *b) {
    free(b->word);
    free(b->row);
}

/* How many orders may read like one of them: the product of the factorials of the repeats, capped. */
static int repeats(const bag *b, int cap) {
    int product = 1;
    for (size_t i = 0; i < b->n; i++) {
        int nth = 1;
        for (size_t j = 0; j < i; j++) nth += !strcmp(b->word[i], b->word[j]);
        if (nth > cap / product) return cap;
        product *= nth;
    }
    return product;
}

int bag_orders(const bag *b, int top, int beam) {
    int same = repeats(b, 1000);
    return top * same < beam ? top * same : beam;
}

/* Two orders may differ only in which of two equal words stands first. */
static bool reads_same(const bag *b, const int32_t *x, const int32_t *y) {
    for (size_t i = 0; i < b->n; i++)
        if (strcmp(b->word[x[i]], b->word[y[i]])) return false;
    return true;
}

int bag_readings(const bag *b, const onet_answer *a, int top, bag_reading *readings) {
    int count = 0;
    for (int k = 0; k < a->found; k++) {
        const int32_t *order = a->order + (size_t)k * b->n;
        int same = 0;
        while (same < count && !reads_same(b, readings[same].order, order)) same++;
        if (same == count && count == top) continue;
        if (same == count) readings[count++] = (bag_reading){.order = order};
        readings[same].probability += exp(a->logprob[k]);
    }
    return count;
}
