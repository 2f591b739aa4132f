/* Describes the columns of a table that are features: their names, the kinds of their values (number, date,
 * truth value), and the values that replace missing ones. A model keeps them, so that new data are read as
 * its training data were. Also selects features by name, and counts, refuses or fills in missing values. */
#ifndef DATA_COLUMNS_H
#define DATA_COLUMNS_H

#include <stdbool.h>

#include "ordernet_io.h"

struct onet_columns {
    int width;        /* features in the user's data */
    int inputs;       /* features in sets: width, and one for each flag */
    char **name;      /* [inputs], in one block with their text; NULL: not known */
    char *set, *rank; /* the other two columns; NULL: not known */
    char *kind;       /* [width] and NUL: KIND_NUMBER, ...; NULL: all are numbers */
    char *unused;     /* columns of text that were not named as features, "colour, when"; NULL: none */
    char *misspelt;   /* messages about text columns that look like numbers, one per line; NULL: none */
    char *unknown;    /* messages about categories of which the model knows no value; NULL: none */
    onet_missing missing;
    float *fill;   /* [width]: replaces a missing value; NULL where missing is ERROR */
    uint8_t *flag; /* [width]: 1: an indicator of missing values is added after the features; NULL: there are
                      no indicators */
};

/* What the values of a feature were in the data. */
enum { KIND_NUMBER = '-', KIND_DATE = 'd', KIND_TRUTH = 't' };

/* What single values were, as bits: those of a column together say its kind. SEEN_FLAG: the number 0 or 1,
 * which stands for a truth value too. */
enum { SEEN_FLAG = 1, SEEN_NUMBER = 2, SEEN_DATE = 4, SEEN_TRUTH = 8 };

/* Returns SEEN_FLAG for 0 and 1, else SEEN_NUMBER. */
unsigned seen_number(double value);
/* Returns SEEN_DATE or SEEN_TRUTH; text must be one that text_value accepts. */
unsigned seen_text(const char *text);
/* Returns "a number", "a date" or "a truth value". */
const char *seen_name(unsigned seen);
/* Returns the kind of a column with these values; 0: they do not go together, such as dates and numbers. */
char kind_of_seen(unsigned seen);
/* Returns why a value is refused, the end of an error message: ", but the model was trained on dates there;
 * ...". NULL: the value is of the kind that the model has for feature j, or that kind is not known. */
const char *columns_refuse(const onet_columns *model, int j, unsigned seen);

/* Copies kind [width], unless all are numbers. */
onet_status columns_take_kinds(onet_columns *columns, const char *kind, onet_error *err);
/* Sets the values that replace missing ones, fill [width], and the features with an indicator, flag [width]
 * or NULL; both are copied. */
onet_status columns_take_missing(onet_columns *columns, onet_missing missing, const float *fill,
                                 const uint8_t *flag, onet_error *err);
/* Write items [n, inputs] of sets from items [n, width] of the user's data, with missing values (NaN) filled
 * in. */
void columns_fill(const onet_columns *columns, const double *from, size_t n, double *to);
void columns_fill_floats(const onet_columns *columns, const float *from, size_t n, float *to);
onet_status columns_add_unused(onet_columns *columns, const char *name, size_t length, onet_error *err);
onet_status columns_add_misspelt(onet_columns *columns, const char *sentence, onet_error *err);
/* Whether both have names and the names differ; then *feature is the first that does. */
bool columns_differ(const onet_columns *a, const onet_columns *b, int *feature);
/* Returns ONET_BAD if the sets' features have other names than those of the model. Either may be NULL. */
onet_status columns_check(const onet_columns *sets, const onet_columns *model, onet_error *err);

/* Copies the next of a comma-separated list of names to name, which has room for the whole list, and returns
 * its length; *list then points to the one behind it, NULL at the end. A name in double quotes may have
 * commas, and each of its own quotes doubled, as in CSV. */
size_t columns_next_name(const char **list, char *name);
/* Makes columns with the names in such a list. */
onet_status columns_of_list(onet_columns **columns, const char *list, onet_error *err);
/* ONET_USAGE where a name of such a list is that of another feature of the model than it would stand for. */
onet_status columns_check_list(const char *list, const onet_columns *model, onet_error *err);
/* Whether such a list has a name that the model has not, neither of a feature nor of a category; it is left
 * in name, which has room for the whole list. */
bool columns_other(const char *list, const onet_columns *model, char *name);
/* Selects features by name in sets that were read whole from `file`: those of options->features, else of
 * options->columns. ONET_BAD if one is missing, or if options->features is set and the features have no
 * names; without names, columns are ignored. */
onet_status columns_choose(onet_sets *sets, const char *file, const onet_read_options *options,
                           onet_error *err);
/* Reports, with ONET_BAD, that options->features is set but the features have no names. line 0: the file has
 * no lines. */
onet_status columns_no_names(const char *file, long line, onet_error *err);

/* A value of onet_read_options.missing, for conversions: missing features stay NaN; missing relations are
 * refused. */
enum { MISSING_COPIED = ONET_MISSING_INDICATOR + 1 };

/* Whether the text of a field is a missing value: "NA", "null", nothing, ... */
bool missing_text(const char *text, size_t length);

/* The values that are missing, of a file or of sets: how many, and where the first is. */
typedef struct missing_count {
    size_t count;
    long line;   /* of the first; 0: the file has no lines */
    size_t set;  /* of the first, from 0 */
    size_t item; /* of the first within its set */
    int feature; /* of the first */
} missing_count;

/* Counts the missing values (NaN) of items [n, width]. */
void missing_add(missing_count *m, const double *items, size_t n, int width, long line, size_t set);
/* Returns ONET_BAD if there are any. file may be NULL. trained: the model that is to order the sets was
 * trained without missing values. */
onet_status missing_refuse(const missing_count *m, const char *file, const onet_columns *columns,
                           bool trained, onet_error *err);
/* Fills in the missing values of sets that were read, as the options say, and keeps the fillers in their
 * columns. found: the missing values, where the reader counted them; else NULL. */
onet_status missing_settle(onet_sets *sets, const char *file, const onet_read_options *options,
                           const missing_count *found, onet_error *err);

#endif
