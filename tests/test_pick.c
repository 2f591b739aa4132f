/* Tests onet_sets_pick and onet_sets_join: sets are chosen and joined with all data that belong to them; and
 * random permutations of sets. */
#include <stdlib.h>
#include <string.h>

#include "app/division.h"
#include "engine/data/pick.h"
#include "engine/data/sets.h"
#include "number_sets.h"
#include "ordernet_io.h"
#include "unit.h"

enum { SETS = 50 };

/* Set s of `part` is set k of `all`. */
static void same_set(const onet_sets *part, size_t s, const onet_sets *all, size_t k) {
    size_t n = sets_size(all, k), at = part->start[s], from = all->start[k];
    assert_int_equal(sets_size(part, s), n);
    if (all->word)
        assert_memory_equal(part->word + at, all->word + from, n * sizeof *all->word);
    else
        assert_memory_equal(part->items + at * (size_t)all->width, all->items + from * (size_t)all->width,
                            n * (size_t)all->width * sizeof *all->items);
    assert_memory_equal(part->order + at, all->order + from, n * sizeof *all->order);
}

static void the_sets_that_were_asked_for(void **state) {
    onet_error err;
    for (int as_words = 0; as_words < 2; as_words++) {
        onet_sets *all = number_sets(SETS, as_words, 1), *half[2];
        assert_non_null(all);
        strcpy(all->hash, "abc");
        uint8_t take[2][SETS];
        size_t *place;
        assert_int_equal(pick_places(&place, SETS, 7, &err), ONET_OK);
        for (size_t s = 0; s < SETS; s++) take[1][s] = !(take[0][s] = place[s] < 20);
        for (int h = 0; h < 2; h++) {
            assert_int_equal(pick_sets(&half[h], all, take[h], &err), ONET_OK);
            assert_int_equal(half[h]->count, h ? 30 : 20);
            assert_string_equal(half[h]->hash, "abc");
            assert_int_equal(sets_check(half[h], &err), ONET_OK);
            if (as_words) assert_true(words_same(half[h]->words, all->words));
            for (size_t s = 0, k = 0; k < SETS; k++)
                if (take[h][k]) same_set(half[h], s++, all, k);
            onet_sets_free(half[h]);
        }
        free(place);
        onet_sets_free(all);
    }
}

static void context_and_constraints_go_along(void **state) {
    onet_error err;
    onet_sets *all, *some;
    /* Three sets of three items, of which the last is context. */
    const float x[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    const int32_t order[9] = {0, 1, 2, 1, 0, 2, 0, 1, 2};
    const uint8_t context[9] = {0, 0, 1, 0, 0, 1, 0, 0, 1}, take[3] = {0, 1, 1};
    const onet_constraint constraints[] = {
        {ONET_BEFORE, 0, 1}, {ONET_PLACE, 4, 0}, {ONET_PLACE, 3, 1}, {ONET_BEFORE, 6, 7}, {ONET_LAST, 7, 0}};
    assert_int_equal(onet_sets_from(&all, 3, 3, 1, x, order, &err), ONET_OK);
    assert_int_equal(onet_sets_set_context(all, context, &err), ONET_OK);
    assert_int_equal(onet_sets_set_constraints(all, constraints, 5, &err), ONET_OK);
    assert_int_equal(pick_sets(&some, all, take, &err), ONET_OK);
    assert_int_equal(sets_check(some, &err), ONET_OK);
    assert_memory_equal(some->context, context + 3, 6);
    assert_int_equal(some->constraint_count, 4);
    const onet_constraint want[] = {
        {ONET_PLACE, 1, 0}, {ONET_PLACE, 0, 1}, {ONET_BEFORE, 3, 4}, {ONET_LAST, 4, 0}};
    for (int k = 0; k < 4; k++) {
        assert_int_equal(some->constraints[k].kind, want[k].kind);
        assert_int_equal(some->constraints[k].item, want[k].item);
        if (want[k].kind != ONET_LAST) assert_int_equal(some->constraints[k].other, want[k].other);
    }
    onet_sets_free(some);
    onet_sets_free(all);
}

/* A permutation, another for another seed, in which every set may come at every place. */
static void places_are_drawn(void **state) {
    onet_error err;
    int times[5][5] = {{0}};
    for (uint64_t seed = 0; seed < 5000; seed++) {
        size_t *place;
        int seen = 0;
        assert_int_equal(pick_places(&place, 5, seed, &err), ONET_OK);
        for (int s = 0; s < 5; s++) {
            seen |= 1 << place[s];
            times[s][place[s]]++;
        }
        assert_int_equal(seen, 31);
        free(place);
    }
    for (int s = 0; s < 5; s++)
        for (int p = 0; p < 5; p++) assert_in_range(times[s][p], 880, 1120);
}

static void sets_are_joined(void **state) {
    onet_error err;
    for (int as_words = 0; as_words < 2; as_words++) {
        onet_sets *a = number_sets(SETS, as_words, 1), *b = number_sets(SETS, as_words, 2), *joined;
        assert_true(a && b);
        uint8_t *context = calloc(b->start[SETS], 1);
        assert_non_null(context);
        /* The item that the order has last, so that the order stays as it was. */
        size_t set = 0, from;
        while (sets_size(b, set) < 3) set++;
        from = b->start[set];
        context[from + (size_t)b->order[from + sets_size(b, set) - 1]] = 1;
        const int32_t *order = b->order + from;
        const onet_constraint rule = {ONET_BEFORE, from + (size_t)order[0], from + (size_t)order[1]};
        assert_int_equal(onet_sets_set_context(b, context, &err), ONET_OK);
        assert_int_equal(onet_sets_set_constraints(b, &rule, 1, &err), ONET_OK);
        const onet_sets *parts[] = {a, b, a};
        assert_int_equal(onet_sets_join(&joined, parts, 3, &err), ONET_OK);
        assert_int_equal(joined->count, 3 * SETS);
        assert_int_equal(sets_check(joined, &err), ONET_OK);
        for (size_t s = 0; s < SETS; s++) {
            same_set(joined, s, a, s);
            same_set(joined, SETS + s, b, s);
            same_set(joined, 2 * SETS + s, a, s);
        }
        size_t before = a->start[SETS];
        for (size_t i = 0; i < b->start[SETS]; i++) assert_int_equal(joined->context[before + i], context[i]);
        assert_int_equal(joined->context[0], 0);
        assert_int_equal(joined->constraint_count, 1);
        assert_int_equal(joined->constraints[0].item, before + rule.item);
        assert_int_equal(joined->constraints[0].other, before + rule.other);
        onet_sets_free(joined);
        onet_sets *other = number_sets(SETS, !as_words, 1);
        assert_non_null(other);
        parts[2] = other;
        assert_int_equal(onet_sets_join(&joined, parts, 3, &err), ONET_BAD);
        assert_null(joined);
        assert_non_null(strstr(err.text, "part 3: its items are not as those of part 1"));
        parts[2] = NULL;
        assert_int_equal(onet_sets_join(&joined, parts, 3, &err), ONET_USAGE);
        assert_int_equal(onet_sets_join(&joined, parts, 0, &err), ONET_USAGE);
        assert_int_equal(onet_sets_join(&joined, NULL, 1, &err), ONET_USAGE);
        free(context);
        onet_sets_free(other);
        onet_sets_free(a);
        onet_sets_free(b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sets_that_were_asked_for),
        cmocka_unit_test(context_and_constraints_go_along),
        cmocka_unit_test(places_are_drawn),
        cmocka_unit_test(sets_are_joined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
