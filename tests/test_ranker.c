/* Tests the linear ranker: it finds the weights of a known score, also with noise and large ranges; its
 * probabilities are those of the Plackett-Luce model; it sorts a set as a beam search would, also of words;
 * its bits do not depend on the number of threads. Also tests its optimiser and what is refused. */
#include <math.h>
#include <string.h>

#include "engine/base/rng.h"
#include "engine/data/sets.h"
#include "engine/model/model.h"
#include "engine/train/minimise.h"
#include "number_sets.h"
#include "ordernet_io.h"
#include "ordernet_measure.h"
#include "ordernet_train.h"
#include "unit.h"

enum { WIDTH = 4 };
static const double meant[WIDTH] = {2, -1, 0.5, 0};

/* Sets of 2 to 9 items, the highest score first; scores have noise. */
static onet_sets *score_sets(int count, double noise, uint64_t seed) {
    onet_sets *sets;
    rng r;
    rng_seed(&r, seed, 0);
    assert_int_equal(sets_new(&sets, WIDTH, NULL), ONET_OK);
    for (int s = 0; s < count; s++) {
        float items[9 * WIDTH];
        double score[9];
        int32_t order[9];
        int n = 2 + (int)rng_below(&r, 8);
        for (int i = 0; i < n; i++) {
            score[i] = noise * rng_normal(&r);
            order[i] = i;
            for (int c = 0; c < WIDTH; c++) {
                items[i * WIDTH + c] = (float)(10 * c + (c + 1) * rng_normal(&r));
                score[i] += meant[c] * (double)items[i * WIDTH + c];
            }
        }
        for (int a = 1; a < n; a++)
            for (int b = a; b > 0 && score[order[b - 1]] < score[order[b]]; b--) {
                int32_t swap = order[b];
                order[b] = order[b - 1];
                order[b - 1] = swap;
            }
        assert_int_equal(sets_append(sets, (size_t)n, WIDTH, items, order, NULL), ONET_OK);
    }
    return sets;
}

/* The answers to all sets, and the log-probabilities of their own orders. */
typedef struct answers {
    onet_answer *of;
    int32_t *order;
    double *logprob, *own;
} answers;

static answers answer(const onet_model *model, const onet_sets *sets, const onet_order_options *how) {
    onet_orderer *orderer;
    onet_error err = {.text = ""};
    answers a = {.of = calloc(sets->count, sizeof *a.of),
                 .order = calloc(sets->start[sets->count], sizeof *a.order),
                 .logprob = calloc(sets->count, sizeof *a.logprob),
                 .own = calloc(sets->count, sizeof *a.own)};
    for (size_t s = 0; s < sets->count; s++) {
        a.of[s].order = a.order + sets->start[s];
        a.of[s].logprob = a.logprob + s;
    }
    assert_int_equal(onet_orderer_new(&orderer, model, how, &err), ONET_OK);
    assert_int_equal(onet_orderer_run(orderer, sets, a.of, &err), ONET_OK);
    if (sets->order) assert_int_equal(onet_orderer_score(orderer, sets, a.own, &err), ONET_OK);
    onet_orderer_free(orderer);
    return a;
}

static void answers_free(answers *a) {
    free(a->of);
    free(a->order);
    free(a->logprob);
    free(a->own);
}

static double exact(const onet_model *model, const onet_sets *sets) {
    onet_report report;
    answers a = answer(model, sets, NULL);
    assert_int_equal(onet_measure_sets(&report, sets, a.of, a.own, 0, NULL), ONET_OK);
    answers_free(&a);
    return report.exact.mean;
}

/* Returns (x0 - 3)^2 + 100 (x1 + 1)^2 plus a coupling, and writes its gradient. */
static double bowl(void *context, const double *x, double *gradient) {
    ++*(int *)context;
    double a = x[0] - 3, b = x[1] + 1;
    gradient[0] = 2 * a + b;
    gradient[1] = 200 * b + a;
    return a * a + 100 * b * b + a * b;
}

static void minimum_of_a_bowl(void **state) {
    double x[2] = {50, -70};
    int calls = 0;
    assert_true(minimise(x, 2, bowl, &calls, 100, 1e-15));
    assert_true(fabs(x[0] - 3) < 1e-5 && fabs(x[1] + 1) < 1e-5);
    assert_true(calls < 100);
}

static void finds_the_score(void **state) {
    onet_sets *train = score_sets(500, 0, 1), *test = score_sets(300, 0, 2);
    onet_model *model;
    onet_error err = {.text = ""};
    assert_int_equal(onet_ranker_train(&model, train, NULL, &err), ONET_OK);
    assert_string_equal(onet_model_kind(model), "ranker");
    assert_string_equal(onet_model_record(model, "kind"), "ranker");
    assert_true(exact(model, test) > 0.97);
    /* In the units of the features the weights are those of the score, but for one factor. */
    const float *w = onet_ranker_weights(model);
    double factor = (double)w[0] * (double)model->scale[0] / meant[0];
    assert_true(factor > 0);
    for (int c = 0; c < WIDTH; c++)
        assert_true(fabs((double)w[c] * (double)model->scale[c] / factor - meant[c]) < 0.02);
    onet_model_free(model);
    onet_sets_free(train);
    onet_sets_free(test);
}

static void noise_does_not_hurt(void **state) {
    onet_sets *train = score_sets(300, 3, 3), *test = score_sets(300, 0, 4);
    onet_model *model;
    assert_int_equal(onet_ranker_train(&model, train, NULL, NULL), ONET_OK);
    assert_true(exact(model, test) > 0.7);
    onet_model_free(model);
    onet_sets_free(train);
    onet_sets_free(test);
}

/* Returns the log-probability of the set's order by the formula, from the weights. */
static double plackett_luce(const onet_model *m, const onet_sets *sets, size_t s) {
    size_t first = sets->start[s], n = sets_placed(sets, s);
    double score[64], sum = 0;
    for (size_t t = 0; t < n; t++) {
        const float *x = sets_item(sets, first + (size_t)sets->order[first + t]);
        score[t] = 0;
        for (int c = 0; c < sets->width; c++)
            score[t] += (double)onet_ranker_weights(m)[c] * (double)((x[c] - m->mean[c]) * m->scale[c]);
    }
    for (size_t t = 0; t < n; t++) {
        double all = 0;
        for (size_t k = t; k < n; k++) all += exp(score[k] - score[t]);
        sum -= log(all);
    }
    return sum;
}

static void probabilities_by_hand(void **state) {
    onet_sets *sets = score_sets(60, 5, 5);
    onet_model *model;
    /* The last item of each set of three or more becomes context; the scores of the others do not depend on
     * it. */
    uint8_t *context = calloc(sets->start[sets->count], 1);
    for (size_t s = 0; s < sets->count; s++)
        if (onet_sets_size(sets, s) > 2)
            context[sets->start[s] + (size_t)sets->order[sets->start[s + 1] - 1]] = 1;
    assert_int_equal(onet_sets_set_context(sets, context, NULL), ONET_OK);
    assert_int_equal(onet_ranker_train(&model, sets, NULL, NULL), ONET_OK);
    answers a = answer(model, sets, NULL);
    for (size_t s = 0; s < sets->count; s++) {
        assert_true(fabs(a.own[s] - plackett_luce(model, sets, s)) < 1e-3);
        assert_true(a.logprob[s] >= a.own[s] - 1e-9); /* no order is more probable */
    }
    answers_free(&a);
    onet_model_free(model);
    onet_sets_free(sets);
    free(context);
}

/* A set of many items is sorted; a beam search finds the same, also where the greedy search leaves out the
 * rows of items that were placed. */
static void sorts_as_the_search_does(void **state) {
    enum { MANY = 300 };
    onet_sets *train = score_sets(200, 1, 6), *large;
    onet_model *model;
    assert_int_equal(onet_ranker_train(&model, train, NULL, NULL), ONET_OK);
    float *items = malloc(MANY * WIDTH * sizeof *items);
    rng r;
    rng_seed(&r, 7, 0);
    for (int i = 0; i < MANY * WIDTH; i++) items[i] = (float)(10 * (i % WIDTH) + rng_normal(&r));
    assert_int_equal(onet_sets_from(&large, 1, MANY, WIDTH, items, NULL, NULL), ONET_OK);
    answers a = answer(model, large, NULL);
    answers b = answer(model, large, &(onet_order_options){.size = sizeof b, .beam = 3});
    assert_memory_equal(a.order, b.order, MANY * sizeof *a.order);
    const float *w = onet_ranker_weights(model);
    double before = INFINITY;
    for (int t = 0; t < MANY; t++) {
        double score = 0;
        for (int c = 0; c < WIDTH; c++)
            score += (double)w[c] * (double)(items[a.order[t] * WIDTH + c] - model->mean[c]) *
                     (double)model->scale[c];
        assert_true(score <= before + 1e-4);
        before = score;
    }
    /* The first item must come last. */
    onet_constraint last = {ONET_LAST, (size_t)a.order[0], 0};
    assert_int_equal(onet_sets_set_constraints(large, &last, 1, NULL), ONET_OK);
    answers c = answer(model, large, NULL);
    assert_int_equal(c.order[MANY - 1], a.order[0]);
    assert_memory_equal(c.order, a.order + 1, (MANY - 1) * sizeof *a.order);
    answers_free(&a);
    answers_free(&b);
    answers_free(&c);
    free(items);
    onet_model_free(model);
    onet_sets_free(large);
    onet_sets_free(train);
}

static void same_bits_for_any_threads(void **state) {
    onet_sets *sets = score_sets(700, 2, 8);
    char first[65] = "", now[65];
    for (int threads = 1; threads <= 3; threads++) {
        onet_ranker_options o = {.size = sizeof o, .standardise = 1, .seed = 5, .threads = threads};
        onet_model *model, *again;
        void *bytes;
        size_t size;
        assert_int_equal(onet_ranker_train(&model, sets, &o, NULL), ONET_OK);
        onet_model_checksum(model, now);
        if (threads == 1) memcpy(first, now, sizeof first);
        assert_string_equal(now, first);
        /* The file is that of any model, and gives the same one. */
        assert_int_equal(onet_model_to_bytes(model, &bytes, &size, NULL), ONET_OK);
        assert_int_equal(onet_model_from_bytes(&again, bytes, size, NULL), ONET_OK);
        onet_model_checksum(again, now);
        assert_string_equal(now, first);
        assert_string_equal(onet_model_kind(again), "ranker");
        onet_bytes_free(bytes);
        onet_model_free(again);
        onet_model_free(model);
    }
    onet_sets_free(sets);
}

static void words_and_relative_features(void **state) {
    onet_sets *words = number_sets(300, 1, 9), *numbers = score_sets(300, 0, 10),
              *test = score_sets(100, 0, 11);
    onet_ranker_options o;
    onet_model *model;
    onet_error err = {.text = ""};
    assert_int_equal(onet_ranker_train(&model, words, NULL, &err), ONET_OK);
    assert_true(exact(model, words) > 0.99);
    onet_model_free(model);
    onet_ranker_defaults(&o, sizeof o);
    o.relative = 1;
    assert_int_equal(onet_ranker_train(&model, words, &o, &err), ONET_USAGE);
    assert_int_equal(onet_ranker_train(&model, numbers, &o, &err), ONET_OK);
    assert_true(exact(model, test) > 0.9);
    onet_model_free(model);
    onet_sets_free(words);
    onet_sets_free(numbers);
    onet_sets_free(test);
}

/* Twelve decades in one feature: the scale of the features is chosen as for a net, the rank within the set
 * among them. */
static void heavy_tails(void **state) {
    onet_sets *sets;
    onet_model *model, *plain;
    rng r;
    rng_seed(&r, 13, 0);
    assert_int_equal(sets_new(&sets, 2, NULL), ONET_OK);
    for (int s = 0; s < 300; s++) {
        float items[10];
        int32_t order[5];
        for (int i = 0; i < 5; i++) {
            items[2 * i] = (float)exp(5 * rng_normal(&r));
            items[2 * i + 1] = (float)rng_normal(&r);
        }
        order_by(order, 5, items, 2);
        assert_int_equal(sets_append(sets, 5, 2, items, order, NULL), ONET_OK);
    }
    assert_int_equal(onet_ranker_train(&model, sets, NULL, NULL), ONET_OK);
    assert_true(exact(model, sets) > 0.98);
    onet_ranker_options o = {.size = sizeof o, .standardise = 1, .seed = 1, .scale = "standard"};
    assert_int_equal(onet_ranker_train(&plain, sets, &o, NULL), ONET_OK);
    assert_true(exact(plain, sets) < 0.5);
    onet_model_free(plain);
    onet_model_free(model);
    onet_sets_free(sets);
}

static void what_it_refuses(void **state) {
    onet_sets *sets = score_sets(20, 0, 12), unordered = *sets;
    onet_model *model, *tuned;
    onet_error err = {.text = ""};
    onet_ranker_options o;
    onet_ranker_defaults(&o, sizeof o);
    o.penalty = -1;
    assert_int_equal(onet_ranker_train(&model, sets, &o, &err), ONET_USAGE);
    assert_null(model);
    unordered.order = NULL;
    assert_int_equal(onet_ranker_train(&model, &unordered, NULL, &err), ONET_BAD);
    assert_int_equal(onet_ranker_train(&model, NULL, NULL, &err), ONET_USAGE);
    assert_int_equal(onet_ranker_train(NULL, sets, NULL, &err), ONET_USAGE);
    assert_null(onet_ranker_weights(NULL));
    assert_null(onet_model_kind(NULL));
    /* A ranker cannot be fine-tuned into a net. */
    o.penalty = 0.01;
    assert_int_equal(onet_ranker_train(&model, sets, &o, &err), ONET_OK);
    assert_string_equal(onet_model_record(model, "penalty"), "0.01");
    onet_train_options t;
    onet_train_defaults(&t, sizeof t);
    t.from = model;
    t.max_steps = 1;
    assert_int_equal(onet_train(&tuned, sets, NULL, &t, &err), ONET_BAD);
    onet_model_free(model);
    onet_sets_free(sets);
}

/* One set, equal features: nothing to learn is no failure; but sets of one item have no order. */
static void nothing_to_learn(void **state) {
    onet_sets *sets;
    onet_model *model;
    const float same[6] = {1, 1, 1, 1, 1, 1};
    const int32_t order[3] = {2, 0, 1};
    assert_int_equal(onet_sets_from(&sets, 2, 1, 3, same, order + 1, NULL), ONET_BAD);
    assert_int_equal(onet_sets_from(&sets, 1, 3, 2, same, order, NULL), ONET_OK);
    assert_int_equal(onet_ranker_train(&model, sets, NULL, NULL), ONET_OK);
    for (int c = 0; c < 2; c++) assert_true(onet_ranker_weights(model)[c] == 0);
    onet_model_free(model);
    onet_sets_free(sets);
    onet_error err;
    assert_int_equal(onet_sets_from(&sets, 1, 1, 2, same, order + 1, NULL), ONET_OK);
    assert_int_equal(onet_ranker_train(&model, sets, NULL, &err), ONET_BAD);
    assert_string_equal(err.text, "no set has two items or more: there is no order to learn");
    assert_null(model);
    onet_sets_free(sets);
}

static void linear_task(void **state) {
    char path[SHARED_PATH];
    onet_sets *train, *test;
    onet_model *model;
    shared_file(path, "tasks/linear.train.jsonl");
    assert_int_equal(onet_sets_read(&train, path, NULL, NULL), ONET_OK);
    shared_file(path, "tasks/linear.test.jsonl");
    assert_int_equal(onet_sets_read(&test, path, NULL, NULL), ONET_OK);
    assert_int_equal(onet_ranker_train(&model, train, NULL, NULL), ONET_OK);
    assert_true(exact(model, test) > 0.97);
    onet_model_free(model);
    onet_sets_free(train);
    onet_sets_free(test);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(minimum_of_a_bowl),
        cmocka_unit_test(finds_the_score),
        cmocka_unit_test(noise_does_not_hurt),
        cmocka_unit_test(probabilities_by_hand),
        cmocka_unit_test(sorts_as_the_search_does),
        cmocka_unit_test(same_bits_for_any_threads),
        cmocka_unit_test(words_and_relative_features),
        cmocka_unit_test(heavy_tails),
        cmocka_unit_test(what_it_refuses),
        cmocka_unit_test(nothing_to_learn),
        cmocka_unit_test(linear_task),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
