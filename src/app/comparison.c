/* Lets a model order sets, has it compared with simple baselines (onet_compare, engine/evaluate/compare.c)
 * and reports the result: as a table with the conclusion, warnings and, if the model failed, possible
 * reasons; or as JSON. */
#include "app/comparison.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/ordering.h"
#include "app/report.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/shown.h"
#include "ordernet_io.h"

/* A model whose log-likelihood per step is lower than that of guessing by more than this is sure of wrong
 * answers. */
#define SURE 0.1

onet_status comparison_measure(onet_set_measure **each, const onet_model *model, const onet_sets *test,
                               const onet_train_options *o, onet_error *err) {
    onet_order_options how = {
        .size = sizeof how, .threads = o->threads, .kernels = o->kernels, .device = o->device};
    onet_orderer *orderer = NULL;
    answer_room room = {0};
    double *logprob = array_new(test->count, sizeof *logprob);
    *each = array_new(test->count, sizeof **each);
    onet_status status = *each && logprob ? ONET_OK : fail_memory(err, "the comparison");
    if (!status) status = answer_room_make(&room, test, 1, false, err);
    if (!status) status = onet_orderer_new(&orderer, model, &how, err);
    if (!status) status = onet_orderer_run(orderer, test, room.answers, err);
    if (!status) status = onet_orderer_score(orderer, test, logprob, err);
    if (!status) status = onet_measure_each(*each, test, room.answers, logprob, err);
    onet_orderer_free(orderer);
    answer_room_free(&room);
    free(logprob);
    return status;
}

onet_status comparison_make(onet_comparison *c, const onet_model *model, const onet_sets *train,
                            const onet_sets *test, const onet_train_options *o, onet_error *err) {
    onet_compare_options with = {.size = sizeof with,
                                 .seed = o->seed,
                                 .threads = o->threads,
                                 .is_ranker = !strcmp(onet_model_kind(model), "ranker")};
    onet_set_measure *each = NULL;
    onet_status status = comparison_measure(&each, model, test, o, err);
    if (!status) status = onet_compare(c, train, test, each, &with, err);
    free(each);
    return status;
}

/* Returns the name of the best column, its number if the columns have no names. */
static const char *column_name(const onet_comparison *c, const onet_sets *sets, char text[SHOWN]) {
    const char *name = sets->columns ? onet_columns_name(sets->columns, c->feature) : NULL;
    snprintf(text, SHOWN, "feature %d", c->feature + 1);
    return name ? shown(text, name) : text;
}

/* Prints why a model may have failed: what its probabilities say, and what is odd about the data. */
static onet_status print_why(const onet_comparison *c, const onet_sets *sets, onet_error *err) {
    char text[4096];
    double model = c->model.loglik_all.mean, guess = c->guess.loglik_all.mean;
    if (c->model_failed && model < guess - SURE)
        printf("  - The model is sure of wrong answers (log-likelihood %.2f per step, guessing has %.2f): it "
               "has overfitted the training sets. --drop 0.3 or fewer epochs may help.\n",
               model, guess);
    else if (c->model_failed && model <= guess + SURE)
        printf("  - The model gives all orders about the same probability (log-likelihood %.2f per step, "
               "guessing has %.2f): it learned nothing from the features.\n",
               model, guess);
    onet_status status = onet_sets_oddities(sets, text, sizeof text, err);
    if (status) return status;
    for (char *line = text, *end; *line; line = end) {
        end = line + strcspn(line, "\n");
        printf("  - %.*s\n", (int)(end - line), line);
        if (*end) end++;
    }
    return ONET_OK;
}

/* given: the report of the settings before a search; NULL: there was no search. */
static onet_status print(const onet_comparison *c, const onet_report *given, const onet_sets *sets,
                         const char *command, const char *ranker, onet_error *err) {
    int wide = 34;
    char column[SHOWN + 32] = "", name[SHOWN], exact[64], tau[64];
    if (c->feature >= 0)
        snprintf(column, sizeof column, "best column: %s, %s", column_name(c, sets, name),
                 c->falling ? "falling" : "rising");
    if ((int)strlen(column) + 2 > wide) wide = (int)strlen(column) + 2;
    const struct {
        const char *name;
        const onet_report *report;
    } row[] = {{"guessing", &c->guess},
               {column, &c->column},
               {"linear ranker", &c->ranker},
               {"settings as given", given},
               {!given         ? "this model"
                : c->is_ranker ? "settings chosen: a ranker"
                               : "settings chosen",
                &c->model}};
    char head[64] = "on sets not used in training";
    if (c->learned) snprintf(head, sizeof head, "on sets used in training");
    if (c->learned && c->learned < c->guess.sets)
        snprintf(head, sizeof head, "on sets, %zu of %zu in training", c->learned, c->guess.sets);
    if (given) snprintf(head, sizeof head, "on %zu test sets, unused in tuning", c->model.sets);
    printf("%-*s  %*s  %*s\n", wide, head, REPORT_COLUMN, "exact match, %", REPORT_COLUMN, "Kendall's tau");
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        if (!row[i].report || !row[i].report->sets || (row[i].report == &c->ranker && c->is_ranker)) continue;
        report_text(&row[i].report->exact, true, exact);
        report_text(&row[i].report->tau, false, tau);
        printf("  %-*s  %*s  %*s\n", shown_width(row[i].name, wide - 2), row[i].name, REPORT_COLUMN, exact,
               REPORT_COLUMN, tau);
    }
    if (c->distinct < c->guess.sets)
        printf("%zu sets, %zu distinct: the means count every set, the intervals count equal sets as one\n",
               c->guess.sets, c->distinct);
    puts(c->sentence);
    if (c->conclusion == ONET_WORTH_RANKER && c->model.sets && !c->is_ranker)
        printf("To use the ranker: %s\n",
               ranker ? ranker
                      : "'ordernet train --ranker', with the data and the data format of the model.");
    onet_status status = c->model_failed || c->model_beaten ? print_why(c, sets, err) : ONET_OK;
    fflush(stdout);
    comparison_warn(c, command);
    return status;
}

onet_status comparison_print(const onet_comparison *c, const onet_sets *sets, const char *command,
                             const char *ranker, onet_error *err) {
    return print(c, NULL, sets, command, ranker, err);
}

onet_status comparison_print_tuned(const onet_comparison *c, const onet_report *given, const onet_sets *sets,
                                   const char *ranker, onet_error *err) {
    return print(c, given, sets, "train", ranker, err);
}

void comparison_warn(const onet_comparison *c, const char *command) {
    if (c->learned && c->learned == c->guess.sets)
        fprintf(stderr,
                "ordernet %s: warning: the model was trained on these sets: the figures say nothing about "
                "new data\n",
                command);
    else if (c->learned)
        fprintf(stderr,
                "ordernet %s: warning: the model was trained on %zu of %zu sets: for these the figures say "
                "nothing about new data\n",
                command, c->learned, c->guess.sets);
    if (c->model_failed)
        fprintf(stderr, "ordernet %s: WARNING: the model is NO BETTER THAN GUESSING\n", command);
}

json_t *comparison_json(const onet_comparison *c, const onet_sets *sets) {
    static const char *const conclusions[] = {"guessing", "column", "ranker", "model"};
    const struct {
        const char *key;
        const onet_report *report;
    } row[] = {{"guessing", &c->guess}, {"column", &c->column}, {"ranker", &c->ranker}, {"model", &c->model}};
    char name[SHOWN];
    json_t *all = json_object();
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        if (!row[i].report->sets) continue;
        json_t *object = json_pack("{s:o, s:o}", "exact", report_json(&row[i].report->exact), "tau",
                                   report_json(&row[i].report->tau));
        if (row[i].report == &c->column) {
            json_object_set_new(object, "name", json_string(column_name(c, sets, name)));
            json_object_set_new(object, "feature", json_integer(c->feature));
            json_object_set_new(object, "falling", json_boolean(c->falling));
        }
        json_object_set_new(all, row[i].key, object);
    }
    json_object_set_new(all, "distinct_sets", json_integer((json_int_t)c->distinct));
    json_object_set_new(all, "learned_sets", json_integer((json_int_t)c->learned));
    json_object_set_new(all, "best", json_string(conclusions[c->conclusion]));
    json_object_set_new(all, "model_failed", json_boolean(c->model_failed));
    json_object_set_new(all, "conclusion", json_string(c->sentence));
    return all;
}
