/* Request batching for the server: one call of the library orders the sets of all requests that arrive
 * together.
 *
 * Each model has two queues, each with a worker thread: one for small requests, which therefore never wait
 * for a large one, and one for large requests. While a worker runs one batch, the next requests gather in its
 * queue; when it is free, it runs all of them that have the same search options. If these are fewer than
 * in the last batch, it waits for more, each request at most `wait` seconds from its arrival: a lone client
 * never waits. */
#ifndef APP_BATCHER_H
#define APP_BATCHER_H

#include "app/models.h"
#include "app/ordering.h"

/* The cells (items^2 * beam, summed over the sets) of a small request, at most: about 0.2 s of a CPU with the
 * default network. */
enum { SMALL_CELLS = 2000000 };

/* The search of a request. Requests share a batch if all but `steps` are equal; sampled ones never do, since
 * a draw depends on a set's number in its request. */
typedef struct search_options {
    onet_decode decode;
    int beam, top;
    uint64_t seed;
    bool steps;
} search_options;

/* The sets of one request. */
typedef struct order_job {
    model_version *version;
    search_options search;
    onet_sets *sets;
    answer_room room; /* room.answers: the answers, [sets->count] */
    onet_status status;
    onet_error err;
    void (*done)(struct order_job *job); /* called by the batcher's thread, once */
    void *context;                       /* the caller's */
    double arrived;
    double cells; /* items^2 * beam, summed over the sets */
    struct order_job *next;
} order_job;

void order_job_free(order_job *job); /* frees what the job holds, not the job */

typedef struct batcher batcher;

typedef struct batcher_options {
    double wait; /* seconds */
    int threads;
    const char *kernels, *device;
} batcher_options;

typedef struct batcher_counts {
    size_t queued; /* requests waiting now */
    unsigned long long batches, requests, sets;
} batcher_counts;

onet_status batcher_new(batcher **b, model_slot *slot, const batcher_options *options, onet_error *err);
/* Call it after the last job is done. NULL is allowed. */
void batcher_free(batcher *b);
/* Queues the job, which must stay valid until the batcher has called job->done. */
void batcher_add(batcher *b, order_job *job);
/* Makes the workers free their orderers of versions of the model that have been replaced. */
void batcher_refresh(batcher *b);
batcher_counts batcher_count(batcher *b);

#endif
