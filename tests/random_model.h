/* Test helper: makes networks with random weights, random sets and their answers, for tests of properties
 * that hold for any weights. */
#ifndef TESTS_RANDOM_MODEL_H
#define TESTS_RANDOM_MODEL_H

#include <stdlib.h>
#include <string.h>

#include "engine/base/rng.h"
#include "engine/data/sets.h"
#include "engine/model/generated.h"
#include "engine/model/model.h"
#include "unit.h"

static const onet_settings nets[] = {
    {2, 4, 128, 16, ONET_POOL_MAX, 4, 16, 0, 0, {0}},
    {3, 2, 20, 5, ONET_POOL_MEAN, 3, 7, 0, 0, {0}},
    {1, 1, 16, 16, ONET_POOL_MAX, 2, 40, 0, 0, {0}},
    {2, 2, 24, 8, ONET_POOL_MAX, 2, 9, 1, 0, {0}},
};
enum { NETS = sizeof nets / sizeof *nets };

static inline void *need(void *p) {
    assert_non_null(p);
    return p;
}

static inline onet_model *model_of(const onet_settings *s, uint64_t seed) {
    onet_model *m;
    onet_error err;
    assert_int_equal(model_new(&m, s, &err), ONET_OK);
    generated_theta(&m->sh, seed, m->theta);
    return m;
}

static inline onet_sets *random_sets(int width, int count, int low, int high, uint64_t seed) {
    onet_sets *sets;
    onet_error err;
    rng r;
    rng_seed(&r, seed, 0);
    assert_int_equal(sets_new(&sets, width, &err), ONET_OK);
    for (int s = 0; s < count; s++) {
        int n = low + (int)rng_below(&r, (uint64_t)(high - low + 1));
        float *x = need(malloc((size_t)n * width * sizeof *x));
        int32_t *y = need(malloc((size_t)n * sizeof *y));
        for (int i = 0; i < n * width; i++) x[i] = (float)(2 * rng_uniform(&r) - 1);
        for (int i = 0; i < n; i++) y[i] = i;
        for (int i = n - 1; i > 0; i--) {
            int j = (int)rng_below(&r, (uint64_t)i + 1);
            int32_t swap = y[i];
            y[i] = y[j];
            y[j] = swap;
        }
        assert_int_equal(sets_append(sets, (size_t)n, width, x, y, &err), ONET_OK);
        free(x);
        free(y);
    }
    return sets;
}

typedef struct result {
    onet_answer *answer;
    int32_t *order;
    double *logprob;
    float *step;
    int top;
} result;

static inline result run(const onet_model *m, const onet_sets *sets, onet_order_options o) {
    o.size = sizeof o;
    onet_orderer *orderer;
    onet_error err;
    size_t items = sets->start[sets->count];
    result r = {.top = o.top ? o.top : 1};
    r.answer = need(calloc(sets->count, sizeof *r.answer));
    r.order = need(calloc(items * (size_t)r.top, sizeof *r.order));
    r.step = need(calloc(items * (size_t)r.top, sizeof *r.step));
    r.logprob = need(calloc(sets->count * (size_t)r.top, sizeof *r.logprob));
    for (size_t s = 0; s < sets->count; s++)
        r.answer[s] = (onet_answer){.order = r.order + sets->start[s] * (size_t)r.top,
                                    .step = r.step + sets->start[s] * (size_t)r.top,
                                    .logprob = r.logprob + s * (size_t)r.top};
    assert_int_equal(onet_orderer_new(&orderer, m, &o, &err), ONET_OK);
    assert_int_equal(onet_orderer_run(orderer, sets, r.answer, &err), ONET_OK);
    onet_orderer_free(orderer);
    return r;
}

static inline void result_free(result *r) {
    free(r->answer);
    free(r->order);
    free(r->logprob);
    free(r->step);
}

static inline double *scores(const onet_model *m, const onet_sets *sets) {
    onet_orderer *orderer;
    onet_error err;
    double *p = need(malloc(sets->count * sizeof *p));
    assert_int_equal(onet_orderer_new(&orderer, m, NULL, &err), ONET_OK);
    assert_int_equal(onet_orderer_score(orderer, sets, p, &err), ONET_OK);
    onet_orderer_free(orderer);
    return p;
}

/* Steps to the next permutation in lexicographic order. */
static inline int next_order(int32_t *v, int n) {
    int i = n - 2, j = n - 1;
    while (i >= 0 && v[i] > v[i + 1]) i--;
    if (i < 0) return 0;
    while (v[j] < v[i]) j--;
    int32_t swap = v[i];
    v[i] = v[j];
    v[j] = swap;
    for (i++, j = n - 1; i < j; i++, j--) {
        swap = v[i];
        v[i] = v[j];
        v[j] = swap;
    }
    return 1;
}

#endif
