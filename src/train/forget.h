/* Forgotten words: in each epoch a share of the words, drawn anew, is taken for unknown. The net then learns
 * how to place words that it does not know, and cannot learn the lines by heart. */
#ifndef TRAIN_FORGET_H
#define TRAIN_FORGET_H

#include "ordernet.h"

typedef struct forget {
    onet_sets sets;   /* the same sets, with words of their own */
    int32_t *word;    /* [items] */
    int32_t *unknown; /* [words]: the row that stands for a word when it is not known */
    int32_t unk;      /* the row of <unk>; -1 when there is none */
} forget;

/* The sets must live as long as this does. ONET_USAGE where items are no words, or unknown words have no
 * rows. */
onet_status forget_new(forget **f, const onet_sets *sets, onet_error *err);
void forget_free(forget *f);

/* Draws anew: each word is forgotten with probability `share`. Set s is number `first + s*stride` of all
 * sets, so that the draw is the same however the sets are spread over processes. */
void forget_draw(forget *f, const onet_sets *sets, double share, uint64_t seed, uint64_t epoch,
                 uint64_t first, uint64_t stride);

#endif
