/* Tests training and ordering by several ranks without MPI: threads of this process that communicate through
 * memory. The results must be those of one rank, and if one rank fails, all return its error. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "context_help.h"
#include "engine/base/world.h"
#include "engine/data/columns.h"
#include "engine/data/sets.h"
#include "engine/decode/orderer.h"
#include "engine/model/model.h"
#include "engine/train/shard.h"
#include "engine/train/train.h"
#include "number_sets.h"
#include "ordernet_io.h"
#include "ordernet_measure.h"
#include "unit.h"

enum { MOST = 3 };

/* ---- a world of threads ---- */

typedef struct mailbox {
    const void *data; /* NULL: empty */
    size_t bytes;
} mailbox;

typedef struct hall {
    int size;
    pthread_barrier_t all;
    void *place[MOST];
    pthread_mutex_t mutex;
    pthread_cond_t change;
    mailbox box[MOST][MOST]; /* [from][to] */
} hall;

typedef struct member {
    world w;
    hall *h;
} member;

static void add_up(const world *w, void *values, size_t count, int wide) {
    hall *h = ((const member *)w)->h;
    h->place[w->rank] = values;
    pthread_barrier_wait(&h->all);
    if (!w->rank)
        for (int k = 1; k < h->size; k++)
            for (size_t i = 0; i < count; i++) {
                if (wide)
                    ((double *)values)[i] += ((const double *)h->place[k])[i];
                else
                    ((float *)values)[i] += ((const float *)h->place[k])[i];
            }
    pthread_barrier_wait(&h->all);
    if (w->rank) memcpy(values, h->place[0], count * (wide ? sizeof(double) : sizeof(float)));
    pthread_barrier_wait(&h->all);
}

static void sum(const world *w, double *values, size_t count) {
    add_up(w, values, count, 1);
}

static void sum_floats(const world *w, float *values, size_t count) {
    add_up(w, values, count, 0);
}

static void broadcast(const world *w, int root, void *data, size_t bytes) {
    hall *h = ((const member *)w)->h;
    h->place[w->rank] = data;
    pthread_barrier_wait(&h->all);
    if (w->rank != root) memcpy(data, h->place[root], bytes);
    pthread_barrier_wait(&h->all);
}

static void send_bytes(const world *w, int to, const void *data, size_t bytes) {
    hall *h = ((const member *)w)->h;
    mailbox *box = &h->box[w->rank][to];
    if (!bytes) return;
    pthread_mutex_lock(&h->mutex);
    *box = (mailbox){data, bytes};
    pthread_cond_broadcast(&h->change);
    while (box->data) pthread_cond_wait(&h->change, &h->mutex);
    pthread_mutex_unlock(&h->mutex);
}

static void receive_bytes(const world *w, int from, void *data, size_t bytes) {
    hall *h = ((const member *)w)->h;
    mailbox *box = &h->box[from][w->rank];
    if (!bytes) return;
    pthread_mutex_lock(&h->mutex);
    while (!box->data) pthread_cond_wait(&h->change, &h->mutex);
    assert_int_equal(box->bytes, bytes);
    memcpy(data, box->data, bytes);
    box->data = NULL;
    pthread_cond_broadcast(&h->change);
    pthread_mutex_unlock(&h->mutex);
}

typedef struct part {
    member m;
    void (*run)(const world *w, void *shared);
    void *shared;
} part;

static void *start(void *arg) {
    part *p = arg;
    p->run(&p->m.w, p->shared);
    return NULL;
}

static void as_ranks(int size, void (*run)(const world *w, void *shared), void *shared) {
    hall h = {.size = size, .mutex = PTHREAD_MUTEX_INITIALIZER, .change = PTHREAD_COND_INITIALIZER};
    part p[MOST];
    pthread_t thread[MOST];
    pthread_barrier_init(&h.all, NULL, (unsigned)size);
    for (int k = 0; k < size; k++) {
        p[k] = (part){
            {{k, size, k, 1, sum, sum_floats, broadcast, send_bytes, receive_bytes, NULL}, &h}, run, shared};
        assert_int_equal(pthread_create(&thread[k], NULL, start, &p[k]), 0);
    }
    for (int k = 0; k < size; k++) pthread_join(thread[k], NULL);
    pthread_barrier_destroy(&h.all);
}

/* ---- training ---- */

typedef struct training {
    const onet_sets *sets, *valid;
    onet_train_options o;
    onet_model *model[MOST];
    onet_status status[MOST];
    onet_error err[MOST];
} training;

static void train(const world *w, void *shared) {
    training *t = shared;
    int k = w->rank;
    t->status[k] =
        train_together(w, &t->model[k], k ? NULL : t->sets, k ? NULL : t->valid, &t->o, &t->err[k]);
}

static training training_of(const onet_sets *sets) {
    training t = {.sets = sets};
    onet_train_defaults(&t.o, sizeof t.o);
    t.o.batches = ONET_BATCHES_ONE_SIZE;
    t.o.statistics = ONET_STATISTICS_MEASURED;
    t.o.settings = (onet_settings){0, 2, 16, 8, ONET_POOL_MAX, 2, 8, 0, 0, {0}};
    t.o.batch = 5; /* a rank may have no set of a batch */
    t.o.max_steps = 30;
    t.o.threads = 2;
    t.o.train_vectors = sets && sets->word;
    t.o.average = 0.9;
    t.o.clip = 1;
    return t;
}

/* Names of features, set and rank columns, and the values that replace missing ones. */
static void name_features(onet_sets *sets) {
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    const float fill[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    onet_columns *c;
    onet_error err;
    if (sets->word) return;
    assert_true(sets->width <= 8);
    assert_int_equal(onet_columns_new(&c, sets->width, names, "team", "place", &err), ONET_OK);
    assert_int_equal(columns_take_missing(c, ONET_MISSING_MEAN, fill, NULL, &err), ONET_OK);
    assert_int_equal(onet_sets_set_columns(sets, c, &err), ONET_OK);
    onet_columns_free(c);
}

/* Two relations: the difference of the two items, with noise, and noise. */
static void relate(onet_sets *sets) {
    onet_error err;
    rng r;
    size_t numbers = 0;
    for (size_t s = 0; s < sets->count; s++) numbers += 2 * sets_size(sets, s) * sets_size(sets, s);
    float *value = calloc(numbers, sizeof *value), *to = value;
    assert_non_null(value);
    rng_seed(&r, 9, 0);
    for (size_t s = 0; s < sets->count; s++)
        for (size_t i = sets->start[s]; i < sets->start[s + 1]; i++)
            for (size_t j = sets->start[s]; j < sets->start[s + 1]; j++, to += 2) {
                to[0] = *sets_item(sets, j) - *sets_item(sets, i) + 0.1f * (float)rng_normal(&r);
                to[1] = (float)rng_normal(&r);
            }
    assert_int_equal(onet_sets_set_pairs(sets, 2, value, "gap\nnoise", &err), ONET_OK);
    assert_int_equal(sets_fill_pairs(sets, (float[]){3, 4}, &err), ONET_OK);
    free(value);
}

static void trains_the_same(void **state) {
    for (int kind = 0; kind < 8; kind++) { /* from 4 on with context items, from 6 on with relations */
        int as_words = kind % 2;
        onet_sets *sets = number_sets(200, as_words, 1);
        assert_non_null(sets);
        if (kind >= 4) give_context(sets, 3);
        if (kind >= 6) relate(sets);
        name_features(sets);
        training t = training_of(sets);
        if (kind >= 2) {
            t.o.drop = 0.5;
            t.o.jitter = as_words ? 0 : 0.05;
            t.o.dropout = 0.1;
            t.o.batches = as_words || kind >= 4 ? ONET_BATCHES_MIXED : ONET_BATCHES_ONE_SIZE;
        }
        bool made = kind == 6; /* a relation made from the feature, and quantiles of one */
        if (made) t.o.relate = "difference";
        if (made) t.o.scale = "quantile:gap";
        onet_model *alone;
        onet_error err;
        assert_int_equal(onet_train(&alone, sets, NULL, &t.o, &err), ONET_OK);
        for (int size = 2; size <= MOST; size++) {
            as_ranks(size, train, &t);
            for (int k = 0; k < size; k++) {
                assert_int_equal(t.status[k], ONET_OK);
                size_t total = alone->sh.total;
                assert_true(relative_difference(alone->theta, t.model[k]->theta, total) < 1e-4);
                assert_memory_equal(t.model[0]->theta, t.model[k]->theta, total * sizeof(float));
                char sum[65], first[65];
                onet_model_checksum(t.model[k], sum);
                onet_model_checksum(t.model[0], first);
                assert_string_equal(sum, first); /* with the names of the features */
                if (!as_words)
                    assert_string_equal(onet_columns_rank(onet_model_columns(t.model[k])), "place");
                if (kind >= 6) {
                    assert_int_equal(t.model[k]->sh.s.relations, 2 + made);
                    assert_true(relating_same(t.model[k]->relating, alone->relating));
                    assert_string_equal(t.model[k]->relations, "gap\nnoise");
                    assert_memory_equal(t.model[k]->relation_fill, alone->relation_fill, 2 * sizeof(float));
                    assert_memory_equal(t.model[k]->scale, alone->scale, 3 * sizeof(float));
                }
                size_t statistics = total - alone->sh.trained;
                bool sized = t.o.batches == ONET_BATCHES_ONE_SIZE;
                assert_true(alone->sized == sized && t.model[k]->sized == sized);
                if (sized)
                    assert_true(relative_difference(alone->slope, t.model[k]->slope, statistics) < 1e-3);
                assert_memory_equal(t.model[0]->slope, t.model[k]->slope, statistics * sizeof(float));
                if (as_words) {
                    assert_true(relative_difference(alone->words->vectors, t.model[k]->words->vectors, 40) <
                                1e-4);
                    assert_true(relative_difference(sets->words->vectors, t.model[k]->words->vectors, 40) >
                                1e-3);
                    assert_memory_equal(t.model[0]->words->vectors, t.model[k]->words->vectors,
                                        40 * sizeof(float));
                }
            }
            for (int k = size - 1; k >= 0; k--) onet_model_free(t.model[k]);
        }
        onet_model_free(alone);
        onet_sets_free(sets);
    }
}

/* Each rank has its own sets with their context items, and knows of all sets how many items are placed. */
static void deal_context(const world *w, void *shared) {
    const onet_sets *sets = shared;
    shard s;
    onet_error err;
    assert_int_equal(shard_make(&s, w, w->rank ? NULL : sets, &err), ONET_OK);
    const onet_sets *plan = w->rank ? s.plan : sets;
    for (size_t k = 0; k < sets->count; k++) {
        assert_int_equal(sets_placed(plan, k), sets_placed(sets, k));
        if (k % (size_t)w->size != (size_t)w->rank) continue;
        size_t own = k / (size_t)w->size, n = sets_size(sets, k);
        assert_int_equal(sets_size(s.own, own), n);
        assert_memory_equal(s.own->context + s.own->start[own], sets->context + sets->start[k], n);
    }
    shard_free(&s);
}

static void deals_context(void **state) {
    onet_sets *sets = number_sets(40, 0, 5);
    onet_error err;
    assert_non_null(sets);
    uint8_t *context = calloc(sets->start[40], 1);
    assert_non_null(context);
    for (size_t k = 0; k < 40; k++) /* of every set but each third, what stands last */
        if (k % 3) context[sets->start[k] + (size_t)sets->order[sets->start[k + 1] - 1]] = 1;
    assert_int_equal(onet_sets_set_context(sets, context, &err), ONET_OK);
    as_ranks(3, deal_context, sets);
    free(context);
    onet_sets_free(sets);
}

/* Only rank 0 has the model to begin with. */
static void fine_tunes_the_same(void **state) {
    for (int as_words = 0; as_words < 2; as_words++) {
        onet_sets *sets = number_sets(200, as_words, 1);
        assert_non_null(sets);
        training t = training_of(sets);
        onet_model *base, *alone;
        onet_error err;
        t.o.train_vectors = 0;
        assert_int_equal(onet_train(&base, sets, NULL, &t.o, &err), ONET_OK);
        t.o.from = base;
        t.o.settings = (onet_settings){0};
        assert_int_equal(onet_train(&alone, sets, NULL, &t.o, &err), ONET_OK);
        as_ranks(3, train, &t);
        for (int k = 0; k < 3; k++) {
            assert_int_equal(t.status[k], ONET_OK);
            assert_true(relative_difference(alone->theta, t.model[k]->theta, alone->sh.total) < 1e-4);
            assert_memory_equal(t.model[0]->theta, t.model[k]->theta, alone->sh.total * sizeof(float));
            assert_string_equal(onet_model_record(t.model[k], "from.sha256"),
                                onet_model_record(alone, "from.sha256"));
        }
        for (int k = 2; k >= 0; k--) onet_model_free(t.model[k]);
        onet_model_free(alone);
        onet_model_free(base);
        onet_sets_free(sets);
    }
}

/* Rank 0 alone validates; when it has no patience left, all stop. */
static void stops_together(void **state) {
    onet_sets *sets = number_sets(200, 0, 1), *valid = number_sets(30, 0, 2);
    assert_true(sets && valid);
    turn_orders(valid);
    training t = training_of(sets);
    t.valid = valid;
    t.o.max_steps = 0;
    t.o.epochs = 20;
    t.o.patience = 2;
    onet_model *alone;
    onet_error err;
    assert_int_equal(onet_train(&alone, sets, valid, &t.o, &err), ONET_OK);
    as_ranks(3, train, &t);
    for (int k = 0; k < 3; k++) {
        assert_int_equal(t.status[k], ONET_OK);
        assert_string_equal(onet_model_record(t.model[k], "steps"), onet_model_record(alone, "steps"));
        assert_true(atoi(onet_model_record(alone, "steps")) < 20 * 40);
        onet_model_free(t.model[k]);
    }
    onet_model_free(alone);
    onet_sets_free(sets);
    onet_sets_free(valid);
}

static void train_any(const world *w, void *shared) {
    training *t = shared;
    int k = w->rank;
    onet_train_options o = t->o;
    o.world = w;
    t->status[k] = onet_train(&t->model[k], k ? NULL : t->sets, k ? NULL : t->valid, &o, &t->err[k]);
}

/* Several models: all ranks train each, and merge. */
static void trains_several(void **state) {
    onet_sets *sets = number_sets(200, 0, 1), *valid = number_sets(20, 0, 2);
    training t = training_of(sets);
    onet_model *alone;
    onet_error err;
    t.valid = valid;
    t.o.train_vectors = 0;
    t.o.models = 2;
    assert_int_equal(onet_train(&alone, sets, valid, &t.o, &err), ONET_OK);
    as_ranks(3, train_any, &t);
    for (int k = 0; k < 3; k++) {
        assert_int_equal(t.status[k], ONET_OK);
        assert_true(relative_difference(alone->theta, t.model[k]->theta, alone->sh.total) < 3e-4);
        assert_memory_equal(t.model[0]->theta, t.model[k]->theta, alone->sh.total * sizeof(float));
    }
    for (int k = 0; k < 3; k++) onet_model_free(t.model[k]);
    onet_model_free(alone);
    onet_sets_free(sets);
    onet_sets_free(valid);
}

/* Fewer sets than ranks: those without any still take part in every all-reduce. */
static void trains_with_fewer_sets_than_ranks(void **state) {
    for (int kind = 0; kind < 3; kind++) { /* numbers, words, numbers with relations */
        onet_sets *sets = number_sets(2, kind == 1, 4);
        assert_non_null(sets);
        if (kind == 2) relate(sets);
        training t = training_of(sets);
        if (kind == 2) t.o.drop = 0.5;
        as_ranks(MOST, train, &t);
        for (int k = 0; k < MOST; k++) {
            if (t.status[k]) fail_msg("rank %d: %s", k, t.err[k].text);
            assert_memory_equal(t.model[0]->theta, t.model[k]->theta, t.model[0]->sh.total * sizeof(float));
        }
        for (int k = 0; k < MOST; k++) onet_model_free(t.model[k]);
        onet_sets_free(sets);
    }
}

/* A failure of rank 0 alone, and a stop that only one rank requests, reach all. */
static int stops(void *context, const onet_progress *p) {
    int *calls = context;
    return __atomic_add_fetch(calls, 1, __ATOMIC_RELAXED) == 2 && p->step < 1000000;
}

static void fails_together(void **state) {
    onet_sets *sets = number_sets(50, 0, 2);
    assert_non_null(sets);
    training t = training_of(sets);
    t.o.model_path = "/nowhere/m.safetensors";
    as_ranks(3, train, &t);
    for (int k = 0; k < 3; k++) {
        assert_int_equal(t.status[k], ONET_IO);
        assert_string_equal(t.err[k].text, t.err[0].text);
    }
    int calls = 0;
    t = training_of(sets);
    t.o.epochs = 100000;
    t.o.max_steps = 0;
    t.o.progress = stops;
    t.o.context = &calls;
    as_ranks(3, train, &t);
    for (int k = 0; k < 3; k++) assert_int_equal(t.status[k], ONET_INTERRUPTED);
    onet_sets_free(sets);
}

static void agree(const world *w, void *shared) {
    (void)shared;
    static const onet_status own[] = {ONET_OK, ONET_IO, ONET_MEMORY};
    onet_error err = {.text = ""};
    snprintf(err.text, sizeof err.text, "rank %d", w->rank);
    onet_status status = own[w->rank];
    status = world_agree(w, status, &err);
    assert_int_equal(status, ONET_IO);
    assert_string_equal(err.text, "rank 1");
    assert_int_equal(world_agree(w, ONET_OK, &err), ONET_OK);
}

static void agrees(void **state) {
    as_ranks(3, agree, NULL);
    onet_error err;
    assert_int_equal(world_agree(NULL, ONET_BAD, &err), ONET_BAD);
}

static void compare(const world *w, void *shared) {
    (void)shared;
    static const char *const text[] = {"batch 32", "batch 32", "batch 8"};
    assert_true(world_same(w, text[w->rank], 6));
    assert_int_equal(world_same(w, text[w->rank], strlen(text[w->rank])), w->rank < 2);
    assert_int_equal(world_same(w, text[0], (size_t)w->rank), w->rank == 0);
}

static void compares(void **state) {
    as_ranks(3, compare, NULL);
}

/* ---- ordering ---- */

enum { TOP = 3 };

typedef struct ordered {
    onet_answer *answer;
    int32_t *order;
    double *logprob, *score, *score_step;
    float *step;
} ordered;

typedef struct ordering {
    const onet_model *model;
    const onet_sets *sets;
    onet_order_options o;
    ordered to;
} ordering;

static ordered ordered_new(const onet_sets *sets) {
    size_t items = sets->start[sets->count];
    ordered r = {calloc(sets->count, sizeof *r.answer),        calloc(items * TOP, sizeof *r.order),
                 calloc(sets->count * TOP, sizeof *r.logprob), calloc(sets->count, sizeof *r.score),
                 calloc(items, sizeof *r.score_step),          calloc(items * TOP, sizeof *r.step)};
    for (size_t s = 0; s < sets->count; s++)
        r.answer[s] = (onet_answer){.order = r.order + sets->start[s] * TOP,
                                    .logprob = r.logprob + s * TOP,
                                    .step = s % 3 ? r.step + sets->start[s] * TOP : NULL};
    return r;
}

static void ordered_free(ordered *r) {
    free(r->answer);
    free(r->order);
    free(r->logprob);
    free(r->score);
    free(r->score_step);
    free(r->step);
}

static void order(const world *w, void *shared) {
    ordering *g = shared;
    onet_orderer *r;
    onet_error err;
    assert_int_equal(onet_orderer_new(&r, g->model, &g->o, &err), ONET_OK);
    if (w && w->rank) {
        orderer_work(r, w);
    } else {
        if (w) orderer_share(r, w);
        /* In two calls, of which the first has fewer sets than there are ranks: draws continue from the
         * first. */
        onet_sets some;
        sets_slice(&some, g->sets, 0, 2);
        assert_int_equal(onet_orderer_run(r, &some, g->to.answer, &err), ONET_OK);
        sets_slice(&some, g->sets, 2, g->sets->count);
        assert_int_equal(onet_orderer_run(r, &some, g->to.answer + 2, &err), ONET_OK);
        assert_int_equal(onet_orderer_score_steps(r, g->sets, g->to.score, g->to.score_step, &err), ONET_OK);
    }
    onet_orderer_free(r);
}

/* The first of every other set's order becomes context; the set's last stays last. */
static void limit(onet_sets *sets) {
    onet_error err = {.text = ""};
    size_t items = sets->start[sets->count], count = 0;
    uint8_t *context = calloc(items, 1);
    onet_constraint *list = calloc(sets->count, sizeof *list);
    for (size_t s = 0; s < sets->count; s++) {
        size_t first = sets->start[s], n = sets->start[s + 1] - first;
        int32_t *order = sets->order + first, seen = order[0];
        list[count++] = (onet_constraint){ONET_LAST, first + (size_t)order[n - 1], 0};
        if (s % 2 || n < 2) continue;
        context[first + (size_t)seen] = 1;
        memmove(order, order + 1, (n - 1) * sizeof *order);
        order[n - 1] = seen;
    }
    assert_int_equal(onet_sets_set_context(sets, context, &err), ONET_OK);
    assert_int_equal(onet_sets_set_constraints(sets, list, count, &err), ONET_OK);
    free(context);
    free(list);
}

static void orders_the_same(void **state) {
    for (int kind = 0; kind < 4; kind++) { /* words; context items and constraints; relations */
        onet_sets *sets = number_sets(60, kind == 1, 3);
        assert_non_null(sets);
        if (kind == 3) relate(sets);
        training t = training_of(sets);
        onet_model *model;
        onet_error err;
        assert_int_equal(onet_train(&model, sets, NULL, &t.o, &err), ONET_OK);
        if (kind == 2) limit(sets);
        for (onet_decode decode = ONET_BEAM; decode <= ONET_SAMPLE; decode++) {
            ordering g = {model,
                          sets,
                          {.size = sizeof g.o, .decode = decode, .top = TOP, .seed = 7, .threads = 1},
                          ordered_new(sets)};
            order(NULL, &g);
            ordered meant = g.to;
            for (int size = 2; size <= MOST; size++) {
                g.to = ordered_new(sets);
                as_ranks(size, order, &g);
                size_t items = sets->start[sets->count];
                for (size_t s = 0; s < sets->count; s++)
                    assert_int_equal(meant.answer[s].found, g.to.answer[s].found);
                assert_memory_equal(meant.order, g.to.order, items * TOP * sizeof *meant.order);
                assert_memory_equal(meant.logprob, g.to.logprob, sets->count * TOP * sizeof *meant.logprob);
                assert_memory_equal(meant.step, g.to.step, items * TOP * sizeof *meant.step);
                assert_memory_equal(meant.score, g.to.score, sets->count * sizeof *meant.score);
                assert_memory_equal(meant.score_step, g.to.score_step, items * sizeof *meant.score_step);
                ordered_free(&g.to);
            }
            ordered_free(&meant);
        }
        onet_model_free(model);
        onet_sets_free(sets);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees),          cmocka_unit_test(compares),
        cmocka_unit_test(trains_the_same), cmocka_unit_test(trains_with_fewer_sets_than_ranks),
        cmocka_unit_test(deals_context),   cmocka_unit_test(fine_tunes_the_same),
        cmocka_unit_test(stops_together),  cmocka_unit_test(fails_together),
        cmocka_unit_test(orders_the_same), cmocka_unit_test(trains_several),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
