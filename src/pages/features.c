/* From the regions of a page to the items of a set. */
#include "pages/features.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "pages/rules.h"

/* The rules whose ranks are features: XY-cuts with several gaps, since which of them is right differs from
 * title to title, and bands. */
static const xy_cut cuts[] = {
    {true, -0.003, -0.003}, {false, 0, 0},      {true, 0.003, 0},     {false, 0, -0.01},
    {true, -0.006, -0.006}, {false, -0.006, 0}, {true, 0.006, -0.01}, {false, -0.003, 0},
};
static const double bands[] = {0.5, 0.3, 2};
enum {
    CUTS = sizeof cuts / sizeof *cuts,
    BANDS = sizeof bands / sizeof *bands,
    RANKS = 1 + CUTS + BANDS, /* top-down is the first */
    SHAPE = 12,
    KINDS = 4,
    FEATURES = SHAPE + KINDS + 2 * RANKS
};

int page_feature_count(void) {
    return FEATURES;
}

void page_placed(const page *p, int32_t *index) {
    int n = 0;
    for (int i = 0; i < p->count; i++)
        if (p->regions[i].placed) index[n++] = i;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int n) {
    qsort(values, (size_t)n, sizeof *values, by_value);
    return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

/* The place that each rule gives a region, as a share of all and in steps. */
static onet_status add_ranks(const page_box *boxes, int n, float *items, int32_t *order, onet_error *err) {
    onet_status status = ONET_OK;
    for (int k = 0; k < RANKS && !status; k++) {
        if (!k)
            status = rule_order(RULE_TOP_DOWN, boxes, n, order, err);
        else if (k <= CUTS)
            status = rule_xy_cut(&cuts[k - 1], boxes, n, order, err);
        else
            status = rule_bands(bands[k - 1 - CUTS], boxes, n, order, err);
        for (int t = 0; t < n && !status; t++) {
            float *f = items + (size_t)order[t] * FEATURES + SHAPE + KINDS + 2 * k;
            f[0] = (float)t / (float)(n > 1 ? n - 1 : 1);
            f[1] = (float)t / 20;
        }
    }
    return status;
}

onet_status page_features(const page *p, float *items, onet_error *err) {
    int n = p->placed;
    if (n < 1) return ONET_OK;
    page_box *boxes = array_new((size_t)n, sizeof *boxes), all = page_box_none;
    double *widths = array_new((size_t)n, sizeof *widths);
    int32_t *order = array_new((size_t)n, sizeof *order);
    onet_status status = boxes && widths && order ? ONET_OK : fail_memory(err, "the features of a page");
    if (!status) page_placed(p, order);
    for (int i = 0; i < n && !status; i++) {
        const page_box *b = &p->regions[order[i]].box;
        page_box_add(&all, b->x0, b->y0);
        page_box_add(&all, b->x1, b->y1);
    }
    double height = page_box_height(&all) > 0 ? page_box_height(&all) : 1;
    for (int i = 0; i < n && !status; i++) { /* heights of the page are the unit */
        const page_box *b = &p->regions[order[i]].box;
        boxes[i] = (page_box){(b->x0 - all.x0) / height, (b->y0 - all.y0) / height, (b->x1 - all.x0) / height,
                              (b->y1 - all.y0) / height};
        widths[i] = page_box_width(&boxes[i]);
    }
    double wide = fmax(page_box_width(&all) / height, 1e-6);
    double middle = status ? 1 : fmax(median(widths, n), 1e-6);
    for (int i = 0; i < n && !status; i++) {
        const page_box *b = &boxes[i];
        double width = page_box_width(b), x0 = b->x0 / wide, x1 = b->x1 / wide;
        const double shape[SHAPE] = {x0,
                                     b->y0,
                                     x1,
                                     b->y1,
                                     (x0 + x1) / 2,
                                     (b->y0 + b->y1) / 2,
                                     log(width / middle + 1e-3),
                                     log(page_box_height(b) + 1e-3),
                                     width / wide,
                                     fmin(wide, 10),
                                     log(n),
                                     middle / wide};
        float *f = items + (size_t)i * FEATURES;
        for (int k = 0; k < SHAPE; k++) f[k] = (float)shape[k];
        for (int k = 0; k < KINDS; k++)
            f[SHAPE + k] = p->regions[order[i]].kind == (page_kind)(KIND_HEADING + k);
    }
    if (!status) status = add_ranks(boxes, n, items, order, err);
    free(boxes);
    free(widths);
    free(order);
    return status;
}

onet_status page_append(onet_sets *sets, const page *p, bool with_order, onet_error *err) {
    size_t size;
    int n = p->placed;
    float *items = size_mul((size_t)n, FEATURES, &size) ? array_new(size + 1, sizeof *items) : NULL;
    int32_t *order = array_new((size_t)n + 1, sizeof *order);
    onet_status status =
        items && order ? page_features(p, items, err) : fail_memory(err, "the features of a page");
    int item = 0;
    for (int i = 0; i < p->count && !status; i++)
        if (p->regions[i].placed) {
            if (with_order) order[p->regions[i].given] = item;
            item++;
        }
    if (!status) status = onet_sets_append(sets, n, FEATURES, items, with_order ? order : NULL, err);
    free(items);
    free(order);
    return status;
}
