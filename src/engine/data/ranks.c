/* Detects whether ranks were given as orders (onet_sets_look_like_ranks): correlates the places of items with
 * their features in both readings. */
#include <math.h>
#include <stdlib.h>

#include "engine/base/memory.h"
#include "engine/data/sets.h"
#include "ordernet_io.h"

/* An order lists the items, first to last; ranks list the place
 * of each item. Both are permutations, each the inverse of the other, so that no check of one set can tell
 * them apart. Over many sets the features can: where an order follows from them, the place of an item
 * correlates with one of its features, or with the feature's distance from the mean of the set. The inverse
 * names items by their position in the file, which is independent of the features.
 *
 * For each feature the correlation with the places is summed over the sets. A correlation of n numbers with a
 * random permutation has the variance 1 / (n - 1), so z = sum (n - 1) r / sqrt(sum (n - 1)) is that of a
 * normal distribution where the feature tells nothing. Features count by their ranks in the set: if an item's
 * place in the file follows a feature, both readings then correlate with it alike. */
enum {
    ENOUGH = 6,                /* z that chance does not reach, not even as the largest of many features */
    CLEARER = 2,               /* and so many times that of the other reading */
    MOST_VALUES = 1000 * 1000, /* looked at: it takes a fraction of a second */
    MOST_FEATURES = 1000
};

typedef struct number {
    double value;
    size_t item;
} number;

typedef struct reading {
    double sum, weight;
} reading;

/* Memory for one set, and the correlations summed over the sets so far. */
typedef struct correlations {
    number *sorted;         /* [n] */
    double *rank;           /* [n]: of the items by a feature, less their mean */
    double *place;          /* [n]: of the items by the order, less their mean */
    double *inverse;        /* [n]: by its inverse */
    reading *order, *ranks; /* [2 * features] */
} correlations;

static int compare(const void *a, const void *b) {
    const number *x = a, *y = b;
    return (x->value > y->value) - (x->value < y->value);
}

/* Writes the ranks of sorted [n], less their mean, to rank [n]; equal values share one. Returns the sum of
 * their squares; 0: all are equal. */
static double rank_values(number *sorted, size_t n, double *rank) {
    double square = 0;
    qsort(sorted, n, sizeof *sorted, compare);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && sorted[end].value == sorted[i].value;) end++;
        double middle = ((double)i + (double)end - (double)n) / 2;
        for (size_t k = i; k < end; k++) rank[sorted[k].item] = middle;
        square += (double)(end - i) * middle * middle;
    }
    return square;
}

static void add(reading *r, const double *rank, const double *place, size_t n, double squares) {
    double product = 0;
    for (size_t i = 0; i < n; i++) product += rank[i] * place[i];
    r->sum += (double)(n - 1) * product / sqrt(squares);
    r->weight += (double)(n - 1);
}

static void add_set(correlations *l, const onet_sets *sets, size_t s, size_t features) {
    size_t n = sets_size(sets, s), first = sets->start[s], width = (size_t)sets->width;
    const float *items = sets->items + first * width;
    double middle = (double)(n - 1) / 2, places = (double)n * ((double)n * (double)n - 1) / 12;
    for (size_t t = 0; t < n; t++) {
        l->place[sets->order[first + t]] = (double)t - middle;
        l->inverse[t] = (double)sets->order[first + t] - middle;
    }
    for (size_t f = 0; f < 2 * features; f++) {
        double mean = 0;
        for (size_t i = 0; i < n; i++) mean += (double)items[i * width + f / 2] / (double)n;
        for (size_t i = 0; i < n; i++) {
            double value = (double)items[i * width + f / 2];
            l->sorted[i] = (number){f % 2 ? fabs(value - mean) : value, i};
        }
        double square = rank_values(l->sorted, n, l->rank);
        if (!(square > 0)) continue;
        add(&l->order[f], l->rank, l->place, n, square * places);
        add(&l->ranks[f], l->rank, l->inverse, n, square * places);
    }
}

static double largest(const reading *r, size_t count) {
    double most = 0;
    for (size_t f = 0; f < count; f++)
        if (r[f].weight > 0) most = fmax(most, fabs(r[f].sum) / sqrt(r[f].weight));
    return most;
}

int onet_sets_look_like_ranks(const onet_sets *sets) {
    if (!sets || !sets->order || !sets->items || sets_check(sets, NULL)) return 0;
    size_t features = sets->width < MOST_FEATURES ? (size_t)sets->width : MOST_FEATURES, most = 0, looked = 0;
    for (size_t s = 0; s < sets->count; s++)
        if (sets_size(sets, s) > most) most = sets_size(sets, s);
    correlations l = {.sorted = array_new(most, sizeof *l.sorted),
                      .rank = array_new(most, sizeof *l.rank),
                      .place = array_new(most, sizeof *l.place),
                      .inverse = array_new(most, sizeof *l.inverse),
                      .order = array_new(2 * features, sizeof *l.order),
                      .ranks = array_new(2 * features, sizeof *l.ranks)};
    bool room = l.sorted && l.rank && l.place && l.inverse && l.order && l.ranks;
    /* Of one or two items every order is its own inverse. Context items have no place. */
    for (size_t s = 0; s < sets->count && looked < MOST_VALUES && room; s++) {
        size_t n = sets_size(sets, s);
        if (n < 3 || sets_placed(sets, s) < n) continue;
        add_set(&l, sets, s, features);
        looked += n * features;
    }
    double order = room ? largest(l.order, 2 * features) : 0,
           ranks = room ? largest(l.ranks, 2 * features) : 0;
    free(l.sorted);
    free(l.rank);
    free(l.place);
    free(l.inverse);
    free(l.order);
    free(l.ranks);
    return ranks > ENOUGH && ranks > CLEARER * order;
}
