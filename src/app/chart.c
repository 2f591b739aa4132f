/* Draws line charts (axes with ticks, series with confidence bands, a legend), one or several in a picture,
 * and bar charts with confidence intervals. */
#include "app/chart.h"

#include <math.h>
#include <stdio.h>

#include "app/canvas.h"

static const double DOT = 2.4, WIDTH = 720, HEIGHT = 400, PLOT_LEFT = 62, PLOT_TOP = 46, PLOT_RIGHT = 200,
                    PLOT_BOTTOM = 48;

/* Maps the values of an axis to points of the picture. */
typedef struct scale {
    const chart_axis *axis;
    double low, high; /* values; their logarithms on a logarithmic axis */
    double from, to;  /* points */
} scale;

static double reading(const chart_axis *axis, double value) {
    return axis->log ? log10(value) : value;
}

static bool shown(const chart_axis *axis, double value) {
    return isfinite(value) && (!axis->log || value > 0);
}

static double place(const scale *s, double value) {
    return s->from + (reading(s->axis, value) - s->low) / (s->high - s->low) * (s->to - s->from);
}

static scale make_scale(const chart *c, const chart_axis *axis, bool x, double from, double to) {
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < c->count; i++) {
        const chart_series *s = &c->series[i];
        for (int k = 0; k < s->count; k++) {
            double value = x ? s->x[k] : s->y[k];
            if (!shown(axis, value)) continue;
            low = fmin(low, reading(axis, value));
            high = fmax(high, reading(axis, value));
        }
    }
    if (axis->low != 0 || axis->high != 0) low = reading(axis, axis->low), high = reading(axis, axis->high);
    if (!(low < high)) {
        low = isfinite(low) ? low - 1 : 0;
        high = low + 2;
    } else if (axis->low == 0 && axis->high == 0 && !axis->log) {
        double step = canvas_step(high - low);
        if (!x) low = floor(low / step) * step, high = ceil(high / step) * step;
    } else if (axis->log && axis->low == 0 && axis->high == 0) {
        low -= 0.03 * (high - low);
        high += 0.03 * (high - low);
    }
    return (scale){axis, low, high, from, to};
}

/* Writes the next tick of an axis to *value and advances *count, 0 at first. Returns false after the last. */
static bool next_tick(const scale *s, int *count, double *value) {
    if (!s->axis->log) {
        double step = canvas_step(s->high - s->low);
        *value = (ceil(s->low / step - 1e-9) + *count) * step;
        if (fabs(*value) < step * 1e-9) *value = 0;
        ++*count;
        return *value <= s->high + step * 1e-9;
    }
    static const double within[] = {1, 2, 5};
    for (int first = (int)floor(s->low);; ++*count) {
        *value = pow(10, first + *count / 3) * within[*count % 3];
        if (log10(*value) > s->high + 1e-9) return false;
        if (log10(*value) < s->low - 1e-9) continue;
        ++*count;
        return true;
    }
}

static void tick_text(const scale *s, double value, char text[48]) {
    snprintf(text, 48, "%.6g%s", value, s->axis->unit ? s->axis->unit : "");
}

static void draw_axes(canvas *c, const scale *x, const scale *y) {
    char text[48];
    double value;
    cairo_set_line_width(c->cr, 0.7);
    for (int count = 0; next_tick(y, &count, &value);) {
        double at = floor(place(y, value)) + 0.5;
        canvas_colour(c, PALE);
        cairo_move_to(c->cr, x->from, at);
        cairo_line_to(c->cr, x->to, at);
        cairo_stroke(c->cr);
        tick_text(y, value, text);
        canvas_colour(c, GREY);
        canvas_text(c, x->from - 8, at + 4, (text_style){11, false, RIGHT}, text);
    }
    canvas_colour(c, GREY);
    cairo_move_to(c->cr, x->from, y->from + 0.5);
    cairo_line_to(c->cr, x->to, y->from + 0.5);
    cairo_stroke(c->cr);
    for (int count = 0; next_tick(x, &count, &value);) {
        double at = place(x, value);
        cairo_move_to(c->cr, at, y->from);
        cairo_line_to(c->cr, at, y->from + 4);
        cairo_stroke(c->cr);
        tick_text(x, value, text);
        canvas_text(c, at, y->from + 18, (text_style){11, false, MIDDLE}, text);
    }
    canvas_colour(c, INK);
    canvas_text(c, (x->from + x->to) / 2, y->from + 38, (text_style){12, false, MIDDLE}, x->axis->title);
    canvas_text(c, 14, y->to - 10, (text_style){12, false, LEFT}, y->axis->title);
}

static bool point_shown(const scale *x, const scale *y, const chart_series *s, int k) {
    return shown(x->axis, s->x[k]) && shown(y->axis, s->y[k]);
}

static void draw_band(canvas *c, const scale *x, const scale *y, const chart_series *s) {
    colour k = palette(s->colour);
    cairo_new_path(c->cr); /* the first cairo_line_to then starts the line */
    for (int i = 0; i < 2 * s->count; i++) {
        int at = i < s->count ? i : 2 * s->count - 1 - i;
        double value = i < s->count ? s->high[at] : s->low[at];
        if (!point_shown(x, y, s, at) || !shown(y->axis, value)) continue;
        cairo_line_to(c->cr, place(x, s->x[at]), place(y, value));
    }
    cairo_set_source_rgba(c->cr, k.r, k.g, k.b, 0.18);
    cairo_fill(c->cr);
}

/* Strokes the current path as a line of the series. */
static void stroke(canvas *c, const chart_series *s) {
    static const double dashes[][2] = {[LINE_DASHED] = {5, 3.5}, [LINE_DOTTED] = {1.5, 2.5}};
    canvas_colour(c, palette(s->colour));
    cairo_set_line_width(c->cr, 1.8);
    cairo_set_line_join(c->cr, CAIRO_LINE_JOIN_ROUND);
    cairo_set_dash(c->cr, dashes[s->line], s->line == LINE_SOLID ? 0 : 2, 0);
    cairo_stroke(c->cr);
    cairo_set_dash(c->cr, NULL, 0, 0);
}

static void draw_series(canvas *c, const scale *x, const scale *y, const chart_series *s) {
    if (s->low && s->high) draw_band(c, x, y, s);
    cairo_new_path(c->cr);
    for (int k = 0; k < s->count; k++)
        if (point_shown(x, y, s, k)) cairo_line_to(c->cr, place(x, s->x[k]), place(y, s->y[k]));
    stroke(c, s);
    for (int k = 0; k < s->count; k++)
        if (point_shown(x, y, s, k)) canvas_dot(c, place(x, s->x[k]), place(y, s->y[k]), DOT);
}

static void draw_legend(canvas *c, const chart *figure) {
    double x = WIDTH - PLOT_RIGHT + 16, y = PLOT_TOP + 10;
    for (int i = 0; i < figure->count; i++, y += 20) {
        const chart_series *s = &figure->series[i];
        cairo_move_to(c->cr, x, y - 4);
        cairo_line_to(c->cr, x + 24, y - 4);
        stroke(c, s);
        canvas_dot(c, x + 12, y - 4, DOT);
        canvas_colour(c, INK);
        canvas_text(c, x + 31, y, (text_style){11, false, LEFT}, s->name);
    }
}

static void draw_chart(canvas *c, const chart *figure) {
    scale x = make_scale(figure, &figure->x, true, PLOT_LEFT, WIDTH - PLOT_RIGHT);
    scale y = make_scale(figure, &figure->y, false, HEIGHT - PLOT_BOTTOM, PLOT_TOP);
    canvas_colour(c, INK);
    canvas_text(c, 14, 20, (text_style){14, true, LEFT}, figure->title);
    draw_axes(c, &x, &y);
    draw_legend(c, figure);
    cairo_rectangle(c->cr, x.from - 3, y.to - 3, x.to - x.from + 6, y.from - y.to + 6);
    cairo_clip(c->cr);
    for (int i = figure->count - 1; i >= 0; i--) draw_series(c, &x, &y, &figure->series[i]);
}

typedef struct sheet {
    const chart *chart;
    int count, columns;
} sheet;

static onet_status draw_sheet(const void *context, const char *path, onet_error *err) {
    const sheet *p = context;
    canvas c;
    int rows = (p->count + p->columns - 1) / p->columns;
    onet_status status = canvas_open(&c, path, WIDTH * p->columns, HEIGHT * rows, err);
    if (status) return status;
    for (int i = 0; i < p->count; i++) {
        cairo_save(c.cr);
        cairo_translate(c.cr, WIDTH * (i % p->columns), HEIGHT * (i / p->columns));
        draw_chart(&c, &p->chart[i]);
        cairo_restore(c.cr);
    }
    return canvas_close(&c, err);
}

onet_status charts_write(const chart *c, int count, int columns, const char *path, onet_error *err) {
    return canvas_both(path, draw_sheet, &(sheet){c, count, columns}, err);
}

onet_status chart_write(const chart *c, const char *path, onet_error *err) {
    return charts_write(c, 1, 1, path, err);
}

/* ---- bars ---- */

static const double NAMES = 130, PANEL = 300, GAP = 34, TOP = 66, ROW = 22, BAR = 13, BOTTOM = 34;

/* Maps values to points; zero is always shown. */
typedef struct bar_scale {
    double low, high, from, to;
} bar_scale;

static double bar_place(const bar_scale *s, double value) {
    return s->from + (value - s->low) / (s->high - s->low) * (s->to - s->from);
}

static bar_scale make_bar_scale(const bars_panel *p, int count, double from) {
    bar_scale s = {0, 0, from, from + PANEL};
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

static void draw_ticks(canvas *c, const bars_panel *p, const bar_scale *s, double bottom) {
    double step = canvas_step(s->high - s->low);
    cairo_set_line_width(c->cr, 0.7);
    for (double k = ceil(s->low / step - 1e-9); k * step <= s->high + step * 1e-9; k++) {
        char text[48];
        double at = floor(bar_place(s, k * step)) + 0.5;
        canvas_colour(c, k == 0 ? GREY : PALE);
        cairo_move_to(c->cr, at, TOP - 6);
        cairo_line_to(c->cr, at, bottom);
        cairo_stroke(c->cr);
        snprintf(text, sizeof text, "%.6g%s", k == 0 ? 0 : k * step, p->unit ? p->unit : "");
        canvas_colour(c, GREY);
        canvas_text(c, at, bottom + 16, (text_style){10, false, MIDDLE}, text);
    }
}

static void draw_bar(canvas *c, const bar_scale *s, const onet_measure *m, double y) {
    if (!isfinite(m->mean)) return;
    double zero = bar_place(s, 0), end = bar_place(s, m->mean);
    canvas_colour(c, palette(0));
    cairo_rectangle(c->cr, fmin(zero, end), y - BAR / 2, fabs(end - zero), BAR);
    cairo_fill(c->cr);
    if (!isfinite(m->low) || !isfinite(m->high)) return;
    canvas_colour(c, INK);
    cairo_set_line_width(c->cr, 1.2);
    cairo_move_to(c->cr, bar_place(s, m->low), y);
    cairo_line_to(c->cr, bar_place(s, m->high), y);
    cairo_stroke(c->cr);
}

static onet_status draw_bars(const void *context, const char *path, onet_error *err) {
    const bars *b = context;
    double bottom = TOP + ROW * b->count;
    canvas c;
    onet_status status = canvas_open(&c, path, NAMES + (PANEL + GAP) * b->panels, bottom + BOTTOM, err);
    if (status) return status;
    canvas_text(&c, 14, 22, (text_style){14, true, LEFT}, b->title);
    for (int k = 0; k < b->panels; k++) {
        const bars_panel *p = &b->panel[k];
        bar_scale s = make_bar_scale(p, b->count, NAMES + (PANEL + GAP) * k);
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
    return canvas_both(path, draw_bars, b, err);
}
