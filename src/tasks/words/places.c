/* Draws the table of words and positions of each line, and its best orders. */
#include "tasks/words/places.h"

#include <stdio.h>

#include "app/canvas.h"

static const double PANEL = 370, TOP = 44, MARGIN = 14, LABEL = 110, CELL_X = 46, CELL_Y = 22, GAP = 26;

static double panel_height(int n) {
    return 20 + n * CELL_Y + 12 + PLACES_ORDERS * 17 + GAP;
}

static void draw_square(canvas *c, const places_line *line, double left, double top) {
    colour k = palette(0);
    char text[16];
    for (int t = 0; t < line->n; t++) {
        snprintf(text, sizeof text, "%d", t + 1);
        canvas_colour(c, GREY);
        canvas_text(c, left + LABEL + (t + 0.5) * CELL_X, top + 12, (text_style){10, false, MIDDLE}, text);
    }
    for (int i = 0; i < line->n; i++) {
        double y = top + 18 + i * CELL_Y;
        canvas_colour(c, INK);
        canvas_text(c, left + LABEL - 8, y + 15, (text_style){12, false, RIGHT}, line->word[i]);
        for (int t = 0; t < line->n; t++) {
            double p = line->p[i * line->n + t], x = left + LABEL + t * CELL_X;
            cairo_rectangle(c->cr, x + 1, y + 1, CELL_X - 2, CELL_Y - 2);
            cairo_set_source_rgb(c->cr, 1 + (k.r - 1) * p, 1 + (k.g - 1) * p, 1 + (k.b - 1) * p);
            cairo_fill_preserve(c->cr);
            /* The right position is framed. */
            canvas_colour(c, i == t ? INK : PALE);
            cairo_set_line_width(c->cr, i == t ? 1.4 : 0.7);
            cairo_stroke(c->cr);
            if (p < 0.005) continue;
            snprintf(text, sizeof text, "%.0f%%", 100 * p);
            canvas_colour(c, p > 0.5 ? (colour){1, 1, 1} : INK);
            canvas_text(c, x + CELL_X / 2, y + 15, (text_style){10, false, MIDDLE}, text);
        }
    }
}

static void draw_orders(canvas *c, const places_line *line, double left, double top) {
    for (int k = 0; k < line->orders; k++) {
        char text[32];
        double y = top + 17 * (k + 1);
        snprintf(text, sizeof text, "%.1f%%", 100 * line->probability[k]);
        canvas_colour(c, GREY);
        canvas_text(c, left + 44, y, (text_style){11, false, RIGHT}, text);
        colour wrong = k == 0 ? palette(1) : INK;
        canvas_colour(c, line->right[k] ? palette(2) : wrong);
        canvas_text(c, left + 52, y, (text_style){11, line->right[k], LEFT}, line->order[k]);
    }
}

static onet_status draw_places(const void *context, const char *path, onet_error *err) {
    const places *p = context;
    int rows = (p->count + 1) / 2;
    double height = TOP, tallest = 0;
    for (int r = 0; r < rows; r++) {
        tallest = panel_height(p->line[2 * r].n);
        if (2 * r + 1 < p->count && panel_height(p->line[2 * r + 1].n) > tallest)
            tallest = panel_height(p->line[2 * r + 1].n);
        height += tallest;
    }
    canvas c;
    onet_status status = canvas_open(&c, path, 2 * PANEL + MARGIN, height, err);
    if (status) return status;
    canvas_text(&c, MARGIN, 24, (text_style){14, true, LEFT}, p->title);
    double y = TOP;
    for (int r = 0; r < rows; r++) {
        tallest = 0;
        for (int i = 2 * r; i < p->count && i < 2 * r + 2; i++) {
            const places_line *line = &p->line[i];
            double x = MARGIN + (i % 2) * PANEL;
            draw_square(&c, line, x, y);
            draw_orders(&c, line, x, y + 20 + line->n * CELL_Y + 4);
            if (panel_height(line->n) > tallest) tallest = panel_height(line->n);
        }
        y += tallest;
    }
    return canvas_close(&c, err);
}

onet_status places_write(const places *p, const char *path, onet_error *err) {
    return canvas_both(path, draw_places, p, err);
}
