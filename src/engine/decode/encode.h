/* Encodes one set or several small ones, to put them in order on the CPU: takes features, and computes all
 * that the search (search.h) needs of each item. */
#ifndef DECODE_ENCODE_H
#define DECODE_ENCODE_H

#include "engine/base/thread_pool.h"
#include "engine/decode/frozen.h"
#include "engine/kernels/relations.h"

/* Small sets are encoded and searched in groups, since reading the weights of a wide network takes longer
 * than the products of a few rows (docs/speed.md). Rows: of all sets of a group together. */
enum { GROUP_SETS = 24, GROUP_ROWS = 120 };

typedef struct encoded {
    int room;                  /* rows that fit in the memory */
    real *x;                   /* [rows, D] */
    real *ac;                  /* [rows, 2H] */
    real *best;                /* [rows, O] */
    real *q;                   /* [placed, Q]: x' times the decoder's row weights */
    real *logit;               /* [placed]: the part of an item's logit that depends on x' alone */
    relations set[GROUP_SETS]; /* of each set, if the model has relations; filled in before encode */
    real *related; /* [threads]: the relations of one item, and scratch memory for their products */
    int threads;   /* threads that may encode one set; 0: 1 */
    const onet_order_options *options; /* its stop() may end the work early; NULL: it does not */
} encoded;

/* Whether the caller wants the work to stop; its results are then incomplete. */
static inline bool order_stops(const onet_order_options *o) {
    return o && o->stop && o->stop(o->context);
}

/* Returns into how many jobs work of so many multiply-adds is divided: one per thread at most, and none so
 * short that waking a thread takes longer. */
int jobs_worth(const thread_pool *threads, double work);

/* Returns the features of item i, counted over all sets, as the model sees them: words have the model's own
 * vectors, since training may have changed those that the sets came with. */
const float *item_seen(const onet_model *model, const onet_sets *sets, size_t i);

/* Makes room for this many rows, unless there is room for more; returns false when memory is short. */
bool encoded_reserve(encoded *e, const frozen *f, int rows);
void encoded_free(encoded *e);

/* Encodes `count` sets. items: [start[count], width], not yet standardised; set s has the rows start[s] ..
 * start[s + 1] - 1. q and logit are computed for the first `placed` rows: the placed items of one set come
 * before its context items, and a group of several sets, of at most GROUP_ROWS rows, has no context items. A
 * pool spreads one set over its threads; NULL: this thread. */
void encode(encoded *e, const frozen *f, const float *const *items, const int *start, int count, int placed,
            thread_pool *threads);

#endif
