/* Computes means over sets with 95% confidence intervals. */
#ifndef EVALUATE_MEAN_H
#define EVALUATE_MEAN_H

#include <math.h>
#include <stdbool.h>

#include "ordernet_measure.h"

#define NORMAL_95 1.959963984540054

/* Sums for a mean over sets with the normal interval. */
typedef struct mean {
    double sum, square, count;
} mean;

static inline void mean_add(mean *m, double x) {
    if (isnan(x)) return; /* not defined for this set */
    m->sum += x;
    m->square += x * x;
    m->count++;
}

/* Below, own: effective number of independent sets per set (Kish); below 1 if some sets are equal. */

/* One set, or copies of one, have no spread that an interval could be made of. */
static inline bool mean_alone(const mean *m, double own) {
    return m->count * own < 1 + 1e-9;
}

static inline double mean_variance(const mean *m, double own) {
    double mu = m->sum / m->count;
    return mean_alone(m, own) ? (double)INFINITY : fmax(0, m->square - m->sum * mu) / (m->count - 1 / own);
}

/* Returns the mean with its interval, clipped to least .. most. */
static inline onet_measure mean_interval_of(const mean *m, double own, double least, double most) {
    if (m->count < 1) return (onet_measure){NAN, NAN, NAN};
    double mu = m->sum / m->count, half = NORMAL_95 * sqrt(mean_variance(m, own) / (m->count * own));
    return (onet_measure){mu, fmax(least, mu - half), fmin(most, mu + half)};
}

static inline onet_measure mean_interval(const mean *m, double least, double most) {
    return mean_interval_of(m, 1, least, most);
}

#endif
