/* The encoder for ordering, on one set or on several small ones: features in, all that the decoder needs of
 * each item out. */
#ifndef DECODE_ENCODE_H
#define DECODE_ENCODE_H

#include "engine/base/pool.h"
#include "engine/decode/frozen.h"

/* Small sets are encoded and searched in groups, since reading the weights of a wide network takes longer
 * than the products of a few rows (docs/speed.md). Rows: of all sets of a group together. */
enum { GROUP_SETS = 24, GROUP_ROWS = 120 };

typedef struct encoded {
    int room;                          /* rows that there is memory for */
    real *x;                           /* [rows, D] */
    real *ac;                          /* [rows, 2H] */
    real *best;                        /* [rows, O] */
    real *q;                           /* [placed, Q]: x' times the decoder's row weights */
    real *logit;                       /* [placed]: what x' alone gives to an item's logit */
    const onet_order_options *options; /* whose stop() ends the work early; NULL: nobody's */
} encoded;

/* Whether the caller wants the work to stop; its results are then incomplete. */
static inline bool order_stops(const onet_order_options *o) {
    return o && o->stop && o->stop(o->context);
}

/* Item i, counted over all sets, as the model sees it: words have the model's own vectors, since training may
 * have changed those that the sets came with. */
const float *item_seen(const onet_model *model, const onet_sets *sets, size_t i);

/* Memory for so many rows; keeps what is there when it is enough. */
bool encoded_reserve(encoded *e, const frozen *f, int rows);
void encoded_free(encoded *e);

/* items: [start[count], width], not yet standardised; set s has the rows start[s] .. start[s + 1] - 1. q and
 * logit are made for the first `placed` rows: the placed items of one set come before its context items, and
 * a group of several, of at most GROUP_ROWS rows, has none of these. A pool spreads a large set over its
 * threads; NULL: this thread. */
void encode(encoded *e, const frozen *f, const float *const *items, const int *start, int count, int placed,
            pool *threads);

#endif
