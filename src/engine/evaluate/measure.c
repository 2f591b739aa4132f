/* Measures predicted orders against the correct ones, set by set and as means with 95% intervals: exact
 * match, position accuracy, Kendall's tau, correct neighbours, log-likelihood, and the probability of
 * answers; equal items are interchangeable. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/arguments.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/data/doubles.h"
#include "engine/data/lost.h"
#include "engine/data/sets.h"
#include "engine/evaluate/mean.h"
#include "engine/evaluate/measure.h"

bool items_same(const onet_sets *sets, size_t a, size_t b) {
    if (a == b) return true;
    if (sets->pairs) return false; /* relations tell them apart */
    if (!lost_same(sets->lost, a, b)) return false;
    if (sets->word) return sets->word[a] == sets->word[b];
    for (size_t j = 0; j < (size_t)sets->width; j++)
        if (sets_value(sets, a, j) != sets_value(sets, b, j))
            return false; /* as numbers: 0 and -0 are equal */
    return true;
}

/* Returns the share right / all with Wilson's interval, as if there were only `of` sets. */
static onet_measure share(double right, double all, double of) {
    const double z = NORMAL_95;
    if (of <= 0) return (onet_measure){NAN, NAN, NAN};
    double p = right / all, centre = (p + z * z / (2 * of)) / (1 + z * z / of);
    double half = z / (1 + z * z / of) * sqrt(p * (1 - p) / of + z * z / (4 * of * of));
    return (onet_measure){p, fmin(p, fmax(0, centre - half)),
                          fmax(p, fmin(1, centre + half))}; /* the interval must contain p in spite of
                                                             * rounding */
}

/* Returns the log-likelihood of all steps, the sum of y over the sum of x (log-likelihood and steps of each
 * set), with the interval of a ratio of means: from the spread of y - ratio * x. */
static onet_measure ratio(const onet_set_measure *each, const size_t *which, size_t count, double own) {
    double sum = 0, steps = 0, square = 0, sets = 0;
    for (size_t k = 0; k < count; k++) {
        const onet_set_measure *m = &each[which ? which[k] : k];
        if (isnan(m->loglik)) continue;
        sum += m->loglik * (double)m->placed;
        steps += (double)m->placed;
        sets++;
    }
    if (sets < 1) return (onet_measure){NAN, NAN, NAN};
    double mu = sum / steps;
    for (size_t k = 0; k < count; k++) {
        const onet_set_measure *m = &each[which ? which[k] : k];
        double off = (m->loglik - mu) * (double)m->placed;
        if (!isnan(m->loglik)) square += off * off;
    }
    double half = sets * own < 1 + 1e-9 ? (double)INFINITY
                                        : NORMAL_95 * sqrt(square * sets / (sets - 1 / own) / own) / steps;
    return (onet_measure){mu, mu - half, fmin(0, mu + half)};
}

double measure_inversions(int32_t *v, int32_t *scratch, size_t n) {
    if (n < 2) return 0;
    size_t half = n / 2, a = 0, b = half;
    double count = measure_inversions(v, scratch, half) + measure_inversions(v + half, scratch, n - half);
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

/* Sets rank[t] to the right position of the item at position t of the answer. Equal items are
 * interchangeable: the k-th of them in the answer counts as the k-th in the right order. Returns the
 * logarithm of the number of orders that differ in equal items alone. */
static double right_places(const onet_sets *sets, size_t first, size_t n, const int32_t *answer,
                           int32_t *rank, int32_t *taken) {
    const int32_t *right = sets->order + first;                  /* the n placed items come first */
    for (size_t p = 0; p < n; p++) taken[right[p]] = (int32_t)p; /* place of each item */
    double orders = 0;
    for (size_t t = 0; t < n; t++) rank[t] = taken[answer[t]];
    for (size_t a = 1; a < n; a++) {
        int repeats = 0;
        for (size_t b = 0; b < a; b++)
            repeats += items_same(sets, first + (size_t)right[a], first + (size_t)right[b]);
        if (repeats) orders += log1p(repeats);
    }
    if (orders == 0) return 0;
    memset(taken, 0, n * sizeof *taken);
    for (size_t t = 0; t < n; t++)
        for (size_t p = 0; p < n; p++)
            if (!taken[p] && items_same(sets, first + (size_t)right[p], first + (size_t)answer[t])) {
                rank[t] = (int32_t)p;
                taken[p] = 1;
                break;
            }
    return orders;
}

/* Returns the measures of one set. rank [placed]: the right places of the items of the answer, place by
 * place; it is sorted afterwards. */
static onet_set_measure measure_set(size_t n, size_t placed, int32_t *rank, int32_t *scratch,
                                    double logprob) {
    onet_set_measure m = {.n = n, .placed = placed, .tau = NAN, .neighbours = NAN};
    size_t hits = 0, pairs = 0;
    for (size_t t = 0; t < placed; t++) hits += rank[t] == (int32_t)t;
    for (size_t t = 1; t < placed; t++) pairs += rank[t] == rank[t - 1] + 1;
    m.exact = hits == placed;
    m.position = (double)hits / (double)placed;
    m.loglik = logprob / (double)placed;
    if (placed > 1) {
        double all = (double)placed * (double)(placed - 1) / 2;
        m.neighbours = (double)pairs / (double)(placed - 1);
        /* Rounded as by measure_scores. */
        m.tau = (all - 2 * measure_inversions(rank, scratch, placed)) / all;
    }
    return m;
}

static onet_status check_answer(const onet_sets *sets, size_t s, const onet_answer *answer, onet_error *err) {
    if (!answer->order) return fail(err, ONET_USAGE, "answers[%zu].order is NULL", s);
    const uint8_t *context = sets->context ? sets->context + sets->start[s] : NULL;
    onet_status status = sets_check_order(answer->order, sets_size(sets, s), err);
    if (!status) status = sets_check_context(context, answer->order, sets_size(sets, s), err);
    if (status) error_prefix(err, "the answer for set %zu", s + 1);
    return status;
}

static onet_status measure_each(onet_set_measure *each, const onet_sets *sets, const onet_answer *answers,
                                const double *logprob, onet_error *err) {
    size_t largest = 1;
    for (size_t s = 0; s < sets->count; s++)
        if (sets_size(sets, s) > largest) largest = sets_size(sets, s);
    int32_t *rank = array_new(largest, sizeof *rank), *scratch = array_new(largest, sizeof *scratch);
    onet_status status = rank && scratch ? ONET_OK : fail_memory(err, "the comparison");
    for (size_t s = 0; s < sets->count && !status; s++) {
        size_t placed = sets_placed(sets, s);
        double orders = right_places(sets, sets->start[s], placed, answers[s].order, rank, scratch);
        each[s] = measure_set(sets_size(sets, s), placed, rank, scratch, logprob ? logprob[s] : (double)NAN);
        /* The network gives orders that differ in equal items alone the same probability. */
        each[s].probability = answers[s].logprob ? fmin(1, exp(answers[s].logprob[0] + orders)) : (double)NAN;
    }
    free(rank);
    free(scratch);
    return status;
}

onet_status onet_measure_each(onet_set_measure *each, const onet_sets *sets, const onet_answer *answers,
                              const double *logprob, onet_error *err) {
    NEED(each, "each");
    NEED(sets, "sets");
    NEED(answers, "answers");
    if (!sets->order) return fail(err, ONET_BAD, "the sets have no order to compare with");
    onet_status status = sets_check(sets, err);
    for (size_t s = 0; s < sets->count && !status; s++) status = check_answer(sets, s, &answers[s], err);
    return status ? status : measure_each(each, sets, answers, logprob, err);
}

void measure_mean(onet_report *report, const onet_set_measure *each, const size_t *which, size_t count,
                  double own) {
    memset(report, 0, sizeof *report);
    if (!each) count = 0;
    double exact = 0;
    mean place = {0}, tau = {0}, likely = {0}, pairs = {0};
    for (size_t k = 0; k < count; k++) {
        const onet_set_measure *m = &each[which ? which[k] : k];
        exact += m->exact;
        mean_add(&place, m->position);
        mean_add(&tau, m->tau);
        mean_add(&pairs, m->neighbours);
        mean_add(&likely, m->loglik);
    }
    report->sets = count;
    report->exact = share(exact, (double)count, own * (double)count);
    report->position = mean_interval_of(&place, own, 0, 1);
    report->tau = mean_interval_of(&tau, own, -1, 1);
    report->neighbours = mean_interval_of(&pairs, own, 0, 1);
    report->loglik = mean_interval_of(&likely, own, -INFINITY, 0);
    report->loglik_all = ratio(each, which, count, own);
    measure_calibration(report, each, which, count, own);
}

void onet_measure_mean(onet_report *report, const onet_set_measure *each, const size_t *which, size_t count) {
    if (report) measure_mean(report, each, which, count, 1);
}

onet_status onet_measure_sets(onet_report *report, const onet_sets *sets, const onet_answer *answers,
                              const double *logprob, int only_n, onet_error *err) {
    NEED(report, "report");
    NEED(sets, "sets");
    NEED(answers, "answers");
    if (only_n < 0) return fail(err, ONET_USAGE, "only_n is %d: a size of sets, or 0 for all", only_n);
    size_t room = sets->count ? sets->count : 1, count = 0;
    onet_set_measure *each = array_new(room, sizeof *each);
    size_t *which = array_new(room, sizeof *which);
    onet_status status = each && which ? ONET_OK : fail_memory(err, "the comparison");
    if (!status) status = onet_measure_each(each, sets, answers, logprob, err);
    for (size_t s = 0; s < sets->count && !status; s++)
        if (!only_n || sets_size(sets, s) == (size_t)only_n) which[count++] = s;
    if (!status) onet_measure_mean(report, each, which, count);
    free(each);
    free(which);
    return status;
}
