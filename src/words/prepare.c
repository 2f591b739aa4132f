#include "words/prepare.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/rng.h"
#include "words/lines.h"
#include "words/maker.h"
#include "words/vectors.h"

/* The text, whole: its distinct words, how often each was seen, and each kept line as `first` of them. */
typedef struct text {
    words_maker distinct;
    uint64_t *times; /* [distinct] */
    size_t room_times;
    int32_t *word; /* [kept, first] */
    size_t words, room_word;
} text;

void prepare_defaults(prepare_options *options) {
    *options = (prepare_options){
        .first = 5,
        .vocabulary = {.unknown = UNKNOWN_KINDS, .limit = 150000, .own_row = 10, .rare_until = 10},
        .unk_share = 0.1,
        .seed = 1,
    };
}

static onet_status add_word(text *t, const char *word, size_t length, onet_error *err) {
    bool added;
    int32_t row = maker_add(&t->distinct, word, length, &added);
    if (row < 0 || !array_reserve(&t->times, &t->room_times, (size_t)row + 1, sizeof *t->times) ||
        !array_reserve(&t->word, &t->room_word, t->words + 1, sizeof *t->word))
        return fail_memory(err, "the words of the text");
    if (added) t->times[row] = 0;
    t->times[row]++;
    t->word[t->words++] = row;
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
    report->distinct = (size_t)t->distinct.words->count;
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
    for (int32_t w = 0; w < distinct->count; w++) {
        const char *word = distinct->text + distinct->at[w];
        size_t length = distinct->at[w + 1] - distinct->at[w];
        bool known;
        found[w].row = words_find_known(words, word, length, &known);
        if (length == 5 && !memcmp(word, "<unk>", 5))
            found[w].how = UNK;
        else if (known && is_special(word, length))
            found[w].how = SPECIAL;
        else if (!known)
            found[w].how = KIND;
        else
            found[w].how =
                vectors && words_exact(words, word, length) >= 0 && words_exact(vectors, word, length) < 0
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

/* One line as a set: words become rows, in a random order. */
static void fill_set(onet_sets *sets, size_t s, const int32_t *word, const stand_in *found,
                     const prepare_options *options, int32_t unk) {
    int first = options->first;
    int32_t *row = sets->word + sets->start[s], *order = sets->order + sets->start[s];
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

static onet_status make_sets(onet_sets **made, const text *t, onet_words *words, const onet_words *vectors,
                             const prepare_options *options, prepare_report *report, onet_error *err) {
    onet_sets *sets = calloc(1, sizeof *sets);
    if (!sets) {
        words_free(words);
        return fail_memory(err, "the sets");
    }
    size_t first = (size_t)options->first;
    sets->words = words;
    sets->width = words->width;
    sets->count = report->kept;
    sets->start = array_new(sets->count + 1, sizeof *sets->start);
    sets->word = array_new(t->words, sizeof *sets->word);
    sets->order = array_new(t->words, sizeof *sets->order);
    stand_in *found = array_new((size_t)t->distinct.words->count, sizeof *found);
    if (!sets->start || !sets->word || !sets->order || !found) {
        free(found);
        onet_sets_free(sets);
        return fail_memory(err, "the sets");
    }
    find_stand_ins(found, t->distinct.words, words, vectors);
    int32_t unk = words_exact(words, "<unk>", 5);
    for (size_t s = 0; s < sets->count; s++) {
        sets->start[s + 1] = sets->start[s] + first;
        count_line(report, t->word + s * first, found, options->first);
        fill_set(sets, s, t->word + s * first, found, options, unk);
    }
    report->rows = (size_t)words->count;
    free(found);
    *made = sets;
    return ONET_OK;
}

static onet_status sets_from_text(onet_sets **sets, const text *t, const prepare_options *options,
                                  prepare_report *report, onet_error *err) {
    onet_words *words = NULL, *vectors = NULL;
    onet_status status = ONET_OK;
    if (options->words) {
        words = words_copy(options->words);
        if (!words) status = fail_memory(err, "the vocabulary");
    } else {
        status = vectors_read(&vectors, options->vectors, &report->vectors_repeated, err);
        if (!status) {
            report->vectors = (size_t)vectors->count;
            report->vectors_width = (size_t)vectors->width;
            status = vocabulary_make(&words, vectors, t->distinct.words, t->times, &options->vocabulary, err);
        }
    }
    if (!status) status = make_sets(sets, t, words, vectors, options, report, err);
    words_free(vectors);
    return status;
}

onet_status prepare_words(prepared *made, const prepare_options *options, onet_error *err) {
    *made = (prepared){.sets = NULL};
    text t = {.words = 0};
    output *out = NULL;
    onet_status status = maker_start(&t.distinct, 0) ? ONET_OK : fail_memory(err, "the words of the text");
    if (!status && options->lines) status = output_open(&out, options->lines, err);
    if (!status) status = read_text(&t, options, &made->report, out, err);
    if (!status && (options->words || options->vectors))
        status = sets_from_text(&made->sets, &t, options, &made->report, err);
    if (!status && out)
        status = output_commit(out, err);
    else
        output_abort(out);
    if (!status && !(made->distinct = maker_finish(&t.distinct)))
        status = fail_memory(err, "the words of the text");
    made->word = t.word;
    maker_free(&t.distinct);
    free(t.times);
    return status;
}

void prepare_free(prepared *made) {
    onet_sets_free(made->sets);
    words_free(made->distinct);
    free(made->word);
    *made = (prepared){.sets = NULL};
}
