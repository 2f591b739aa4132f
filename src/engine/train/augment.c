/* Augments the sets of an epoch: drops items and their relations, crops large sets, makes words unknown, adds
 * noise to features, and puts wrong items in the order that the decoder is given. Features relative to the
 * set keep their values; ranks within the set are computed anew where items are left out. */
#include "engine/train/augment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/rng.h"
#include "engine/data/sets.h"
#include "engine/kernels/relative.h"
#include "engine/words/kind.h"
#include "engine/words/words.h"

/* Each kind of sample has a stream of its own, so that one does not change with another. */
#define STREAM_FORGET UINT64_C(0x666f726765740000)
#define STREAM_DROP   UINT64_C(0x64726f7000000000)
#define STREAM_JITTER UINT64_C(0x6a69747465720000)
#define STREAM_STRAY  UINT64_C(0x7374726179000000)

/* An unknown word is hardly ever one of the most frequent ones ("the", a comma): the first of COMMON equal
 * parts of the vocabulary, whose rows go by frequency (vocabulary.c), is forgotten at COMMON_SHARE of the
 * rate. */
#define COMMON       100
#define COMMON_SHARE 0.1

static void seed_for(rng *r, const augment *a, uint64_t stream, uint64_t epoch, uint64_t number) {
    rng_seed(r, a->o->seed ^ (epoch + 1) * UINT64_C(0x9E3779B97F4A7C15), stream + number);
}

void augment_free(augment *a) {
    if (!a) return;
    if (a->sizes.start != a->all->start && a->sizes.start != a->sets.start) free(a->sizes.start);
    if (a->sets.start != a->own->start) free(a->sets.start);
    if (a->sets.order != a->own->order) free(a->sets.order);
    if (a->sets.items != a->own->items) free(a->sets.items);
    if (a->sets.word != a->own->word) free(a->sets.word);
    if (a->sizes.context != a->all->context && a->sizes.context != a->sets.context) free(a->sizes.context);
    if (a->sets.context != a->own->context) free(a->sets.context);
    if (a->sets.pairs != a->own->pairs) sets_free_pairs(a->sets.pairs);
    free(a->unknown);
    free(a->spread);
    free(a->keep);
    free(a->moved);
    free(a->right);
    free(a->target);
    free(a->whole);
    free(a->relative);
    free(a->place);
    free(a);
}

static onet_status find_unknown(augment *a, onet_error *err) {
    const onet_words *w = a->own->words;
    const char *other = kind_name(kind_other());
    int32_t rest = words_exact(w, other, strlen(other));
    a->unk = words_exact(w, "<unk>", 5);
    if (rest < 0 && a->unk < 0)
        return fail(err, ONET_USAGE,
                    "the vocabulary has no rows for unknown words: make it with 'words prepare'");
    if (!(a->unknown = array_new((size_t)w->count, sizeof *a->unknown)))
        return fail_memory(err, "the forgotten words");
    if (rest < 0) rest = a->unk;
    for (int32_t i = 0; i < w->count; i++) {
        const char *text = w->text + w->at[i], *name = kind_name(kind_of(text, w->at[i + 1] - w->at[i]));
        int32_t row = words_exact(w, name, strlen(name));
        a->unknown[i] = words_is_kind(w, i) || i == a->unk ? i : row < 0 ? rest : row;
    }
    return ONET_OK;
}

/* Allocates the arrays that differ from the given ones; the others are shared. */
static bool make_room(augment *a) {
    const onet_sets *own = a->own;
    size_t items = own->start[own->count], largest = 1;
    bool drop = augment_drops(a->o), strays = a->o->stray > 0;
    a->sizes = *a->all;
    a->sets = *own;
    for (size_t s = 0; s < a->all->count; s++)
        if (sets_size(a->all, s) > largest) largest = sets_size(a->all, s);
    if (!(a->keep = array_new(largest, 1)) || !(a->moved = array_new(largest, sizeof *a->moved)))
        return false;
    if ((drop || strays) && !(a->sets.order = array_new(items, sizeof *own->order))) return false;
    if (strays && (!(a->right = array_new(largest, sizeof *a->right)) ||
                   !(a->target = array_new(items, sizeof *a->target))))
        return false;
    if (drop) {
        a->sizes.start = NULL;
        if (!(a->sets.start = array_new(own->count + 1, sizeof *own->start))) return false;
        a->sizes.start = a->stride == 1 ? a->sets.start : array_new(a->all->count + 1, sizeof *own->start);
        if (!a->sizes.start) return false;
        if (own->context) {
            a->sizes.context = NULL;
            if (!(a->sets.context = array_new(items, 1))) return false;
            a->sizes.context = a->stride == 1 ? a->sets.context : array_new(a->all->start[a->all->count], 1);
            if (!a->sizes.context) return false;
        }
    }
    if (drop && own->pairs) {
        size_t pairs = items ? own->pairs->row[items - 1] + sets_size(own, own->count - 1) : 0;
        onet_pairs *p = a->sets.pairs = calloc(1, sizeof *p);
        if (!p || !(p->row = array_new(items, sizeof *p->row)) ||
            !(p->value = array_new(pairs, (size_t)own->pairs->width * sizeof *p->value)))
            return false;
        p->width = own->pairs->width;
    }
    if (own->word && (drop || a->o->forget > 0) && !(a->sets.word = array_new(items, sizeof *own->word)))
        return false;
    if (own->items && !(a->sets.items = array_new(items, (size_t)own->width * sizeof *own->items)))
        return false;
    return a->o->jitter <= 0 || (a->spread = array_new((size_t)own->width, sizeof *a->spread));
}

onet_status augment_new(augment **out, const onet_sets *all, const onet_sets *own,
                        const onet_train_options *o, int rank, int ranks, onet_error *err) {
    *out = NULL;
    if (o->forget <= 0 && !augment_drops(o) && o->jitter <= 0 && o->stray <= 0) return ONET_OK;
    if (o->forget > 0 && !own->word)
        return fail(err, ONET_USAGE, "only words can be forgotten: these items are numbers");
    if (o->jitter > 0 && own->word)
        return fail(err, ONET_USAGE, "jitter is noise on numbers: these items are words");
    augment *a = calloc(1, sizeof *a);
    if (!a) return fail_memory(err, "the sets of an epoch");
    *a = (augment){.o = o, .all = all, .own = own, .first = (uint64_t)rank, .stride = (uint64_t)ranks};
    onet_status status = make_room(a) ? ONET_OK : fail_memory(err, "the sets of an epoch");
    if (!status && o->forget > 0) status = find_unknown(a, err);
    if (status)
        augment_free(a);
    else
        *out = a;
    return status;
}

onet_status augment_relative(augment *a, const float *mean, const float *scale, onet_error *err) {
    const onet_sets *own = a->own;
    size_t d = (size_t)own->width, items = own->start[own->count], largest = 1;
    for (size_t s = 0; s < own->count; s++)
        if (sets_size(own, s) > largest) largest = sets_size(own, s);
    real *x = array_new(largest, 2 * d * sizeof *x); /* a set's rows */
    a->whole = array_new(items, d * sizeof *a->whole);
    a->relative = array_new(items, d * sizeof *a->relative);
    if (!x || !a->whole || !a->relative) {
        free(x);
        return fail_memory(err, "the features relative to the sets");
    }
    for (size_t s = 0; s < own->count; s++) {
        size_t from = own->start[s], n = sets_size(own, s);
        for (size_t i = 0; i < n; i++)
            for (size_t c = 0; c < d; c++)
                x[i * 2 * d + c] = ((real)own->items[(from + i) * d + c] - mean[c]) * scale[c];
        relative_features(x, 2 * d, (int)n, 0, (int)d, (int)d);
        for (size_t i = 0; i < n; i++)
            for (size_t c = 0; c < d; c++) a->whole[(from + i) * d + c] = (float)x[i * 2 * d + d + c];
    }
    free(x);
    return ONET_OK;
}

onet_status augment_rank(augment *a, size_t first_rank, onet_error *err) {
    const onet_sets *own = a->own;
    size_t largest = 1;
    for (size_t s = 0; s < own->count; s++)
        if (sets_size(own, s) > largest) largest = sets_size(own, s);
    a->first_rank = first_rank;
    return (a->place = array_new(largest, sizeof *a->place)) ? ONET_OK
                                                             : fail_memory(err, "the ranks within the sets");
}

/* Of the places from .. to-1 that are kept, keeps a random stretch of at most `crop`. */
static void crop(augment *a, rng *r, size_t from, size_t to) {
    size_t left = 0, most = (size_t)a->o->crop, at = 0;
    for (size_t t = from; t < to; t++) left += a->keep[t];
    if (left <= most) return;
    size_t first = (size_t)rng_below(r, left - most + 1);
    for (size_t t = from; t < to; t++) {
        if (!a->keep[t]) continue;
        if (at < first || at >= first + most) a->keep[t] = 0;
        at++;
    }
}

/* Chooses which places of the order of a set of n items are kept, in a->keep; the first `placed` are those of
 * placed items. Returns how many placed items are kept. The share that is left out is sampled for each set,
 * so that the net sees whole sets as well as much smaller ones. At least two placed items are kept: with
 * fewer there is no order to learn. */
static size_t random_keep(augment *a, uint64_t epoch, uint64_t number, size_t n, size_t placed) {
    rng r;
    seed_for(&r, a, STREAM_DROP, epoch, number);
    double share = a->o->drop * rng_uniform(&r);
    size_t kept = 0, least = placed < 2 ? placed : 2;
    for (size_t t = 0; t < n; t++) a->keep[t] = rng_uniform(&r) >= share;
    if (a->o->crop > 0) {
        crop(a, &r, 0, placed);
        crop(a, &r, placed, n); /* context items, which have no order */
    }
    for (size_t t = 0; t < placed; t++) kept += a->keep[t];
    while (kept < least) {
        size_t t = (size_t)rng_below(&r, placed);
        kept += !a->keep[t];
        a->keep[t] = 1;
    }
    return kept;
}

void augment_sizes(augment *a, uint64_t epoch) {
    if (a->sizes.start == a->all->start) return;
    a->sizes.start[0] = 0;
    for (size_t s = 0; s < a->all->count; s++) {
        size_t n = sets_size(a->all, s), placed = sets_placed(a->all, s), to = a->sizes.start[s];
        size_t kept = random_keep(a, epoch, s, n, placed), context = 0;
        for (size_t t = placed; t < n; t++) context += a->keep[t];
        a->sizes.start[s + 1] = to + kept + context;
        if (!a->sizes.context) continue;
        memset(a->sizes.context + to, 0, kept); /* a plan needs only the sizes */
        memset(a->sizes.context + to + kept, 1, context);
    }
}

/* Writes the order of the items that are kept, and the new index of each. */
static void drop_items(augment *a, uint64_t epoch, size_t s, bool whole) {
    size_t from = a->own->start[s], n = sets_size(a->own, s), to = a->sets.start[s];
    const int32_t *order = a->own->order + from;
    if (whole)
        memset(a->keep, 1, n);
    else
        random_keep(a, epoch, a->first + s * a->stride, n, sets_placed(a->own, s));
    for (size_t t = 0; t < n; t++) a->moved[order[t]] = a->keep[t] ? 0 : -1;
    int32_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (a->moved[i] < 0) continue;
        if (a->own->context) a->sets.context[to + (size_t)kept] = a->own->context[from + i];
        a->moved[i] = kept++;
    }
    for (size_t t = 0, at = to; t < n; t++)
        if (a->keep[t]) a->sets.order[at++] = a->moved[order[t]];
    a->sets.start[s + 1] = to + (size_t)kept;
}

/* Writes the relations of the items that are kept. */
static void drop_pairs(augment *a, size_t s) {
    size_t from = a->own->start[s], n = sets_size(a->own, s), to = a->sets.start[s];
    size_t kept = sets_size(&a->sets, s), R = (size_t)a->own->pairs->width;
    onet_pairs *p = a->sets.pairs;
    size_t at = to ? p->row[to - 1] + sets_size(&a->sets, s - 1) : 0;
    for (size_t i = 0; i < n; i++) {
        if (a->moved[i] < 0) continue;
        const float *e = sets_pairs(a->own, from + i);
        float *out = p->value + (p->row[to + (size_t)a->moved[i]] = at + (size_t)a->moved[i] * kept) * R;
        for (size_t j = 0; j < n; j++)
            if (a->moved[j] >= 0) memcpy(out + (size_t)a->moved[j] * R, e + j * R, R * sizeof *out);
    }
}

/* Places other items than the right one at some steps of a set of the epoch. */
static void stray(augment *a, uint64_t epoch, size_t s, bool whole) {
    size_t to = a->sets.start[s], n = sets_size(&a->sets, s), placed = sets_placed(&a->sets, s);
    int32_t *order = a->sets.order + to, *target = a->target + to;
    if (!augment_drops(a->o)) memcpy(order, a->own->order + to, n * sizeof *order);
    memcpy(target, order, n * sizeof *target);
    if (whole) return;
    memcpy(a->right, order, placed * sizeof *order);
    uint8_t *gone = memset(a->keep, 0, placed); /* [placed]: by the place in the right order */
    size_t next = 0, first = 0;                 /* the place after that of the item placed last; the first
                                                 * item that is left */
    rng r;
    seed_for(&r, a, STREAM_STRAY, epoch, a->first + s * a->stride);
    for (size_t t = 0; t < placed; t++) {
        while (gone[first]) first++;
        size_t right = next < placed && !gone[next] ? next : first, taken = right;
        if (rng_uniform(&r) < a->o->stray) {
            size_t left = (size_t)rng_below(&r, placed - t); /* those before it that are left */
            for (taken = first; left || gone[taken]; taken++) left -= !gone[taken];
        }
        target[t] = a->right[right];
        order[t] = a->right[taken];
        gone[taken] = 1;
        next = taken + 1;
    }
}

static void forget_words(augment *a, uint64_t epoch, size_t s) {
    size_t from = a->own->start[s], n = sets_size(a->own, s), to = a->sets.start[s];
    double share = a->o->forget;
    rng r;
    seed_for(&r, a, STREAM_FORGET, epoch, a->first + s * a->stride);
    for (size_t i = 0; i < n; i++) {
        int32_t word = a->own->word[from + i];
        double u = rng_uniform(&r);
        if (a->moved[i] < 0) continue;
        double forget = share * (word < a->own->words->count / COMMON ? COMMON_SHARE : 1);
        /* Half of the forgotten words look like <unk>, as rare words do in WikiText. */
        a->sets.word[to++] = u >= forget ? word : u < 0.5 * forget && a->unk >= 0 ? a->unk : a->unknown[word];
    }
}

static void copy_features(augment *a, uint64_t epoch, size_t s, bool noise) {
    size_t width = (size_t)a->own->width, n = sets_size(a->own, s), kept = 0;
    const float *x = a->own->items + a->own->start[s] * width;
    float *to = a->sets.items + a->sets.start[s] * width;
    const float *relative = a->whole ? a->whole + a->own->start[s] * width : NULL;
    float *to_relative = a->whole ? a->relative + a->sets.start[s] * width : NULL;
    for (size_t i = 0; i < n; i++) {
        if (a->moved[i] < 0) continue;
        memcpy(to + kept * width, x + i * width, width * sizeof *to);
        if (relative) memcpy(to_relative + kept * width, relative + i * width, width * sizeof *relative);
        kept++;
    }
    for (size_t c = a->first_rank; a->place && kept < n && c < width; c++) {
        for (size_t i = 0; i < kept; i++) a->place[i] = (scaling_place){(double)to[i * width + c], i};
        scaling_ranks(a->place, kept, to + c, width);
    }
    if (!noise) return;
    rng r;
    seed_for(&r, a, STREAM_JITTER, epoch, a->first + s * a->stride);
    for (size_t i = 0; i < kept; i++, to += width)
        for (size_t c = 0; c < width; c++) {
            if (!(a->spread[c] > 0)) continue;
            float moved = (float)((double)to[c] + a->o->jitter * (double)a->spread[c] * rng_normal(&r));
            if (isfinite(moved)) to[c] = moved;
        }
}

void augment_sample(augment *a, uint64_t epoch, bool whole) {
    bool drop = augment_drops(a->o);
    for (size_t s = 0; s < a->own->count; s++) {
        if (drop) drop_items(a, epoch, s, whole);
        if (drop && a->own->pairs) drop_pairs(a, s);
        if (a->own->word)
            forget_words(a, epoch, s);
        else
            copy_features(a, epoch, s, !whole && a->o->jitter > 0);
        if (a->target) stray(a, epoch, s, whole);
    }
    if (!drop || a->stride == 1) return;
    if (whole) {
        memcpy(a->sizes.start, a->all->start, (a->all->count + 1) * sizeof *a->all->start);
        if (a->all->context) memcpy(a->sizes.context, a->all->context, a->all->start[a->all->count]);
    } else
        augment_sizes(a, epoch);
}
