/* ordernet words ngram: what a model that only counts neighbours makes of the same lines. */
#include <stdio.h>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/words_test.h"
#include "sentences/ngram.h"

typedef struct ngram_values {
    const char *train, *text, *csv;
    int first, length;
} ngram_values;

static void defaults(void *values) {
    ngram_values *v = values;
    v->first = 5;
    v->length = 3;
}

static onet_status order_lines(const ngram_values *v, const onet_sets *train, words_test *t,
                               onet_error *err) {
    progress p;
    progress_start(&p, true);
    ngram *model;
    onet_status status = ngram_train(&model, train, v->length, err);
    if (status) return status;
    double trained = progress_seconds(&p);
    const onet_sets *sets = t->made.sets;
    for (size_t s = 0; s < sets->count; s++) {
        ngram_order(model, sets->word + sets->start[s], v->first, t->answers[s].order, t->answers[s].logprob);
        t->answers[s].found = 1;
    }
    ngram_free(model);
    char how[64];
    snprintf(how, sizeof how, "%d-grams of %zu lines", v->length, train->count);
    return words_test_report(t, how, NULL, progress_seconds(&p) - trained, err);
}

static onet_status run(void *values, int count, char **operands, onet_error *err) {
    const ngram_values *v = values;
    (void)count, (void)operands;
    onet_sets *train;
    onet_status status = onet_sets_read(&train, v->train, NULL, err);
    if (status) return status;
    words_test t = {.same = NULL};
    if (!train->words || !train->order)
        status = fail(err, ONET_BAD, "%s: its items are not words in order; 'words prepare' makes such data",
                      v->train);
    if (!status) status = words_test_open(&t, v->text, v->first, train->words, v->csv, err);
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
    OPTION_WORDS_TEXT(offsetof(ngram_values, text)),
    OPTION_WORDS_FIRST(offsetof(ngram_values, first), NGRAM_MOST_ITEMS),
    {.name = "length",
     .kind = OPTION_INT,
     .argument = "N",
     .field = offsetof(ngram_values, length),
     .low = 1,
     .high = NGRAM_LONGEST,
     .help = "Words a gram."},
    OPTION_WORDS_CSV(offsetof(ngram_values, csv)),
    {0},
};

const command cmd_words_ngram = {
    .name = "words ngram",
    .summary = "Put the words of lines in order by n-grams, for comparison",
    .about = "Counts the n-grams of the training lines (interpolated Kneser-Ney, with a mark for the start "
             "of a line), takes the most probable of all orders of each test line, and measures as words "
             "evaluate does.",
    .examples = "ordernet words ngram --train train.safetensors --text valid.txt",
    .options = options,
    .size = sizeof(ngram_values),
    .defaults = defaults,
    .run = run,
};
