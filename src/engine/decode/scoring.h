/* Scores several orders of one encoded set on the CPU: the same numbers, to the last bit, as one search
 * (search.h) along each order, but steps at which two orders are in the same state are computed once. */
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

/* Makes the plan; returns false when memory is short. blocks: of the decoder. The orders must not change
 * while the plan is used. */
bool scoring_plan_new(scoring_plan *p, int blocks, int n, const int32_t *order, int count);
void scoring_plan_free(scoring_plan *p);

/* The memory of one thread. */
typedef struct scoring {
    int n, count;   /* for which there is memory */
    real *plane;    /* [N, steps + 2, rows, C] */
    real *pool;     /* [steps, N, C]: normed */
    real *bias;     /* [steps, C]: the sum of a block's bias and the terms of the pools */
    real *logit;    /* [steps, rows] */
    real *x;        /* [rows, 3, C]: the terms of a block that depend on the rows' own items, by lag */
    int32_t *kept;  /* [rows]: the item of each row */
    int32_t *pos;   /* [rows] */
    const real **y; /* [steps + 2] */
    double *step;   /* [count, n]: log-probability of each step */
} scoring;

bool scoring_reserve(scoring *s, const frozen *f, int n, int count);
void scoring_free(scoring *s);
/* Computes logprob [count], the log-probability of each order of the plan. e: the encoded set, alone, all of
 * whose items are placed. The model has no relations. Ends early, without a result, if e->options->stop()
 * asks for it. */
void scoring_run(scoring *s, const scoring_plan *p, const frozen *f, const encoded *e, double *logprob);

#endif
