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

/* Compares for qsort: the highest score first, equal ones in the right order. */
static int compare(const void *a, const void *b) {
    const scored *x = a, *y = b;
    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

/* The kinds of n items with one score; items of a kind are equal. */
typedef struct kinds {
    size_t *of;         /* [n] */
    size_t *before;     /* [n]: items of its kind that stand before it in the right order */
    size_t *size;       /* [kinds] */
    size_t *met;        /* [kinds] */
    double *first;      /* [kinds] */
    double *factorials; /* [n + 1]: their logarithms */
} kinds;

static void kinds_free(kinds *k) {
    free(k->of);
    free(k->before);
    free(k->size);
    free(k->met);
    free(k->first);
    free(k->factorials);
}

static bool kinds_new(kinds *k, size_t n) {
    *k = (kinds){array_new(n, sizeof *k->of),    array_new(n, sizeof *k->before),
                 array_new(n, sizeof *k->size),  array_new(n, sizeof *k->met),
                 array_new(n, sizeof *k->first), array_new(n + 1, sizeof *k->factorials)};
    if (!k->of || !k->before || !k->size || !k->met || !k->first || !k->factorials) return false;
    for (size_t i = 1; i <= n; i++) k->factorials[i] = k->factorials[i - 1] + log((double)i);
    return true;
}

static double log_choose(const kinds *k, size_t n, size_t of) {
    return k->factorials[n] - k->factorials[of] - k->factorials[n - of];
}

/* Returns the right pairs less the wrong ones, expected in a random order of n items, x in the right order.
 * Pairs of a kind are right. The a-th item of one kind in an order counts as the a-th of the right order
 * (measure.c), so that it is more likely to stand before the last of another kind than before the first: by
 * the number of those that stand before it, which is distributed like a negative hypergeometric variable. */
static double tied_pairs(kinds *k, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        size_t own = k->of[i], a = k->before[i] + 1, A = k->size[own];
        for (size_t j = i; j < n; j++) k->met[k->of[j]] = 0;
        for (size_t j = i + 1; j < n; j++) {
            size_t other = k->of[j], B = k->size[other];
            if (other == own) sum++;
            if (other == own || (A == 1 && B == 1)) continue; /* alone, each is first half of the time */
            if (!k->met[other])
                k->first[other] = 0; /* P(item i comes before item number `met` of kind `other`), summed as
                                      * `met` grows */
            for (size_t *b = &k->met[other]; *b <= k->before[j]; ++*b)
                k->first[other] += exp(log_choose(k, a - 1 + *b, *b) + log_choose(k, A - a + B - *b, B - *b) -
                                       log_choose(k, A + B, B));
            sum += 2 * k->first[other] - 1;
        }
    }
    return sum;
}

/* For n items with one score, given in the right order: adds to *share the logarithm of the share of their
 * orders that are right (more than 1/n! if some are equal), and to *pairs the right pairs less the wrong
 * ones. False when memory is short. */
static bool tied(const onet_sets *sets, const scored *x, size_t n, double *share, double *pairs) {
    kinds k;
    size_t count = 0;
    bool made = kinds_new(&k, n);
    for (size_t i = 0; made && i < n; i++) {
        k.of[i] = count;
        for (size_t j = i; j-- > 0;) /* the item of its kind before it */
            if (items_same(sets, x[j].item, x[i].item)) {
                k.of[i] = k.of[j];
                k.before[i] = k.before[j] + 1;
                break;
            }
        count += k.of[i] == count;
        k.size[k.of[i]]++;
        *share += log((double)(k.before[i] + 1) / (double)(i + 1));
    }
    if (made && count < n) *pairs += tied_pairs(&k, n);
    kinds_free(&k);
    return made;
}

bool measure_scores(onet_set_measure *m, const onet_sets *sets, size_t s, const double *score) {
    size_t first = sets->start[s], n = sets_placed(sets, s);
    *m = (onet_set_measure){.n = sets_size(sets, s),
                            .placed = n,
                            .tau = NAN,
                            .position = NAN,
                            .neighbours = NAN,
                            .loglik = NAN,
                            .probability = NAN};
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
    double share = 0, ties = 0, sure = 0, pairs = (double)n * (double)(n - 1) / 2;
    bool right = true, made = true;
    for (size_t a = 0, b; a < n; a = b) {
        for (b = a + 1; b < n && x[b].score == x[a].score; b++) continue;
        for (size_t t = a; t < b; t++) right &= x[t].place == t;
        if (b - a > 1) made = made && tied(sets, x + a, b - a, &share, &sure);
        ties += (double)(b - a) * (double)(b - a - 1) / 2;
    }
    m->exact = right ? exp(share) : 0;
    for (size_t t = 0; t < n; t++) place[t] = (int32_t)x[t].place;
    if (n > 1) m->tau = (pairs - ties + sure - 2 * measure_inversions(place, place + n, n)) / pairs;
    free(x);
    free(place);
    return made;
}
