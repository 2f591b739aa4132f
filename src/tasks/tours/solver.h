/* Solves the requests of /v1/tour in worker threads of its own, so that other requests do not wait for a long
 * search. */
#ifndef TOURS_SOLVER_H
#define TOURS_SOLVER_H

#include "app/models.h"
#include "tasks/tours/load.h"

typedef struct tour_job {
    model_version *version; /* of the model; only the method ordernet needs one */
    tsp_cities cities;
    onet_tsp_method method;
    onet_tsp_options options; /* without net and stop */
    onet_decode decode;
    int beam;
    bool quick;            /* takes a fraction of a second, so that it need not wait for long searches */
    int32_t *tour;         /* [all cities] */
    onet_tsp_proof *proof; /* [cities.count] */
    onet_status status;
    onet_error err;
    void (*done)(struct tour_job *job); /* called by a thread of the solver, once */
    void *context;                      /* the caller's */
    struct tour_job *next;
} tour_job;

void tour_job_free(tour_job *job); /* frees what the job holds, not the job */

typedef struct solver solver;

onet_status solver_new(solver **s, const char *kernels, onet_error *err);
/* Call it after the last job is done. NULL is allowed. */
void solver_free(solver *s);
/* Queues the job, which must stay valid until the solver has called job->done. */
void solver_add(solver *s, tour_job *job);
/* Returns the number of jobs that wait. */
size_t solver_queued(solver *s);
/* Ends searches with a time limit at once, with the best tours that they have. */
void solver_hurry(solver *s);

#endif
