/* Finds the way (rule with parameters) that orders the pages of a title (book or newspaper) best, and whether
 * they are read across what divides them, by counting on corrected pages; and the best way for a single page.
 * For example, whether a running title is read before the page number beside it differs from book to book,
 * and the boxes of a page do not show it. A network that is fine-tuned on a few small pages memorises them;
 * counting is right more often (experiments/pages). */
#include "tasks/layout/usual_way.h"

#include <stdlib.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "tasks/layout/order/features.h"
#include "tasks/layout/order/ways.h"

/* Another way must be right on CLEARLY more pages than the rule of gutters, and on one more for every ONE_IN
 * pages: some pages of every title are exceptions. */
enum { CLEARLY = 2, ONE_IN = 50 };

/* Pages of a title count as read across what divides them if at least CROSSED of them are, and at least one
 * in CROSSED_ONE_IN. */
enum { CROSSED = 2, CROSSED_ONE_IN = 10 };

/* What a page needs to try its ways. */
typedef struct trial {
    const page *p;
    page_layout layout;
    int32_t *index; /* [n]: the placed regions */
    int32_t *order; /* [n]: of the way that is tried */
} trial;

static void trial_end(trial *t) {
    page_layout_free(&t->layout);
    free(t->index);
    free(t->order);
}

static onet_status trial_begin(trial *t, const page *p, onet_error *err) {
    *t = (trial){.p = p};
    onet_status status = page_layout_make(&t->layout, p, err);
    if (status) return status;
    t->index = array_new((size_t)p->placed + 1, sizeof *t->index);
    t->order = array_new((size_t)p->placed + 1, sizeof *t->order);
    if (t->index && t->order) {
        page_placed(p, t->index);
        return ONET_OK;
    }
    trial_end(t);
    return fail_memory(err, "the orders");
}

/* Tries a way; *right: how many regions it puts directly after the right one, all but the first if it finds
 * the given order. */
static onet_status try_way(trial *t, int way, int *right, onet_error *err) {
    onet_status status = page_way(way, &t->layout, t->order, err);
    *right = 0;
    for (int k = 0; k < t->layout.n && !status; k++) {
        t->order[k] = t->index[t->order[k]];
        *right += k && t->p->regions[t->order[k]].given == t->p->regions[t->order[k - 1]].given + 1;
    }
    return status;
}

onet_status pages_usual_way(int *way, page **pages, size_t count, onet_error *err) {
    size_t *right = array_new((size_t)page_way_count(), sizeof *right);
    onet_status status = right ? ONET_OK : fail_memory(err, "the orders");
    *way = PAGE_WAY_GUTTERS;
    for (size_t i = 0; i < count && !status; i++) {
        trial t;
        status = trial_begin(&t, pages[i], err);
        if (status) break;
        for (int k = 0; k < page_way_count() && !status; k++) {
            int neighbours;
            status = try_way(&t, k, &neighbours, err);
            right[k] += !status && neighbours == pages[i]->placed - 1;
        }
        trial_end(&t);
    }
    size_t clearly = right && !status ? right[PAGE_WAY_GUTTERS] + CLEARLY + count / ONE_IN : 0;
    for (int k = 0; k < page_way_count() && !status; k++)
        if (right[k] > right[*way] && right[k] >= clearly) *way = k;
    free(right);
    return status;
}

onet_status pages_cross(bool *cross, page **pages, size_t count, onet_error *err) {
    size_t crossed = 0;
    onet_status status = ONET_OK;
    for (size_t i = 0; i < count && !status; i++) {
        trial t;
        page_divisions d = {0};
        status = trial_begin(&t, pages[i], err);
        if (status) break;
        status = page_divisions_find(&d, &t.layout, err);
        for (int k = 0; k < t.layout.n && !status; k++) t.order[k] = pages[i]->regions[t.index[k]].given;
        crossed += !status && !page_divisions_kept(&d, PAGE_WAY_GUTTERS, t.order);
        page_divisions_free(&d);
        trial_end(&t);
    }
    *cross = crossed >= CROSSED && crossed * CROSSED_ONE_IN >= count;
    return status;
}

onet_status page_best_way(page *p, onet_error *err) {
    trial t;
    int most = -1;
    onet_status status = trial_begin(&t, p, err);
    if (status) return status;
    for (int k = 0; k < page_way_count() && !status; k++) {
        int neighbours;
        status = try_way(&t, k, &neighbours, err);
        if (status || neighbours <= most) continue;
        most = neighbours;
        page_found(p, t.order);
    }
    trial_end(&t);
    return status;
}
