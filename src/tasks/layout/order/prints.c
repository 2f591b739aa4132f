/* Orders a book page by the rule "prints": top-down, but an initial (large first letter) before the text that
 * wraps around it, and of two texts side by side the left one first. Running titles and page numbers of one
 * row go in the order that the caller chooses (page_titles), since books differ (experiments/pages). */
#include <math.h>
#include <stdlib.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "tasks/layout/order/rules.h"

/* An initial lies in its text, in the upper half, not further from the left edge than this share of the
 * text's width; what is about as high as the text is a column in a frame. */
static const double LEFT = 0.2, HIGHEST = 0.9;

/* Two regions are side by side if they share so much of the lower one's height, and no width. */
static const double SIDE_BY_SIDE = 0.5;

static bool is_text(const page_kind *kinds, int i) {
    return !kinds || kinds[i] == KIND_TEXT || kinds[i] == KIND_HEADING;
}

static bool is_initial_of(const page_box *initial, const page_box *text) {
    return page_box_lies_in(initial, text) && initial->x0 - text->x0 < LEFT * page_box_width(text) &&
           initial->y0 + initial->y1 < text->y0 + text->y1 &&
           page_box_height(initial) < HIGHEST * page_box_height(text);
}

bool rule_has_initials(const page_box *boxes, int n, double highest) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (page_box_height(&boxes[i]) <= highest && is_initial_of(&boxes[i], &boxes[j])) return true;
    return false;
}

/* Returns the smallest text that region i is the initial of, or -1. */
static int32_t text_of(const page_box *boxes, const page_kind *kinds, int n, int i) {
    int32_t text = -1;
    for (int j = 0; j < n && is_text(kinds, i); j++)
        if (is_text(kinds, j) && is_initial_of(&boxes[i], &boxes[j]) &&
            (text < 0 || page_box_area(&boxes[j]) < page_box_area(&boxes[text])))
            text = j;
    return text;
}

static bool side_by_side(const page_box *a, const page_box *b) {
    double shared = fmin(a->y1, b->y1) - fmax(a->y0, b->y0);
    return shared > SIDE_BY_SIDE * fmin(page_box_height(a), page_box_height(b)) &&
           (a->x1 <= b->x0 || b->x1 <= a->x0);
}

static bool is_furniture(const page_kind *kinds, int i) {
    return kinds && kinds[i] == KIND_FURNITURE;
}

static bool is_note(const page_kind *kinds, int i) {
    return kinds && kinds[i] == KIND_NOTE;
}

static bool further_left(const page_box *a, const page_box *b) {
    return a->x0 < b->x0;
}

static bool wider(const page_box *a, const page_box *b) {
    return page_box_width(a) > page_box_width(b);
}

static bool further_right(const page_box *a, const page_box *b) {
    return a->x0 > b->x0;
}

/* Sorts regions that are side by side, follow each other in the order, and begin below `top`. */
static void sort_rows(const page_box *boxes, const page_kind *kinds, int n, double top,
                      bool (*sorted)(const page_kind *kinds, int i),
                      bool (*before)(const page_box *a, const page_box *b), int32_t *order) {
    for (int i = 1; i < n; i++)
        for (int j = i; j > 0 && sorted(kinds, order[j]) && sorted(kinds, order[j - 1]); j--) {
            int32_t first = order[j - 1], second = order[j];
            if (boxes[first].y0 <= top || boxes[second].y0 <= top ||
                !side_by_side(&boxes[first], &boxes[second]) || !before(&boxes[second], &boxes[first]))
                break;
            order[j - 1] = second;
            order[j] = first;
        }
}

/* Sorts running titles, page numbers, signature marks and catch-words. */
static void sort_furniture(page_titles titles, const page_box *boxes, const page_kind *kinds, int n,
                           int32_t *order) {
    page_box all = page_box_none;
    for (int i = 0; i < n; i++) {
        page_box_add(&all, boxes[i].x0, boxes[i].y0);
        page_box_add(&all, boxes[i].x1, boxes[i].y1);
    }
    switch (titles) {
    case TITLES_WIDEST_FIRST:
        sort_rows(boxes, kinds, n, -INFINITY, is_furniture, wider, order);
        break;
    case TITLES_LEFT_FIRST:
        sort_rows(boxes, kinds, n, -INFINITY, is_furniture, further_left, order);
        break;
    case TITLES_CATCHWORD_FIRST:
        sort_rows(boxes, kinds, n, (all.y0 + all.y1) / 2, is_furniture, further_right, order);
        break;
    case TITLES_HIGHEST_FIRST: /* as they are */
        break;
    }
}

onet_status rule_prints(page_titles titles, const page_box *boxes, const page_kind *kinds, int n,
                        int32_t *order, onet_error *err) {
    int32_t *down = array_new((size_t)n + 1, sizeof *down);
    int32_t *text = array_new((size_t)n + 1, sizeof *text); /* [n]: the text of each initial, else -1 */
    bool *has_initials = array_new((size_t)n + 1, sizeof *has_initials);
    onet_status status = down && text && has_initials ? ONET_OK : fail_memory(err, "the boxes of a page");
    if (!status) status = rule_order(RULE_TOP_DOWN, boxes, kinds, n, 0, down, err);
    int done = 0;
    for (int i = 0; i < n && !status; i++) text[i] = text_of(boxes, kinds, n, i);
    /* A text is larger than its initials, so that the chains end. */
    for (int i = 0; i < n && !status; i++) {
        while (text[i] >= 0 && text[text[i]] >= 0) text[i] = text[text[i]];
        if (text[i] >= 0) has_initials[text[i]] = true;
    }
    for (int t = 0; t < n && !status; t++) {
        int32_t i = down[t];
        if (text[i] >= 0) continue;
        for (int k = 0; k < n && has_initials[i]; k++)
            if (text[down[k]] == i) order[done++] = down[k];
        order[done++] = i;
    }
    if (!status) sort_rows(boxes, kinds, n, -INFINITY, is_text, further_left, order);
    if (!status) sort_rows(boxes, kinds, n, -INFINITY, is_note, further_left, order);
    if (!status) sort_furniture(titles, boxes, kinds, n, order);
    free(down);
    free(text);
    free(has_initials);
    return status;
}
