/* Keeps hashes of the values that the features of items do not distinguish (onet_lost): the texts of a
 * category that have no feature of their own, the digits of dates that a double rounds, unknown words.
 * Measures and the division of sets distinguish such items by them; the network does not see them. */
#ifndef DATA_LOST_H
#define DATA_LOST_H

#include <stdbool.h>

#include "ordernet_io.h"

/* The hash of a value that the features hold wholly, and that of a missing value. */
enum { LOST_NOTHING = 0, LOST_MISSING = 1 };

/* An onet_lost that grows, with a row per item; rows behind `rows` are LOST_NOTHING. A struct of zeros is
 * empty. */
typedef struct lost_rows {
    onet_lost *of;
    size_t rows, room;
} lost_rows;

/* Returns the hash of a value: neither LOST_NOTHING nor LOST_MISSING. */
uint64_t lost_hash(const void *value, size_t bytes);

/* Notes the hash of an item in the column of a feature, which is added if there is none. False when memory is
 * short. LOST_NOTHING changes nothing. */
bool lost_note(lost_rows *l, size_t item, int feature, int span, uint64_t hash);
/* Grows l to at least `rows` items; returns false when memory is short. */
bool lost_extend(lost_rows *l, size_t rows);
void lost_clear(lost_rows *l); /* keeps the memory */
void lost_free(onet_lost *lost);

/* Whether items a and b, counted over all sets, have the same hashes; lost may be NULL. */
bool lost_same(const onet_lost *lost, size_t a, size_t b);

/* Keeps the columns of the features in from [width], renumbered by their index in `from`, and drops the
 * others. */
void lost_take_features(onet_sets *sets, const int *from, int width);

#endif
