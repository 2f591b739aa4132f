/* Finds how training would scale each feature, and counts the items that it then could not distinguish from
 * another item of their set (onet_train_features). */
#include <stdlib.h>
#include <string.h>

#include "engine/base/arguments.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/sized.h"
#include "engine/data/lost.h"
#include "engine/data/scaling.h"
#include "engine/data/sets.h"
#include "engine/model/model.h"
#include "engine/train/options.h"
#include "ordernet_train.h"

/* ---- Items that fall together ------------------------------------------------------------------------ */

typedef struct row {
    const float *seen; /* [width] */
    int width;
    size_t item;
} row;

static int by_seen(const void *a, const void *b) {
    const float *x = ((const row *)a)->seen, *y = ((const row *)b)->seen;
    for (int c = 0; c < ((const row *)a)->width; c++)
        if (x[c] != y[c]) return x[c] > y[c] ? 1 : -1;
    return 0;
}

static bool same_values(const onet_sets *sets, size_t a, size_t b) {
    if (!lost_same(sets->lost, a, b)) return false;
    for (size_t j = 0; j < (size_t)sets->width; j++)
        if (sets_value(sets, a, j) != sets_value(sets, b, j)) return false;
    return true;
}

/* Adds to *equal the number of items of `sets` that differ from another item of their set but are equal to it
 * in `seen`. */
static onet_status count_equal(const onet_sets *sets, const onet_sets *seen, size_t *equal, onet_error *err) {
    size_t most = 1;
    for (size_t s = 0; s < sets->count; s++)
        if (sets_size(sets, s) > most) most = sets_size(sets, s);
    row *rows = array_new(most, sizeof *rows);
    if (!rows) return fail_memory(err, "checking the items");
    int width = seen->width;
    for (size_t s = 0; s < sets->count; s++) {
        size_t first = sets->start[s], n = sets_size(sets, s);
        for (size_t i = 0; i < n; i++)
            rows[i] = (row){seen->items + (first + i) * (size_t)width, width, first + i};
        qsort(rows, n, sizeof *rows, by_seen);
        for (size_t i = 0, end; i < n; i = end) {
            bool differ = false;
            for (end = i + 1; end < n && !by_seen(&rows[i], &rows[end]); end++)
                differ |= !same_values(sets, rows[i].item, rows[end].item);
            if (differ) *equal += end - i;
        }
    }
    free(rows);
    return ONET_OK;
}

/* Learns the scaling that a training would learn. */
static onet_status learn(scaling **s, const onet_sets *train, const onet_train_options *o,
                         onet_feature *feature, onet_error *err) {
    relating *related = NULL;
    onet_status status =
        relating_new(&related, o->relate, sets_relations(train), train->pairs ? train->pairs->names : NULL,
                     train->width, train->columns, err);
    scaling_wish wish = {.text = o->scale,
                         .relations = related ? related->names : NULL,
                         .within = o->within,
                         .standardise = o->standardise};
    if (!status) status = scaling_learn(s, train, &wish, feature, err);
    relating_free(related);
    return status;
}

/* ---- The whole --------------------------------------------------------------------------------------- */

onet_status onet_train_features(onet_feature *feature, const onet_sets *train,
                                const onet_train_options *options, size_t *equal, onet_error *err) {
    NEED(feature, "feature");
    NEED(train, "train");
    if (equal) *equal = 0;
    onet_train_options o;
    onet_train_defaults(&o, sizeof o);
    onet_status status = sized_take(&o, sizeof o, options, "onet_train_options", err);
    if (!status) status = train_check_learned(train, &o, err);
    if (status) return status;
    memset(feature, 0, (size_t)train->width * sizeof *feature);
    if (train->word) {
        for (int j = 0; j < train->width; j++)
            feature[j].scale = o.standardise ? ONET_SCALE_STANDARD : ONET_SCALE_NONE;
        return ONET_OK;
    }
    scaling *s = NULL;
    onet_sets scaled = {0};
    if (o.from)
        for (int j = 0; j < train->width && onet_model_feature(o.from, j, &feature[j]);) j++;
    else
        status = learn(&s, train, &o, feature, err);
    const scaling *used = o.from ? o.from->scaling : s;
    if (!status && equal && used && used->width == train->width)
        status = scaling_apply(used, train, &scaled, err);
    if (!status && equal && (scaled.items || train->exact || train->lost))
        status = count_equal(train, scaled.items ? &scaled : train, equal, err);
    free(scaled.items);
    scaling_free(s);
    return status;
}
