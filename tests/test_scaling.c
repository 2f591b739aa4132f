/* Tests the scaling of features: requested and automatically chosen scales, ranks within the set, the scaled
 * numbers, that training, ordering and files agree on them, and numbers such as times in seconds that float32
 * does not tell apart. */
#include <math.h>
#include <string.h>

#include "engine/base/rng.h"
#include "engine/data/columns.h"
#include "engine/data/scaling.h"
#include "engine/data/sets.h"
#include "engine/model/model.h"
#include "number_sets.h"
#include "ordernet_io.h"
#include "ordernet_measure.h"
#include "ordernet_train.h"
#include "unit.h"

static onet_error err;
#define ok(call) (assert_int_equal((call), ONET_OK))

/* ---- what is asked for ---- */

static void texts(void **state) {
    static const char *const names[] = {"x", "price", "when:utc"};
    onet_columns *columns;
    onet_scale wish[3];
    ok(onet_columns_new(&columns, 3, names, NULL, NULL, &err));
    ok(scaling_parse(NULL, 3, columns, NULL, wish, &err));
    for (int j = 0; j < 3; j++) assert_int_equal(wish[j], ONET_SCALE_AUTO);
    ok(scaling_parse("quantile:price,none:when:utc", 3, columns, NULL, wish, &err));
    assert_int_equal(wish[0], ONET_SCALE_AUTO);
    assert_int_equal(wish[1], ONET_SCALE_QUANTILE);
    assert_int_equal(wish[2], ONET_SCALE_NONE);
    ok(scaling_parse("none:x,standard", 3, columns, NULL, wish, &err));
    assert_int_equal(wish[0], ONET_SCALE_NONE);
    assert_int_equal(wish[2], ONET_SCALE_STANDARD);
    ok(scaling_parse("quantile:2", 3, NULL, NULL, wish, &err));
    assert_int_equal(wish[1], ONET_SCALE_QUANTILE);
    static const char *const wrong[] = {"",           "log",        "standard:,none",
                                        "quantile:2", "quantile:4", "standard:Price"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(scaling_parse(wrong[i], 3, columns, NULL, wish, &err), ONET_USAGE);
    /* Relations by their names, beside features. */
    ok(scaling_parse("none:time,quantile:x", 3, columns, "time\ntoll", wish, &err));
    ok(scaling_parse_relations("none:time,quantile:x", "time\ntoll", wish, &err));
    assert_true(wish[0] == ONET_SCALE_NONE && wish[1] == ONET_SCALE_AUTO);
    ok(scaling_parse_relations("quantile:toll", "time\ntoll", wish, &err));
    assert_true(wish[0] == ONET_SCALE_AUTO && wish[1] == ONET_SCALE_QUANTILE);
    ok(scaling_parse_relations("none,standard:relation 2", "relation 1\nrelation 2", wish, &err));
    assert_true(wish[0] == ONET_SCALE_NONE && wish[1] == ONET_SCALE_STANDARD);
    assert_int_equal(scaling_parse("none:0", 3, NULL, NULL, wish, &err), ONET_USAGE);
    assert_int_equal(scaling_parse("none:4", 3, NULL, NULL, wish, &err), ONET_USAGE);
    assert_int_equal(scaling_parse("none:99999999999999999999", 3, NULL, NULL, wish, &err), ONET_USAGE);
    onet_columns_free(columns);
}

/* ---- the numbers ---- */

/* One set of four items, two features. */
static onet_sets *four(void) {
    static const float items[] = {1, 10, 2, 10, 4, 30, 4, 20};
    static const int32_t order[] = {0, 1, 2, 3};
    onet_sets *sets;
    ok(onet_sets_from(&sets, 1, 4, 2, items, order, &err));
    return sets;
}

static void quantiles_and_ranks(void **state) {
    onet_sets *sets = four(), seen;
    scaling *s;
    ok(scaling_learn(&s, sets,
                     &(scaling_wish){.text = "quantile:1,standard", .within = true, .standardise = true},
                     NULL, &err));
    assert_int_equal(s->inputs, 4);
    ok(scaling_apply(s, sets, &seen, &err));
    /* Half of the items with the same value count as smaller. */
    const float meant[] = {0.125f, 10, 0,          1.0f / 6, 0.375f, 10, 1.0f / 3,   1.0f / 6,
                           0.75f,  30, 2.5f / 3.f, 1,        0.75f,  20, 2.5f / 3.f, 2.0f / 3};
    for (int i = 0; i < 16; i++) assert_true(fabsf(seen.items[i] - meant[i]) < 1e-6f);
    free(seen.items);
    /* Between the values in a straight line; beyond them in order. */
    static const float other[] = {3, 0, 0, 0, 5, 0, 50, 0};
    memcpy(sets->items, other, sizeof other);
    ok(scaling_apply(s, sets, &seen, &err));
    assert_true(fabsf(seen.items[0] - 0.5625f) < 1e-6f);
    assert_true(seen.items[4] < 0.125f && seen.items[4] > 0);
    assert_true(seen.items[8] > 0.75f && seen.items[8] < seen.items[12] && seen.items[12] < 0.86f);
    free(seen.items);
    scaling_free(s);
    onet_sets_free(sets);
}

static void one_item_has_the_middle_rank(void **state) {
    static const float items[] = {7};
    static const int32_t order[] = {0};
    onet_sets *sets, seen;
    scaling *s;
    ok(onet_sets_from(&sets, 1, 1, 1, items, order, &err));
    ok(scaling_learn(&s, sets, &(scaling_wish){.within = true, .standardise = true}, NULL, &err));
    ok(scaling_apply(s, sets, &seen, &err));
    assert_true(seen.items[0] == 7 && seen.items[1] == 0.5f);
    free(seen.items);
    scaling_free(s);
    onet_sets_free(sets);
}

/* ---- what auto chooses ---- */

typedef double draw(rng *r);
static double normal(rng *r) {
    return rng_normal(r);
}
static double uniform(rng *r) {
    return 1000 + rng_uniform(r);
}
static double exponential(rng *r) {
    return -log(1 - rng_uniform(r));
}
static double grades(rng *r) {
    return (double)rng_below(r, 5);
}
static double rare(rng *r) {
    return rng_uniform(r) < 0.01;
}
static double decades(rng *r) {
    return exp(4.6 * rng_normal(r));
}
static double clusters(rng *r) {
    return rng_uniform(r) < 0.5 ? 1.5e9 + 1e6 * rng_uniform(r) : 2000 + (double)rng_below(r, 30);
}

static onet_sets *drawn(draw *one, int count) {
    enum { SIZE = 8 };
    onet_sets *sets;
    rng r;
    rng_seed(&r, 5, 0);
    ok(sets_new(&sets, 1, &err));
    for (int s = 0; s < count; s++) {
        float items[SIZE];
        int32_t order[SIZE];
        for (int i = 0; i < SIZE; i++) items[i] = (float)one(&r);
        order_by(order, SIZE, items, 1);
        ok(sets_append(sets, SIZE, 1, items, order, &err));
    }
    return sets;
}

static void automatic(void **state) {
    static const struct {
        draw *one;
        onet_scale meant;
    } cases[] = {{normal, ONET_SCALE_STANDARD},      {uniform, ONET_SCALE_STANDARD},
                 {exponential, ONET_SCALE_STANDARD}, {grades, ONET_SCALE_STANDARD},
                 {rare, ONET_SCALE_STANDARD},        {decades, ONET_SCALE_QUANTILE},
                 {clusters, ONET_SCALE_QUANTILE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        onet_sets *sets = drawn(cases[i].one, 300);
        onet_feature feature;
        onet_train_options o;
        onet_train_defaults(&o, sizeof o);
        ok(onet_train_features(&feature, sets, &o, NULL, &err));
        assert_int_equal(feature.scale, cases[i].meant);
        assert_int_equal(feature.within, cases[i].meant == ONET_SCALE_QUANTILE);
        assert_int_equal(feature.crowded, cases[i].meant == ONET_SCALE_QUANTILE);
        o.scale = "standard";
        ok(onet_train_features(&feature, sets, &o, NULL, &err));
        assert_int_equal(feature.scale, ONET_SCALE_STANDARD);
        o.scale = NULL;
        o.standardise = 0;
        ok(onet_train_features(&feature, sets, &o, NULL, &err));
        assert_int_equal(feature.scale, ONET_SCALE_NONE);
        onet_sets_free(sets);
    }
}

/* ---- a model ---- */

static onet_train_options small(void) {
    onet_train_options o;
    onet_train_defaults(&o, sizeof o);
    o.settings.encoder_blocks = o.settings.decoder_blocks = 1;
    o.settings.hidden = 8;
    o.settings.encoder_out = o.settings.decoder_out = 4;
    o.epochs = 6;
    o.threads = 1;
    o.device = "cpu";
    return o;
}

static double exact(const onet_model *model, const onet_sets *sets) {
    onet_orderer *orderer;
    onet_report report;
    onet_answer *answers = calloc(sets->count, sizeof *answers);
    int32_t *order = calloc(sets->start[sets->count], sizeof *order);
    for (size_t s = 0; s < sets->count; s++) answers[s].order = order + sets->start[s];
    ok(onet_orderer_new(&orderer, model, NULL, &err));
    ok(onet_orderer_run(orderer, sets, answers, &err));
    ok(onet_measure_sets(&report, sets, answers, NULL, 0, &err));
    onet_orderer_free(orderer);
    free(answers);
    free(order);
    return report.exact.mean;
}

static void learns_decades(void **state) {
    onet_sets *sets = drawn(decades, 300);
    onet_model *model, *again, *merged;
    onet_train_options o = small();
    ok(onet_train(&model, sets, sets, &o, &err));
    assert_int_equal(onet_model_width(model), 1);
    assert_int_equal(onet_model_settings(model)->width, 2);
    onet_feature feature;
    assert_int_equal(onet_model_feature(model, 0, &feature), 1);
    assert_int_equal(feature.scale, ONET_SCALE_QUANTILE);
    assert_int_equal(feature.within, 1);
    assert_true(exact(model, sets) > 0.95);
    /* A file keeps it, to the bit. */
    void *bytes, *other;
    size_t size, other_size;
    ok(onet_model_to_bytes(model, &bytes, &size, &err));
    ok(onet_model_from_bytes(&again, bytes, size, &err));
    assert_true(scaling_same(model->scaling, again->scaling));
    ok(onet_model_to_bytes(again, &other, &other_size, &err));
    assert_int_equal(size, other_size);
    assert_memory_equal(bytes, other, size);
    assert_non_null(memmem(bytes, size, "\"format_version\":\"3\"", 20));
    ok(onet_model_merge(&merged, (const onet_model *const[]){model, again}, 2, &err));
    assert_true(exact(merged, sets) > 0.95);
    /* A model with another scale cannot be merged with it. */
    onet_model *plain, *none = NULL;
    o.scale = "quantile";
    o.within = 1;
    o.epochs = 1;
    ok(onet_train(&plain, sets, NULL, &o, &err));
    assert_true(scaling_same(plain->scaling, model->scaling)); /* the same asked for by name */
    plain->scaling->level[3] += 1e-6;
    assert_int_equal(onet_model_merge(&none, (const onet_model *const[]){model, plain}, 2, &err), ONET_BAD);
    /* Fine-tuning keeps it. */
    onet_model *tuned;
    o = small();
    o.epochs = 1;
    o.from = model;
    ok(onet_train(&tuned, sets, sets, &o, &err));
    assert_true(scaling_same(model->scaling, tuned->scaling));
    assert_true(exact(tuned, sets) > 0.9);
    /* Sets as wide as the net's input, which has more features than the data, are refused. */
    onet_sets wide = *sets;
    wide.width = 2;
    wide.count = 1;
    onet_orderer *orderer;
    int32_t order[8];
    onet_answer answer = {.order = order};
    ok(onet_orderer_new(&orderer, model, NULL, &err));
    assert_int_equal(onet_orderer_run(orderer, &wide, &answer, &err), ONET_BAD);
    onet_orderer_free(orderer);
    onet_bytes_free(bytes);
    onet_bytes_free(other);
    onet_model_free(tuned);
    onet_model_free(plain);
    onet_model_free(merged);
    onet_model_free(again);
    onet_model_free(model);
    onet_sets_free(sets);
}

/* Well-behaved features give the model that they gave before there were scales. */
static void plain_stays_plain(void **state) {
    onet_sets *sets = drawn(normal, 100);
    onet_model *model;
    onet_train_options o = small();
    void *bytes[2];
    size_t size[2];
    for (int i = 0; i < 2; i++) {
        o.scale = i ? "auto" : NULL;
        ok(onet_train(&model, sets, NULL, &o, &err));
        assert_null(model->scaling);
        ok(onet_model_to_bytes(model, &bytes[i], &size[i], &err));
        onet_model_free(model);
    }
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(bytes[0], bytes[1], size[0]);
    assert_non_null(memmem(bytes[0], size[0], "\"format_version\":\"1\"", 20));
    onet_bytes_free(bytes[0]);
    onet_bytes_free(bytes[1]);
    onet_sets_free(sets);
}

/* The same data times a tiny factor: standardised all the same. */
static void tiny_deviations(void **state) {
    static const float factor[] = {1, 1e-12f, 1e-30f, 1e30f};
    for (size_t f = 0; f < sizeof factor / sizeof *factor; f++) {
        onet_sets *sets = drawn(normal, 300);
        for (size_t i = 0; i < sets->start[sets->count]; i++) sets->items[i] *= factor[f];
        onet_model *model;
        onet_train_options o = small();
        ok(onet_train(&model, sets, NULL, &o, &err));
        assert_true(exact(model, sets) > 0.9);
        onet_model_free(model);
        onet_sets_free(sets);
    }
}

/* ---- times in seconds ---- */

/* Sets of six times, a second to a minute apart, in float32 all but equal. near: in the same hour. */
static onet_sets *times(bool near, int count) {
    enum { SIZE = 6 };
    onet_sets *sets;
    rng r;
    rng_seed(&r, 9, near);
    ok(onet_sets_new(&sets, 1, &err));
    for (int s = 0; s < count; s++) {
        double value[SIZE], first = 1.7e9 + (near ? 0 : (double)rng_below(&r, 100000000));
        int32_t order[SIZE];
        for (int i = 0; i < SIZE; i++) {
            value[i] = first + 60 * i + (double)rng_below(&r, 60);
            order[i] = i;
        }
        for (int i = SIZE - 1; i > 0; i--) { /* the right order is known before they are shuffled */
            int k = (int)rng_below(&r, (uint32_t)i + 1);
            double swap = value[i];
            value[i] = value[k];
            value[k] = swap;
            int32_t other = order[i];
            order[i] = order[k];
            order[k] = other;
        }
        int32_t right[SIZE];
        for (int i = 0; i < SIZE; i++) right[order[i]] = i;
        ok(onet_sets_append_doubles(sets, SIZE, 1, value, right, &err));
    }
    return sets;
}

static void seconds_are_told_apart(void **state) {
    for (int near = 0; near < 2; near++) {
        onet_sets *sets = times(near, 300), *part;
        assert_non_null(sets->exact);
        onet_train_options o = small();
        onet_feature feature;
        size_t equal;
        ok(onet_train_features(&feature, sets, &o, &equal, &err));
        assert_int_equal(feature.scale, near ? ONET_SCALE_STANDARD : ONET_SCALE_QUANTILE);
        assert_int_equal(feature.centred, near);
        assert_int_equal(equal, 0);
        onet_model *model;
        o.epochs = 10;
        ok(onet_train(&model, sets, sets, &o, &err));
        assert_true(exact(model, sets) > 0.95);
        /* Part of the sets, one set, or all: the same answers. */
        uint8_t take[300] = {0};
        for (int s = 0; s < 300; s += 7) take[s] = 1;
        ok(onet_sets_pick(&part, sets, take, &err));
        assert_non_null(part->exact);
        assert_true(exact(model, part) > 0.9);
        onet_sets one;
        sets_slice(&one, sets, 299, 300);
        assert_true(exact(model, &one) >= 0);
        /* In float32 the data are others: most of their items are equal, and the model cannot know. */
        onet_sets blurred = *sets;
        blurred.exact = NULL;
        ok(onet_train_features(&feature, &blurred, &o, &equal, &err));
        assert_int_equal(equal, 0);
        onet_model_free(model);
        onet_sets_free(part);
        onet_sets_free(sets);
    }
}

static void ranker_centres(void **state) {
    onet_sets *sets = times(true, 100);
    onet_model *model;
    ok(onet_ranker_train(&model, sets, NULL, &err));
    assert_true(exact(model, sets) > 0.99);
    onet_model_free(model);
    onet_sets_free(sets);
}

/* Values that differ count as different, though the net sees them as one. */
static void equal_in_float32(void **state) {
    onet_sets *sets;
    static const double value[] = {1, 1 + 1e-9, 5, 1e6};
    static const int32_t right[] = {0, 1, 2, 3};
    int32_t found[] = {1, 0, 2, 3};
    ok(onet_sets_new(&sets, 1, &err));
    for (int s = 0; s < 30; s++) ok(onet_sets_append_doubles(sets, 4, 1, value, right, &err));
    onet_train_options o = small();
    o.scale = "none";
    onet_feature feature;
    size_t equal;
    ok(onet_train_features(&feature, sets, &o, &equal, &err));
    assert_int_equal(equal, 60);
    sets->count = 1;
    onet_report report;
    ok(onet_measure_sets(&report, sets, &(onet_answer){.order = found}, NULL, 0, &err));
    assert_true(report.exact.mean == 0);
    double *kept = sets->exact;
    sets->exact = NULL;
    ok(onet_measure_sets(&report, sets, &(onet_answer){.order = found}, NULL, 0, &err));
    assert_true(report.exact.mean == 1);
    /* items and exact must agree. */
    sets->exact = kept;
    sets->items[2] = 6;
    assert_int_equal(onet_sets_check(sets, &err), ONET_USAGE);
    sets->items[2] = 5;
    sets->count = 30;
    onet_sets_free(sets);
}

/* Files keep what float32 would lose, and nothing else. */
static void files_keep_doubles(void **state) {
    static const char *const names[] = {"scaling.jsonl", "scaling.csv", "scaling.npz", "scaling.safetensors"};
    onet_sets *sets[2] = {times(true, 20), drawn(normal, 20)}, *again;
    for (size_t i = 0; i < 8; i++) {
        char path[64];
        const onet_sets *from = sets[i % 2];
        snprintf(path, sizeof path, "/tmp/%ld-%s", (long)getpid(), names[i / 2]);
        ok(onet_sets_write(from, path, ONET_FORMAT_AUTO, &err));
        ok(onet_sets_read(&again, path, NULL, &err));
        size_t count = from->start[from->count];
        assert_true(!again->exact == !from->exact);
        assert_memory_equal(again->items, from->items, count * sizeof *from->items);
        if (from->exact) assert_memory_equal(again->exact, from->exact, count * sizeof *from->exact);
        onet_sets_free(again);
        remove(path);
    }
    onet_sets_free(sets[0]);
    onet_sets_free(sets[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts),
        cmocka_unit_test(quantiles_and_ranks),
        cmocka_unit_test(one_item_has_the_middle_rank),
        cmocka_unit_test(automatic),
        cmocka_unit_test(learns_decades),
        cmocka_unit_test(plain_stays_plain),
        cmocka_unit_test(tiny_deviations),
        cmocka_unit_test(seconds_are_told_apart),
        cmocka_unit_test(ranker_centres),
        cmocka_unit_test(equal_in_float32),
        cmocka_unit_test(files_keep_doubles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
