/* Makes sets of words and their vocabulary from lines of text. */
#include "sentences/prepare.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/names.h"
#include "base/rng.h"
#include "sentences/lines.h"

/* The text, whole: its distinct words, how often each was seen, and each kept line as `first` of them. */
typedef struct text {
    names distinct;
    uint64_t *times; /* [distinct] */
    size_t room_times;
    int32_t *word; /* [kept, first] */
    size_t words, room_word;
} text;

void prepare_defaults(prepare_options *options) {
    *options = (prepare_options){.first = 5, .unk_share = 0.1, .seed = 1};
    onet_vocabulary_defaults(&options->vocabulary, sizeof options->vocabulary);
}

static onet_status add_word(text *t, const char *word, size_t length, onet_error *err) {
    size_t row, before = t->distinct.count;
    if (!names_add(&t->distinct, word, length, &row) || row > INT32_MAX ||
        !array_reserve(&t->times, &t->room_times, row + 1, sizeof *t->times) ||
        !array_reserve(&t->word, &t->room_word, t->words + 1, sizeof *t->word))
        return fail_memory(err, "the words of the text");
    if (row == before) t->times[row] = 0;
    t->times[row]++;
    t->word[t->words++] = (int32_t)row;
    return ONET_OK;
}

static onet_status read_text(text *t, const prepare_options *options, prepare_report *report, output *out,
                             onet_error *err) {
    lines l;
    onet_status status = lines_open(&l, options->text, options->first, err);
    bool more = true;
    while (!status && !(status = lines_next(&l, &more, err)) && more) {
        for (int k = 0; k < l.first && !status; k++)
            status = add_word(t, l.text + l.at[k], l.at[k + 1] - l.at[k] - 1, err);
        if (status || !out) continue;
        l.text[l.at[l.first] - 1] = '\n';
        status = output_write(out, l.text, l.at[l.first], err);
    }
    report->read = l.read;
    report->blank = l.blank;
    report->headers = l.headers;
    report->shorter = l.shorter;
    report->kept = l.kept;
    report->words = t->words;
    report->distinct = t->distinct.count;
    lines_close(&l);
    if (!status && !report->kept)
        status = fail(err, ONET_BAD, "%s: no line has %d words or more", options->text, options->first);
    return status;
}

/* What stands for one of the text's words, and how the report counts it. */
typedef struct stand_in {
    int32_t row;
    enum { WITH_VECTOR, OWN_ROW, UNK, SPECIAL, KIND } how;
} stand_in;

static bool is_special(const char *word, size_t length) {
    return length == 3 && word[0] == '@' && word[2] == '@';
}

static void find_stand_ins(stand_in *found, const onet_words *distinct, const onet_words *words,
                           const onet_words *vectors) {
    for (int32_t w = 0; w < onet_words_count(distinct); w++) {
        size_t length;
        const char *word = onet_words_text(distinct, w, &length);
        int known;
        found[w].row = onet_words_find(words, word, length, &known);
        if (length == 5 && !memcmp(word, "<unk>", 5))
            found[w].how = UNK;
        else if (known && is_special(word, length))
            found[w].how = SPECIAL;
        else if (!known)
            found[w].how = KIND;
        else
            found[w].how = vectors && onet_words_exact(words, word, length) >= 0 &&
                                   onet_words_exact(vectors, word, length) < 0
                               ? OWN_ROW
                               : WITH_VECTOR;
    }
}

static void count_line(prepare_report *report, const int32_t *word, const stand_in *found, int first) {
    bool unknown = false;
    for (int k = 0; k < first; k++) {
        switch (found[word[k]].how) {
        case WITH_VECTOR:
            report->with_vector++;
            break;
        case OWN_ROW:
            report->own_row++;
            break;
        case SPECIAL:
            report->special++;
            break;
        case UNK:
            report->unk++;
            break;
        case KIND:
            report->kind++;
            break;
        }
        unknown |= found[word[k]].how == UNK || found[word[k]].how == KIND;
    }
    report->lines_unknown += unknown;
}

/* One line as a set: words become rows, in a random order. row, order: [first]. */
static void fill_set(int32_t *row, int32_t *order, size_t s, const int32_t *word, const stand_in *found,
                     const prepare_options *options, int32_t unk) {
    int first = options->first;
    rng r;
    rng_seed(&r, options->seed, s);
    for (int k = 0; k < first; k++) order[k] = k;
    for (int k = first - 1; k > 0; k--) {
        int other = (int)rng_below(&r, (uint64_t)k + 1);
        int32_t swap = order[k];
        order[k] = order[other];
        order[other] = swap;
    }
    for (int k = 0; k < first; k++) {
        const stand_in *f = &found[word[k]];
        bool hide = f->how == KIND && unk >= 0 && rng_uniform(&r) < options->unk_share;
        row[order[k]] = hide ? unk : f->row;
    }
}

/* The words become the sets'. */
static onet_status make_sets(onet_sets **made, const text *t, const onet_words *distinct, onet_words *words,
                             const onet_words *vectors, const prepare_options *options,
                             prepare_report *report, onet_error *err) {
    onet_sets *sets;
    onet_status status = onet_sets_new(&sets, 0, err);
    if (status) {
        onet_words_free(words);
        return status;
    }
    sets->words = words;
    size_t first = (size_t)options->first;
    stand_in *found = array_new((size_t)onet_words_count(distinct), sizeof *found);
    int32_t *row = array_new(2 * first, sizeof *row);
    if (!found || !row) status = fail_memory(err, "the sets");
    if (!status) find_stand_ins(found, distinct, words, vectors);
    int32_t unk = onet_words_exact(words, "<unk>", 5);
    for (size_t s = 0; s < report->kept && !status; s++) {
        const int32_t *word = t->word + s * first;
        count_line(report, word, found, options->first);
        fill_set(row, row + first, s, word, found, options, unk);
        status = onet_sets_append_words(sets, options->first, row, row + first, err);
    }
    report->rows = (size_t)onet_words_count(words);
    free(found);
    free(row);
    if (status)
        onet_sets_free(sets);
    else
        *made = sets;
    return status;
}

static onet_status sets_from_text(onet_sets **sets, const text *t, const onet_words *distinct,
                                  const prepare_options *options, prepare_report *report, onet_error *err) {
    onet_words *words = NULL, *vectors = NULL;
    onet_status status;
    if (options->words) {
        status = onet_words_copy(&words, options->words, err);
    } else {
        status = onet_vectors_read(&vectors, options->vectors, &report->vectors_repeated, err);
        if (!status) {
            report->vectors = (size_t)onet_words_count(vectors);
            report->vectors_width = (size_t)onet_words_width(vectors);
            status = onet_words_choose(&words, vectors, distinct, t->times, &options->vocabulary, err);
        }
    }
    if (!status) status = make_sets(sets, t, distinct, words, vectors, options, report, err);
    onet_words_free(vectors);
    return status;
}

/* The names as a vocabulary without vectors. */
static onet_status words_of(onet_words **words, const names *distinct, onet_error *err) {
    size_t count = distinct->count;
    const char **word = array_new(count, sizeof *word);
    size_t *length = array_new(count, sizeof *length);
    for (size_t w = 0; word && length && w < count; w++) {
        word[w] = distinct->text + distinct->at[w];
        length[w] = distinct->at[w + 1] - distinct->at[w];
    }
    onet_status status = word && length ? onet_words_from(words, (int)count, 1, word, length, NULL, err)
                                        : fail_memory(err, "the words of the text");
    free(word);
    free(length);
    return status;
}

onet_status prepare_words(prepared *made, const prepare_options *options, onet_error *err) {
    *made = (prepared){.sets = NULL};
    text t = {.words = 0};
    output *out = NULL;
    onet_status status = options->lines ? output_open(&out, options->lines, err) : ONET_OK;
    if (!status) status = read_text(&t, options, &made->report, out, err);
    if (!status) status = words_of(&made->distinct, &t.distinct, err);
    if (!status && (options->words || options->vectors))
        status = sets_from_text(&made->sets, &t, made->distinct, options, &made->report, err);
    if (!status && out)
        status = output_commit(out, err);
    else
        output_abort(out);
    made->word = t.word;
    names_free(&t.distinct);
    free(t.times);
    return status;
}

void prepare_free(prepared *made) {
    onet_sets_free(made->sets);
    onet_words_free(made->distinct);
    free(made->word);
    *made = (prepared){.sets = NULL};
}
