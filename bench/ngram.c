/* The n-gram baseline for words: orders the words of lines by counts of neighbouring words alone
 * (interpolated Kneser-Ney with one discount per length and a start-of-line symbol) and measures as `words
 * eval` does.
 * usage: ngram --train DATA --text FILE [--grams N] [--beam N] [--first K] [--windows LIST] [--length LIST]
 *        [--csv FILE], with DATA of `words prepare`; --beam 0, the default, looks at all orders. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/options.h"
#include "app/progress.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "ordernet_words.h"
#include "tasks/words/test_lines.h"

enum { NGRAM_LONGEST = 6, NGRAM_MOST_ITEMS = 10 };

/* Grams are known by a 64-bit hash alone: among 10^7 of them two share one with probability 3 in a million.
 */
typedef struct entry {
    uint64_t key; /* 0: empty */
    uint32_t a, b;
} entry;

typedef struct table {
    entry *slot;
    size_t slots, used; /* slots is a power of two */
} table;

typedef struct ngram {
    int length;
    double words; /* of the vocabulary: a gram of no words has probability 1/words */
    /* a: how often a gram was seen that has `length` words or begins a line; of a shorter gram, after how
     * many different words it was seen. */
    table grams;
    /* What follows a context: the sum of the counts of the grams that begin with it, and their number. */
    table contexts;                                          /* a: sum, b: number */
    double ones[NGRAM_LONGEST + 1], twos[NGRAM_LONGEST + 1]; /* grams of each length with count 1 and 2 */
    double discount[NGRAM_LONGEST + 1];
} ngram;

static uint64_t hash_of(const int32_t *gram, int length) {
    uint64_t h = ((uint64_t)length + 1) << 40; /* away from the words' own numbers */
    for (int i = 0; i < length; i++) {
        h = (h ^ (uint64_t)(uint32_t)gram[i]) * 0x9E3779B97F4A7C15u;
        h ^= h >> 29;
        h *= 0xBF58476D1CE4E5B9u;
        h ^= h >> 32;
    }
    return h ? h : 1;
}

static entry *find(const table *t, uint64_t key) {
    size_t at = (size_t)key & (t->slots - 1);
    while (t->slot[at].key && t->slot[at].key != key) at = (at + 1) & (t->slots - 1);
    return &t->slot[at];
}

static bool grow(table *t, size_t slots) {
    table grown = {.slot = array_new(slots, sizeof *grown.slot), .slots = slots, .used = t->used};
    if (!grown.slot) return false;
    for (size_t i = 0; i < t->slots; i++)
        if (t->slot[i].key) *find(&grown, t->slot[i].key) = t->slot[i];
    free(t->slot);
    *t = grown;
    return true;
}

/* Returns the entry of the key, a new one if there is none; NULL when memory runs out. */
static entry *find_or_make(table *t, uint64_t key) {
    if (4 * (t->used + 1) > 3 * t->slots && !grow(t, 2 * t->slots)) return NULL;
    entry *e = find(t, key);
    if (!e->key) {
        e->key = key;
        t->used++;
    }
    return e;
}

/* Counts gram[length] once more. Kneser-Ney: a shorter gram counts the different words before it, so it is
 * counted only when the longer one is new. */
static bool count_gram(ngram *m, const int32_t *gram, int length) {
    for (; length; gram++, length--) {
        entry *g = find_or_make(&m->grams, hash_of(gram, length));
        entry *c = find_or_make(&m->contexts, hash_of(gram, length - 1));
        if (!g || !c) return false;
        bool fresh = g->a == 0;
        g->a++;
        c->a++;
        c->b += fresh;
        m->ones[length] += fresh - (g->a == 2);
        m->twos[length] += (g->a == 2) - (g->a == 3);
        if (!fresh) break;
    }
    return true;
}

enum { START = -1 };

static bool count_set(ngram *m, const onet_sets *sets, size_t s) {
    const int32_t *word = sets->word + sets->start[s], *order = sets->order + sets->start[s];
    int n = (int)(sets->start[s + 1] - sets->start[s]);
    int32_t last[NGRAM_LONGEST]; /* the words up to here, the last at the end */
    int held = 1;
    last[0] = START;
    for (int t = 0; t < n; t++) {
        if (held == m->length) memmove(last, last + 1, (size_t)--held * sizeof *last);
        last[held++] = word[order[t]];
        if (!count_gram(m, last, held)) return false;
    }
    return true;
}

static void ngram_free(ngram *m) {
    if (!m) return;
    free(m->grams.slot);
    free(m->contexts.slot);
    free(m);
}

/* Counts over the right orders of the sets; length: 1 to NGRAM_LONGEST words per gram. */
static onet_status ngram_train(ngram **model, const onet_sets *sets, int length, onet_error *err) {
    *model = NULL;
    if (length < 1 || length > NGRAM_LONGEST)
        return fail(err, ONET_USAGE, "n-grams have 1 to %d words, not %d", NGRAM_LONGEST, length);
    if (!sets->word || !sets->order)
        return fail(err, ONET_BAD, "an n-gram model needs sets of words with a known order");
    ngram *m = calloc(1, sizeof *m);
    if (!m) return fail_memory(err, "the n-gram model");
    m->length = length;
    m->words = onet_words_count(sets->words);
    bool enough = grow(&m->grams, 1024) && grow(&m->contexts, 1024);
    for (size_t s = 0; s < sets->count && enough; s++) enough = count_set(m, sets, s);
    if (!enough) {
        ngram_free(m);
        return fail_memory(err, "the n-gram model");
    }
    for (int k = 1; k <= length; k++) /* never 0, so that no order with an unseen gram is impossible */
        m->discount[k] = m->ones[k] > 0 ? m->ones[k] / (m->ones[k] + 2 * m->twos[k]) : 0.5;
    *model = m;
    return ONET_OK;
}

/* Returns P(last word of gram | words before it): the discounted share, plus what the discounts leave over,
 * distributed as the shorter gram says. */
static double gram_probability(const ngram *m, const int32_t *gram, int length) {
    if (!length) return 1 / m->words;
    double shorter = gram_probability(m, gram + 1, length - 1);
    const entry *c = find(&m->contexts, hash_of(gram, length - 1));
    if (!c->key) return shorter;
    const entry *g = find(&m->grams, hash_of(gram, length));
    double d = m->discount[length], seen = g->key && g->a > d ? g->a - d : 0;
    return (seen + d * c->b * shorter) / c->a;
}

/* Returns P(word | start of line, before[count]). */
static double ngram_probability(const ngram *m, const int32_t *before, int count, int32_t word) {
    int32_t gram[NGRAM_LONGEST];
    int held = 0, room = m->length - 1;
    if (count < room) gram[held++] = START;
    for (int i = count < room ? 0 : count - room; i < count; i++) gram[held++] = before[i];
    gram[held++] = word;
    return gram_probability(m, gram, held);
}

typedef struct search {
    const ngram *m;
    const int32_t *word;
    int n;
    bool taken[NGRAM_MOST_ITEMS];
    int32_t order[NGRAM_MOST_ITEMS], row[NGRAM_MOST_ITEMS];
    int32_t *best;
    double best_logprob;
} search;

/* An order is never more probable than its beginning: a beginning that is no more probable than the best
 * order so far is not extended. */
static void extend(search *s, int t, double logprob) {
    if (t == s->n) {
        memcpy(s->best, s->order, (size_t)t * sizeof *s->best);
        s->best_logprob = logprob;
        return;
    }
    for (int i = 0; i < s->n; i++) {
        if (s->taken[i]) continue;
        double next = logprob + log(ngram_probability(s->m, s->row, t, s->word[i]));
        if (!(next > s->best_logprob)) continue;
        s->taken[i] = true;
        s->order[t] = i;
        s->row[t] = s->word[i];
        extend(s, t + 1, next);
        s->taken[i] = false;
    }
}

/* Finds the most probable of all n! orders of the words, n at most NGRAM_MOST_ITEMS; of equal ones the first.
 */
static void ngram_order(const ngram *m, const int32_t *word, int n, int32_t *order, double *logprob) {
    search s = {.m = m, .word = word, .n = n, .best = order, .best_logprob = -INFINITY};
    for (int i = 0; i < n; i++) order[i] = i;
    extend(&s, 0, 0);
    *logprob = s.best_logprob;
}

/* A beginning of an order: one of the step before, plus an item. */
typedef struct beginning {
    double logprob;
    int parent;   /* among those of the step before */
    int32_t item; /* added to it */
} beginning;

/* Returns whether a is more probable or, of equal ones, has the earlier parent or then the smaller item. */
static bool is_better(const beginning *a, const beginning *b) {
    if (a->logprob != b->logprob) return a->logprob > b->logprob;
    return a->parent != b->parent ? a->parent < b->parent : a->item < b->item;
}

/* Inserts b into the `kept` best, of which there is room for `beam`; returns their new number. */
static int keep_best(beginning *best, int kept, int beam, beginning b) {
    if (kept == beam && !is_better(&b, &best[kept - 1])) return kept;
    int at = kept < beam ? kept : beam - 1;
    for (; at > 0 && is_better(&b, &best[at - 1]); at--) best[at] = best[at - 1];
    best[at] = b;
    return kept < beam ? kept + 1 : kept;
}

static bool has_item(const int32_t *order, int length, int32_t item) {
    for (int t = 0; t < length; t++)
        if (order[t] == item) return true;
    return false;
}

/* Finds a probable order by beam search, for any n: keeps the `beam` most probable beginnings at each step.
 */
static onet_status ngram_beam(const ngram *m, const int32_t *word, int n, int beam, int32_t *order,
                              double *logprob, onet_error *err) {
    if (n < 1 || beam < 1) return fail(err, ONET_USAGE, "a beam of %d over %d words", beam, n);
    size_t rows = (size_t)beam, size = (size_t)n;
    beginning *best = array_new(rows, sizeof *best), *now = array_new(rows, sizeof *now);
    int32_t *orders = array_new(2 * rows * size, sizeof *orders), *before = array_new(size, sizeof *before);
    if (!best || !now || !orders || !before) {
        free(best);
        free(now);
        free(orders);
        free(before);
        return fail_memory(err, "the beam");
    }
    int count = 1;
    for (int t = 0; t < n; t++) {
        int32_t *old = orders + (size_t)(t % 2) * rows * size,
                *new = orders + (size_t)(1 - t % 2) * rows *size;
        int kept = 0;
        for (int p = 0; p < count; p++) {
            const int32_t *done = old + (size_t)p * size;
            for (int k = 0; k < t; k++) before[k] = word[done[k]];
            for (int32_t i = 0; i < n; i++)
                if (!has_item(done, t, i)) {
                    double next = now[p].logprob + log(ngram_probability(m, before, t, word[i]));
                    kept = keep_best(best, kept, beam, (beginning){next, p, i});
                }
        }
        for (int k = 0; k < kept; k++) {
            memcpy(new + (size_t)k *size, old + (size_t)best[k].parent * size, (size_t)t * sizeof *new);
            new[(size_t)k * size + (size_t)t] = best[k].item;
            now[k] = best[k];
        }
        count = kept;
    }
    memcpy(order, orders + (size_t)(n % 2) * rows * size, size * sizeof *order);
    *logprob = now[0].logprob;
    free(best);
    free(now);
    free(orders);
    free(before);
    return ONET_OK;
}

typedef struct ngram_values {
    words_test_options test;
    const char *train;
    int grams, beam;
} ngram_values;

static onet_status order_lines(const ngram_values *v, const onet_sets *train, words_test *t,
                               onet_error *err) {
    progress p;
    progress_start(&p, true);
    ngram *model;
    onet_status status = ngram_train(&model, train, v->grams, err);
    if (status) return status;
    double trained = progress_seconds(&p);
    const onet_sets *sets = t->made.sets;
    for (size_t s = 0; s < sets->count && !status; s++) {
        const int32_t *word = sets->word + sets->start[s];
        int n = (int)onet_sets_size(sets, s);
        onet_answer *a = &t->answers[s];
        if (v->beam)
            status = ngram_beam(model, word, n, v->beam, a->order, a->logprob, err);
        else
            ngram_order(model, word, n, a->order, a->logprob);
        a->found = 1;
    }
    ngram_free(model);
    if (status) return status;
    char how[64];
    if (v->beam)
        snprintf(how, sizeof how, "%d-grams of %zu lines; beam %d", v->grams, train->count, v->beam);
    else
        snprintf(how, sizeof how, "%d-grams of %zu lines", v->grams, train->count);
    return words_test_report(t, how, NULL, progress_seconds(&p) - trained, err);
}

static onet_status run(const ngram_values *v, onet_error *err) {
    onet_sets *train;
    onet_status status = onet_sets_read(&train, v->train, NULL, err);
    if (status) return status;
    words_test t = {.same = NULL};
    if (!train->words || !train->order)
        status = fail(err, ONET_BAD, "%s: its items are not words in order; 'words prepare' makes such data",
                      v->train);
    if (!status) status = words_test_open(&t, &v->test, train->words, err);
    if (!status && !v->beam && t.longest > NGRAM_MOST_ITEMS)
        status = fail(err, ONET_USAGE, "a line has %zu words, too many to look at all orders; give --beam N",
                      t.longest);
    if (!status) status = order_lines(v, train, &t, err);
    if (!status) status = words_test_commit(&t, err);
    words_test_close(&t);
    onet_sets_free(train);
    return status;
}

static const option options[] = {
    {.name = "train",
     .kind = OPTION_STRING,
     .argument = "FILE",
     .field = offsetof(ngram_values, train),
     .required = true,
     .help = "Data of words prepare: the lines to count in, and the vocabulary."},
    OPTIONS_WORDS_TEST(offsetof(ngram_values, test)),
    {.name = "beam",
     .kind = OPTION_INT,
     .argument = "N",
     .field = offsetof(ngram_values, beam),
     .low = 0,
     .high = 1000000,
     .help = "Width of a beam search; 0 looks at all orders, of 10 words at most."},
    {.name = "grams",
     .kind = OPTION_INT,
     .argument = "N",
     .field = offsetof(ngram_values, grams),
     .low = 1,
     .high = NGRAM_LONGEST,
     .help = "Words per n-gram."},
    {0},
};

int main(int argc, char **argv) {
    ngram_values v = {.test.first = 5, .grams = 3};
    onet_error err;
    int operands = 0;
    bool help = false;
    onet_status status = options_parse(options, &v, argc - 1, argv + 1, &operands, &help, NULL, &err);
    if (!status && (operands || help))
        status = fail(&err, ONET_USAGE, "the first comment of bench/ngram.c lists the options");
    if (!status) status = run(&v, &err);
    if (status) fprintf(stderr, "ngram: %s\n", err.text);
    return (int)status;
}
