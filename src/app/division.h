/* Divides sets for validation and cross-validation: draws a random order, holds sets out, and reads the
 * groups whose sets must stay together. Also shuffles the items of sets that are given in their right order,
 * which the input order could otherwise give away. */
#ifndef APP_DIVISION_H
#define APP_DIVISION_H

#include "ordernet_io.h"

/* Allocates *place [count], a random permutation of 0 .. count-1: the place of each set in a random order,
 * which follows from the seed alone. */
onet_status pick_places(size_t **place, size_t count, uint64_t seed, onet_error *err);

/* Moves `count` sets, drawn by the seed, from *data to *valid. group [sets]: those of one group stay
 * together; NULL: no groups. ONET_USAGE if `count` sets cannot be taken. */
onet_status division_hold_out(onet_sets **data, onet_sets **valid, const char *const *group, size_t count,
                              uint64_t seed, onet_error *err);

/* Puts the items of sets that all stand in their right order, as lines of plain text do, into a random one,
 * if the sets have values that the features do not tell (onet_lost): of items that look equal a search takes
 * the first, which would be the right one each time. Sets with context, constraints or relations stay as they
 * are. */
onet_status shuffle_right_orders(onet_sets *sets, onet_error *err);
/* As shuffle_right_orders, on a copy of the sets; *copy is NULL if they would stay as they are. Free *copy
 * after a failure too. */
onet_status copy_shuffled(onet_sets **copy, const onet_sets *sets, onet_error *err);

/* Allocates *group [count]: the group of each set of a file that was read with these options, which is its
 * value under options->group_column, a key of JSON or a column of CSV; NULL for a set without one. The file
 * is read once more, so it must not be a pipe. */
onet_status groups_read(char ***group, size_t count, const char *path, const onet_read_options *options,
                        onet_error *err);
void groups_free(char **group, size_t count);
/* Allocates *number [count], the groups as numbers below count: equal names get equal numbers, a set without
 * a group gets one of its own. */
onet_status groups_number(size_t **number, char *const *group, size_t count, onet_error *err);

#endif
