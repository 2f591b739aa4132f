/* Measures answers against the right orders: exact match, position accuracy, Kendall's tau, log-likelihood,
 * each with a 95% interval. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/sets.h"

/* Whether two items of a set are interchangeable: equal features, or the same word. */
static int same(const onet_sets *sets, size_t a, size_t b) {
    if (a == b) return 1;
    if (sets->word) return sets->word[a] == sets->word[b];
    const float *x = sets_item(sets, a), *y = sets_item(sets, b);
    for (int c = 0; c < sets->width; c++)
        if (x[c] != y[c]) return 0; /* compared as numbers: 0 and -0 are equal */
    return 1;
}

/* Wilson's interval for a share. */
static onet_measure share(double right, double of) {
    const double z = 1.959963984540054;
    if (of <= 0) return (onet_measure){NAN, NAN, NAN};
    double p = right / of, centre = (p + z * z / (2 * of)) / (1 + z * z / of);
    double half = z / (1 + z * z / of) * sqrt(p * (1 - p) / of + z * z / (4 * of * of));
    return (onet_measure){p, fmax(0, centre - half), fmin(1, centre + half)};
}

/* Mean over sets with the normal interval, clipped to the measure's range. */
typedef struct mean {
    double sum, square, count;
} mean;

static void add(mean *m, double x) {
    m->sum += x;
    m->square += x * x;
    m->count++;
}

static onet_measure interval(const mean *m, double least, double most) {
    if (m->count < 1) return (onet_measure){NAN, NAN, NAN};
    double mu = m->sum / m->count, var = m->count > 1 ? (m->square - m->sum * mu) / (m->count - 1) : 0;
    double half = 1.959963984540054 * sqrt(fmax(0, var) / m->count);
    return (onet_measure){mu, fmax(least, mu - half), fmin(most, mu + half)};
}

/* Inversions of v by merge sort; v is sorted afterwards. */
static double inversions(int32_t *v, int32_t *scratch, size_t n) {
    if (n < 2) return 0;
    size_t half = n / 2, a = 0, b = half;
    double count = inversions(v, scratch, half) + inversions(v + half, scratch, n - half);
    for (size_t k = 0; k < n; k++) {
        if (a < half && (b == n || v[a] <= v[b]))
            scratch[k] = v[a++];
        else {
            count += (double)(half - a);
            scratch[k] = v[b++];
        }
    }
    memcpy(v, scratch, n * sizeof *v);
    return count;
}

/* rank[t] = the right position of the item at position t of the answer. Equal items are interchangeable: the
 * k-th of them in the answer counts as the k-th in the right order. */
static void right_places(const onet_sets *sets, size_t first, size_t n, const int32_t *answer, int32_t *rank,
                         int32_t *taken) {
    const int32_t *right = sets->order + first;
    for (size_t p = 0; p < n; p++) taken[right[p]] = (int32_t)p; /* position of each item */
    int repeats = 0;
    for (size_t t = 0; t < n; t++) rank[t] = taken[answer[t]];
    for (size_t a = 1; a < n && !repeats; a++)
        for (size_t b = 0; b < a && !repeats; b++) repeats = same(sets, first + a, first + b);
    if (!repeats) return;
    memset(taken, 0, n * sizeof *taken);
    for (size_t t = 0; t < n; t++)
        for (size_t p = 0; p < n; p++)
            if (!taken[p] && same(sets, first + (size_t)right[p], first + (size_t)answer[t])) {
                rank[t] = (int32_t)p;
                taken[p] = 1;
                break;
            }
}

onet_status onet_measure_sets(onet_report *report, const onet_sets *sets, const onet_answer *answers,
                              const double *logprob, int only_n, onet_error *err) {
    if (!sets->order) return fail(err, ONET_BAD, "the sets have no order to compare with");
    size_t largest = 0;
    for (size_t s = 0; s < sets->count; s++)
        if (sets_size(sets, s) > largest) largest = sets_size(sets, s);
    int32_t *rank = array_new(largest, sizeof *rank), *scratch = array_new(largest, sizeof *scratch);
    if (!rank || !scratch) {
        free(rank);
        free(scratch);
        return fail_memory(err, "the comparison");
    }
    double exact = 0;
    mean place = {0}, tau = {0}, likely = {0};
    memset(report, 0, sizeof *report);
    for (size_t s = 0; s < sets->count; s++) {
        size_t n = sets_size(sets, s);
        if (only_n && n != (size_t)only_n) continue;
        right_places(sets, sets->start[s], n, answers[s].order, rank, scratch);
        size_t hits = 0;
        for (size_t t = 0; t < n; t++) hits += rank[t] == (int32_t)t;
        report->sets++;
        exact += hits == n;
        add(&place, (double)hits / (double)n);
        if (n > 1) add(&tau, 1 - 4 * inversions(rank, scratch, n) / ((double)n * (double)(n - 1)));
        if (logprob) add(&likely, logprob[s] / (double)n);
    }
    report->exact = share(exact, (double)report->sets);
    report->position = interval(&place, 0, 1);
    report->tau = interval(&tau, -1, 1);
    report->loglik = interval(&likely, -INFINITY, 0);
    free(rank);
    free(scratch);
    return ONET_OK;
}
