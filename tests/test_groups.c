/* Tests that small sets, which are encoded and searched in groups (decode/encode.h), get answers that do not
 * depend, to the last bit, on the sets beside them, on their number, or on the number of threads, nor does
 * that of a larger set whose work the threads share; and that several orders of one set (decode/scoring.h)
 * are scored as each of them alone. */
#include <pthread.h>
#include <stdatomic.h>

#include "engine/decode/orderer.h"
#include "engine/decode/scoring.h"
#include "engine/decode/search.h"
#include "ordernet_measure.h"
#include "random_constraints.h"
#include "random_model.h"

enum { PLAIN, CONTEXT, CONSTRAINED, KINDS };

static onet_sets *sets_of_kind(int kind, int width, int count, int low, int high, uint64_t seed) {
    onet_sets *sets = random_sets(width, count, low, high, seed);
    if (kind == CONTEXT) add_context(sets, seed);
    if (kind == CONSTRAINED) constrain(sets, seed);
    return sets;
}

/* Everything that an orderer returns for some sets. */
typedef struct said {
    int top;
    size_t sets, items;
    int32_t *order;
    float *step;
    double *logprob, *score, *score_step;
    int *found;
} said;

/* Gives the sets to the orderer `chunk` at a time. */
static said ask(const onet_model *m, const onet_sets *sets, onet_order_options o, size_t chunk) {
    onet_orderer *orderer;
    onet_error err = {.text = ""};
    said a = {.top = o.top ? o.top : 1, .sets = sets->count, .items = sets->start[sets->count]};
    size_t top = (size_t)a.top;
    a.order = need(calloc(a.items * top, sizeof *a.order));
    a.step = need(calloc(a.items * top, sizeof *a.step));
    a.logprob = need(calloc(a.sets * top, sizeof *a.logprob));
    a.score = need(calloc(a.sets, sizeof *a.score));
    a.score_step = need(calloc(a.items, sizeof *a.score_step));
    a.found = need(calloc(a.sets, sizeof *a.found));
    onet_answer *answers = need(calloc(a.sets, sizeof *answers));
    for (size_t s = 0; s < a.sets; s++)
        answers[s] = (onet_answer){.order = a.order + sets->start[s] * top,
                                   .step = a.step + sets->start[s] * top,
                                   .logprob = a.logprob + s * top};
    o.size = sizeof o;
    assert_int_equal(onet_orderer_new(&orderer, m, &o, &err), ONET_OK);
    /* All orders before the first score: random draws depend on how many sets were served before. */
    for (int scored = 0; scored < 2; scored++)
        for (size_t s = 0, end; s < a.sets; s = end) {
            onet_sets some;
            end = s + chunk < a.sets ? s + chunk : a.sets;
            sets_slice(&some, sets, s, end);
            onet_status status = scored ? onet_orderer_score_steps(orderer, &some, a.score + s,
                                                                   a.score_step + sets->start[s], &err)
                                        : onet_orderer_run(orderer, &some, answers + s, &err);
            assert_int_equal(status, ONET_OK);
        }
    for (size_t s = 0; s < a.sets; s++) a.found[s] = answers[s].found;
    free(answers);
    onet_orderer_free(orderer);
    return a;
}

static void said_free(said *a) {
    free(a->order);
    free(a->step);
    free(a->logprob);
    free(a->score);
    free(a->score_step);
    free(a->found);
}

static void check_same(const said *a, const said *b) {
    size_t top = (size_t)a->top;
    assert_memory_equal(a->found, b->found, a->sets * sizeof *a->found);
    assert_memory_equal(a->order, b->order, a->items * top * sizeof *a->order);
    assert_memory_equal(a->step, b->step, a->items * top * sizeof *a->step);
    assert_memory_equal(a->logprob, b->logprob, a->sets * top * sizeof *a->logprob);
    assert_memory_equal(a->score, b->score, a->sets * sizeof *a->score);
    assert_memory_equal(a->score_step, b->score_step, a->items * sizeof *a->score_step);
}

static const onet_order_options asked[] = {
    {.beam = 5},           {.beam = 2},
    {.beam = 3, .top = 3}, {.decode = ONET_GREEDY},
    {.beam = 12},          {.decode = ONET_SAMPLE, .top = 2, .seed = 7},
};
enum { ASKED = sizeof asked / sizeof *asked };

static void check_all_ways(const onet_model *m, const onet_sets *sets, const onet_order_options *o) {
    static const size_t chunks[] = {2, GROUP_SETS - 1, SIZE_MAX / 2};
    onet_order_options with = *o;
    with.threads = 1;
    said alone = ask(m, sets, with, 1);
    for (size_t c = 0; c < sizeof chunks / sizeof *chunks; c++)
        for (with.threads = 1; with.threads <= 3; with.threads += 2) {
            said beside = ask(m, sets, with, chunks[c]);
            check_same(&alone, &beside);
            said_free(&beside);
        }
    said_free(&alone);
}

static void sets_beside_a_set_change_nothing(void **state) {
    for (int k = 0; k < NETS; k++) {
        onet_model *m = model_of(&nets[k], 31);
        for (int kind = 0; kind < KINDS; kind++) {
            /* Full groups of one size; sizes that share a group, or not, around the limits. */
            onet_sets *equal = sets_of_kind(kind, nets[k].width, 2 * GROUP_SETS + 5, 5, 5, 32),
                      *mixed = sets_of_kind(kind, nets[k].width, 20, 1, GROUP_ITEMS + 2, 33);
            for (int a = 0; a < ASKED; a++) check_all_ways(m, (a + kind + k) % 2 ? equal : mixed, &asked[a]);
            onet_sets_free(equal);
            onet_sets_free(mixed);
        }
        onet_model_free(m);
    }
}

/* Sizes with weights of their own are not in one group. */
static void sizes_with_weights_of_their_own(void **state) {
    onet_model *m = model_of(&nets[1], 34);
    size_t norms = m->sh.total - m->sh.trained;
    m->sized = true;
    m->inverse_size = 0.2f;
    m->smallest_size = 2;
    for (size_t i = 0; i < norms; i++) m->slope[i] = 0.5f;
    onet_sets *sets = sets_of_kind(PLAIN, nets[1].width, 60, 4, 6, 35);
    check_all_ways(m, sets, &asked[0]);
    onet_sets_free(sets);
    onet_model_free(m);
}

/* ---- A set that is alone ------------------------------------------------------------------------------- */

static onet_sets *lone_sets(const onet_settings *of, int kind) {
    onet_sets *sets = sets_of_kind(kind, of->width, 2, 60, 90, 41);
    size_t count = 0;
    for (size_t s = 0; s < sets->count; s++) {
        size_t n = sets->start[s + 1] - sets->start[s];
        count += n * n * (size_t)of->relations;
    }
    if (!count) return sets;
    float *value = need(calloc(count, sizeof *value));
    rng r;
    rng_seed(&r, 42, 0);
    for (size_t i = 0; i < count; i++) value[i] = (float)rng_uniform(&r);
    assert_int_equal(onet_sets_set_pairs(sets, of->relations, value, NULL, NULL), ONET_OK);
    free(value);
    return sets;
}

/* The work on a set that is alone is shared by all threads. */
static void threads_share_a_lone_set(void **state) {
    static const onet_settings large[] = {
        {2, 3, 128, 16, ONET_POOL_MAX, 5, 16, 0, 0, {0}},
        {3, 2, 100, 20, ONET_POOL_MEAN, 3, 30, 1, 0, {0}},
        {2, 2, 64, 16, ONET_POOL_MAX, 4, 16, 0, 2, {0}},
    };
    for (size_t k = 0; k < sizeof large / sizeof *large; k++) {
        onet_model *m = model_of(&large[k], 43);
        for (int kind = 0; kind < KINDS; kind++) {
            onet_sets *sets = lone_sets(&large[k], kind);
            for (int a = 0; a < ASKED; a++) {
                onet_order_options with = asked[a];
                with.threads = 1;
                said one = ask(m, sets, with, 1);
                for (with.threads = 2; with.threads <= 5; with.threads += 3) {
                    said several = ask(m, sets, with, 1);
                    check_same(&one, &several);
                    said_free(&several);
                }
                said_free(&one);
            }
            onet_sets_free(sets);
        }
        onet_model_free(m);
    }
}

static pthread_t caller;
static atomic_int helped;

static int note_thread(void *context) {
    (void)context;
    if (!pthread_equal(pthread_self(), caller)) helped = 1;
    return 0;
}

/* Other threads than the caller's take a part; on a busy machine not each time. */
static void threads_do_share_it(void **state) {
    onet_model *m = model_of(&nets[0], 44);
    onet_sets *sets = random_sets(nets[0].width, 1, 120, 120, 45);
    onet_order_options o = {.size = sizeof o, .threads = 3, .stop = note_thread};
    onet_orderer *orderer;
    int32_t order[120];
    onet_answer answer = {.order = order};
    caller = pthread_self();
    assert_int_equal(onet_orderer_new(&orderer, m, &o, NULL), ONET_OK);
    for (int i = 0; i < 10000 && !helped; i++)
        assert_int_equal(onet_orderer_run(orderer, sets, &answer, NULL), ONET_OK);
    assert_int_equal(helped, 1);
    onet_orderer_free(orderer);
    onet_sets_free(sets);
    onet_model_free(m);
}

/* ---- The weights are read once per group --------------------------------------------------------------- */

static int products;

static void counting_gemm(int M, int N, int K, const real *A, size_t am, size_t ak, matrix B, real *C,
                          size_t ldc, int add) {
    products++;
    kernels_pick(NULL)->gemm(M, N, K, A, am, ak, B, C, ldc, add);
}

/* Returns how many products the encoder and the greedy search compute for the first `count` sets together. */
static int products_of(const frozen *f, const onet_sets *sets, int count, double *logprob) {
    encoded e = {0};
    search s = {0};
    search_query query[GROUP_SETS];
    int start[GROUP_SETS + 1] = {0};
    const float *items[GROUP_ROWS];
    int32_t item[GROUP_ROWS];
    for (int k = 0; k < count; k++) {
        start[k + 1] = (int)sets->start[k + 1];
        for (int i = start[k]; i < start[k + 1]; i++) {
            items[i] = sets_item(sets, (size_t)i);
            item[i] = i - start[k];
        }
        query[k] = (search_query){.n = start[k + 1] - start[k],
                                  .first = start[k],
                                  .beams = 5,
                                  .best_only = true,
                                  .item = item + start[k]};
    }
    assert_true(start[count] <= GROUP_ROWS);
    assert_true(encoded_reserve(&e, f, start[count]) && search_reserve(&s, f, 5, 6, count, NULL));
    products = 0;
    encode(&e, f, items, start, count, start[count], NULL);
    search_begin(&s, f, &e, query, count, NULL);
    int needed = products;
    for (int k = 0; k < count; k++) {
        assert_true(search_run(&s, f, &e, k) >= 1);
        logprob[k] = s.now[0].logprob;
    }
    search_free(&s);
    encoded_free(&e);
    return needed;
}

static void weights_are_read_once_per_group(void **state) {
    kernels counting = *kernels_pick(NULL);
    counting.gemm = counting_gemm;
    for (int k = 0; k < NETS; k++) {
        onet_model *m = model_of(&nets[k], 36);
        onet_sets *sets = random_sets(nets[k].width, GROUP_SETS, 4, 4, 37);
        double one[GROUP_SETS], all[GROUP_SETS];
        freezer z;
        assert_true(freezer_new(&z, m, &counting));
        const frozen *f = need((void *)freezer_prepare(&z, 4));
        assert_int_equal(products_of(f, sets, 1, one), products_of(f, sets, GROUP_SETS, all));
        assert_memory_equal(one, all, sizeof *one);
        freezer_free(&z);
        onet_sets_free(sets);
        onet_model_free(m);
    }
}

/* ---- Several orders of one set ------------------------------------------------------------------------- */

enum { ORDERS = 12, COPIES = 3 };

/* Orders that have much in common: each after the first is an earlier one with a part of it turned round. */
static void similar_orders(int32_t *orders, int n, rng *r) {
    for (int i = 0; i < n; i++) orders[i] = i;
    for (int k = 1; k < ORDERS; k++) {
        int32_t *mine = orders + (size_t)k * n;
        memcpy(mine, orders + rng_below(r, (uint64_t)k) * (uint64_t)n, (size_t)n * sizeof *mine);
        int first = (int)rng_below(r, (uint64_t)n), last = first + (int)rng_below(r, (uint64_t)(n - first));
        if (k % 2 && last > first + 3) last = first + 3;
        for (; first < last; first++, last--) {
            int32_t swap = mine[first];
            mine[first] = mine[last];
            mine[last] = swap;
        }
    }
}

static void orders_of_one_set_score_as_alone(void **state) {
    static const int sizes[] = {1, 2, 3, 9, 17, 40, 75};
    rng r;
    rng_seed(&r, 38, 0);
    for (int k = 0; k < NETS; k++)
        for (size_t z = 0; z < sizeof sizes / sizeof *sizes; z++) {
            int n = sizes[z], width = nets[k].width;
            onet_model *m = model_of(&nets[k], 39);
            onet_sets *sets = random_sets(width, COPIES, n, n, 40);
            int32_t *orders = need(calloc(ORDERS * (size_t)n, sizeof *orders));
            double together[COPIES * ORDERS], alone[COPIES * ORDERS];
            onet_orderer *orderer;
            similar_orders(orders, n, &r);
            for (int threads = 1; threads <= 5; threads += 2) {
                onet_order_options o = {
                    .size = sizeof o, .threads = threads, .kernels = z % 2 ? "plain" : NULL};
                assert_int_equal(onet_orderer_new(&orderer, m, &o, NULL), ONET_OK);
                for (size_t s = 0; s < COPIES * (size_t)ORDERS && threads == 1; s++) {
                    onet_sets *one;
                    const float *items = sets->items + s / ORDERS * (size_t)(n * width);
                    assert_int_equal(
                        onet_sets_from(&one, 1, n, width, items, orders + s % ORDERS * (size_t)n, NULL),
                        ONET_OK);
                    assert_int_equal(onet_orderer_score(orderer, one, &alone[s], NULL), ONET_OK);
                    onet_sets_free(one);
                }
                assert_int_equal(
                    orderer_score_orders(orderer, sets->items, COPIES, n, orders, ORDERS, together, NULL),
                    ONET_OK);
                assert_memory_equal(together, alone, sizeof alone);
                onet_orderer_free(orderer);
            }
            free(orders);
            onet_sets_free(sets);
            onet_model_free(m);
        }
}

/* Orders that differ in two neighbours have a step of their own for each state that remembers the change. */
static void orders_share_what_they_have_in_common(void **state) {
    enum { N = 40, BLOCKS = 3, AT = 10 };
    int32_t orders[2 * N];
    scoring_plan p;
    for (int i = 0; i < N; i++) orders[i] = orders[N + i] = i;
    orders[N + AT] = AT + 1;
    orders[N + AT + 1] = AT;
    assert_true(scoring_plan_new(&p, BLOCKS, N, orders, 2));
    for (int t = 0; t < N; t++) assert_int_equal(p.owner[N + t], t > AT && t <= AT + 2 * BLOCKS + 2);
    scoring_plan_free(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_beside_a_set_change_nothing),
        cmocka_unit_test(sizes_with_weights_of_their_own),
        cmocka_unit_test(threads_share_a_lone_set),
        cmocka_unit_test(threads_do_share_it),
        cmocka_unit_test(weights_are_read_once_per_group),
        cmocka_unit_test(orders_of_one_set_score_as_alone),
        cmocka_unit_test(orders_share_what_they_have_in_common),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
