#include "train/sizes.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

bool sizes_new(sizes *s, const shape *sh) {
    size_t count = sh->total - sh->trained;
    *s = (sizes){.sh = sh, .y = array_new(count, sizeof *s->y), .xy = array_new(count, sizeof *s->xy)};
    return s->y && s->xy;
}

void sizes_free(sizes *s) {
    free(s->y);
    free(s->xy);
    *s = (sizes){0};
}

void sizes_add(sizes *s, int sets, int n, const float *statistics) {
    double w = (double)sets * n * n, x = 1.0 / n;
    s->weight += w;
    s->x += w * x;
    s->xx += w * x * x;
    if (!s->smallest || n < s->smallest) s->smallest = n;
    if (n > s->largest) s->largest = n;
    for (int k = 0; k < s->sh->tensors; k++) {
        const tensor *t = &s->sh->tensor[k];
        if (t->trained) continue;
        bool variance = tensor_is_variance(t);
        for (size_t i = t->offset - s->sh->trained, end = i + t->size; i < end; i++) {
            double y = variance ? log((double)statistics[i] + NORM_EPSILON) : (double)statistics[i];
            s->y[i] += w * y;
            s->xy[i] += w * y * x;
        }
    }
}

/* One size stands for nearly all cells where 1/n spreads by less than this share of its mean: the line would
 * hang on the few others, however little they tell. */
#define LEAST_SPREAD 0.05

void sizes_fit(const sizes *s, onet_model *model) {
    if (s->weight <= 0) return;
    const shape *sh = s->sh;
    double middle = s->x / s->weight, spread = s->xx - s->x * middle;
    double least = LEAST_SPREAD * middle * LEAST_SPREAD * middle * s->weight;
    model->sized = s->largest >= 2 * s->smallest && spread > least;
    model->inverse_size = (float)middle;
    model->smallest_size = (float)s->smallest;
    for (int k = 0; k < sh->tensors; k++) {
        const tensor *t = &sh->tensor[k];
        if (t->trained) continue;
        bool variance = tensor_is_variance(t);
        for (size_t i = t->offset - sh->trained, end = i + t->size; i < end; i++) {
            double y = s->y[i] / s->weight;
            model->theta[sh->trained + i] = (float)(variance ? fmax(exp(y) - NORM_EPSILON, 0) : y);
            model->slope[i] = model->sized ? (float)((s->xy[i] - s->x * y) / spread) : 0;
        }
    }
}
