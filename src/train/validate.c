#include "train/validate.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "decode/orderer.h"

enum { BLOCK = 256 }; /* sets between two looks */

/* A view of `count` sets from `first` on. start is rebased into `at`, [BLOCK + 1]. */
static onet_sets view(const onet_sets *s, size_t first, size_t count, size_t *at) {
    size_t base = s->start[first];
    for (size_t i = 0; i <= count; i++) at[i] = s->start[first + i] - base;
    onet_sets v = *s;
    v.count = count;
    v.start = at;
    if (s->items) v.items = s->items + base * (size_t)s->width;
    if (s->word) v.word = s->word + base;
    v.order = s->order + base;
    return v;
}

onet_status validate_sets(validation *found, const onet_model *model, const onet_sets *sets, size_t count,
                          const onet_order_options *how, gpu_choice gpu, void (*look)(void *context),
                          void *context, onet_error *err) {
    size_t right = 0, largest = 0; /* items of a block */
    double sum = 0;
    for (size_t s = 0; s < count; s += BLOCK) {
        size_t end = s + BLOCK < count ? s + BLOCK : count;
        if (sets->start[end] - sets->start[s] > largest) largest = sets->start[end] - sets->start[s];
    }
    onet_orderer *orderer = NULL;
    int32_t *order = array_new(largest, sizeof *order);
    onet_answer *answer = array_new(BLOCK, sizeof *answer);
    size_t *at = array_new(BLOCK + 1, sizeof *at);
    double *logprob = array_new(BLOCK, sizeof *logprob);
    onet_status status = order && answer && at && logprob ? orderer_new(&orderer, model, how, gpu, err)
                                                          : fail_memory(err, "the validation");
    for (size_t s = 0; s < count && !status; s += BLOCK) {
        size_t here = s + BLOCK < count ? BLOCK : count - s;
        onet_sets block = view(sets, s, here, at);
        for (size_t i = 0; i < here; i++) answer[i] = (onet_answer){.order = order + at[i]};
        onet_report report;
        status = onet_orderer_run(orderer, &block, answer, err);
        if (!status) status = onet_measure_sets(&report, &block, answer, NULL, 0, err);
        if (!status) right += (size_t)llround(report.exact.mean * (double)here);
        look(context);
        if (!status) status = onet_orderer_score(orderer, &block, logprob, err);
        for (size_t i = 0; i < here && !status; i++) sum += logprob[i];
        look(context);
    }
    onet_orderer_free(orderer);
    free(order);
    free(answer);
    free(at);
    free(logprob);
    if (!status) *found = (validation){(double)right / (double)count, sum / (double)sets->start[count]};
    return status;
}
