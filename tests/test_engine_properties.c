/* Tests properties that hold for any weights: permuting items permutes the answer, any number of threads
 * gives the same bits, greedy is a beam of one, decoding step by step equals teacher forcing, a full beam
 * finds the best order, sampled orders are as frequent as they are probable, and the counted operations of a
 * search are those of its steps. Refused are a wrong width, overflow and unknown kernels. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/kernels/backend.h"
#include "engine/kernels/operations.h"
#include "paper_form.h"
#include "random_model.h"

static void permuting_items_permutes_the_answer(void **state) {
    onet_error err;
    for (int k = 0; k < NETS; k++) {
        onet_model *m = model_of(&nets[k], 3);
        int d = nets[k].width;
        onet_sets *sets = random_sets(d, 40, 1, 24, 5), *moved;
        assert_int_equal(sets_new(&moved, d, &err), ONET_OK);
        for (size_t s = 0; s < sets->count; s++) { /* each set again, its items in the order that y says */
            size_t n = sets_size(sets, s), first = sets->start[s];
            float *x = need(malloc(n * (size_t)d * sizeof *x));
            for (size_t i = 0; i < n; i++)
                memcpy(x + i * d, sets_item(sets, first + (size_t)sets->order[first + i]),
                       (size_t)d * sizeof *x);
            assert_int_equal(sets_append(moved, n, d, x, sets->order + first, &err), ONET_OK);
            free(x);
        }
        result a = run(m, sets, (onet_order_options){.beam = 5}),
               b = run(m, moved, (onet_order_options){.beam = 5});
        for (size_t s = 0; s < sets->count; s++) {
            size_t n = sets_size(sets, s), first = sets->start[s];
            assert_true(fabs(a.logprob[s] - b.logprob[s]) < 1e-3);
            for (size_t t = 0; t < n; t++)
                assert_int_equal(sets->order[first + (size_t)b.order[first + t]], a.order[first + t]);
        }
        result_free(&a);
        result_free(&b);
        onet_sets_free(sets);
        onet_sets_free(moved);
        onet_model_free(m);
    }
}

static void threads_give_the_same_bits(void **state) {
    onet_model *m = model_of(&nets[0], 4);
    onet_sets *sets = random_sets(2, 60, 1, 30, 6), *large = random_sets(2, 1, 450, 450, 7);
    for (int pass = 0; pass < 2; pass++) {
        onet_sets *these = pass ? large : sets;
        result one = run(m, these, (onet_order_options){.threads = 1, .beam = pass ? 2 : 5});
        for (int threads = 2; threads <= 3; threads++) {
            result many = run(m, these, (onet_order_options){.threads = threads, .beam = pass ? 2 : 5});
            assert_memory_equal(one.order, many.order, these->start[these->count] * sizeof *one.order);
            assert_memory_equal(one.logprob, many.logprob, these->count * sizeof *one.logprob);
            result_free(&many);
        }
        result_free(&one);
    }
    onet_sets_free(sets);
    onet_sets_free(large);
    onet_model_free(m);
}

static void greedy_is_a_beam_of_one(void **state) {
    for (int k = 0; k < NETS; k++) {
        onet_model *m = model_of(&nets[k], 8);
        onet_sets *sets = random_sets(nets[k].width, 50, 1, 20, 9);
        result a = run(m, sets, (onet_order_options){.decode = ONET_GREEDY});
        result b = run(m, sets, (onet_order_options){.beam = 1});
        assert_memory_equal(a.order, b.order, sets->start[sets->count] * sizeof *a.order);
        assert_memory_equal(a.logprob, b.logprob, sets->count * sizeof *a.logprob);
        result_free(&a);
        result_free(&b);
        onet_sets_free(sets);
        onet_model_free(m);
    }
}

static void steps_equal_teacher_forcing(void **state) {
    for (int k = 0; k < NETS; k++) {
        onet_model *m = model_of(&nets[k], 10);
        onet_sets *sets = random_sets(nets[k].width, 30, 1, 18, 11);
        double *p = scores(m, sets);
        for (size_t s = 0; s < sets->count; s++) {
            int n = (int)sets_size(sets, s);
            double *logits = need(malloc((size_t)n * n * sizeof *logits)), loss;
            paper_forward(&m->sh, m->theta, NULL, 1, n, sets_item(sets, sets->start[s]),
                          sets->order + sets->start[s], 0, logits, &loss);
            assert_true(fabs(p[s] + loss * n) < 2e-4 * n);
            free(logits);
        }
        free(p);
        onet_sets_free(sets);
        onet_model_free(m);
    }
}

/* Replaces the orders of the sets by those of an answer; returns their scores. */
static double *scores_of_answers(const onet_model *m, onet_sets *sets, const result *r) {
    memcpy(sets->order, r->order, sets->start[sets->count] * sizeof *sets->order);
    return scores(m, sets);
}

static void a_beam_scores_its_order_exactly(void **state) {
    for (int k = 0; k < NETS; k++) {
        onet_model *m = model_of(&nets[k], 12);
        onet_sets *sets = random_sets(nets[k].width, 100, 2, 16, 13);
        result greedy = run(m, sets, (onet_order_options){.decode = ONET_GREEDY});
        result beam = run(m, sets, (onet_order_options){.beam = 5});
        double *p = scores_of_answers(m, sets, &beam), sum = 0, sum_greedy = 0;
        for (size_t s = 0; s < sets->count; s++) {
            assert_true(fabs(p[s] - beam.logprob[s]) < 1e-9);
            double steps = 0;
            for (size_t t = 0; t < sets_size(sets, s); t++)
                steps += log((double)beam.step[sets->start[s] + t]);
            assert_true(fabs(steps - beam.logprob[s]) < 1e-4);
            sum += beam.logprob[s];
            sum_greedy += greedy.logprob[s];
        }
        assert_true(sum >= sum_greedy - 1e-9);
        free(p);
        result_free(&greedy);
        result_free(&beam);
        onet_sets_free(sets);
        onet_model_free(m);
    }
}

/* The greedy search leaves rows out; following a given order does not. */
static void leaving_rows_out_changes_no_bit(void **state) {
    for (int k = 0; k < NETS; k++) {
        onet_model *m = model_of(&nets[k], 12);
        onet_sets *sets = random_sets(nets[k].width, 4, 100, 130, 13);
        result greedy = run(m, sets, (onet_order_options){.decode = ONET_GREEDY});
        double *p = scores_of_answers(m, sets, &greedy);
        for (size_t s = 0; s < sets->count; s++) assert_true(p[s] == greedy.logprob[s]);
        free(p);
        result_free(&greedy);
        onet_sets_free(sets);
        onet_model_free(m);
    }
}

static void a_full_beam_finds_the_best_order(void **state) {
    onet_error err;
    static const int factorial[] = {1, 1, 2, 6, 24, 120, 720};
    for (int k = 0; k < NETS; k++) {
        onet_model *m = model_of(&nets[k], 14);
        int d = nets[k].width;
        for (int n = 1; n <= 6; n++) {
            onet_sets *one = random_sets(d, 1, n, n, 15 + (uint64_t)n), *all;
            result r = run(m, one, (onet_order_options){.beam = 720, .top = factorial[n]});
            assert_int_equal(r.answer[0].found, factorial[n]);
            double total = 0;
            for (int i = 0; i < factorial[n]; i++) {
                total += exp(r.logprob[i]);
                if (i) assert_true(r.logprob[i] <= r.logprob[i - 1]);
            }
            assert_true(fabs(total - 1) < 1e-4);
            int32_t order[6] = {0, 1, 2, 3, 4, 5};
            assert_int_equal(sets_new(&all, d, &err), ONET_OK);
            do assert_int_equal(sets_append(all, (size_t)n, d, one->items, order, &err), ONET_OK);
            while (next_order(order, n));
            assert_int_equal(all->count, factorial[n]);
            double *p = scores(m, all), best = -INFINITY;
            for (size_t s = 0; s < all->count; s++) best = fmax(best, p[s]);
            assert_true(fabs(best - r.logprob[0]) < 1e-9);
            free(p);
            result_free(&r);
            onet_sets_free(one);
            onet_sets_free(all);
        }
        onet_model_free(m);
    }
}

/* Draws follow the model: over many draws each order comes as often as its probability says. */
static void samples_follow_the_probabilities(void **state) {
    onet_model *m = model_of(&nets[1], 16);
    onet_sets *sets = random_sets(3, 1, 3, 3, 17);
    enum { DRAWS = 6000 };
    result all = run(m, sets, (onet_order_options){.beam = 6, .top = 6});
    result drawn = run(m, sets, (onet_order_options){.decode = ONET_SAMPLE, .top = DRAWS, .seed = 3});
    result again = run(m, sets, (onet_order_options){.decode = ONET_SAMPLE, .top = DRAWS, .seed = 3});
    assert_int_equal(drawn.answer[0].found, DRAWS);
    assert_memory_equal(drawn.order, again.order, 3 * DRAWS * sizeof *drawn.order);
    for (int o = 0; o < 6; o++) {
        double p = exp(all.logprob[o]), hits = 0;
        for (int i = 0; i < DRAWS; i++)
            hits += !memcmp(all.order + 3 * o, drawn.order + 3 * i, 3 * sizeof(int32_t));
        assert_true(fabs(hits / DRAWS - p) < 5 * sqrt(p * (1 - p) / DRAWS) + 1e-6);
    }
    result_free(&all);
    result_free(&drawn);
    result_free(&again);
    onet_sets_free(sets);
    onet_model_free(m);
}

static void coincident_items_give_numbers(void **state) {
    onet_error err;
    for (int k = 0; k < NETS; k++) {
        onet_model *m = model_of(&nets[k], 18);
        float x[3 * 12];
        for (int i = 0; i < 36; i++) x[i] = 0.25f;
        for (int n = 1; n <= 12; n++) {
            int32_t order[12];
            double p;
            assert_int_equal(onet_order(m, x, n, order, &p, &err), ONET_OK);
            assert_true(isfinite(p));
            assert_int_equal(sets_check_order(order, (size_t)n, &err), ONET_OK);
        }
        onet_model_free(m);
    }
}

static void a_wrong_width_is_refused(void **state) {
    onet_model *m = model_of(&nets[0], 19);
    onet_sets *sets = random_sets(3, 2, 2, 5, 20);
    onet_orderer *orderer;
    onet_error err;
    double p[2];
    assert_int_equal(onet_orderer_new(&orderer, m, NULL, &err), ONET_OK);
    assert_int_equal(onet_orderer_score(orderer, sets, p, &err), ONET_BAD);
    assert_non_null(strstr(err.text, "width 3"));
    onet_orderer_free(orderer);
    assert_int_equal(
        onet_orderer_new(&orderer, m,
                         &(onet_order_options){.size = sizeof(onet_order_options), .kernels = "abacus"},
                         &err),
        ONET_USAGE);
    assert_null(orderer);
    assert_int_equal(
        onet_orderer_new(&orderer, m,
                         &(onet_order_options){.size = sizeof(onet_order_options), .decode = (onet_decode)3},
                         &err),
        ONET_USAGE);
    assert_null(orderer);
    onet_sets_free(sets);
    onet_model_free(m);
}

static void overflow_is_refused(void **state) {
    for (int k = 0; k < NETS; k++) {
        onet_model *m = model_of(&nets[k], 23);
        float items[3 * 3] = {3e38f, -3e38f, 3e38f, -3e38f, 1, 3e38f, -3e38f, 3e38f, 2};
        int32_t order[3];
        double p;
        onet_error err = {.text = ""};
        assert_int_equal(onet_order(m, items, 3, order, &p, &err), ONET_BAD);
        assert_non_null(strstr(err.text, "set 1: its features are too large"));
        /* Also if no log-probability is requested. */
        onet_orderer *orderer;
        onet_sets sets = {
            .count = 1, .width = onet_model_settings(m)->width, .start = (size_t[]){0, 3}, .items = items};
        onet_answer answer = {.order = order};
        assert_int_equal(onet_orderer_new(&orderer, m, NULL, &err), ONET_OK);
        assert_int_equal(onet_orderer_run(orderer, &sets, &answer, &err), ONET_BAD);
        assert_non_null(strstr(err.text, "set 1: its features are too large"));
        for (int i = 0; i < 9; i++) items[i] /= 3e38f;
        assert_int_equal(onet_order(m, items, 3, order, &p, &err), ONET_OK);
        assert_true(isfinite(p));
        assert_int_equal(onet_orderer_run(orderer, &sets, &answer, &err), ONET_OK);
        assert_int_equal(answer.found, 1);
        assert_null(answer.logprob);
        onet_orderer_free(orderer);
        onet_model_free(m);
    }
}

static void unknown_kernels_are_refused(void **state) {
    net *t;
    onet_error err;
    assert_int_equal(cpu_open(&t, NULL, "none such", 1, &err), ONET_USAGE);
    assert_non_null(strstr(err.text, "kernels `none such` are unknown"));
}

/* A beam search takes one step of the decoder per beam and item but the last; there is one beam at first.
 * With one block, step t of the greedy search leaves out the t - 5 items that were placed longest ago. */
static void operations_of_searches(void **state) {
    enum { N = 20 };
    onet_settings settings = {.width = 2,
                              .encoder_blocks = 2,
                              .hidden = 16,
                              .encoder_out = 8,
                              .pool = ONET_POOL_MAX,
                              .decoder_blocks = 1,
                              .decoder_out = 8};
    static net_shape sh;
    assert_int_equal(net_shape_make(&sh, &settings, NULL), ONET_OK);
    double greedy = operations_order(&sh, N, 1), two = operations_order(&sh, N, 2),
           three = operations_order(&sh, N, 3), steps[] = {0, 1 + 2 * (N - 2), 1 + 3 * (N - 2)};
    for (int t = 0; t < N - 1; t++) steps[0] += t > 5 ? 1 - (t - 5.0) / N : 1;
    double each = (three - two) / (steps[2] - steps[1]);
    assert_true(each > 0 && fabs(two - greedy - each * (steps[1] - steps[0])) < 1e-9 * two);
    assert_true(operations_order(&sh, 1, 1) == operations_order(&sh, 1, 9));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(permuting_items_permutes_the_answer),
        cmocka_unit_test(threads_give_the_same_bits),
        cmocka_unit_test(greedy_is_a_beam_of_one),
        cmocka_unit_test(steps_equal_teacher_forcing),
        cmocka_unit_test(a_beam_scores_its_order_exactly),
        cmocka_unit_test(leaving_rows_out_changes_no_bit),
        cmocka_unit_test(a_full_beam_finds_the_best_order),
        cmocka_unit_test(samples_follow_the_probabilities),
        cmocka_unit_test(coincident_items_give_numbers),
        cmocka_unit_test(a_wrong_width_is_refused),
        cmocka_unit_test(overflow_is_refused),
        cmocka_unit_test(unknown_kernels_are_refused),
        cmocka_unit_test(operations_of_searches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
