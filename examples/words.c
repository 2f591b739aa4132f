/* Example of the C API: makes a vocabulary, learns an order of words from examples, and orders words with it.
 *
 * usage: words WORD ...       words four one three  ->  one three four */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ordernet_io.h>
#include <ordernet_words.h>

enum { WORDS = 9, SIZE = 3, SETS = 400, MOST = 9 };

static const char *const name[WORDS] = {"one", "two",   "three", "four", "five",
                                        "six", "seven", "eight", "nine"};

/* Sets of three words in any order; the right order is that of the numbers. */
static onet_status make_examples(onet_sets *sets, onet_error *err) {
    unsigned draw = 1;
    onet_status status = ONET_OK;
    for (int s = 0; s < SETS && !status; s++) {
        int32_t row[SIZE], order[SIZE] = {0, 1, 2};
        for (int i = 0; i < SIZE; i++) {
            draw = draw * 1103515245u + 12345u;
            row[i] = (int32_t)(draw >> 16) % 3 + 3 * i; /* one of the first, second, last three */
        }
        int first = (int)(draw >> 20) % SIZE; /* turned round, so that the places tell nothing */
        int32_t turned[SIZE];
        for (int i = 0; i < SIZE; i++) {
            turned[(i + first) % SIZE] = row[i];
            order[i] = (i + first) % SIZE;
        }
        status = onet_sets_append_words(sets, SIZE, turned, order, err);
    }
    return status;
}

/* The set of the words given, as rows of the model's vocabulary. The model keeps its words. */
static onet_status order_words(const onet_model *model, int n, char **words, onet_error *err) {
    size_t start[2] = {0, (size_t)n};
    int32_t row[MOST], order[MOST];
    double logprob;
    const onet_words *vocabulary = onet_model_words(model);
    for (int i = 0; i < n; i++) row[i] = onet_words_find(vocabulary, words[i], strlen(words[i]), NULL);
    onet_sets set = {
        .count = 1, .width = onet_words_width(vocabulary), .start = start, .word = row, .words = vocabulary};
    onet_answer answer = {.order = order, .logprob = &logprob};
    onet_orderer *orderer;
    onet_status status = onet_orderer_new(&orderer, model, NULL, err);
    if (!status) status = onet_orderer_run(orderer, &set, &answer, err);
    for (int t = 0; t < n && !status; t++) printf("%s%s", words[order[t]], t + 1 < n ? " " : "\n");
    onet_orderer_free(orderer);
    return status;
}

int main(int argc, char **argv) {
    if (argc < 2 || argc - 1 > MOST) {
        fprintf(stderr, "usage: %s WORD ...    (1 to %d words: one, two, ... nine)\n", argv[0], MOST);
        return ONET_USAGE;
    }
    float vectors[WORDS];
    for (int w = 0; w < WORDS; w++) vectors[w] = (float)(w + 1);
    onet_error err;
    onet_words *words = NULL;
    onet_sets *sets = NULL;
    onet_model *model = NULL;
    onet_train_options options;
    onet_train_defaults(&options, sizeof options);
    options.epochs = 10;
    options.device = "cpu";
    onet_status status = onet_sets_new(&sets, 0, &err);
    if (!status) status = onet_words_from(&words, WORDS, 1, name, NULL, vectors, &err);
    if (!status) {
        sets->words = words; /* and onet_sets_free frees it */
        status = make_examples(sets, &err);
    }
    if (!status) status = onet_train(&model, sets, NULL, &options, &err);
    if (!status) status = order_words(model, argc - 1, argv + 1, &err);
    if (status) fprintf(stderr, "%s: %s\n", argv[0], err.text);
    onet_model_free(model);
    onet_sets_free(sets);
    return (int)status;
}
