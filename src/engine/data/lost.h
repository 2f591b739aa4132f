/* Keeps, as hashes, what the features do not tell of the values of items (onet_lost): the texts of a category
 * that have no feature of their own, the digits of dates that a double rounds, unknown words. Measures and
 * the division of sets distinguish such items by it; the network does not see it. */
#ifndef DATA_LOST_H
#define DATA_LOST_H

#include <stdbool.h>

#include "ordernet_io.h"

/* Hashes of values that the features tell, and of values that are missing. */
enum { LOST_NOTHING = 0, LOST_MISSING = 1 };

/* onet_lost that grows: the rows are of items; those behind `rows` are LOST_NOTHING. All zero is empty. */
typedef struct lost_rows {
    onet_lost *of;
    size_t rows, room;
} lost_rows;

/* The hash of a value: neither LOST_NOTHING nor LOST_MISSING. */
uint64_t lost_hash(const void *value, size_t bytes);

/* Notes the hash of an item in the column of a feature, which is added if there is none. False when memory is
 * short. LOST_NOTHING changes nothing. */
bool lost_note(lost_rows *l, size_t item, int feature, int span, uint64_t hash);
/* Makes it of at least `rows` items; false when memory is short. */
bool lost_extend(lost_rows *l, size_t rows);
void lost_clear(lost_rows *l); /* keeps the memory */
void lost_free(onet_lost *lost);

/* Whether items a and b, counted over all sets, have lost the same; lost may be NULL. */
bool lost_same(const onet_lost *lost, size_t a, size_t b);

/* Keeps the columns whose feature stands in from [width], under its place there, and drops the others. */
void lost_take_features(onet_sets *sets, const int *from, int width);

#endif
