/* Makes training sets of words and their vocabulary from text: from lines, or from random windows (successive
 * words) of sentences, whose options are parsed here too. Also adds counts of neighbours as a relation. The
 * items of a set are shuffled (the same way in each run), so that their positions reveal nothing about the
 * right order. */
#ifndef WORDS_PREPARE_H
#define WORDS_PREPARE_H

#include <stdbool.h>

#include "engine/base/rng.h"
#include "ordernet.h"
#include "ordernet_words.h"

/* ---- Windows of lines (windows.c) -------------------------------------------------------------------- */

/* Windows: successive words of a sentence. Where they begin, how many are taken of each sentence and how long
 * they are can be set; all samples follow from the caller's random numbers. */

enum { WINDOWS_LONGEST = 100, WINDOWS_MOST_RATE = 100 };

typedef enum window_sort {
    WINDOW_PARAGRAPH, /* at the beginning of a sentence that opens a paragraph */
    WINDOW_SENTENCE,  /* at the beginning of any other sentence */
    WINDOW_ANYWHERE,
    WINDOW_WHOLE, /* the sentence itself */
    WINDOW_SORTS
} window_sort;

/* Zeroed: no windows. */
typedef struct windows {
    double rate[WINDOW_SORTS];         /* windows per sentence of that sort; a fraction is a probability */
    double below[WINDOWS_LONGEST + 2]; /* below[k]: weight of all lengths smaller than k */
    int shortest, longest;
} windows;

typedef struct window {
    int from, count; /* words */
    window_sort sort;
} window;

enum { WINDOWS_OF_SENTENCE = WINDOW_SORTS * WINDOWS_MOST_RATE };

/* sorts: "paragraph:1,sentence:0.5,anywhere:2,whole:1"; a sort without a number has 1. lengths: "5", "2-20"
 * or "3-8:3,9-20": lengths and ranges, each length with the weight after the colon, or 1. */
onet_status windows_parse(windows *w, const char *sorts, const char *lengths, onet_error *err);

/* Samples windows of a sentence of n words into list; returns how many, 0 if the sentence is shorter than all
 * lengths. Lengths above n are not sampled. */
int windows_sample(const windows *w, rng *r, int n, bool opens_paragraph, window list[WINDOWS_OF_SENTENCE]);

typedef struct prepare_options {
    const char *text;        /* path; .gz, .xz and "-" as well */
    const char *vectors;     /* path, as `text`; NULL if `words` is given */
    const onet_words *words; /* an earlier vocabulary, as for validation sets; NULL: none */
    int first;               /* K: words taken from each line */
    windows windows; /* if its longest is not 0: windows of sentences, instead of the first K words of lines.
                        A "^" before a sentence marks it as the opening of a paragraph */
    onet_vocabulary_options vocabulary; /* how a new vocabulary is chosen */
    double unk_share; /* share of the unknown words that are written <unk>, as WikiText writes them */
    uint64_t seed;
    const char *lines; /* path for the kept lines, or the windows, as text; or NULL */
    bool keep_words;   /* keep the words as written in prepared.word, beside the sets */
} prepare_options;

typedef struct prepare_report {
    size_t read, blank, headers, shorter, kept; /* lines */
    size_t sets;                                /* kept lines, or windows of them */
    size_t sorts[WINDOW_SORTS];                 /* windows of each sort */
    size_t words, distinct;                     /* in the sets */
    size_t with_vector;                 /* of `words`: in the file of vectors, or known, when one was given */
    size_t own_row, unk, special, kind; /* the others, by their row; special: @-@ @,@ @.@ */
    size_t sets_unknown;                /* sets with <unk> or a kind in them */
    size_t vectors, vectors_repeated, vectors_width;
    size_t rows; /* of the vocabulary */
} prepare_report;

void prepare_defaults(prepare_options *options);

/* The result. Different words may share a row; keep_words tells them apart. */
typedef struct prepared {
    onet_sets *sets; /* NULL if there were neither vectors nor a vocabulary, and only the lines are wanted */
    onet_words *distinct; /* the words of the text (without vectors) */
    int32_t *word;        /* with keep_words: the sets as rows of `distinct`, in their right order */
    prepare_report report;
} prepared;

/* Makes sets from a text. Call prepare_free after a failure too. */
onet_status prepare_words(prepared *made, const prepare_options *options, onet_error *err);
void prepare_free(prepared *made);

/* Gives sets of words one relation, `bigrams`: log(1 + how often the second word directly follows the first
 * in the sets of `text`), rows of one vocabulary in their right order. If text is `sets` itself, the
 * neighbours of a set do not count for it: a set to be ordered later has not been counted either. */
onet_status bigrams_relate(onet_sets *sets, const onet_sets *text, onet_error *err);

#endif
