/* Encodes text values of JSON items as one-hot features, one for each of the most frequent values, as
 * csv_classes.h does for CSV; only keys that the user named as features. */
#ifndef DATA_JSONL_TEXTS_H
#define DATA_JSONL_TEXTS_H

#include "engine/base/names.h"
#include "engine/data/columns.h"

typedef struct jsonl_texts {
    names *value; /* [width]: the texts of each feature; while reading, the items have their numbers */
    bool *number; /* [width]: the feature is a number somewhere */
    int width;
} jsonl_texts;

void jsonl_texts_free(jsonl_texts *t);
/* After the last set: a feature COLUMN=VALUE for each of the most frequent texts, in place of the numbers. */
onet_status jsonl_texts_expand(const jsonl_texts *t, onet_sets *sets, onet_error *err);

#endif
