/* Copies some of the sets, for validation and cross-validation, and joins sets. */
#include "engine/data/pick.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/arguments.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/data/columns.h"
#include "engine/data/constraints.h"
#include "engine/data/sets.h"
#include "engine/words/words.h"
#include "ordernet_io.h"

/* Adds the constraints of set s to the set that was appended last. */
static onet_status append_constraints(onet_sets *out, const onet_sets *sets, size_t s, onet_error *err) {
    size_t from, count;
    constraints_of(sets, sets->start[s], sets->start[s + 1], &from, &count);
    if (!count) return ONET_OK;
    onet_constraint *own = array_new(count, sizeof *own);
    if (!own) return fail_memory(err, "the constraints");
    for (size_t k = 0; k < count; k++) {
        own[k] = sets->constraints[from + k];
        own[k].item -= sets->start[s];
        if (constraint_is_pair(own[k].kind)) own[k].other -= sets->start[s];
    }
    onet_status status = sets_append_constraints(out, own, count, err);
    free(own);
    return status;
}

static onet_status append(onet_sets *out, const onet_sets *sets, size_t s, onet_error *err) {
    size_t from = sets->start[s], n = sets_size(sets, s);
    const int32_t *order = sets->order ? sets->order + from : NULL;
    onet_status status;
    if (sets->word)
        status = sets_append_words(out, n, sets->word + from, order, err);
    else if (sets->exact)
        status =
            sets_append_doubles(out, n, sets->width, sets->exact + from * (size_t)sets->width, order, err);
    else
        status = sets_append(out, n, sets->width, sets_item(sets, from), order, err);
    if (!status && sets->lost) status = sets_append_lost(out, sets->lost, from, err);
    if (!status && sets->context) status = sets_append_context(out, sets->context + from, err);
    if (!status && sets->pairs)
        status = sets_append_pairs(out, sets->pairs->width, sets_pairs(sets, from), err);
    return status ? status : append_constraints(out, sets, s, err);
}

onet_status pick_sets(onet_sets **out, const onet_sets *sets, const uint8_t *take, onet_error *err) {
    *out = NULL;
    onet_sets *picked;
    onet_status status = sets_new(&picked, sets->width, err);
    if (!status && sets->words && !(picked->words = words_copy(sets->words)))
        status = fail_memory(err, "the vocabulary");
    if (!status && sets->columns) status = onet_sets_set_columns(picked, sets->columns, err);
    for (size_t s = 0; s < sets->count && !status; s++)
        if (!take || take[s]) status = append(picked, sets, s, err);
    if (status) {
        onet_sets_free(picked);
        return status;
    }
    memcpy(picked->hash, sets->hash, sizeof picked->hash);
    if (picked->pairs && ((status = sets_name_pairs(picked, sets->pairs->names, err)) ||
                          (status = sets_fill_pairs(picked, sets->pairs->fill, err)))) {
        onet_sets_free(picked);
        return status;
    }
    *out = picked;
    return ONET_OK;
}

onet_status sets_copy(onet_sets **copy, const onet_sets *sets, onet_error *err) {
    return pick_sets(copy, sets, NULL, err);
}

onet_status onet_sets_pick(onet_sets **picked, const onet_sets *sets, const uint8_t *take, onet_error *err) {
    NEED(picked, "picked");
    *picked = NULL;
    NEED(sets, "sets");
    NEED(take, "take");
    onet_status status = sets_check(sets, err);
    if (status) return status;
    size_t s = 0;
    while (s < sets->count && !take[s]) s++;
    if (s == sets->count) return fail(err, ONET_USAGE, "onet_sets_pick: none of the %zu sets is taken", s);
    return pick_sets(picked, sets, take, err);
}

static onet_status fits(const onet_sets *part, const onet_sets *first, onet_error *err) {
    onet_status status = sets_check(part, err);
    if (status) return status;
    if (part->width != first->width || !part->word != !first->word)
        return fail(err, ONET_BAD, "its items are not as those of part 1: %d %s, not %d %s", part->width,
                    part->word ? "numbers per word" : "features", first->width,
                    first->word ? "numbers per word" : "features");
    if (sets_relations(part) != sets_relations(first))
        return fail(err, ONET_BAD, "its items have %d relation%s, those of part 1 %d", sets_relations(part),
                    sets_relations(part) == 1 ? "" : "s", sets_relations(first));
    if (part->word && part->words != first->words && !words_same(part->words, first->words))
        return fail(err, ONET_BAD, "its words are of another vocabulary than those of part 1");
    return columns_check(part->columns, first->columns, err);
}

onet_status onet_sets_join(onet_sets **joined, const onet_sets *const *parts, size_t count, onet_error *err) {
    NEED(joined, "joined");
    *joined = NULL;
    NEED(parts, "parts");
    if (!count) return fail(err, ONET_USAGE, "onet_sets_join: there are no sets to join");
    for (size_t p = 0; p < count; p++) NEED(parts[p], "one of parts");
    onet_sets *all;
    onet_status status = sets_new(&all, parts[0]->width, err);
    if (status) return status;
    onet_sets_lend_words(all, parts[0]->words);
    if (parts[0]->columns) status = onet_sets_set_columns(all, parts[0]->columns, err);
    for (size_t p = 0; p < count && !status; p++) {
        status = fits(parts[p], parts[0], err);
        for (size_t s = 0; s < parts[p]->count && !status; s++) status = append(all, parts[p], s, err);
        if (status == ONET_BAD) error_prefix(err, "part %zu", p + 1);
    }
    if (status)
        onet_sets_free(all);
    else
        *joined = all;
    return status;
}
