/* Turns the search results for a bag of words into sentences; orders that read the same become one. Used by
 * `ordernet unscramble` and /v1/unscramble. */
#ifndef WORDS_READINGS_H
#define WORDS_READINGS_H

#include <stdbool.h>

#include "ordernet_words.h"

enum { READINGS_WORDS = 1000 }; /* most words of a bag by default */

/* Returns the default beam for n words: 120, which is all orders of five, and less for more than 20, so that
 * 200 take seconds. */
int readings_beam(int n);

/* Returns how many orders to ask a beam for so that `top` of them read differently: repeated words make
 * orders that read the same. */
int readings_orders(const onet_bag *bag, int top, int beam);

typedef struct reading {
    char *text;
    const int32_t *order; /* [n], in the answer: the most probable order that reads like this */
    double probability;   /* of all orders that read like it */
} reading;

/* Makes the readings of an answer, the most probable order first, *count of at most `top`; free them with
 * readings_free. */
onet_status readings_make(reading **readings, int *count, const onet_bag *bag, const onet_answer *answer,
                          int top, onet_letters letters, onet_error *err);
void readings_free(reading *readings, int count);

/* Whether an order of n words is no more than a guess: the geometric mean of its steps' probabilities is
 * below 1/2. The last step is certain and does not count. */
bool reading_is_guess(double logprob, int n);

/* Whether two words of a bag, whose set is `set`, are the same to the network: unknown, of one kind and not
 * joined to others. Then an order with the two exchanged is as probable. */
bool readings_alike(const onet_bag *bag, const onet_sets *set, int i, int j);

#endif
