/* Makes variants of pages: what other segmentations, crops and scans of such a page would look like. The
 * order of two regions does not depend on the other regions, so that what is left keeps its order. */
#include "pages/augment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* Lengths are in heights of the page's text. */
static const double ALIGNED = 0.02, SPLIT_HEIGHT = 0.06, MOST_SKEW = 0.012, NOISE = 0.0015;

typedef struct piece {
    page_box box;
    page_kind kind;
} piece;

/* Whether b continues the column of a directly below it. */
static bool continues(const piece *a, const piece *b) {
    double gap = b->box.y0 - a->box.y1;
    return a->kind == b->kind && fabs(a->box.x0 - b->box.x0) < ALIGNED &&
           fabs(a->box.x1 - b->box.x1) < ALIGNED && gap > -ALIGNED / 2 && gap < ALIGNED;
}

/* Joins and divides paragraphs of pieces [n] into out; returns their number. */
static int resegment(const piece *in, int n, piece *out, rng *r) {
    double share = 0.4 * rng_uniform(r);
    int count = 0;
    for (int i = 0; i < n; i++) {
        const page_box *b = &in[i].box;
        if (count && rng_uniform(r) < share && continues(&out[count - 1], &in[i])) {
            page_box_add(&out[count - 1].box, b->x0, b->y0);
            page_box_add(&out[count - 1].box, b->x1, b->y1);
        } else if (rng_uniform(r) < share / 2 && page_box_height(b) > SPLIT_HEIGHT &&
                   in[i].kind == KIND_TEXT) {
            double y = b->y0 + page_box_height(b) * (0.2 + 0.6 * rng_uniform(r));
            out[count++] = (piece){{b->x0, b->y0, b->x1, y - 0.001}, in[i].kind};
            out[count++] = (piece){{b->x0, y + 0.001, b->x1, b->y1}, in[i].kind};
        } else
            out[count++] = in[i];
    }
    return count;
}

/* Keeps the pieces whose middle is in a window of the page, or all where fewer than three are. */
static int crop(piece *all, int n, rng *r) {
    bool across = rng_uniform(r) < 0.5;
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < n; i++) {
        double middle = across ? all[i].box.x0 + all[i].box.x1 : all[i].box.y0 + all[i].box.y1;
        low = fmin(low, middle);
        high = fmax(high, middle);
    }
    double length = (high - low) * (0.35 + 0.6 * rng_uniform(r)),
           start = low + (high - low - length) * rng_uniform(r);
    int inside = 0, kept = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < n; i++) {
            double middle = across ? all[i].box.x0 + all[i].box.x1 : all[i].box.y0 + all[i].box.y1;
            bool in = middle >= start && middle <= start + length;
            if (!pass)
                inside += in;
            else if (in || inside < 3)
                all[kept++] = all[i];
        }
    return kept;
}

static int leave_out(piece *all, int n, rng *r) {
    double share = 0.3 * rng_uniform(r);
    int kept = 0;
    for (int i = 0; i < n; i++)
        if (rng_uniform(r) >= share || n - i + kept <= 3) all[kept++] = all[i];
    return kept;
}

static void distort(piece *all, int n, rng *r) {
    double skew = rng_uniform(r) < 0.5 ? MOST_SKEW * (2 * rng_uniform(r) - 1) : 0,
           noise = NOISE * rng_uniform(r);
    double stretch = exp(0.15 * rng_normal(r));
    for (int i = 0; i < n; i++) {
        page_box *b = &all[i].box;
        double dx = -skew * ((b->y0 + b->y1) / 2 - 0.5), dy = skew * ((b->x0 + b->x1) / 2 - 0.4);
        b->x0 = stretch * (b->x0 + dx + noise * rng_normal(r));
        b->x1 = fmax(stretch * (b->x1 + dx + noise * rng_normal(r)), b->x0 + 0.002);
        b->y0 = b->y0 + dy + noise * rng_normal(r);
        b->y1 = fmax(b->y1 + dy + noise * rng_normal(r), b->y0 + 0.002);
    }
}

onet_status page_variant(page *variant, const page *p, rng *r, onet_error *err) {
    int n = p->placed;
    *variant = (page){0};
    piece *all = array_new(2 * (size_t)n + 1, sizeof *all),
          *other = array_new(2 * (size_t)n + 1, sizeof *all);
    onet_status status = all && other ? ONET_OK : fail_memory(err, "a variant of a page");
    page_box edge = page_box_none;
    for (int i = 0; i < p->count && !status; i++)
        if (p->regions[i].placed) {
            page_box_add(&edge, p->regions[i].box.x0, p->regions[i].box.y0);
            page_box_add(&edge, p->regions[i].box.x1, p->regions[i].box.y1);
        }
    double unit = page_box_height(&edge) > 0 ? page_box_height(&edge) : 1;
    for (int i = 0; i < p->count && !status; i++) {
        const page_region *g = &p->regions[i];
        if (g->placed)
            all[g->given] = (piece){{(g->box.x0 - edge.x0) / unit, (g->box.y0 - edge.y0) / unit,
                                     (g->box.x1 - edge.x0) / unit, (g->box.y1 - edge.y0) / unit},
                                    g->kind};
    }
    if (!status) {
        if (rng_uniform(r) < 0.5) {
            n = resegment(all, n, other, r);
            memcpy(all, other, (size_t)n * sizeof *all);
        }
        double how = rng_uniform(r);
        if (n > 6 && how < 0.4)
            n = crop(all, n, r);
        else if (n > 6 && how < 0.7)
            n = leave_out(all, n, r);
        distort(all, n, r);
        bool unknown = rng_uniform(r) < 0.15;
        for (int k = 0; k < n && !status; k++) {
            page_region *g = page_add(variant, "", "", unknown ? KIND_TEXT : all[k].kind);
            if (!g) {
                status = fail_memory(err, "a variant of a page");
                break;
            }
            g->box = all[k].box;
            g->listed = true;
            g->given = k;
        }
        if (!status) status = page_place(variant, NULL, err);
    }
    if (status) page_free(variant);
    free(all);
    free(other);
    return status;
}
