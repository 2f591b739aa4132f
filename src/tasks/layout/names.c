/* Finds regions by their ids, or by those of their lines, with a sorted table and binary search, since a file
 * may have 20,000 regions and as many references; warns of ids that several regions have. */
#include "tasks/layout/names.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"

static int by_id(const void *a, const void *b) {
    const page_name *x = a, *y = b;
    int order = strcmp(x->id, y->id);
    if (order || x->line != y->line) return order ? order : x->line - y->line;
    return (x->region->element > y->region->element) - (x->region->element < y->region->element);
}

static void add_name(page_names *n, const char *id, page_region *r, bool line) {
    if (id && *id) n->all[n->count++] = (page_name){id, r, line};
}

onet_status page_names_make(page_names *n, page_file *f, onet_error *err) {
    size_t all = 0;
    *n = (page_names){0};
    for (size_t i = 0; i < f->count; i++)
        for (int k = 0; k < f->pages[i].count; k++) all += 1 + (size_t)f->pages[i].regions[k].line_count;
    n->all = array_new(all + 1, sizeof *n->all);
    if (!n->all) return fail_memory(err, "the regions of a page");
    for (size_t i = 0; i < f->count; i++)
        for (int k = 0; k < f->pages[i].count; k++) {
            page_region *r = &f->pages[i].regions[k];
            add_name(n, r->id, r, false);
            for (int j = 0; j < r->line_count; j++) add_name(n, r->lines[j].id, r, true);
        }
    qsort(n->all, n->count, sizeof *n->all, by_id);
    return ONET_OK;
}

page_region *page_names_find(const page_names *n, const char *id, bool *line) {
    size_t low = 0, high = n->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (strcmp(n->all[middle].id, id) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == n->count || strcmp(n->all[low].id, id) != 0) return NULL;
    *line = n->all[low].line;
    return n->all[low].region;
}

void page_names_note_repeated(const page_names *n, page_file *f) {
    for (size_t i = 1; i < n->count; i++) {
        const page_name *a = &n->all[i - 1], *b = &n->all[i];
        if (!b->line && !strcmp(a->id, b->id))
            page_file_note(f, b->region->line,
                           "the id '%s' is there twice; references mean the first region of that id", b->id);
    }
}

void page_names_free(page_names *n) {
    free(n->all);
    *n = (page_names){0};
}
