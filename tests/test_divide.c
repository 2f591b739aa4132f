/* Tests the division of sets into parts: equal sets and those of one group stay together, whatever the
 * seed. */
#include <string.h>

#include "data_help.h"
#include "engine/base/rng.h"

enum { KINDS = 20, COPIES = 6, SETS = KINDS * COPIES, N = 4 };

/* Every kind of set six times, its items in another order each time. */
static onet_sets *repeated(void) {
    onet_sets *sets;
    onet_error err;
    rng r;
    rng_seed(&r, 9, 0);
    assert_int_equal(onet_sets_new(&sets, 2, &err), ONET_OK);
    float item[KINDS][N][2];
    for (int k = 0; k < KINDS; k++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < 2; j++) item[k][i][j] = (float)rng_uniform(&r);
    for (int c = 0; c < COPIES; c++)
        for (int k = 0; k < KINDS; k++) {
            size_t place[N];
            float items[N][2];
            int32_t order[N] = {0, 1, 2, 3};
            rng_permutation(&r, place, N);
            for (int i = 0; i < N; i++) memcpy(items[place[i]], item[k][i], sizeof items[0]);
            assert_int_equal(onet_sets_append(sets, N, 2, items[0], order, &err), ONET_OK);
        }
    return sets;
}

static void equal_sets_stay_together(void **state) {
    onet_error err = {.text = ""};
    onet_sets *sets = repeated();
    for (uint64_t seed = 0; seed < 20; seed++) {
        size_t part[SETS], sum[5] = {0}, taken = 0;
        uint8_t take[SETS];
        assert_int_equal(onet_sets_divide(part, sets, NULL, 5, seed, &err), ONET_OK);
        assert_int_equal(onet_sets_hold_out(take, sets, NULL, SETS / 4, seed, &err), ONET_OK);
        for (int s = 0; s < SETS; s++) {
            assert_int_equal(part[s], part[s % KINDS]);
            assert_int_equal(take[s], take[s % KINDS]);
            sum[part[s]]++;
            taken += take[s];
        }
        assert_int_equal(taken, SETS / 4);
        for (int k = 0; k < 5; k++) assert_int_equal(sum[k], SETS / 5);
    }
    size_t part[SETS];
    assert_int_equal(onet_sets_divide(part, sets, NULL, KINDS + 1, 1, &err), ONET_USAGE);
    assert_string_equal(err.text, "cannot divide 120 sets into 21 parts: equal sets stay together, which "
                                  "leaves only 20 units");
    onet_sets_free(sets);
}

/* Of five sets in a file, the first two are equal, and no others. */
static void two_are_equal(const char *text) {
    onet_sets *sets = help_read("a.jsonl", text, NULL);
    onet_error err = {.text = ""};
    size_t part[5];
    assert_int_equal(onet_sets_divide(part, sets, NULL, 4, 1, &err), ONET_OK);
    for (int a = 0; a < 5; a++)
        for (int b = 0; b < a; b++) assert_int_equal(part[a] == part[b], a == 1 && b == 0);
    onet_sets_free(sets);
}

/* An item more, another number or a context item makes another set; -0 does not. */
static void what_is_equal(void **state) {
    two_are_equal("{\"items\": [0, 1]}\n{\"items\": [1, -0.0]}\n{\"items\": [0, 1, 1]}\n"
                  "{\"items\": [0, 2]}\n{\"items\": [0, 1], \"context\": [0]}\n");
}

/* Sets 0 and 1 are one set, its items swapped; the others differ from it in a relation or its direction. */
static void relations_tell_sets_apart(void **state) {
    two_are_equal("{\"pairs\": [[null, 1, 2], [3, null, 4], [5, 6, null]]}\n"
                  "{\"pairs\": [[null, 6, 5], [4, null, 3], [2, 1, null]]}\n"
                  "{\"pairs\": [[null, 1, 2], [3, null, 4], [5, 7, null]]}\n"
                  "{\"pairs\": [[null, 3, 5], [1, null, 6], [2, 4, null]]}\n"
                  "{\"pairs\": [[null, 2, 1], [3, null, 4], [5, 6, null]]}\n");
    onet_error err = {.text = ""};
    size_t part[3];
    onet_sets *sets = help_read("b.jsonl",
                                "{\"items\": [1, 2], \"pairs\": [[null, 1], [2, null]]}\n"
                                "{\"items\": [2, 1], \"pairs\": [[null, 2], [1, null]]}\n"
                                "{\"items\": [2, 1], \"pairs\": [[null, 1], [2, null]]}\n",
                                NULL);
    assert_int_equal(onet_sets_divide(part, sets, NULL, 2, 1, &err), ONET_OK);
    assert_int_equal(part[0], part[1]);
    assert_int_not_equal(part[0], part[2]);
    onet_sets_free(sets);
}

static void groups_stay_together(void **state) {
    onet_error err = {.text = ""};
    onet_sets *sets = repeated();
    /* Groups a, b and c of three sets each; one more set joins a and c; the others have no group. */
    const char *name[] = {"a", "b", "c"}, *group[SETS] = {0};
    for (int s = 0; s < 9; s++) group[s] = name[s / 3];
    group[KINDS + 8] = "a"; /* a copy of set 8, of group c */
    for (uint64_t seed = 0; seed < 20; seed++) {
        size_t part[SETS], taken = 0;
        uint8_t take[SETS];
        assert_int_equal(onet_sets_divide(part, sets, group, 3, seed, &err), ONET_OK);
        for (int s = 0; s < SETS; s++) assert_int_equal(part[s], part[s % KINDS]);
        for (int s = 0; s < 9; s++)
            assert_int_equal(part[s], s / 3 == 1 ? part[3] : part[0]); /* a and c are one */
        assert_int_equal(onet_sets_hold_out(take, sets, group, 1, seed, &err), ONET_OK);
        for (int s = 0; s < SETS; s++) taken += take[s];
        assert_int_equal(taken, COPIES); /* the smallest part that can be held out */
    }
    for (int s = 0; s < SETS; s++) group[s] = "one";
    uint8_t take[SETS];
    assert_int_equal(onet_sets_hold_out(take, sets, group, 9, 1, &err), ONET_USAGE);
    assert_non_null(strstr(err.text, "all 120 sets are equal or of one group"));
    assert_int_equal(onet_sets_hold_out(take, sets, NULL, SETS, 1, &err), ONET_USAGE);
    onet_sets_free(sets);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_sets_stay_together),
        cmocka_unit_test(what_is_equal),
        cmocka_unit_test(relations_tell_sets_apart),
        cmocka_unit_test(groups_stay_together),
    };
    return cmocka_run_group_tests(tests, NULL, help_clean);
}
