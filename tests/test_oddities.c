/* Tests the warnings about suspicious sets: each oddity is reported, and sets without one get no warning. */
#include <string.h>

#include "engine/base/rng.h"
#include "engine/data/sets.h"
#include "number_sets.h"
#include "ordernet_io.h"
#include "ordernet_measure.h"
#include "unit.h"

enum { WIDTH = 3, N = 4 };
static char text[4096];

/* Returns 200 sets in the order of the first feature. */
static onet_sets *sound_sets(void) {
    onet_sets *sets;
    rng r;
    rng_seed(&r, 1, 0);
    assert_int_equal(sets_new(&sets, WIDTH, NULL), ONET_OK);
    for (int s = 0; s < 200; s++) {
        float items[N * WIDTH];
        int32_t order[N];
        for (int i = 0; i < N * WIDTH; i++) items[i] = (float)rng_normal(&r);
        order_by(order, N, items, WIDTH);
        assert_int_equal(sets_append(sets, N, WIDTH, items, order, NULL), ONET_OK);
    }
    return sets;
}

static const char *odd(const onet_sets *sets) {
    assert_int_equal(onet_sets_oddities(sets, text, sizeof text, NULL), ONET_OK);
    return text;
}

static void nothing_is_odd(void **state) {
    onet_sets *sets = sound_sets();
    assert_string_equal(odd(sets), "");
    onet_sets_free(sets);
}

static void contradictions(void **state) {
    onet_sets *sets = sound_sets();
    /* The same items in another order of the file, and in the same right order: no contradiction. */
    float *items = sets->items, turned[N * WIDTH];
    int32_t order[N];
    for (int i = 0; i < N; i++)
        memcpy(turned + i * WIDTH, items + (N - 1 - i) * WIDTH, WIDTH * sizeof *items);
    for (int t = 0; t < N; t++) order[t] = N - 1 - sets->order[t];
    assert_int_equal(sets_append(sets, N, WIDTH, turned, order, NULL), ONET_OK);
    assert_string_equal(odd(sets), "");
    int32_t swap = order[0];
    order[0] = order[3];
    order[3] = swap;
    assert_int_equal(sets_append(sets, N, WIDTH, turned, order, NULL), ONET_OK);
    assert_non_null(strstr(odd(sets), "contradict each other: 3 of 202 sets"));
    onet_sets_free(sets);
}

static void features(void **state) {
    onet_sets *sets = sound_sets();
    size_t items = sets->start[sets->count];
    const char *const names[] = {"a", "b", "c"};
    onet_columns *columns;
    assert_int_equal(onet_columns_new(&columns, WIDTH, names, NULL, NULL, NULL), ONET_OK);
    assert_int_equal(onet_sets_set_columns(sets, columns, NULL), ONET_OK);
    onet_columns_free(columns);
    for (size_t i = 0; i < items; i++) sets->items[i * WIDTH + 1] = 7;
    assert_non_null(strstr(odd(sets), "Column b has the same value in all items"));
    for (size_t i = 0; i < items; i++) sets->items[i * WIDTH + 1] = (float)(i / N);
    assert_non_null(strstr(odd(sets), "Column b has one value in each set"));
    for (size_t i = 0; i < items; i++) sets->items[i * WIDTH + 1] = (float)((i * 37) % items);
    assert_non_null(strstr(odd(sets), "Column b looks like an id"));
    for (size_t i = 0; i < items; i++) sets->items[i * WIDTH + 1] = i % 2 ? 1.5e9f : (float)(i % 7);
    assert_non_null(strstr(odd(sets), "Column b has heavy tails or far clusters"));
    onet_sets_free(sets);
}

static void items_and_orders(void **state) {
    onet_sets *sets = sound_sets(), few;
    for (size_t s = 0; s < sets->count; s += 2) /* items 0 and 1 of every other set */
        memcpy(sets->items + (sets->start[s] + 1) * WIDTH, sets->items + sets->start[s] * WIDTH,
               WIDTH * sizeof(float));
    assert_non_null(strstr(odd(sets), "25% of the items are equal"));
    sets_slice(&few, sets, 10, 30);
    assert_non_null(strstr(odd(&few), "There are 20 sets to learn from"));
    onet_sets_free(sets);
    sets = sound_sets();
    for (size_t s = 0; s < sets->count; s++) {
        int32_t rank[N], *order = sets->order + sets->start[s];
        for (int t = 0; t < N; t++) rank[order[t]] = t;
        memcpy(order, rank, sizeof rank);
    }
    assert_non_null(strstr(odd(sets), "look like ranks"));
    onet_sets_free(sets);
}

static void what_it_refuses(void **state) {
    onet_sets *sets = sound_sets(), none = *sets;
    onet_error err;
    none.order = NULL;
    assert_int_equal(onet_sets_oddities(NULL, text, sizeof text, &err), ONET_USAGE);
    assert_int_equal(onet_sets_oddities(sets, NULL, 10, &err), ONET_USAGE);
    assert_int_equal(onet_sets_oddities(sets, text, 0, &err), ONET_USAGE);
    assert_int_equal(onet_sets_oddities(&none, text, sizeof text, &err), ONET_BAD);
    /* A text that is full ends with a whole sentence. */
    for (size_t i = 0; i < sets->start[sets->count]; i++)
        sets->items[i * WIDTH] = sets->items[i * WIDTH + 1] = sets->items[i * WIDTH + 2] = 1;
    assert_int_equal(onet_sets_oddities(sets, text, 100, &err), ONET_OK);
    assert_true(strlen(text) < 100 && (!text[0] || text[strlen(text) - 1] == '.'));
    onet_sets_free(sets);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_odd),   cmocka_unit_test(contradictions),  cmocka_unit_test(features),
        cmocka_unit_test(items_and_orders), cmocka_unit_test(what_it_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
