/* Makes vocabularies: chooses their words and rows for unknown words (onet_words_choose), reads them from a
 * file of vectors, or takes them from arrays. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/arguments.h"
#include "engine/base/choice.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/sized.h"
#include "engine/base/utf8.h"
#include "engine/words/builder.h"
#include "engine/words/kind.h"
#include "engine/words/vectors.h"
#include "engine/words/words.h"
#include "ordernet_words.h"

const onet_choice *onet_unknowns(void) {
    static const onet_choice list[] = {
        {"kinds", "a row for each kind of word", ONET_UNKNOWN_KINDS},
        {"mean", "one row for all: the mean vector", ONET_UNKNOWN_MEAN},
        {"zero", "one row for all: zeros", ONET_UNKNOWN_ZERO},
        {0},
    };
    return list;
}

/* Rows, first to last:
 *   1. rows for unknown words, see below;
 *   2. words of the text that have a vector, the frequent ones first;
 *   3. words of the text without a vector that are frequent enough for a row of their own, which starts with
 *      the vector of their kind;
 *   4. words with a vector that the text does not have, in the order of the vectors' file;
 * cut off at `limit` rows.
 *
 * Unknown words: ONET_UNKNOWN_KINDS gives rows to <unk> (the mean of the rare words' vectors), to the tokens
 * @-@ @,@ and @.@ of WikiText (the vectors of - , and .) and to each kind of word (kind.h; the mean over rare
 * words of that kind). ONET_UNKNOWN_MEAN and ONET_UNKNOWN_ZERO have one row for all of them: the mean of all
 * vectors, or zeros. */
typedef struct choice {
    const onet_words *vectors, *seen;
    const uint64_t *times; /* [seen->count] */
    const onet_vocabulary_options *options;
    words_builder builder;
} choice;

static const char *text_of(const onet_words *words, int32_t row, size_t *length) {
    *length = words->at[row + 1] - words->at[row];
    return words->text + words->at[row];
}

static const float *vector_of(const onet_words *words, int32_t row) {
    return words->vectors + (size_t)row * (size_t)words->width;
}

/* Adds a row with a vector (NULL: zeros), unless the word has one or there are `limit` rows. Returns false
 * when memory is short. */
static bool add_row(choice *c, const char *text, size_t length, const float *vector) {
    if (c->builder.words->count >= c->options->limit) return true;
    bool added;
    int32_t row = words_builder_add(&c->builder, text, length, &added);
    if (row < 0) return false;
    size_t width = (size_t)c->vectors->width;
    if (added && vector)
        memcpy(c->builder.words->vectors + (size_t)row * width, vector, width * sizeof *vector);
    return true;
}

/* Sums of vectors, in double, over groups of words (gather_means). */
typedef struct means {
    double *sum;   /* [groups, width] */
    size_t *count; /* [groups] */
    int groups;
} means;

static void add_to_mean(means *m, int group, const float *vector, int width) {
    for (int c = 0; c < width; c++) m->sum[(size_t)group * (size_t)width + (size_t)c] += (double)vector[c];
    m->count[group]++;
}

static void mean_of(const means *m, int group, float *vector, int width) {
    for (int c = 0; c < width; c++)
        vector[c] = (float)(m->sum[(size_t)group * (size_t)width + (size_t)c] / (double)m->count[group]);
}

static uint64_t times_seen(const choice *c, const char *text, size_t length) {
    int32_t row = words_exact(c->seen, text, length);
    return row < 0 ? 0 : c->times[row];
}

/* Groups: k < kind_count(): the rare words of kind k; kind_count(): all rare words; kind_count() + 1: all
 * words. */
static void gather_means(const choice *c, means *m) {
    int width = c->vectors->width;
    for (int32_t w = 0; w < c->vectors->count; w++) {
        size_t length;
        const char *text = text_of(c->vectors, w, &length);
        const float *vector = vector_of(c->vectors, w);
        add_to_mean(m, kind_count() + 1, vector, width);
        if (times_seen(c, text, length) > (uint64_t)c->options->rare_until) continue;
        add_to_mean(m, kind_count(), vector, width);
        add_to_mean(m, kind_of(text, length), vector, width);
    }
}

static bool add_unknown_rows(choice *c, const means *m, float *vector) {
    int width = c->vectors->width;
    const char *other = kind_name(kind_other());
    if (c->options->unknown != ONET_UNKNOWN_KINDS) {
        mean_of(m, kind_count() + 1, vector, width);
        return add_row(c, other, strlen(other), c->options->unknown == ONET_UNKNOWN_MEAN ? vector : NULL);
    }
    static const char *const wikitext[][2] = {{"@-@", "-"}, {"@,@", ","}, {"@.@", "."}};
    int rare = m->count[kind_count()] ? kind_count() : kind_count() + 1;
    mean_of(m, rare, vector, width);
    if (words_exact(c->vectors, "<unk>", 5) < 0 && !add_row(c, "<unk>", 5, vector)) return false;
    for (size_t i = 0; i < sizeof wikitext / sizeof *wikitext; i++) {
        int32_t plain = words_exact(c->vectors, wikitext[i][1], 1);
        if (words_exact(c->vectors, wikitext[i][0], 3) < 0 &&
            !add_row(c, wikitext[i][0], 3, plain < 0 ? vector : vector_of(c->vectors, plain)))
            return false;
    }
    for (int kind = 0; kind < kind_count(); kind++) {
        mean_of(m, m->count[kind] ? kind : rare, vector, width);
        if (!add_row(c, kind_name(kind), strlen(kind_name(kind)), vector)) return false;
    }
    return true;
}

typedef struct ranked {
    uint64_t times;
    int32_t row; /* in seen */
} ranked;

static int by_times(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    if (x->times != y->times) return x->times > y->times ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static bool add_words(choice *c, const ranked *order) {
    size_t length;
    for (int32_t i = 0; i < c->seen->count; i++) {
        const char *text = text_of(c->seen, order[i].row, &length);
        int32_t v = words_exact(c->vectors, text, length);
        if (v >= 0 && !add_row(c, text, length, vector_of(c->vectors, v))) return false;
    }
    for (int32_t i = 0;
         i < c->seen->count && c->options->own_row && c->options->unknown == ONET_UNKNOWN_KINDS; i++) {
        const char *text = text_of(c->seen, order[i].row, &length);
        if (order[i].times < (uint64_t)c->options->own_row) break;
        const onet_words *made = c->builder.words;
        if (words_exact(c->vectors, text, length) >= 0 || kind_reserved(text, length)) continue;
        const char *kind = kind_name(kind_of(text, length));
        int32_t stand_in = words_exact(made, kind, strlen(kind));
        if (!add_row(c, text, length, NULL)) return false;
        int32_t row = words_exact(made, text, length);
        if (row == made->count - 1 && stand_in >= 0) /* after adding, as adding may move the vectors */
            memcpy(made->vectors + (size_t)row * (size_t)made->width, vector_of(made, stand_in),
                   (size_t)made->width * sizeof *made->vectors);
    }
    for (int32_t w = 0; w < c->vectors->count; w++) {
        const char *text = text_of(c->vectors, w, &length);
        if (!add_row(c, text, length, vector_of(c->vectors, w))) return false;
    }
    return true;
}

static onet_status make(choice *c, means *m, float *vector, ranked *order, onet_words **words,
                        onet_error *err) {
    if (!m->sum || !m->count || !vector || !order || !words_builder_start(&c->builder, c->vectors->width))
        return fail_memory(err, "the vocabulary");
    gather_means(c, m);
    for (int32_t i = 0; i < c->seen->count; i++) order[i] = (ranked){c->times[i], i};
    qsort(order, (size_t)c->seen->count, sizeof *order, by_times);
    if (!add_unknown_rows(c, m, vector) || !add_words(c, order)) return fail_memory(err, "the vocabulary");
    *words = words_builder_finish(&c->builder);
    return *words ? ONET_OK : fail_memory(err, "the vocabulary");
}

/* onet_words_choose with options whose size was checked. */
static onet_status vocabulary_make(onet_words **words, const onet_words *vectors, const onet_words *seen,
                                   const uint64_t *seen_times, const onet_vocabulary_options *options,
                                   onet_error *err) {
    *words = NULL;
    if (options->limit < kind_count() + 5)
        return fail(err, ONET_USAGE, "a vocabulary needs %d rows at least, not %d", kind_count() + 5,
                    options->limit);
    choice c = {.vectors = vectors, .seen = seen, .times = seen_times, .options = options};
    size_t width = (size_t)vectors->width;
    means m = {.groups = kind_count() + 2};
    m.sum = array_new((size_t)m.groups * width, sizeof *m.sum);
    m.count = array_new((size_t)m.groups, sizeof *m.count);
    float *vector = array_new(width, sizeof *vector);
    ranked *order = array_new((size_t)seen->count, sizeof *order);
    onet_status status = make(&c, &m, vector, order, words, err);
    words_builder_free(&c.builder);
    free(m.sum);
    free(m.count);
    free(vector);
    free(order);
    return status;
}

void onet_vocabulary_defaults(onet_vocabulary_options *options, size_t size) {
    const onet_vocabulary_options own = {
        .size = sizeof own, .unknown = ONET_UNKNOWN_KINDS, .limit = 150000, .own_row = 10, .rare_until = 10};
    sized_give(options, size, &own, sizeof own);
}

onet_status onet_words_choose(onet_words **words, const onet_words *vectors, const onet_words *seen,
                              const uint64_t *times, const onet_vocabulary_options *options,
                              onet_error *err) {
    NEED(words, "words");
    *words = NULL;
    NEED(vectors, "vectors");
    NEED(seen, "seen");
    NEED(times, "times");
    onet_vocabulary_options own;
    onet_vocabulary_defaults(&own, sizeof own);
    onet_status status = sized_take(&own, sizeof own, options, "onet_vocabulary_options", err);
    if (!status && !choice_of(onet_unknowns(), own.unknown))
        status = fail_field(err, ONET_USAGE, "onet_vocabulary_options.unknown",
                            "%d is not a treatment of unknown words", (int)own.unknown);
    if (!status && own.own_row < 0)
        status = fail_field(err, ONET_USAGE, "onet_vocabulary_options.own_row",
                            "a row of its own for words seen %d times: 0 or more are possible", own.own_row);
    if (!status && own.rare_until < 0)
        status = fail_field(err, ONET_USAGE, "onet_vocabulary_options.rare_until",
                            "rare words seen up to %d times: 0 or more are possible", own.rare_until);
    return status ? status : vocabulary_make(words, vectors, seen, times, &own, err);
}

/* Without a text to count in, each word counts once. */
onet_status onet_words_read(onet_words **words, const char *path, onet_error *err) {
    NEED(words, "words");
    *words = NULL;
    NEED(path, "path");
    onet_words *vectors;
    size_t repeated;
    onet_status status = vectors_read(&vectors, path, &repeated, err);
    if (status) return status;
    uint64_t *times = array_new((size_t)vectors->count, sizeof *times);
    for (int w = 0; times && w < vectors->count; w++) times[w] = 1;
    status = times ? onet_words_choose(words, vectors, vectors, times, NULL, err)
                   : fail_memory(err, "the vocabulary");
    free(times);
    words_free(vectors);
    return status;
}

onet_status onet_vectors_read(onet_words **words, const char *path, size_t *repeated, onet_error *err) {
    NEED(words, "words");
    *words = NULL;
    NEED(path, "path");
    size_t ignored;
    return vectors_read(words, path, repeated ? repeated : &ignored, err);
}

onet_status onet_words_from(onet_words **words, int count, int width, const char *const *text,
                            const size_t *length, const float *vectors, onet_error *err) {
    NEED(words, "words");
    *words = NULL;
    NEED(text, "text");
    words_builder builder;
    if (count < 1 || width < 1 || width > MAX_WIDTH)
        return fail(err, ONET_USAGE,
                    "a vocabulary of %d words with %d features; at least 1 of both is needed, "
                    "and at most %d features",
                    count, width, MAX_WIDTH);
    for (int w = 0; w < count; w++)
        if (!text[w]) return fail(err, ONET_USAGE, "onet_words_from: text[%d] is NULL", w);
    for (size_t i = 0; vectors && i < (size_t)count * (size_t)width; i++)
        if (!isfinite(vectors[i]))
            return fail(err, ONET_BAD, "number %zu of the vector of word %zu is not finite",
                        i % (size_t)width, i / (size_t)width);
    bool made = words_builder_start(&builder, width);
    onet_status status = ONET_OK;
    for (int w = 0; w < count && made && !status; w++) {
        size_t bytes = length ? length[w] : strlen(text[w]);
        bool added;
        if (utf8_valid(text[w], bytes) < bytes)
            status = fail(err, ONET_BAD, "word %d is not UTF-8", w);
        else if (!bytes || memchr(text[w], '\n', bytes)) /* newlines separate the words in a file */
            status = fail(err, ONET_BAD, "word %d is empty or has a newline in it", w);
        else if (words_builder_add(&builder, text[w], bytes, &added) < 0)
            made = false;
        else if (!added)
            status = fail(err, ONET_BAD, "word %d, \"%.*s\", is there twice", w, (int)bytes, text[w]);
        else if (vectors)
            memcpy(builder.words->vectors + (size_t)w * (size_t)width, vectors + (size_t)w * (size_t)width,
                   (size_t)width * sizeof *vectors);
    }
    if (!status && made) made = (*words = words_builder_finish(&builder)) != NULL;
    words_builder_free(&builder);
    return status || made ? status : fail_memory(err, "the vocabulary");
}
