/* Tests constraints on an order: they are accepted exactly if some order satisfies them, a search that
 * follows the constraint graph never gets stuck, and contradictions are refused with the items named. Also
 * tests how constraints are read, written and set. */
#include "data_help.h"

#include "engine/base/rng.h"
#include "engine/data/constraints.h"
#include "engine/data/sets.h"

enum { MOST = 6, LIST = 12 };

static int keeps(const int32_t *order, int placed, const onet_constraint *list, size_t count) {
    int32_t at[MOST];
    for (int i = 0; i < MOST; i++) at[i] = -1;
    for (int t = 0; t < placed; t++) at[order[t]] = t;
    for (size_t k = 0; k < count; k++) {
        int32_t a = at[list[k].item];
        if (a < 0) return 0;
        if (list[k].kind == ONET_PLACE && a != (int32_t)list[k].other) return 0;
        if (list[k].kind == ONET_LAST && a != placed - 1) return 0;
        if (list[k].kind == ONET_BEFORE && (at[list[k].other] < 0 || a >= at[list[k].other])) return 0;
        if (list[k].kind == ONET_NEXT && at[list[k].other] != a + 1) return 0;
    }
    return 1;
}

/* Returns whether some order of the placed items satisfies all constraints; tries all orders. */
static int possible(int32_t *order, int from, int placed, const onet_constraint *list, size_t count) {
    if (from == placed) return keeps(order, placed, list, count);
    for (int t = from; t < placed; t++) {
        int32_t swap = order[from];
        order[from] = order[t];
        order[t] = swap;
        int found = possible(order, from + 1, placed, list, count);
        order[t] = order[from];
        order[from] = swap;
        if (found) return 1;
    }
    return 0;
}

/* Random constraints, most of few kinds, so that both answers are common. Places are given without a gap, as
 * `first` and `prefix` do. */
static size_t draw(rng *r, int n, onet_constraint *list) {
    size_t count = 0, pairs = rng_below(r, 5), prefix = rng_below(r, 3) ? 0 : rng_below(r, 3);
    size_t next = rng_below(r, 2) ? 0 : rng_below(r, 4);
    for (size_t t = 0; t < prefix; t++)
        list[count++] = (onet_constraint){ONET_PLACE, rng_below(r, (uint64_t)n), t};
    for (size_t k = 0; k < pairs; k++)
        list[count++] = (onet_constraint){ONET_BEFORE, rng_below(r, (uint64_t)n), rng_below(r, (uint64_t)n)};
    for (size_t k = 0; k < next; k++)
        list[count++] = (onet_constraint){ONET_NEXT, rng_below(r, (uint64_t)n), rng_below(r, (uint64_t)n)};
    if (!rng_below(r, 3)) list[count++] = (onet_constraint){ONET_LAST, rng_below(r, (uint64_t)n), 0};
    return count;
}

/* Takes any item that the graph allows, at random. */
static void walk(rng *r, const constraint_graph *g, const uint8_t *context, int placed, int32_t *order) {
    int32_t left[MOST], done[MOST] = {0};
    memcpy(left, g->predecessors, (size_t)g->n * sizeof *left);
    for (int t = 0; t < placed; t++) {
        int32_t allowed[MOST];
        uint64_t count = 0;
        for (int32_t i = 0; i < g->n; i++)
            if (!context[i] && !done[i] && constraint_allows(g, left, t ? order[t - 1] : -1, i, t, placed))
                allowed[count++] = i;
        assert_true(count > 0);
        int32_t i = order[t] = allowed[rng_below(r, count)];
        done[i] = 1;
        for (size_t k = g->after_start[i]; k < g->after_start[i + 1]; k++) left[g->after[k]]--;
    }
}

static void taken_when_possible(void **state) {
    rng r;
    rng_seed(&r, 11, 0);
    int taken = 0, refused = 0;
    for (int turn = 0; turn < 60000; turn++) {
        int n = 1 + (int)rng_below(&r, MOST), placed = 0;
        uint8_t context[MOST] = {0};
        int32_t order[MOST];
        onet_constraint list[LIST];
        for (int i = 0; i < n; i++) context[i] = i && !rng_below(&r, 6);
        for (int32_t i = 0; i < n; i++)
            if (!context[i]) order[placed++] = i;
        size_t count = draw(&r, n, list);
        constraint_graph g;
        onet_error err = {.text = ""};
        onet_status status = constraint_graph_make(&g, list, count, 0, n, context, &err);
        assert_int_equal(status == ONET_OK, possible(order, 0, placed, list, count));
        if (status) {
            assert_int_equal(status, ONET_BAD);
            assert_true(err.text[0]);
            refused++;
            continue;
        }
        walk(&r, &g, context, placed, order);
        assert_true(keeps(order, placed, list, count));
        constraint_graph_free(&g);
        taken++;
    }
    assert_true(taken > 10000 && refused > 10000);
}

static void refuses_by_name(void **state) {
#define REFUSED(keys, sentence)                                                                              \
    help_refused("bad.jsonl", "{\"items\": [[1], [2], [3], [4]], " keys "}", "FILE:1: " sentence)
    REFUSED("\"before\": [[0, 1], [1, 2], [2, 0]]",
            "the constraints `before` go in a circle of 3 items: 2 after 1 after 0 after 2; leave one of "
            "them out");
    REFUSED("\"before\": [[1, 1]]", "item 1 cannot come before itself; leave that constraint out");
    REFUSED("\"first\": 2, \"last\": 2", "item 2 is to be first and last, of 4 items; keep one");
    REFUSED("\"prefix\": [0, 2], \"last\": 2",
            "item 2 is to be within the prefix and last, of 4 items; keep one");
    REFUSED("\"first\": 2, \"prefix\": [1, 2]", "items 2 and 1 are both to stand at place 0; keep one");
    REFUSED("\"prefix\": [1, 2, 1]", "item 1 is to stand at place 0 and at place 2; keep one");
    REFUSED("\"prefix\": [1, 0], \"before\": [[0, 1]]",
            "item 0 is to come before item 1, which stands at place 0 of the prefix already; change one");
    REFUSED("\"prefix\": [1], \"before\": [[0, 1]]",
            "item 0 is to come before item 1, which stands at place 0 of the prefix without it; change one");
    REFUSED("\"last\": 3, \"before\": [[3, 0]]", "item 3 is to be last and to come before item 0; keep one");
    REFUSED("\"first\": 4", "the constraint `first` or `prefix` names item 4, which the set does not have; "
                            "its items are 0 to 3");
    REFUSED("\"last\": -1",
            "the constraint `last` names item -1, which the set does not have; its items are 0 to 3");
    REFUSED("\"before\": [[0, 99999999999]]",
            "the constraint `before` names item 2147483647, which the set does not have; its items are 0 to "
            "3");
    REFUSED("\"context\": [1], \"before\": [[0, 1]]",
            "the constraint `before` names item 1, a context item, which is never placed; leave it out");
    REFUSED("\"context\": [0, 1], \"prefix\": [2, 3, 3]",
            "item 3 is to stand at place 2, but the set has 2 to place, from place 0 on");
    REFUSED("\"next\": [[0, 1], [0, 2]]", "items 1 and 2 are both to come directly after item 0; keep one");
    REFUSED("\"next\": [[0, 2], [1, 2]]",
            "item 2 is to come directly after item 0 and after item 1; keep one");
    REFUSED("\"next\": [[0, 1], [1, 0]]",
            "the constraints `next` go in a circle through item 0; leave one of them out");
    REFUSED("\"next\": [[1, 1]]", "item 1 cannot come after itself; leave that constraint out");
    REFUSED("\"next\": [[0, 1]], \"last\": 0",
            "item 0 is to be last and item 1 to come directly after it; keep one");
    REFUSED("\"next\": [[0, 1]], \"first\": 1",
            "item 1 is to come directly after item 0, but stands at place 0 of the prefix without it; "
            "change one");
    REFUSED("\"next\": [[0, 1]], \"prefix\": [0, 2]",
            "item 1 is to come directly after item 0, but item 2 does in the prefix; change one");
    REFUSED("\"next\": [[0, 1]], \"last\": 1, \"first\": 0",
            "item 1 is to be within the prefix and last, of 4 items; keep one");
    REFUSED("\"next\": [[0, 1], [1, 2]], \"before\": [[2, 0]]",
            "item 2 is to come before item 0, and directly after it or what follows it; keep one");
    REFUSED("\"next\": [[0, 1]], \"before\": [[2, 1], [0, 2]]",
            "the constraints `before` go in a circle of 2 items: 0 after 2 after 0; leave one of them out");
    REFUSED(
        "\"next\": [[0, 1]], \"before\": [[2, 1], [1, 2]]",
        "the constraints `before` and `next` go in a circle of 3 items: 2 after 1 after 0 after 2; leave one "
        "of them out");
    REFUSED("\"next\": [0, 1]", "field `next`[0]: not a pair; write [0, 1] for 1 directly after 0");
    REFUSED("\"before\": [0, 1]", "field `before`[0]: not a pair; write [0, 1] for 0 before 1");
    REFUSED("\"before\": [[0, 1, 2]]", "field `before`[0]: not a pair; write [0, 1] for 0 before 1");
    REFUSED("\"before\": 3", "field `before`: not an array; write [[0, 1], [4, 2]]");
    REFUSED("\"before\": [[0, \"b\"]]", "field `before`[0][1]: not a number; give the index of an item");
    REFUSED("\"first\": [1]", "field `first`: not a number; give the index of an item");
    REFUSED("\"last\": 1.5", "field `last`: not a whole number; give the index of an item");
    REFUSED("\"prefix\": 1", "field `prefix`: not an array; write [1, 0, 2], or leave it out");
#undef REFUSED
}

static void reads_all_kinds(void **state) {
    onet_sets *sets =
        help_read("a.jsonl",
                  "{\"items\": [1, 2]}\n"
                  "{\"items\": [1, 2, 3, 4, 5], \"prefix\": [2, 0], \"last\": 1, "
                  "\"before\": [[4, 3]], \"first\": 2}\n"
                  "{\"items\": [1, 2], \"first\": null, \"before\": [], \"last\": 0, \"next\": [[1, 0]]}\n",
                  NULL);
    const onet_constraint expected[] = {{ONET_PLACE, 4, 0},  {ONET_PLACE, 2, 1}, {ONET_LAST, 3, 0},
                                        {ONET_BEFORE, 6, 5}, {ONET_PLACE, 4, 0}, {ONET_LAST, 7, 0},
                                        {ONET_NEXT, 8, 7}};
    assert_int_equal(sets->constraint_count, 7);
    for (size_t k = 0; k < 7; k++) {
        assert_int_equal(sets->constraints[k].kind, expected[k].kind);
        assert_int_equal(sets->constraints[k].item, expected[k].item);
        assert_int_equal(sets->constraints[k].other, expected[k].other);
    }
    size_t from, count;
    constraints_of(sets, 2, 7, &from, &count);
    assert_true(from == 0 && count == 5);
    constraints_of(sets, 7, 9, &from, &count);
    assert_true(from == 5 && count == 2);
    constraints_of(sets, 0, 2, &from, &count);
    assert_int_equal(count, 0);
    onet_sets_free(sets);
}

/* A safetensors file holds constraints; those read from it are equivalent. */
static void round_trip(void **state) {
    onet_error err = {.text = ""};
    const char *there = help_path("c.safetensors"), *back = help_path("c.jsonl");
    const char *text =
        "{\"items\": [[1], [2], [3], [4]], \"context\": [3], \"last\": 1, \"first\": 2}\n"
        "{\"items\": [[1], [2], [3], [4]], \"before\": [[1, 0], [3, 2]], \"next\": [[0, 3]]}\n";
    assert_int_equal(onet_sets_convert(help_file("b.jsonl", text), there, NULL, NULL, &err), ONET_OK);
    assert_int_equal(onet_sets_convert(there, back, NULL, NULL, &err), ONET_OK);
    char *got = help_content(back);
    assert_string_equal(
        got, "{\"items\": [[1], [2], [3], [4]], \"context\": [3], \"prefix\": [2], \"last\": 1}\n"
             "{\"items\": [[1], [2], [3], [4]], \"before\": [[1, 0], [3, 2]], \"next\": [[0, 3]]}\n");
    free(got);
}

static void setters(void **state) {
    onet_error err = {.text = ""};
    onet_sets *sets;
    const float items[] = {1, 2, 3, 4, 5, 6};
    const int32_t order[] = {1, 0, 2, 2, 0, 1};
    assert_int_equal(onet_sets_from(&sets, 2, 3, 1, items, order, &err), ONET_OK);
    const uint8_t middle[] = {0, 0, 1, 1, 0, 0}, all[] = {0, 0, 0, 1, 1, 1}, good[] = {0, 0, 1, 0, 1, 0};
    assert_int_equal(onet_sets_set_context(sets, middle, &err), ONET_BAD);
    assert_string_equal(err.text, "set 2: order[1] is 0, a context item, which is never placed");
    assert_int_equal(onet_sets_set_context(sets, all, &err), ONET_BAD);
    assert_string_equal(err.text, "set 2: all 3 items are context; leave the set out or place one");
    assert_null(sets->context);
    assert_int_equal(onet_sets_set_context(sets, good, &err), ONET_OK);
    assert_int_equal(sets_placed(sets, 0), 2);
    assert_int_equal(sets_check(sets, &err), ONET_OK);
    const int32_t falling[] = {0, 2, 1};
    memcpy(sets->order + 3, falling, sizeof falling);
    const uint8_t two_seen[] = {0, 0, 1, 0, 1, 1};
    assert_int_equal(onet_sets_set_context(sets, two_seen, &err), ONET_BAD);
    assert_string_equal(err.text, "set 2: order[2] is 1: behind the placed items stand the context items, "
                                  "smallest index first");

    const onet_constraint two[] = {{ONET_LAST, 0, 0}, {ONET_BEFORE, 3, 5}}, mixed[] = {two[1], two[0]};
    const onet_constraint beyond[] = {{ONET_LAST, 6, 0}}, across[] = {{ONET_BEFORE, 0, 3}};
    assert_int_equal(onet_sets_set_constraints(sets, two, 2, &err), ONET_OK);
    assert_int_equal(onet_sets_set_constraints(sets, mixed, 2, &err), ONET_BAD);
    assert_string_equal(err.text,
                        "constraint 2 is on item 0 of all sets: constraints must stand in the order "
                        "of the sets, which have 6 items");
    assert_int_equal(onet_sets_set_constraints(sets, beyond, 1, &err), ONET_BAD);
    assert_int_equal(onet_sets_set_constraints(sets, across, 1, &err), ONET_BAD);
    assert_string_equal(err.text, "set 1: the constraint `before` names item 3, which the set does not have; "
                                  "its items are 0 to 2");
    assert_int_equal(sets->constraint_count, 2);
    /* An item that a constraint names cannot become context. */
    const uint8_t named[] = {0, 0, 1, 0, 0, 1};
    const int32_t rising[] = {0, 1, 2};
    memcpy(sets->order + 3, rising, sizeof rising);
    assert_int_equal(onet_sets_set_context(sets, named, &err), ONET_BAD);
    assert_int_equal(sets->context[5], 0);
    assert_int_equal(onet_sets_set_constraints(sets, NULL, 0, &err), ONET_OK);
    assert_int_equal(onet_sets_set_context(sets, named, &err), ONET_OK);
    assert_int_equal(onet_sets_set_context(sets, NULL, &err), ONET_OK);
    assert_null(sets->context);
    onet_sets_free(sets);
}

/* Sets that grow after the setters gave them other arrays keep what they were given. */
static void grows_after_setters(void **state) {
    onet_error err = {.text = ""};
    onet_sets *sets;
    const float items[] = {1, 2, 3};
    assert_int_equal(onet_sets_new(&sets, 1, &err), ONET_OK);
    for (int k = 0; k < 100; k++) {
        assert_int_equal(onet_sets_append(sets, 3, 1, items, NULL, &err), ONET_OK);
        if (k % 10) continue;
        size_t total = sets->start[sets->count];
        uint8_t *context = calloc(total, 1);
        onet_constraint *list = calloc(sets->count, sizeof *list);
        assert_true(context && list);
        for (size_t s = 0; s < sets->count; s++) {
            context[3 * s + 1] = 1;
            list[s] = (onet_constraint){ONET_LAST, 3 * s, 0};
        }
        assert_int_equal(onet_sets_set_context(sets, context, &err), ONET_OK);
        assert_int_equal(onet_sets_set_constraints(sets, list, sets->count, &err), ONET_OK);
        free(context);
        free(list);
        onet_constraint last = {ONET_LAST, 2, 0};
        assert_int_equal(sets_append(sets, 3, 1, items, NULL, &err), ONET_OK);
        assert_int_equal(sets_append_constraints(sets, &last, 1, &err), ONET_OK);
        for (size_t i = 0; i < sets->start[sets->count]; i++)
            assert_int_equal(sets->context[i], i < total && i % 3 == 1);
        assert_int_equal(sets->constraints[sets->constraint_count - 1].item, sets->start[sets->count] - 1);
        assert_int_equal(sets_check(sets, &err), ONET_OK);
    }
    onet_sets_free(sets);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(taken_when_possible),
        cmocka_unit_test(refuses_by_name),
        cmocka_unit_test(reads_all_kinds),
        cmocka_unit_test(round_trip),
        cmocka_unit_test(setters),
        cmocka_unit_test(grows_after_setters),
    };
    return cmocka_run_group_tests(tests, NULL, help_clean);
}
