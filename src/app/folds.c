/* Runs cross-validation (`train --folds`): divides the sets into folds, trains a model per fold on the other
 * folds, measures it on the fold left out, reports over all sets, and compares with simple rules in the same
 * folds. */

#include <stdlib.h>

#include "app/ordering.h"
#include "app/processes.h"
#include "app/training.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"

typedef struct division {
    const onet_sets *data;
    const char *const *group;
    size_t *part;  /* [sets] */
    uint8_t *take; /* [sets] */
    int folds;
    answer_room room; /* answers to all sets */
    double *logprob;  /* [sets]: of the right orders */
} division;

/* Copies the sets that a fold is measured on to *part, those that it trains on to *rest. */
static onet_status divide(division *d, int fold, onet_sets **part, onet_sets **rest, onet_error *err) {
    for (size_t s = 0; s < d->data->count; s++) d->take[s] = d->part[s] == (size_t)fold;
    onet_status status = onet_sets_pick(part, d->data, d->take, err);
    for (size_t s = 0; s < d->data->count; s++) d->take[s] = !d->take[s];
    return status ? status : onet_sets_pick(rest, d->data, d->take, err);
}

/* Orders and scores a part, and writes its answers among those of all sets. */
static onet_status answer_part(division *d, int fold, const onet_sets *part, const onet_model *model,
                               const onet_train_options *o, onet_error *err) {
    onet_order_options how = {
        .size = sizeof how, .threads = o->threads, .kernels = o->kernels, .device = o->device};
    onet_orderer *orderer = NULL;
    onet_answer *answer = array_new(part->count, sizeof *answer);
    double *logprob = array_new(part->count, sizeof *logprob);
    size_t at = 0;
    onet_status status = answer && logprob ? ONET_OK : fail_memory(err, "the answers");
    for (size_t s = 0; s < d->data->count && !status; s++)
        if (d->part[s] == (size_t)fold) answer[at++] = d->room.answers[s];
    if (!status) status = onet_orderer_new(&orderer, model, &how, err);
    if (!status) status = onet_orderer_run(orderer, part, answer, err);
    if (!status) status = onet_orderer_score(orderer, part, logprob, err);
    at = 0;
    for (size_t s = 0; s < d->data->count && !status; s++)
        if (d->part[s] == (size_t)fold) {
            d->room.answers[s].found = answer[at].found;
            d->logprob[s] = logprob[at++];
        }
    onet_orderer_free(orderer);
    free(answer);
    free(logprob);
    return status;
}

static onet_status run_fold(division *d, int fold, const onet_train_options *o, bool quiet, onet_error *err) {
    onet_sets *part = NULL, *rest = NULL;
    onet_model *model = NULL;
    training t = {.fold = fold + 1, .folds = d->folds};
    onet_status status =
        world_agree(processes(), d->data ? divide(d, fold, &part, &rest, err) : ONET_OK, err);
    if (!status) status = training_run(&t, &model, rest, NULL, o, quiet, err);
    if (status == ONET_INTERRUPTED)
        fail(err, status, "interrupted in fold %d of %d; it cannot be resumed", fold + 1, d->folds);
    else if (!status)
        status = world_agree(processes(), part ? answer_part(d, fold, part, model, o, err) : ONET_OK, err);
    onet_model_free(model);
    onet_sets_free(part);
    onet_sets_free(rest);
    return status;
}

/* Fills in the report on all sets, and the comparison with simple rules in the same folds. */
static onet_status report_all(const division *d, const onet_train_options *o, onet_report *report,
                              onet_comparison *comparison, onet_error *err) {
    onet_compare_options with = {
        .size = sizeof with, .folds = d->folds, .seed = o->seed, .threads = o->threads, .group = d->group};
    onet_set_measure *each = array_new(d->data->count, sizeof *each);
    if (!each) return fail_memory(err, "the folds");
    onet_status status = onet_measure_each(each, d->data, d->room.answers, d->logprob, err);
    if (!status) onet_measure_mean(report, each, NULL, d->data->count);
    if (!status) status = onet_compare(comparison, NULL, d->data, each, &with, err);
    free(each);
    return status;
}

onet_status folds_run(onet_report *report, onet_comparison *comparison, const onet_sets *data,
                      const char *const *group, int folds, const onet_train_options *options, bool quiet,
                      onet_error *err) {
    division d = {.data = data, .group = group, .folds = folds};
    onet_train_options o = *options;
    o.model_path = NULL; /* nothing is written */
    onet_status status = ONET_OK;
    if (data) {
        status = answer_room_make(&d.room, data, 1, false, err);
        if (!status &&
            (!(d.take = array_new(data->count, 1)) || !(d.part = array_new(data->count, sizeof *d.part)) ||
             !(d.logprob = array_new(data->count, sizeof *d.logprob))))
            status = fail_memory(err, "the folds");
        if (!status) status = onet_sets_divide(d.part, data, group, folds, o.seed, err);
    }
    status = world_agree(processes(), status, err);
    for (int fold = 0; fold < folds && !status; fold++) status = run_fold(&d, fold, &o, quiet, err);
    if (!status && data) status = report_all(&d, &o, report, comparison, err);
    free(d.part);
    free(d.take);
    free(d.logprob);
    answer_room_free(&d.room);
    return status;
}
