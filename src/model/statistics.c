/* The norms' statistics for sets of one size. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "model/model.h"

tensor model_slope_tensor(const tensor *statistic) {
    tensor t = *statistic;
    strcpy(strrchr(t.name, '.'), tensor_is_variance(statistic) ? ".var_slope" : ".mean_slope");
    return t;
}

/* A line that is carried on far enough leaves what a float can hold; its end stands for all beyond. */
static float held(double x, double low) {
    return (float)fmin(fmax(x, low), (double)FLT_MAX);
}

/* A mean moves with 1/n in a straight line, and so does the logarithm of a variance (with the norms'
 * epsilon).
 */
void model_statistics(const onet_model *m, int n, float *to) {
    const shape *sh = &m->sh;
    memcpy(to, m->theta + sh->trained, (sh->total - sh->trained) * sizeof *to);
    if (!m->sized) return;
    /* Downwards 1/n soon leaves what was seen far behind: the line ends at the smallest size. */
    double away = 1 / fmax(n, (double)m->smallest_size) - (double)m->inverse_size;
    for (int k = 0; k < sh->tensors; k++) {
        const tensor *t = &sh->tensor[k];
        if (t->trained) continue;
        bool variance = tensor_is_variance(t);
        for (size_t i = t->offset - sh->trained, end = i + t->size; i < end; i++) {
            double by = away * (double)m->slope[i], x = (double)to[i];
            if (!variance)
                to[i] = held(x + by, -(double)FLT_MAX);
            else
                to[i] = held((x + NORM_EPSILON) * exp(by) - NORM_EPSILON, 0);
        }
    }
}
