/* Lets the network judge the orders of the rules, and takes the most probable one. A rule's order is whole,
 * and of several the network nearly always knows the better one; an order that it searches itself, step by
 * step, was worse on every split (experiments/pages). */
#include "tasks/layout/choose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/rng.h"
#include "ordernet_io.h"
#include "tasks/layout/features.h"
#include "tasks/layout/ways.h"

/* Judging an order takes a pass over the page, so a large page gets only a few orders and that of the usual
 * way. SHAKEN: how many copies of the page, a little askew, are judged as well. Boxes that move by
 * thousandths of the page's height change what the network sees of it; the mean over such copies changes
 * less. On a small page, nearly always of a book, these thousandths tell the order. */
enum { SMALL = 12, LARGE = 600, LARGE_WAYS = PAGE_WAY_RANKS, SHAKEN = 4 };

/* How much more probable than that of the usual way, which is the rule for books where nothing is known of
 * the title, another order must be, as a logarithm. Where two orders are about as probable the page is nearly
 * always of a book, and the rule is right more often than the network. From a few small pages of a book
 * the network learns by heart what differs from page to page: after fine-tuning the usual way must be
 * preferred more (experiments/pages). */
static const double PREFERENCE = 3, TUNED_PREFERENCE = 6;

/* Of the distortions, in heights of the page: the most skew, the deviation of the width and of each edge. */
static const double SKEW = 0.006, STRETCH = 0.1, NOISE = 0.001, THINNEST = 0.002;

/* The boxes of the page's regions a little askew, drawn by `draw`; whole [count] are the boxes as they are.
 */
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
    float *items; /* [n, width] */
    size_t n, width;
    int32_t *orders;         /* [count, n]: of the rules */
    size_t count, preferred; /* preferred: that of the usual way */
} judging;

/* The log-probabilities of the orders. */
static onet_status judge(const judging *j, double *logprob, onet_error *err) {
    onet_sets *sets = NULL;
    onet_status status = onet_sets_new(&sets, (int)j->width, err);
    for (size_t k = 0; k < j->count && !status; k++)
        status = onet_sets_append(sets, (int)j->n, (int)j->width, j->items, j->orders + k * j->n, err);
    if (!status) status = onet_orderer_score(j->orderer, sets, logprob, err);
    onet_sets_free(sets);
    return status;
}

/* Adds the rules' orders, without repetition. */
static onet_status add_rules(judging *j, int usual, const page *p, onet_error *err) {
    page_layout l;
    onet_status status = page_layout_make(&l, p, err);
    for (int k = 0; k < page_way_count() && !status; k++) {
        if (p->placed > LARGE && k >= LARGE_WAYS && k != usual) continue;
        int32_t *order = j->orders + j->count * j->n;
        status = page_way(k, &l, order, err);
        size_t same = 0;
        while (!status && same < j->count && memcmp(j->orders + same * j->n, order, j->n * sizeof *order))
            same++;
        if (k == usual) j->preferred = same;
        if (same == j->count) j->count++;
    }
    page_layout_free(&l);
    return status;
}

/* Judges the orders on the page as it is, then on shaken copies: plain [count], log-probabilities of the page
 * as it is, and their mean [count] over all. */
static onet_status judge_all(judging *j, page *p, double *plain, double *mean, onet_error *err) {
    page_box *whole = array_new((size_t)p->count, sizeof *whole);
    double *more = array_new(j->count, sizeof *more);
    int copies = p->placed > SMALL && p->placed <= LARGE ? SHAKEN : 0;
    onet_status status = whole && more ? ONET_OK : fail_memory(err, "the order of a page");
    for (int i = 0; i < p->count && !status; i++) whole[i] = p->regions[i].box;
    if (!status) status = judge(j, plain, err);
    for (size_t k = 0; k < j->count && !status; k++) mean[k] = plain[k] / (copies + 1);
    for (int draw = 0; draw < copies && !status; draw++) {
        shake(p, whole, draw);
        status = page_features(p, j->items, err);
        if (!status) status = judge(j, more, err);
        for (size_t k = 0; k < j->count && !status; k++) mean[k] += more[k] / (copies + 1);
    }
    for (int i = 0; i < p->count && whole; i++) p->regions[i].box = whole[i];
    free(whole);
    free(more);
    return status;
}

static double preference_of(const pages_style *style, const page *p) {
    bool learned_by_heart = style->tuned && p->placed <= SMALL && page_way_for_books(style->usual);
    return learned_by_heart ? TUNED_PREFERENCE : PREFERENCE;
}

/* The order that is taken. */
static size_t best_of(const judging *j, const double *mean, double preference) {
    size_t best = j->preferred;
    for (size_t k = 0; k < j->count; k++)
        if (k != j->preferred && mean[k] > mean[best] + (best == j->preferred ? preference : 0)) best = k;
    return best;
}

static onet_status choose(onet_orderer *orderer, const pages_style *style, page *p, double *logprob,
                          onet_error *err) {
    judging j = {.orderer = orderer, .n = (size_t)p->placed, .width = (size_t)page_feature_count()};
    size_t size, room = (size_t)page_way_count();
    if (!size_mul(j.n, j.width, &size)) return fail_memory(err, "the order of a page");
    j.items = array_new(size, sizeof *j.items);
    j.orders = array_new(j.n * room, sizeof *j.orders);
    int32_t *order = array_new(j.n, sizeof *order), *index = array_new(j.n, sizeof *index);
    double *plain = array_new(room, sizeof *plain), *mean = array_new(room, sizeof *mean);
    onet_status status = j.items && j.orders && order && index && plain && mean
                             ? page_features(p, j.items, err)
                             : fail_memory(err, "the order of a page");
    if (!status) status = add_rules(&j, style->usual, p, err);
    if (!status) status = judge_all(&j, p, plain, mean, err);
    if (!status) {
        size_t best = best_of(&j, mean, preference_of(style, p));
        if (style->judged) style->judged(style->context, j.orders, mean, j.count, j.n, j.preferred);
        if (logprob) *logprob = plain[best];
        page_placed(p, index);
        for (size_t t = 0; t < j.n; t++) order[t] = index[j.orders[best * j.n + t]];
        page_found(p, order);
    }
    free(j.items);
    free(j.orders);
    free(order);
    free(index);
    free(plain);
    free(mean);
    return status;
}

onet_status pages_choose(onet_orderer *orderer, const pages_style *style, page **pages, size_t count,
                         double *logprob, onet_error *err) {
    onet_status status = ONET_OK;
    for (size_t i = 0; i < count && !status; i++) {
        if (logprob) logprob[i] = 0;
        if (pages[i]->placed) status = choose(orderer, style, pages[i], logprob ? &logprob[i] : NULL, err);
    }
    return status;
}
