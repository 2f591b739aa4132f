/* Divides sets for validation and cross-validation: draws a random order, holds sets out, and reads the
 * groups whose sets must stay together. Also shuffles the items of sets that are given in their right order,
 * which the input order could otherwise give away. */
#ifndef APP_DIVISION_H
#define APP_DIVISION_H

#include "ordernet_io.h"

/* A random permutation of 0 .. count-1 to *place, allocated: the place of each set in a random order, which
 * follows from the seed alone. */
onet_status pick_places(size_t **place, size_t count, uint64_t seed, onet_error *err);

/* Moves `count` sets, drawn by the seed, from *data to *valid. group [sets]: those of one group stay
 * together; NULL: no groups. ONET_USAGE if so many cannot be taken. */
onet_status division_hold_out(onet_sets **data, onet_sets **valid, const char *const *group, size_t count,
                              uint64_t seed, onet_error *err);

/* Puts the items of sets that all stand in their right order, as lines of plain text do, into a random one,
 * if the sets have values that the features do not tell (onet_lost): a search takes the first of items that
 * look equal to it, which would be the right one each time. Sets with context, constraints or relations stay.
 */
onet_status shuffle_right_orders(onet_sets *sets, onet_error *err);
/* The same of a copy of the sets; *copy is NULL where they would stay as they are. Free it after a failure
 * too. */
onet_status copy_shuffled(onet_sets **copy, const onet_sets *sets, onet_error *err);

/* The group of each set of a file that was read with these options, by options->group_column, a key of JSON
 * or column of CSV: *group [count], allocated, NULL for a set that names none. The file is read once more, so
 * it must not be a pipe. */
onet_status groups_read(char ***group, size_t count, const char *path, const onet_read_options *options,
                        onet_error *err);
void groups_free(char **group, size_t count);
/* The groups as numbers below count, allocated: equal names have the same, a set without one has its own. */
onet_status groups_number(size_t **number, char *const *group, size_t count, onet_error *err);

#endif
