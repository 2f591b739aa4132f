/* Measures exact match and log-likelihood per step on the validation sets, with the current weights, and
 * writes them to the training record. */
#include "engine/train/validate.h"

#include <math.h>
#include <stdlib.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/number.h"
#include "engine/data/sets.h"
#include "engine/decode/orderer.h"
#include "engine/model/model.h"
#include "ordernet_measure.h"

enum { BLOCK = 256 }; /* sets between two checks for a stop */

onet_status validate_sets(validation *found, const onet_model *model, const onet_sets *sets,
                          const onet_train_options *o, const gpu_choice *gpu, int (*stop)(void *context),
                          void *context, onet_error *err) {
    /* A training on the CPU leaves GPUs alone. */
    onet_order_options how = {.size = sizeof how,
                              .decode = ONET_GREEDY,
                              .threads = o->threads,
                              .kernels = o->kernels,
                              .device = gpu ? NULL : "cpu"};
    size_t count = sets->count;
    if (o->valid_limit > 0 && count > (size_t)o->valid_limit) count = (size_t)o->valid_limit;
    size_t right = 0, steps = 0, largest = 0; /* items of a block */
    double sum = 0;
    for (size_t s = 0; s < count; s += BLOCK) {
        size_t end = s + BLOCK < count ? s + BLOCK : count;
        if (sets->start[end] - sets->start[s] > largest) largest = sets->start[end] - sets->start[s];
    }
    onet_orderer *orderer = NULL;
    int32_t *order = array_new(largest, sizeof *order);
    onet_answer *answer = array_new(BLOCK, sizeof *answer);
    double *logprob = array_new(BLOCK, sizeof *logprob);
    onet_status status = order && answer && logprob
                             ? orderer_new(&orderer, model, &how, gpu ? *gpu : (gpu_choice){0}, err)
                             : fail_memory(err, "the validation");
    for (size_t s = 0; s < count && !status; s += BLOCK) {
        size_t here = s + BLOCK < count ? BLOCK : count - s;
        onet_sets block;
        sets_slice(&block, sets, s, s + here);
        for (size_t i = 0; i < here; i++)
            answer[i] = (onet_answer){.order = order + (block.start[i] - block.start[0])};
        onet_report report;
        status = onet_orderer_run(orderer, &block, answer, err);
        if (!status) status = onet_measure_sets(&report, &block, answer, NULL, 0, err);
        if (!status) right += (size_t)llround(report.exact.mean * (double)here);
        if (!status && stop(context)) status = ONET_INTERRUPTED;
        if (!status) status = onet_orderer_score(orderer, &block, logprob, err);
        for (size_t i = 0; i < here && !status; i++) {
            sum += logprob[i];
            steps += sets_placed(sets, s + i);
        }
        if (!status && stop(context)) status = ONET_INTERRUPTED;
    }
    onet_orderer_free(orderer);
    free(order);
    free(answer);
    free(logprob);
    if (!status) *found = (validation){(double)right / (double)count, sum / (double)steps};
    return status;
}

onet_status validate_note(const validation *found, onet_model *model, onet_error *err) {
    const char *const key[] = {"valid.exact", "valid.loglik"};
    const double value[] = {found->exact, found->loglik};
    onet_status status = ONET_OK;
    for (int i = 0; i < 2 && !status; i++) {
        char text[32];
        if (isnan(value[i])) continue;
        number_print(text, sizeof text, "%.6f", value[i]);
        status = model_set_entry(model, key[i], text, err);
    }
    return status;
}
