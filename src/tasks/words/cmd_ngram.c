/* ordernet words ngram: what a model that only counts neighbours makes of the same lines. */
#include <stdio.h>

#include "app/command.h"
#include "app/progress.h"
#include "engine/base/error.h"
#include "tasks/words/ngram.h"
#include "tasks/words/test.h"

typedef struct ngram_values {
    words_test_options test;
    const char *train;
    int grams, beam;
} ngram_values;

static void defaults(void *values) {
    ngram_values *v = values;
    v->test.first = 5;
    v->grams = 3;
}

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

const command cmd_words_ngram = {
    .name = "words ngram",
    .summary = "Put the words of lines in order by n-grams, for comparison",
    .about = "Counts the n-grams of the training lines (interpolated Kneser-Ney, with a mark for the start "
             "of a line), takes the most probable order of each test line, of all or by beam search, and "
             "measures as words evaluate does.",
    .examples = "ordernet words ngram --train train.safetensors --text valid.txt",
    .options = options,
    .size = sizeof(ngram_values),
    .defaults = defaults,
    .run = run,
};
