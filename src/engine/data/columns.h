/* The columns of a table that are features: their names, and what stands for a missing value. */
#ifndef DATA_COLUMNS_H
#define DATA_COLUMNS_H

#include <stdbool.h>

#include "ordernet_io.h"

struct onet_columns {
    int width;        /* features in the user's data */
    int inputs;       /* features in sets: width, and one for each flag */
    char **name;      /* [inputs], in one block with their text; NULL: not known */
    char *set, *rank; /* the other two columns; NULL: not known */
    onet_missing missing;
    float *fill;   /* [width]: stands for a missing value; NULL where missing is ERROR */
    uint8_t *flag; /* [width]: 1: an indicator of it stands behind the features; NULL where there is none */
};

/* Takes what stands for missing values over: fill [width], flag [width] or NULL, both copied. */
onet_status columns_take_missing(onet_columns *columns, onet_missing missing, const float *fill,
                                 const uint8_t *flag, onet_error *err);
/* Items [n, width] of the user's as items [n, inputs] of sets: values that are missing, NaN, are filled in.
 */
void columns_fill(const onet_columns *columns, const double *from, size_t n, double *to);
void columns_fill_floats(const onet_columns *columns, const float *from, size_t n, float *to);
/* Whether both have names and these differ: *feature is the first that does. */
bool columns_differ(const onet_columns *a, const onet_columns *b, int *feature);
/* ONET_BAD where the sets' features have other names than those of the model. Either may be NULL. */
onet_status columns_check(const onet_columns *sets, const onet_columns *model, onet_error *err);

/* Columns of the features that a list names, with commas between them. */
onet_status columns_of_list(onet_columns **columns, const char *list, onet_error *err);
/* Takes the features of sets that were read whole, from `file`, by their names: those of options->features,
 * else of options->columns. ONET_BAD for one that is not there; sets without names are left as they are, but
 * not where options->features asks for some. */
onet_status columns_choose(onet_sets *sets, const char *file, const onet_read_options *options,
                           onet_error *err);
/* ONET_BAD, for options->features where there are no names; line 0: the file has none. */
onet_status columns_no_names(const char *file, long line, onet_error *err);

/* "NA", "null", nothing, ...: what stands in a table where a value is missing. */
bool missing_text(const char *text, size_t length);

/* The values that are missing, of a file or of sets: how many, and where the first is. */
typedef struct missing_count {
    size_t count;
    long line;   /* of the first; 0: the file has no lines */
    size_t set;  /* of the first, from 0 */
    size_t item; /* of the first within its set */
    int feature; /* of the first */
} missing_count;

/* Counts the values that items [n, width] lack. */
void missing_add(missing_count *m, const double *items, size_t n, int width, long line, size_t set);
/* ONET_BAD if there are any. file may be NULL; trained: the sets are to be ordered by a model that was
 * trained without missing values. */
onet_status missing_refuse(const missing_count *m, const char *file, const onet_columns *columns,
                           bool trained, onet_error *err);
/* What stands for missing values in sets that were read, and their columns, as the options say. found: what
 * is missing, where the reader counted it; else NULL. */
onet_status missing_settle(onet_sets *sets, const char *file, const onet_read_options *options,
                           const missing_count *found, onet_error *err);

#endif
