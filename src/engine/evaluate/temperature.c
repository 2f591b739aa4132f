/* Finds the temperature of a model: the number by which its logits are divided so that the probabilities of
 * its answers are right. The logits are w . output + b (docs/model.md), so w and b are divided, and a
 * calibrated model runs and is stored like any other. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/arguments.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/sized.h"
#include "engine/data/sets.h"
#include "engine/evaluate/measure.h"
#include "engine/model/model.h"

/* The range that is searched, and how often the answers are scored in it. */
static const double WIDEST = 4;
enum { TRIALS = 14 };

typedef struct fitting {
    onet_model *model;
    const onet_sets *sets;
    const onet_order_options *options;
    size_t head;    /* numbers of the head: weights and bias */
    float *weights; /* [head]: of temperature 1 */
    onet_answer *answers;
    int32_t *order;
    double *logprob;
    onet_set_measure *each;
} fitting;

static float *head_number(onet_model *m, size_t i) {
    size_t weights = (size_t)m->sh.head_in;
    return &m->theta[i < weights ? m->sh.head_weight + i : m->sh.head_bias];
}

static void set_temperature(const fitting *f, double t) {
    for (size_t i = 0; i < f->head; i++) *head_number(f->model, i) = (float)((double)f->weights[i] / t);
}

/* Orders the sets at this temperature, and measures the answers. */
static onet_status answer(const fitting *f, double t, onet_error *err) {
    onet_orderer *orderer = NULL;
    set_temperature(f, t);
    onet_status status = onet_orderer_new(&orderer, f->model, f->options, err);
    if (!status) status = onet_orderer_run(orderer, f->sets, f->answers, err);
    if (!status) status = onet_measure_each(f->each, f->sets, f->answers, NULL, err);
    onet_orderer_free(orderer);
    return status;
}

/* Computes the Brier score of the answers' probabilities at this temperature: the mean of (probability -
 * right)^2. The answers are those of temperature 1: with new ones the score would jump from one temperature
 * to the next. */
static onet_status try(const fitting *f, double t, double *score, onet_error *err) {
    onet_orderer *orderer = NULL;
    onet_sets answered = *f->sets;
    answered.order = f->order;
    set_temperature(f, t);
    onet_status status = onet_orderer_new(&orderer, f->model, f->options, err);
    if (!status) status = onet_orderer_score(orderer, &answered, f->logprob, err);
    if (!status) status = onet_measure_each(f->each, f->sets, f->answers, NULL, err);
    onet_orderer_free(orderer);
    *score = 0;
    for (size_t s = 0; s < f->sets->count && !status; s++) {
        double off = f->each[s].probability - f->each[s].exact;
        *score += off * off / (double)f->sets->count;
    }
    return status;
}

/* Finds the best temperature by golden-section search in its logarithm; 1 if nothing is better. */
static onet_status fit(const fitting *f, double *best, onet_error *err) {
    const double golden = 0.6180339887498949;
    double low = -log(WIDEST), high = log(WIDEST), least;
    double at[2] = {high - golden * (high - low), low + golden * (high - low)}, score[2];
    *best = 1;
    onet_status status = try(f, 1, &least, err);
    for (int i = 0; i < 2 && !status; i++) status = try(f, exp(at[i]), &score[i], err);
    for (int trial = 2; trial < TRIALS && !status; trial++) {
        int worse = score[0] < score[1]; /* which of the two ends the range now */
        *(worse ? &high : &low) = at[worse];
        at[worse] = at[!worse];
        score[worse] = score[!worse];
        at[!worse] = worse ? high - golden * (high - low) : low + golden * (high - low);
        status = try(f, exp(at[!worse]), &score[!worse], err);
    }
    int better = score[1] < score[0];
    if (!status && score[better] < least) *best = exp(at[better]);
    return status;
}

/* Notes the temperature in the training record; those of several calls are multiplied. */
static onet_status note_temperature(onet_model *m, double t, onet_error *err) {
    const char *before = onet_model_record(m, "temperature");
    char text[32];
    snprintf(text, sizeof text, "%.4f", (before ? strtod(before, NULL) : 1) * t);
    return model_set_entry(m, "temperature", text, err);
}

static onet_status calibrate(fitting *f, onet_calibration *result, onet_error *err) {
    size_t count = f->sets->count, items = f->sets->start[count];
    f->weights = array_new(f->head, sizeof *f->weights);
    f->answers = array_new(count, sizeof *f->answers);
    f->order = array_new(items, sizeof *f->order);
    f->logprob = array_new(count, sizeof *f->logprob);
    f->each = array_new(count, sizeof *f->each);
    if (!f->weights || !f->answers || !f->order || !f->logprob || !f->each)
        return fail_memory(err, "the calibration");
    for (size_t i = 0; i < f->head; i++) f->weights[i] = *head_number(f->model, i);
    for (size_t s = 0; s < count; s++)
        f->answers[s] = (onet_answer){.order = f->order + f->sets->start[s], .logprob = f->logprob + s};
    onet_status status = answer(f, 1, err);
    if (!status) status = measure_distinct(&result->before, f->each, f->sets, err);
    if (!status) status = fit(f, &result->temperature, err);
    if (!status) status = answer(f, result->temperature, err);
    if (!status) status = measure_distinct(&result->after, f->each, f->sets, err);
    if (!status) status = note_temperature(f->model, result->temperature, err);
    if (status) set_temperature(f, 1);
    return status;
}

onet_status onet_model_calibrate(onet_model *model, const onet_sets *sets, const onet_order_options *options,
                                 onet_calibration *result, onet_error *err) {
    onet_order_options own = {.size = sizeof own};
    onet_calibration found;
    memset(&found, 0, sizeof found);
    NEED(model, "model");
    NEED(sets, "sets");
    onet_status status = sized_take(&own, sizeof own, options, "onet_order_options", err);
    if (status) return status;
    own.top = 1; /* there is memory for one order of each set */
    if (!sets->count) return fail(err, ONET_BAD, "there are no sets to calibrate on");
    if (!sets->order) return fail(err, ONET_BAD, "the sets have no order to compare with");
    fitting f = {.model = model, .sets = sets, .options = &own, .head = (size_t)model->sh.head_in + 1};
    status = sets_check(sets, err);
    if (!status) status = calibrate(&f, &found, err);
    free(f.weights);
    free(f.answers);
    free(f.order);
    free(f.logprob);
    free(f.each);
    if (!status && result) *result = found;
    return status;
}
