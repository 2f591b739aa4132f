/* Rounds a model's weights to half precision: the weight matrices, which hold 99% of the parameters, take two
 * bytes per number in files. Biases, norms and their statistics, the start vector and the standardisation
 * stay float: they are few, and a variance can lie far outside the range of half precision. */
#include "engine/base/half.h"

#include <math.h>

#include "engine/base/arguments.h"
#include "engine/model/model.h"

static bool is_matrix(const tensor *t) {
    return t->trained && t->dims > 1;
}

static float rounded(float x) {
    return half_to_float(half_from_float(x));
}

/* A matrix with a number beyond HALF_MAX stays float as a whole. */
static bool fits(const float *x, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!(fabsf(x[i]) <= HALF_MAX)) return false;
    return true;
}

bool model_tensor_is_half(const onet_model *m, const tensor *t) {
    if (!m->half || !is_matrix(t)) return false;
    for (size_t i = 0; i < t->size; i++)
        if (rounded(m->theta[t->offset + i]) != m->theta[t->offset + i]) return false;
    return true;
}

onet_status onet_model_set_half(onet_model *m, int half, onet_error *err) {
    NEED(m, "model");
    m->half = half != 0;
    if (!half) return ONET_OK;
    for (int k = 0; k < m->sh.tensors; k++) {
        const tensor *t = &m->sh.tensor[k];
        float *x = m->theta + t->offset;
        if (!is_matrix(t) || !fits(x, t->size)) continue;
        for (size_t i = 0; i < t->size; i++) x[i] = rounded(x[i]);
    }
    return model_set_entry(m, "weights", "rounded to half precision", err);
}

int onet_model_half(const onet_model *m) {
    return m && m->half;
}
