/* Draws panels of tours, with the edges that differ from another tour in another colour. */
#include "show/tours.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "show/canvas.h"

enum { MOST_NAMES = 100 }; /* cities whose names a panel has room for */

/* Bytes of a name that fit, without a part of a character at the end; none behind a control character. */
static size_t name_length(const char *name, size_t room) {
    size_t length = 0;
    while (length < room && (unsigned char)name[length] >= 0x20 && name[length] != 0x7f) length++;
    if (name[length])
        while (length && ((unsigned char)name[length] & 0xC0) == 0x80) length--;
    return length;
}

static const double SIDE = 210, GAP = 22, BELOW = 34, EDGE = 24, TITLE = 34;

/* Whether a tour has the edge between a and b; place [n] is the position of each city in it. */
static bool has_edge(int n, const int32_t *place, int a, int b) {
    int apart = abs(place[a] - place[b]);
    return apart == 1 || apart == n - 1;
}

typedef struct frame {
    double x, y, scale; /* lower left corner of the cities, in points; points per unit */
    double low[2];
} frame;

static frame fit(const tour_panel *p, double x, double y) {
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY}, inset = 12;
    for (int i = 0; i < 2 * p->n; i++) {
        low[i % 2] = fmin(low[i % 2], p->xy[i]);
        high[i % 2] = fmax(high[i % 2], p->xy[i]);
    }
    double wide = high[0] - low[0], tall = high[1] - low[1], side = fmax(wide, tall);
    double scale = side > 0 ? (SIDE - 2 * inset) / side : 0;
    return (frame){x + (SIDE - wide * scale) / 2, y + (SIDE + tall * scale) / 2, scale, {low[0], low[1]}};
}

typedef struct point {
    double x, y;
} point;

/* Where the city at xy is on the page. */
static point on_page(const frame *f, const double *xy) {
    return (point){f->x + (xy[0] - f->low[0]) * f->scale, f->y - (xy[1] - f->low[1]) * f->scale};
}

/* place [n] is scratch. */
static void draw_panel(canvas *c, const tour_panel *p, double x, double y, int32_t *place) {
    int n = p->n;
    static const struct {
        int cities;
        double radius, width;
    } pens[] = {{60, 2.6, 1.5}, {150, 1.9, 1.2}, {400, 1.3, 0.8}, {INT_MAX, 0.9, 0.8}};
    int pen = 0;
    while (n > pens[pen].cities) pen++;
    double radius = pens[pen].radius, width = pens[pen].width;
    canvas_colour(c, PALE);
    cairo_set_line_width(c->cr, 1);
    cairo_rectangle(c->cr, x, y, SIDE, SIDE);
    cairo_stroke(c->cr);
    frame f = fit(p, x, y);
    cairo_set_line_join(c->cr, CAIRO_LINE_JOIN_ROUND);
    cairo_set_line_cap(c->cr, CAIRO_LINE_CAP_ROUND);
    for (int t = 0; p->against && t < n; t++) place[p->against[t]] = t;
    for (int differs = 0; differs < 2; differs++) {
        cairo_set_line_width(c->cr, width * (differs ? 1.25 : 1));
        for (int t = 0; t < n; t++) {
            int a = p->tour[t], b = p->tour[t + 1 < n ? t + 1 : 0];
            if ((p->against && !has_edge(n, place, a, b)) != differs) continue;
            point from = on_page(&f, p->xy + 2 * a), to = on_page(&f, p->xy + 2 * b);
            cairo_move_to(c->cr, from.x, from.y);
            cairo_line_to(c->cr, to.x, to.y);
        }
        canvas_colour(c, palette(differs));
        cairo_stroke(c->cr);
    }
    canvas_colour(c, INK);
    for (int i = 0; i < n; i++) {
        point city = on_page(&f, p->xy + 2 * i);
        canvas_dot(c, city.x, city.y, radius);
    }
    for (int i = 0; p->names && n <= MOST_NAMES && i < n; i++) {
        if (!p->names[i]) continue;
        point city = on_page(&f, p->xy + 2 * i);
        bool right = city.x > x + SIDE / 2; /* so that the text stays in the panel */
        char text[32];
        snprintf(text, sizeof text, "%.*s", (int)name_length(p->names[i], sizeof text - 1), p->names[i]);
        canvas_text(c, city.x + (right ? -4 : 4), city.y - 3, (text_style){7, false, right ? RIGHT : LEFT},
                    text);
    }
    canvas_text(c, x, y + SIDE + 15, (text_style){11, true, LEFT}, p->title);
    canvas_colour(c, GREY);
    canvas_text(c, x, y + SIDE + 29, (text_style){11, false, LEFT}, p->note);
}

static onet_status draw_page(const void *context, const char *path, onet_error *err) {
    const tour_page *page = context;
    int rows = (page->count + page->columns - 1) / page->columns, most = 1;
    double top = EDGE + (page->title ? TITLE : 0);
    for (int i = 0; i < page->count; i++)
        if (page->panels[i].n > most) most = page->panels[i].n;
    int32_t *place = array_new((size_t)most, sizeof *place);
    if (!place) return fail_memory(err, "a page of tours");
    canvas c;
    onet_status status = canvas_open(&c, path, 2 * EDGE + page->columns * (SIDE + GAP) - GAP,
                                     top + rows * (SIDE + BELOW + GAP / 2) - GAP / 2 + EDGE / 2, err);
    if (!status) {
        if (page->title) canvas_text(&c, EDGE, EDGE + 14, (text_style){16, true, LEFT}, page->title);
        for (int i = 0; i < page->count; i++)
            draw_panel(&c, &page->panels[i], EDGE + i % page->columns * (SIDE + GAP),
                       top + i / page->columns * (SIDE + BELOW + GAP / 2), place);
        status = canvas_close(&c, err);
    }
    free(place);
    return status;
}

onet_status tours_write(const tour_page *page, const char *path, onet_error *err) {
    if (page->count < 1 || page->columns < 1) return fail(err, ONET_USAGE, "there are no tours to draw");
    return canvas_both(path, draw_page, page, err);
}
