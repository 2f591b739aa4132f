/* Opens a cairo drawing surface for an SVG or PNG file, or for one of each, writes the file, and draws what
 * all pictures share: text, dots, colours; computes the distance of ticks. Also checks before long work that
 * a picture can be written and replaces no input. */
#include "app/canvas.h"

#include <cairo/cairo-svg.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/shown.h"

static const double PNG_SCALE = 2;

const colour INK = {0.13, 0.15, 0.18}, GREY = {0.45, 0.48, 0.52}, PALE = {0.88, 0.89, 0.91};

static bool ends_in(const char *path, const char *end) {
    size_t length = strlen(path), tail = strlen(end);
    return length > tail && !strcmp(path + length - tail, end);
}

static cairo_status_t write_bytes(void *closure, const unsigned char *data, unsigned length) {
    canvas *c = closure;
    output_write(c->out, data, length);
    return output_status(c->out, NULL) ? CAIRO_STATUS_WRITE_ERROR : CAIRO_STATUS_SUCCESS;
}

onet_status canvas_open(canvas *c, const char *path, double width, double height, onet_error *err) {
    *c = (canvas){.png = ends_in(path, ".png")};
    if (!c->png && !ends_in(path, ".svg"))
        return fail(err, ONET_USAGE, "expected a picture's name that ends in .svg or .png, not '%s'", path);
    onet_status status = output_open(&c->out, path, err);
    if (status) return status;
    cairo_surface_t *surface = c->png
                                   ? cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)(width * PNG_SCALE),
                                                                (int)(height * PNG_SCALE))
                                   : cairo_svg_surface_create_for_stream(write_bytes, c, width, height);
    c->cr = cairo_create(surface);
    cairo_surface_destroy(surface); /* cr keeps a reference */
    if (c->png) cairo_scale(c->cr, PNG_SCALE, PNG_SCALE);
    cairo_set_source_rgb(c->cr, 1, 1, 1);
    cairo_paint(c->cr);
    canvas_colour(c, INK);
    return ONET_OK;
}

onet_status canvas_close(canvas *c, onet_error *err) {
    cairo_surface_t *surface = cairo_surface_reference(cairo_get_target(c->cr));
    cairo_status_t drawn = cairo_status(c->cr);
    cairo_destroy(c->cr);
    if (!drawn && c->png) drawn = cairo_surface_write_to_png_stream(surface, write_bytes, c);
    cairo_surface_finish(surface);
    if (!drawn) drawn = cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    onet_status failed = c->failed ? c->failed : output_status(c->out, err);
    if (!failed && !drawn) return output_commit(c->out, err);
    output_abort(c->out);
    if (failed) return failed;
    if (drawn == CAIRO_STATUS_NO_MEMORY) return fail_memory(err, "a picture");
    return fail(err, ONET_FAILED, "the picture could not be drawn: %s", cairo_status_to_string(drawn));
}

double canvas_step(double span) {
    double power = pow(10, floor(log10(span / 6))), part = span / 6 / power;
    static const double steps[] = {1, 2, 5};
    for (int i = 0; i < 3; i++)
        if (part <= steps[i]) return power * steps[i];
    return power * 10;
}

colour palette(int i) {
    static const colour colours[] = {{0.00, 0.45, 0.70}, {0.84, 0.37, 0.00}, {0.00, 0.62, 0.45},
                                     {0.80, 0.47, 0.65}, {0.34, 0.71, 0.91}, {0.90, 0.62, 0.00},
                                     {0.55, 0.55, 0.55}, {0.10, 0.10, 0.10}};
    return colours[i % 8];
}

void canvas_colour(canvas *c, colour k) {
    cairo_set_source_rgb(c->cr, k.r, k.g, k.b);
}

static void set_font(canvas *c, text_style style) {
    cairo_select_font_face(c->cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                           style.bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(c->cr, style.size);
}

double canvas_text_width(canvas *c, text_style style, const char *from) {
    char text[SHOWN];
    cairo_text_extents_t box;
    set_font(c, style);
    cairo_text_extents(c->cr, shown(text, from), &box); /* cairo refuses to draw what is not UTF-8 */
    return box.x_advance;
}

void canvas_dot(canvas *c, double x, double y, double radius) {
    cairo_new_path(c->cr);
    cairo_arc(c->cr, x, y, radius, 0, 6.283185307179586);
    cairo_fill(c->cr);
}

void canvas_text(canvas *c, double x, double y, text_style style, const char *from) {
    char text[SHOWN];
    double width = canvas_text_width(c, style, from);
    if (style.align == MIDDLE) x -= width / 2;
    if (style.align == RIGHT) x -= width;
    cairo_move_to(c->cr, x, y);
    cairo_show_text(c->cr, shown(text, from));
    cairo_new_path(c->cr);
}

/* Whether PATH.svg would be a hidden file, such as small/.svg, or one that begins with a dash. */
static bool names_no_file(const char *path) {
    const char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;
    return !*last || !strcmp(last, ".") || !strcmp(last, "..") || !strcmp(path, "-");
}

onet_status canvas_both(const char *path,
                        onet_status (*draw)(const void *context, const char *path, onet_error *err),
                        const void *context, onet_error *err) {
    if (ends_in(path, ".svg") || ends_in(path, ".png")) return draw(context, path, err);
    if (names_no_file(path))
        return fail(err, ONET_USAGE, "'%s' is no name for a picture; name a file, such as picture.svg", path);
    char name[4096];
    if (strlen(path) + 5 > sizeof name) return fail(err, ONET_USAGE, "the name of the picture is too long");
    snprintf(name, sizeof name, "%s.svg", path);
    onet_status status = draw(context, name, err);
    if (status) return status;
    snprintf(name, sizeof name, "%s.png", path);
    return draw(context, name, err);
}

static onet_status possible(const void *context, const char *path, onet_error *err) {
    (void)context;
    return output_possible(path, err);
}

onet_status canvas_possible(const char *path, onet_error *err) {
    return canvas_both(path, possible, NULL, err);
}

static onet_status keeps(const void *context, const char *path, onet_error *err) {
    const char *read = context;
    if (!output_replaces(path, read)) return ONET_OK;
    return fail(err, ONET_USAGE, "%s would be overwritten by the picture %s; name another file", read, path);
}

onet_status canvas_keeps(const char *path, const char *read, onet_error *err) {
    return canvas_both(path, keeps, read, err);
}
