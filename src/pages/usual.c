/* The way that a title is usually read, counted on corrected pages. Which is read first of a running title
 * and the page number beside it, for one, differs from book to book, and the boxes of a page do not tell it.
 * A network that is fine-tuned on a few small pages learns single pages by heart; the count is right more
 * often (experiments/pages). */
#include "pages/usual.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "pages/features.h"
#include "pages/ways.h"

/* On so many more pages than the rule for books must another way be right: some pages of every title are read
 * differently from its others. */
enum { CLEARLY = 2 };

/* Counts for each way whether it finds the given order of a page: right [page_way_count()]. */
static onet_status count_page(size_t *right, const page *p, onet_error *err) {
    page_layout l;
    onet_status status = page_layout_make(&l, p, err);
    if (status) return status;
    int32_t *index = array_new((size_t)l.n + 1, sizeof *index);
    int32_t *order = array_new((size_t)l.n + 1, sizeof *order);
    if (!index || !order) status = fail_memory(err, "the orders");
    if (!status) page_placed(p, index);
    for (int k = 0; k < page_way_count() && !status; k++) {
        status = page_way(k, &l, order, err);
        int t = 0;
        while (!status && t < l.n && p->regions[index[order[t]]].given == t) t++;
        right[k] += !status && t == l.n;
    }
    page_layout_free(&l);
    free(index);
    free(order);
    return status;
}

onet_status pages_usual_way(int *way, page **pages, size_t count, onet_error *err) {
    size_t *right = array_new((size_t)page_way_count(), sizeof *right);
    onet_status status = right ? ONET_OK : fail_memory(err, "the orders");
    *way = 0;
    for (size_t i = 0; i < count && !status; i++) status = count_page(right, pages[i], err);
    for (int k = 1; k < page_way_count() && !status; k++)
        if (right[k] > right[*way] && right[k] >= right[0] + CLEARLY) *way = k;
    free(right);
    return status;
}
