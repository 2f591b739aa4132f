/* The encoder on one set, for ordering: features in, all that the decoder needs of each item out. */
#ifndef DECODE_ENCODE_H
#define DECODE_ENCODE_H

#include "base/pool.h"
#include "decode/frozen.h"

typedef struct encoded {
    int room;    /* items that there is memory for */
    real *x;     /* [n, D] */
    real *ac;    /* [n, 2H] */
    real *best;  /* [n, O] */
    real *q;     /* [placed, Q]: x' times the decoder's row weights */
    real *logit; /* [placed]: what x' alone gives to an item's logit */
} encoded;

/* Item i, counted over all sets, as the model sees it: words have the model's own vectors, since training may
 * have changed those that the sets came with. */
const float *item_seen(const onet_model *model, const onet_sets *sets, size_t i);

/* Memory for sets of n items; keeps what is there when it is enough. */
bool encoded_reserve(encoded *e, const frozen *f, int n);
void encoded_free(encoded *e);

/* items: [n, width], not yet standardised, the `placed` ones first: q and logit are made for those alone. A
 * pool spreads a large set over its threads; NULL: this thread. */
void encode(encoded *e, const frozen *f, const float *const *items, int n, int placed, pool *threads);

#endif
