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

/* What the searched order must have per region: a log-probability of at least SURE, and so much more than the
 * best rule's order. Chosen on splits by document and by collection (experiments/pages). */
static const double MARGIN = 0.05, SURE = -0.03;

/* XY-cuts with all pairs of these gaps, and bands. Each is judged in a pass over the page: too large a page
 * has only a few. */
static const double row_gaps[] = {-0.003, 0, 0.003, -0.006, -0.001, 0.006},
                    column_gaps[] = {-0.003, 0, -0.01};
static const double bands[] = {0.5, 0.3, 2};
enum {
    ROW_GAPS = sizeof row_gaps / sizeof *row_gaps,
    COLUMN_GAPS = sizeof column_gaps / sizeof *column_gaps,
    CUTS = 2 * ROW_GAPS * COLUMN_GAPS,
    BANDS = sizeof bands / sizeof *bands,
    CANDIDATES = 1 + BANDS + CUTS,
    LARGE = 600,
    LARGE_CANDIDATES = 1 + BANDS + 4
};

static onet_status candidate(int k, const page_box *boxes, int n, int32_t *order, onet_error *err) {
    if (!k) return rule_order(RULE_TOP_DOWN, boxes, n, order, err);
    if (k <= BANDS) return rule_bands(bands[k - 1], boxes, n, order, err);
    k -= 1 + BANDS;
    xy_cut cut = {k % 2 == 0, row_gaps[k / 2 % ROW_GAPS], column_gaps[k / 2 / ROW_GAPS]};
    return rule_xy_cut(&cut, boxes, n, order, err);
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
    for (int k = 0; k < (n > LARGE ? LARGE_CANDIDATES : CANDIDATES) && !status; k++) {
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
    if (!status)
        status = onet_orderer_run(orderer, sets, &(onet_answer){.order = searched, .logprob = &found}, err);
    if (!status) status = candidates(p, orders, &count, err);
    if (!status) status = onet_sets_new(&rules, (int)width, err);
    for (int k = 0; k < count && !status; k++)
        status = onet_sets_append(rules, (int)n, (int)width, items, orders + (size_t)k * n, err);
    if (!status) status = onet_orderer_score(orderer, rules, judged, err);
    for (int k = 1; k < count && !status; k++)
        if (judged[k] > judged[best]) best = k;
    if (!status) {
        bool rule = !(found > SURE * (double)n && found - judged[best] > MARGIN * (double)n);
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
