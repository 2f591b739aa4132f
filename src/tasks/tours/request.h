/* Requests for tours: /v1/tour. The statuses are those of serve/request.h. */
#ifndef SERVE_TOUR_H
#define SERVE_TOUR_H

#include "front/serve/request.h"
#include "tasks/tours/solver.h"

typedef struct tour_request {
    tour_job job;
    const model_slot *slot; /* NULL: no model is used */
} tour_request;

/* Changes the body, and keeps nothing of it. */
onet_status tour_request_parse(tour_request *r, models *m, const request_limits *limits, char *body,
                               size_t length, onet_error *err);
void tour_request_free(tour_request *r);
/* The answers of a job that is done with status ONET_OK. */
void tour_request_answer(const tour_request *r, text *t);

#endif
