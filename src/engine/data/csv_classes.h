/* Decides which columns of text are categories, dates or truth values, and encodes categories as one-hot
 * features: one feature per value, called COLUMN=VALUE, 1 for the items that have the value and 0 for the
 * others. */
#ifndef DATA_CSV_CLASSES_H
#define DATA_CSV_CLASSES_H

#include "engine/data/csv.h"

enum {
    MOST_CLASSES = 32,   /* values of a column that are features, the most frequent ones */
    MOST_VALUES = 100000 /* values of a column that is a category */
};

/* A value of a column, its number, and how often it stands there. */
typedef struct class_value {
    const char *text;
    size_t length, number, times;
} class_value;

/* What a column of text becomes when sets are read without naming features: nothing, perhaps since its
 * numbers or dates are misspelt (TEXT_MISSPELT is for JSON alone; classes_use does not return it); numbers,
 * where every text is a date, or each is a truth value; or a category. */
typedef enum text_use { TEXT_UNUSED, TEXT_VALUES, TEXT_CATEGORY, TEXT_MISSPELT } text_use;

/* Decides *use for a column of text. values: its texts; code [items]: the text of each item, SIZE_MAX where
 * it is missing; set_of [items]: its set, below `sets`. missing: numbers may be missing. A column is a
 * category if its texts occur twice or more on average (so ids, names and free text are not) and differ
 * within at least one set. A column that is constant within every set describes the set, not its items, and
 * is not used; nor is one of numbers or dates in a spelling that is not read, such as 48,85 or 31.12.2024
 * (spelling.h). */
onet_status classes_use(text_use *use, const names *values, const size_t *code, const size_t *set_of,
                        size_t items, size_t sets, bool missing, onet_error *err);

/* Returns the most frequent values of a column (c->values, c->code [coded]), which become features, sorted by
 * their texts: [*count], which the caller frees; NULL: out of memory. */
class_value *classes_choose(const csv_column *c, size_t *count);
/* Notes the value of the row that is being read. */
onet_status classes_note(csv_table *t, csv_column *c, const char *text, size_t length, onet_error *err);
/* After the last row: replaces the columns by the features of their values. */
onet_status classes_expand(csv_table *t, onet_error *err);
/* Marks a column as the next feature by its value: NAME is COLUMN=VALUE. *found: there is such a column. */
onet_status classes_name(csv_table *t, const char *name, size_t length, bool *found, onet_error *err);
/* Sets the features of the values of column k in the row that is being read. False when memory is short. */
bool classes_take(csv_table *t, size_t k, const char *text, size_t length);

#endif
