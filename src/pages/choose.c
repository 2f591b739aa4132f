/* Lets the network search, and lets it judge the orders of the rules. A search is as good as the pages of
 * training are near: on a page unlike them each step may go wrong. A rule's order is whole; of several the
 * network nearly always knows the better one. So the order that was searched must be clearly more probable
 * than the best rule's. */
#include "pages/choose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "pages/features.h"
#include "pages/rules.h"

/* By how much per region the searched order's log-probability must be above the best rule's: chosen on the
 * training pages (experiments/pages). */
static const double MARGIN = 0.05;

static const xy_cut cuts[] = {
    {true, -0.006, -0.003}, {true, -0.003, -0.003}, {true, 0, -0.003},  {true, 0.003, 0},
    {true, -0.003, -0.01},  {true, 0.006, -0.01},   {false, -0.006, 0}, {false, -0.003, 0},
    {false, 0, 0},          {false, 0, -0.003},     {false, 0, -0.01},  {false, 0.003, 0},
};
static const double bands[] = {0.3, 0.5, 2};
enum {
    CUTS = sizeof cuts / sizeof *cuts,
    BANDS = sizeof bands / sizeof *bands,
    CANDIDATES = 1 + CUTS + BANDS
};

static onet_status candidate(int k, const page_box *boxes, int n, int32_t *order, onet_error *err) {
    if (!k) return rule_order(RULE_TOP_DOWN, boxes, n, order, err);
    if (k <= CUTS) return rule_xy_cut(&cuts[k - 1], boxes, n, order, err);
    return rule_bands(bands[k - 1 - CUTS], boxes, n, order, err);
}

/* The rules' orders of a page, without repetition: orders [CANDIDATES, n]; returns how many by *count. */
static onet_status candidates(const page *p, int32_t *orders, int *count, onet_error *err) {
    int n = p->placed;
    page_box *boxes = array_new((size_t)n, sizeof *boxes);
    int32_t *index = array_new((size_t)n, sizeof *index);
    onet_status status = boxes && index ? ONET_OK : fail_memory(err, "the boxes of a page");
    if (!status) page_placed(p, index);
    for (int i = 0; i < n && !status; i++) boxes[i] = p->regions[index[i]].box;
    *count = 0;
    for (int k = 0; k < CANDIDATES && !status; k++) {
        int32_t *order = orders + (size_t)*count * (size_t)n;
        status = candidate(k, boxes, n, order, err);
        bool seen = false;
        for (int j = 0; j < *count && !status; j++)
            seen = seen || !memcmp(orders + (size_t)j * (size_t)n, order, (size_t)n * sizeof *order);
        if (!status && !seen) ++*count;
    }
    free(boxes);
    free(index);
    return status;
}

/* The searched order and its log-probability, and the rules' orders and theirs. */
static onet_status search(onet_orderer *orderer, const page *p, onet_sets *sets, int32_t *order,
                          double *logprob, onet_error *err) {
    (void)p;
    onet_answer answer = {.order = order, .logprob = logprob};
    return onet_orderer_run(orderer, sets, &answer, err);
}

static onet_status choose(onet_orderer *orderer, page *p, double *logprob, onet_error *err) {
    size_t n = (size_t)p->placed, width = (size_t)page_feature_count(), size;
    if (!size_mul(n, width, &size)) return fail_memory(err, "the order of a page");
    onet_sets *sets = NULL, *rules = NULL;
    float *items = array_new(size, sizeof *items);
    int32_t *orders = array_new(n * (CANDIDATES + 1), sizeof *orders),
            *searched = array_new(n, sizeof *searched);
    int32_t *index = array_new(n, sizeof *index);
    double found, judged[CANDIDATES];

    int count = 0, best = 0;
    onet_status status = items && orders && searched && index ? page_features(p, items, err)
                                                              : fail_memory(err, "the order of a page");
    if (!status) status = onet_sets_from(&sets, 1, (int)n, (int)width, items, NULL, err);
    if (!status) status = search(orderer, p, sets, searched, &found, err);
    if (!status) status = candidates(p, orders, &count, err);
    if (!status) status = onet_sets_new(&rules, (int)width, err);
    for (int k = 0; k < count && !status; k++)
        status = onet_sets_append(rules, (int)n, (int)width, items, orders + (size_t)k * n, err);
    if (!status) status = onet_orderer_score(orderer, rules, judged, err);
    for (int k = 1; k < count && !status; k++)
        if (judged[k] > judged[best]) best = k;
    if (!status) {
        bool rule = !(found - judged[best] > MARGIN * (double)n);
        const int32_t *order = rule ? orders + (size_t)best * n : searched;
        if (logprob) *logprob = rule ? judged[best] : found;
        page_placed(p, index);
        for (size_t t = 0; t < n; t++) orders[(size_t)CANDIDATES * n + t] = index[order[t]];
        page_found(p, orders + (size_t)CANDIDATES * n);
    }
    onet_sets_free(sets);
    onet_sets_free(rules);
    free(items);
    free(orders);
    free(searched);
    free(index);
    return status;
}

onet_status pages_choose(onet_orderer *orderer, page **pages, size_t count, double *logprob,
                         onet_error *err) {
    onet_status status = ONET_OK;
    for (size_t i = 0; i < count && !status; i++) {
        if (logprob) logprob[i] = 0;
        if (pages[i]->placed) status = choose(orderer, pages[i], logprob ? &logprob[i] : NULL, err);
    }
    return status;
}
