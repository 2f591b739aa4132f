/* Finds regions by id: sorted, since a file may have 20,000 and as many references. */
#include "pages/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

static int by_id(const void *a, const void *b) {
    const page_region *x = *(page_region *const *)a, *y = *(page_region *const *)b;
    int order = strcmp(x->id, y->id);
    return order ? order : (x->element > y->element) - (x->element < y->element);
}

onet_status page_names_make(page_names *n, page_file *f, onet_error *err) {
    size_t all = 0;
    *n = (page_names){0};
    for (size_t i = 0; i < f->count; i++) all += (size_t)f->pages[i].count;
    n->all = array_new(all + 1, sizeof(page_region *));
    if (!n->all) return fail_memory(err, "the regions of a page");
    for (size_t i = 0; i < f->count; i++)
        for (int k = 0; k < f->pages[i].count; k++)
            if (*f->pages[i].regions[k].id) n->all[n->count++] = &f->pages[i].regions[k];
    qsort(n->all, n->count, sizeof(page_region *), by_id);
    return ONET_OK;
}

page_region *page_names_find(const page_names *n, const char *id) {
    size_t low = 0, high = n->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (strcmp(n->all[middle]->id, id) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n->count && !strcmp(n->all[low]->id, id) ? n->all[low] : NULL;
}

void page_names_note_repeated(const page_names *n, page_file *f) {
    for (size_t i = 1; i < n->count; i++)
        if (!strcmp(n->all[i]->id, n->all[i - 1]->id))
            page_file_note(f, n->all[i]->line,
                           "the id '%s' is there twice; references mean the first region of that id",
                           n->all[i]->id);
}

void page_names_free(page_names *n) {
    free(n->all);
    *n = (page_names){0};
}
