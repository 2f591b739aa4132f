/* Computes the network's input: turns the regions of a page into the items of a set, with their features:
 * geometry, kind, the region that they lie in, and places under the rules. */
#include "tasks/layout/order/features.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "ordernet_io.h"
#include "tasks/layout/order/ways.h"

/* A region's place under a rule is given as a share of all places, and as points on circles of so many
 * places: which region follows another must show as clearly on a page of 300 regions as on one of three. */
static const double circles[] = {4, 12, 40};
enum {
    CIRCLES = sizeof circles / sizeof *circles,
    PLACE = 1 + 2 * CIRCLES,
    GEOMETRY = 12,
    KINDS = 4,
    INSIDE = 3,
    RANKED = GEOMETRY + KINDS + INSIDE + 1, /* 1: whether separators divide the page */
    FEATURES = RANKED + PAGE_WAY_RANKS * PLACE
};
static const double PI = 3.14159265358979323846;

int page_feature_count(void) {
    return FEATURES;
}

void page_placed(const page *p, int32_t *index) {
    int n = 0;
    for (int i = 0; i < p->count; i++)
        if (p->regions[i].placed) index[n++] = i;
}

static double positive(double x) {
    return x > 0 ? x : 1;
}

/* Fills table [n, PLACE], the features of each place under a rule. */
static void fill_places(float *table, int n) {
    for (int t = 0; t < n; t++) {
        *table++ = (float)t / (float)(n > 1 ? n - 1 : 1);
        for (int c = 0; c < CIRCLES; c++) {
            *table++ = (float)sin(2 * PI * t / circles[c]);
            *table++ = (float)cos(2 * PI * t / circles[c]);
        }
    }
}

/* Adds whether a region lies in another, its host, and how far right of and below the host's middle, and its
 * place in the order of each of the first PAGE_WAY_RANKS ways. */
static onet_status add_ranks(const page_layout *l, float *items, onet_error *err) {
    int32_t *order = array_new((size_t)l->n, sizeof *order);
    float *places = array_new((size_t)l->n * PLACE, sizeof *places);
    onet_status status = order && places ? ONET_OK : fail_memory(err, "the features of a page");
    if (!status) fill_places(places, l->n);
    for (int i = 0; i < l->n && !status; i++) {
        float *f = items + (size_t)i * FEATURES + GEOMETRY + KINDS;
        f[0] = l->host[i] >= 0;
        f[1] = f[2] = 0;
        f[INSIDE] = l->lines > 0;
        if (l->host[i] < 0) continue;
        const page_box *h = &l->boxes[l->host[i]], *b = &l->boxes[i];
        f[1] = (float)((b->x0 + b->x1 - h->x0 - h->x1) / positive(page_box_width(h)));
        f[2] = (float)((b->y0 + b->y1 - h->y0 - h->y1) / positive(page_box_height(h)));
    }
    for (int k = 0; k < PAGE_WAY_RANKS && !status; k++) {
        status = page_way(k, l, order, err);
        for (int t = 0; t < l->n && !status; t++)
            memcpy(items + (size_t)order[t] * FEATURES + RANKED + PLACE * k, places + (size_t)t * PLACE,
                   PLACE * sizeof *places);
    }
    free(order);
    free(places);
    return status;
}

onet_status page_features(const page *p, float *items, onet_error *err) {
    page_layout l;
    page_box all = page_box_none;
    int n = p->placed;
    if (n < 1) return ONET_OK;
    onet_status status = page_layout_make(&l, p, err);
    if (status) return status;
    double *widths = array_new((size_t)n, sizeof *widths);
    int32_t *index = array_new((size_t)n, sizeof *index);
    if (!widths || !index) status = fail_memory(err, "the features of a page");
    if (!status) page_placed(p, index);
    for (int i = 0; i < n && !status; i++) {
        page_box_add(&all, l.boxes[i].x0, l.boxes[i].y0);
        page_box_add(&all, l.boxes[i].x1, l.boxes[i].y1);
        widths[i] = page_box_width(&l.boxes[i]);
    }
    /* The unit is the height of the page. */
    double height = positive(page_box_height(&all)), wide = fmax(page_box_width(&all) / height, 1e-6);
    double middle = status ? 1 : fmax(page_median(widths, n) / height, 1e-6);
    for (int i = 0; i < n && !status; i++) {
        const page_box *b = &l.boxes[i];
        double width = page_box_width(b) / height, tall = page_box_height(b) / height;
        double x0 = (b->x0 - all.x0) / height / wide, x1 = (b->x1 - all.x0) / height / wide;
        double y0 = (b->y0 - all.y0) / height, y1 = (b->y1 - all.y0) / height;
        const double geometry[GEOMETRY] = {x0,
                                           y0,
                                           x1,
                                           y1,
                                           (x0 + x1) / 2,
                                           (y0 + y1) / 2,
                                           log(width / middle + 1e-3),
                                           log(tall + 1e-3),
                                           width / wide,
                                           fmin(wide, 10),
                                           log(n),
                                           middle / wide};
        float *f = items + (size_t)i * FEATURES;
        for (int k = 0; k < GEOMETRY; k++) f[k] = (float)geometry[k];
        for (int k = 0; k < KINDS; k++)
            f[GEOMETRY + k] = p->regions[index[i]].kind == (page_kind)(KIND_HEADING + k);
    }
    if (!status) status = add_ranks(&l, items, err);
    page_layout_free(&l);
    free(widths);
    free(index);
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
