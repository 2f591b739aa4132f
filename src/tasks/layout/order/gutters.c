/* Orders a page by the rule "gutters", which divides it by white space and separators: takes one part of the
 * page after another, lets the other gutters_*.c cut it into bands (rows with the same white between columns)
 * and columns, and orders what none cuts by XY-cut or the rule "prints"; can list the divisions. Columns are
 * found anew in each band, so two paragraphs of neighbouring columns that happen to end at the same height
 * divide nothing. */
#include "tasks/layout/order/gutters.h"

#include <stdlib.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "tasks/layout/order/clean.h"

/* Whether a separator has regions on one side alone: it divides nothing then. */
static bool at_edge(const cutting *c, int start, int end, int32_t line) {
    bool vertical = is_vertical(c, line), before = false, after = false;
    double at = vertical ? c->boxes[line].x0 : c->boxes[line].y0;
    for (int k = start; k < end && !(before && after); k++) {
        if (c->order[k] >= c->n) continue;
        const page_box *b = &c->boxes[c->order[k]];
        double middle = vertical ? (b->x0 + b->x1) / 2 : (b->y0 + b->y1) / 2;
        if (middle < at)
            before = true;
        else
            after = true;
    }
    return !(before && after);
}

/* Moves separators that divide nothing to the end of a part; returns where they begin. */
static int set_aside(cutting *c, int start, int end) {
    for (int k = start; k < end;) {
        int32_t i = c->order[k];
        if (i < c->n || !at_edge(c, start, end, i)) {
            k++;
            continue;
        }
        c->order[k] = c->order[--end];
        c->order[end] = i;
    }
    return end;
}

/* Orders boxes that no gutter divides: running titles and page numbers of a row, text with notes in its
 * margin, regions that overlap. On a page of a book they are read from top to bottom, and which of two titles
 * is first follows the height as well (experiments/pages); on one of columns, what is beside each other is
 * read from left to right. */
static onet_status order_part(cutting *c, int start, int end, onet_error *err) {
    bool newspaper = c->columns > 2 || (c->columns == 2 && c->all > c->n);
    int count = 0, last = end;
    for (int k = start; k < end; k++)
        if (c->order[k] < c->n) {
            c->part[count] = c->order[k];
            c->some[count] = c->given[c->order[k]];
            c->some_are[count++] = kind_of(c, c->order[k]);
        }
    int32_t *found = array_new((size_t)count + 1, sizeof *found);
    if (!found) return fail_memory(err, "the boxes of a page");
    bool cells = count > 2; /* those of a row need not be level as they are given */
    for (int k = 0; k < count && cells; k++)
        cells = c->some_are[k] == KIND_TEXT && page_box_height(&c->some[k]) <= LOW * fmax(c->unit, c->wide);
    for (int k = 0; k < count && cells; k++) c->some[k] = c->boxes[c->part[k]];
    bool titles = true;
    for (int k = 0; k < count && titles; k++) titles = c->some_are[k] == KIND_FURNITURE;
    newspaper = newspaper && !rule_has_initials(c->some, count, 2 * LOW * c->unit);
    if (titles) newspaper = count > 2 || c->columns > 3 || c->facing || (newspaper && c->all > c->n);
    onet_status status = newspaper
                             ? rule_xy_cut(&(xy_cut){true, 0, 0, 0.008}, c->some, count, 0, found, err)
                             : rule_prints(TITLES_HIGHEST_FIRST, c->some, c->some_are, count, found, err);
    for (int k = end - 1; k >= start && !status; k--)
        if (c->order[k] >= c->n) c->order[--last] = c->order[k];
    for (int k = 0; k < count && !status; k++) c->order[start + k] = c->part[found[k]];
    free(found);
    return status;
}

/* Cuts order[start .. end), or leaves it for order_part. */
static void cut_part(cutting *c, int start, int end) {
    end = set_aside(c, start, end);
    if (end - start < 2) return;
    int rows = rows_find(c, start, end), cells = 0;
    for (int k = 0; k < rows; k++) cells += c->rows[k].cells;
    if (2 * cells <= rows && cut_fold(c, start, end)) return;
    mark_titles(c, rows);
    if (cut_heads(c, start, end)) return;
    bool low = rows == 1 && (c->rows[0].furniture || c->rows[0].bottom - c->rows[0].top < LOW * c->unit);
    if (!low && ((rows > 1 && cut_bands(c, rows)) || cut_columns(c, start, end, rows))) return;
    c->uncut[c->uncut_count++] = start;
    c->uncut[c->uncut_count++] = end;
}

static bool make_room(cutting *c, bool divisions) {
    size_t room = (size_t)c->all;
    c->work = array_new(room, sizeof *c->work);
    c->gaps = array_new(room, sizeof *c->gaps);
    c->rows = array_new(room, sizeof *c->rows);
    c->a.at = array_new(room, sizeof *c->a.at);
    c->b.at = array_new(room, sizeof *c->b.at);
    c->merged.at = array_new(room, sizeof *c->merged.at);
    c->order = array_new(room, sizeof *c->order);
    c->part = array_new(room, sizeof *c->part);
    c->some = array_new(room, sizeof *c->some);
    c->some_are = array_new(room, sizeof *c->some_are);
    c->stack = array_new(2 * room + 2, sizeof *c->stack);
    c->uncut = array_new(2 * room, sizeof *c->uncut);
    if (divisions) c->divisions = array_new(room, sizeof *c->divisions);
    return c->work && c->gaps && c->rows && c->a.at && c->b.at && c->merged.at && c->order && c->part &&
           c->some && c->some_are && c->stack && c->uncut && (c->divisions || !divisions);
}

static void free_room(cutting *c) {
    free(c->work);
    free(c->gaps);
    free(c->rows);
    free(c->a.at);
    free(c->b.at);
    free(c->merged.at);
    free(c->order);
    free(c->part);
    free(c->some);
    free(c->some_are);
    free(c->stack);
    free(c->uncut);
    free(c->divisions);
}

/* Writes the divisions in places of the order without separators; returns their number. */
static int plain_divisions(cutting *c, page_division *divisions) {
    int *place = c->stack, done = 0, count = 0;
    place[0] = 0;
    for (int i = 0; i < c->all; i++) place[i + 1] = done += c->order[i] < c->n;
    for (int k = 0; k < c->division_count; k++) {
        const page_division *d = &c->divisions[k];
        page_division plain = {place[d->start], place[d->middle], place[d->end], d->doubt};
        if (plain.start < plain.middle && plain.middle < plain.end) divisions[count++] = plain;
    }
    return count;
}

onet_status rule_gutters(const page_box *boxes, const page_kind *kinds, int n, int lines, int32_t *order,
                         page_division *divisions, int *count, onet_error *err) {
    if (count) *count = 0;
    if (n < 1) return ONET_OK;
    int all = n + lines, done = 0;
    page_box whole = page_box_none;
    for (int i = 0; i < n; i++) {
        page_box_add(&whole, boxes[i].x0, boxes[i].y0);
        page_box_add(&whole, boxes[i].x1, boxes[i].y1);
    }
    double height = page_box_height(&whole);
    cutting c = {.boxes = boxes,
                 .kinds = kinds,
                 .n = n,
                 .all = all,
                 .unit = height > 0 ? height : 1,
                 .wide = page_box_width(&whole)};
    page_box *straight = array_new((size_t)all, sizeof *straight),
             *given = array_new((size_t)all, sizeof *given);
    onet_status status = make_room(&c, divisions != NULL) && straight && given
                             ? boxes_clean(boxes, n, lines, straight, given, err)
                             : fail_memory(err, "the boxes of a page");
    c.boxes = straight;
    c.given = given;
    if (!status) status = white_find_usual(&c, err);
    if (!status) part_push(&c, 0, all);
    for (int i = 0; i < all && !status; i++) c.order[i] = i;
    while (c.depth && !status) {
        int end = c.stack[--c.depth], start = c.stack[--c.depth];
        cut_part(&c, start, end);
    }
    while (c.uncut_count && !status) {
        int end = c.uncut[--c.uncut_count], start = c.uncut[--c.uncut_count];
        status = order_part(&c, start, end, err);
    }
    if (divisions && !status) *count = plain_divisions(&c, divisions);
    for (int i = 0; i < all && !status; i++)
        if (c.order[i] < n) order[done++] = c.order[i];
    free(straight);
    free(given);
    free_room(&c);
    return status;
}
