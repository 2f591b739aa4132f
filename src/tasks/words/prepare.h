/* Sets of words from text: lines in, sets and their vocabulary out. The items of a set stand in a shuffled
 * order (the same at each run), so that nothing about the right one can be read off their places. */
#ifndef SENTENCES_PREPARE_H
#define SENTENCES_PREPARE_H

#include "ordernet_words.h"
#include "tasks/words/windows.h"

typedef struct prepare_options {
    const char *text;        /* path; .gz, .xz and "-" as well */
    const char *vectors;     /* path, likewise; NULL when `words` is given */
    const onet_words *words; /* a vocabulary that is there already, as for validation sets */
    int first;               /* K: words taken from each line */
    windows windows; /* where its longest is not 0: of sentences, instead of the first K words of lines. A "^"
                        before a sentence marks it as the opening of a paragraph */
    onet_vocabulary_options vocabulary; /* the choice of a new one */
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
    size_t own_row, unk, special, kind; /* the others: by what stands for them; special: @-@ @,@ @.@ */
    size_t sets_unknown;                /* sets with <unk> or a kind in them */
    size_t vectors, vectors_repeated, vectors_width;
    size_t rows; /* of the vocabulary */
} prepare_report;

void prepare_defaults(prepare_options *options);

/* The result. Different words may share a row; keep_words tells them apart. */
typedef struct prepared {
    onet_sets
        *sets; /* NULL when there were neither vectors nor a vocabulary, and only the lines are wanted */
    onet_words *distinct; /* the words of the text (without vectors) */
    int32_t *word;        /* with keep_words: the sets as rows of `distinct`, in their right order */
    prepare_report report;
} prepared;

/* prepare_free may be called in any case. */
onet_status prepare_words(prepared *made, const prepare_options *options, onet_error *err);
void prepare_free(prepared *made);

#endif
