/* Prints which columns became features, and warns of those that tell nothing of an order. */
#include "app/feature_report.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/base/error.h"
#include "engine/base/shown.h"
#include "ordernet_io.h"

/* Fewer items may be distinct whole numbers by chance, or have one value. */
enum { ENOUGH = 20 };

static int compare(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* value [items] of a feature; sorts them. */
static const char *looks_like(float *value, size_t items) {
    bool whole = true, same = true;
    for (size_t i = 0; i < items && (whole || same); i++) {
        whole &= value[i] == floorf(value[i]);
        same &= value[i] == value[0];
    }
    if (same) return "is the same for all items and tells nothing of their order";
    if (!whole) return NULL;
    qsort(value, items, sizeof *value, compare);
    for (size_t i = 1; i < items; i++)
        if (value[i] == value[i - 1]) return NULL;
    return "looks like an id: all values are whole numbers and distinct";
}

onet_status feature_report(const onet_sets *sets, onet_error *err) {
    const onet_columns *columns = sets->columns;
    size_t items = sets->start[sets->count], width = (size_t)sets->width;
    bool named = columns && onet_columns_name(columns, 0);
    char name[SHOWN];
    if (sets->word) return ONET_OK;
    if (onet_sets_look_like_ranks(sets))
        fprintf(stderr,
                "ordernet train: warning: the orders look like ranks: the features go with their "
                "inverse. An order lists the indices of the items, first to last; a rank is the place "
                "of an item. See that each is given as what it is\n");
    for (int j = 0; named && j < sets->width; j++)
        printf("%s%s%s", j ? ", " : "features: ", shown(name, onet_columns_name(columns, j)),
               j + 1 < sets->width ? "" : "\n");
    fflush(stdout);
    if (items < ENOUGH || width == 1) return ONET_OK;
    float *value = malloc(items * sizeof *value);
    if (!value) return fail_memory(err, "a feature");
    for (size_t j = 0; j < width; j++) {
        for (size_t i = 0; i < items; i++) value[i] = sets->items[i * width + j];
        const char *what = looks_like(value, items);
        if (what && named)
            fprintf(stderr,
                    "ordernet train: warning: column `%s` %s; name the features without it (--features)\n",
                    shown(name, onet_columns_name(columns, (int)j)), what);
        else if (what)
            fprintf(stderr, "ordernet train: warning: feature %zu %s; leave it out of the items\n", j + 1,
                    what);
    }
    free(value);
    return ONET_OK;
}
