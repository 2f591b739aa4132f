/* Tests the pruning of beam search: if only the best order is requested, the search drops beams that cannot
 * become it (decode/search.c). The answers must be those of the full beam search, which requesting a second
 * order forces, to the last bit, with fewer steps computed. Also tests the memory that a search needs. */
#include <malloc.h>
#include <math.h>

#include "engine/decode/search.h"
#include "random_constraints.h"
#include "random_model.h"

/* Returns a model whose choices are surer the larger `sharpness` is. */
static onet_model *sharp_model(const onet_settings *s, uint64_t seed, float sharpness) {
    onet_model *m = model_of(s, seed);
    for (int i = 0; i < m->sh.head_in; i++) m->theta[m->sh.head_weight + (size_t)i] *= sharpness;
    return m;
}

/* About a third of the items become equal to the first of their set. */
static void repeat_items(onet_sets *sets, uint64_t seed) {
    rng r;
    rng_seed(&r, seed, 3);
    size_t width = (size_t)sets->width;
    for (size_t s = 0; s < sets->count; s++)
        for (size_t i = sets->start[s] + 1; i < sets->start[s + 1]; i++)
            if (!rng_below(&r, 3))
                memcpy(sets->items + i * width, sets->items + sets->start[s] * width,
                       width * sizeof *sets->items);
}

/* How often the search ended in each of its ways. */
typedef struct ways {
    int sure, greedy, better, lost;
} ways;

static void check_same(const onet_model *m, const onet_sets *sets, int beams, ways *seen) {
    result best = run(m, sets, (onet_order_options){.beam = beams, .threads = 1}),
           all = run(m, sets, (onet_order_options){.beam = beams, .top = 2, .threads = 1}),
           greedy = run(m, sets, (onet_order_options){.decode = ONET_GREEDY, .threads = 1});
    for (size_t s = 0; s < sets->count; s++) {
        size_t n = sets_size(sets, s);
        double p = best.logprob[s], first = greedy.logprob[s];
        assert_int_equal(best.answer[s].found, 1);
        assert_memory_equal(best.answer[s].order, all.answer[s].order, n * sizeof(int32_t));
        assert_memory_equal(best.answer[s].logprob, all.answer[s].logprob, sizeof(double));
        assert_memory_equal(best.answer[s].step, all.answer[s].step, n * sizeof(float));
        if (exp(first) > 0.51)
            seen->sure++;
        else if (p == first)
            seen->greedy++;
        else if (p > first)
            seen->better++;
        else
            seen->lost++;
    }
    result_free(&best);
    result_free(&all);
    result_free(&greedy);
}

enum { PLAIN, REPEATED, CONTEXT, CONSTRAINED, KINDS };

static onet_sets *sets_of_kind(int kind, int width, int count, int low, int high, uint64_t seed) {
    onet_sets *sets = random_sets(width, count, low, high, seed);
    if (kind == REPEATED) repeat_items(sets, seed);
    if (kind == CONTEXT) add_context(sets, seed);
    if (kind == CONSTRAINED) {
        repeat_items(sets, seed);
        constrain(sets, seed);
    }
    return sets;
}

static const float sharpness[] = {0, 1, 6, 30}; /* 0: all orders are equally probable */
enum { SHARPNESSES = sizeof sharpness / sizeof *sharpness };

static void small_sets_have_the_answers_of_the_whole_search(void **state) {
    static const int beams[] = {2, 3, 5, 24};
    ways seen = {0};
    for (int k = 0; k < NETS; k++)
        for (int sharp = 0; sharp < SHARPNESSES; sharp++) {
            onet_model *m = sharp_model(&nets[k], 81, sharpness[sharp]);
            for (int kind = 0; kind < KINDS; kind++) {
                onet_sets *sets = sets_of_kind(kind, nets[k].width, 20, 1, 7, 82 + (uint64_t)kind);
                for (size_t b = 0; b < sizeof beams / sizeof *beams; b++)
                    check_same(m, sets, beams[b], &seen);
                onet_sets_free(sets);
                /* More beams than a set has orders. */
                sets = sets_of_kind(kind, nets[k].width, 5, 1, 5, 83 + (uint64_t)kind);
                check_same(m, sets, 121, &seen);
                onet_sets_free(sets);
            }
            onet_model_free(m);
        }
    assert_true(seen.sure > 100 && seen.greedy > 100 && seen.better > 100 && seen.lost);
}

/* Sizes below and above the largest for which the greedy order is found first, in one memory. */
static void so_have_larger_ones(void **state) {
    static const int high[] = {20, 60, 300}, count[] = {10, 4, 2};
    ways seen = {0};
    for (int k = 1; k < NETS; k++)
        for (int sharp = 1; sharp < SHARPNESSES; sharp++) {
            onet_model *m = sharp_model(&nets[k], 84, sharpness[sharp]);
            for (int kind = 0; kind < KINDS; kind++)
                for (int h = 0; h < (sharp == 2 && k == 1 ? 3 : 2); h++) {
                    onet_sets *sets =
                        sets_of_kind(kind, nets[k].width, count[h], 2, high[h], 85 + (uint64_t)kind);
                    check_same(m, sets, 2 + kind, &seen);
                    onet_sets_free(sets);
                }
            onet_model_free(m);
        }
    assert_true(seen.sure > 10 && seen.greedy > 10 && seen.better > 10 && seen.lost > 10);
}

/* All permutations are scored: an answer above one half is the best of them, by any beam. */
static void no_order_is_above_a_sure_one(void **state) {
    onet_error err;
    int sure = 0;
    for (int k = 0; k < NETS; k++)
        for (uint64_t turn = 0; turn < 40; turn++) {
            onet_model *m = sharp_model(&nets[k], 86 + turn, 30);
            onet_sets *one = random_sets(nets[k].width, 1, 1, 6, 87 + turn), *all;
            size_t n = sets_size(one, 0);
            int32_t order[6] = {0, 1, 2, 3, 4, 5};
            result found = run(m, one, (onet_order_options){.beam = 2, .threads = 1});
            assert_int_equal(sets_new(&all, nets[k].width, &err), ONET_OK);
            do assert_int_equal(sets_append(all, n, nets[k].width, one->items, order, &err), ONET_OK);
            while (next_order(order, (int)n));
            double *p = scores(m, all);
            for (size_t s = 0; s < all->count && exp(found.logprob[0]) > 0.5; s++) {
                sure += !s && n > 2;
                assert_true(p[s] <= found.logprob[0]);
                if (p[s] == found.logprob[0])
                    assert_memory_equal(all->order + all->start[s], found.order, n * sizeof *found.order);
            }
            free(p);
            result_free(&found);
            onet_sets_free(one);
            onet_sets_free(all);
            onet_model_free(m);
        }
    assert_true(sure > 20);
}

/* ---- How many steps are computed ---------------------------------------------------------------------- */

static int blocks_run;

static void counting_conv_forward(const conv_forward *f) {
    blocks_run++;
    kernels_pick(NULL)->conv_forward(f);
}

/* Returns the number of decoder blocks that a search runs; writes its best order to order [n]. */
static int blocks_of_search(const frozen *f, const onet_sets *one, search_query query, int32_t *order) {
    encoded e = {0};
    search s = {0};
    int n = (int)sets_size(one, 0);
    const float *items[8];
    int32_t rows[8];
    for (int i = 0; i < n; i++) {
        items[i] = sets_item(one, (size_t)i);
        rows[i] = i;
    }
    query.n = n;
    query.item = rows;
    assert_true(encoded_reserve(&e, f, n) && search_reserve(&s, f, query.beams, n, 1, NULL));
    encode(&e, f, items, (int[]){0, n}, 1, n, NULL);
    blocks_run = 0;
    search_begin(&s, f, &e, &query, 1, NULL);
    assert_true(search_run(&s, f, &e, 0) >= 1);
    memcpy(order, s.now[0].order, (size_t)n * sizeof *order);
    search_free(&s);
    encoded_free(&e);
    return blocks_run;
}

/* A sure order takes as many steps as the greedy search; no step of the greedy order is computed twice, so an
 * answer that is the greedy order never takes more than the whole search. */
static void fewer_steps_are_computed(void **state) {
    kernels counting = *kernels_pick(NULL);
    counting.conv_forward = counting_conv_forward;
    int sure = 0, fewer = 0;
    for (int k = 0; k < NETS; k++)
        for (int turn = 0; turn < 80; turn++) {
            onet_model *m = sharp_model(&nets[k], 91, sharpness[turn % SHARPNESSES]);
            onet_sets *one = random_sets(nets[k].width, 1, 3, 8, 92 + (uint64_t)turn);
            if (turn % 3 == 0) repeat_items(one, 93);
            int n = (int)sets_size(one, 0), beams = search_orders(n, 2 + turn % 5);
            freezer z;
            assert_true(freezer_new(&z, m, &counting));
            const frozen *f = freezer_prepare(&z, n);
            int32_t best[8], all[8], greedy[8];
            int fast = blocks_of_search(f, one, (search_query){.beams = beams, .best_only = true}, best),
                whole = blocks_of_search(f, one, (search_query){.beams = beams}, all),
                one_beam = blocks_of_search(f, one, (search_query){.beams = 1}, greedy);
            result p = run(m, one, (onet_order_options){.decode = ONET_GREEDY, .threads = 1});
            assert_memory_equal(best, all, (size_t)n * sizeof *best);
            if (exp(p.logprob[0]) > 0.51) assert_int_equal(fast, one_beam);
            if (!memcmp(best, greedy, (size_t)n * sizeof *best)) assert_true(fast <= whole);
            sure += fast == one_beam;
            fewer += fast > one_beam && fast < whole;
            result_free(&p);
            freezer_free(&z);
            onet_sets_free(one);
            onet_model_free(m);
        }
    assert_true(sure > 50 && fewer > 50);
}

/* docs/reliability.md: 3 steps of the decoder per beam; 8 below 256 items, and all steps of one beam up
 * to 50. */
static void memory_of_a_search(void **state) {
    static const struct {
        int n, beams, steps;
    } cases[] = {{2000, 100, 3}, {256, 400, 3}, {255, 400, 8}, {51, 2000, 8}, {50, 2000, 8}};
    const onet_settings net = {.width = 2,
                               .encoder_blocks = 1,
                               .hidden = 8,
                               .encoder_out = 8,
                               .decoder_blocks = 3,
                               .decoder_out = 16};
    onet_model *m = model_of(&net, 5);
    freezer z;
    assert_true(freezer_new(&z, m, kernels_pick(NULL)));
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        int n = cases[c].n, beams = cases[c].beams;
        const frozen *f = freezer_prepare(&z, n);
        search s = {0};
        struct mallinfo2 before = mallinfo2();
        assert_true(search_reserve(&s, f, beams, n, 1, NULL));
        struct mallinfo2 after = mallinfo2();
        size_t plane = (size_t)net.decoder_blocks * (size_t)n * (size_t)f->w.C * sizeof(real);
        size_t beam_rest = (size_t)n * 48 + 4096, all_steps = n <= 50 ? (size_t)(n + 3) * plane : 0;
        size_t most = (size_t)beams * ((size_t)cases[c].steps * plane + beam_rest) + all_steps + (1 << 20);
        size_t grown = after.uordblks + after.hblkhd - before.uordblks - before.hblkhd;
        assert_true(grown <= most); /* sanitizers count nothing here */
        search_free(&s);
    }
    freezer_free(&z);
    onet_model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_sets_have_the_answers_of_the_whole_search),
        cmocka_unit_test(so_have_larger_ones),
        cmocka_unit_test(no_order_is_above_a_sure_one),
        cmocka_unit_test(fewer_steps_are_computed),
        cmocka_unit_test(memory_of_a_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
