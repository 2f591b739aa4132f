/* Replaces each table by one region before a page is ordered, and afterwards puts its cells back, row by
 * row. */
#include "tasks/layout/order/page.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"

typedef struct cell {
    int32_t region;
    page_box box;
    int row;
} cell;

static int by_middle(const void *a, const void *b) {
    const cell *x = a, *y = b;
    double p = x->box.y0 + x->box.y1, q = y->box.y0 + y->box.y1;
    return p != q ? (p > q) - (p < q) : (x->region > y->region) - (x->region < y->region);
}

static int by_row(const void *a, const void *b) {
    const cell *x = a, *y = b;
    if (x->row != y->row) return x->row < y->row ? -1 : 1;
    return x->box.x0 != y->box.x0 ? (x->box.x0 > y->box.x0) - (x->box.x0 < y->box.x0) : by_middle(a, b);
}

/* Sorts cells [n] by rows: a cell whose middle is below the lower edge of one of the row begins the next. */
static void sort_cells(cell *cells, int n) {
    double bottom = 0;
    qsort(cells, (size_t)n, sizeof *cells, by_middle);
    for (int k = 0, row = 0; k < n; k++) {
        const page_box *b = &cells[k].box;
        if (!k || (b->y0 + b->y1) / 2 > bottom) {
            row += k > 0;
            bottom = b->y1;
        }
        if (b->y1 < bottom) bottom = b->y1;
        cells[k].row = row;
    }
    qsort(cells, (size_t)n, sizeof *cells, by_row);
}

onet_status page_tables_fold(page_tables *t, page *p, onet_error *err) {
    int *cells = NULL, *first = NULL;
    bool any = false;
    *t = (page_tables){.placed = p->placed};
    for (int i = 0; i < p->count && !any; i++) any = p->regions[i].placed && p->regions[i].table;
    if (!any) return ONET_OK;
    t->kept = array_new((size_t)p->count, sizeof *t->kept);
    cells = array_new((size_t)p->count, sizeof *cells); /* of each table */
    first = array_new((size_t)p->count, sizeof *first);
    if (!t->kept || !cells || !first) {
        free(t->kept);
        t->kept = NULL;
        free(cells);
        free(first);
        return fail_memory(err, "the tables of a page");
    }
    memcpy(t->kept, p->regions, (size_t)p->count * sizeof *t->kept);
    for (int i = 0; i < p->count; i++)
        if (p->regions[i].placed && p->regions[i].table) cells[p->regions[i].table - 1]++;
    for (int i = 0; i < p->count; i++) {
        page_region *r = &p->regions[i];
        int table = r->table - 1;
        if (!r->placed || table < 0 || cells[table] < 2) continue;
        if (!p->regions[table].placed && !first[table]) {
            first[table] = i + 1;
            r->kind = KIND_OTHER;
            continue;
        }
        if (first[table]) {
            page_box *whole = &p->regions[first[table] - 1].box;
            page_box_add(whole, r->box.x0, r->box.y0);
            page_box_add(whole, r->box.x1, r->box.y1);
        }
        r->placed = false;
        p->placed--;
    }
    free(cells);
    free(first);
    return ONET_OK;
}

onet_status page_tables_unfold(page_tables *t, page *p, bool found, onet_error *err) {
    if (!t->kept) return ONET_OK;
    int folded = p->placed, n = 0;
    int32_t *order = array_new((size_t)p->count + 1, sizeof *order),
            *whole = array_new((size_t)folded + 1, sizeof *whole);
    cell *cells = array_new((size_t)p->count + 1, sizeof *cells);
    onet_status status = order && whole && cells ? ONET_OK : fail_memory(err, "the tables of a page");
    if (!status && found) page_order_of(p, true, whole);
    bool *stood = array_new((size_t)p->count + 1, sizeof *stood); /* in the folded page */
    if (!stood && !status) status = fail_memory(err, "the tables of a page");
    for (int i = 0; i < p->count; i++) {
        if (!status) stood[i] = p->regions[i].placed;
        p->regions[i].placed = t->kept[i].placed;
        p->regions[i].kind = t->kept[i].kind;
        p->regions[i].box = t->kept[i].box;
    }
    p->placed = t->placed;
    for (int k = 0; k < folded && found && !status; k++) {
        const page_region *r = &p->regions[whole[k]];
        int table = r->table ? r->table : whole[k] + 1, count = 0;
        bool alone = true;
        for (int i = 0; i < p->count; i++)
            if (p->regions[i].table == table && p->regions[i].placed && (!stood[i] || i == whole[k])) {
                alone = alone && i == whole[k];
                cells[count++] = (cell){i, p->regions[i].box, 0};
            }
        if (alone || table == whole[k] + 1) order[n++] = whole[k];
        if (alone) continue;
        sort_cells(cells, count);
        for (int c = 0; c < count; c++) order[n++] = cells[c].region;
    }
    if (!status && found) page_found(p, order);
    free(order);
    free(whole);
    free(cells);
    free(stood);
    free(t->kept);
    *t = (page_tables){0};
    return status;
}
