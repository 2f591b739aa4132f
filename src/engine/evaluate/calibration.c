/* Measures whether the probabilities of answers are right (of those that a model gives 80%, 80% should be the
 * right order): the expected calibration error, what it would be by chance, and the mean probability. */
#include "engine/evaluate/mean.h"
#include "engine/evaluate/measure.h"

#include <math.h>
#include <string.h>

/* The sets whose answers have probabilities in one tenth of 0 .. 1. */
enum { BINS = 10 };
typedef struct bin {
    double count;
    double excess, square; /* sums of (probability - exact) and its square */
    double chance;         /* variance of the sum of `exact` if the probabilities are right */
} bin;

void measure_calibration(onet_report *report, const onet_set_measure *each, const size_t *which, size_t count,
                         double own) {
    bin bins[BINS];
    mean sure = {0};
    memset(bins, 0, sizeof bins);
    for (size_t k = 0; k < count; k++) {
        const onet_set_measure *m = &each[which ? which[k] : k];
        if (isnan(m->probability)) continue;
        double p = fmin(1, fmax(0, m->probability)), excess = p - m->exact;
        bin *b = &bins[(int)fmin(BINS - 1, p * BINS)];
        b->count++;
        b->excess += excess;
        b->square += excess * excess;
        b->chance += p * (1 - p);
        mean_add(&sure, p);
    }
    double error = 0, variance = 0, expected = 0, spread = 0;
    for (int i = 0; i < BINS; i++) {
        const bin *b = &bins[i];
        if (b->count < 1) continue;
        error += fabs(b->excess);
        variance += fmax(0, b->square - b->excess * b->excess / b->count);
        expected += sqrt(b->chance / own * M_2_PI); /* the mean of |x|, x normal with this variance */
        spread += b->chance / own * (1 - M_2_PI);
    }
    double sets = sure.count, by_chance = NORMAL_95 * sqrt(spread);
    double half = mean_alone(&sure, own) ? (double)INFINITY : NORMAL_95 * sqrt(variance / own);
    report->probability = mean_interval_of(&sure, own, 0, 1);
    report->calibration = report->calibration_chance = (onet_measure){NAN, NAN, NAN};
    if (sets < 1) return;
    report->calibration =
        (onet_measure){error / sets, fmax(0, error - half) / sets, fmin(1, (error + half) / sets)};
    report->calibration_chance =
        (onet_measure){expected / sets, fmax(0, expected - by_chance) / sets, (expected + by_chance) / sets};
}
