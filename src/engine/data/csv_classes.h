/* Columns of text as features: one per value, 1 where the item has it, called COLUMN=VALUE. */
#ifndef DATA_CSV_CLASSES_H
#define DATA_CSV_CLASSES_H

#include "engine/data/csv.h"

enum { MOST_CLASSES = 32 /* values of a column that are features, the most frequent ones */ };

/* Notes the value of the row that is being read. */
onet_status classes_note(csv_table *t, csv_column *c, const char *text, size_t length, onet_error *err);
/* After the last row: the features of the values in place of their columns. */
onet_status classes_expand(csv_table *t, onet_error *err);
/* Marks a column as the next feature by its value: NAME is COLUMN=VALUE. *found: there is such a column. */
onet_status classes_name(csv_table *t, const char *name, size_t length, bool *found, onet_error *err);
/* The features that values of column k of the row that is being read are. */
void classes_take(csv_table *t, size_t k, const char *text, size_t length);

#endif
