/* Describes the features of data and models in words: their columns, kinds and scaling, columns that are not
 * used, and warnings. `train` prints the whole report before it begins; inspect, order and eval print parts
 * of it. */
#ifndef APP_FEATURE_REPORT_H
#define APP_FEATURE_REPORT_H

#include <stdio.h>

#include "engine/base/shown.h"
#include "ordernet.h"
#include "ordernet_io.h"
#include "ordernet_train.h"

/* Prints the names, if the data has some, and how a training by these options scales each. Warns on standard
 * error of features that are the same for all items, look like an id (distinct whole numbers) or are crowded,
 * and of items that the net cannot distinguish. */
onet_status feature_report(const onet_sets *sets, const onet_train_options *options, onet_error *err);

enum { COLUMN_KIND = 32 };
/* Writes the name and kind ("category of 3 values") of the column whose first feature is j; returns how many
 * features it has. columns may be NULL. */
int column_text(const onet_columns *columns, int j, char name[SHOWN], char kind[COLUMN_KIND]);

/* Prints the columns of data that are not used, and the option that would use them; nothing if there are
 * none. */
void print_unused(const onet_columns *columns);
/* Prints a line, after the text `before`, for each column whose texts are numbers or dates spelt otherwise.
 */
void print_misspelt(const onet_columns *columns, FILE *out, const char *before);
/* Prints each of the lines after the text `before`. lines may be NULL. */
void print_lines(const char *lines, FILE *out, const char *before);

enum { FEATURE_TEXT = 96 };
/* Writes how a feature is scaled, "standard" or "quantile, rank within the set"; returns text. */
const char *feature_text(const onet_feature *feature, char text[FEATURE_TEXT]);

#endif
