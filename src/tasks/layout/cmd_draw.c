/* ordernet pages draw: draws a page's regions with the given and the predicted reading order. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/canvas.h"
#include "app/command.h"
#include "engine/base/error.h"
#include "tasks/layout/draw.h"
#include "tasks/layout/options.h"

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

/* The scan that the file names, as PNG or JPEG: under that name, or its last part, below the folder of the
 * file or the one above it, which is the workspace in OCR-D; or in `images` there. path [PATH_MAX]. */
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
