/* Defines the inside of an onet_orderer, shared by orderer.c (this rank's threads or GPU) and shared.c
 * (several ranks). */
#ifndef DECODE_ORDERER_H
#define DECODE_ORDERER_H

#include "engine/base/thread_pool.h"
#include "engine/base/world.h"
#include "engine/decode/gpu.h"
#include "engine/kernels/device.h"

typedef struct worker worker;

struct onet_orderer {
    freezer z;
    onet_order_options options;
    int beams, top;
    thread_pool *threads;
    worker *worker;    /* [threads] */
    uint64_t answered; /* sets answered so far: the number of a set selects its random numbers */
    const world *w;    /* ranks that share the work; NULL: this process alone */
    device_choice device;
    order_device *gpu; /* NULL: not in use, or not yet */
    onet_answer *own;  /* [own_room]: copies of answers whose logprob is NULL; they point into `logprob` below
                        */
    double *logprob;   /* [logprob_room] */
    size_t own_room, logprob_room;
};

/* As onet_orderer_new, without checking the options' size; gpu: used if the options name no GPU by its
 * number. */
onet_status orderer_new(onet_orderer **orderer, const onet_model *model, const onet_order_options *options,
                        gpu_choice gpu, onet_error *err);

/* Where the scores of the sets' own orders go. */
typedef struct score_out {
    double *logprob; /* [count] */
    double *step;    /* [items]: log-probability of each step, 0 for context items; NULL: not wanted */
    double *choices; /* [n, n] of the only set: probability of each item at each step; NULL: not wanted */
} score_out;

/* Puts sets, which have been checked, in order by this rank alone; or, when answers is NULL, scores their
 * own order. */
onet_status orderer_run_here(onet_orderer *r, const onet_sets *sets, onet_answer *answers, score_out score,
                             onet_error *err);
/* As orderer_run_here, by all ranks of r->w. */
onet_status orderer_run_shared(onet_orderer *r, const onet_sets *sets, onet_answer *answers, score_out score,
                               onet_error *err);
/* In rank 0: ends orderer_work in the other ranks. */
void orderer_dismiss(onet_orderer *r);

/* Computes the log-probabilities of `count` orders of each of some sets of the same size, which are encoded
 * once: items [sets, n, width], orders [count, n], logprob [sets, count]. As many sets as there are threads
 * make best use of them. */
onet_status orderer_score_orders(onet_orderer *r, const float *items, int sets, int n, const int32_t *orders,
                                 int count, double *logprob, onet_error *err);

/* In rank 0, after all have made an orderer of the same model with the same options: from now on each gets a
 * part of the sets, until onet_orderer_free dismisses the others. */
void orderer_share(onet_orderer *r, const world *w);
/* In the other ranks: orders what rank 0 sends, until rank 0 dismisses them. */
void orderer_work(onet_orderer *r, const world *w);

#endif
