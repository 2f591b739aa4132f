/* Makes sets of words and their vocabulary from text: from the first words of each line, or from windows of
 * sentences. */
#include "tasks/words/prepare.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/names.h"
#include "engine/base/rng.h"
#include "engine/base/word_form.h"
#include "ordernet.h"
#include "ordernet_io.h"

/* The lines of a text: the first words of each paragraph, lower-cased. WikiText's raw format and ready lines
 * of words are read alike: blank lines, headers (" = Title = ") and lines with fewer words than the
 * least asked for are passed over. Words are what stands between blanks. */

enum { LINES_MOST_WORDS = 1000 };

typedef struct lines {
    input *in;
    int least, most; /* words that a line must have, and words taken from it */
    int words;       /* of the current line */
    /* That line: word k is text[at[k]] .. text[at[k+1]-2], a blank after each. */
    char *text;
    size_t *at; /* [most + 1] */
    size_t room;
    long number; /* of the line in its file, from 1 */
    size_t read, blank, headers, shorter, kept;
} lines;

/* path may be .gz, .xz or "-". lines_close may be called in any case. */
static onet_status lines_open(lines *l, const char *path, int least, int most, onet_error *err) {
    *l = (lines){.least = least, .most = most};
    if (least < 1 || least > most || most > LINES_MOST_WORDS)
        return fail(err, ONET_USAGE, "a line gives 1 to %d words, not %d", LINES_MOST_WORDS, most);
    l->at = array_new((size_t)most + 1, sizeof *l->at);
    if (!l->at) return fail_memory(err, "a line of text");
    return input_open(&l->in, path, err);
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

/* Lower-cases the next word of the line and puts it after those that l->text already holds. */
static onet_status keep_word(lines *l, int k, const char *word, size_t length, onet_error *err) {
    size_t used = l->at[k];
    if (!array_reserve(&l->text, &l->room, used + word_form_room(length) + 1, 1))
        return fail_memory(err, "a line of text");
    ptrdiff_t formed = word_lower(word, length, l->text + used, l->room - used - 1);
    if (formed < 0)
        return fail(err, ONET_BAD, "%s:%ld: word %d is not UTF-8; convert the text to UTF-8 first",
                    input_name(l->in), l->number, k + 1);
    l->text[used + (size_t)formed] = ' ';
    l->at[k + 1] = used + (size_t)formed + 1;
    return ONET_OK;
}

static onet_status take_words(lines *l, const char *p, const char *end, bool *kept, onet_error *err) {
    *kept = false;
    while (p < end && is_blank(*p)) p++;
    while (end > p && is_blank(end[-1])) end--;
    if (p == end) {
        l->blank++;
        return ONET_OK;
    }
    if (end - p >= 3 && *p == '=' && p[1] == ' ' && end[-1] == '=' && end[-2] == ' ') {
        l->headers++;
        return ONET_OK;
    }
    l->at[0] = 0;
    for (l->words = 0; l->words < l->most; l->words++) {
        while (p < end && is_blank(*p)) p++;
        if (p == end) break;
        const char *word = p;
        while (p < end && !is_blank(*p)) p++;
        onet_status status = keep_word(l, l->words, word, (size_t)(p - word), err);
        if (status) return status;
    }
    if (l->words < l->least) {
        l->shorter++;
        return ONET_OK;
    }
    l->kept++;
    *kept = true;
    return ONET_OK;
}

/* Goes on to the next line that is kept; *more is false at the end. */
static onet_status lines_next(lines *l, bool *more, onet_error *err) {
    char *line;
    size_t length;
    onet_status status;
    *more = false;
    while (!(status = input_line(l->in, &line, &length, &l->number, err)) && line) {
        l->read++;
        status = take_words(l, line, line + length, more, err);
        if (status || *more) return status;
    }
    return status;
}

static void lines_close(lines *l) {
    input_close(l->in);
    free(l->text);
    free(l->at);
    *l = (lines){.in = NULL};
}

/* The sets as numbers of words: the text's distinct words, how often each was seen, and the words of each set
 * in their right order. The text itself is never held. */
typedef struct text {
    names distinct;
    uint64_t *times; /* [distinct] */
    size_t room_times;
    size_t *start; /* [sets + 1]: set s is word[start[s]] .. word[start[s + 1] - 1] */
    size_t sets, room_start;
    int32_t *word;
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

/* Adds words from .. from + count - 1 of the line as a set. */
static onet_status add_set(text *t, lines *l, int from, int count, output *out, onet_error *err) {
    onet_status status = ONET_OK;
    for (int k = from; k < from + count && !status; k++)
        status = add_word(t, l->text + l->at[k], l->at[k + 1] - l->at[k] - 1, err);
    if (!status && !array_reserve(&t->start, &t->room_start, t->sets + 2, sizeof *t->start))
        status = fail_memory(err, "the words of the text");
    if (status) return status;
    t->start[0] = 0;
    t->start[++t->sets] = t->words;
    if (!out) return ONET_OK;
    char *end = l->text + l->at[from + count] - 1;
    *end = '\n';
    output_write(out, l->text + l->at[from], l->at[from + count] - l->at[from]);
    *end = ' ';
    return output_status(out, err);
}

/* Changes the seed for windows: their random streams would be those that shuffle the sets otherwise. */
static const uint64_t WINDOWS_SEED = 0x77696E646F7773;

static onet_status add_windows(text *t, lines *l, const prepare_options *options, prepare_report *report,
                               output *out, onet_error *err) {
    window list[WINDOWS_OF_SENTENCE];
    bool opens = l->at[1] == 2 && l->text[0] == '^';
    int words = l->words - opens;
    if (words < options->windows.shortest) {
        l->kept--;
        l->shorter++;
        return ONET_OK;
    }
    rng r;
    rng_seed(&r, options->seed ^ WINDOWS_SEED, (uint64_t)l->number);
    int count = windows_sample(&options->windows, &r, words, opens, list);
    onet_status status = ONET_OK;
    for (int i = 0; i < count && !status; i++) {
        status = add_set(t, l, list[i].from + opens, list[i].count, out, err);
        report->sorts[list[i].sort]++;
    }
    return status;
}

static onet_status read_text(text *t, const prepare_options *options, prepare_report *report, output *out,
                             onet_error *err) {
    lines l;
    bool cut = options->windows.longest > 0;
    onet_status status = cut ? lines_open(&l, options->text, 1, LINES_MOST_WORDS, err)
                             : lines_open(&l, options->text, options->first, options->first, err);
    bool more = true;
    while (!status && !(status = lines_next(&l, &more, err)) && more)
        status = cut ? add_windows(t, &l, options, report, out, err) : add_set(t, &l, 0, l.words, out, err);
    report->sets = t->sets;
    report->read = l.read;
    report->blank = l.blank;
    report->headers = l.headers;
    report->shorter = l.shorter;
    report->kept = l.kept;
    report->words = t->words;
    report->distinct = t->distinct.count;
    lines_close(&l);
    if (!status && !report->kept)
        status = fail(err, ONET_BAD, "%s: no line has %d words or more", options->text,
                      cut ? options->windows.shortest : options->first);
    if (!status && !report->sets)
        status = fail(err, ONET_BAD, "%s: its sentences gave no window; give more sorts or larger numbers",
                      options->text);
    return status;
}

/* The row of one of the text's words, and how the report counts it. */
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

static void count_set(prepare_report *report, const int32_t *word, const stand_in *found, int n) {
    bool unknown = false;
    for (int k = 0; k < n; k++) {
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
    report->sets_unknown += unknown;
}

/* Fills one set: words become rows, in a random order. row, order: [n]. */
static void fill_set(int32_t *row, int32_t *order, int n, size_t s, const int32_t *word,
                     const stand_in *found, const prepare_options *options, int32_t unk) {
    rng r;
    rng_seed(&r, options->seed, s);
    for (int k = 0; k < n; k++) order[k] = k;
    for (int k = n - 1; k > 0; k--) {
        int other = (int)rng_below(&r, (uint64_t)k + 1);
        int32_t swap = order[k];
        order[k] = order[other];
        order[other] = swap;
    }
    for (int k = 0; k < n; k++) {
        const stand_in *f = &found[word[k]];
        bool hide = f->how == KIND && unk >= 0 && rng_uniform(&r) < options->unk_share;
        row[order[k]] = hide ? unk : f->row;
    }
}

/* Makes sets that own the vocabulary and t's array `start`. Rows of the vocabulary overwrite t's array of
 * words, which becomes the sets' too, since there may be too many words to hold twice; with keep_words the
 * rows go to a copy. */
static onet_status make_sets(onet_sets **made, text *t, const onet_words *distinct, onet_words *words,
                             const onet_words *vectors, const prepare_options *options,
                             prepare_report *report, onet_error *err) {
    onet_sets *sets;
    onet_status status = onet_sets_new(&sets, onet_words_width(words), err);
    if (status) {
        onet_words_free(words);
        return status;
    }
    sets->words = words;
    stand_in *found = array_new((size_t)onet_words_count(distinct), sizeof *found);
    sets->order = array_new(t->words, sizeof *sets->order);
    sets->word = options->keep_words ? array_new(t->words, sizeof *sets->word) : t->word;
    if (!options->keep_words) t->word = NULL;
    if (!found || !sets->order || !sets->word) {
        free(found);
        onet_sets_free(sets);
        return fail_memory(err, "the sets");
    }
    if (options->keep_words) memcpy(sets->word, t->word, t->words * sizeof *t->word);
    free(sets->start);
    sets->start = t->start;
    sets->count = t->sets;
    t->start = NULL;
    find_stand_ins(found, distinct, words, vectors);
    int32_t unk = onet_words_exact(words, "<unk>", 5);
    for (size_t s = 0; s < sets->count; s++) {
        size_t from = sets->start[s];
        int n = (int)(sets->start[s + 1] - from);
        int32_t word[LINES_MOST_WORDS];
        memcpy(word, sets->word + from, (size_t)n * sizeof *word);
        count_set(report, word, found, n);
        fill_set(sets->word + from, sets->order + from, n, s, word, found, options, unk);
    }
    report->rows = (size_t)onet_words_count(words);
    free(found);
    *made = sets;
    return ONET_OK;
}

static onet_status sets_from_text(onet_sets **sets, text *t, const onet_words *distinct,
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

/* Makes a vocabulary without vectors from the names. */
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
    free(t.start);
    return status;
}

void prepare_free(prepared *made) {
    onet_sets_free(made->sets);
    onet_words_free(made->distinct);
    free(made->word);
    *made = (prepared){.sets = NULL};
}
