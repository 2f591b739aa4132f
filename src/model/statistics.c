/* The norms' statistics for sets of one size. */
#include <math.h>
#include <string.h>

#include "model/model.h"

tensor model_slope_tensor(const tensor *statistic) {
    tensor t = *statistic;
    strcpy(strrchr(t.name, '.'), tensor_is_variance(statistic) ? ".var_slope" : ".mean_slope");
    return t;
}

/* A mean moves with 1/n in a straight line, the logarithm of a variance (with the norms' epsilon) does. */
void model_statistics(const onet_model *m, int n, float *to) {
    const shape *sh = &m->sh;
    memcpy(to, m->theta + sh->trained, (sh->total - sh->trained) * sizeof *to);
    if (!m->sized) return;
    double away = 1.0 / n - (double)m->inverse_size;
    for (int k = 0; k < sh->tensors; k++) {
        const tensor *t = &sh->tensor[k];
        if (t->trained) continue;
        bool variance = tensor_is_variance(t);
        for (size_t i = t->offset - sh->trained, end = i + t->size; i < end; i++) {
            double by = away * (double)m->slope[i], x = (double)to[i];
            if (!variance)
                to[i] = (float)(x + by);
            else
                to[i] = (float)fmax((x + NORM_EPSILON) * exp(by) - NORM_EPSILON, 0);
        }
    }
}
