/* Scores several orders of one encoded set on the CPU: the same numbers, to the last bit, as one search
 * (search.h) along each of them, but what two orders have in common is computed once. */
#ifndef DECODE_SCORING_H
#define DECODE_SCORING_H

#include "engine/decode/encode.h"

/* The orders that are scored, and what they have in common. It depends on the orders alone, so that the same
 * plan serves several sets of the same size. */
typedef struct scoring_plan {
    int n, count;
    const int32_t *order; /* [count, n] */
    int32_t *pos;         /* [count, n]: the step at which each item is placed */
    int32_t *owner;       /* [count, n]: the first order in the same state at this step */
} scoring_plan;

/* blocks: of the decoder. The orders must stay as they are while the plan is used. */
bool scoring_plan_new(scoring_plan *p, int blocks, int n, const int32_t *order, int count);
void scoring_plan_free(scoring_plan *p);

/* The memory of one thread. */
typedef struct scoring {
    int n, count;   /* that there is memory for */
    real *plane;    /* [N, steps + 2, rows, C] */
    real *pool;     /* [steps, N, C]: normed */
    real *bias;     /* [steps, C]: what the pools give to a block */
    real *logit;    /* [steps, rows] */
    real *x;        /* [rows, 3, C] of a block: what the rows' own items give, by lag */
    int32_t *kept;  /* [rows]: the item of each row */
    int32_t *pos;   /* [rows] */
    const real **y; /* [steps + 2] */
    double *step;   /* [count, n]: log-probability of each step */
} scoring;

bool scoring_reserve(scoring *s, const frozen *f, int n, int count);
void scoring_free(scoring *s);
/* The log-probability of each order of the plan: logprob [count]. e: the encoded set alone, all of whose
 * items are placed. The model has no relations. Ends early, without a result, where e->options say so. */
void scoring_run(scoring *s, const scoring_plan *p, const frozen *f, const encoded *e, double *logprob);

#endif
