/* Tests relations made from features, and quantiles of relations, through the public API: made ones give the
 * very bits of the same numbers given as relations, in training and in ordering; files, merging, fine-tuning
 * and half precision keep them; large sets are ordered in parts; and what is refused. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/rng.h"
#include "engine/data/sets.h"
#include "ordernet_io.h"
#include "ordernet_train.h"
#include "ordernet_words.h"
#include "unit.h"

enum { WIDTH = 3, SETS = 120 };

/* Places x, y and a kind of 0 or 1, ordered along x. */
static onet_sets *places(size_t count, uint64_t seed) {
    onet_error err;
    onet_sets *sets;
    rng r;
    rng_seed(&r, seed, 1);
    assert_int_equal(sets_new(&sets, WIDTH, &err), ONET_OK);
    for (size_t s = 0; s < count; s++) {
        float items[8 * WIDTH];
        int32_t order[8];
        int n = 2 + (int)rng_below(&r, 7);
        for (int i = 0; i < n; i++) {
            items[i * WIDTH] = (float)rng_uniform(&r);
            items[i * WIDTH + 1] = (float)(10 * rng_normal(&r));
            items[i * WIDTH + 2] = (float)rng_below(&r, 2);
        }
        for (int i = 0; i < n; i++) {
            int place = 0;
            for (int j = 0; j < n; j++) place += items[j * WIDTH] < items[i * WIDTH];
            order[place] = i;
        }
        assert_int_equal(sets_append(sets, (size_t)n, WIDTH, items, order, &err), ONET_OK);
    }
    return sets;
}

enum { MADE = 5 };
static const char made[] = "distance:1+2,difference:1+2,product:2+3,equal:3";
static const char made_names[] = "distance:1+2\ndifference:1\ndifference:2\nproduct:2+3\nequal:3";

/* Gives the sets, as numbers, the relations that a model makes of their features. */
static void give_made(onet_sets *sets) {
    onet_error err;
    size_t pairs = 0, at = 0;
    for (size_t s = 0; s < sets->count; s++) pairs += sets_size(sets, s) * sets_size(sets, s);
    float *e = calloc(pairs, MADE * sizeof *e);
    for (size_t s = 0; s < sets->count; s++)
        for (size_t i = 0, n = sets_size(sets, s); i < n; i++)
            for (size_t j = 0; j < n; j++, at += MADE) {
                const float *a = sets_item(sets, sets->start[s] + i),
                            *b = sets_item(sets, sets->start[s] + j);
                double x = (double)b[0] - (double)a[0], y = (double)b[1] - (double)a[1];
                e[at] = (float)sqrt(x * x + y * y);
                e[at + 1] = (float)x;
                e[at + 2] = (float)y;
                e[at + 3] = (float)((double)a[1] * (double)b[1] + (double)a[2] * (double)b[2]);
                e[at + 4] = a[2] == b[2];
            }
    assert_int_equal(onet_sets_set_pairs(sets, MADE, e, made_names, &err), ONET_OK);
    free(e);
}

static onet_train_options options(void) {
    onet_train_options o;
    onet_train_defaults(&o, sizeof o);
    o.epochs = 2;
    o.threads = 2;
    o.settings.hidden = 16;
    o.settings.encoder_blocks = o.settings.decoder_blocks = 2;
    return o;
}

static onet_model *trained(const onet_sets *sets, onet_train_options o) {
    onet_error err;
    onet_model *model;
    if (onet_train(&model, sets, sets, &o, &err)) fail_msg("%s", err.text);
    return model;
}

static void scores(const onet_model *model, const onet_sets *sets, double *logprob) {
    onet_error err;
    onet_orderer *orderer;
    onet_order_options o = {.size = sizeof o, .threads = 2};
    assert_int_equal(onet_orderer_new(&orderer, model, &o, &err), ONET_OK);
    if (onet_orderer_score(orderer, sets, logprob, &err)) fail_msg("%s", err.text);
    onet_orderer_free(orderer);
}

static void assert_same_scores(const onet_model *a, const onet_sets *of_a, const onet_model *b,
                               const onet_sets *of_b) {
    double one[SETS], other[SETS];
    scores(a, of_a, one);
    scores(b, of_b, other);
    assert_memory_equal(one, other, of_a->count * sizeof *one);
}

/* Returns the model after saving and loading it. */
static onet_model *reloaded(const onet_model *model) {
    onet_error err;
    void *bytes;
    size_t size;
    onet_model *again;
    char before[65], after[65];
    assert_int_equal(onet_model_to_bytes(model, &bytes, &size, &err), ONET_OK);
    if (onet_model_from_bytes(&again, bytes, size, &err)) fail_msg("%s", err.text);
    onet_bytes_free(bytes);
    onet_model_checksum(model, before);
    onet_model_checksum(again, after);
    assert_string_equal(before, after);
    return again;
}

static void made_ones_are_as_given(void **state) {
    (void)state;
    onet_error err;
    onet_sets *sets = places(SETS, 1), *given;
    assert_int_equal(sets_copy(&given, sets, &err), ONET_OK);
    give_made(given);
    for (int quantiles = 0; quantiles < 2; quantiles++) {
        onet_train_options o = options();
        o.scale = quantiles ? "quantile:distance:1+2,none:equal:3" : "auto";
        o.drop = 0.2;
        onet_model *by_hand = trained(given, o);
        o.relate = made;
        onet_model *model = trained(sets, o), *again = reloaded(model);
        assert_int_equal(onet_model_settings(model)->relations, MADE);
        assert_int_equal(onet_model_given_relations(model), 0);
        assert_int_equal(onet_model_given_relations(by_hand), MADE);
        assert_string_equal(onet_model_relate(again), made);
        assert_null(onet_model_relate(by_hand));
        assert_null(onet_model_relations(again));
        assert_same_scores(model, sets, by_hand, given);
        assert_same_scores(again, sets, by_hand, given);
        /* Merged, and fine-tuned in half precision. */
        onet_model *merged, *tuned, *half;
        assert_int_equal(onet_model_merge(&merged, (const onet_model *[]){model, again}, 2, &err), ONET_OK);
        double one[SETS], other[SETS];
        scores(model, sets, one);
        scores(merged, sets, other);
        for (size_t s = 0; s < SETS; s++) assert_true(fabs(one[s] - other[s]) < 1e-3);
        assert_int_equal(onet_model_merge(&tuned, (const onet_model *[]){model, by_hand}, 2, &err), ONET_BAD);
        assert_non_null(strstr(err.text, "relations"));
        onet_train_options more = options();
        more.from = model;
        more.half = 1;
        tuned = trained(sets, more);
        half = reloaded(tuned);
        assert_string_equal(onet_model_relate(half), made);
        assert_same_scores(tuned, sets, half, sets);
        more.from = by_hand;
        onet_model *tuned_by_hand = trained(given, more);
        assert_same_scores(tuned, sets, tuned_by_hand, given);
        more.relate = made;
        onet_model *none;
        assert_int_equal(onet_train(&none, sets, NULL, &more, &err), ONET_USAGE);
        onet_model *all[] = {by_hand, model, again, merged, tuned, half, tuned_by_hand};
        for (size_t k = 0; k < sizeof all / sizeof *all; k++) onet_model_free(all[k]);
    }
    onet_sets_free(sets);
    onet_sets_free(given);
}

/* Beside relations that the sets have, whose names and quantiles stay theirs. */
static void made_ones_stand_behind_given_ones(void **state) {
    (void)state;
    onet_error err;
    onet_sets *sets = places(SETS, 2), *both, *bare;
    assert_int_equal(sets_copy(&bare, sets, &err), ONET_OK);
    give_made(sets);
    assert_int_equal(sets_copy(&both, sets, &err), ONET_OK);
    /* The distance comes with the sets, the product is made. */
    size_t pairs = sets->pairs->row[sets->start[SETS] - 1] + sets_size(sets, SETS - 1);
    float *first = calloc(pairs, sizeof *first), *two = calloc(pairs, 2 * sizeof *two);
    for (size_t k = 0; k < pairs; k++) {
        first[k] = two[2 * k] = sets->pairs->value[k * MADE];
        two[2 * k + 1] = sets->pairs->value[k * MADE + 3];
    }
    assert_int_equal(onet_sets_set_pairs(sets, 1, first, "far", &err), ONET_OK);
    assert_int_equal(onet_sets_set_pairs(both, 2, two, "far\nproduct:2+3", &err), ONET_OK);
    onet_train_options o = options();
    o.scale = "quantile:far";
    onet_model *by_hand = trained(both, o);
    o.relate = "product:2+3";
    onet_model *model = trained(sets, o), *again = reloaded(model);
    assert_int_equal(onet_model_given_relations(again), 1);
    assert_int_equal(onet_model_settings(again)->relations, 2);
    assert_string_equal(onet_model_relations(again), "far");
    assert_same_scores(again, sets, by_hand, both);
    double logprob[SETS];
    onet_orderer *orderer;
    assert_int_equal(onet_orderer_new(&orderer, model, NULL, &err), ONET_OK);
    assert_int_equal(onet_orderer_score(orderer, bare, logprob, &err), ONET_BAD);
    assert_int_equal(onet_orderer_score(orderer, both, logprob, &err), ONET_BAD);
    onet_orderer_free(orderer);
    free(first);
    free(two);
    onet_model_free(by_hand);
    onet_model_free(model);
    onet_model_free(again);
    onet_sets_free(sets);
    onet_sets_free(both);
    onet_sets_free(bare);
}

/* Quantiles see the order of the values alone: any rising function of them gives the same model. */
static void quantiles_ignore_the_measure(void **state) {
    (void)state;
    onet_error err;
    onet_sets *sets = places(40, 3), *curved;
    give_made(sets);
    assert_int_equal(sets_copy(&curved, sets, &err), ONET_OK);
    size_t numbers = (curved->pairs->row[curved->start[40] - 1] + sets_size(curved, 39)) * MADE;
    for (size_t k = 0; k < numbers; k += MADE) /* the distances; exact in float32 */
        curved->pairs->value[k] *= 1024;
    onet_train_options o = options();
    o.scale = "quantile";
    onet_model *one = trained(sets, o), *other = trained(curved, o);
    assert_same_scores(one, sets, other, curved);
    /* Far beyond all that was seen: still numbers. */
    for (size_t k = 0; k < numbers; k++) curved->pairs->value[k] *= 1e30f;
    double logprob[SETS];
    scores(other, curved, logprob);
    for (size_t s = 0; s < 40; s++) assert_true(isfinite(logprob[s]));
    onet_model_free(one);
    onet_model_free(other);
    onet_sets_free(sets);
    onet_sets_free(curved);
}

/* Values that float32 cannot tell apart are compared in double. */
static void doubles_are_related_in_double(void **state) {
    (void)state;
    onet_error err;
    onet_sets *sets, *given;
    rng r;
    rng_seed(&r, 5, 1);
    assert_int_equal(sets_new(&sets, 2, &err), ONET_OK);
    assert_int_equal(sets_new(&given, 2, &err), ONET_OK);
    for (int s = 0; s < SETS; s++) { /* two items have one number, the third comes first */
        double id[6];
        float e[9];
        int odd = (int)rng_below(&r, 3);
        for (int i = 0; i < 3; i++) {
            id[2 * i] = 1e9 + (i == odd);
            id[2 * i + 1] = rng_uniform(&r);
        }
        for (int k = 0; k < 9; k++) e[k] = id[2 * (k / 3)] == id[2 * (k % 3)];
        int32_t order[3] = {odd, odd ? 0 : 1, odd == 2 ? 1 : 2};
        assert_int_equal(onet_sets_append_doubles(sets, 3, 2, id, order, &err), ONET_OK);
        assert_int_equal(onet_sets_append_doubles(given, 3, 2, id, order, &err), ONET_OK);
        assert_int_equal(sets_append_pairs(given, 1, e, &err), ONET_OK);
    }
    for (int plain = 0; plain < 2; plain++) { /* also where the features are taken as they are */
        onet_train_options o = options();
        o.standardise = !plain;
        onet_model *by_hand = trained(given, o);
        o.relate = "equal:1";
        onet_model *model = trained(sets, o), *again = reloaded(model);
        assert_same_scores(again, sets, by_hand, given);
        onet_model_free(by_hand);
        onet_model_free(model);
        onet_model_free(again);
    }
    onet_sets_free(sets);
    onet_sets_free(given);
}

/* Sets that take more memory than a part may have: each is answered as it is alone. */
static void large_sets_go_in_parts(void **state) {
    (void)state;
    enum { LARGE = 2900 };
    onet_error err;
    onet_sets *sets = places(SETS, 4), *large;
    onet_train_options o = options();
    o.settings.hidden = o.settings.encoder_out = o.settings.decoder_out = 2;
    o.settings.encoder_blocks = o.settings.decoder_blocks = 1;
    o.relate = "distance:1+2";
    onet_model *model = trained(sets, o);
    float *items = malloc(LARGE * WIDTH * sizeof *items);
    assert_int_equal(sets_new(&large, WIDTH, &err), ONET_OK);
    rng r;
    rng_seed(&r, 6, 1);
    for (int s = 0; s < 3; s++) {
        int n = s == 1 ? 5 : LARGE;
        for (int i = 0; i < n * WIDTH; i++) items[i] = (float)rng_normal(&r);
        assert_int_equal(sets_append(large, (size_t)n, WIDTH, items, NULL, &err), ONET_OK);
    }
    onet_orderer *orderer;
    onet_order_options how = {.size = sizeof how, .threads = 2, .decode = ONET_GREEDY};
    assert_int_equal(onet_orderer_new(&orderer, model, &how, &err), ONET_OK);
    int32_t *order = malloc(2 * (2 * LARGE + 5) * sizeof *order);
    double logprob[6];
    onet_answer answer[3], alone[3];
    for (size_t s = 0; s < 3; s++) {
        answer[s] = (onet_answer){.order = order + large->start[s], .logprob = logprob + s};
        alone[s] =
            (onet_answer){.order = order + 2 * LARGE + 5 + large->start[s], .logprob = logprob + 3 + s};
    }
    /* The third one is in a part of its own, and named by its number all the same. */
    large->items[(LARGE + 5) * WIDTH] = -3e38f;
    large->items[(LARGE + 5 + 1) * WIDTH] = 3e38f;
    assert_int_equal(onet_orderer_run(orderer, large, answer, &err), ONET_BAD);
    assert_non_null(strstr(err.text, "set 3: relation `distance:1+2` from item 0 to item 1 is out of range"));
    large->items[(LARGE + 5) * WIDTH] = large->items[(LARGE + 5 + 1) * WIDTH] = 1;
    assert_int_equal(onet_orderer_run(orderer, large, answer, &err), ONET_OK);
    for (size_t s = 0; s < 3; s++) {
        onet_sets one;
        sets_slice(&one, large, s, s + 1);
        assert_int_equal(onet_orderer_run(orderer, &one, alone + s, &err), ONET_OK);
    }
    assert_memory_equal(order, order + 2 * LARGE + 5, (2 * LARGE + 5) * sizeof *order);
    assert_memory_equal(logprob, logprob + 3, 3 * sizeof *logprob);
    /* More than any memory should be asked for. */
    enum { HUGE = 50000 };
    onet_sets huge = {.count = 1, .width = WIDTH, .start = (size_t[]){0, HUGE}};
    huge.items = calloc(HUGE * WIDTH, sizeof *huge.items);
    assert_int_equal(onet_orderer_run(orderer, &huge, answer, &err), ONET_BAD);
    assert_non_null(strstr(err.text, "2500000000 pairs of items are too many"));
    free(huge.items);
    onet_orderer_free(orderer);
    free(order);
    free(items);
    onet_model_free(model);
    onet_sets_free(sets);
    onet_sets_free(large);
}

static void wrong_lists_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *says;
    } all[] = {{"", "relation \"\": expected distance, difference, product or equal"},
               {"nearness", "relation \"nearness\": expected distance, difference"},
               {"distance:", "relation \"distance:\": expected"},
               {"distance,", NULL},
               {"distance:4", "there is no feature `4`; they have no names, and go by number from 1"},
               {"distance:0", "there is no feature `0`"},
               {"distance:99999999999999999999", "there is no feature `99999999999999999999`"},
               {"distance:1+", "a column is expected behind `1+`"},
               {"distance:1++2", "there is no feature ``"},
               {"difference:1,difference:1+2", "relation `difference:1` is there twice"},
               {"distance:1,difference,product,product:1,product:2,product:3,equal,equal:1,equal:2,equal:3,"
                "distance,distance:2,distance:3,distance:1+2,distance:1+3,distance:2+3",
                "more than 16 relations"}};
    onet_error err;
    onet_sets *sets = places(10, 7);
    onet_train_options o = options();
    onet_model *model;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        o.relate = all[k].text;
        onet_status status = onet_train(&model, sets, NULL, &o, &err);
        if (!all[k].says) {
            assert_int_equal(status, ONET_OK);
            onet_model_free(model);
            continue;
        }
        if (status != ONET_USAGE || !strstr(err.text, all[k].says)) fail_msg("%s: %s", all[k].text, err.text);
        assert_string_equal(err.field, "onet_train_options.relate");
    }
    /* Relations are not made from words, nor from sets without features. */
    o.relate = "distance";
    float e[4] = {0};
    onet_sets *bare;
    size_t start[] = {0, 2};
    int32_t order[] = {0, 1};
    assert_int_equal(sets_new(&bare, 0, &err), ONET_OK);
    assert_int_equal(sets_append(bare, 2, 0, e, order, &err), ONET_OK);
    assert_int_equal(sets_append_pairs(bare, 1, e, &err), ONET_OK);
    assert_int_equal(onet_train(&model, bare, NULL, &o, &err), ONET_USAGE);
    assert_non_null(strstr(err.text, "the items have none"));
    onet_words *words;
    float vector[2] = {1, 2};
    const char *text[] = {"a", "b"};
    assert_int_equal(onet_words_from(&words, 2, 1, text, NULL, vector, &err), ONET_OK);
    onet_sets of_words = {
        .count = 1, .width = 1, .start = start, .word = (int32_t[]){0, 1}, .words = words, .order = order};
    assert_int_equal(onet_train(&model, &of_words, NULL, &o, &err), ONET_USAGE);
    assert_non_null(strstr(err.text, "the items are words"));
    onet_words_free(words);
    onet_sets_free(bare);
    onet_sets_free(sets);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(made_ones_are_as_given),       cmocka_unit_test(made_ones_stand_behind_given_ones),
        cmocka_unit_test(quantiles_ignore_the_measure), cmocka_unit_test(doubles_are_related_in_double),
        cmocka_unit_test(large_sets_go_in_parts),       cmocka_unit_test(wrong_lists_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
