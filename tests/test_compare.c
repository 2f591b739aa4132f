/* Tests the comparison of a model with simple baselines: the score of guessing against a hand count, ties as
 * random orders, which baseline suffices, noise that is no better than guessing, and sets from which nothing
 * may be concluded (few, equal, learned from, with constraints). */
#include <math.h>
#include <string.h>

#include "engine/base/rng.h"
#include "engine/data/sets.h"
#include "engine/evaluate/measure.h"
#include "unit.h"

/* What decides the right order of a generated set. */
typedef enum rule { BY_NOTHING, BY_COLUMN, BY_SUM } rule;
enum { WIDTH = 3 };

static void sort(int32_t *order, int n, const double *score) {
    for (int i = 0; i < n; i++) order[i] = i;
    for (int a = 1; a < n; a++)
        for (int b = a; b > 0 && score[order[b - 1]] > score[order[b]]; b--) {
            int32_t swap = order[b];
            order[b] = order[b - 1];
            order[b - 1] = swap;
        }
}

static onet_sets *made_sets(rule how, int count, int n, uint64_t seed) {
    onet_sets *sets;
    rng r;
    rng_seed(&r, seed, 0);
    assert_int_equal(sets_new(&sets, WIDTH, NULL), ONET_OK);
    for (int s = 0; s < count; s++) {
        float items[16 * WIDTH];
        double score[16];
        int32_t order[16];
        for (int i = 0; i < n; i++) {
            float *x = items + i * WIDTH;
            for (int c = 0; c < WIDTH; c++) x[c] = (float)rng_normal(&r);
            score[i] = how == BY_COLUMN ? -(double)x[1]
                       : how == BY_SUM  ? (double)(x[0] - x[2])
                                        : rng_normal(&r);
        }
        sort(order, n, score);
        assert_int_equal(sets_append(sets, (size_t)n, WIDTH, items, order, NULL), ONET_OK);
    }
    return sets;
}

/* Returns the measures of a model that is right in the first `right` sets and answers the reverse in the
 * others; -1: answers at random. */
static onet_set_measure *answers(const onet_sets *sets, int right) {
    onet_set_measure *each = calloc(sets->count, sizeof *each);
    rng r;
    rng_seed(&r, 99, 0);
    for (size_t s = 0; s < sets->count; s++) {
        size_t n = onet_sets_size(sets, s), place[16];
        int32_t order[16];
        const int32_t *known = sets->order + sets->start[s];
        rng_permutation(&r, place, n);
        for (size_t t = 0; t < n; t++)
            order[t] = right < 0 ? (int32_t)place[t] : (int)s < right ? known[t] : known[n - 1 - t];
        onet_sets one;
        sets_slice(&one, sets, s, s + 1);
        assert_int_equal(onet_measure_each(&each[s], &one, &(onet_answer){.order = order}, NULL, NULL),
                         ONET_OK);
    }
    return each;
}

/* Twelve sets of random orders, each six times: the shares are over all, the intervals and the conclusion are
 * those of twelve. */
static void equal_sets_are_one_observation(void **state) {
    onet_sets *few = made_sets(BY_NOTHING, 12, 5, 8), *sets;
    assert_int_equal(sets_new(&sets, WIDTH, NULL), ONET_OK);
    for (size_t s = 0; s < few->count; s++)
        for (int k = 0; k < 6; k++)
            assert_int_equal(sets_append(sets, 5, WIDTH, few->items + few->start[s] * WIDTH,
                                         few->order + few->start[s], NULL),
                             ONET_OK);
    onet_set_measure *each = answers(sets, 6), *once = answers(few, 1);
    onet_comparison c, single;
    assert_int_equal(onet_compare(&c, NULL, sets, each, NULL, NULL), ONET_OK);
    assert_int_equal(onet_compare(&single, NULL, few, once, NULL, NULL), ONET_OK);
    assert_true(c.model_failed && single.model_failed);
    assert_true(c.model.sets == 72 && c.distinct == 12 && single.distinct == 12);
    const onet_measure *a[] = {&c.model.exact, &c.model.tau, &c.guess.exact, &c.guess.tau, &c.column.exact},
                       *b[] = {&single.model.exact, &single.model.tau, &single.guess.exact, &single.guess.tau,
                               &single.column.exact};
    for (size_t k = 0; k < sizeof a / sizeof *a; k++) {
        assert_true(fabs(a[k]->mean - b[k]->mean) < 1e-12);
        assert_true(fabs(a[k]->low - b[k]->low) < 1e-9);
    }
    assert_non_null(strstr(c.sentence, "on 12 different sets"));
    assert_non_null(strstr(single.sentence, "on 12 sets"));
    onet_report all;
    onet_measure_mean(&all, each, NULL, sets->count);
    assert_true(all.exact.mean == c.model.exact.mean && all.tau.mean == c.model.tau.mean);
    assert_true(all.exact.low > c.model.exact.low);
    assert_int_equal(measure_distinct(&all, each, sets, NULL), ONET_OK);
    assert_true(all.exact.low == c.model.exact.low && all.exact.high == c.model.exact.high);
    assert_true(all.tau.low == c.model.tau.low && all.tau.mean == c.model.tau.mean);
    free(each);
    free(once);
    onet_sets_free(few);
    onet_sets_free(sets);
}

static void guessing_by_hand(void **state) {
    /* Four items, of which two are equal: 2 of 24 orders are right. */
    const float items[] = {1, 2, 3, 2};
    const int32_t order[] = {0, 1, 3, 2};
    double score[4] = {0};
    onet_sets *sets;
    onet_set_measure m;
    assert_int_equal(onet_sets_from(&sets, 1, 4, 1, items, order, NULL), ONET_OK);
    assert_true(measure_scores(&m, sets, 0, score));
    assert_true(fabs(m.exact - 2.0 / 24) < 1e-12);
    /* One pair of six is equal, and so never wrong. 1 stands before the first of the two in a third of the
     * orders and before the second in two thirds, 3 behind them likewise; 1 before 3 in a half. */
    assert_true(fabs(m.tau - (1 + 2 * (1.0 / 3 + 2.0 / 3 - 1) + 2 * (1.0 / 3 + 2.0 / 3 - 1)) / 6) < 1e-12);
    /* Two tied at the wrong end: never right. Two tied at the right places: right in one of two. */
    memcpy(score, (double[4]){1, 2, 2, 0}, sizeof score);
    assert_true(measure_scores(&m, sets, 0, score));
    assert_true(m.exact == 0);
    const float apart[] = {1, 2, 3, 4};
    memcpy(sets->items, apart, sizeof apart);
    memcpy(score, (double[4]){9, 5, 1, 5}, sizeof score);
    assert_true(measure_scores(&m, sets, 0, score));
    assert_true(fabs(m.exact - 0.5) < 1e-12);
    assert_true(fabs(m.tau - 5.0 / 6) < 1e-12);
    onet_sets_free(sets);
}

/* Scores with ties give the mean over all orders in which the tied items may come, as they are measured:
 * equal items count as each other. */
static void ties_are_means_of_orders(void **state) {
    static const struct {
        float item[6];
        double score[6];
    } cases[] = {{{1, 2, 2, 3, 3, 3}, {0}},
                 {{1, 1, 1, 2, 2, 2}, {0}},
                 {{5, 5, 1, 5, 1, 2}, {0}},
                 {{1, 2, 3, 4, 5, 6}, {1, 1, 1, 0, 0, 0}},
                 {{2, 2, 1, 1, 2, 7}, {3, 3, 3, 3, 3, 0}},
                 {{2, 2, 1, 1, 7, 7}, {3, 3, 3, 3, 5, 5}}};
    enum { N = 6 };
    rng r;
    rng_seed(&r, 8, 0);
    for (size_t k = 0; k < 3 * sizeof cases / sizeof *cases; k++) {
        const float *item = cases[k / 3].item;
        const double *score = cases[k / 3].score;
        size_t drawn[N];
        int32_t right[N], order[N], count[N] = {0};
        onet_sets *sets;
        onet_set_measure m, one;
        rng_permutation(&r, drawn, N);
        for (int i = 0; i < N; i++) order[i] = i, right[i] = (int32_t)drawn[i];
        assert_int_equal(onet_sets_from(&sets, 1, N, 1, item, right, NULL), ONET_OK);
        assert_true(measure_scores(&m, sets, 0, score));
        double exact = 0, tau = 0, orders = 0;
        for (int i = 0; i < N;) { /* Heap's algorithm */
            if (!i) {
                bool falls = true;
                for (int t = 1; t < N; t++) falls &= score[order[t]] <= score[order[t - 1]];
                if (falls) {
                    assert_int_equal(
                        onet_measure_each(&one, sets, &(onet_answer){.order = order}, NULL, NULL), ONET_OK);
                    exact += one.exact;
                    tau += one.tau;
                    orders++;
                }
                i = 1;
            } else if (count[i] < i) {
                int with = i % 2 ? count[i] : 0;
                int32_t kept = order[i];
                order[i] = order[with];
                order[with] = kept;
                count[i]++;
                i = 0;
            } else
                count[i++] = 0;
        }
        assert_true(fabs(m.exact - exact / orders) < 1e-12 && fabs(m.tau - tau / orders) < 1e-12);
        onet_sets_free(sets);
    }
}

/* Without ties a score is measured as the order that it gives, to the last bit: a difference of rounding that
 * all sets have would pass for a better model. */
static void scores_as_orders(void **state) {
    for (int n = 2; n <= 16; n++) {
        onet_sets *sets = made_sets(BY_SUM, 50, n, 3);
        rng r;
        rng_seed(&r, 4, 0);
        for (size_t s = 0; s < sets->count; s++) {
            double score[16], minus[16];
            int32_t order[16];
            onet_set_measure a, b;
            onet_sets one;
            for (int i = 0; i < n; i++) minus[i] = -(score[i] = rng_normal(&r));
            sort(order, n, minus);
            sets_slice(&one, sets, s, s + 1);
            assert_true(measure_scores(&a, sets, s, score));
            assert_int_equal(onet_measure_each(&b, &one, &(onet_answer){.order = order}, NULL, NULL),
                             ONET_OK);
            assert_true(a.exact == b.exact && a.tau == b.tau);
        }
        onet_sets_free(sets);
    }
}

static onet_comparison compared(rule how, int right, bool train) {
    onet_sets *learn = made_sets(how, 400, 5, 1), *test = made_sets(how, 200, 5, 2);
    onet_set_measure *each = answers(test, right);
    onet_comparison c;
    onet_error err = {.text = ""};
    assert_int_equal(onet_compare(&c, train ? learn : NULL, test, each, NULL, &err), ONET_OK);
    assert_int_equal(c.model.sets, 200);
    assert_true(fabs(c.guess.exact.mean - 1.0 / 120) < 1e-12);
    free(each);
    onet_sets_free(learn);
    onet_sets_free(test);
    return c;
}

static void noise_is_guessing(void **state) {
    for (int train = 0; train < 2; train++) {
        onet_comparison c = compared(BY_NOTHING, -1, train);
        assert_int_equal(c.conclusion, ONET_WORTH_NOTHING);
        assert_true(c.model_failed);
        assert_non_null(strstr(c.sentence, "No better than guessing"));
    }
}

/* Each of the two tests, by exact match and by tau, has a false-positive rate of 1 in 1,000: of 1,000 models
 * that answer at random, few may seem better than guessing. */
static void noise_stays_guessing(void **state) {
    int wrong = 0;
    for (uint64_t seed = 0; seed < 1000; seed++) {
        onet_sets *test = made_sets(BY_NOTHING, 60, 2 + (int)(seed % 5), 1000 + seed);
        onet_set_measure *each = answers(test, -1);
        onet_comparison c;
        assert_int_equal(onet_compare(&c, NULL, test, each, NULL, NULL), ONET_OK);
        wrong += !c.model_failed;
        free(each);
        onet_sets_free(test);
    }
    assert_in_range(wrong, 0, 6);
}

/* The variance of tau is that of a sample: eight sets, 1.2 deviations above guessing, are enough. */
static void tau_of_eight_sets(void **state) {
    onet_sets *test = made_sets(BY_NOTHING, 8, 5, 2);
    onet_set_measure *each = answers(test, 0);
    onet_comparison c;
    for (size_t s = 0; s < 8; s++) each[s].tau = 0.36 + (s % 2 ? 0.3 : -0.3);
    assert_int_equal(onet_compare(&c, NULL, test, each, NULL, NULL), ONET_OK);
    assert_true(!c.model_failed);
    for (size_t s = 0; s < 8; s++) each[s].tau -= 0.02;
    assert_int_equal(onet_compare(&c, NULL, test, each, NULL, NULL), ONET_OK);
    assert_true(c.model_failed);
    free(each);
    onet_sets_free(test);
}

static void one_column_is_enough(void **state) {
    for (int train = 0; train < 2; train++) {
        onet_comparison c = compared(BY_COLUMN, 199, train);
        assert_int_equal(c.conclusion, ONET_WORTH_COLUMN);
        assert_int_equal(c.feature, 1);
        assert_true(c.falling && !c.model_failed);
        assert_true(c.column.exact.mean == 1);
        assert_non_null(strstr(c.sentence, "feature 2 alone, largest value first, does as well"));
    }
}

static void the_ranker_is_enough(void **state) {
    onet_comparison c = compared(BY_SUM, 150, true);
    assert_int_equal(c.conclusion, ONET_WORTH_RANKER);
    assert_true(c.ranker.exact.mean > 0.9);
    assert_non_null(strstr(c.sentence, "is better than the model"));
    /* A model that has learned nothing, where a simple rule has. */
    c = compared(BY_SUM, -1, true);
    assert_int_equal(c.conclusion, ONET_WORTH_RANKER);
    assert_true(c.model_failed);
    assert_non_null(strstr(c.sentence, "training failed"));
    /* Without a model. */
    onet_sets *learn = made_sets(BY_SUM, 400, 5, 1), *test = made_sets(BY_SUM, 200, 5, 2);
    assert_int_equal(onet_compare(&c, learn, test, NULL, NULL, NULL), ONET_OK);
    assert_int_equal(c.conclusion, ONET_WORTH_RANKER);
    assert_non_null(strstr(c.sentence, "A weighted sum of the features is better than any single one"));
    onet_sets_free(learn);
    onet_sets_free(test);
}

/* A model that is ahead by what may be chance is not said to be no better than a simple rule. */
static void ahead_by_chance(void **state) {
    onet_sets *learn = made_sets(BY_SUM, 100, 5, 1);
    int met = 0;
    for (uint64_t seed = 2; seed < 12; seed++) {
        onet_sets *test = made_sets(BY_SUM, 20, 5, seed);
        onet_set_measure *each = answers(test, 20);
        onet_comparison c;
        assert_int_equal(onet_compare(&c, learn, test, each, NULL, NULL), ONET_OK);
        bool as_good = c.conclusion == ONET_WORTH_RANKER, ahead = c.ranker.exact.mean < 0.98;
        assert_true(strstr(c.sentence, "does as well as") ? as_good && !ahead : ahead);
        if (as_good && ahead) {
            met++;
            assert_non_null(strstr(c.sentence, "is ahead of the linear ranker"));
            assert_non_null(strstr(c.sentence, "on 20 sets that may be chance"));
        }
        free(each);
        onet_sets_free(test);
    }
    assert_in_range(met, 1, 10);
    onet_sets_free(learn);
}

static void the_model_is_needed(void **state) {
    onet_comparison c = compared(BY_NOTHING, 120, true);
    assert_int_equal(c.conclusion, ONET_WORTH_MODEL);
    assert_true(!c.model_failed);
    assert_non_null(strstr(c.sentence, "depends on the whole set"));
}

/* Of sets that the model was trained on, nothing is concluded in its favour. */
static void learned_sets_tell_little(void **state) {
    onet_sets *sets = made_sets(BY_NOTHING, 200, 5, 2);
    onet_set_measure *each = answers(sets, 120);
    onet_compare_options o = {.size = sizeof o, .seed = 1};
    onet_comparison c;
    for (o.learned = 0; o.learned < 300; o.learned += 10) {
        assert_int_equal(onet_compare(&c, NULL, sets, each, &o, NULL), ONET_OK);
        assert_int_equal(c.learned, o.learned < 200 ? o.learned : 200);
        assert_true(!strstr(c.sentence, "depends on the whole set") == (o.learned > 20));
        assert_true(!strstr(c.sentence, "measure it on others") == (o.learned <= 20));
    }
    free(each);
    onet_sets_free(sets);
}

/* Answers that keep to constraints are right more often than by the features: nothing is concluded from them.
 */
static void constraints_tell_little(void **state) {
    onet_sets *sets = made_sets(BY_NOTHING, 200, 5, 2);
    onet_set_measure *each = answers(sets, 120);
    onet_comparison c;
    onet_constraint first[200];
    for (size_t s = 0; s < 200; s++)
        first[s] = (onet_constraint){ONET_PLACE, sets->start[s] + (size_t)sets->order[sets->start[s]], 0};
    for (size_t count = 0; count <= 200; count += 10) {
        assert_int_equal(onet_sets_set_constraints(sets, first, count, NULL), ONET_OK);
        assert_int_equal(onet_compare(&c, NULL, sets, each, NULL, NULL), ONET_OK);
        assert_true(!strstr(c.sentence, "depends on the whole set") == (count > 20));
        assert_true(!strstr(c.sentence, "constraints of") == (count <= 20));
    }
    free(each);
    onet_sets_free(sets);
}

/* Of one set, or of copies of one, the intervals are whole ranges; a few sets do not tell two rules apart. */
static void few_sets_tell_little(void **state) {
    onet_sets *learn = made_sets(BY_SUM, 100, 8, 1);
    for (int count = 1; count < 8; count++) {
        onet_sets *test = made_sets(BY_NOTHING, count, 8, 2);
        onet_set_measure *each = answers(test, count);
        onet_comparison c;
        assert_int_equal(onet_compare(&c, learn, test, each, NULL, NULL), ONET_OK);
        assert_true(!c.model_failed);
        assert_int_equal(c.conclusion, count < 6 ? ONET_WORTH_RANKER : ONET_WORTH_MODEL);
        assert_true(!strstr(c.sentence, "that may be chance") == (count >= 6));
        free(each);
        onet_sets_free(test);
    }
    onet_sets_free(learn);
    onet_sets *one = made_sets(BY_NOTHING, 1, 8, 2), *same;
    assert_int_equal(sets_new(&same, WIDTH, NULL), ONET_OK);
    for (int k = 0; k < 5; k++)
        assert_int_equal(sets_append(same, 8, WIDTH, one->items, one->order, NULL), ONET_OK);
    onet_set_measure *each = answers(same, 5);
    onet_report all;
    assert_int_equal(measure_distinct(&all, each, same, NULL), ONET_OK);
    assert_true(all.tau.mean == 1 && all.tau.low == -1 && all.tau.high == 1);
    onet_measure_mean(&all, each, NULL, 1);
    assert_true(all.position.low == 0 && all.position.high == 1 && all.neighbours.low == 0);
    free(each);
    onet_sets_free(one);
    onet_sets_free(same);
}

/* A score with ties gains nothing from items that are in the right order in the file. */
static void the_order_of_the_file_tells_nothing(void **state) {
    onet_sets *sets;
    onet_comparison c;
    rng r;
    rng_seed(&r, 5, 0);
    assert_int_equal(sets_new(&sets, 1, NULL), ONET_OK);
    for (int s = 0; s < 100; s++) {
        float items[4];
        const int32_t order[] = {0, 1, 2, 3};
        for (int i = 0; i < 4; i++)
            items[i] = rng_below(&r, 2) ? 1 : 0; /* unrelated to the order; ties most items */
        assert_int_equal(sets_append(sets, 4, 1, items, order, NULL), ONET_OK);
    }
    assert_int_equal(onet_compare(&c, NULL, sets, NULL, NULL, NULL), ONET_OK);
    assert_int_equal(c.conclusion, ONET_WORTH_NOTHING);
    onet_sets_free(sets);
}

static void what_it_refuses(void **state) {
    onet_sets *sets = made_sets(BY_SUM, 20, 4, 6), *wide, none = *sets;
    onet_comparison c;
    onet_error err;
    const float items[4] = {0};
    const int32_t order[2] = {0, 1};
    none.order = NULL;
    assert_int_equal(onet_compare(NULL, NULL, sets, NULL, NULL, &err), ONET_USAGE);
    assert_int_equal(onet_compare(&c, NULL, NULL, NULL, NULL, &err), ONET_USAGE);
    assert_int_equal(onet_compare(&c, NULL, &none, NULL, NULL, &err), ONET_BAD);
    assert_int_equal(onet_compare(&c, &none, sets, NULL, NULL, &err), ONET_BAD);
    assert_int_equal(onet_sets_from(&wide, 1, 2, 2, items, order, NULL), ONET_OK);
    assert_int_equal(onet_compare(&c, wide, sets, NULL, NULL, &err), ONET_BAD);
    assert_int_equal(onet_compare(&c, NULL, wide, NULL, NULL, &err), ONET_USAGE); /* one set */
    onet_compare_options o = {.size = sizeof o, .folds = 1};
    assert_int_equal(onet_compare(&c, NULL, sets, NULL, &o, &err), ONET_USAGE);
    onet_sets_free(wide);
    onet_sets_free(sets);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_sets_are_one_observation),
        cmocka_unit_test(guessing_by_hand),
        cmocka_unit_test(ties_are_means_of_orders),
        cmocka_unit_test(scores_as_orders),
        cmocka_unit_test(noise_is_guessing),
        cmocka_unit_test(noise_stays_guessing),
        cmocka_unit_test(tau_of_eight_sets),
        cmocka_unit_test(one_column_is_enough),
        cmocka_unit_test(the_ranker_is_enough),
        cmocka_unit_test(ahead_by_chance),
        cmocka_unit_test(the_model_is_needed),
        cmocka_unit_test(learned_sets_tell_little),
        cmocka_unit_test(constraints_tell_little),
        cmocka_unit_test(few_sets_tell_little),
        cmocka_unit_test(the_order_of_the_file_tells_nothing),
        cmocka_unit_test(what_it_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
