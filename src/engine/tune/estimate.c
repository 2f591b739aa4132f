/* Estimates without bias how good the chosen settings are: trains models of them without the test part, which
 * no choice has seen, and measures them on it, beside the given settings and simple rules. */
#include <stdlib.h>
#include <string.h>

#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/evaluate/measure.h"
#include "engine/train/train.h"
#include "engine/tune/tuner.h"
#include "ordernet_io.h"

typedef struct estimate {
    tuner *s;
    const choice_made *made;
    int models; /* of the chosen settings, one per job; the job after them is for the given settings */
    onet_model *model[ONET_MAX_MERGED + 1];
    onet_status status[ONET_MAX_MERGED + 1];
    onet_error err[ONET_MAX_MERGED + 1];
} estimate;

static void estimate_one(void *arg, int number, int thread) {
    estimate *e = arg;
    tuner *s = e->s;
    (void)thread;
    bool given = number == e->models;
    const choice_made *made = given ? &s->base_made : e->made;
    running r = {.s = s, .started = clock_seconds()};
    onet_train_options o = tune_options(s, made, s->on_gpu ? s->threads : s->threads / s->workers);
    if (!given) train_options_of_model(&o, number);
    o.progress = tune_trial_progress;
    o.context = &r;
    e->status[number] = tune_train(s, &e->model[number], made, s->rest[TEST], NULL, &o, &e->err[number]);
}

/* Measures a model that has not seen the test part on it: beside simple rules (test), or alone (report). */
static onet_status compare_test(tuner *s, const onet_model *model, onet_report *report, onet_comparison *test,
                                onet_error *err) {
    onet_compare_options with = {.size = sizeof with,
                                 .seed = s->base.seed,
                                 .threads = s->threads,
                                 .is_ranker = !strcmp(onet_model_kind(model), "ranker")};
    onet_set_measure *each = array_new(s->part[TEST]->count, sizeof *each);
    onet_status status = each ? tune_measure_each(each, s, model, s->part[TEST], s->threads, err)
                              : fail_memory(err, "the measures");
    if (!status)
        status = test ? onet_compare(test, s->rest[TEST], s->part[TEST], each, &with, err)
                      : measure_distinct(report, each, s->part[TEST], err);
    free(each);
    return status;
}

/* Merges and measures the models of the chosen or of the given settings. After a stop the figures are left
 * out. test: not NULL: the models are also compared with simple rules. */
static onet_status estimate_report(estimate *e, int first, int count, onet_report *report,
                                   onet_comparison *test, onet_error *err) {
    tuner *s = e->s;
    onet_model *merged = NULL;
    for (int i = first; i < first + count; i++) {
        if (e->status[i] == ONET_INTERRUPTED) return ONET_OK;
        if (e->status[i] && err) *err = e->err[i];
        if (e->status[i]) return e->status[i];
    }
    onet_status status = count == 1 ? ONET_OK
                                    : onet_model_merge(&merged, (const onet_model *const *)e->model + first,
                                                       (size_t)count, err);
    if (!status && merged && s->base.half) status = onet_model_set_half(merged, 1, err);
    const onet_model *model = merged ? merged : e->model[first];
    if (!status) status = compare_test(s, model, report, test, err);
    onet_model_free(merged);
    return status;
}

onet_status tune_estimate(tuner *s, const choice_made *made, onet_tuned *result, onet_error *err) {
    estimate *e = array_new(1, sizeof *e);
    if (!e) return fail_memory(err, "the models");
    int models = (int)made->value[S_MODELS];
    *e = (estimate){.s = s, .made = made, .models = models};
    if (s->how.seconds > 0 && !s->fixed[S_MODELS]) /* estimate fewer models if there is no time for all */
        while (e->models > 1 &&
               tune_spent(s) + tune_final_seconds(s, made, models, e->models) > s->how.seconds)
            e->models--;
    result->test_models = e->models;
    int count = space_same(made, &s->base_made) ? e->models : e->models + 1;
    s->deadline = 0; /* the search is over */
    atomic_store(&s->late, false);
    if (!s->on_gpu && s->workers > 1)
        thread_pool_run(s->thread_pool, count, estimate_one, e);
    else
        for (int i = 0; i < count; i++) estimate_one(e, i, 0);
    onet_status status = estimate_report(e, 0, e->models, NULL, &result->test, err);
    if (count == e->models)
        result->test_default = result->test.model;
    else if (!status && estimate_report(e, e->models, 1, &result->test_default, NULL, NULL))
        result->test_default = (onet_report){0};
    for (int i = 0; i < count; i++) {
        tune_note_kernels(s, e->model[i]);
        onet_model_free(e->model[i]);
    }
    free(e);
    return status;
}
