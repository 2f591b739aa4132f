/* Finding an order step by step: greedy, beam, a random draw, or the score of a given order. */
#ifndef DECODE_SEARCH_H
#define DECODE_SEARCH_H

#include "base/rng.h"
#include "data/constraints.h"
#include "decode/encode.h"

/* One order under way. Its planes hold the last few steps; a step looks back at the two before it. */
typedef struct beam {
    int window;
    bool wide;      /* has room for all steps of a set of GREEDY_ITEMS items; one beam of several is */
    real *plane;    /* [N, window + 2, rows, C] */
    real *p;        /* [window + 2, N, C]: pools, normed */
    int rows;       /* items that the planes and pos have rows for: all, until search_run leaves some out */
    int32_t *pos;   /* [rows]: step at which an item was placed; INT32_MAX when it was not */
    int32_t *order; /* [n]: items, as search_task.item numbers them */
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

/* Items of the largest set whose greedy order is found ahead of a beam search. On larger ones the greedy
 * order is too improbable to rule out many beams (docs/speed.md). */
enum { GREEDY_ITEMS = 50 };

/* The greedy order, found ahead. The planes of the beam that follows it hold its steps already. */
typedef struct greedy_order {
    bool under_way;
    int beam;                  /* that follows it; -1: none */
    double logprob;            /* no beam below it is kept; -INFINITY: all are */
    int32_t row[GREEDY_ITEMS]; /* of the item placed at each step */
    double *logp;              /* [steps, rows] */
} greedy_order;

typedef struct search {
    int beams, n;     /* that there is memory for */
    beam *now, *next; /* [beams]; the memory that they point to is now's */
    real *step;       /* [beams, C]: what the pools give to a block */
    real *pools;      /* [beams, N * C]: of the blocks before it */
    int32_t *item;    /* [rows]: the item that a row stands for */
    int32_t *kept;    /* [n] */
    candidate *best;  /* [beams] */
    int *first_child; /* [beams] */
    int *computed;    /* [beams]: those whose step is computed */
    greedy_order greedy;
} search;

/* Memory for sets of n items, context items among them. */
bool search_reserve(search *s, const frozen *f, int beams, int n);
void search_free(search *s);

/* n! or `most`, whichever is less: no more beams than that can be alive. */
int search_orders(int n, int most);

typedef struct search_task {
    int n;                /* placed items: the first rows of the encoded set */
    int beams;            /* 1: the greedy search */
    bool best_only;       /* the most probable of the orders found is enough */
    rng *r;               /* not NULL: each step is drawn at random; beams is 1 */
    const int32_t *given; /* [n], not NULL: this order, of rows, is followed and scored; beams is 1 */
    /* With `given`: the probability of item i at step t to choices[t * width + i], width the items of the
     * set; NULL: not wanted. */
    double *choices;
    int width;
    const int32_t *item;                 /* [n]: the item of the set that a row stands for */
    const constraint_graph *constraints; /* on the items; NULL: none */
    void (*look)(void *context, int t);  /* called at each step t; NULL: nobody looks */
    void *context;
} search_task;

/* Finds up to `beams` orders of an encoded set, best first; how many is given back. They stand in s->now.
 * Log-probabilities are the net's own, with constraints too: of all items, not of those that are allowed. The
 * greedy search uses e up: it moves the rows of the items that still matter together. */
int search_run(search *s, const frozen *f, encoded *e, const search_task *task);

#endif
