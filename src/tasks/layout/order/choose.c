/* Predicts a page's order and how certain it is: of the rules' orders that keep to the divisions of the page,
 * chooses the one most probable to the network, with a preference for the rule that is usual for the title;
 * on small and on huge pages that rule alone decides. Also reads what a model knows of its title. The network
 * nearly always recognises the better one of several complete orders; orders that it searched itself, step by
 * step, were worse on every split (experiments/pages). */
#include "tasks/layout/order/choose.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/rng.h"
#include "engine/decode/orderer.h"
#include "tasks/layout/order/features.h"
#include "tasks/layout/order/ways.h"

/* Scoring an order takes a pass over the page, so on a page of over LARGE regions only LARGE_WAYS ways are
 * scored, and a HUGE_PAGE, far larger than those of training, gets the order of the usual way. SHAKEN: how
 * many copies of a page of over PAGE_VARIED and at most LARGE regions, a little askew, are scored as well. A
 * change of a thousandth of the height can change the network's answer; the mean over such copies changes
 * less. */
enum { LARGE = 600, HUGE_PAGE = 1500, LARGE_WAYS = PAGE_WAY_RANKS, SHAKEN = 4 };

/* How much more probable than that of the usual way another order must be, as a logarithm. Where two orders
 * are about as probable the rule is right more often than the network (experiments/pages). On plain layouts
 * the rule nearly always is right, and so is a way that corrected pages have shown to be usual for the title.
 */
static const double PREFERENCE = 3, PREFERENCE_SHOWN = 8;

/* The confidence that an order is right to the last region is a logistic function of two inputs: the logit of
 * the order's share in the probability of all orders tried, the PREFERENCE included, and the logarithm of the
 * number of regions. It is SAME if all ways agree. Fitted on collections that the networks had not seen,
 * where it is calibrated (experiments/pages). */
static const double SURE = 1.936, SURE_LOGIT = 0.18, SURE_REGIONS = -0.83, SAME = 0.97;

/* Distortions, in heights of the page: the largest skew, the deviation of the width and of each edge. */
static const double SKEW = 0.006, STRETCH = 0.1, NOISE = 0.001, THINNEST = 0.002;

/* Sets the boxes of the page's regions a little askew, at random by `draw`; whole [count]: the boxes as they
 * are. */
static void shake(page *p, const page_box *whole, int draw) {
    page_box all = page_box_none;
    for (int i = 0; i < p->count; i++)
        if (p->regions[i].placed) {
            page_box_add(&all, whole[i].x0, whole[i].y0);
            page_box_add(&all, whole[i].x1, whole[i].y1);
        }
    double unit = page_box_height(&all), x = (all.x0 + all.x1) / 2, y = (all.y0 + all.y1) / 2;
    rng r;
    rng_seed(&r, 7, (uint64_t)draw);
    double skew = SKEW * (2 * rng_uniform(&r) - 1), stretch = exp(STRETCH * rng_normal(&r)),
           noise = NOISE * unit;
    for (int i = 0; i < p->count; i++) {
        page_box *b = &p->regions[i].box, w = whole[i];
        double dx = -skew * ((w.y0 + w.y1) / 2 - y), dy = skew * ((w.x0 + w.x1) / 2 - x);
        b->x0 = stretch * (w.x0 + dx + noise * rng_normal(&r));
        b->x1 = fmax(stretch * (w.x1 + dx + noise * rng_normal(&r)), b->x0 + THINNEST * unit);
        b->y0 = w.y0 + dy + noise * rng_normal(&r);
        b->y1 = fmax(w.y1 + dy + noise * rng_normal(&r), b->y0 + THINNEST * unit);
    }
}

/* What is judged: a page's items, n of them, and its orders. */
typedef struct judging {
    onet_orderer *orderer;
    size_t n, width;         /* width: features per item */
    int32_t *orders;         /* [count, n]: of the rules */
    bool *crosses;           /* [count]: the order crosses a division of the page */
    size_t count, preferred; /* preferred: that of the usual way */
} judging;

/* Adds the rules' orders, without repetition. An order that crosses a division of the page is left out, or
 * only marked if `judged` is to be called, unless it is that of the usual way or corrected pages of the title
 * are read across divisions. */
static onet_status add_rules(judging *j, const pages_style *style, const page *p, onet_error *err) {
    page_layout l;
    page_divisions d = {0};
    int usual = style->usual;
    int32_t *place = array_new(j->n, sizeof *place);
    onet_status status = page_layout_make(&l, p, err);
    if (!status) status = place ? page_divisions_find(&d, &l, err) : fail_memory(err, "the order of a page");
    for (int k = 0; k < page_way_count() && !status; k++) {
        if (p->placed > LARGE && k >= LARGE_WAYS && k != usual) continue;
        int32_t *order = j->orders + j->count * j->n;
        status = page_way(k, &l, order, err);
        for (size_t t = 0; t < j->n && !status; t++) place[order[t]] = (int32_t)t;
        bool crosses = !status && k != usual && !style->crosses && !page_divisions_kept(&d, k, place);
        if (crosses && !style->judged) continue;
        size_t same = 0;
        while (!status && same < j->count && memcmp(j->orders + same * j->n, order, j->n * sizeof *order))
            same++;
        if (status) break;
        if (k == usual) j->preferred = same;
        if (same == j->count) j->crosses[j->count++] = true;
        j->crosses[same] = j->crosses[same] && crosses;
    }
    page_divisions_free(&d);
    page_layout_free(&l);
    free(place);
    return status;
}

/* Scores the orders on the page as it is and on shaken copies: mean [count] of their log-probabilities. */
static onet_status judge_all(judging *j, page *p, double *mean, onet_error *err) {
    int copies = p->placed > PAGE_VARIED && p->placed <= LARGE ? SHAKEN : 0;
    size_t all = (size_t)copies + 1, one = j->n * j->width;
    page_box *whole = array_new((size_t)p->count, sizeof *whole);
    double *logprob = array_new(all * j->count, sizeof *logprob);
    float *items = array_new(all * one, sizeof *items);
    onet_status status = whole && logprob && items ? ONET_OK : fail_memory(err, "the order of a page");
    for (int i = 0; i < p->count && !status; i++) whole[i] = p->regions[i].box;
    for (int copy = 0; copy <= copies && !status; copy++) {
        if (copy) shake(p, whole, copy - 1);
        status = page_features(p, items + (size_t)copy * one, err);
    }
    for (int i = 0; i < p->count && whole; i++) p->regions[i].box = whole[i];
    if (!status)
        status = orderer_score_orders(j->orderer, items, (int)all, (int)j->n, j->orders, (int)j->count,
                                      logprob, err);
    for (size_t k = 0; k < j->count && !status; k++) {
        mean[k] = 0;
        for (size_t copy = 0; copy < all; copy++) mean[k] += logprob[copy * j->count + k] / (copies + 1);
    }
    free(whole);
    free(logprob);
    free(items);
    return status;
}

static double preference_of(const pages_style *style, const page *p) {
    if (p->placed <= (style->tuned ? PAGE_SMALL_TUNED : PAGE_SMALL)) return HUGE_VAL;
    return style->usual == PAGE_WAY_GUTTERS ? PREFERENCE : PREFERENCE_SHOWN;
}

/* Returns the number of the order to take. */
static size_t best_of(const judging *j, const double *mean, double preference) {
    size_t best = j->preferred;
    for (size_t k = 0; k < j->count; k++)
        if (k != j->preferred && !j->crosses[k] &&
            mean[k] > mean[best] + (best == j->preferred ? preference : 0))
            best = k;
    return best;
}

/* Returns the confidence in order `best` of those that were judged. */
static double confidence_in(const judging *j, const double *mean, size_t best) {
    double all = 0, own = mean[best] + (best == j->preferred ? PREFERENCE : 0);
    size_t tried = 0;
    for (size_t k = 0; k < j->count; k++) {
        if (j->crosses[k]) continue;
        tried++;
        all += exp(mean[k] + (k == j->preferred ? PREFERENCE : 0) - own);
    }
    if (tried < 2) return SAME;
    double share = fmin(fmax(1 / all, 0.001), 0.999);
    return 1 / (1 + exp(-SURE - SURE_LOGIT * log(share / (1 - share)) - SURE_REGIONS * log((double)j->n)));
}

typedef struct standing {
    const page_region *region;
    int32_t index;
} standing;

static int by_place(const void *a, const void *b) {
    const standing *s = a, *t = b;
    const page_region *x = s->region, *y = t->region;
    const double p[] = {x->box.y0, x->box.x0, x->box.y1, x->box.x1, x->kind},
                 q[] = {y->box.y0, y->box.x0, y->box.y1, y->box.x1, y->kind};
    for (size_t k = 0; k < sizeof p / sizeof *p; k++)
        if (p[k] != q[k]) return p[k] < q[k] ? -1 : 1;
    return (s->index > t->index) - (s->index < t->index);
}

/* Copies the page with its regions sorted by place; index [count]: where each stood. What is found
 * then does not depend on how the regions stand in the file. The copy shares all but the list of its regions.
 */
static onet_status sorted_copy(page *copy, int32_t *index, const page *p, onet_error *err) {
    *copy = *p;
    copy->regions = array_new((size_t)p->count, sizeof *copy->regions);
    standing *all = array_new((size_t)p->count, sizeof *all);
    if (!copy->regions || !all) {
        free(all);
        return fail_memory(err, "the order of a page");
    }
    for (int i = 0; i < p->count; i++) all[i] = (standing){&p->regions[i], i};
    qsort(all, (size_t)p->count, sizeof *all, by_place);
    for (int i = 0; i < p->count; i++) {
        index[i] = all[i].index;
        copy->regions[i] = *all[i].region;
    }
    free(all);
    return ONET_OK;
}

/* Gives the judged orders to style->judged; sorted [n] and index [count] lead from an item to its region. */
static onet_status give_orders(const pages_style *style, const judging *j, const double *mean, const page *p,
                               const int32_t *sorted, const int32_t *index, onet_error *err) {
    int32_t *number = array_new((size_t)p->count, sizeof *number),
            *orders = array_new(j->n * j->count, sizeof *orders);
    page_alternative *all = array_new(j->count, sizeof *all);
    bool enough = number && orders && all;
    for (int i = 0, placed = 0; i < p->count && enough; i++) number[i] = p->regions[i].placed ? placed++ : -1;
    for (size_t k = 0; k < j->n * j->count && enough; k++) orders[k] = number[index[sorted[j->orders[k]]]];
    for (size_t k = 0; k < j->count && enough; k++)
        all[k] = (page_alternative){orders + k * j->n, mean[k], j->crosses[k]};
    if (enough) style->judged(style->context, all, j->count, j->n, j->preferred);
    free(number);
    free(orders);
    free(all);
    return enough ? ONET_OK : fail_memory(err, "the orders of a page");
}

/* Orders a page by the usual way, without the network. */
static onet_status take_usual(const pages_style *style, page *p, onet_error *err) {
    page_layout l;
    int32_t *order = array_new((size_t)p->placed, sizeof *order),
            *index = array_new((size_t)p->placed, sizeof *index);
    onet_status status =
        order && index ? page_layout_make(&l, p, err) : fail_memory(err, "the order of a page");
    if (!status) {
        status = page_way(style->usual, &l, order, err);
        page_placed(p, index);
        for (int t = 0; t < p->placed && !status; t++) order[t] = index[order[t]];
        if (!status) page_found(p, order);
        page_layout_free(&l);
    }
    free(order);
    free(index);
    return status;
}

static onet_status choose(onet_orderer *orderer, const pages_style *style, page *p, double *confidence,
                          onet_error *err) {
    judging j = {.orderer = orderer, .n = (size_t)p->placed, .width = (size_t)page_feature_count()};
    size_t room = (size_t)page_way_count();
    page copy = {0};
    j.orders = array_new(j.n * room, sizeof *j.orders);
    j.crosses = array_new(room, sizeof *j.crosses);
    int32_t *order = array_new(j.n, sizeof *order), *sorted = array_new(j.n, sizeof *sorted);
    int32_t *index = array_new((size_t)p->count, sizeof *index);
    double *mean = array_new(room, sizeof *mean);
    onet_status status = j.orders && j.crosses && order && sorted && index && mean
                             ? sorted_copy(&copy, index, p, err)
                             : fail_memory(err, "the order of a page");
    if (!status) status = add_rules(&j, style, &copy, err);
    if (!status && (j.count > 1 || style->judged)) status = judge_all(&j, &copy, mean, err);
    if (!status) page_placed(&copy, sorted);
    if (!status && style->judged) status = give_orders(style, &j, mean, p, sorted, index, err);
    if (!status) {
        size_t best = best_of(&j, mean, preference_of(style, p));
        if (confidence) *confidence = confidence_in(&j, mean, best);
        for (size_t t = 0; t < j.n; t++) order[t] = index[sorted[j.orders[best * j.n + t]]];
        page_found(p, order);
    }
    free(copy.regions);
    free(j.orders);
    free(j.crosses);
    free(order);
    free(sorted);
    free(index);
    free(mean);
    return status;
}

onet_status pages_style_of(pages_style *style, const onet_model *model, onet_error *err) {
    const char *usual = onet_model_record(model, PAGES_USUAL_KEY);
    *style = (pages_style){.tuned = onet_model_record(model, "from.sha256") != NULL,
                           .crosses = onet_model_record(model, PAGES_CROSSES_KEY) != NULL,
                           .usual = usual ? page_way_named(usual) : PAGE_WAY_GUTTERS};
    if (style->usual >= 0) return ONET_OK;
    return fail(
        err, ONET_BAD,
        "the model orders pages by the rule '%s', which this version does not know; use a newer OrderNet",
        usual);
}

onet_status pages_choose(onet_orderer *orderer, const pages_style *style, page **pages, size_t count,
                         double *confidence, onet_error *err) {
    onet_status status = ONET_OK;
    for (size_t i = 0; i < count && !status; i++) {
        page *p = pages[i];
        if (confidence) confidence[i] = 0;
        if (!p->placed) continue;
        bool usual = !orderer || p->placed > HUGE_PAGE ||
                     (isinf(preference_of(style, p)) && !confidence && !style->judged);
        status = usual ? take_usual(style, p, err)
                       : choose(orderer, style, p, confidence ? &confidence[i] : NULL, err);
    }
    return status;
}
