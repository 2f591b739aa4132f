/* Collects the batch norms' statistics of many batches and writes them to the model. From batches of one set
 * size each: a row of statistics for every frequent size and, for other sizes, a straight line in 1/n (n: the
 * set size). From batches of mixed sizes: one mean and variance over all of them. */
#include "engine/train/sizes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

bool sizes_new(sizes *s, const net_shape *sh) {
    size_t count = sh->total - sh->trained;
    *s = (sizes){.sh = sh,
                 .y = array_new(count, sizeof *s->y),
                 .xy = array_new(count, sizeof *s->xy),
                 .n_sum = array_new(count, sizeof *s->n_sum),
                 .all_sum = array_new(count, sizeof *s->all_sum),
                 .square = array_new(count, sizeof *s->square)};
    return s->y && s->xy && s->n_sum && s->all_sum && s->square;
}

void sizes_free(sizes *s) {
    free(s->y);
    free(s->xy);
    free(s->n_sum);
    free(s->all_sum);
    free(s->square);
    free(s->row_size);
    free(s->row);
    *s = (sizes){0};
}

/* Whether all sets of the batch have the same size. */
static bool one_size(const batch_size *batch) {
    return batch->pairs == (size_t)batch->sets * (size_t)batch->largest * (size_t)batch->largest;
}

/* Gives the current size a row of its own, if it had enough sets. */
static bool add_row(sizes *s) {
    size_t width = s->sh->total - s->sh->trained;
    if (s->mixed || s->n_weight < (double)SIZE_SETS * s->n * s->n) return true;
    if (!array_reserve(&s->row_size, &s->size_room, s->rows + 1, sizeof *s->row_size) ||
        !array_reserve(&s->row, &s->row_room, s->rows + 1, width * sizeof *s->row))
        return false;
    for (size_t i = 0; i < width; i++) s->row[s->rows * width + i] = (float)(s->n_sum[i] / s->n_weight);
    s->row_size[s->rows++] = (float)s->n;
    return true;
}

/* Makes the current size a point of the line. */
static bool add_point(sizes *s) {
    if (s->n_weight <= 0) return true;
    if (!add_row(s)) return false;
    double w = s->n_weight, x = 1.0 / s->n;
    s->weight += w;
    s->x += w * x;
    s->xx += w * x * x;
    for (int k = 0; k < s->sh->tensors; k++) {
        const tensor *t = &s->sh->tensor[k];
        if (t->trained) continue;
        bool variance = tensor_is_variance(t);
        for (size_t i = t->offset - s->sh->trained, end = i + t->size; i < end; i++) {
            double y = variance ? log(s->n_sum[i] / w + NORM_EPSILON) : s->n_sum[i] / w;
            s->y[i] += w * y;
            s->xy[i] += w * y * x;
            s->n_sum[i] = 0;
        }
    }
    s->n_weight = 0;
    return true;
}

bool sizes_add(sizes *s, batch_size batch, const float *statistics) {
    int n = batch.largest;
    double w = (double)batch.pairs;
    if (!one_size(&batch)) s->mixed = true;
    if (n != s->n && !add_point(s)) return false;
    s->n = n;
    s->n_weight += w;
    s->all_weight += w;
    if (!s->smallest || n < s->smallest) s->smallest = n;
    if (n > s->largest) s->largest = n;
    for (size_t i = 0; i < s->sh->total - s->sh->trained; i++) {
        double y = (double)statistics[i];
        s->n_sum[i] += w * y;
        s->all_sum[i] += w * y;
        s->square[i] += w * y * y;
    }
    return true;
}

/* If 1/n spreads by less than this share of its mean, nearly all cells are of one size, and the few others
 * would decide the slope of the line. */
#define LEAST_SPREAD 0.05

/* Sets the statistics of all cells together: their variance is that within the batches plus that of the
 * batches' means. */
static void fit_mixed(const sizes *s, onet_model *model) {
    const net_shape *sh = s->sh;
    model->sized = 0;
    memset(model->slope, 0, (sh->total - sh->trained) * sizeof *model->slope);
    for (int k = 0; k < sh->tensors; k++) {
        const tensor *t = &sh->tensor[k];
        if (t->trained || tensor_is_variance(t)) continue;
        for (size_t i = t->offset - sh->trained, end = i + t->size; i < end; i++) {
            size_t var = i + t->size; /* a norm's variances stand after its means */
            double mean = s->all_sum[i] / s->all_weight;
            model->theta[sh->trained + i] = (float)mean;
            model->theta[sh->trained + var] =
                (float)fmax((s->all_sum[var] + s->square[i]) / s->all_weight - mean * mean, 0);
        }
    }
}

bool sizes_fit(sizes *s, onet_model *model) {
    if (s->all_weight <= 0) return true;
    if (s->mixed) {
        fit_mixed(s, model);
        return model_make_rows(model, 0);
    }
    if (!add_point(s)) return false;
    const net_shape *sh = s->sh;
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
    if (!model_make_rows(model, model->sized ? s->rows : 0)) return false;
    if (!model->rows) return true;
    memcpy(model->row_size, s->row_size, s->rows * sizeof *s->row_size);
    memcpy(model->row, s->row, s->rows * (sh->total - sh->trained) * sizeof *s->row);
    return true;
}
