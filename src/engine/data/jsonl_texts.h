/* Encodes text values of JSON items as one-hot features, one for each of the most frequent values, as
 * csv_classes.h does for CSV: of keys that are named as features and, if none are, of those with text in the
 * first set that are categories, dates or truth values. */
#ifndef DATA_JSONL_TEXTS_H
#define DATA_JSONL_TEXTS_H

#include "engine/base/names.h"
#include "engine/data/columns.h"

typedef struct jsonl_texts {
    names *value;   /* [width]: the texts of each feature; while reading, the items have their numbers */
    bool *number;   /* [width]: the feature is a number somewhere */
    bool *found;    /* [width]: not named, but a text in the first set: it may turn out to be no feature */
    bool *odd;      /* [width]: neither a text nor missing somewhere */
    unsigned *seen; /* [width]: SEEN_NUMBER, ...: what the values were that became numbers at once */
    int width;
    bool unasked; /* no features are named */
    long line;    /* of the first set */
    bool missing; /* dates and truth values may be missing */
} jsonl_texts;

/* Allocates the arrays for `width` features, unless they are there. */
onet_status jsonl_texts_reserve(jsonl_texts *t, int width, onet_error *err);
void jsonl_texts_free(jsonl_texts *t);
/* After the last set: a feature COLUMN=VALUE for each of the most frequent texts, in place of the numbers.
 * Keys that are no features are listed as unused. file: for an error, where no feature is left. */
onet_status jsonl_texts_expand(const jsonl_texts *t, onet_sets *sets, const char *file, onet_error *err);

#endif
