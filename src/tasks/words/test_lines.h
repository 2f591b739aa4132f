/* Tests a method that orders words on lines of text, so that `words eval` and the n-gram models of
 * bench/ngram.c are measured alike. Two words are equal if they are written alike; two different unknown
 * words count as different, although the network cannot tell them apart. */
#ifndef WORDS_TEST_LINES_H
#define WORDS_TEST_LINES_H

#include "engine/base/file.h"
#include "tasks/words/prepare.h"

typedef struct words_test {
    prepared made; /* the lines, and as sets with shuffled items */
    onet_sets
        *same; /* the same sets with a word id as the only feature, so that measures compare words exactly */
    size_t shortest, longest; /* words of a line */
    int *unknown;             /* [count]: words of the line that have no row of their own, <unk> among them */
    onet_answer *answers;     /* [count], one order each */
    int32_t *orders;
    double *logprobs;
    output *csv; /* NULL: none is written */
} words_test;

/* The options of a test: its lines, and where the measures go. All but text and first may be NULL. */
typedef struct words_test_options {
    const char *text, *windows, *length, *csv;
    int first;
} words_test_options;

/* Reads the lines and opens the CSV file. Call words_test_close after a failure too. */
onet_status words_test_open(words_test *t, const words_test_options *options, const onet_words *words,
                            onet_error *err);
/* Measures the answers in t->answers, and writes them to standard output and to the CSV file. how: the search
 * that found them; scores [count] or NULL: log-probability of the right orders. */
onet_status words_test_report(words_test *t, const char *how, const double *scores, double seconds,
                              onet_error *err);
/* Puts the CSV file in its place. */
onet_status words_test_commit(words_test *t, onet_error *err);
void words_test_close(words_test *t);

/* words_test_line returns the words of line s, separated by blanks, in their right order, in that of the
 * answer, or scrambled, as the model gets them. The caller frees it; NULL when memory is short. */
typedef enum words_line { LINE_SCRAMBLED, LINE_RIGHT, LINE_ANSWER } words_line;
char *words_test_line(const words_test *t, size_t s, words_line which);

/* Options for the fields of a words_test_options at offset `at`. */
#define OPTIONS_WORDS_TEST(at)                                                                               \
    {.name = "text",                                                                                         \
     .kind = OPTION_STRING,                                                                                  \
     .argument = "FILE",                                                                                     \
     .field = (at) + offsetof(words_test_options, text),                                                     \
     .required = true,                                                                                       \
     .help = "The lines to put in order, as for words prepare. May be .gz, .xz or -."},                      \
        {.name = "first",                                                                                    \
         .kind = OPTION_INT,                                                                                 \
         .argument = "K",                                                                                    \
         .field = (at) + offsetof(words_test_options, first),                                                \
         .low = 1,                                                                                           \
         .high = 1000,                                                                                       \
         .help = "Words taken from each line. Not used with --windows."},                                    \
        {.name = "windows",                                                                                  \
         .kind = OPTION_STRING,                                                                              \
         .argument = "LIST",                                                                                 \
         .field = (at) + offsetof(words_test_options, windows),                                              \
         .help = "Take windows of sentences, as words prepare does, and measure by their length too."},      \
        {.name = "length",                                                                                   \
         .kind = OPTION_STRING,                                                                              \
         .argument = "LIST",                                                                                 \
         .field = (at) + offsetof(words_test_options, length),                                               \
         .help = "Words of a window, as for words prepare. (default: 5)"},                                   \
    {                                                                                                        \
        .name = "csv", .kind = OPTION_STRING, .argument = "FILE",                                            \
        .field = (at) + offsetof(words_test_options, csv), .help = "Where the measures are written as CSV."  \
    }

#endif
