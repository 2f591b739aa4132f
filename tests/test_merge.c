/* Tests merged models: the probabilities are those of the mean of the logits, for networks of different
 * widths and features, both pools, relative features, statistics by size; incompatible models are refused,
 * and the message names the difference. */
#include <math.h>

#include "engine/model/model.h"
#include "ordernet_measure.h"
#include "random_model.h"

/* Returns the probabilities of every item at each step of the set's own order: [n, n]. */
static double *choices(const onet_model *m, const onet_sets *set) {
    onet_orderer *r;
    onet_error err;
    size_t n = sets_size(set, 0);
    double *p = need(calloc(n * n, sizeof *p));
    assert_int_equal(onet_orderer_new(&r, m,
                                      &(onet_order_options){.size = sizeof(onet_order_options), .threads = 1},
                                      &err),
                     ONET_OK);
    assert_int_equal(onet_orderer_choices(r, set, p, &err), ONET_OK);
    onet_orderer_free(r);
    return p;
}

static void size_statistics(onet_model *m, uint64_t seed) {
    m->sized = true;
    m->inverse_size = 0.1f;
    m->smallest_size = 3;
    for (size_t i = 0; i < m->sh.total - m->sh.trained; i++)
        m->slope[i] = (float)(generated_uniform(seed, 5, i) - 0.5);
    size_t count = m->sh.total - m->sh.trained;
    assert_true(model_make_rows(m, 2));
    m->row_size[0] = 4;
    m->row_size[1] = 7;
    for (size_t i = 0; i < 2 * count; i++) m->row[i] = (float)(0.5 + generated_uniform(seed, 6, i));
}

enum { N = 8, MOST = 4 };

/* Merges models, and compares the result with the mean of their logits, which the log-probabilities are up to
 * a constant. Frees them. */
static void compare_models(onet_model **one, size_t count) {
    onet_model *all;
    onet_error err;
    assert_int_equal(onet_model_merge(&all, (const onet_model *const *)one, count, &err), ONET_OK);
    for (int n = 1; n <= N; n++) {
        onet_sets *set = random_sets(model_width(one[0]), 1, n, n, (uint64_t)n);
        double *got = choices(all, set), *of[MOST];
        for (size_t k = 0; k < count; k++) of[k] = choices(one[k], set);
        for (int t = 0; t < n; t++) {
            double want[N], sum = 0;
            for (int i = 0; i < n; i++) {
                want[i] = of[0][t * n + i] > 0; /* not placed before */
                for (size_t k = 0; k < count && want[i] > 0; k++)
                    want[i] *= pow(of[k][t * n + i], 1.0 / (double)count);
                sum += want[i];
            }
            for (int i = 0; i < n; i++) assert_true(fabs(got[t * n + i] - want[i] / sum) < 2e-5);
        }
        for (size_t k = 0; k < count; k++) free(of[k]);
        free(got);
        onet_sets_free(set);
    }
    for (size_t k = 0; k < count; k++) onet_model_free(one[k]);
    onet_model_free(all);
}

/* Merges nets like `s`, each wider than the one before, and compares. */
static void compare(onet_settings s, size_t count, bool sized) {
    onet_model *one[MOST];
    for (size_t k = 0; k < count; k++) {
        one[k] = model_of(&s, 11 + k);
        for (int c = 0; c < s.width; c++) one[k]->mean[c] = 0.1f * (float)c;
        if (sized) size_statistics(one[k], k);
        s.hidden += 3;
        s.encoder_out += 2;
        s.decoder_out += 1;
    }
    compare_models(one, count);
}

static void mean_of_the_logits(void **state) {
    for (int k = 0; k < NETS; k++) {
        compare(nets[k], 1, false);
        compare(nets[k], 3, k % 2);
    }
    compare((onet_settings){2, 2, 8, 4, ONET_POOL_MAX, 0, 4, 0, 0, {0}}, 2, true); /* no decoder blocks */
}

/* Returns a net with or without relative features, and with the ranks within the set of the features whose
 * bit is in `ranks`. */
static onet_model *model_that_sees(int relative, unsigned ranks, uint64_t seed) {
    enum { GIVEN = 3 };
    scaling *s = need(scaling_room(GIVEN, 0));
    s->inputs = GIVEN;
    for (int j = 0; j < GIVEN; j++) s->inputs += s->within[j] = ranks >> j & 1;
    onet_model *m = model_of(
        &(onet_settings){s->inputs, 2, 8 + (int)seed, 4, ONET_POOL_MEAN, 2, 4 + (int)seed, relative, 0, {0}},
        seed);
    for (int j = 0; j < GIVEN; j++) m->mean[j] = 0.1f * (float)j;
    for (int j = 0, at = GIVEN; j < GIVEN; j++)
        if (s->within[j]) m->scale[at++] = 2 + (float)j;
    if (ranks)
        m->scaling = s;
    else
        scaling_free(s);
    return m;
}

static void nets_that_see_other_features(void **state) {
    compare_models((onet_model *[]){model_that_sees(1, 7, 1), model_that_sees(1, 0, 2)}, 2);
    compare_models((onet_model *[]){model_that_sees(0, 0, 1), model_that_sees(1, 0, 2)}, 2);
    compare_models((onet_model *[]){model_that_sees(0, 0, 1), model_that_sees(0, 2, 2)}, 2);
    compare_models((onet_model *[]){model_that_sees(0, 0, 1), model_that_sees(1, 5, 2),
                                    model_that_sees(1, 2, 3), model_that_sees(0, 4, 4)},
                   4);
}

static void one_model_file(void **state) {
    onet_model *m = model_of(&nets[1], 1), *other = model_of(&nets[1], 2), *all, *again;
    onet_error err;
    void *bytes;
    size_t size;
    char sum[65], same[65];
    assert_int_equal(model_set_entry(m, "data.sha256", "d", &err), ONET_OK);
    assert_int_equal(model_set_entry(other, "data.sha256", "d", &err), ONET_OK);
    assert_int_equal(model_set_entry(m, "from.sha256", "f", &err), ONET_OK);
    assert_int_equal(model_set_entry(other, "from.sha256", "f", &err), ONET_OK);
    assert_int_equal(model_set_entry(m, "program.key", "way", &err), ONET_OK);
    assert_int_equal(model_set_entry(other, "program.key", "way", &err), ONET_OK);
    assert_int_equal(model_set_entry(m, "valid.exact", "1.000000", &err), ONET_OK);
    assert_int_equal(model_set_entry(other, "valid.exact", "1.000000", &err), ONET_OK);
    assert_int_equal(onet_model_merge(&all, (const onet_model *const[]){m, other}, 2, &err), ONET_OK);
    assert_int_equal(onet_model_to_bytes(all, &bytes, &size, &err), ONET_OK);
    assert_int_equal(onet_model_from_bytes(&again, bytes, size, &err), ONET_OK);
    model_checksum(all, sum);
    model_checksum(again, same);
    assert_string_equal(sum, same);
    model_checksum(other, sum);
    assert_string_equal(onet_model_record(again, "merged.2.sha256"), sum);
    assert_string_equal(onet_model_record(again, "data.sha256"), "d");
    assert_string_equal(onet_model_record(again, "from.sha256"), "f");
    assert_string_equal(onet_model_record(again, "merged.1.from.sha256"), "f");
    assert_string_equal(onet_model_record(again, "program.key"), "way");
    assert_null(onet_model_record(again, "valid.exact"));
    onet_bytes_free(bytes);
    onet_model_free(again);
    onet_model_free(all);
    /* Parts of different data, fine-tuned from different models: the record has an entry per part only. */
    assert_int_equal(model_set_entry(other, "data.sha256", "e", &err), ONET_OK);
    assert_int_equal(model_set_entry(other, "from.sha256", "g", &err), ONET_OK);
    assert_int_equal(onet_model_merge(&all, (const onet_model *const[]){m, other}, 2, &err), ONET_OK);
    assert_null(onet_model_record(all, "data.sha256"));
    assert_null(onet_model_record(all, "from.sha256"));
    assert_string_equal(onet_model_record(all, "merged.1.from.sha256"), "f");
    assert_string_equal(onet_model_record(all, "merged.2.from.sha256"), "g");
    onet_model_free(all);
    onet_model_free(other);
    onet_model_free(m);
}

static void refuse(const onet_model *a, const onet_model *b, onet_status want, const char *sentence) {
    onet_model *all;
    onet_error err;
    assert_int_equal(onet_model_merge(&all, (const onet_model *const[]){a, b}, 2, &err), want);
    assert_null(all);
    assert_non_null(strstr(err.text, sentence));
}

static void refused_by_what_differs(void **state) {
    onet_settings s = {3, 2, 8, 4, ONET_POOL_MAX, 2, 4, 0, 0, {0}};
    onet_model *m = model_of(&s, 1), *other, *all;
    onet_error err;
    onet_settings changed[] = {s, s, s, s};
    const char *const sentence[] = {"the number of features per item is 3 in model 1 and 2 in model 2",
                                    "encoder blocks is 2 in model 1 and 1 in model 2",
                                    "decoder blocks is 2 in model 1 and 3 in model 2",
                                    "the pool is max in model 1 and mean"};
    changed[0].width = 2;
    changed[1].encoder_blocks = 1;
    changed[2].decoder_blocks = 3;
    changed[3].pool = ONET_POOL_MEAN;
    for (size_t k = 0; k < sizeof changed / sizeof *changed; k++) {
        other = model_of(&changed[k], 1);
        refuse(m, other, ONET_BAD, sentence[k]);
        onet_model_free(other);
    }
    other = model_of(&s, 2);
    other->scale[1] = 2;
    refuse(m, other, ONET_BAD, "see their items differently");
    other->scale[1] = 1;
    other->relations = strdup("toll");
    m->relations = strdup("time");
    refuse(m, other, ONET_BAD, "see their items differently");
    free(m->relations);
    m->relations = NULL;
    other->sized = true;
    refuse(m, other, ONET_BAD, "norm statistics");
    size_statistics(m, 1);
    size_statistics(other, 2);
    other->row_size[1] = 8;
    refuse(m, other, ONET_BAD, "norm statistics");
    m->sized = other->sized = false;
    onet_model *a = model_that_sees(0, 3, 1), *b = model_that_sees(1, 6, 2);
    b->scale[3]++; /* of the rank of feature 2, which both see */
    refuse(a, b, ONET_BAD, "see their items differently");
    b->scale[3]--;
    b->scaling->kind[0] = SCALING_QUANTILE;
    refuse(a, b, ONET_BAD, "see their items differently");
    /* Each agrees with a model that lacks what they differ in. */
    b->scaling->kind[0] = a->scaling->kind[0];
    onet_model *plain = model_that_sees(0, 0, 3);
    for (int differ = 0; differ < 2; differ++) {
        b->scale[3] += (float)differ;
        for (int at = 0; at < 3; at++) {
            const onet_model *three[3] = {a, b};
            three[2] = three[at];
            three[at] = plain;
            assert_int_equal(onet_model_merge(&all, three, 3, &err), differ ? ONET_BAD : ONET_OK);
            if (differ) assert_non_null(strstr(err.text, "see their items differently"));
            onet_model_free(all);
        }
    }
    onet_model_free(plain);
    onet_model_free(a);
    onet_model_free(b);
    refuse(m, NULL, ONET_USAGE, "model");
    assert_int_equal(onet_columns_new(&m->columns, 3, (const char *const[]){"a", "b", "c"}, NULL, NULL, &err),
                     ONET_OK);
    assert_int_equal(
        onet_columns_new(&other->columns, 3, (const char *const[]){"a", "x", "c"}, NULL, NULL, &err),
        ONET_OK);
    refuse(m, other, ONET_BAD, "feature 2 of model 1 has another name in model 2");
    assert_int_equal(onet_model_merge(&all, (const onet_model *const[]){m}, 0, &err), ONET_USAGE);
    onet_model_free(other);
    onet_model_free(m);
    s.encoder_blocks = 0;
    m = model_of(&s, 1);
    refuse(m, m, ONET_BAD, "without encoder blocks");
    onet_model_free(m);
    s = (onet_settings){1, 1, 8000, 4, ONET_POOL_MAX, 1, 4, 0, 0, {0}};
    m = model_of(&s, 1);
    refuse(m, m, ONET_USAGE, "hidden width is 16000");
    onet_model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mean_of_the_logits),
        cmocka_unit_test(nets_that_see_other_features),
        cmocka_unit_test(one_model_file),
        cmocka_unit_test(refused_by_what_differs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
