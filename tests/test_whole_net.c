/* Tests whole nets on every kernel set that this CPU runs against the plain one: training and ordering, with
 * relations of the sets, made ones and quantiles, and without any. Runs on ARM and as WebAssembly too. */
#include <math.h>
#include <stdlib.h>

#include "engine/base/rng.h"
#include "ordernet_measure.h"
#include "ordernet_train.h"
#include "unit.h"

enum { SETS = 16, N = 7, WIDTH = 3, R = 2 };

static onet_sets *some_sets(int relations) {
    static float items[SETS * N * WIDTH], e[SETS * N * N * R];
    static int32_t order[SETS * N];
    onet_error err;
    onet_sets *sets;
    rng r;
    rng_seed(&r, 11, 1);
    for (int i = 0; i < SETS * N * WIDTH; i++) items[i] = (float)rng_normal(&r);
    for (int i = 0; i < SETS * N * N * R; i++) e[i] = (float)(5 + rng_normal(&r));
    for (int s = 0; s < SETS; s++) {
        size_t place[N];
        rng_permutation(&r, place, N);
        for (int i = 0; i < N; i++) order[s * N + (int)place[i]] = i;
    }
    if (onet_sets_from(&sets, SETS, N, WIDTH, items, order, &err)) fail_msg("%s", err.text);
    if (relations && onet_sets_set_pairs(sets, relations, e, NULL, &err)) fail_msg("%s", err.text);
    return sets;
}

static onet_model *trained(const onet_sets *sets, const char *kernels, const char *relate, onet_pool pool) {
    onet_error err;
    onet_model *model;
    onet_train_options o;
    onet_train_defaults(&o, sizeof o);
    o.epochs = 2;
    o.batch = 8;
    o.threads = 1;
    o.learning_rate = 1e-3;
    o.kernels = kernels;
    o.relate = relate;
    o.scale = relate ? "quantile:distance:1+2" : "auto";
    o.settings.pool = pool;
    o.settings.encoder_blocks = o.settings.decoder_blocks = 2;
    o.settings.hidden = 40;
    if (onet_train(&model, sets, NULL, &o, &err)) fail_msg("%s: %s", kernels, err.text);
    return model;
}

/* Writes the log-probabilities of the sets' own orders and of the orders found. */
static void measure(const onet_model *model, const onet_sets *sets, const char *kernels, double *own,
                    double *found) {
    static int32_t order[SETS * N];
    onet_error err;
    onet_orderer *orderer;
    onet_answer answers[SETS];
    onet_order_options o = {.size = sizeof o, .threads = 1, .kernels = kernels};
    if (onet_orderer_new(&orderer, model, &o, &err)) fail_msg("%s: %s", kernels, err.text);
    for (int s = 0; s < SETS; s++) answers[s] = (onet_answer){.order = order + s * N, .logprob = found + s};
    if (onet_orderer_score(orderer, sets, own, &err)) fail_msg("%s: %s", kernels, err.text);
    if (onet_orderer_run(orderer, sets, answers, &err)) fail_msg("%s: %s", kernels, err.text);
    onet_orderer_free(orderer);
}

static void assert_close(const double *a, const double *b, double allowed, const char *kernels) {
    for (int s = 0; s < SETS; s++)
        if (!(fabs(a[s] - b[s]) <= allowed))
            fail_msg("%s: set %d has a log-probability of %.9g, by plain kernels %.9g", kernels, s, b[s],
                     a[s]);
}

static void agree_with_plain(int relations, const char *relate) {
    onet_sets *sets = some_sets(relations);
    for (int pool = ONET_POOL_MAX; pool <= ONET_POOL_MEAN; pool++) {
        double own[SETS], found[SETS], theirs[SETS], theirs_found[SETS];
        onet_model *plain = trained(sets, "plain", relate, (onet_pool)pool);
        measure(plain, sets, "plain", own, found);
        for (const char *const *k = onet_kernels_here(); *k; k++) {
            measure(plain, sets, *k, theirs, theirs_found);
            assert_close(own, theirs, 1e-4, *k);
            assert_close(found, theirs_found, 1e-4, *k);
            onet_model *other = trained(sets, *k, relate, (onet_pool)pool);
            measure(other, sets, "plain", theirs, theirs_found);
            assert_close(own, theirs, 1e-2, *k); /* four steps of training apart */
            onet_model_free(other);
        }
        onet_model_free(plain);
    }
    onet_sets_free(sets);
}

static void without_relations(void **state) {
    agree_with_plain(0, NULL);
}

static void with_relations(void **state) {
    agree_with_plain(R, NULL);
}

static void with_made_relations(void **state) {
    agree_with_plain(R, "distance:1+2,difference:3");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_relations),
        cmocka_unit_test(with_relations),
        cmocka_unit_test(with_made_relations),
    };
    return cmocka_run_group_tests_name("whole net", tests, NULL, NULL);
}
