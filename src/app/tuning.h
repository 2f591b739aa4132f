/* A search for the best settings as the program shows it: a live table, Ctrl-C, the result. */
#ifndef CLI_TUNING_H
#define CLI_TUNING_H

#include <limits.h>
#include <stdbool.h>

#include "ordernet_tune.h"

/* What --tune takes: "5m", "90s", "2h" is a time, "40" a number of trials. */
onet_status tuning_budget(onet_tune_options *how, const char *text, onet_error *err);
/* m.trials.csv beside m.safetensors. */
void tuning_path(char path[PATH_MAX], const char *model_path);
/* Fills in the options with the best settings. Ctrl-C ends the search with the best so far. */
onet_status tuning_run(onet_train_options *options, onet_tuned *result, const onet_sets *data,
                       const onet_tune_options *how, bool quiet, onet_error *err);
/* The table of the best, and what the chosen settings are worth. */
void tuning_summarise(const onet_tuned *result, const char *trials_path);

#endif
