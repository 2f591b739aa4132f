/* Draws tours in panels side by side, with city names and with the edges that differ from a reference tour in
 * another colour. */
#include "tasks/tours/draw.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "app/canvas.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"

enum { MOST_NAMES = 100 }; /* cities whose names a panel has room for */

/* Returns how many bytes of a name fit, without a part of a character at the end; none from a control
 * character on. */
static size_t name_length(const char *name, size_t room) {
    size_t length = 0;
    while (length < room && (unsigned char)name[length] >= 0x20 && name[length] != 0x7f) length++;
    if (name[length])
        while (length && ((unsigned char)name[length] & 0xC0) == 0x80) length--;
    return length;
}

static const double SIDE = 210, GAP = 22, BELOW = 34, EDGE = 24, TITLE = 34;
static const text_style NAME = {7.5, false, LEFT};

/* Whether a tour has the edge between a and b; place [n] is the position of each city in it. */
static bool has_edge(int n, const int32_t *place, int a, int b) {
    int apart = abs(place[a] - place[b]);
    return apart == 1 || apart == n - 1;
}

typedef struct frame {
    double side;        /* of the panel */
    double x, y, scale; /* lower left corner of the cities, in points; points per unit */
    double low[2];
} frame;

static frame fit(const tour_panel *p, double x, double y, double side) {
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY}, inset = p->names ? 24 : 12;
    for (int i = 0; i < 2 * p->n; i++) {
        low[i % 2] = fmin(low[i % 2], p->xy[i]);
        high[i % 2] = fmax(high[i % 2], p->xy[i]);
    }
    double wide = high[0] - low[0], tall = high[1] - low[1], longest = fmax(wide, tall);
    double scale = longest > 0 ? (side - 2 * inset) / longest : 0;
    return (frame){
        side, x + (side - wide * scale) / 2, y + (side + tall * scale) / 2, scale, {low[0], low[1]}};
}

typedef struct point {
    double x, y;
} point;

/* Returns where the city at xy is on the sheet. */
static point on_sheet(const frame *f, const double *xy) {
    return (point){f->x + (xy[0] - f->low[0]) * f->scale, f->y - (xy[1] - f->low[1]) * f->scale};
}

/* ---- Names ----------------------------------------------------------------------------------------------
 */

typedef struct box {
    double x, y, width, height; /* from its upper left corner */
} box;

typedef struct label {
    char text[32];
    box at;
    bool left_out;
} label;

static double shared(double a, double a_length, double b, double b_length) {
    return fmax(0, fmin(a + a_length, b + b_length) - fmax(a, b));
}

/* Returns the area that both cover. */
static double overlap(box a, box b) {
    return shared(a.x, a.width, b.x, b.width) * shared(a.y, a.height, b.y, b.height);
}

/* Returns the length of the part of the line from a to b that lies in the box. */
static double crossed(box r, point a, point b) {
    double from = 0, to = 1, low[2] = {r.x, r.y}, high[2] = {r.x + r.width, r.y + r.height};
    double start[2] = {a.x, a.y}, way[2] = {b.x - a.x, b.y - a.y};
    for (int k = 0; k < 2; k++) {
        if (way[k] == 0) {
            if (start[k] < low[k] || start[k] > high[k]) return 0;
            continue;
        }
        double one = (low[k] - start[k]) / way[k], two = (high[k] - start[k]) / way[k];
        from = fmax(from, fmin(one, two));
        to = fmin(to, fmax(one, two));
    }
    return to > from ? (to - from) * hypot(way[0], way[1]) : 0;
}

/* The eight places of a name around its city, the best ones first. */
enum { PLACES = 8 };
static box place_label(point city, double width, double height, double radius, int place) {
    static const struct {
        double x, y; /* of the text's middle from the city, in halves of its size */
    } around[PLACES] = {{1, -0.6}, {-1, -0.6}, {1, 0.6}, {-1, 0.6}, {0, -1}, {0, 1}, {1, 0}, {-1, 0}};
    double x = around[place].x, y = around[place].y;
    return (box){city.x + x * (width / 2 + radius + 1) - width / 2,
                 city.y + y * (height / 2 + radius) - height / 2, width, height};
}

/* Returns the cost of a place for a name: what leaves the panel counts most, then other names, cities, and
 * lines. */
static double cost(const tour_panel *p, const frame *f, box panel, const label *labels, int own, box at,
                   double radius) {
    double area = at.width * at.height, sum = 20 * (area - overlap(at, panel));
    for (int j = 0; j < p->n; j++) {
        point city = on_sheet(f, p->xy + 2 * j),
              next = on_sheet(f, p->xy + 2 * p->tour[j + 1 < p->n ? j + 1 : 0]);
        if (j != own && !labels[j].left_out) sum += 10 * overlap(at, labels[j].at);
        sum += 4 * overlap(at, (box){city.x - radius, city.y - radius, 2 * radius, 2 * radius});
        sum += crossed(at, on_sheet(f, p->xy + 2 * p->tour[j]), next);
    }
    return sum;
}

/* Draws the names where they cover each other, the cities and the lines least. One that would still hide a
 * part of another is left out. */
static void draw_names(canvas *c, const tour_panel *p, const frame *f, box panel, double radius) {
    enum { ROUNDS = 4 };
    label labels[MOST_NAMES] = {0};
    for (int i = 0; i < p->n; i++) {
        label *l = &labels[i];
        l->left_out = !p->names[i] || !*p->names[i];
        if (l->left_out) continue;
        snprintf(l->text, sizeof l->text, "%.*s", (int)name_length(p->names[i], sizeof l->text - 1),
                 p->names[i]);
        l->at.width = canvas_text_width(c, NAME, l->text);
        l->at.height = NAME.size;
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < p->n; i++) {
            label *l = &labels[i];
            if (l->left_out) continue;
            box best = l->at;
            double least = INFINITY;
            for (int k = 0; k < PLACES; k++) {
                box at = place_label(on_sheet(f, p->xy + 2 * i), l->at.width, l->at.height, radius, k);
                double its = cost(p, f, panel, labels, i, at, radius) + 0.01 * k;
                if (its < least) {
                    least = its;
                    best = at;
                }
            }
            l->at = best;
        }
    for (int i = 0; i < p->n; i++) {
        label *l = &labels[i];
        double hidden = 0;
        for (int j = 0; j < i; j++)
            if (!labels[j].left_out) hidden = fmax(hidden, overlap(l->at, labels[j].at));
        if (hidden > 0.03 * l->at.width * l->at.height) l->left_out = true;
        if (!l->left_out) canvas_text(c, l->at.x, l->at.y + 0.8 * l->at.height, NAME, l->text);
    }
}

/* ---- Panels ---------------------------------------------------------------------------------------------
 */

/* place [n]: scratch space. */
static void draw_panel(canvas *c, const tour_panel *p, double side, double x, double y, int32_t *place) {
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
    cairo_rectangle(c->cr, x, y, side, side);
    cairo_stroke(c->cr);
    frame f = fit(p, x, y, side);
    cairo_set_line_join(c->cr, CAIRO_LINE_JOIN_ROUND);
    cairo_set_line_cap(c->cr, CAIRO_LINE_CAP_ROUND);
    for (int t = 0; p->against && t < n; t++) place[p->against[t]] = t;
    for (int differs = 0; differs < 2; differs++) {
        cairo_set_line_width(c->cr, width * (differs ? 1.25 : 1));
        for (int t = 0; t < n; t++) {
            int a = p->tour[t], b = p->tour[t + 1 < n ? t + 1 : 0];
            if ((p->against && !has_edge(n, place, a, b)) != differs) continue;
            point from = on_sheet(&f, p->xy + 2 * a), to = on_sheet(&f, p->xy + 2 * b);
            cairo_move_to(c->cr, from.x, from.y);
            cairo_line_to(c->cr, to.x, to.y);
        }
        canvas_colour(c, palette(differs));
        cairo_stroke(c->cr);
    }
    canvas_colour(c, INK);
    for (int i = 0; i < n; i++) {
        point city = on_sheet(&f, p->xy + 2 * i);
        canvas_dot(c, city.x, city.y, radius);
    }
    if (p->names && n <= MOST_NAMES) draw_names(c, p, &f, (box){x, y, side, side}, radius);
    canvas_text(c, x, y + side + 15, (text_style){11, true, LEFT}, p->title);
    canvas_colour(c, GREY);
    canvas_text(c, x, y + side + 29, (text_style){11, false, LEFT}, p->note);
}

static onet_status draw_sheet(const void *context, const char *path, onet_error *err) {
    const tour_sheet *sheet = context;
    int rows = (sheet->count + sheet->columns - 1) / sheet->columns, most = 1;
    double top = EDGE + (sheet->title ? TITLE : 0), side = sheet->side > 0 ? sheet->side : SIDE;
    for (int i = 0; i < sheet->count; i++)
        if (sheet->panels[i].n > most) most = sheet->panels[i].n;
    int32_t *place = array_new((size_t)most, sizeof *place);
    if (!place) return fail_memory(err, "a sheet of tours");
    canvas c;
    onet_status status = canvas_open(&c, path, 2 * EDGE + sheet->columns * (side + GAP) - GAP,
                                     top + rows * (side + BELOW + GAP / 2) - GAP / 2 + EDGE / 2, err);
    if (!status) {
        if (sheet->title) canvas_text(&c, EDGE, EDGE + 14, (text_style){16, true, LEFT}, sheet->title);
        for (int i = 0; i < sheet->count; i++)
            draw_panel(&c, &sheet->panels[i], side, EDGE + i % sheet->columns * (side + GAP),
                       top + i / sheet->columns * (side + BELOW + GAP / 2), place);
        status = canvas_close(&c, err);
    }
    free(place);
    return status;
}

onet_status tours_write(const tour_sheet *sheet, const char *path, onet_error *err) {
    if (sheet->count < 1 || sheet->columns < 1) return fail(err, ONET_USAGE, "there are no tours to draw");
    return canvas_both(path, draw_sheet, sheet, err);
}
