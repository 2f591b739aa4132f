/* Draws named bars with their intervals on a canvas, panel by panel. */
#include "app/bars.h"

#include <math.h>
#include <stdio.h>

#include "app/canvas.h"

static const double NAMES = 130, PANEL = 300, GAP = 34, TOP = 66, ROW = 22, BAR = 13, BOTTOM = 34;

/* Maps values to points: zero is always on the page. */
typedef struct scale {
    double low, high, from, to;
} scale;

static double place(const scale *s, double value) {
    return s->from + (value - s->low) / (s->high - s->low) * (s->to - s->from);
}

static scale make_scale(const bars_panel *p, int count, double from) {
    scale s = {0, 0, from, from + PANEL};
    for (int i = 0; i < count; i++) {
        const double edge[] = {p->values[i].mean, p->values[i].low, p->values[i].high};
        for (int k = 0; k < 3; k++) {
            if (!isfinite(edge[k])) continue;
            s.low = fmin(s.low, edge[k]);
            s.high = fmax(s.high, edge[k]);
        }
    }
    if (s.low == s.high) s.high = 1;
    return s;
}

static void draw_ticks(canvas *c, const bars_panel *p, const scale *s, double bottom) {
    double step = canvas_step(s->high - s->low);
    cairo_set_line_width(c->cr, 0.7);
    for (double k = ceil(s->low / step - 1e-9); k * step <= s->high + step * 1e-9; k++) {
        char text[48];
        double at = floor(place(s, k * step)) + 0.5;
        canvas_colour(c, k == 0 ? GREY : PALE);
        cairo_move_to(c->cr, at, TOP - 6);
        cairo_line_to(c->cr, at, bottom);
        cairo_stroke(c->cr);
        snprintf(text, sizeof text, "%.6g%s", k == 0 ? 0 : k * step, p->unit ? p->unit : "");
        canvas_colour(c, GREY);
        canvas_text(c, at, bottom + 16, (text_style){10, false, MIDDLE}, text);
    }
}

static void draw_bar(canvas *c, const scale *s, const onet_measure *m, double y) {
    if (!isfinite(m->mean)) return;
    double zero = place(s, 0), end = place(s, m->mean);
    canvas_colour(c, palette(0));
    cairo_rectangle(c->cr, fmin(zero, end), y - BAR / 2, fabs(end - zero), BAR);
    cairo_fill(c->cr);
    if (!isfinite(m->low) || !isfinite(m->high)) return;
    canvas_colour(c, INK);
    cairo_set_line_width(c->cr, 1.2);
    cairo_move_to(c->cr, place(s, m->low), y);
    cairo_line_to(c->cr, place(s, m->high), y);
    cairo_stroke(c->cr);
}

static onet_status draw(const void *context, const char *path, onet_error *err) {
    const bars *b = context;
    double bottom = TOP + ROW * b->count;
    canvas c;
    onet_status status = canvas_open(&c, path, NAMES + (PANEL + GAP) * b->panels, bottom + BOTTOM, err);
    if (status) return status;
    canvas_text(&c, 14, 22, (text_style){14, true, LEFT}, b->title);
    for (int k = 0; k < b->panels; k++) {
        const bars_panel *p = &b->panel[k];
        scale s = make_scale(p, b->count, NAMES + (PANEL + GAP) * k);
        canvas_colour(&c, INK);
        canvas_text(&c, s.from, 46, (text_style){12, false, LEFT}, p->title);
        draw_ticks(&c, p, &s, bottom);
        for (int i = 0; i < b->count; i++) draw_bar(&c, &s, &p->values[i], TOP + ROW * (i + 0.5));
    }
    canvas_colour(&c, INK);
    for (int i = 0; i < b->count; i++)
        canvas_text(&c, NAMES - 10, TOP + ROW * (i + 0.5) + 4, (text_style){11, false, RIGHT}, b->name[i]);
    return canvas_close(&c, err);
}

onet_status bars_write(const bars *b, const char *path, onet_error *err) {
    return canvas_both(path, draw, b, err);
}
