/* Gathers the rows of a CSV file into sets, sorts the items of each by rank, and marks its context items. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/data/csv.h"

/* Moves items so that place k holds what was in place row_of[k], along the cycles of that permutation; the
 * features are held once. */
static onet_status move_items(csv_table *t, onet_error *err) {
    size_t width = (size_t)t->width, bytes = width * sizeof *t->items;
    if (!width) return ONET_OK;
    double *hand = malloc(bytes);
    bool *done = calloc(t->rows, sizeof *done);
    if (!hand || !done) {
        free(hand);
        free(done);
        return fail_memory(err, "grouping the rows of a CSV file");
    }
    for (size_t first = 0; first < t->rows; first++) {
        if (done[first] || t->row_of[first] == first) continue;
        memcpy(hand, t->items + first * width, bytes);
        size_t k = first;
        for (; t->row_of[k] != first; k = t->row_of[k]) {
            memcpy(t->items + k * width, t->items + t->row_of[k] * width, bytes);
            done[k] = true;
        }
        memcpy(t->items + k * width, hand, bytes);
        done[k] = true;
    }
    free(hand);
    free(done);
    return ONET_OK;
}

static onet_status gather(csv_table *t, onet_error *err) {
    t->sets = t->names.count;
    t->start = calloc(t->sets + 1, sizeof *t->start);
    t->row_of = malloc(t->rows * sizeof *t->row_of);
    if (!t->start || !t->row_of) return fail_memory(err, "grouping the rows of a CSV file");
    for (size_t row = 0; row < t->rows; row++) t->start[t->set_of[row] + 1]++;
    for (size_t s = 0; s < t->sets; s++) {
        if (t->start[s + 1] > INT_MAX)
            return fail(err, ONET_BAD, "%s: a set of more than %d items", t->file, INT_MAX);
        t->start[s + 1] += t->start[s];
    }
    /* start[s] runs ahead to the end of set s, and is put back. */
    for (size_t row = 0; row < t->rows; row++) {
        t->row_of[t->start[t->set_of[row]]++] = row;
    }
    memmove(t->start + 1, t->start, t->sets * sizeof *t->start);
    t->start[0] = 0;
    return move_items(t, err);
}

/* Renumbers t->lost: columns of the file become features, and rows items. */
static onet_status settle_lost(csv_table *t, onet_error *err) {
    lost_rows found = t->lost, own = {0};
    t->lost = own;
    bool made = true;
    for (int k = 0; found.of && k < found.of->width && made; k++) {
        size_t column = (size_t)found.of->feature[k];
        int first = t->column[column].kind == CSV_FEATURE ? t->column[column].feature : -1, span = 1;
        for (size_t i = t->classes; i-- > 0;) {
            if (t->class[i].column != column) continue;
            span = first < 0 ? 1 : span + 1;
            first = t->class[i].feature;
        }
        for (size_t i = 0; i < t->rows && first >= 0 && made; i++) {
            size_t row = t->row_of[i];
            if (row < found.rows)
                made = lost_note(&own, i, first, span,
                                 found.of->hash[row * (size_t)found.of->width + (size_t)k]);
        }
    }
    made = made && lost_extend(&own, t->rows);
    lost_free(found.of);
    t->lost = own;
    return made ? ONET_OK : fail_memory(err, "the texts of a column");
}

typedef struct ranked_item {
    double rank;
    int32_t item;
} ranked_item;

static int by_rank(const void *a, const void *b) {
    double x = ((const ranked_item *)a)->rank, y = ((const ranked_item *)b)->rank;
    return x < y ? -1 : x > y;
}

static onet_status find_context(csv_table *t, size_t s, const double *rank, const char *column, bool ranked,
                                onet_error *err) {
    size_t from = t->start[s], n = t->start[s + 1] - from, seen = 0;
    for (size_t i = 0; i < n; i++) {
        size_t row = t->row_of[from + i];
        char flag = t->flag[row];
        if (ranked && flag == '1' && !isnan(rank[i]))
            return fail(
                err, ONET_BAD,
                "%s:%ld: column `%s`: a rank, but `context` is 1 and such items are not placed; leave "
                "one of them empty",
                t->file, t->line[row], column);
        if (ranked && flag == '0' && isnan(rank[i]))
            return fail(
                err, ONET_BAD,
                "%s:%ld: column `%s`: empty, but `context` is 0 and other rows of the set have a rank; "
                "fill it in",
                t->file, t->line[row], column);
        bool context = ranked ? isnan(rank[i]) : flag == '1';
        if (!context) continue;
        if (!t->context && !(t->context = calloc(t->rows, 1)))
            return fail_memory(err, "the sets of a CSV file");
        t->context[from + i] = 1;
        seen++;
    }
    if (seen < n) return ONET_OK;
    return fail(err, ONET_BAD, "%s:%ld: all rows of the set are context; leave the set out or place one",
                t->file, t->line[t->row_of[from]]);
}

/* Sorts the items of set s by rank; those without one, where others have it, are context and come last. rank,
 * sorted: room for the set's. */
static onet_status order_set(csv_table *t, size_t s, double *rank, ranked_item *sorted,
                             const csv_column *column, onet_error *err) {
    size_t from = t->start[s], n = t->start[s + 1] - from, placed = 0;
    const size_t *row_of = t->row_of + from;
    int32_t *order = t->order ? t->order + from : NULL;
    for (size_t i = 0; i < n; i++) {
        rank[i] = t->rank[row_of[i]];
        if (!isnan(rank[i])) sorted[placed++] = (ranked_item){rank[i], (int32_t)i};
    }
    onet_status status = find_context(t, s, rank, column ? column->name : NULL, placed > 0, err);
    if (status || !placed) return status;
    qsort(sorted, placed, sizeof *sorted, by_rank);
    for (size_t place = 0; place < placed; place++) order[place] = sorted[place].item;
    for (size_t i = 0, seen = placed; i < n; i++)
        if (isnan(rank[i])) order[seen++] = (int32_t)i;
    for (size_t place = 1; place < placed; place++) {
        int32_t last = order[place - 1];
        if (rank[last] == rank[order[place]])
            return fail(
                err, ONET_BAD,
                "%s:%ld: column `%s`: the same rank as line %ld of the same set%s; give each row its own",
                t->file, t->line[row_of[order[place]]], column->name, t->line[row_of[last]],
                column->rounded_line ? ", as double rounds it: subtract a common offset from all ranks" : "");
    }
    t->ordered[s] = true;
    return ONET_OK;
}

static onet_status order_sets(csv_table *t, onet_error *err) {
    const csv_column *column = NULL;
    size_t largest = 0;
    for (size_t k = 0; k < t->columns; k++)
        if (t->column[k].kind == CSV_RANK) column = &t->column[k];
    for (size_t s = 0; s < t->sets; s++)
        if (t->start[s + 1] - t->start[s] > largest) largest = t->start[s + 1] - t->start[s];
    t->ordered = calloc(t->sets, sizeof *t->ordered);
    if (!t->ordered) return fail_memory(err, "the sets of a CSV file");
    if (column) t->order = malloc(t->rows * sizeof *t->order);
    double *rank = malloc(largest * sizeof *rank);
    ranked_item *sorted = malloc(largest * sizeof *sorted);
    onet_status status =
        (t->order || !column) && rank && sorted ? ONET_OK : fail_memory(err, "the sets of a CSV file");
    for (size_t s = 0; s < t->sets && !status; s++) status = order_set(t, s, rank, sorted, column, err);
    free(rank);
    free(sorted);
    return status;
}

onet_status csv_gather_sets(csv_table *t, onet_error *err) {
    onet_status status = gather(t, err);
    if (!status) status = settle_lost(t, err);
    return status ? status : order_sets(t, err);
}
