/* Declares the internal functions of onet_sets, sets of items in memory: create, append, check, slice, and
 * accessors of items, sizes, relations and context. */
#ifndef DATA_SETS_H
#define DATA_SETS_H

#include <stdbool.h>

#include "engine/words/words.h"
#include "ordernet.h"

enum { MAX_RELATIONS = 16 }; /* numbers for each ordered pair of items */

/* Makes an empty onet_sets for items of `width` features (0: as the first set appended has). */
onet_status sets_new(onet_sets **sets, int width, onet_error *err);

/* Appends a set: items [n, width], order [n] or NULL; or rows of sets->words, word [n]. Sets must be made by
 * sets_new, be all of features or all of words, and all have an order or none. The error message speaks of
 * "the set"; a caller that knows its file and line adds them. A failure leaves the sets as they were. */
onet_status sets_append(onet_sets *sets, size_t n, int width, const float *items, const int32_t *order,
                        onet_error *err);
/* As sets_append, in double: onet_sets.exact keeps the doubles if float32 rounds a value of the sets. */
onet_status sets_append_doubles(onet_sets *sets, size_t n, int width, const double *values,
                                const int32_t *order, onet_error *err);
onet_status sets_append_words(onet_sets *sets, size_t n, const int32_t *word, const int32_t *order,
                              onet_error *err);
/* Adds to the set that was appended last: context items, context [n], and constraints, whose items are
 * counted within the set. A failure may leave the set without them. */
onet_status sets_append_context(onet_sets *sets, const uint8_t *context, onet_error *err);
/* The constraints must have been checked, as those of a record or of other sets are. */
onet_status sets_append_constraints(onet_sets *sets, const onet_constraint *constraints, size_t count,
                                    onet_error *err);

/* Adds hashes to the items of the set that was appended last: those of lost (may be NULL) from row `first`
 * on. */
onet_status sets_append_lost(onet_sets *sets, const onet_lost *lost, size_t first, onet_error *err);

/* Adds relations to the set that was appended last: value [n, n, width]. Either all sets have them, as many
 * each, or none: width 0 says that this one has none. */
onet_status sets_append_pairs(onet_sets *sets, int width, const float *value, onet_error *err);
/* Sets the relations of all sets: value, [n, n, width] for each, becomes the sets' or, after a failure, is
 * freed. names: one per line, or NULL. */
onet_status sets_take_pairs(onet_sets *sets, int width, float *value, const char *names, onet_error *err);
/* Replaces the names of the relations: one per line, copied; NULL: none. */
onet_status sets_name_pairs(onet_sets *sets, const char *names, onet_error *err);
/* Copies fill [width], the values that replaced missing relations; NULL: none may be missing. */
onet_status sets_fill_pairs(onet_sets *sets, const float *fill, onet_error *err);
void sets_free_pairs(onet_pairs *pairs);

/* R: numbers for each ordered pair; 0: there are no relations. */
static inline int sets_relations(const onet_sets *sets) {
    return sets->pairs ? sets->pairs->width : 0;
}

/* Returns the relations of item i, counted over all sets, to the items of its set: [n, R]. */
static inline const float *sets_pairs(const onet_sets *sets, size_t i) {
    return sets->pairs->value + sets->pairs->row[i] * (size_t)sets->pairs->width;
}

/* Copies all sets. ONET_BAD if a feature is NaN: missing values must be filled in before. */
onet_status sets_copy(onet_sets **copy, const onet_sets *sets, onet_error *err);

/* Makes room for `count` sets, to be filled in by the caller, then checked by sets_check: start is all zero,
 * items or word (the other is NULL) and order (NULL unless known) are of `total` items; sets_room_context
 * adds context of as many, all zero. */
onet_status sets_room(onet_sets **sets, size_t count, size_t total, int width, bool words, bool order,
                      onet_error *err);

onet_status sets_room_context(onet_sets *sets, size_t total, onet_error *err);

/* Takes the vocabulary away from the sets and frees it, unless it was lent. */
void sets_drop_words(onet_sets *sets);

/* To be called after the arrays of sets made by sets_new were replaced by others of exactly the needed size:
 * notes that size as their capacity, so that sets_append grows them before it writes. */
void sets_taken(onet_sets *sets);

/* From now on sets appended to `sets` may have missing values (NaN). */
void sets_allow_missing(onet_sets *sets);

/* ---- Checks (sets_check.c) --------------------------------------------------------------------------- */

/* Checks that order [n] is a permutation of 0 .. n-1; the error message names the first wrong place. */
onet_status sets_check_order(const int32_t *order, size_t n, onet_error *err);

/* Checks that context [n] and order [n], either of which may be NULL, are as onet_sets says: an item is
 * placed, and the context items stand at the end of the order, smallest index first. The order must be a
 * permutation. */
onet_status sets_check_context(const uint8_t *context, const int32_t *order, size_t n, onet_error *err);

/* Checks sets that were filled in from outside: sizes, widths, finite features, words in range, orders,
 * context, what constraints name. Does not find constraints that contradict each other: that needs their
 * graph, which readers, writers, setters, onet_sets_check and searches build. */
onet_status sets_check(const onet_sets *sets, onet_error *err);
/* As onet_sets_check, for sets that may lack values: features that are NaN. */
onet_status sets_check_missing(const onet_sets *sets, onet_error *err);

/* Parts of these checks, for what is put into sets. items [n, width]; missing: NaN is allowed. */
onet_status sets_check_features(const float *items, size_t n, size_t width, bool missing, onet_error *err);
onet_status sets_check_relations(int width, onet_error *err);
/* Checks the relations of a set: value [n, n, width]. */
onet_status sets_check_pairs(const float *value, size_t n, size_t width, onet_error *err);
/* Checks the names of relations: one per line, as many as there are relations, UTF-8, none empty and no two
 * equal. */
onet_status sets_check_names(const char *names, int width, onet_error *err);
/* Checks that the constraints of a set stand together, in the order of the sets, and name its items; with
 * `kept`, also that they do not contradict each other. */
onet_status sets_check_constraints(const onet_sets *sets, bool kept, onet_error *err);
/* Checks all that sets_check does, except for the constraints. missing: NaN is allowed. */
onet_status sets_check_but_constraints(const onet_sets *sets, bool missing, onet_error *err);

/* ---- Accessors --------------------------------------------------------------------------------------- */

/* Makes a view of the sets first .. end - 1, which owns nothing. */
void sets_slice(onet_sets *view, const onet_sets *sets, size_t first, size_t end);

/* Returns the features of item i (counted over all sets): [width]. */
static inline const float *sets_item(const onet_sets *sets, size_t i) {
    if (sets->items) return sets->items + i * (size_t)sets->width;
    return sets->words->vectors + (size_t)sets->word[i] * (size_t)sets->width;
}

/* Returns the number of items of set s. */
static inline size_t sets_size(const onet_sets *sets, size_t s) {
    return sets->start[s + 1] - sets->start[s];
}

/* Returns how many of n items are placed: context [n], or NULL when all are. */
static inline size_t context_placed(const uint8_t *context, size_t n) {
    size_t placed = n;
    for (size_t i = 0; context && i < n; i++) placed -= context[i] != 0;
    return placed;
}

/* Returns m, the number of placed items of set s. */
static inline size_t sets_placed(const onet_sets *sets, size_t s) {
    return context_placed(sets->context ? sets->context + sets->start[s] : NULL, sets_size(sets, s));
}

/* Numbers the items of set s as ordering does: placed items first, then context items, both in the order of
 * the set. item [n]: the item of each row; row [n]: the row of each item. Returns how many are placed. */
static inline int sets_rows(const onet_sets *sets, size_t s, int32_t *item, int32_t *row) {
    const uint8_t *context = sets->context ? sets->context + sets->start[s] : NULL;
    int n = (int)sets_size(sets, s), rows = 0, placed = 0;
    for (int kind = 0; kind < 2; kind++) {
        for (int i = 0; i < n; i++) {
            if ((context && context[i]) != kind) continue;
            item[rows] = i;
            row[i] = rows++;
        }
        if (!kind) placed = rows;
    }
    return placed;
}

#endif
