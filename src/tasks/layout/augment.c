/* Data augmentation for `pages train`: makes variants of a page as other segmentations, crops and scans would
 * give. The order of two regions does not depend on the other regions, so the regions that are left keep
 * their order. Also makes copies of pages without separators and images. */
#include "tasks/layout/augment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"

/* In units of the height of the box around all placed regions. */
static const double ALIGNED = 0.02, SPLIT_HEIGHT = 0.06, MOST_SKEW = 0.012, NOISE = 0.0015;

typedef struct piece {
    page_box box;
    page_kind kind;
} piece;

/* The parts of a page that become a variant. */
typedef struct pieces {
    piece *all;      /* [2 n]: the regions in their order */
    page_box *lines; /* [lines]: the separators */
    int n, line_count;
} pieces;

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

/* Returns twice the middle of a box along an axis. */
static double middle_of(const page_box *b, bool across) {
    return across ? b->x0 + b->x1 : b->y0 + b->y1;
}

/* Keeps the pieces whose middle is in a window of the page, or all if fewer than three are. */
static void crop(pieces *p, rng *r) {
    bool across = rng_uniform(r) < 0.5;
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < p->n; i++) {
        double middle = middle_of(&p->all[i].box, across);
        low = fmin(low, middle);
        high = fmax(high, middle);
    }
    double length = (high - low) * (0.35 + 0.6 * rng_uniform(r)),
           start = low + (high - low - length) * rng_uniform(r);
    int inside = 0, kept = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < p->n; i++) {
            double middle = middle_of(&p->all[i].box, across);
            bool in = middle >= start && middle <= start + length;
            if (!pass)
                inside += in;
            else if (in || inside < 3)
                p->all[kept++] = p->all[i];
        }
    p->n = kept;
}

static void leave_out(pieces *p, rng *r) {
    double share = 0.3 * rng_uniform(r);
    int kept = 0;
    for (int i = 0; i < p->n; i++)
        if (rng_uniform(r) >= share || p->n - i + kept <= 3) p->all[kept++] = p->all[i];
    p->n = kept;
}

/* Leaves out some separators, since layout analysis misses some. */
static void leave_out_lines(pieces *p, rng *r) {
    double share = 0.3 * rng_uniform(r);
    int kept = 0;
    for (int i = 0; i < p->line_count; i++)
        if (rng_uniform(r) >= share) p->lines[kept++] = p->lines[i];
    p->line_count = kept;
}

/* How a scan is askew, stretched and read with errors. */
typedef struct distortion {
    double skew, noise, stretch;
} distortion;

static void distort(page_box *b, const distortion *d, rng *r) {
    double dx = -d->skew * ((b->y0 + b->y1) / 2 - 0.5), dy = d->skew * ((b->x0 + b->x1) / 2 - 0.4);
    b->x0 = d->stretch * (b->x0 + dx + d->noise * rng_normal(r));
    b->x1 = fmax(d->stretch * (b->x1 + dx + d->noise * rng_normal(r)), b->x0 + 0.002);
    b->y0 = b->y0 + dy + d->noise * rng_normal(r);
    b->y1 = fmax(b->y1 + dy + d->noise * rng_normal(r), b->y0 + 0.002);
}

static void distort_all(pieces *p, rng *r) {
    distortion d = {.skew = rng_uniform(r) < 0.5 ? MOST_SKEW * (2 * rng_uniform(r) - 1) : 0,
                    .noise = NOISE * rng_uniform(r),
                    .stretch = exp(0.15 * rng_normal(r))};
    for (int i = 0; i < p->n; i++) distort(&p->all[i].box, &d, r);
    for (int i = 0; i < p->line_count; i++) distort(&p->lines[i], &d, r);
}

/* Returns a box relative to the corner of `bounds`, in heights of `bounds`. */
static page_box scaled(const page_box *b, const page_box *bounds) {
    double unit = page_box_height(bounds) > 0 ? page_box_height(bounds) : 1;
    return (page_box){(b->x0 - bounds->x0) / unit, (b->y0 - bounds->y0) / unit, (b->x1 - bounds->x0) / unit,
                      (b->y1 - bounds->y0) / unit};
}

static onet_status add_region(page *variant, const page_box *box, page_kind kind, int given,
                              onet_error *err) {
    page_region *g = page_add(variant, "", "", kind);
    if (!g) return fail_memory(err, "a variant of a page");
    g->box = *box;
    g->listed = given >= 0;
    g->given = given;
    return ONET_OK;
}

onet_status page_variant(page *variant, const page *p, rng *r, onet_error *err) {
    pieces v = {.n = p->placed};
    *variant = (page){0};
    v.all = array_new(2 * (size_t)v.n + 1, sizeof *v.all);
    v.lines = array_new((size_t)p->count + 1, sizeof *v.lines);
    piece *other = array_new(2 * (size_t)v.n + 1, sizeof *other);
    onet_status status = v.all && v.lines && other ? ONET_OK : fail_memory(err, "a variant of a page");
    page_box bounds = page_box_none;
    for (int i = 0; i < p->count && !status; i++)
        if (p->regions[i].placed) {
            page_box_add(&bounds, p->regions[i].box.x0, p->regions[i].box.y0);
            page_box_add(&bounds, p->regions[i].box.x1, p->regions[i].box.y1);
        }
    for (int i = 0; i < p->count && !status; i++) {
        const page_region *g = &p->regions[i];
        if (g->placed)
            v.all[g->given] = (piece){scaled(&g->box, &bounds), g->kind};
        else if (g->kind == KIND_SEPARATOR)
            v.lines[v.line_count++] = scaled(&g->box, &bounds);
    }
    if (!status) {
        if (rng_uniform(r) < 0.5) {
            v.n = resegment(v.all, v.n, other, r);
            memcpy(v.all, other, (size_t)v.n * sizeof *v.all);
        }
        double how = rng_uniform(r);
        if (v.n > 6 && how < 0.4)
            crop(&v, r);
        else if (v.n > 6 && how < 0.7)
            leave_out(&v, r);
        if (v.line_count) leave_out_lines(&v, r);
        distort_all(&v, r);
        bool unknown = rng_uniform(r) < 0.15;
        for (int k = 0; k < v.n && !status; k++)
            status = add_region(variant, &v.all[k].box, unknown ? KIND_TEXT : v.all[k].kind, k, err);
        for (int k = 0; k < v.line_count && !status; k++)
            status = add_region(variant, &v.lines[k], KIND_SEPARATOR, -1, err);
        if (!status) status = page_place(variant, NULL, err);
    }
    if (status) page_free(variant);
    free(v.all);
    free(v.lines);
    free(other);
    return status;
}

onet_status page_without_context(page *copy, const page *p, onet_error *err) {
    onet_status status = ONET_OK;
    *copy = (page){0};
    for (int i = 0; i < p->count && !status; i++) {
        const page_region *g = &p->regions[i];
        if (g->placed) status = add_region(copy, &g->box, g->kind, g->given, err);
    }
    if (!status) status = page_place(copy, NULL, err);
    if (status) page_free(copy);
    return status;
}
