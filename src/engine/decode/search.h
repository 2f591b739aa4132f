/* Searches the order of a set step by step on the CPU: greedy, beam, sampling, or the score of a given order.
 */
#ifndef DECODE_SEARCH_H
#define DECODE_SEARCH_H

#include "engine/base/rng.h"
#include "engine/data/constraints.h"
#include "engine/decode/encode.h"

typedef struct search_query {
    int n;          /* placed items */
    int first;      /* the row of the encoded group at which the set begins; its placed items come first */
    int beams;      /* 1: the greedy search */
    bool best_only; /* only the most probable order is needed */
    rng *r;         /* not NULL: each step is drawn at random; beams is 1 */
    const int32_t *given; /* [n], not NULL: this order, of rows, is followed and scored; beams is 1 */
    /* With `given`: receives the probability of item i at step t at choices[t * width + i], width: the items
     * of the set; NULL: not wanted. */
    double *choices;
    int width;
    const int32_t *item;                    /* [n]: the item of the set for each row */
    const relations *relations;             /* of the set; used if the model has relations */
    const constraint_graph *constraints;    /* on the items; NULL: none */
    void (*progress)(void *context, int t); /* called at each step t; NULL: not called */
    void *context;
} search_query;

/* An order under construction. Its planes hold the last few steps; a step looks back at the two before it. */
typedef struct beam {
    const search_query *query;
    int window;
    bool wide;      /* has room for all steps of a set, and belongs to a greedy_order */
    real *plane;    /* [N + E, window + 2, rows, C]: those of the blocks, then that of relations, if any */
    real *p;        /* [window + 2, N, C]: pools, normed */
    int rows;       /* items that the planes and pos have rows for: all, until search_run leaves some out */
    int32_t *pos;   /* [rows]: step at which an item was placed; INT32_MAX when it was not */
    int32_t *order; /* [n]: items, as search_query.item numbers them */
    double *step;   /* [n]: log-probability of each choice */
    int32_t *waits; /* [items of the set]: predecessors that an item still waits for; only with constraints */
    real *logit;    /* [rows] */
    double *logp;   /* [rows]: log-probabilities of this step */
    int last[3];    /* rows of the items placed at the steps t with t % 3 = 0, 1, 2 */
    double logprob;
    int at; /* place of the current step in the planes */
} beam;

typedef struct candidate {
    double logprob, step;
    int beam, row;
} candidate;

/* GREEDY_ITEMS: the size of the largest set whose greedy order is found before its beam search; that of
 * larger sets is too improbable to rule out many beams (docs/speed.md). GROUP_ITEMS: the size of the largest
 * set in a group of several. */
enum { GREEDY_ITEMS = 50, GROUP_ITEMS = GROUP_ROWS / 6 };

/* The greedy order of a set, found before its beam search. */
typedef struct greedy_order {
    beam b; /* its planes hold all steps, for the beam that follows the same order */
    double logprob;
    int32_t row[GREEDY_ITEMS]; /* of the item placed at each step */
    double *logp;              /* [steps, rows] */
} greedy_order;

typedef struct search {
    int beams, n, group; /* for which there is memory */
    beam *now, *next;    /* [beams]; the arrays that they point to belong to now, except for the planes */
    real *beam_planes;   /* of all beams */
    real *step;          /* [beams or group, C]: the bias of a block and the terms of the pools */
    real *pools;         /* [beams or group, N * C]: the pools of the blocks before it */
    int32_t *item;       /* [rows of the group]: the item for each row */
    int32_t *kept;       /* [n] */
    candidate *best;     /* [beams] */
    int *first_child;    /* [beams] */
    beam **computed;     /* [beams or group]: the beams whose step is computed */
    greedy_order greedy[GROUP_SETS];
    real *planes;              /* of the greedy orders */
    greedy_order *ahead;       /* the greedy order of the set that is searched; NULL: none */
    int follower;              /* the beam that follows `ahead`; -1: none */
    const search_query *query; /* [count]: those of search_begin */
    thread_pool *threads;      /* share the beams of a step; NULL: this thread */
} search;

/* Makes room for groups of `group` sets of n items, context items included. Only a group of one has sets of
 * more than GROUP_ITEMS. Returns false if memory is short, or if options->stop() ended it; options may be
 * NULL. */
bool search_reserve(search *s, const frozen *f, int beams, int n, int group,
                    const onet_order_options *options);
void search_free(search *s);

/* Returns n! or `most`, whichever is less: more beams cannot be alive. */
int search_orders(int n, int most);

/* Begins with the sets of an encoded group. Finds the greedy orders that are needed before a beam search
 * here, in lockstep, so that the weights of a block are read once for all sets. The queries are used until
 * the next call, and so are the threads, which share the beams of a step; NULL: this thread. */
void search_begin(search *s, const frozen *f, const encoded *e, const search_query *query, int count,
                  thread_pool *threads);

/* Finds up to `beams` orders of set k of the group, best first, in s->now; returns how many.
 * Log-probabilities are the net's own, with constraints too: of all items, not of those that are allowed. The
 * greedy search overwrites e: it compacts the rows of the items that still matter. */
int search_run(search *s, const frozen *f, encoded *e, int k);

#endif
