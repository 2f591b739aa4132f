/* Measures a learning curve (`train --learning-curve`): trains on a quarter and on half of the data, compares
 * with the model of all of it, and says whether more data would help. All models train for the same number of
 * steps, so that they differ in the number of examples only. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "app/comparison.h"
#include "app/division.h"
#include "app/report.h"
#include "app/training.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "ordernet_io.h"

enum { QUARTER, HALF, ALL, PARTS };

typedef struct curve {
    size_t sets[PARTS];
    onet_set_measure *each[PARTS]; /* [test->count] */
} curve;

/* Trains a model on the `count` sets that have the lowest place in a random order. */
static onet_status train_part(onet_model **model, const onet_sets *train, const size_t *place, size_t count,
                              const onet_train_options *options, bool quiet, onet_error *err) {
    onet_train_options o = *options;
    onet_sets *part = NULL;
    training t = {0};
    uint8_t *take = array_new(train->count, 1);
    onet_status status = take ? ONET_OK : fail_memory(err, "a part of the sets");
    for (size_t s = 0; s < train->count && !status; s++) take[s] = place[s] < count;
    if (!status) status = onet_sets_pick(&part, train, take, err);
    o.model_path = NULL; /* nothing is written */
    o.resume = o.patience = 0;
    double epochs = ceil((double)o.epochs * (double)train->count / (double)count);
    o.epochs = epochs < 1e6 ? (int)epochs : 1000000;
    if (!status) status = training_run(&t, model, part, NULL, &o, quiet, err);
    if (status == ONET_INTERRUPTED)
        fail(err, status, "interrupted; the learning curve is not drawn, the model is written");
    onet_sets_free(part);
    free(take);
    return status;
}

/* Of fewer sets even a gain in all of them is within chance: 2 / 2^5 > 5%. */
enum { FEW = 6 };

/* Returns the mean gain over the sets in exact match, or else tau, with its 95% interval: of one set, all
 * that is possible. */
static onet_measure gain(const onet_set_measure *more, const onet_set_measure *less, size_t count,
                         bool exact) {
    double sum = 0, square = 0, n = 0;
    for (size_t s = 0; s < count; s++) {
        double d = exact ? more[s].exact - less[s].exact : more[s].tau - less[s].tau;
        if (isnan(d)) continue;
        sum += d;
        square += d * d;
        n++;
    }
    double mean = n > 0 ? sum / n : 0, var = n > 1 ? fmax(0, (square - sum * mean) / (n - 1)) : 0;
    double half = n == 1 ? (double)INFINITY : 1.96 * sqrt(var / (n > 0 ? n : 1)), most = exact ? 1 : 2;
    return (onet_measure){mean, fmax(-most, mean - half), fmin(most, mean + half)};
}

/* A gain in exact match or tau that makes more examples worth while; not ruled out if the interval reaches
 * it.
 */
static const double WORTH = 0.02;

/* Exact match and tau decide, not the log-likelihood, which more examples of noise raise too. */
static void print_curve(const curve *c, size_t count) {
    static const char *const name[PARTS] = {"a quarter", "a half", "all"};
    printf("%-34s  %*s  %*s\n", "trained on", REPORT_COLUMN, "exact match, %", REPORT_COLUMN,
           "Kendall's tau");
    for (int k = 0; k < PARTS; k++) {
        onet_report report;
        char exact[64], tau[64], who[64];
        onet_measure_mean(&report, c->each[k], NULL, count);
        report_text(&report.exact, true, exact);
        report_text(&report.tau, false, tau);
        snprintf(who, sizeof who, "%s: %zu sets", name[k], c->sets[k]);
        printf("  %-32s  %*s  %*s\n", who, REPORT_COLUMN, exact, REPORT_COLUMN, tau);
    }
    onet_measure exact = gain(c->each[ALL], c->each[HALF], count, true),
                 tau = gain(c->each[ALL], c->each[HALF], count, false);
    char sentence[80] = "More examples would help";
    if (count < FEW || (exact.low <= 0 && (exact.high < 0 || tau.low <= 0))) {
        if (count < FEW || exact.high > WORTH || (exact.high >= 0 && tau.high > WORTH))
            snprintf(sentence, sizeof sentence, "%s %zu set%s cannot tell whether more examples would help",
                     count == 1 ? "This" : "These", count, count == 1 ? "" : "s");
        else
            snprintf(sentence, sizeof sentence, "More examples would not help");
    }
    printf(
        "%s: from a half to all of them, exact match changed by %+.1f points (95%%: %+.1f to %+.1f), tau by "
        "%+.3f (%+.3f to %+.3f).\n",
        sentence, 100 * exact.mean, 100 * exact.low, 100 * exact.high, tau.mean, tau.low, tau.high);
    fflush(stdout);
}

onet_status learning_curve(const onet_model *all, const onet_sets *train, const onet_sets *test,
                           const onet_train_options *options, bool quiet, onet_error *err) {
    curve c = {.sets = {train->count / 4, train->count / 2, train->count}};
    size_t *place = NULL;
    if (!c.sets[QUARTER])
        return fail(err, ONET_USAGE, "--learning-curve needs at least 4 training sets; there are %zu",
                    train->count);
    onet_status status = pick_places(&place, train->count, options->seed, err);
    for (int k = 0; k < PARTS && !status; k++) {
        onet_model *model = NULL;
        if (k < ALL) status = train_part(&model, train, place, c.sets[k], options, quiet, err);
        if (!status) status = comparison_measure(&c.each[k], k < ALL ? model : all, test, options, err);
        onet_model_free(model);
    }
    if (!status) print_curve(&c, test->count);
    for (int k = 0; k < PARTS; k++) free(c.each[k]);
    free(place);
    return status;
}
