/* Tests ordering with context items and with constraints, for any weights: the network is the paper's with
 * the decoder on the placed items, constraints are always kept, a full beam finds the best order that keeps
 * them, scores of orders, of steps and of choices are the network's own, and sets without context or
 * constraints keep their answers. */
#include <math.h>

#include "alloc_count.h"
#include "engine/data/constraints.h"
#include "ordernet_measure.h"
#include "paper_form.h"
#include "random_constraints.h"
#include "random_model.h"

static int keeps(const onet_sets *sets, size_t s, const int32_t *order) {
    size_t from, count, first = sets->start[s], n = sets_size(sets, s), placed = sets_placed(sets, s);
    size_t *at = need(malloc(n * sizeof *at));
    int kept = 1;
    for (size_t t = 0; t < n; t++) at[order[t]] = t;
    constraints_of(sets, first, first + n, &from, &count);
    for (size_t k = from; k < from + count; k++) {
        const onet_constraint *c = &sets->constraints[k];
        size_t a = at[c->item - first];
        kept &= c->kind == ONET_PLACE  ? a == c->other
                : c->kind == ONET_LAST ? a == placed - 1
                : c->kind == ONET_NEXT ? a + 1 == at[c->other - first]
                                       : a < at[c->other - first];
    }
    free(at);
    return kept;
}

static void check_answers(const onet_sets *sets, const result *r) {
    onet_error err = {.text = ""};
    for (size_t s = 0; s < sets->count; s++) {
        size_t n = sets_size(sets, s), first = sets->start[s];
        for (int k = 0; k < r->answer[s].found; k++) {
            const int32_t *order = r->answer[s].order + (size_t)k * n;
            assert_int_equal(sets_check_order(order, n, &err), ONET_OK);
            assert_int_equal(sets_check_context(sets->context ? sets->context + first : NULL, order, n, &err),
                             ONET_OK);
            assert_true(keeps(sets, s, order));
        }
    }
}

/* ---- Context ----------------------------------------------------------------------------------------- */

static void scores_are_the_papers(void **state) {
    for (int k = 0; k < NETS; k++) {
        onet_model *m = model_of(&nets[k], 31);
        int d = nets[k].width;
        onet_sets *sets = random_sets(d, 30, 1, 18, 32);
        add_context(sets, 33);
        double *p = scores(m, sets), *theta = need(malloc(m->sh.total * sizeof *theta));
        for (size_t i = 0; i < m->sh.total; i++) theta[i] = m->theta[i];
        for (size_t s = 0; s < sets->count; s++) {
            size_t n = sets_size(sets, s), first = sets->start[s], placed = sets_placed(sets, s), row = 0;
            double *x = need(malloc(n * (size_t)d * sizeof *x)), loss;
            double *logits = need(malloc(placed * placed * sizeof *logits));
            int32_t *rows = need(malloc(n * sizeof *rows)), *y = need(malloc(n * sizeof *y));
            for (int context = 0; context < 2; context++)
                for (size_t i = 0; i < n; i++) {
                    if (sets->context[first + i] != context) continue;
                    for (int c = 0; c < d; c++)
                        x[row * (size_t)d + (size_t)c] = sets_item(sets, first + i)[c];
                    rows[i] = (int32_t)row++;
                }
            for (size_t t = 0; t < placed; t++) y[t] = rows[sets->order[first + t]];
            paper_forward_placed(&m->sh, theta, NULL, 1, (int)n, (int)placed, x, NULL, y, 0, logits, &loss);
            assert_true(fabs(p[s] + loss * (double)placed) < 2e-4 * (double)placed);
            free(x);
            free(logits);
            free(rows);
            free(y);
        }
        free(p);
        free(theta);
        onet_sets_free(sets);
        onet_model_free(m);
    }
}

/* Context items are absent from the placed part, permuting items permutes the answer, and leaving a context
 * item out is another question. */
static void context_is_seen_and_not_placed(void **state) {
    onet_error err;
    for (int k = 0; k < NETS; k++) {
        onet_model *m = model_of(&nets[k], 34);
        int d = nets[k].width, others = 0;
        onet_sets *sets = random_sets(d, 40, 1, 24, 35), *moved, *alone;
        onet_sets *way = random_sets(d, 40, 1, 24, 35); /* its order says where each item goes */
        add_context(sets, 36);
        assert_int_equal(sets_new(&moved, d, &err), ONET_OK);
        assert_int_equal(sets_new(&alone, d, &err), ONET_OK);
        for (size_t s = 0; s < sets->count; s++) {
            size_t n = sets_size(sets, s), first = sets->start[s], placed = 0;
            float *x = need(malloc(n * (size_t)d * sizeof *x)), *y = need(malloc(n * (size_t)d * sizeof *y));
            uint8_t *context = need(malloc(n));
            for (size_t i = 0; i < n; i++) {
                size_t from = first + (size_t)way->order[first + i];
                memcpy(x + i * (size_t)d, sets_item(sets, from), (size_t)d * sizeof *x);
                context[i] = sets->context[from];
                if (!sets->context[first + i])
                    memcpy(y + placed++ * (size_t)d, sets_item(sets, first + i), (size_t)d * sizeof *y);
            }
            assert_int_equal(sets_append(moved, n, d, x, NULL, &err), ONET_OK);
            assert_int_equal(sets_append_context(moved, context, &err), ONET_OK);
            assert_int_equal(sets_append(alone, placed, d, y, NULL, &err), ONET_OK);
            free(x);
            free(y);
            free(context);
        }
        result a = run(m, sets, (onet_order_options){.beam = 5}),
               b = run(m, moved, (onet_order_options){.beam = 5}),
               c = run(m, alone, (onet_order_options){.beam = 5});
        check_answers(sets, &a);
        for (size_t s = 0; s < sets->count; s++) {
            size_t first = sets->start[s], placed = sets_placed(sets, s);
            assert_true(fabs(a.logprob[s] - b.logprob[s]) < 1e-3);
            for (size_t t = 0; t < placed; t++)
                assert_int_equal(way->order[first + (size_t)b.order[first + t]], a.order[first + t]);
            for (size_t t = placed; t < sets_size(sets, s); t++) assert_true(a.step[first + t] == 0);
            others += placed < sets_size(sets, s) && placed > 1 && fabs(a.logprob[s] - c.logprob[s]) > 1e-3;
        }
        assert_true(others > 5);
        result_free(&a);
        result_free(&b);
        result_free(&c);
        onet_sets_free(sets);
        onet_sets_free(way);
        onet_sets_free(moved);
        onet_sets_free(alone);
        onet_model_free(m);
    }
}

/* No flag set is the same as no flags, and constraints that say nothing new change no bit. */
static void empty_context_changes_no_bit(void **state) {
    onet_error err;
    onet_model *m = model_of(&nets[0], 37);
    onet_sets *sets = random_sets(2, 30, 1, 20, 38);
    size_t items = sets->start[sets->count];
    uint8_t *none = need(calloc(items, 1));
    result a = run(m, sets, (onet_order_options){.beam = 5});
    assert_int_equal(onet_sets_set_context(sets, none, &err), ONET_OK);
    result b = run(m, sets, (onet_order_options){.beam = 5});
    assert_memory_equal(a.order, b.order, items * sizeof *a.order);
    assert_memory_equal(a.logprob, b.logprob, sets->count * sizeof *a.logprob);
    assert_memory_equal(a.step, b.step, items * sizeof *a.step);
    onet_constraint *list = need(malloc(sets->count * sizeof *list));
    size_t count = 0;
    for (size_t s = 0; s < sets->count; s++)
        list[count++] =
            (onet_constraint){ONET_LAST, sets->start[s] + (size_t)a.order[sets->start[s + 1] - 1], 0};
    assert_int_equal(onet_sets_set_constraints(sets, list, count, &err), ONET_OK);
    result greedy = run(m, sets, (onet_order_options){.decode = ONET_GREEDY});
    for (size_t s = 0; s < sets->count; s++)
        list[s].item = sets->start[s] + (size_t)greedy.order[sets->start[s + 1] - 1];
    assert_int_equal(onet_sets_set_constraints(sets, list, count, &err), ONET_OK);
    result again = run(m, sets, (onet_order_options){.decode = ONET_GREEDY});
    assert_memory_equal(greedy.order, again.order, items * sizeof *a.order);
    assert_memory_equal(greedy.logprob, again.logprob, sets->count * sizeof *a.logprob);
    free(list);
    free(none);
    result_free(&a);
    result_free(&b);
    result_free(&greedy);
    result_free(&again);
    onet_sets_free(sets);
    onet_model_free(m);
}

/* ---- Constraints ------------------------------------------------------------------------------------- */

/* By any search, with context, large sets (whose greedy search leaves rows out) among them; the probabilities
 * are those that the order has without constraints. */
static void constraints_are_kept(void **state) {
    static const onet_order_options how[] = {{.decode = ONET_GREEDY},
                                             {.beam = 5, .top = 5},
                                             {.beam = 40, .top = 2},
                                             {.decode = ONET_SAMPLE, .top = 3, .seed = 5}};
    for (int k = 0; k < NETS; k++) {
        onet_model *m = model_of(&nets[k], 41);
        for (int large = 0; large < 2; large++) {
            onet_sets *sets = large ? random_sets(nets[k].width, 4, 90, 120, 42)
                                    : random_sets(nets[k].width, 120, 1, 9, 43);
            add_context(sets, 44);
            constrain(sets, 45);
            for (size_t h = 0; h < sizeof how / sizeof *how; h++) {
                result r = run(m, sets, how[h]);
                check_answers(sets, &r);
                for (size_t s = 0; s < sets->count; s++) {
                    assert_true(r.answer[s].found >= 1);
                    memcpy(sets->order + sets->start[s], r.answer[s].order,
                           sets_size(sets, s) * sizeof *sets->order);
                }
                double *p = scores(m, sets);
                for (size_t s = 0; s < sets->count; s++)
                    assert_true(fabs(p[s] - r.logprob[s * (size_t)r.top]) < 1e-9);
                free(p);
                result_free(&r);
            }
            onet_sets_free(sets);
        }
        onet_model_free(m);
    }
}

/* All permutations of the placed items are scored; the best that keeps the constraints is what a beam of full
 * width finds, and it finds as many as there are. */
static void a_full_beam_finds_the_best_kept_order(void **state) {
    onet_error err;
    for (int k = 0; k < NETS; k++) {
        onet_model *m = model_of(&nets[k], 51);
        int d = nets[k].width;
        for (uint64_t turn = 0; turn < 30; turn++) {
            onet_sets *one = random_sets(d, 1, 1, 6, 52 + turn), *all;
            if (turn % 2) add_context(one, turn);
            rng r;
            onet_constraint list[MOST];
            rng_seed(&r, 53, turn);
            assert_int_equal(onet_sets_set_constraints(one, list, add_constraints(one, 0, &r, list), &err),
                             ONET_OK);
            size_t n = sets_size(one, 0), placed = sets_placed(one, 0);
            int32_t order[6], rank[6] = {0, 1, 2, 3, 4, 5}, item[6];
            for (size_t i = 0, at = 0; i < n; i++)
                if (!one->context || !one->context[i]) item[at++] = (int32_t)i;
            memcpy(order, one->order, n * sizeof *order);
            assert_int_equal(sets_new(&all, d, &err), ONET_OK);
            do {
                for (size_t t = 0; t < placed; t++) order[t] = item[rank[t]];
                if (!keeps(one, 0, order)) continue;
                assert_int_equal(sets_append(all, n, d, one->items, order, &err), ONET_OK);
                if (one->context) assert_int_equal(sets_append_context(all, one->context, &err), ONET_OK);
            } while (next_order(rank, (int)placed));
            result found = run(m, one, (onet_order_options){.beam = 720, .top = 720});
            assert_int_equal(found.answer[0].found, all->count);
            double *p = scores(m, all);
            size_t best = 0;
            for (size_t s = 1; s < all->count; s++)
                if (p[s] > p[best]) best = s;
            assert_true(fabs(p[best] - found.logprob[0]) < 1e-9);
            assert_memory_equal(all->order + all->start[best], found.order, n * sizeof *found.order);
            free(p);
            result_free(&found);
            onet_sets_free(one);
            onet_sets_free(all);
        }
        onet_model_free(m);
    }
}

/* Draws keep to the allowed items and among them follow the net's probabilities. */
static void draws_follow_the_probabilities(void **state) {
    enum { DRAWS = 6000 };
    onet_error err;
    onet_model *m = model_of(&nets[1], 61);
    onet_sets *sets = random_sets(3, 1, 3, 3, 62);
    const onet_constraint before = {ONET_BEFORE, 2, 0};
    assert_int_equal(onet_sets_set_constraints(sets, &before, 1, &err), ONET_OK);
    result all = run(m, sets, (onet_order_options){.beam = 6, .top = 6});
    assert_int_equal(all.answer[0].found, 3);
    result drawn = run(m, sets, (onet_order_options){.decode = ONET_SAMPLE, .top = DRAWS, .seed = 3});
    check_answers(sets, &drawn);
    /* Item 1 or 2 may come first: that choice follows the two probabilities of the first step. */
    double p[3] = {0}, hits = 0;
    for (int k = 0; k < 3; k++) p[all.order[3 * k]] = all.step[3 * k];
    for (int i = 0; i < DRAWS; i++) hits += drawn.order[3 * i] == 1;
    double share = p[1] / (p[1] + p[2]);
    assert_true(p[1] > 0 && p[2] > 0);
    assert_true(fabs(hits / DRAWS - share) < 5 * sqrt(share * (1 - share) / DRAWS));
    result_free(&all);
    result_free(&drawn);
    onet_sets_free(sets);
    onet_model_free(m);
}

/* ---- Scores of steps --------------------------------------------------------------------------------- */

static void steps_add_up(void **state) {
    onet_error err;
    onet_model *m = model_of(&nets[0], 71);
    onet_sets *sets = random_sets(2, 40, 1, 15, 72);
    add_context(sets, 73);
    size_t items = sets->start[sets->count];
    double *p = need(malloc(sets->count * sizeof *p)), *step = need(malloc(items * sizeof *step));
    double *plain = scores(m, sets), *view = need(malloc(items * sizeof *view));
    onet_orderer *orderer;
    assert_int_equal(onet_orderer_new(&orderer, m, NULL, &err), ONET_OK);
    assert_int_equal(onet_orderer_score_steps(orderer, sets, p, step, &err), ONET_OK);
    for (size_t s = 0; s < sets->count; s++) {
        double sum = 0;
        size_t placed = sets_placed(sets, s);
        for (size_t t = 0; t < sets_size(sets, s); t++) {
            double each = step[sets->start[s] + t];
            assert_true(t < placed ? each <= 0 : each == 0);
            sum += each;
        }
        assert_true(p[s] == plain[s]);
        assert_true(fabs(sum - p[s]) < 1e-9);
    }
    /* A part of the sets: steps are counted from its first. */
    onet_sets part = *sets;
    part.start += 7;
    part.count = 5;
    assert_int_equal(onet_orderer_score_steps(orderer, &part, p, view, &err), ONET_OK);
    assert_memory_equal(view, step + sets->start[7], (sets->start[12] - sets->start[7]) * sizeof *view);
    onet_orderer_free(orderer);
    free(p);
    free(step);
    free(plain);
    free(view);
    onet_sets_free(sets);
    onet_model_free(m);
}

/* A row of choices is a distribution over the items that are not placed yet, and has the step's own. */
static void choices_are_distributions(void **state) {
    enum { SIZE = 12 };
    onet_error err;
    onet_model *m = model_of(&nets[0], 74);
    onet_sets *sets = random_sets(2, 20, 1, SIZE, 75);
    add_context(sets, 76);
    onet_orderer *orderer;
    assert_int_equal(onet_orderer_new(&orderer, m, NULL, &err), ONET_OK);
    for (size_t s = 0; s < sets->count; s++) {
        onet_sets one = *sets;
        one.start += s;
        one.count = 1;
        size_t n = sets_size(sets, s), placed = sets_placed(sets, s);
        double p, step[SIZE], choice[SIZE * SIZE];
        bool gone[SIZE] = {false};
        const int32_t *order = sets->order + sets->start[s];
        for (size_t t = placed; t < n; t++) gone[order[t]] = true;
        assert_int_equal(onet_orderer_score_steps(orderer, &one, &p, step, &err), ONET_OK);
        assert_int_equal(onet_orderer_choices(orderer, &one, choice, &err), ONET_OK);
        for (size_t t = 0; t < n; t++) {
            double sum = 0;
            for (size_t i = 0; i < n; i++) {
                assert_true(gone[i] || t >= placed ? choice[t * n + i] == 0 : choice[t * n + i] > 0);
                sum += choice[t * n + i];
            }
            assert_true(fabs(sum - (t < placed)) < 1e-5); /* the exponents are float32 */
            if (t < placed) {
                assert_true(choice[t * n + (size_t)order[t]] == exp(step[t]));
            }
            gone[order[t]] = true;
        }
    }
    onet_orderer_free(orderer);
    onet_sets_free(sets);
    onet_model_free(m);
}

static void memory_for_choices(void **state) {
    alloc_works_or_skip();
    enum { SIZE = 5 };
    onet_error err;
    onet_model *m = model_of(&nets[0], 74);
    onet_sets *set = random_sets(2, 1, SIZE, SIZE, 75);
    onet_orderer *orderer;
    double choice[SIZE * SIZE];
    size_t points = 0;
    assert_int_equal(onet_orderer_new(&orderer, m, NULL, &err), ONET_OK);
    for (int reached = 1; reached; points++) {
        alloc_fail(points, 0);
        onet_status status = onet_orderer_choices(orderer, set, choice, &err);
        reached = alloc_failed();
        alloc_fail(SIZE_MAX, 0);
        assert_int_equal(status, reached ? ONET_MEMORY : ONET_OK);
    }
    assert_true(points > 1);
    onet_orderer_free(orderer);
    onet_sets_free(set);
    onet_model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_are_the_papers),
        cmocka_unit_test(context_is_seen_and_not_placed),
        cmocka_unit_test(empty_context_changes_no_bit),
        cmocka_unit_test(constraints_are_kept),
        cmocka_unit_test(a_full_beam_finds_the_best_kept_order),
        cmocka_unit_test(draws_follow_the_probabilities),
        cmocka_unit_test(steps_add_up),
        cmocka_unit_test(choices_are_distributions),
        cmocka_unit_test(memory_for_choices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
