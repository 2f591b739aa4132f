/* Tests binary compatibility: callers compiled with option structs of an older or newer header keep working;
 * structs without their size, and reserved fields that are not 0, are refused. */
#include <string.h>

#include "engine/base/sized.h"

#include "ordernet_io.h"
#include "unit.h"

static onet_error err;

/* The options as a program has them that was compiled with the first header. */
typedef struct old_train_options {
    size_t size;
    onet_settings settings;
    int batch, epochs;
} old_train_options;

typedef struct new_order_options {
    onet_order_options known;
    int later; /* a field of a header to come */
} new_order_options;

static onet_sets *small_sets(void) {
    enum { COUNT = 8, N = 3 };
    float items[COUNT][N][1];
    int32_t order[COUNT][N];
    for (int s = 0; s < COUNT; s++)
        for (int i = 0; i < N; i++) {
            items[s][i][0] = (float)((i * 2 + s) % N);
            order[s][(i * 2 + s) % N] = i;
        }
    onet_sets *sets;
    assert_int_equal(onet_sets_from(&sets, COUNT, N, 1, &items[0][0][0], &order[0][0], &err), ONET_OK);
    return sets;
}

static void older_train_options(void **state) {
    /* The defaults of a newer library must not run over the end of an older struct. */
    struct {
        old_train_options options;
        unsigned char behind[sizeof(onet_train_options)];
    } caller;
    memset(&caller, 0x5A, sizeof caller);
    onet_train_defaults((onet_train_options *)(void *)&caller.options, sizeof caller.options);
    for (size_t i = 0; i < sizeof caller.behind; i++) assert_int_equal(caller.behind[i], 0x5A);
    assert_int_equal(caller.options.size, sizeof caller.options);
    assert_int_equal(caller.options.batch, 32);

    caller.options.settings = (onet_settings){
        .encoder_blocks = 1, .hidden = 4, .encoder_out = 4, .decoder_blocks = 1, .decoder_out = 4};
    caller.options.epochs = 1;
    onet_train_options whole;
    onet_train_defaults(&whole, sizeof whole);
    whole.settings = caller.options.settings;
    whole.epochs = 1;
    /* What stands behind the older struct (an absurd learning rate, if it were read) is not looked at: the
     * model is that of the defaults. */
    onet_sets *sets = small_sets();
    onet_model *old, *now;
    const onet_train_options *given = (const onet_train_options *)(const void *)&caller.options;
    assert_int_equal(onet_train(&old, sets, NULL, given, &err), ONET_OK);
    assert_int_equal(onet_train(&now, sets, NULL, &whole, &err), ONET_OK);
    assert_string_equal(onet_model_record(old, "loss"), onet_model_record(now, "loss"));
    onet_model_free(old);
    onet_model_free(now);
    onet_sets_free(sets);
}

static void newer_options(void **state) {
    onet_order_options own = {.size = sizeof own};
    new_order_options newer = {.known = {.size = sizeof newer, .beam = 7}};
    assert_int_equal(sized_take(&own, sizeof own, &newer, "onet_order_options", &err), ONET_OK);
    assert_int_equal(own.beam, 7);
    assert_int_equal(own.size, sizeof own);
    newer.later = 1;
    assert_int_equal(sized_take(&own, sizeof own, &newer, "onet_order_options", &err), ONET_USAGE);
    assert_non_null(strstr(err.text, "onet_order_options"));
    assert_non_null(strstr(err.text, "use a newer library"));
    memset(&newer, 0x5A, sizeof newer);
    onet_order_defaults(&newer.known, sizeof newer);
    assert_int_equal(newer.known.size, sizeof newer);
    assert_int_equal(newer.later, 0);
}

static void size_not_set(void **state) {
    onet_sets *sets = small_sets();
    onet_model *model;
    onet_train_options none = {.batch = 4};
    assert_int_equal(onet_train(&model, sets, NULL, &none, &err), ONET_USAGE);
    assert_string_equal(err.text, "onet_train_options.size is 0; set it to sizeof(onet_train_options)");
    onet_read_options garbage;
    memset(&garbage, 0x5A, sizeof garbage);
    onet_sets *read;
    assert_int_equal(onet_sets_read(&read, "no such file", &garbage, &err), ONET_USAGE);
    assert_null(read);
    onet_sets_free(sets);
}

static void reserved_settings(void **state) {
    onet_sets *sets = small_sets();
    onet_model *model;
    onet_train_options o;
    onet_train_defaults(&o, sizeof o);
    o.settings.reserved[2] = 1;
    assert_int_equal(onet_train(&model, sets, NULL, &o, &err), ONET_USAGE);
    assert_string_equal(err.text, "reserved[2] of onet_settings is 1; it must be 0");
    onet_sets_free(sets);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(older_train_options),
        cmocka_unit_test(newer_options),
        cmocka_unit_test(size_not_set),
        cmocka_unit_test(reserved_settings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
