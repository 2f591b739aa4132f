#include "train/forget.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/rng.h"
#include "data/sets.h"
#include "words/kind.h"
#include "words/words.h"

void forget_free(forget *f) {
    if (!f) return;
    free(f->word);
    free(f->unknown);
    free(f);
}

onet_status forget_new(forget **out, const onet_sets *sets, onet_error *err) {
    if (!sets->word) return fail(err, ONET_USAGE, "only words can be forgotten: these items are numbers");
    const onet_words *w = sets->words;
    forget *f = calloc(1, sizeof *f);
    if (!f || !(f->word = array_new(sets->start[sets->count], sizeof *f->word)) ||
        !(f->unknown = array_new((size_t)w->count, sizeof *f->unknown))) {
        forget_free(f);
        return fail_memory(err, "the forgotten words");
    }
    const char *other = kind_name(kind_other());
    int32_t rest = words_exact(w, other, strlen(other));
    f->unk = words_exact(w, "<unk>", 5);
    if (rest < 0 && f->unk < 0) {
        forget_free(f);
        return fail(err, ONET_USAGE,
                    "the vocabulary has no rows for unknown words: make it with 'words prepare'");
    }
    if (rest < 0) rest = f->unk;
    for (int32_t i = 0; i < w->count; i++) {
        const char *text = w->text + w->at[i], *name = kind_name(kind_of(text, w->at[i + 1] - w->at[i]));
        int32_t row = words_exact(w, name, strlen(name));
        f->unknown[i] = words_is_kind(w, i) || i == f->unk ? i : row < 0 ? rest : row;
    }
    f->sets = *sets;
    f->sets.word = f->word;
    *out = f;
    return ONET_OK;
}

void forget_draw(forget *f, const onet_sets *sets, double share, uint64_t seed, uint64_t epoch,
                 uint64_t first, uint64_t stride) {
    for (size_t s = 0; s < sets->count; s++) {
        rng r;
        rng_seed(&r, seed ^ (epoch + 1) * UINT64_C(0x9E3779B97F4A7C15),
                 UINT64_C(0x666f726765740000) + first + s * stride);
        for (size_t i = sets->start[s]; i < sets->start[s + 1]; i++) {
            int32_t word = sets->word[i];
            double u = rng_uniform(&r);
            /* Half of the forgotten words look like <unk>, as rare words do in WikiText. */
            f->word[i] = u >= share ? word : u < 0.5 * share && f->unk >= 0 ? f->unk : f->unknown[word];
        }
    }
}
