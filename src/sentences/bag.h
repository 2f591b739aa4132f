/* A bag of words as the user wrote them, to be put in order by a model. */
#ifndef SENTENCES_BAG_H
#define SENTENCES_BAG_H

#include <stdbool.h>

#include "ordernet.h"

enum { BAG_WORDS = 1000 }; /* the usual limit */

/* Zeroed: empty. */
typedef struct bag {
    char **word;  /* [n]; they point into the user's own text */
    int32_t *row; /* [n]: of the vocabulary */
    size_t n, room, row_room;
} bag;

/* Adds the words of a text, which is cut into them and must live as long as the bag. ONET_BAD for more than
 * `most` words in the bag. */
onet_status bag_add(bag *b, char *text, const onet_words *words, int most, onet_error *err);
void bag_free(bag *b);

/* How many orders to ask a beam for so that `top` of them read differently: repeated words make orders that
 * read the same. */
int bag_orders(const bag *b, int top, int beam);

/* An order that the answer has, and the probability of all that read like it. */
typedef struct bag_reading {
    const int32_t *order; /* [n]; of the answer */
    double probability;
} bag_reading;

/* The readings of an answer, the most probable order first, into readings [top]; returns how many. */
int bag_readings(const bag *b, const onet_answer *answer, int top, bag_reading *readings);

#endif
