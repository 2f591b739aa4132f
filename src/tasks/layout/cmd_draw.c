/* ordernet pages draw: draws a page's regions with the given and the found reading order, over the scan (PNG
 * or JPEG) if --image or the page file names one. */
#include <cairo/cairo.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jpeglib.h> /* needs stdio.h before it */

#include "app/canvas.h"
#include "app/command.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "tasks/layout/commands.h"

/* ---- scans of pages, to draw over ---- */

/* A picture of a page has at most some 1,600 pixels per panel; libjpeg reads larger scans smaller at once. */
enum { ENOUGH = 2000, MOST_SIDE = 32767 };

/* libjpeg ends the program on an error, unless its handler jumps away. */
typedef struct jpeg_failure {
    struct jpeg_error_mgr manager; /* first: libjpeg knows only this part */
    jmp_buf back;
    char text[JMSG_LENGTH_MAX];
} jpeg_failure;

static void leave(j_common_ptr jpeg) {
    jpeg_failure *f = (jpeg_failure *)jpeg->err;
    f->manager.format_message(jpeg, f->text);
    longjmp(f->back, 1);
}

static void say_nothing(j_common_ptr jpeg, int level) {
    (void)jpeg;
    (void)level;
}

/* Reads the rows of the picture into a surface. All that must outlive a jump belongs to the caller. */
static void read_rows(struct jpeg_decompress_struct *jpeg, FILE *file, cairo_surface_t **scan) {
    jpeg_create_decompress(jpeg);
    jpeg_stdio_src(jpeg, file);
    jpeg_read_header(jpeg, TRUE);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ /* cairo's RGB24 is one number per pixel */
    jpeg->out_color_space = JCS_EXT_XRGB;
#else
    jpeg->out_color_space = JCS_EXT_BGRX;
#endif
    jpeg->scale_num = 1;
    jpeg->scale_denom = 1;
    while (jpeg->scale_denom < 8 && jpeg->image_height / jpeg->scale_denom > ENOUGH) jpeg->scale_denom *= 2;
    jpeg_start_decompress(jpeg);
    if (jpeg->output_width > MOST_SIDE || jpeg->output_height > MOST_SIDE) return;
    *scan = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)jpeg->output_width, (int)jpeg->output_height);
    if (cairo_surface_status(*scan) != CAIRO_STATUS_SUCCESS) return;
    unsigned char *pixels = cairo_image_surface_get_data(*scan);
    size_t stride = (size_t)cairo_image_surface_get_stride(*scan);
    while (jpeg->output_scanline < jpeg->output_height) {
        JSAMPROW row = pixels + stride * jpeg->output_scanline;
        jpeg_read_scanlines(jpeg, &row, 1);
    }
    cairo_surface_mark_dirty(*scan);
}

static onet_status read_jpeg(cairo_surface_t **scan, FILE *file, const char *path, onet_error *err) {
    struct jpeg_decompress_struct jpeg = {0};
    jpeg_failure failure = {0};
    jpeg.err = jpeg_std_error(&failure.manager);
    failure.manager.error_exit = leave;
    failure.manager.emit_message = say_nothing;
    if (setjmp(failure.back)) {
        jpeg_destroy_decompress(&jpeg);
        return fail(err, ONET_BAD, "%s cannot be read as JPEG: %s", path, failure.text);
    }
    read_rows(&jpeg, file, scan);
    jpeg_destroy_decompress(&jpeg);
    if (*scan && cairo_surface_status(*scan) == CAIRO_STATUS_SUCCESS) return ONET_OK;
    return fail(err, ONET_BAD, "%s: the scan is too large to draw", path);
}

/* Reads a PNG or JPEG file, by its first bytes; a large JPEG at a fraction of its size. Free it with
 * cairo_surface_destroy. */
static onet_status scan_read(cairo_surface_t **scan, const char *path, onet_error *err) {
    unsigned char first[3] = {0};
    *scan = NULL;
    FILE *file = fopen(path, "rb");
    if (!file) return fail(err, ONET_IO, "cannot open %s: %s", path, strerror(errno));
    onet_status status = ONET_OK;
    size_t size = fread(first, 1, sizeof first, file);
    if (size == 3 && first[0] == 0xff && first[1] == 0xd8 && first[2] == 0xff) {
        rewind(file);
        status = read_jpeg(scan, file, path, err);
    } else if (size < 3 || memcmp(first, "\x89PN", 3) != 0) {
        status = fail(err, ONET_BAD, "%s is neither a PNG nor a JPEG file", path);
    } else {
        *scan = cairo_image_surface_create_from_png(path);
        if (cairo_surface_status(*scan) != CAIRO_STATUS_SUCCESS)
            status = fail(err, ONET_BAD, "%s cannot be read as PNG or JPEG: %s", path,
                          cairo_status_to_string(cairo_surface_status(*scan)));
    }
    fclose(file);
    if (status && *scan) {
        cairo_surface_destroy(*scan);
        *scan = NULL;
    }
    return status;
}

enum { HEIGHT = 720, EDGE = 20, GAP = 24, TITLE = 24, LEGEND = 26, LEGEND_WIDTH = 900 };

typedef struct drawing {
    const page *p;
    const char *image;
} drawing;

/* Where the page is on the canvas. */
typedef struct frame {
    double x, y, scale, left, top, width;
} frame;

static page_box extent(const page *p) {
    page_box all = page_box_none;
    if (p->width > 0 && p->height > 0) {
        page_box_add(&all, 0, 0);
        page_box_add(&all, p->width, p->height);
    }
    for (int i = 0; i < p->count; i++) {
        page_box_add(&all, p->regions[i].box.x0, p->regions[i].box.y0);
        page_box_add(&all, p->regions[i].box.x1, p->regions[i].box.y1);
    }
    if (!page_box_valid(&all)) all = (page_box){0, 0, 1, 1};
    return all;
}

static void draw_scan(canvas *c, const frame *f, const page *p, cairo_surface_t *scan) {
    double width = cairo_image_surface_get_width(scan);
    if (width < 1 || p->width <= 0) return;
    cairo_save(c->cr);
    cairo_translate(c->cr, f->x - f->left * f->scale, f->y - f->top * f->scale);
    cairo_scale(c->cr, p->width * f->scale / width, p->width * f->scale / width);
    cairo_set_source_surface(c->cr, scan, 0, 0);
    cairo_paint_with_alpha(c->cr, 0.5);
    cairo_restore(c->cr);
}

static void draw_arrow(canvas *c, double x0, double y0, double x1, double y1) {
    double length = hypot(x1 - x0, y1 - y0), head = 5;
    cairo_move_to(c->cr, x0, y0);
    cairo_line_to(c->cr, x1, y1);
    if (length > head) {
        double dx = (x1 - x0) / length * head, dy = (y1 - y0) / length * head;
        cairo_move_to(c->cr, x1 - dx - dy / 2, y1 - dy + dx / 2);
        cairo_line_to(c->cr, x1, y1);
        cairo_line_to(c->cr, x1 - dx + dy / 2, y1 - dy - dx / 2);
    }
    cairo_stroke(c->cr);
}

/* Draws the places as numbers in the upper left corners, side by side if several regions share a corner. */
static onet_status draw_numbers(canvas *c, const frame *f, const page *p, const int32_t *order,
                                onet_error *err) {
    enum { SIZE = 9, MOST = 8 };
    double *x = array_new((size_t)p->placed + 1, sizeof *x), *y = array_new((size_t)p->placed + 1, sizeof *y);
    onet_status status = x && y ? ONET_OK : fail_memory(err, "a drawing");
    if (!status) canvas_colour(c, INK);
    for (int k = 0; k < p->placed && !status; k++) {
        const page_box *b = &p->regions[order[k]].box;
        const text_style style = {SIZE, true, LEFT};
        char text[16];
        snprintf(text, sizeof text, "%d", k + 1);
        double width = canvas_text_width(c, style, text) + 2;
        x[k] = f->x + (b->x0 - f->left) * f->scale + 2;
        y[k] = f->y + (b->y0 - f->top) * f->scale + SIZE;
        int moved = 0;
        for (int j = 0; j < k && moved < MOST; j++)
            if (fabs(x[j] - x[k]) < width && fabs(y[j] - y[k]) < SIZE - 2) {
                x[k] = x[j] + width;
                moved++;
                j = -1;
            }
        canvas_text(c, x[k], y[k], style, text);
    }
    free(x);
    free(y);
    return status;
}

/* Draws the steps of one order; those that the other order does not have are orange. */
static onet_status draw_order(canvas *c, const frame *f, const page *p, bool found, onet_error *err) {
    onet_status status;
    int32_t *order = array_new((size_t)p->placed + 1, sizeof *order);
    if (!order) return fail_memory(err, "a drawing");
    page_order_of(p, found, order);
    cairo_set_line_width(c->cr, 1.2);
    for (int k = 0; k + 1 < p->placed; k++) {
        const page_region *a = &p->regions[order[k]], *b = &p->regions[order[k + 1]];
        bool shared = !p->ordered || (found ? b->given == a->given + 1 : b->found == a->found + 1);
        canvas_colour(c, palette(shared ? 0 : 1));
        draw_arrow(c, f->x + ((a->box.x0 + a->box.x1) / 2 - f->left) * f->scale,
                   f->y + ((a->box.y0 + a->box.y1) / 2 - f->top) * f->scale,
                   f->x + ((b->box.x0 + b->box.x1) / 2 - f->left) * f->scale,
                   f->y + ((b->box.y0 + b->box.y1) / 2 - f->top) * f->scale);
    }
    status = draw_numbers(c, f, p, order, err);
    free(order);
    return status;
}

/* What the kinds of regions are called in the legend, and their colours. */
static const struct {
    const char *name;
    colour fill;
} kinds[] = {
    [KIND_TEXT] = {"text", {0.93, 0.95, 1}},
    [KIND_HEADING] = {"heading", {1, 0.93, 0.8}},
    [KIND_FURNITURE] = {"header, footer, page number", {0.9, 0.9, 0.9}},
    [KIND_NOTE] = {"note, caption", {0.88, 0.97, 0.88}},
    [KIND_OTHER] = {"table, image", {0.97, 0.88, 0.97}},
    [KIND_SEPARATOR] = {"separator", {0.7, 0.7, 0.7}},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static double legend_text(canvas *c, double x, double y, const char *text) {
    text_style style = {10, false, LEFT};
    canvas_colour(c, INK);
    canvas_text(c, x, y, style, text);
    return x + canvas_text_width(c, style, text) + 16;
}

/* Draws the kinds of regions that the page has, and what the colours of the arrows mean. */
static void draw_legend(canvas *c, const page *p, double x, double y) {
    bool has[KINDS] = {0};
    for (int i = 0; i < p->count; i++) has[p->regions[i].kind] = true;
    for (int k = 0; k < KINDS; k++) {
        if (!has[k]) continue;
        cairo_rectangle(c->cr, x, y - 9, 12, 10);
        canvas_colour(c, kinds[k].fill);
        cairo_fill_preserve(c->cr);
        canvas_colour(c, GREY);
        cairo_set_line_width(c->cr, 0.5);
        cairo_stroke(c->cr);
        x = legend_text(c, x + 16, y, kinds[k].name);
    }
    if (!p->ordered || p->placed < 2) return;
    cairo_set_line_width(c->cr, 1.2);
    for (int k = 0; k < 2; k++) {
        canvas_colour(c, palette(k));
        draw_arrow(c, x, y - 4, x + 18, y - 4);
        x = legend_text(c, x + 22, y, k ? "step of this order only" : "step of both orders");
    }
}

static void draw_boxes(canvas *c, const frame *f, const page *p, double alpha) {
    for (int i = 0; i < p->count; i++) {
        const page_region *r = &p->regions[i];
        const colour *k = &kinds[r->kind].fill;
        cairo_rectangle(c->cr, f->x + (r->box.x0 - f->left) * f->scale,
                        f->y + (r->box.y0 - f->top) * f->scale, page_box_width(&r->box) * f->scale,
                        page_box_height(&r->box) * f->scale);
        cairo_set_source_rgba(c->cr, k->r, k->g, k->b, alpha);
        cairo_fill_preserve(c->cr);
        canvas_colour(c, GREY);
        cairo_set_line_width(c->cr, 0.5);
        cairo_stroke(c->cr);
    }
}

static onet_status draw(const void *context, const char *path, onet_error *err) {
    const drawing *d = context;
    const page *p = d->p;
    page_box all = extent(p);
    double height = page_box_height(&all) > 0 ? page_box_height(&all) : 1;
    double scale = HEIGHT / height, width = fmin(page_box_width(&all) * scale, 6.0 * HEIGHT);
    int panels = p->ordered ? 2 : 1;
    cairo_surface_t *scan = NULL;
    onet_status status = d->image ? scan_read(&scan, d->image, err) : ONET_OK;
    canvas c;
    if (!status)
        status = canvas_open(&c, path, fmax(2 * EDGE + panels * (width + GAP) - GAP, LEGEND_WIDTH),
                             2 * EDGE + TITLE + HEIGHT + LEGEND, err);
    if (!status) {
        onet_status closed;
        for (int k = 0; k < panels && !status; k++) {
            bool found = k == panels - 1;
            frame f = {EDGE + k * (width + GAP), EDGE + TITLE, scale, all.x0, all.y0, width};
            canvas_colour(&c, INK);
            canvas_text(&c, f.x, EDGE + 10, (text_style){13, true, LEFT},
                        found ? "found order" : "given order");
            if (scan) draw_scan(&c, &f, p, scan);
            draw_boxes(&c, &f, p, scan ? 0.3 : 0.7);
            status = draw_order(&c, &f, p, found, err);
        }
        draw_legend(&c, p, EDGE, EDGE + TITLE + HEIGHT + LEGEND - 4);
        if (status) c.failed = status; /* no half picture is written */
        closed = canvas_close(&c, status ? NULL : err);
        if (!status) status = closed;
    }
    if (scan) cairo_surface_destroy(scan);
    return status;
}

/* Writes path (.svg or .png), or PATH.svg and PATH.png. image: a scan to draw over, or NULL. */
static onet_status pages_draw(const page *p, const char *image, const char *path, onet_error *err) {
    return canvas_both(path, draw, &(drawing){p, image}, err);
}

/* ---- The command ------------------------------------------------------------------------------------- */

typedef struct draw_values {
    pages_values pages;
    const char *out, *image;
    int number;
} draw_values;

static void defaults(void *values) {
    draw_values *v = values;
    pages_defaults(&v->pages);
    v->number = 1;
}

/* Finds the scan that the file names, as PNG or JPEG: under that name, or its last part, below the folder of
 * the file or the one above it, which is the workspace in OCR-D; or in `images` there. Writes path [PATH_MAX]
 * and returns it; NULL: not found. */
static const char *find_scan(const page_file *f, const page *p, char *path) {
    static const char *const between[] = {"", "../", "../images/"};
    static const char *const ends[] = {"png", "jpg", "jpeg", "PNG", "JPG"};
    const char *slash = strrchr(f->path, '/');
    size_t folder = slash ? (size_t)(slash - f->path) + 1 : 0;
    if (!p->image) return NULL;
    const char *base = p->image + strlen(p->image);
    while (base > p->image && base[-1] != '/' && base[-1] != '\\') base--;
    const char *dot = strrchr(base, '.');
    size_t stem = dot ? (size_t)(dot - base) : strlen(base);
    for (int whole = 1; whole >= 0; whole--)
        for (size_t i = 0; i < sizeof between / sizeof *between; i++)
            for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
                const char *name = whole ? p->image : base;
                int length = (int)(stem + (size_t)(base - name));
                bool absolute = *name == '/';
                if (snprintf(path, PATH_MAX, "%.*s%s%.*s.%s", absolute ? 0 : (int)folder, f->path,
                             absolute ? "" : between[i], length, name, ends[k]) < PATH_MAX &&
                    !access(path, R_OK))
                    return path;
            }
    return NULL;
}

static onet_status run(void *values, int count, char **operands, onet_error *err) {
    (void)count;
    draw_values *v = values;
    pages_net net = {0};
    page_file f = {0};
    char found[PATH_MAX];
    onet_status status = canvas_possible(v->out, err);
    if (!status) status = canvas_keeps(v->out, operands[0], err);
    if (!status) status = pages_net_open(&net, &v->pages, err);
    xml_start();
    if (!status) status = page_file_read(&f, operands[0], v->pages.types, err);
    if (!status && f.notes) fputs(f.notes, stderr);
    if (!status && (size_t)v->number > f.count)
        status = fail(err, ONET_USAGE, "--page %d: %s has %zu page%s", v->number, operands[0], f.count,
                      f.count == 1 ? "" : "s");
    page *p = status ? NULL : &f.pages[v->number - 1];
    if (!status) status = pages_order(&net, (page_rule)v->pages.rule, v->pages.rtl, &p, 1, NULL, NULL, err);
    if (!status) status = page_file_settle(&f, err);
    const char *image = status || v->image ? v->image : find_scan(&f, p, found);
    if (!status && image) status = canvas_keeps(v->out, image, err);
    if (!status) status = pages_draw(p, image, v->out, err);
    page_file_free(&f);
    pages_net_close(&net);
    return status;
}

#define AT(field) offsetof(draw_values, field)

static const option options[] = {
    OPTION(STRING, "out", AT(out), .required = true, .argument = "FILE",
           .help = "A .svg or .png file, or both where the name has neither ending."),
    OPTION(INT, "page", AT(number), .argument = "N", RANGE(1, INT_MAX),
           .help = "Which page of a file with several."),
    OPTION(STRING, "image", AT(image), .argument = "FILE",
           .default_text = "the PNG or JPEG that the file names, if it is there",
           .help = "The scan as PNG or JPEG, to draw over."),
    OPTION_PAGE_RULE(AT(pages)),
    OPTIONS_PAGES(AT(pages)),
    {0},
};

const command cmd_pages_draw = {
    .name = "pages draw",
    .summary = "Draw the given and the found reading order of a page",
    .operands = "FILE",
    .least = 1,
    .most = 1,
    .about = "Draws the regions of a page as boxes with their places as numbers and arrows from each region "
             "to the "
             "next: the given order, if the file has one, beside the found order. Arrows that the other "
             "order does not "
             "have are orange. Headings, furniture, notes and images have colours of their own.",
    .examples = "ordernet pages draw page.xml --out page.svg\n"
                "ordernet pages draw page.xml --rule xy-rows --image scan.jpg --out page.png",
    .options = options,
    .size = sizeof(draw_values),
    .defaults = defaults,
    .run = run,
};
