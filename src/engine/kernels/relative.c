/* Computes the features of items relative to their set on the CPU, for training and ordering (relative.h). */
#include "engine/kernels/relative.h"

#include <math.h>

void relative_features(real *x, size_t ld, int n, int c0, int c1, int d) {
    for (int c = c0; c < c1; c++) {
        double mean = 0, square = 0;
        for (int i = 0; i < n; i++) mean += (double)x[(size_t)i * ld + (size_t)c];
        mean /= n;
        for (int i = 0; i < n; i++) {
            double off = (double)x[(size_t)i * ld + (size_t)c] - mean;
            square += off * off;
        }
        double deviation = sqrt(square / n);
        /* Features that overflowed have no finite deviation; the net then reports the overflow. */
        int varies = deviation > RELATIVE_LEAST && isfinite(deviation);
        for (int i = 0; i < n; i++) {
            real *row = x + (size_t)i * ld;
            row[d + c] = varies ? (real)(((double)row[c] - mean) / deviation) : 0;
        }
    }
}
