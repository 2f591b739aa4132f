/* Computes the batch norms' statistics of a model for sets of one size: those measured for that size, else
 * from a line in 1/n, or the same for all sizes if the model has no others. Also allocates measured
 * statistics, and names the tensors of slopes. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/model/model.h"

bool model_make_rows(onet_model *m, size_t rows) {
    size_t width = m->sh.total - m->sh.trained;
    free(m->row_size);
    free(m->row);
    m->rows = 0;
    m->row_size = m->row = NULL;
    if (!rows) return true;
    m->row_size = array_new(rows, sizeof *m->row_size);
    m->row = array_new(rows, width * sizeof *m->row);
    if (!m->row_size || !m->row) return false;
    m->rows = rows;
    return true;
}

tensor model_slope_tensor(const tensor *statistic) {
    tensor t = *statistic;
    strcpy(strrchr(t.name, '.'), tensor_is_variance(statistic) ? ".var_slope" : ".mean_slope");
    return t;
}

/* Clamps x: extrapolated far enough, a line leaves the range of a float. */
static float held(double x, double low) {
    return (float)fmin(fmax(x, low), (double)FLT_MAX);
}

/* A mean moves with 1/n in a straight line, and so does the logarithm of a variance (with the norms'
 * epsilon).
 */
void model_statistics(const onet_model *m, int n, float *to) {
    const net_shape *sh = &m->sh;
    size_t width = sh->total - sh->trained;
    memcpy(to, m->theta + sh->trained, width * sizeof *to);
    if (!m->sized) return;
    double size = fmax(n, (double)m->smallest_size);
    for (size_t i = 0; i < m->rows; i++)
        if ((double)m->row_size[i] == size) {
            memcpy(to, m->row + i * width, width * sizeof *to);
            return;
        }
    /* Below the smallest size 1/n soon lies far outside of what was measured: the line ends there. */
    double away = 1 / size - (double)m->inverse_size;
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
