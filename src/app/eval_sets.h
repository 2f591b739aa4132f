/* Reads the sets that `ordernet eval` measures, with the line, name and group that the file gives each, and
 * writes the measures of each set to a file. */
#ifndef CLI_EVAL_SETS_H
#define CLI_EVAL_SETS_H

#include <stdbool.h>

#include "ordernet_measure.h"

typedef struct eval_sets {
    onet_sets *sets;
    /* Of each set; NULL unless they were asked for. */
    long *line;     /* [count] */
    char **id;      /* [count]: its key `id` or, in CSV, its set's name; NULL: it has none */
    char **group;   /* [count]: NULL: it has none */
    char **feature; /* [features]: the names of the columns; NULL: the format has none */
    int features;
    size_t line_room, id_room, group_room;
} eval_sets;

/* Reads the sets alone, or, when labels are asked for, set by set with its line and names. group: the key or
 * column that names the group, or NULL. */
onet_status eval_sets_read(eval_sets *e, const char *path, const onet_read_options *options, bool labels,
                           const char *group, onet_error *err);
void eval_sets_free(eval_sets *e);

/* The groups of the sets by name, those without one last: group k has the sets which[start[k]] ..
 * which[start[k + 1] - 1], and which[start[k]] tells its name. Free both. */
onet_status eval_groups(const eval_sets *e, size_t **which, size_t **start, size_t *count, onet_error *err);

/* ONET_USAGE for a name that tells neither CSV nor JSON Lines. */
onet_status eval_each_format(const char *path, bool *csv, onet_error *err);
/* Writes the measures of each set, as CSV or JSON Lines by the file's name, with its group where asked for.
 */
onet_status eval_write_each(const char *path, const eval_sets *e, bool grouped, const onet_set_measure *each,
                            onet_error *err);

#endif
