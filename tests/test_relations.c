/* Tests relations between items through the public API: learning from them alone, answers independent of what
 * else is in the batch, files, merging, fine-tuning, importance, and what is refused. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/rng.h"
#include "engine/data/sets.h"
#include "ordernet_io.h"
#include "ordernet_measure.h"
#include "ordernet_train.h"
#include "unit.h"

/* Items in a hidden chain: the first relation is small from an item to the next one, the second is noise. */
static onet_sets *chains(size_t count, int smallest, int largest, int width, uint64_t seed) {
    onet_error err;
    onet_sets *sets;
    rng r;
    rng_seed(&r, seed, 1);
    assert_int_equal(sets_new(&sets, width, &err), ONET_OK);
    for (size_t s = 0; s < count; s++) {
        int n = smallest + (int)rng_below(&r, (uint64_t)(largest - smallest + 1));
        size_t place[32];
        int32_t order[32];
        float items[32 * 2] = {0}, e[32 * 32 * 2];
        rng_permutation(&r, place, (size_t)n);
        for (int i = 0; i < n; i++) order[place[i]] = i;
        for (int i = 0; i < n * n; i++) {
            bool next = place[i % n] == place[i / n] + 1;
            e[2 * i] = (float)(100 + 10 * (next ? 0.2 : 1) * rng_uniform(&r) + (next ? 0 : 3));
            e[2 * i + 1] = i / n == i % n ? NAN : (float)rng_normal(&r);
        }
        for (int i = 0; i < n * width; i++) items[i] = (float)rng_uniform(&r);
        assert_int_equal(sets_append(sets, (size_t)n, width, items, order, &err), ONET_OK);
        assert_int_equal(sets_append_pairs(sets, 2, e, &err), ONET_OK);
    }
    assert_int_equal(sets_name_pairs(sets, "gap\nnoise", &err), ONET_OK);
    return sets;
}

static onet_train_options options(int epochs) {
    onet_train_options o;
    onet_train_defaults(&o, sizeof o);
    o.epochs = epochs;
    o.threads = 2;
    o.settings.hidden = 24;
    o.settings.encoder_blocks = o.settings.decoder_blocks = 2;
    return o;
}

static onet_model *trained(const onet_sets *sets, onet_train_options o) {
    onet_error err;
    onet_model *model;
    if (onet_train(&model, sets, NULL, &o, &err)) fail_msg("%s", err.text);
    return model;
}

/* Returns the share of sets that are ordered right; writes the log-probability of each first order. */
static double right(const onet_model *model, const onet_sets *sets, onet_order_options o, double *logprob) {
    onet_error err;
    onet_orderer *orderer;
    onet_answer *answers = calloc(sets->count, sizeof *answers);
    int32_t *order = calloc(sets->start[sets->count], sizeof *order);
    double found = 0;
    o.size = sizeof o;
    o.threads = o.threads ? o.threads : 2;
    assert_int_equal(onet_orderer_new(&orderer, model, &o, &err), ONET_OK);
    for (size_t s = 0; s < sets->count; s++)
        answers[s] =
            (onet_answer){.order = order + (sets->start[s] - sets->start[0]), .logprob = logprob + s};
    if (onet_orderer_run(orderer, sets, answers, &err)) fail_msg("%s", err.text);
    for (size_t s = 0; s < sets->count; s++)
        found += !memcmp(answers[s].order, sets->order + sets->start[s], sets_size(sets, s) * sizeof *order);
    onet_orderer_free(orderer);
    free(answers);
    free(order);
    return found / (double)sets->count;
}

static void learns_from_relations_alone(void **state) {
    onet_error err;
    onet_sets *sets = chains(1500, 3, 7, 0, 1), *test = chains(200, 3, 9, 0, 2);
    onet_model *model = trained(sets, options(8));
    double one[200], other[200];
    double exact = right(model, test, (onet_order_options){.beam = 5}, one);
    if (exact < 0.85) fail_msg("%.3f of the orders are right", exact);
    assert_string_equal(onet_model_relations(model), "gap\nnoise");
    assert_int_equal(onet_model_settings(model)->relations, 2);
    assert_int_equal(onet_model_settings(model)->width, 0);
    onet_tensor tensor;
    size_t means = 0;
    for (size_t i = 0; onet_model_tensor(model, i, &tensor); i++)
        if (!strcmp(tensor.name, "input.mean") || !strcmp(tensor.name, "input.scale"))
            means += tensor.shape[0] == 2;
    assert_int_equal(means, 2);
    /* Sets one by one, in one thread, get the same answers. */
    for (size_t s = 0; s < test->count; s++) {
        onet_sets view;
        sets_slice(&view, test, s, s + 1);
        right(model, &view, (onet_order_options){.beam = 5, .threads = 1}, other + s);
    }
    assert_memory_equal(one, other, sizeof one);
    /* Plain kernels. */
    right(model, test, (onet_order_options){.beam = 5, .kernels = "plain"}, other);
    for (size_t s = 0; s < test->count; s++) assert_true(fabs(one[s] - other[s]) < 1e-3);
    /* The model from a file, and merged, answers alike. */
    void *bytes;
    size_t size;
    onet_model *again, *merged;
    assert_int_equal(onet_model_to_bytes(model, &bytes, &size, &err), ONET_OK);
    assert_int_equal(onet_model_from_bytes(&again, bytes, size, &err), ONET_OK);
    onet_bytes_free(bytes);
    right(again, test, (onet_order_options){.beam = 5}, other);
    assert_memory_equal(one, other, sizeof one);
    assert_string_equal(onet_model_relations(again), "gap\nnoise");
    assert_int_equal(onet_model_merge(&merged, (const onet_model *[]){model, again}, 2, &err), ONET_OK);
    right(merged, test, (onet_order_options){.beam = 5}, other);
    for (size_t s = 0; s < test->count; s++) assert_true(fabs(one[s] - other[s]) < 1e-3);
    /* Importance: the relation that matters, and the one that does not. */
    onet_orderer *orderer;
    onet_set_measure *each = calloc(test->count, sizeof *each);
    assert_int_equal(onet_orderer_new(&orderer, model, NULL, &err), ONET_OK);
    for (size_t s = 0; s < test->count; s++) each[s].exact = exact;
    onet_importance gap, noise;
    assert_int_equal(onet_measure_importance(&gap, orderer, test, each, 0, 1, 1, &err), ONET_OK);
    assert_int_equal(onet_measure_importance(&noise, orderer, test, each, 1, 1, 1, &err), ONET_OK);
    assert_true(gap.exact.mean > 0.5 && fabs(noise.exact.mean) < 0.15);
    assert_int_equal(onet_measure_importance(&noise, orderer, test, each, 2, 1, 1, &err), ONET_USAGE);
    onet_orderer_free(orderer);
    /* Compared with simple rules, which have no features to use. */
    onet_comparison c;
    assert_int_equal(onet_compare(&c, sets, test, NULL, NULL, &err), ONET_OK);
    assert_true(c.ranker.exact.mean < 0.2);
    assert_int_equal(c.feature, -1);
    assert_int_equal(c.column.sets, 0);
    for (size_t s = 0; s < test->count; s++) each[s].tau = each[s].neighbours = each[s].exact = s % 10 != 0;
    assert_int_equal(onet_compare(&c, sets, test, each, NULL, &err), ONET_OK);
    assert_non_null(strstr(c.sentence, "The order depends on the relations: the model (90.0% exact"));
    free(each);
    char text[2000];
    assert_int_equal(onet_sets_oddities(sets, text, sizeof text, &err), ONET_OK);
    assert_string_equal(text, ""); /* items without features are not equal to each other */
    onet_model_free(merged);
    onet_model_free(again);
    onet_model_free(model);
    onet_sets_free(sets);
    onet_sets_free(test);
}

/* Large sets with relations share a batch only as far as memory allows; others do as ever. */
static void batches_fit_memory(void **state) {
    onet_sets large = {.count = 2, .start = (size_t[]){0, 1000, 2000}, .width = 1};
    assert_int_equal(onet_train_batch(&large), 32);
    assert_int_equal(onet_train_batch_related(&large), 1);
    large.pairs = &(onet_pairs){.width = 2};
    assert_int_equal(onet_train_batch(&large), 1);
    large.start = (size_t[]){0, 500, 1000};
    assert_int_equal(onet_train_batch(&large), 4);
    large.start = (size_t[]){0, 100, 200};
    assert_int_equal(onet_train_batch(&large), 32);
    size_t start[1002] = {0}; /* one large set among many small ones */
    for (size_t s = 0; s <= 1000; s++) start[s + 1] = 1000 + s * 10;
    large.count = 1001;
    large.start = start;
    assert_int_equal(onet_train_batch(&large), 32);
}

static void checksum(const onet_sets *sets, onet_train_options o, char hex[65]) {
    onet_model *model = trained(sets, o);
    onet_model_checksum(model, hex);
    onet_model_free(model);
}

static void bits_do_not_depend_on_threads(void **state) {
    onet_sets *sets = chains(100, 2, 9, 2, 3);
    onet_train_options o = options(1);
    o.drop = 0.3;
    o.stray = 0.1;
    o.jitter = 0.1;
    char one[65], two[65];
    checksum(sets, o, one);
    o.threads = 1;
    checksum(sets, o, two);
    assert_string_equal(one, two);
    onet_sets_free(sets);
}

/* Items left out of a set take their relations with them: what is left is as if it had been given so. */
static void picked_sets_keep_their_relations(void **state) {
    onet_error err;
    onet_sets *sets = chains(4, 3, 6, 2, 4), *some, *joined;
    uint8_t take[] = {0, 1, 0, 1};
    assert_int_equal(onet_sets_pick(&some, sets, take, &err), ONET_OK);
    assert_int_equal(sets_relations(some), 2);
    assert_string_equal(some->pairs->names, "gap\nnoise");
    size_t n = sets_size(sets, 3);
    assert_memory_equal(sets_pairs(some, some->start[1]), sets_pairs(sets, sets->start[3]),
                        n * n * 2 * sizeof(float));
    assert_int_equal(onet_sets_join(&joined, (const onet_sets *[]){some, sets}, 2, &err), ONET_OK);
    assert_memory_equal(sets_pairs(joined, joined->start[1]), sets_pairs(sets, sets->start[3]),
                        n * n * 2 * sizeof(float));
    assert_int_equal(onet_sets_check(joined, &err), ONET_OK);
    onet_sets_free(some);
    onet_sets_free(joined);
    onet_sets_free(sets);
}

static void wrong_relations_are_refused(void **state) {
    onet_error err;
    onet_sets *with = chains(60, 3, 5, 2, 5), *without = NULL;
    onet_model *model = trained(with, options(1)), *plain, *tuned;
    assert_int_equal(sets_copy(&without, with, &err), ONET_OK);
    assert_int_equal(onet_sets_set_pairs(without, 0, NULL, NULL, &err), ONET_OK);
    plain = trained(without, options(1));
    onet_orderer *a, *b;
    double logprob[60];
    assert_int_equal(onet_orderer_new(&a, model, NULL, &err), ONET_OK);
    assert_int_equal(onet_orderer_new(&b, plain, NULL, &err), ONET_OK);
    assert_int_equal(onet_orderer_score(a, with, logprob, &err), ONET_OK);
    assert_int_equal(onet_orderer_score(a, without, logprob, &err), ONET_BAD);
    assert_string_equal(err.text,
                        "the sets have 0 relations between two items, but the model was trained on 2: "
                        "give the sets those of its training data");
    assert_int_equal(onet_orderer_score(b, with, logprob, &err), ONET_BAD);
    assert_int_equal(sets_name_pairs(with, "noise\ngap", &err), ONET_OK);
    assert_int_equal(onet_orderer_score(a, with, logprob, &err), ONET_BAD);
    assert_non_null(strstr(err.text, "are noise, gap, those of the model gap, noise;"));
    assert_int_equal(sets_name_pairs(with, "gap\nnoise", &err), ONET_OK);
    onet_train_options o = options(1);
    o.from = model;
    assert_int_equal(onet_train(&tuned, without, NULL, &o, &err), ONET_BAD);
    tuned = trained(with, o);
    assert_string_equal(onet_model_relations(tuned), "gap\nnoise");
    onet_model_free(tuned);
    assert_int_equal(onet_train(&tuned, with, without, &o, &err), ONET_BAD);
    assert_int_equal(onet_ranker_train(&tuned, with, NULL, &err), ONET_BAD);
    /* Values that are not finite, and too many relations. */
    with->pairs->value[1] = NAN; /* from an item to itself: ignored */
    assert_int_equal(onet_sets_check(with, &err), ONET_OK);
    with->pairs->value[2] = INFINITY;
    assert_int_equal(onet_sets_check(with, &err), ONET_BAD);
    assert_string_equal(err.text,
                        "set 1: relation 1 from item 0 to item 1 is not a finite number; leave the set "
                        "out or put a number there");
    float e[2 * 2 * 17] = {0};
    onet_sets *two;
    assert_int_equal(onet_sets_from(&two, 1, 2, 1, (float[]){1, 2}, NULL, &err), ONET_OK);
    assert_int_equal(onet_sets_set_pairs(two, 17, e, NULL, &err), ONET_BAD);
    assert_int_equal(onet_sets_set_pairs(two, 1, e, "\xff", &err), ONET_BAD);
    assert_non_null(strstr(err.text, "UTF-8"));
    assert_int_equal(onet_sets_set_pairs(two, 16, e, NULL, &err), ONET_OK);
    assert_int_equal(onet_sets_set_pairs(two, 1, e, "a\nb\nc", &err), ONET_BAD);
    assert_string_equal(err.text, "3 names for 1 relation; give a name for each");
    assert_int_equal(onet_sets_set_pairs(two, 2, e, "a\na", &err), ONET_BAD);
    assert_string_equal(err.text, "relations 1 and 2 have the same name; rename one of them");
    assert_int_equal(onet_sets_set_pairs(two, 2, e, "a\n", &err), ONET_BAD);
    assert_int_equal(sets_relations(two), 16);
    two->pairs->row[1] = 3;
    assert_int_equal(onet_sets_check(two, &err), ONET_USAGE);
    onet_sets_free(two);
    onet_orderer_free(a);
    onet_orderer_free(b);
    onet_model_free(plain);
    onet_model_free(model);
    onet_sets_free(with);
    onet_sets_free(without);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(learns_from_relations_alone), cmocka_unit_test(batches_fit_memory),
        cmocka_unit_test(bits_do_not_depend_on_threads), cmocka_unit_test(picked_sets_keep_their_relations),
        cmocka_unit_test(wrong_relations_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
