/* A model beside simple rules: measured, printed, as JSON. */
#ifndef APP_COMPARISON_H
#define APP_COMPARISON_H

#include "app/json.h"
#include "ordernet_measure.h"

/* Lets the model order `test`, of which it has seen nothing, and compares it with simple rules of `train`. */
onet_status comparison_make(onet_comparison *c, const onet_model *model, const onet_sets *train,
                            const onet_sets *test, const onet_train_options *options, onet_error *err);

/* Says on standard error that a model is no better than guessing, where it is so. */
void comparison_warn(const onet_comparison *c, const char *command);
/* The table, the conclusion and the warning. sets: any of them, for the names of the features. */
void comparison_print(const onet_comparison *c, const onet_sets *sets, const char *command);

json_t *comparison_json(const onet_comparison *c, const onet_sets *sets);

#endif
