/* A cairo drawing surface that is written as an SVG or PNG file, by the ending of the file name, or as one of
 * each if it has neither ending; a failure leaves no incomplete file. Used by the charts and by the pictures
 * of tours and pages. Coordinates are points; a PNG has 2 pixels per point. Also checks before long work that
 * a picture can be written and replaces no input. */
#ifndef APP_CANVAS_H
#define APP_CANVAS_H

#include <cairo/cairo.h>
#include <stdbool.h>

#include "engine/base/file.h"
#include "ordernet.h"

typedef struct canvas {
    cairo_t *cr;
    bool png;
    output *out;
    onet_status failed; /* set by the caller when drawing fails: canvas_close then writes nothing */
} canvas;

/* Opens a white sheet with the colour INK. ONET_USAGE for a name that ends in neither .svg nor .png. */
onet_status canvas_open(canvas *c, const char *path, double width, double height, onet_error *err);
/* Writes the file, or removes it if drawing failed, and frees the canvas. */
onet_status canvas_close(canvas *c, onet_error *err);

typedef struct colour {
    double r, g, b;
} colour;
extern const colour INK, GREY, PALE;
/* Returns one of 8 colours that remain distinct for colour-blind readers; repeats after 8. */
colour palette(int i);
void canvas_colour(canvas *c, colour k);

/* Text has its left end, middle or right end at x and its baseline at y. */
typedef enum align { LEFT, MIDDLE, RIGHT } align;
typedef struct text_style {
    double size;
    bool bold;
    align align;
} text_style;
/* Returns the distance of ticks, 1, 2 or 5 times a power of 10, that gives about 6 ticks over the span. */
double canvas_step(double span);
/* Draws a filled circle. */
void canvas_dot(canvas *c, double x, double y, double radius);
double canvas_text_width(canvas *c, text_style style, const char *text);
void canvas_text(canvas *c, double x, double y, text_style style, const char *text);

/* Calls draw(context, path, err) once when path ends in .svg or .png; with PATH.svg and PATH.png otherwise.
 */
onet_status canvas_both(const char *path,
                        onet_status (*draw)(const void *context, const char *path, onet_error *err),
                        const void *context, onet_error *err);
/* Fails if canvas_both could not write its files: call it before the work whose result is drawn. */
onet_status canvas_possible(const char *path, onet_error *err);
/* ONET_USAGE if canvas_both would replace the file `read`. */
onet_status canvas_keeps(const char *path, const char *read, onet_error *err);

#endif
