/* Forgotten words: the share that was asked for, rows of their kinds, the same draw however sets are dealt.
 */
#include <stdlib.h>
#include <string.h>

#include "data/sets.h"
#include "train/forget.h"
#include "unit.h"
#include "words/kind.h"
#include "words/maker.h"

enum { SETS = 2000, N = 5 };

/* Sets s = first, first + stride, ... of words 0 to 3; kinds and <unk> stand behind them. */
static onet_sets *make(size_t first, size_t stride, int kinds) {
    static const char *const plain[] = {"running", "1984", "city", "quickly"};
    onet_sets *sets;
    onet_error err;
    words_maker maker;
    bool added;
    assert_true(maker_start(&maker, 2));
    for (int i = 0; i < 4; i++) assert_true(maker_add(&maker, plain[i], strlen(plain[i]), &added) == i);
    if (kinds) {
        for (int k = 0; k < kind_count(); k++)
            assert_true(maker_add(&maker, kind_name(k), strlen(kind_name(k)), &added) >= 0);
        assert_true(maker_add(&maker, "<unk>", 5, &added) >= 0);
    }
    assert_int_equal(sets_new(&sets, 2, &err), ONET_OK);
    sets->words = maker_finish(&maker);
    assert_non_null(sets->words);
    static const int32_t order[N] = {0, 1, 2, 3, 4};
    for (size_t s = first; s < SETS; s += stride) {
        int32_t word[N];
        for (size_t i = 0; i < N; i++) word[i] = (int32_t)((s * 7 + i * 3) % 4);
        assert_int_equal(sets_append_words(sets, N, word, order, &err), ONET_OK);
    }
    return sets;
}

static void the_share_that_was_asked_for(void **state) {
    (void)state;
    onet_error err;
    forget *f;
    onet_sets *sets = make(0, 1, 1);
    assert_int_equal(forget_new(&f, sets, &err), ONET_OK);
    forget_draw(f, sets, 0, 1, 0, 0, 1);
    assert_memory_equal(f->sets.word, sets->word, SETS * N * sizeof *sets->word);
    forget_draw(f, sets, 0.3, 1, 0, 0, 1);
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
    forget_draw(f, sets, 0.3, 1, 1, 0, 1);
    assert_memory_not_equal(first, f->sets.word, SETS * N * sizeof *first);
    forget_draw(f, sets, 0.3, 1, 0, 0, 1);
    assert_memory_equal(first, f->sets.word, SETS * N * sizeof *first);
    /* Dealt over three processes: the same words of the same sets. */
    for (size_t rank = 0; rank < 3; rank++) {
        forget *g;
        onet_sets *own = make(rank, 3, 1);
        assert_int_equal(forget_new(&g, own, &err), ONET_OK);
        forget_draw(g, own, 0.3, 1, 0, rank, 3);
        for (size_t s = 0; s < own->count; s++)
            assert_memory_equal(g->sets.word + s * N, first + (rank + 3 * s) * N, N * sizeof *first);
        forget_free(g);
        onet_sets_free(own);
    }
    free(first);
    forget_free(f);
    onet_sets_free(sets);
}

static void what_cannot_be_forgotten(void **state) {
    (void)state;
    onet_error err;
    forget *f;
    onet_sets *bare = make(0, 1, 0), *numbers;
    assert_int_equal(forget_new(&f, bare, &err), ONET_USAGE);
    assert_non_null(strstr(err.text, "words prepare"));
    const float x[2] = {1, 2};
    assert_int_equal(onet_sets_from(&numbers, 1, 2, 1, x, NULL, &err), ONET_OK);
    assert_int_equal(forget_new(&f, numbers, &err), ONET_USAGE);
    onet_sets_free(bare);
    onet_sets_free(numbers);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_share_that_was_asked_for),
                                       cmocka_unit_test(what_cannot_be_forgotten)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
