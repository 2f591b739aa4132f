/* Compares a model with simple baselines (guessing, the best column, a linear ranker) on labelled sets, and
 * reports the result as a table or as JSON, with a warning if the model was trained on some of these sets.
 * Used by train, eval, cross-validation and the learning curve. */
#ifndef APP_COMPARISON_H
#define APP_COMPARISON_H

#include "app/json_report.h"
#include "ordernet_measure.h"

/* Lets the model order `test`, and writes the measures of each set to *each [test->count], which the caller
 * frees, also after a failure. */
onet_status comparison_measure(onet_set_measure **each, const onet_model *model, const onet_sets *test,
                               const onet_train_options *options, onet_error *err);
/* Lets the model, which was trained on `train`, order `test`, and compares its measures with those of simple
 * rules chosen on `train`. */
onet_status comparison_make(onet_comparison *c, const onet_model *model, const onet_sets *train,
                            const onet_sets *test, const onet_train_options *options, onet_error *err);

/* Warns on standard error if the model was trained on some of the sets, and if a model is no better than
 * guessing. */
void comparison_warn(const onet_comparison *c, const char *command);
/* As comparison_print, for the settings that a search has chosen, with a row for those given before it. */
onet_status comparison_print_tuned(const onet_comparison *c, const onet_report *given, const onet_sets *sets,
                                   const char *ranker, onet_error *err);
/* Prints the table, the conclusion, the warnings and, if the model failed or a simple rule beat it, what is
 * odd about `sets`: those that it was trained on or, if these are not known, those that it was measured on.
 * command: named in the warnings. ranker: the command that trains the linear ranker on the same data; NULL:
 * not known. */
onet_status comparison_print(const onet_comparison *c, const onet_sets *sets, const char *command,
                             const char *ranker, onet_error *err);

json_t *comparison_json(const onet_comparison *c, const onet_sets *sets);

#endif
