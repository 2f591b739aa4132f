/* Tests that ranks given in place of orders are noticed, and that orders are not mistaken for ranks. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "engine/base/rng.h"
#include "ordernet_io.h"
#include "unit.h"

enum { SETS = 200, MOST = 12, WIDTH = 3 };

typedef enum { BY_VALUE, BY_SUM, OUTWARD, BY_CHANCE, AS_STORED, REVERSED, TURNED, RULES } rule;

typedef struct pair {
    double key;
    int32_t item;
} pair;

static int by_key(const void *a, const void *b) {
    const pair *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

static double key_of(rule how, const float *item, const float *mean, int i, int n, rng *r) {
    switch (how) {
    case BY_VALUE:
        return item[1];
    case BY_SUM:
        return item[0] - 2 * item[1] + item[2];
    case OUTWARD:
        return hypot(item[0] - mean[0], item[1] - mean[1]);
    case AS_STORED:
        return i;
    case REVERSED:
        return -i;
    case TURNED:
        return (i + 2) % n; /* neither its own inverse nor told by a feature */
    default:
        return rng_uniform(r);
    }
}

/* Makes sets ordered by a rule, as ranks or as orders (`sorted`: the file has the items by their first
 * feature); returns whether they look like ranks. */
static int looks(rule how, bool sorted, bool as_ranks, uint64_t seed, int sets_count) {
    onet_error err;
    onet_sets *sets;
    rng r;
    rng_seed(&r, seed, 1);
    assert_int_equal(onet_sets_new(&sets, WIDTH, &err), ONET_OK);
    for (int s = 0; s < sets_count; s++) {
        int n = 2 + (int)rng_below(&r, MOST - 1);
        float items[MOST * WIDTH], mean[WIDTH] = {0};
        pair p[MOST];
        int32_t order[MOST], rank[MOST];
        for (int i = 0; i < n; i++)
            for (int j = 0; j < WIDTH; j++) {
                float *x = &items[i * WIDTH + j];
                *x = (float)rng_uniform(&r);
                if (sorted && !j) *x = (float)i + *x / 2;
                mean[j] += *x / (float)n;
            }
        for (int i = 0; i < n; i++) p[i] = (pair){key_of(how, items + i * WIDTH, mean, i, n, &r), i};
        qsort(p, (size_t)n, sizeof *p, by_key);
        for (int t = 0; t < n; t++) rank[order[t] = p[t].item] = t;
        assert_int_equal(onet_sets_append(sets, n, WIDTH, items, as_ranks ? rank : order, &err), ONET_OK);
    }
    int found = onet_sets_look_like_ranks(sets);
    onet_sets_free(sets);
    return found;
}

static void ranks_are_noticed(void **state) {
    for (uint64_t seed = 1; seed < 20; seed++) {
        assert_true(looks(BY_VALUE, false, true, seed, SETS));
        assert_true(looks(BY_SUM, false, true, seed, SETS));
        assert_true(looks(OUTWARD, false, true, seed, SETS));
        assert_true(looks(BY_VALUE, true, true, seed, SETS)); /* the file is sorted by another feature too */
    }
}

static void orders_are_not_taken_for_ranks(void **state) {
    for (uint64_t seed = 1; seed < 100; seed++)
        for (int how = 0; how < RULES; how++)
            for (int sorted = 0; sorted < 2; sorted++)
                assert_false(looks((rule)how, sorted, false, seed, SETS));
}

static void nothing_is_said_where_nothing_tells(void **state) {
    for (uint64_t seed = 1; seed < 100; seed++) {
        assert_false(looks(BY_CHANCE, false, true, seed, SETS));
        assert_false(looks(AS_STORED, true, true, seed, SETS)); /* its own inverse */
        assert_false(looks(BY_VALUE, false, true, seed, 2));    /* too few */
    }
    onet_error err;
    onet_sets *none;
    assert_false(onet_sets_look_like_ranks(NULL));
    assert_int_equal(onet_sets_new(&none, 1, &err), ONET_OK);
    assert_false(onet_sets_look_like_ranks(none));
    assert_int_equal(onet_sets_append(none, 3, 1, (const float[]){3, 1, 2}, NULL, &err), ONET_OK);
    assert_false(onet_sets_look_like_ranks(none)); /* no orders */
    onet_sets_free(none);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_are_noticed),
        cmocka_unit_test(orders_are_not_taken_for_ranks),
        cmocka_unit_test(nothing_is_said_where_nothing_tells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
