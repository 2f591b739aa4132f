/* Reads the sets that `ordernet eval` measures, with the line, name and group that the file gives each;
 * averages their measures by size or group, measures the importance of features, and writes the measures of
 * each set to a file. */
#ifndef CLI_EVAL_SETS_H
#define CLI_EVAL_SETS_H

#include <stdbool.h>

#include "ordernet_measure.h"

typedef struct eval_sets {
    onet_sets *sets;
    /* The labels of each set; NULL unless they were asked for. */
    long *line;     /* [count] */
    char **id;      /* [count]: its key `id` or, in CSV, its set's name; NULL: it has none */
    char **group;   /* [count]: NULL: it has none */
    char **feature; /* [features]: the names of the columns; NULL: the format has none */
    int features;
    size_t line_room, id_room, group_room;
    char *unknown; /* onet_columns_unknown of the sets; NULL: none */
} eval_sets;

/* Reads the sets; labels: also the line, name and group of each. group: the key or column that names the
 * group, or NULL. */
onet_status eval_sets_read(eval_sets *e, const char *path, const onet_read_options *options, bool labels,
                           const char *group, onet_error *err);
void eval_sets_free(eval_sets *e);

/* The report of some of the sets: of one size or group, or, without a name, of all. */
typedef struct eval_row {
    char *name;
    onet_report report;
} eval_row;

typedef struct eval_table {
    eval_row *rows; /* [count], that of all sets last */
    size_t count;
} eval_table;

/* These average the measures `each` [sets] over the sets of each size, or of each group. */
onet_status eval_by_size(eval_table *t, const onet_set_measure *each, size_t sets, onet_error *err);
onet_status eval_by_group(eval_table *t, const eval_sets *e, const onet_set_measure *each, onet_error *err);
void eval_table_free(eval_table *t);

typedef struct eval_importances {
    int count;
    const char **name;   /* [count] */
    char *text;          /* holds the names that are made up, where the data have none */
    onet_importance *of; /* [count] */
} eval_importances;

/* Measures how much the measures decrease when a feature, or a relation, is shuffled. A column of text is one
 * feature here: the network's features for its values are shuffled together. Shows its progress unless quiet.
 */
onet_status eval_importance(eval_importances *m, const onet_model *model, onet_orderer *orderer,
                            const eval_sets *e, const onet_set_measure *each, int repeats, uint64_t seed,
                            bool quiet, onet_error *err);
void eval_importances_free(eval_importances *m);

/* Fills in *csv: CSV or JSON Lines, by the file's name; ONET_USAGE for any other name. */
onet_status eval_each_format(const char *path, bool *csv, onet_error *err);
/* Writes the measures of each set, as CSV or JSON Lines by the file's name, with its group if
 * `grouped`. */
onet_status eval_write_each(const char *path, const eval_sets *e, bool grouped, const onet_set_measure *each,
                            onet_error *err);

#endif
