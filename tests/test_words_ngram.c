/* Tests the n-gram baseline (bench/ngram.c): its probabilities add up to 1, and its searches find the best
 * order. */
int ngram_main(int argc, char **argv);
#define main ngram_main
#include "../bench/ngram.c"
#undef main

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/rng.h"
#include "engine/data/sets.h"
#include "engine/words/builder.h"
#include "unit.h"

enum { ROWS = 12, N = 5 };

/* Returns lines in which a word is mostly followed by the next row of the vocabulary, items shuffled. */
static onet_sets *random_sets(int count, uint64_t seed) {
    onet_sets *sets;
    words_builder builder;
    assert_int_equal(sets_new(&sets, 1, NULL), ONET_OK);
    assert_true(words_builder_start(&builder, 1));
    for (int i = 0; i < ROWS; i++) {
        char name[2] = {(char)('a' + i), '\0'};
        bool added;
        assert_int_equal(words_builder_add(&builder, name, 1, &added), i);
    }
    sets->words = words_builder_finish(&builder);
    rng r;
    rng_seed(&r, seed, 0);
    for (int s = 0; s < count; s++) {
        int32_t word[N], order[N];
        int32_t last = (int32_t)rng_below(&r, 3);
        int shift = (int)rng_below(&r, N);
        for (int t = 0; t < N; t++) {
            order[t] = (t + shift) % N;
            word[order[t]] = last;
            last = (last + 1 + (int32_t)(rng_below(&r, 8) == 0)) % ROWS;
        }
        assert_int_equal(sets_append_words(sets, N, word, order, NULL), ONET_OK);
    }
    return sets;
}

static void adds_up(void **state) {
    onet_sets *sets = random_sets(500, 1);
    for (int length = 1; length <= 4; length++) {
        ngram *m;
        assert_int_equal(ngram_train(&m, sets, length, NULL), ONET_OK);
        static const int32_t contexts[][3] = {{0, 1, 2}, {5, 5, 5}, {2, 4, 1}, {11, 0, 1}};
        for (int c = 0; c < 4; c++)
            for (int given = 0; given <= 3; given++) {
                double sum = 0;
                for (int32_t w = 0; w < ROWS; w++) {
                    double p = ngram_probability(m, contexts[c], given, w);
                    assert_true(p > 0 && p <= 1);
                    sum += p;
                }
                assert_near(sum, 1, 1e-9);
            }
        ngram_free(m);
    }
    onet_sets_free(sets);
}

static double score(const ngram *m, const int32_t *word, const int32_t *order) {
    int32_t row[N];
    double sum = 0;
    for (int t = 0; t < N; t++) {
        row[t] = word[order[t]];
        sum += log(ngram_probability(m, row, t, row[t]));
    }
    return sum;
}

/* Returns the best score of all permutations, found among the 5^5 sequences. */
static double best_of_all(const ngram *m, const int32_t *word) {
    double best = -INFINITY;
    for (int code = 0; code < 3125; code++) {
        int32_t order[N];
        int rest = code, seen = 0;
        for (int t = 0; t < N; t++, rest /= N) seen |= 1 << (order[t] = rest % N);
        if (seen != 31) continue;
        double p = score(m, word, order);
        if (p > best) best = p;
    }
    return best;
}

static void finds_the_best(void **state) {
    onet_sets *sets = random_sets(2000, 2), *fresh = random_sets(200, 3);
    ngram *m;
    assert_int_equal(ngram_train(&m, sets, 3, NULL), ONET_OK);
    int exact = 0;
    for (size_t s = 0; s < fresh->count; s++) {
        const int32_t *word = fresh->word + fresh->start[s], *right = fresh->order + fresh->start[s];
        int32_t order[N];
        double logprob;
        ngram_order(m, word, N, order, &logprob);
        assert_int_equal(sets_check_order(order, N, NULL), ONET_OK);
        assert_near(logprob, score(m, word, order), 1e-9);
        assert_near(logprob, best_of_all(m, word), 1e-9);
        exact += !memcmp(order, right, sizeof order);
    }
    assert_in_range(exact, 150, 200); /* neighbours determine the order of the lines */
    ngram_free(m);
    onet_sets_free(sets);
    onet_sets_free(fresh);
}

/* A beam that holds every beginning finds the best order; a narrow one an order with the probability it says;
 * a long line has an answer too. */
static void searches_by_beam(void **state) {
    onet_sets *sets = random_sets(2000, 2), *fresh = random_sets(60, 3);
    ngram *m;
    assert_int_equal(ngram_train(&m, sets, 3, NULL), ONET_OK);
    int worse = 0;
    for (size_t s = 0; s < fresh->count; s++) {
        const int32_t *word = fresh->word + fresh->start[s];
        int32_t best[N], order[N];
        double best_logprob, logprob;
        ngram_order(m, word, N, best, &best_logprob);
        assert_int_equal(ngram_beam(m, word, N, 120, order, &logprob, NULL), ONET_OK);
        assert_near(logprob, best_logprob, 1e-9);
        assert_near(score(m, word, order), logprob, 1e-9);
        assert_int_equal(ngram_beam(m, word, N, 1, order, &logprob, NULL), ONET_OK);
        assert_int_equal(sets_check_order(order, N, NULL), ONET_OK);
        assert_near(score(m, word, order), logprob, 1e-9);
        assert_true(logprob < best_logprob + 1e-9);
        worse += logprob < best_logprob - 1e-9;
    }
    assert_in_range(worse, 1, 30);
    int32_t line[12] = {7, 3, 11, 0, 9, 5, 1, 10, 4, 8, 2, 6}, order[12];
    double logprob;
    assert_int_equal(ngram_beam(m, line, 12, 5, order, &logprob, NULL), ONET_OK);
    assert_int_equal(sets_check_order(order, 12, NULL), ONET_OK);
    const int32_t shorter[6] = {5, 2, 0, 4, 1, 3};
    assert_int_equal(ngram_beam(m, shorter, 6, 5, order, &logprob, NULL), ONET_OK);
    for (int t = 0; t < 6; t++) assert_int_equal(shorter[order[t]], t); /* each row follows the one before */
    assert_int_equal(ngram_beam(m, line, 12, 0, order, &logprob, NULL), ONET_USAGE);
    ngram_free(m);
    onet_sets_free(sets);
    onet_sets_free(fresh);
}

static void refuses(void **state) {
    onet_sets *sets = random_sets(3, 4);
    ngram *m;
    onet_error err;
    assert_int_equal(ngram_train(&m, sets, 0, &err), ONET_USAGE);
    assert_int_equal(ngram_train(&m, sets, NGRAM_LONGEST + 1, &err), ONET_USAGE);
    free(sets->order);
    sets->order = NULL;
    assert_int_equal(ngram_train(&m, sets, 3, &err), ONET_BAD);
    onet_sets_free(sets);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adds_up),
        cmocka_unit_test(finds_the_best),
        cmocka_unit_test(searches_by_beam),
        cmocka_unit_test(refuses),
    };
    return cmocka_run_group_tests_name("words: n-grams", tests, NULL, NULL);
}
