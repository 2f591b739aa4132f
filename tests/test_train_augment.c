/* Tests the data augmentation of training: words forgotten, items left out, large sets cropped, noise on
 * features, perturbed orders, each with the requested share; orders stay right, and the draws do not depend
 * on how sets are distributed to ranks. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "context_help.h"
#include "engine/data/sets.h"
#include "engine/train/augment.h"
#include "engine/train/initial.h"
#include "engine/words/builder.h"
#include "engine/words/kind.h"
#include "unit.h"

enum { SETS = 2000, N = 5 };

/* Sets s = first, first + stride, ... of words 0 to 3; kinds and <unk> stand behind them. */
static onet_sets *make(size_t first, size_t stride, int kinds) {
    static const char *const plain[] = {"running", "1984", "city", "quickly"};
    onet_sets *sets;
    onet_error err;
    words_builder builder;
    bool added;
    assert_true(words_builder_start(&builder, 2));
    for (int i = 0; i < 4; i++)
        assert_true(words_builder_add(&builder, plain[i], strlen(plain[i]), &added) == i);
    if (kinds) {
        for (int k = 0; k < kind_count(); k++)
            assert_true(words_builder_add(&builder, kind_name(k), strlen(kind_name(k)), &added) >= 0);
        assert_true(words_builder_add(&builder, "<unk>", 5, &added) >= 0);
    }
    assert_int_equal(sets_new(&sets, 2, &err), ONET_OK);
    sets->words = words_builder_finish(&builder);
    assert_non_null(sets->words);
    static const int32_t order[N] = {0, 1, 2, 3, 4};
    for (size_t s = first; s < SETS; s += stride) {
        int32_t word[N];
        for (size_t i = 0; i < N; i++) word[i] = (int32_t)((s * 7 + i * 3) % 4);
        assert_int_equal(sets_append_words(sets, N, word, order, &err), ONET_OK);
    }
    return sets;
}

static onet_train_options asks(double forget, double drop, double jitter) {
    onet_train_options o;
    onet_train_defaults(&o, sizeof o);
    o.forget = forget;
    o.drop = drop;
    o.jitter = jitter;
    return o;
}

static void words_are_forgotten(void **state) {
    onet_error err;
    augment *f;
    onet_sets *sets = make(0, 1, 1);
    onet_train_options o = asks(0.3, 0, 0);
    assert_int_equal(augment_new(&f, sets, sets, &o, 0, 1, &err), ONET_OK);
    augment_sample(f, 0, false);
    assert_ptr_equal(f->sets.start, sets->start); /* sizes and orders are not copied for nothing */
    int32_t unk = words_exact(sets->words, "<unk>", 5);
    size_t changed = 0, unks = 0;
    for (size_t i = 0; i < SETS * N; i++) {
        int32_t now = f->sets.word[i];
        if (now == sets->word[i]) continue;
        changed++;
        unks += now == unk;
        if (now == unk) continue;
        const char *text = sets->words->text + sets->words->at[sets->word[i]];
        size_t length = sets->words->at[sets->word[i] + 1] - sets->words->at[sets->word[i]];
        const char *kind = kind_name(kind_of(text, length));
        assert_int_equal(now, words_exact(sets->words, kind, strlen(kind)));
    }
    assert_in_range(changed, 2800, 3200);
    assert_in_range(unks, 1350, 1650);
    /* Another epoch forgets others; the same one the same. */
    int32_t *first = malloc(SETS * N * sizeof *first);
    assert_non_null(first);
    memcpy(first, f->sets.word, SETS * N * sizeof *first);
    augment_sample(f, 1, false);
    assert_memory_not_equal(first, f->sets.word, SETS * N * sizeof *first);
    augment_sample(f, 0, false);
    assert_memory_equal(first, f->sets.word, SETS * N * sizeof *first);
    /* Dealt over three ranks: the same words of the same sets. */
    for (int rank = 0; rank < 3; rank++) {
        augment *g;
        onet_sets *own = make((size_t)rank, 3, 1);
        assert_int_equal(augment_new(&g, sets, own, &o, rank, 3, &err), ONET_OK);
        augment_sample(g, 0, false);
        for (size_t s = 0; s < own->count; s++)
            assert_memory_equal(g->sets.word + s * N, first + ((size_t)rank + 3 * s) * N, N * sizeof *first);
        augment_free(g);
        onet_sets_free(own);
    }
    free(first);
    augment_free(f);
    onet_sets_free(sets);
}

/* The first hundredth of a vocabulary of 1,000 rows, its most frequent words, is forgotten at a tenth of the
 * rate. */
static void common_words_are_forgotten_less(void **state) {
    onet_error err;
    augment *f;
    onet_sets *many;
    words_builder builder;
    bool added;
    assert_true(words_builder_start(&builder, 2));
    for (int i = 0; i < 999; i++) {
        char word[8];
        int length = snprintf(word, sizeof word, "w%d", i);
        assert_true(words_builder_add(&builder, word, (size_t)length, &added) == i);
    }
    assert_true(words_builder_add(&builder, "<unk>", 5, &added) == 999);
    assert_int_equal(sets_new(&many, 2, &err), ONET_OK);
    many->words = words_builder_finish(&builder);
    assert_non_null(many->words);
    static const int32_t order[N] = {0, 1, 2, 3, 4}, word[N] = {0, 9, 10, 500, 998};
    for (int s = 0; s < SETS; s++) assert_int_equal(sets_append_words(many, N, word, order, &err), ONET_OK);
    onet_train_options o = asks(0.3, 0, 0);
    assert_int_equal(augment_new(&f, many, many, &o, 0, 1, &err), ONET_OK);
    augment_sample(f, 0, false);
    size_t forgotten[N] = {0};
    for (size_t i = 0; i < SETS * N; i++) forgotten[i % N] += f->sets.word[i] == 999;
    for (int i = 0; i < 2; i++) assert_in_range(forgotten[i], 30, 95);
    for (int i = 2; i < N; i++) assert_in_range(forgotten[i], 520, 680);
    augment_free(f);
    onet_sets_free(many);
}

enum { WIDTH = 3, MOST = 12 };

/* Sets s = first, first + stride, ... of 1 to 12 items: a number, a flag, and a constant. In ascending order
 * of the number, which is another in each item of the file. */
static onet_sets *numbers(size_t first, size_t stride) {
    onet_sets *sets;
    onet_error err;
    assert_int_equal(sets_new(&sets, WIDTH, &err), ONET_OK);
    for (size_t s = first; s < SETS; s += stride) {
        float x[MOST * WIDTH];
        int32_t order[MOST];
        size_t n = 1 + s % MOST, turn = s / MOST % n;
        for (size_t i = 0; i < n; i++) {
            size_t place = (i + turn) % n;
            x[i * WIDTH] = (float)(s * MOST + place);
            x[i * WIDTH + 1] = (float)((s + i) % 2);
            x[i * WIDTH + 2] = 7;
            order[place] = (int32_t)i;
        }
        assert_int_equal(sets_append(sets, n, WIDTH, x, order, &err), ONET_OK);
    }
    return sets;
}

/* What stays of each set are items of it, in their order: ascending as in the whole set. */
static void check_order(const onet_sets *now, const onet_sets *whole, size_t s) {
    size_t from = now->start[s], n = sets_size(now, s), all = sets_size(whole, s);
    onet_error err;
    assert_int_equal(sets_check_order(now->order + from, n, &err), ONET_OK);
    assert_true(n <= all && n >= (all < 2 ? all : 2));
    for (size_t t = 0; t < n; t++) {
        const float *x = sets_item(now, from + (size_t)now->order[from + t]);
        if (t) assert_true(x[0] > sets_item(now, from + (size_t)now->order[from + t - 1])[0]);
        bool found = false;
        for (size_t i = whole->start[s]; i < whole->start[s + 1]; i++)
            found |= !memcmp(x, sets_item(whole, i), WIDTH * sizeof *x);
        assert_true(found);
    }
    /* The items that stay keep the sequence that they have in the whole set. */
    for (size_t i = from, at = whole->start[s]; i < from + n; i++, at++) {
        while (memcmp(sets_item(now, i), sets_item(whole, at), WIDTH * sizeof(float))) at++;
        assert_true(at < whole->start[s + 1]);
    }
}

static void items_are_left_out(void **state) {
    onet_error err;
    augment *a;
    onet_sets *sets = numbers(0, 1);
    onet_train_options o = asks(0, 0.6, 0);
    assert_int_equal(augment_new(&a, sets, sets, &o, 0, 1, &err), ONET_OK);
    size_t *first = malloc((SETS + 1) * sizeof *first), whole = 0, large = 0;
    assert_non_null(first);
    for (uint64_t epoch = 0; epoch < 3; epoch++) {
        augment_sample(a, epoch, false);
        for (size_t s = 0; s < SETS; s++) check_order(&a->sets, sets, s);
        for (size_t s = MOST - 1; s < SETS; s += MOST, large++)
            whole += sets_size(&a->sets, s) == sets_size(sets, s);
        /* On average 30% of the items of sets that are large enough. */
        double left = 0, of = 0;
        for (size_t s = 0; s < SETS; s++)
            if (sets_size(sets, s) > 8) {
                left += (double)sets_size(&a->sets, s);
                of += (double)sets_size(sets, s);
            }
        assert_true(fabs(left / of - 0.7) < 0.02);
        if (!epoch) memcpy(first, a->sets.start, (SETS + 1) * sizeof *first);
        if (epoch) assert_memory_not_equal(first, a->sets.start, (SETS + 1) * sizeof *first);
    }
    /* A share for each set, not one for all: some of 12 items stay whole, which at 30% each would be 1.4%. */
    assert_true((double)whole / (double)large > 0.08);
    /* Sizes alone are the same draw; whole sets are the given ones. */
    augment_sizes(a, 0);
    assert_memory_equal(first, a->sizes.start, (SETS + 1) * sizeof *first);
    augment_sample(a, 0, true);
    assert_memory_equal(a->sets.start, sets->start, (SETS + 1) * sizeof *first);
    assert_memory_equal(a->sets.order, sets->order, sets->start[SETS] * sizeof *sets->order);
    assert_memory_equal(a->sets.items, sets->items, sets->start[SETS] * WIDTH * sizeof *sets->items);
    augment_free(a);
    free(first);
    onet_sets_free(sets);
}

/* Ranks within the set are those among the items that are kept; noise comes on top. */
static void ranks_are_of_what_is_kept(void **state) {
    onet_error err;
    augment *a;
    onet_sets *sets = numbers(0, 1);
    for (size_t s = 0; s < SETS; s++) /* feature 2: the rank of feature 0 */
        for (size_t t = 0; t < sets_size(sets, s); t++) {
            size_t i = sets->start[s] + (size_t)sets->order[sets->start[s] + t];
            sets->items[i * WIDTH + 2] =
                sets_size(sets, s) > 1 ? (float)((double)t / (double)(sets_size(sets, s) - 1)) : 0.5F;
        }
    for (int crop = 0; crop < 2; crop++) {
        onet_train_options o = asks(0, crop ? 0 : 0.6, 0);
        o.crop = crop ? 5 : 0;
        assert_int_equal(augment_new(&a, sets, sets, &o, 0, 1, &err), ONET_OK);
        assert_int_equal(augment_rank(a, 2, &err), ONET_OK);
        size_t smaller = 0;
        augment_sample(a, 1, false);
        for (size_t s = 0; s < SETS; s++) {
            size_t from = a->sets.start[s], n = sets_size(&a->sets, s);
            smaller += n < sets_size(sets, s);
            for (size_t t = 0; t < n; t++) {
                float expected = n > 1 ? (float)((double)t / (double)(n - 1)) : 0.5F;
                assert_true(sets_item(&a->sets, from + (size_t)a->sets.order[from + t])[2] == expected);
            }
        }
        assert_true(smaller > SETS / 4);
        augment_sample(a, 1, true);
        assert_memory_equal(a->sets.items, sets->items, sets->start[SETS] * WIDTH * sizeof *sets->items);
        augment_free(a);
    }
    onet_sets_free(sets);
}

/* The place in the whole order of the item that the epoch has at place t. */
static size_t place_of(const augment *a, const onet_sets *whole, size_t s, size_t t) {
    const float *x = sets_item(&a->sets, a->sets.start[s] + (size_t)a->sets.order[a->sets.start[s] + t]);
    for (size_t p = 0; p < sets_size(whole, s); p++)
        if (!memcmp(sets_item(whole, whole->start[s] + (size_t)whole->order[whole->start[s] + p]), x,
                    WIDTH * sizeof *x))
            return p;
    fail_msg("an item of set %zu is not one of those given", s);
    return 0;
}

static void large_sets_are_cropped(void **state) {
    onet_error err;
    augment *a;
    onet_sets *sets = numbers(0, 1);
    onet_train_options o = asks(0, 0, 0);
    o.crop = 4;
    assert_int_equal(augment_new(&a, sets, sets, &o, 0, 1, &err), ONET_OK);
    size_t begins[MOST] = {0};
    for (uint64_t epoch = 0; epoch < 3; epoch++) {
        augment_sample(a, epoch, false);
        assert_int_equal(sets_check(&a->sets, &err), ONET_OK);
        for (size_t s = 0; s < SETS; s++) {
            size_t n = sets_size(sets, s), now = sets_size(&a->sets, s), first = place_of(a, sets, s, 0);
            assert_int_equal(now, n < 4 ? n : 4);
            for (size_t t = 1; t < now; t++) assert_int_equal(place_of(a, sets, s, t), first + t);
            begins[first] += n == MOST;
        }
    }
    /* Of the sets of 12 items, 500 draws: each of the nine stretches as often as the others. */
    for (size_t t = 0; t < MOST; t++) assert_in_range(begins[t], t < 9 ? 30 : 0, t < 9 ? 85 : 0);
    augment_sample(a, 0, true);
    assert_memory_equal(a->sets.order, sets->order, sets->start[SETS] * sizeof *sets->order);
    augment_free(a);

    /* Context items are cropped by themselves, so that placed ones always remain. */
    give_context(sets, 3);
    assert_int_equal(augment_new(&a, sets, sets, &o, 0, 1, &err), ONET_OK);
    augment_sample(a, 1, false);
    assert_int_equal(sets_check(&a->sets, &err), ONET_OK);
    for (size_t s = 0; s < SETS; s++) {
        size_t placed = sets_placed(sets, s), context = sets_size(sets, s) - placed,
               now = sets_placed(&a->sets, s);
        assert_int_equal(now, placed < 4 ? placed : 4);
        assert_int_equal(sets_size(&a->sets, s) - now, context < 4 ? context : 4);
    }
    augment_free(a);
    onet_sets_free(sets);
}

static void noise_is_added(void **state) {
    onet_error err;
    augment *a;
    onet_sets *sets = numbers(0, 1);
    onet_train_options o = asks(0, 0, 0.1);
    assert_int_equal(augment_new(&a, sets, sets, &o, 0, 1, &err), ONET_OK);
    assert_int_equal(feature_spread(sets, a->spread, &err), ONET_OK);
    /* The flag and the constant stay. */
    assert_true(a->spread[0] > 0 && a->spread[1] == 0 && a->spread[2] == 0);
    augment_sample(a, 0, false);
    double sum = 0, square = 0, items = (double)sets->start[SETS];
    for (size_t i = 0; i < sets->start[SETS]; i++) {
        const float *x = sets_item(&a->sets, i), *was = sets_item(sets, i);
        double by = ((double)x[0] - (double)was[0]) / (double)a->spread[0];
        sum += by;
        square += by * by;
        assert_true(x[1] == was[1] && x[2] == was[2]);
    }
    assert_true(fabs(sum / items) < 0.005);
    assert_true(fabs(sqrt(square / items) - 0.1) < 0.005);
    float one = a->sets.items[0];
    augment_sample(a, 1, false);
    assert_true(one != a->sets.items[0]);
    augment_sample(a, 0, true);
    assert_memory_equal(a->sets.items, sets->items, sets->start[SETS] * WIDTH * sizeof *sets->items);
    augment_free(a);
    onet_sets_free(sets);
}

/* What a float cannot hold stays as it was. */
static void noise_stays_finite(void **state) {
    onet_error err;
    augment *a;
    onet_sets *sets;
    const float x[4] = {3.4e38f, -3.4e38f, 3.3e38f, 0};
    const int32_t order[4] = {0, 1, 2, 3};
    onet_train_options o = asks(0, 0, 10);
    assert_int_equal(onet_sets_from(&sets, 1, 4, 1, x, order, &err), ONET_OK);
    assert_int_equal(augment_new(&a, sets, sets, &o, 0, 1, &err), ONET_OK);
    assert_int_equal(feature_spread(sets, a->spread, &err), ONET_OK);
    for (uint64_t epoch = 0; epoch < 20; epoch++) {
        augment_sample(a, epoch, false);
        for (int i = 0; i < 4; i++) assert_true(isfinite(a->sets.items[i]));
    }
    augment_free(a);
    onet_sets_free(sets);
}

/* At each step the target is what follows the item placed last, or the first item left where that is placed;
 * items of numbers() ascend, so the place of an item in the right order is its rank. */
static size_t check_stray(const augment *a, size_t s) {
    const onet_sets *now = &a->sets;
    size_t from = now->start[s], n = sets_size(now, s), strayed = 0, placed = sets_placed(now, s);
    const int32_t *order = now->order + from, *target = a->target + from;
    int32_t right[MOST], rank[MOST];
    bool gone[MOST] = {false};
    onet_error err;
    assert_int_equal(sets_check_order(order, n, &err), ONET_OK);
    for (size_t t = 0; t < placed; t++) {
        size_t at = 0;
        for (size_t u = 0; u < placed; u++)
            at += sets_item(now, from + (size_t)order[u])[0] < sets_item(now, from + (size_t)order[t])[0];
        rank[t] = (int32_t)at;
        right[at] = order[t];
    }
    for (size_t t = 0; t < placed; t++) {
        size_t next = t ? (size_t)rank[t - 1] + 1 : 0;
        if (next >= placed || gone[next])
            for (next = 0; gone[next];) next++;
        assert_int_equal(target[t], right[next]);
        strayed += target[t] != order[t];
        gone[rank[t]] = true;
    }
    for (size_t t = placed; t < n; t++) assert_int_equal(target[t], order[t]);
    return strayed;
}

static void orders_stray(void **state) {
    onet_error err;
    augment *a;
    onet_sets *sets = numbers(0, 1);
    for (int with_drop = 0; with_drop < 2; with_drop++) {
        onet_train_options o = asks(0, with_drop ? 0.5 : 0, 0);
        o.stray = 0.2;
        assert_int_equal(augment_new(&a, sets, sets, &o, 0, 1, &err), ONET_OK);
        size_t strayed[2] = {0}, steps = 0;
        for (uint64_t epoch = 0; epoch < 2; epoch++) {
            augment_sample(a, epoch, false);
            for (size_t s = 0; s < SETS; s++) strayed[epoch] += check_stray(a, s);
            steps = a->sets.start[SETS];
        }
        /* One in five steps draws an item, sometimes the right one: 13% of the steps stray, and fewer where
         * items were left out of the sets. */
        double share = (double)strayed[1] / (double)steps;
        assert_true(share > 0.09 && share < 0.14);
        assert_true(strayed[0] != strayed[1]);
        augment_sample(a, 0, true);
        assert_memory_equal(a->sets.order, sets->order, sets->start[SETS] * sizeof *sets->order);
        assert_memory_equal(a->target, sets->order, sets->start[SETS] * sizeof *sets->order);
        augment_free(a);
    }
    onet_sets_free(sets);
}

static void ranks_sample_the_same(void **state) {
    onet_error err;
    augment *a;
    onet_sets *sets = numbers(0, 1);
    onet_train_options o = asks(0, 0.5, 0.2);
    o.stray = 0.3;
    o.crop = 6;
    assert_int_equal(augment_new(&a, sets, sets, &o, 0, 1, &err), ONET_OK);
    assert_int_equal(feature_spread(sets, a->spread, &err), ONET_OK);
    augment_sample(a, 4, false);
    for (int rank = 0; rank < 3; rank++) {
        augment *b;
        onet_sets *own = numbers((size_t)rank, 3);
        onet_sets sizes = {.count = sets->count, .width = WIDTH, .start = sets->start};
        assert_int_equal(augment_new(&b, rank ? &sizes : sets, own, &o, rank, 3, &err), ONET_OK);
        memcpy(b->spread, a->spread, WIDTH * sizeof *b->spread);
        augment_sample(b, 4, false);
        assert_memory_equal(a->sizes.start, b->sizes.start, (SETS + 1) * sizeof *sets->start);
        for (size_t s = 0; s < own->count; s++) {
            size_t from = b->sets.start[s], n = sets_size(&b->sets, s),
                   at = a->sets.start[(size_t)rank + 3 * s];
            assert_int_equal(n, sets_size(&a->sets, (size_t)rank + 3 * s));
            assert_memory_equal(b->sets.order + from, a->sets.order + at, n * sizeof *sets->order);
            assert_memory_equal(b->target + from, a->target + at, n * sizeof *a->target);
            assert_memory_equal(b->sets.items + from * WIDTH, a->sets.items + at * WIDTH,
                                n * WIDTH * sizeof(float));
        }
        augment_sample(b, 4, true);
        assert_memory_equal(sets->start, b->sizes.start, (SETS + 1) * sizeof *sets->start);
        augment_free(b);
        onet_sets_free(own);
    }
    augment_free(a);
    onet_sets_free(sets);
}

static void context_items_are_left_out_too(void **state) {
    onet_error err;
    augment *a;
    onet_sets *sets = numbers(0, 1);
    onet_train_options o = asks(0, 0.6, 0);
    give_context(sets, 3);
    assert_int_equal(augment_new(&a, sets, sets, &o, 0, 1, &err), ONET_OK);
    augment_sample(a, 1, false);
    assert_int_equal(sets_check(&a->sets, &err), ONET_OK); /* orders and context go together */
    size_t context = 0, was = 0;
    for (size_t s = 0; s < SETS; s++) {
        size_t placed = sets_placed(&a->sets, s), all = sets_placed(sets, s);
        assert_true(placed <= all && placed >= (all < 2 ? all : 2));
        context += sets_size(&a->sets, s) - placed;
        was += sets_size(sets, s) - all;
        /* Each item is of the kind that it was. */
        for (size_t i = a->sets.start[s], at = sets->start[s]; i < a->sets.start[s + 1]; i++, at++) {
            while (memcmp(sets_item(&a->sets, i), sets_item(sets, at), WIDTH * sizeof(float))) at++;
            assert_int_equal(a->sets.context[i], sets->context[at]);
        }
    }
    assert_true(context > was / 2 && context < was * 9 / 10);
    for (int rank = 0; rank < 3; rank++) {
        augment *b;
        onet_sets *own = numbers((size_t)rank, 3);
        onet_sets sizes = {
            .count = sets->count, .width = WIDTH, .start = sets->start, .context = sets->context};
        give_context(own, 3);
        assert_int_equal(augment_new(&b, &sizes, own, &o, rank, 3, &err), ONET_OK);
        augment_sample(b, 1, false);
        for (size_t s = 0; s < SETS; s++) {
            assert_int_equal(sets_size(&b->sizes, s), sets_size(&a->sets, s));
            assert_int_equal(sets_placed(&b->sizes, s), sets_placed(&a->sets, s));
        }
        assert_int_equal(sets_check(&b->sets, &err), ONET_OK);
        augment_sample(b, 1, true);
        assert_memory_equal(b->sizes.context, sets->context, sets->start[SETS]);
        assert_memory_equal(b->sets.context, own->context, own->start[own->count]);
        augment_free(b);
        onet_sets_free(own);
    }
    augment_free(a);
    onet_sets_free(sets);
}

/* With words left out, those that stay are forgotten as they are without leaving any out. */
static void words_are_left_out_and_forgotten(void **state) {
    onet_error err;
    augment *a, *f;
    onet_sets *sets = make(0, 1, 1);
    onet_train_options both = asks(0.3, 0.5, 0), alone = asks(0.3, 0, 0);
    assert_int_equal(augment_new(&a, sets, sets, &both, 0, 1, &err), ONET_OK);
    assert_int_equal(augment_new(&f, sets, sets, &alone, 0, 1, &err), ONET_OK);
    augment_sample(a, 2, false);
    augment_sample(f, 2, false);
    assert_true(a->sets.start[SETS] < sets->start[SETS] * 9 / 10);
    for (size_t s = 0; s < SETS; s++) {
        size_t from = a->sets.start[s], n = sets_size(&a->sets, s);
        for (size_t t = 0; t < n; t++) assert_int_equal(a->sets.order[from + t], t); /* lines as they stood */
        for (size_t i = from, at = s * N; i < from + n; i++, at++) {
            while (at < (s + 1) * N && a->sets.word[i] != f->sets.word[at]) at++;
            assert_true(at < (s + 1) * N);
        }
    }
    augment_free(a);
    augment_free(f);
    onet_sets_free(sets);
}

static void what_is_of_another_kind_is_refused(void **state) {
    onet_error err;
    augment *a;
    onet_sets *bare = make(0, 1, 0), *plain;
    onet_train_options forget = asks(0.1, 0, 0), jitter = asks(0, 0, 0.1), none = asks(0, 0, 0);
    assert_int_equal(augment_new(&a, bare, bare, &forget, 0, 1, &err), ONET_USAGE);
    assert_non_null(strstr(err.text, "words prepare"));
    assert_int_equal(augment_new(&a, bare, bare, &jitter, 0, 1, &err), ONET_USAGE);
    assert_non_null(strstr(err.text, "words"));
    const float x[2] = {1, 2};
    assert_int_equal(onet_sets_from(&plain, 1, 2, 1, x, NULL, &err), ONET_OK);
    assert_int_equal(augment_new(&a, plain, plain, &forget, 0, 1, &err), ONET_USAGE);
    assert_int_equal(augment_new(&a, plain, plain, &none, 0, 1, &err), ONET_OK);
    assert_null(a);
    onet_sets_free(bare);
    onet_sets_free(plain);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_forgotten),
        cmocka_unit_test(common_words_are_forgotten_less),
        cmocka_unit_test(items_are_left_out),
        cmocka_unit_test(ranks_are_of_what_is_kept),
        cmocka_unit_test(large_sets_are_cropped),
        cmocka_unit_test(noise_is_added),
        cmocka_unit_test(noise_stays_finite),
        cmocka_unit_test(orders_stray),
        cmocka_unit_test(ranks_sample_the_same),
        cmocka_unit_test(context_items_are_left_out_too),
        cmocka_unit_test(words_are_left_out_and_forgotten),
        cmocka_unit_test(what_is_of_another_kind_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
