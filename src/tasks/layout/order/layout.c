/* Computes the input of the rules from a page: scaled boxes, which regions lie in others, and separators. */
#include "tasks/layout/order/layout.h"

#include <math.h>
#include <stdlib.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/number.h"
#include "tasks/layout/order/features.h"

/* A region is a frame if at least two regions lie in it, with so much of its area together. */
static const double FILLED = 0.7;

/* Finds the outermost region that each region lies in: host [n]. Regions with skip [n] set are not hosts. */
static void find_hosts(const page_box *boxes, int n, const bool *skip, int32_t *host) {
    for (int i = 0; i < n; i++) {
        host[i] = -1;
        for (int j = 0; j < n && page_box_area(&boxes[i]) > 0; j++)
            if (!skip[j] && page_box_lies_in(&boxes[i], &boxes[j]) &&
                (host[i] < 0 || page_box_area(&boxes[j]) < page_box_area(&boxes[host[i]])))
                host[i] = j;
    }
    /* Hosts are larger than what lies in them, so that the chains end. */
    for (int i = 0; i < n; i++)
        while (host[i] >= 0 && host[host[i]] >= 0) host[i] = host[host[i]];
}

/* Finds the region that each region lies in, or -1: host [n]. A region in another that is itself in a third
 * belongs to the outermost. Regions that others fill, as a box around the columns of a page does, are frames:
 * frame [n] is the frame that each region lies in, or -1; a frame has itself and is not a host. */
static onet_status page_hosts(const page_box *boxes, int n, int32_t *host, int32_t *frame, onet_error *err) {
    bool *is_frame = array_new((size_t)n + 1, sizeof *is_frame);
    double *filled = array_new((size_t)n + 1, sizeof *filled);
    int *count = array_new((size_t)n + 1, sizeof *count);
    onet_status status = is_frame && filled && count ? ONET_OK : fail_memory(err, "the boxes of a page");
    if (!status) find_hosts(boxes, n, is_frame, host);
    for (int i = 0; i < n && !status; i++) {
        if (host[i] < 0) continue;
        filled[host[i]] += page_box_area(&boxes[i]);
        count[host[i]]++;
    }
    bool frames = false;
    for (int i = 0; i < n && !status; i++) {
        is_frame[i] = count[i] > 1 && filled[i] >= FILLED * page_box_area(&boxes[i]);
        frames = frames || is_frame[i];
    }
    for (int i = 0; i < n && !status; i++)
        frame[i] = is_frame[i] ? i : host[i] >= 0 && is_frame[host[i]] ? host[i] : -1;
    if (!status && frames) find_hosts(boxes, n, is_frame, host);
    free(is_frame);
    free(filled);
    free(count);
    return status;
}

double page_median(double *values, int n) {
    qsort(values, (size_t)n, sizeof *values, number_ascending);
    return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

/* A separator is a line if it is so many times longer than thick. A vertical one divides the page if it is at
 * least SHORTEST of the page's height long, a horizontal one if it is longer than a region is wide: shorter
 * ones stand between the paragraphs of a column (experiments/pages). */
static const double THIN = 3, SHORTEST = 0.05, OVER_COLUMNS = 1.3;

/* Reduces a separator to a line, on a page with these bounds and this median width of a region; false: it
 * divides nothing. */
static bool line_of(page_box *line, const page_box *separator, const page_box *all, double median_width) {
    double width = page_box_width(separator), height = page_box_height(separator);
    double x = (separator->x0 + separator->x1) / 2, y = (separator->y0 + separator->y1) / 2;
    *line = (page_box){fmax(separator->x0, all->x0), fmax(separator->y0, all->y0),
                       fmin(separator->x1, all->x1), fmin(separator->y1, all->y1)};
    if (height > THIN * width) {
        line->x0 = line->x1 = x;
        return x > all->x0 && x < all->x1 && page_box_height(line) >= SHORTEST * page_box_height(all);
    }
    if (width <= THIN * height) return false;
    line->y0 = line->y1 = y;
    return y > all->y0 && y < all->y1 && page_box_width(line) >= OVER_COLUMNS * median_width;
}

/* The layout is in heights of the page, from its upper left corner, and edges are multiples of this: what the
 * rules find does not depend on where the page lies and how large it is. */
static const double GRID = 1e-5;

static double snapped(double x, double from, double unit) {
    /* A little more than half, so that an edge between two multiples goes one way on all scales. */
    return GRID * floor((x - from) / unit / GRID + 0.5 + 1e-6);
}

static page_box snapped_box(const page_box *b, const page_box *all) {
    double unit = page_box_height(all) > 0 ? page_box_height(all) : 1;
    return (page_box){snapped(b->x0, all->x0, unit), snapped(b->y0, all->y0, unit),
                      snapped(b->x1, all->x0, unit), snapped(b->y1, all->y0, unit)};
}

onet_status page_layout_make(page_layout *l, const page *p, onet_error *err) {
    *l = (page_layout){.n = p->placed};
    l->boxes = array_new((size_t)p->count + 1, sizeof *l->boxes);
    l->kind = array_new((size_t)l->n + 1, sizeof *l->kind);
    l->host = array_new((size_t)l->n + 1, sizeof *l->host);
    l->frame = array_new((size_t)l->n + 1, sizeof *l->frame);
    int32_t *index = array_new((size_t)l->n + 1, sizeof *index);
    double *widths = array_new((size_t)l->n + 1, sizeof *widths);
    onet_status status = l->boxes && l->kind && l->host && l->frame && index && widths
                             ? ONET_OK
                             : fail_memory(err, "the boxes of a page");
    page_box all = page_box_none;
    if (!status) page_placed(p, index);
    for (int i = 0; i < l->n && !status; i++) {
        const page_box *b = &p->regions[index[i]].box;
        page_box_add(&all, b->x0, b->y0);
        page_box_add(&all, b->x1, b->y1);
    }
    for (int i = 0; i < l->n && !status; i++) {
        l->boxes[i] = snapped_box(&p->regions[index[i]].box, &all);
        l->kind[i] = p->regions[index[i]].kind;
        widths[i] = page_box_width(&l->boxes[i]);
    }
    double median_width = !status && l->n ? page_median(widths, l->n) : 0;
    page_box page_bounds = snapped_box(&all, &all);
    for (int i = 0; i < p->count && l->n && !status; i++)
        if (p->regions[i].kind == KIND_SEPARATOR && !p->regions[i].placed) {
            page_box separator = snapped_box(&p->regions[i].box, &all);
            l->lines += line_of(&l->boxes[l->n + l->lines], &separator, &page_bounds, median_width);
        }
    if (!status) status = page_hosts(l->boxes, l->n, l->host, l->frame, err);
    free(index);
    free(widths);
    if (status) page_layout_free(l);
    return status;
}

void page_layout_free(page_layout *l) {
    free(l->boxes);
    free(l->kind);
    free(l->host);
    free(l->frame);
    *l = (page_layout){0};
}
