/* Generates random synthetic page layouts of a family: columns, headlines, facing pages, notes in the margin,
 * tables and others. A page is laid out in units of text lines from its upper left corner, in reading order;
 * then it is made to look like a scan: rotated, with noisy edges, in pixels, its regions shuffled. */
#include "tasks/layout/generate.h"

#include <math.h>

#include "engine/base/error.h"

const onet_choice *page_families(void) {
    static const onet_choice families[] = {
        {"columns", "2 to 5 columns of a few paragraphs", FAMILY_COLUMNS},
        {"overlapping", "such columns, with boxes that overlap a little", FAMILY_OVERLAPPING},
        {"separated", "such columns, with separators and uneven heights", FAMILY_SEPARATED},
        {"headline", "a headline over columns", FAMILY_HEADLINE},
        {"bands", "bands of columns, divided by rules across the page", FAMILY_BANDS},
        {"facing", "two facing pages, with running titles and page numbers", FAMILY_FACING},
        {"headings", "headings of the page, of bands and in columns", FAMILY_HEADINGS},
        {"insets", "narrow boxes between the paragraphs of columns", FAMILY_INSETS},
        {"captions", "figures with captions in columns", FAMILY_CAPTIONS},
        {"footnotes", "footnotes across the columns", FAMILY_FOOTNOTES},
        {"ads", "advertisements beside each other below a rule", FAMILY_ADS},
        {"margins", "one column with notes in the margin", FAMILY_MARGINS},
        {"table", "the rows of a table", FAMILY_TABLE},
        {"paper", "a paper of two columns: title, authors, abstract, figures, footnotes", FAMILY_PAPER},
        {"articles", "articles beside each other, each headline over columns of its own", FAMILY_ARTICLES},
        {"lines", "columns of single lines, as text recognition gives them", FAMILY_LINES},
        {"lists", "columns of the items of lists", FAMILY_LISTS},
        {"side", "a main column and a narrow one beside it", FAMILY_SIDE},
        {"white", "bands of columns, divided by white", FAMILY_WHITE},
        {"right-to-left", "any of the others, mirrored", FAMILY_RIGHT_TO_LEFT},
        {0},
    };
    return families;
}

/* A page as it is laid out, in lines of text. */
typedef struct sheet {
    page *p;
    rng *r;
    double width, height;
    double gap, gutter; /* between paragraphs, between columns */
    bool separators;    /* between columns, and above footnotes */
    bool untyped;       /* all regions are paragraphs, as many tools give them */
    int next;           /* place of the next region */
    onet_status status;
    onet_error *err;
} sheet;

static double between(sheet *s, double low, double high) {
    return low + (high - low) * rng_uniform(s->r);
}

static int any_of(sheet *s, int low, int high) {
    return low + (int)rng_below(s->r, (uint64_t)(high - low + 1));
}

static bool chance(sheet *s, double share) {
    return rng_uniform(s->r) < share;
}

static void put(sheet *s, const char *type, page_kind kind, double x0, double y0, double x1, double y1) {
    if (s->status) return;
    bool line = kind == KIND_SEPARATOR;
    if (s->untyped && !line) {
        type = "paragraph";
        kind = KIND_TEXT;
    }
    page_region *g = page_add(s->p, "", type, kind);
    if (!g) {
        s->status = fail_memory(s->err, "a page");
        return;
    }
    g->box = (page_box){x0, y0, x1, y1};
    g->listed = !line;
    g->given = line ? -1 : s->next++;
}

static void text(sheet *s, double x0, double y0, double x1, double y1) {
    put(s, "paragraph", KIND_TEXT, x0, y0, x1, y1);
}

static void across(sheet *s, double x0, double x1, double y) {
    put(s, "separator", KIND_SEPARATOR, x0, y - 0.1, x1, y + 0.1);
}

static void down(sheet *s, double x, double y0, double y1) {
    put(s, "separator", KIND_SEPARATOR, x - 0.1, y0, x + 0.1, y1);
}

/* Puts a heading, `size` lines high, centred over x0 .. x1; returns where what is below it begins. */
static double heading(sheet *s, double x0, double x1, double y, double size, double least) {
    double length = (x1 - x0) * between(s, least, 1), left = (x1 - x0 - length) / 2;
    put(s, "heading", KIND_HEADING, x0 + left, y, x0 + left + length, y + size);
    return y + size + s->gap + between(s, 0.3, 1);
}

/* What a column may have beside paragraphs. */
enum { HEADINGS = 1, INSETS = 2, FIGURES = 4, NOTES = 8 };

/* Fills a column from y0 to y1. */
static void column(sheet *s, double x0, double x1, double y0, double y1, int paragraphs, int with) {
    double y = y0, wide = x1 - x0, note = with & NOTES ? any_of(s, 2, 4) : 0,
           end = note > 0 ? y1 - note - s->gap - 0.5 : y1;
    for (int k = 0; k < paragraphs && end - y > 1.5; k++) {
        if (with & HEADINGS && chance(s, 0.4) && end - y > 5) y = heading(s, x0, x1, y, any_of(s, 1, 2), 0.4);
        if (with & FIGURES && chance(s, 0.4) && end - y > 18) {
            double high = between(s, 6, 12);
            put(s, "image", KIND_OTHER, x0, y, x1, y + high);
            y += high + 0.4;
            put(s, "caption", KIND_NOTE, x0 + between(s, 0, 0.1) * wide, y, x1 - between(s, 0, 0.1) * wide,
                y + any_of(s, 1, 2));
            y += 2 + s->gap + 0.6;
        }
        bool last = k == paragraphs - 1;
        double high = last ? end - y : fmax(1, floor((end - y) * between(s, 0.6, 1.4) / (paragraphs - k)));
        if (y + high > end || (end - y - high < 2 && !last)) high = end - y;
        if (last && chance(s, 0.3)) high *= between(s, 0.6, 1);
        text(s, x0, y, x1, y + fmax(high, 1));
        y += high + s->gap;
        if (with & INSETS && chance(s, 0.4) && end - y > 8) {
            double in = wide * between(s, 0.08, 0.2), tall = any_of(s, 2, 4);
            y += 0.5;
            text(s, x0 + in, y, x1 - in, y + tall);
            y += tall + s->gap + 0.5;
        }
    }
    if (note > 0) put(s, "footnote", KIND_NOTE, x0, y1 - note, x1, y1);
}

/* Fills columns over x0 .. x1 from y0 to y1. */
static void columns(sheet *s, int count, double x0, double x1, double y0, double y1, int with) {
    double wide = (x1 - x0 - (count - 1) * s->gutter) / count;
    for (int k = 0; k < count; k++) {
        double left = x0 + k * (wide + s->gutter);
        column(s, left, left + wide, y0, y1, any_of(s, 1, 6), with);
        if (s->separators && k && chance(s, 0.9)) down(s, left - s->gutter / 2, y0, y1);
    }
}

static void bands(sheet *s) {
    int count = any_of(s, 2, 3);
    double y = 0;
    for (int k = 0; k < count; k++) {
        double end = k == count - 1 ? s->height : s->height * (k + between(s, 0.8, 1.1)) / count;
        columns(s, any_of(s, 2, 4), 0, s->width, y, end, 0);
        y = end + s->gap + between(s, 0.6, 1.5);
        if (k < count - 1) across(s, 0, s->width, (end + y) / 2);
    }
}

static void facing(sheet *s) {
    double fold = s->gutter * between(s, 2, 4), wide = s->width;
    int count = any_of(s, 1, 3);
    bool headlines = chance(s, 0.4), titles = chance(s, 0.4), numbers = chance(s, 0.4);
    bool corners = !s->untyped && chance(s, 0.5); /* where numbers stand */
    for (int k = 0; k < 2; k++) {
        double x = k * (wide + fold), y = 0, foot = numbers ? s->height - 3 : s->height;
        double in = wide * between(s, 0.05, 0.35), at = !corners ? wide / 2 - 1 : k ? wide - 2 : 0;
        if (titles) {
            put(s, "header", KIND_FURNITURE, x + in, 0, x + wide - in, 1);
            y = 1 + between(s, 1, 2);
        }
        if (headlines) y = heading(s, x, x + wide, y, 2.5, 0.6);
        columns(s, count, x, x + wide, y, foot, 0);
        if (numbers) put(s, "page-number", KIND_FURNITURE, x + at, s->height - 1, x + at + 2, s->height);
    }
    if (s->separators) down(s, wide + fold / 2, 0, s->height);
    s->width = 2 * wide + fold;
}

static void headings(sheet *s) {
    int count = any_of(s, 2, 4), parts = any_of(s, 1, 3);
    double y = heading(s, 0, s->width, 0, 4, 0.6);
    for (int k = 0; k < parts; k++) {
        double end = y + (s->height - y) / (parts - k);
        if (k || chance(s, 0.5)) y = heading(s, 0, s->width, y + 0.5, 2, 0.6);
        columns(s, count, 0, s->width, y, end - 1, HEADINGS);
        y = end + 0.5;
    }
}

static void ads(sheet *s) {
    double y = s->height * between(s, 0.55, 0.75);
    int count = any_of(s, 2, 4);
    columns(s, any_of(s, 2, 4), 0, s->width, 0, y - 1, 0);
    across(s, 0, s->width, y);
    double wide = (s->width - (count - 1) * s->gutter) / count;
    for (int k = 0; k < count; k++) {
        double x = k * (wide + s->gutter);
        text(s, x, y + 1, x + wide, s->height - between(s, 0, 2));
        if (k) down(s, x - s->gutter / 2, y + 1, s->height);
    }
}

/* A note stands beside the paragraph that it is of, and is read after it. */
static void margins(sheet *s) {
    s->untyped = false; /* what looks like a note may be the speaker of a play */
    double y = 0, wide = s->width * between(s, 0.78, 0.86), left = chance(s, 0.5) ? s->width - wide : 0;
    bool right = left == 0;
    while (s->height - y > 8) {
        double high = fmin(between(s, 8, 20), s->height - y);
        text(s, left, y, left + wide, y + high);
        if (chance(s, 0.7)) {
            double x0 = right ? wide + s->gutter : 0, x1 = right ? s->width + s->gutter : left - s->gutter;
            double top = y + between(s, 0.1, 0.3) * high;
            put(s, "marginalia", KIND_NOTE, x0, top, x1, top + any_of(s, 1, 4));
        }
        y += high + s->gap;
    }
}

static void table(sheet *s) {
    int rows = any_of(s, 4, 14), count = any_of(s, 2, 5);
    double y = chance(s, 0.7) ? heading(s, 0, s->width, 0, 2, 0.6) + 1 : 0, pitch = s->width / count,
           space = between(s, 0.5, 1.5);
    for (int k = 0; k < rows; k++) {
        for (int i = 0; i < count; i++) text(s, i * pitch, y, (i + between(s, 0.25, 0.7)) * pitch, y + 1);
        y += 1 + space;
    }
    s->height = fmax(s->height, y);
    if (chance(s, 0.5)) text(s, 0, y + 2, s->width, s->height + 6);
}

static void paper(sheet *s) {
    double y = 0, wide = (s->width - s->gutter) / 2, foot = s->height;
    if (chance(s, 0.5)) {
        put(s, "header", KIND_FURNITURE, 0, 0, s->width * between(s, 0.4, 0.7), 1);
        y = 3;
    }
    if (chance(s, 0.6)) {
        y = heading(s, 0, s->width, y, any_of(s, 2, 4), 0.6) + 0.5;
        double in = s->width * between(s, 0.1, 0.25);
        text(s, in, y, s->width - in, y + any_of(s, 1, 3));
        y += 3 + s->gap + 1;
        double left = s->width * between(s, 0, 0.12);
        text(s, left, y, s->width - left, y + any_of(s, 5, 10));
        y += 10 + s->gap + 1;
    } else if (chance(s, 0.5)) {
        double high = between(s, 8, 14);
        put(s, "image", KIND_OTHER, 0, y, s->width, y + high);
        y += high + 0.4;
        put(s, "caption", KIND_NOTE, 0, y, s->width, y + 2);
        y += 3.5 + s->gap;
    }
    for (int k = 0; k < 2; k++) {
        double x = k * (wide + s->gutter);
        int with = HEADINGS | FIGURES | (!k && chance(s, 0.4) ? NOTES : 0);
        column(s, x, x + wide, y, foot, any_of(s, 2, 6), with);
    }
    if (chance(s, 0.5))
        put(s, "page-number", KIND_FURNITURE, s->width / 2 - 1, foot + 2, s->width / 2 + 1, foot + 3);
}

static void articles(sheet *s) {
    double middle = s->width * between(s, 0.4, 0.6),
           between_them = s->gutter + (chance(s, 0.5) ? between(s, 0, 2) : 0), size = between(s, 1.5, 2.5);
    for (int k = 0; k < 2; k++) {
        double x0 = k ? middle + between_them / 2 : 0, x1 = k ? s->width : middle - between_them / 2;
        double y = heading(s, x0, x1, 0, size, 0.8);
        columns(s, k ? any_of(s, 1, 3) : any_of(s, 2, 3), x0, x1, y, s->height, 0);
    }
    if (s->separators) down(s, middle, 0, s->height);
}

/* A page of 2 or 3 columns whose regions are single text lines, 15% of them short like paragraph ends. */
static void lines(sheet *s) {
    int count = any_of(s, 2, 3), rows = any_of(s, 15, 30);
    double wide = (s->width - (count - 1) * s->gutter) / count, pitch = s->height / rows;
    double high = pitch * between(s, 0.6, 1);
    for (int k = 0; k < count; k++) {
        double x = k * (wide + s->gutter), y = between(s, -0.1, 0.1) * pitch;
        int last = rows - (k == count - 1 ? any_of(s, 0, rows / 2) : 0);
        for (int i = 0; i < last; i++, y += pitch)
            text(s, x, y, x + wide * (chance(s, 0.15) ? between(s, 0.2, 0.9) : 1), y + high);
    }
}

static void lists(sheet *s) {
    double wide = (s->width - s->gutter) / 2;
    for (int k = 0; k < 2; k++) {
        double x = k * (wide + s->gutter), y = 0;
        while (s->height - y > 4) {
            int tall = any_of(s, 1, 4);
            double in = chance(s, 0.6) ? 0.03 * wide : 0, length = chance(s, 0.5) ? 1 : between(s, 0.5, 1);
            put(s, "list-item", KIND_TEXT, x + in, y, x + in + (wide - in) * length, y + tall);
            y += tall + s->gap;
        }
    }
}

static void side(sheet *s) {
    double wide = s->width * between(s, 0.7, 0.78), y1 = s->height * between(s, 0.45, 1);
    column(s, 0, wide, 0, s->height, any_of(s, 2, 6), 0);
    column(s, wide + s->gutter, s->width + s->gutter, 0, y1, any_of(s, 1, 4), 0);
    s->width += s->gutter;
}

static void white_bands(sheet *s) {
    int count = any_of(s, 2, 3);
    double y = 0, white = fmax(2 * s->gutter, 3 * s->gap) + between(s, 0, 1);
    for (int k = 0; k < count; k++) {
        double end = y + (s->height - y) / (count - k) * between(s, 0.8, 1);
        columns(s, any_of(s, 2, 4), 0, s->width, y, end, 0);
        y = end + white;
    }
}

/* Lays out a page of the family. */
static void lay_out(sheet *s, page_family family) {
    int count = any_of(s, 2, 5);
    double w = s->width, h = s->height, y = 0;
    switch (family) {
    case FAMILY_HEADLINE:
        y = heading(s, 0, w, 0, any_of(s, 2, 5), 0.6);
        columns(s, count, 0, w, y, h, 0);
        break;
    case FAMILY_BANDS:
        bands(s);
        break;
    case FAMILY_FACING:
        facing(s);
        break;
    case FAMILY_HEADINGS:
        headings(s);
        break;
    case FAMILY_INSETS:
        columns(s, count, 0, w, 0, h, INSETS);
        break;
    case FAMILY_CAPTIONS:
        columns(s, any_of(s, 2, 3), 0, w, 0, h, FIGURES);
        break;
    case FAMILY_FOOTNOTES:
        columns(s, any_of(s, 2, 3), 0, w, 0, h - 8, 0);
        if (s->separators) across(s, 0, w * between(s, 0.3, 1), h - 7.2);
        put(s, "footnote", KIND_NOTE, 0, h - 6.5, w, h - between(s, 1, 4));
        break;
    case FAMILY_ADS:
        ads(s);
        break;
    case FAMILY_MARGINS:
        margins(s);
        break;
    case FAMILY_TABLE:
        table(s);
        break;
    case FAMILY_PAPER:
        paper(s);
        break;
    case FAMILY_ARTICLES:
        articles(s);
        break;
    case FAMILY_LINES:
        lines(s);
        break;
    case FAMILY_LISTS:
        lists(s);
        break;
    case FAMILY_SIDE:
        side(s);
        break;
    case FAMILY_WHITE:
        white_bands(s);
        break;
    default:
        columns(s, count, 0, w, 0, h, 0);
        break;
    }
}

/* Lets the columns of a page begin a little above or below each other. */
static void make_uneven(sheet *s) {
    for (int i = 0; i < s->p->count; i++) {
        page_region *g = &s->p->regions[i];
        if (g->kind != KIND_SEPARATOR && g->box.y0 == 0) g->box.y0 = between(s, -0.8, 0.8);
    }
}

static void grow(sheet *s) {
    double by_x = s->gutter / 2 + s->height * between(s, 0, 0.002),
           by_y = s->gap / 2 + s->height * between(s, 0, 0.002);
    for (int i = 0; i < s->p->count; i++) {
        page_box *b = &s->p->regions[i].box;
        *b = (page_box){b->x0 - by_x, b->y0 - by_y, b->x1 + by_x, b->y1 + by_y};
    }
}

/* Turns lines into pixels, askew and not quite exact, and shuffles the regions. */
static void scan(sheet *s) {
    page *p = s->p;
    bool straight = chance(s, 0.4);
    double line = between(s, 20, 60), skew = straight ? 0 : between(s, -0.003, 0.003),
           noise = straight ? 0 : between(s, 0, 0.12), x = between(s, 50, 400), y = between(s, 50, 400);
    for (int i = 0; i < p->count; i++) {
        page_box b = p->regions[i].box;
        double dx = -skew * (b.y0 + b.y1) / 2, dy = skew * (b.x0 + b.x1) / 2;
        double edge[4] = {b.x0 + dx, b.y0 + dy, b.x1 + dx, b.y1 + dy};
        bool text_like = p->regions[i].kind != KIND_SEPARATOR;
        for (int k = 0; k < 4; k++)
            edge[k] = floor(line * (edge[k] + (text_like ? noise * rng_normal(s->r) : 0)) + (k % 2 ? y : x));
        p->regions[i].box =
            (page_box){edge[0], edge[1], fmax(edge[2], edge[0] + 2), fmax(edge[3], edge[1] + 2)};
    }
    for (int i = p->count - 1; i > 0; i--) {
        int k = any_of(s, 0, i);
        page_region other = p->regions[i];
        p->regions[i] = p->regions[k];
        p->regions[k] = other;
    }
    p->width = floor(line * s->width + 2 * x);
    p->height = floor(line * s->height + 2 * y);
}

onet_status page_generate(page *p, page_family family, rng *r, onet_error *err) {
    *p = (page){0};
    sheet s = {.p = p, .r = r, .err = err};
    bool mirrored = family == FAMILY_RIGHT_TO_LEFT;
    if (mirrored) family = (page_family)rng_below(r, FAMILY_RIGHT_TO_LEFT);
    s.height = between(&s, 50, 90);
    s.width = s.height * between(&s, 0.6, 0.8);
    s.gap = between(&s, 0.15, 1);
    s.gutter = between(&s, 1, 3);
    s.separators = chance(&s, 0.4) || family == FAMILY_SEPARATED;
    s.untyped = chance(&s, 0.3);
    if (family == FAMILY_OVERLAPPING) s.gutter = between(&s, 0.5, 1.5);
    do {
        page_free(p);
        *p = (page){0};
        s.next = 0;
        lay_out(&s, family);
    } while (!s.status && s.next < 2);
    if (family == FAMILY_SEPARATED) make_uneven(&s);
    if (family == FAMILY_OVERLAPPING) grow(&s);
    if (!s.status) scan(&s);
    if (mirrored && !s.status) {
        page_mirror(p);
        for (int i = 0; i < p->count; i++) {
            p->regions[i].box.x0 += p->width;
            p->regions[i].box.x1 += p->width;
        }
    }
    if (!s.status) s.status = page_place(p, NULL, err);
    if (s.status) page_free(p);
    return s.status;
}
