/* Measures the order that sorting by a score gives; ties count as random orders of the tied items. */
#include <math.h>
#include <stdlib.h>

#include "engine/base/memory.h"
#include "engine/data/sets.h"
#include "engine/evaluate/measure.h"

typedef struct scored {
    double score;
    size_t item;  /* counted over all sets */
    size_t place; /* in the right order */
} scored;

/* The highest score first, equal ones in the right order. */
static int compare(const void *a, const void *b) {
    const scored *x = a, *y = b;
    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

/* Of n items with one score: the logarithm of the share of their orders that are right, which is more than
 * 1/n! where some are equal, and to *pairs how many pairs are equal. */
static double tied(const onet_sets *sets, const scored *x, size_t n, double *pairs) {
    double share = 0;
    for (size_t i = 0; i < n; i++) {
        size_t before = 0; /* equal ones */
        for (size_t k = 0; k < i; k++) before += items_same(sets, x[k].item, x[i].item);
        share += log((double)(before + 1) / (double)(i + 1));
        *pairs += (double)before;
    }
    return share;
}

bool measure_scores(onet_set_measure *m, const onet_sets *sets, size_t s, const double *score) {
    size_t first = sets->start[s], n = sets_placed(sets, s);
    *m = (onet_set_measure){
        .n = sets_size(sets, s), .placed = n, .tau = NAN, .position = NAN, .neighbours = NAN, .loglik = NAN};
    scored *x = array_new(n, sizeof *x);
    int32_t *place = array_new(2 * n, sizeof *place);
    if (!x || !place) {
        free(x);
        free(place);
        return false;
    }
    for (size_t t = 0; t < n; t++) {
        size_t item = (size_t)sets->order[first + t];
        x[t] = (scored){score[item], first + item, t};
    }
    qsort(x, n, sizeof *x, compare);
    double share = 0, ties = 0, equal = 0, pairs = (double)n * (double)(n - 1) / 2;
    bool right = true;
    for (size_t a = 0, b; a < n; a = b) {
        for (b = a + 1; b < n && x[b].score == x[a].score; b++) continue;
        for (size_t t = a; t < b; t++) right &= x[t].place == t;
        if (b - a > 1) share += tied(sets, x + a, b - a, &equal);
        ties += (double)(b - a) * (double)(b - a - 1) / 2;
    }
    m->exact = right ? exp(share) : 0;
    for (size_t t = 0; t < n; t++) place[t] = (int32_t)x[t].place;
    if (n > 1) m->tau = (pairs - ties + equal - 2 * measure_inversions(place, place + n, n)) / pairs;
    free(x);
    free(place);
    return true;
}
