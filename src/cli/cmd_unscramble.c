/* ordernet unscramble: puts the words given in order, or those of each line that is typed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "cli/commands.h"
#include "cli/model_path.h"

typedef struct unscramble_values {
    const char *model, *kernels;
    int top, beam, threads;
} unscramble_values;

static void defaults(void *values) {
    unscramble_values *v = values;
    v->top = 3;
    v->beam = 120; /* all orders of five words */
}

/* The words of one bag, as the user wrote them. */
typedef struct bag {
    char **word; /* [n]; they point into the user's own text */
    int32_t *row;
    size_t n, room, row_room;
} bag;

static onet_status add_words(bag *b, char *text, const onet_words *words, onet_error *err) {
    if (utf8_valid(text, strlen(text)) < strlen(text))
        return fail(err, ONET_BAD, "the words are not UTF-8; is the terminal set to UTF-8?");
    char *rest;
    for (char *word = strtok_r(text, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest)) {
        if (b->n >= 1000) return fail(err, ONET_USAGE, "1000 words at most can be put in order here");
        if (!array_reserve(&b->word, &b->room, b->n + 1, sizeof *b->word) ||
            !array_reserve(&b->row, &b->row_room, b->n + 1, sizeof *b->row))
            return fail_memory(err, "the words");
        b->row[b->n] = onet_words_find(words, word, strlen(word), NULL);
        b->word[b->n++] = word;
    }
    return ONET_OK;
}

/* Do two orders read the same? They may differ in which of two equal words stands first. */
static bool reads_same(const bag *b, const int32_t *x, const int32_t *y) {
    for (size_t i = 0; i < b->n; i++)
        if (strcmp(b->word[x[i]], b->word[y[i]])) return false;
    return true;
}

/* Orders that read the same are shown once, with their probabilities added up. */
static void print_orders(const bag *b, const onet_answer *a, int top) {
    for (int shown = 0, k = 0; k < a->found && shown < top; k++) {
        const int32_t *order = a->order + (size_t)k * b->n;
        bool before = false;
        for (int j = 0; j < k && !before; j++) before = reads_same(b, a->order + (size_t)j * b->n, order);
        if (before) continue;
        double probability = 0;
        for (int j = k; j < a->found; j++)
            if (reads_same(b, a->order + (size_t)j * b->n, order)) probability += exp(a->logprob[j]);
        printf("%5.1f%%  ", 100 * probability);
        for (size_t i = 0; i < b->n; i++) printf("%s%s", b->word[order[i]], i + 1 < b->n ? " " : "\n");
        shown++;
    }
}

/* How many orders may read like one of them: the product of the factorials of the repeats, capped. */
static int repeats(const bag *b, int cap) {
    int product = 1;
    for (size_t i = 0; i < b->n; i++) {
        int nth = 1;
        for (size_t j = 0; j < i; j++) nth += !strcmp(b->word[i], b->word[j]);
        if (nth > cap / product) return cap;
        product *= nth;
    }
    return product;
}

static onet_status unscramble(const bag *b, const onet_model *model, const unscramble_values *v,
                              onet_error *err) {
    if (!b->n) return ONET_OK;
    const onet_words *words = onet_model_words(model);
    int same = repeats(b, 1000), beam = v->beam < v->top ? v->top : v->beam;
    int top = v->top * same < beam ? v->top * same : beam;
    onet_order_options o = {
        .size = sizeof o, .beam = beam, .top = top, .threads = v->threads, .kernels = v->kernels};
    size_t start[2] = {0, b->n};
    /* Lent, not owned: this is never freed as sets. */
    onet_sets set = {.count = 1,
                     .width = onet_words_width(words),
                     .start = start,
                     .word = b->row,
                     .words = (onet_words *)words};
    onet_answer answer = {.order = array_new((size_t)top * b->n, sizeof *answer.order),
                          .logprob = array_new((size_t)top, sizeof *answer.logprob)};
    onet_orderer *orderer = NULL;
    onet_status status = answer.order && answer.logprob ? onet_orderer_new(&orderer, model, &o, err)
                                                        : fail_memory(err, "the orders");
    if (!status) status = onet_orderer_run(orderer, &set, &answer, err);
    if (!status) print_orders(b, &answer, v->top);
    onet_orderer_free(orderer);
    free(answer.order);
    free(answer.logprob);
    return status;
}

static onet_status unscramble_lines(const onet_model *model, const unscramble_values *v, onet_error *err) {
    bool terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    input *in;
    onet_status status = input_open(&in, "-", err);
    if (status) return status;
    bag b = {.n = 0};
    if (terminal) printf("Words in any order, a line each; Ctrl-D ends.\n");
    for (bool blank = false; !status;) {
        char *line;
        long number;
        if (terminal) printf("> ");
        fflush(stdout);
        status = input_line(in, &line, NULL, &number, err);
        if (status || !line) break;
        b.n = 0;
        status = add_words(&b, line, onet_model_words(model), err);
        if (!status && !terminal && b.n && blank) printf("\n"); /* an empty line between two answers */
        blank |= b.n > 0;
        if (!status) status = unscramble(&b, model, v, err);
        if (status) error_prefix(err, "%s:%ld", input_name(in), number);
        if (status == ONET_BAD && terminal) { /* the next line may be better */
            fprintf(stderr, "%s\n", err->text);
            status = ONET_OK;
        }
    }
    if (terminal && !status) printf("\n");
    input_close(in);
    free(b.word);
    free(b.row);
    return status;
}

static onet_status run(void *values, int count, char **operands, onet_error *err) {
    const unscramble_values *v = values;
    onet_model *model;
    onet_status status = model_load_words(&model, v->model, err);
    if (!status && !count) {
        status = unscramble_lines(model, v, err);
    } else if (!status) {
        bag b = {.n = 0};
        for (int i = 0; i < count && !status; i++)
            status = add_words(&b, operands[i], onet_model_words(model), err);
        if (!status && !b.n) status = fail(err, ONET_USAGE, "there are no words to put in order");
        if (!status) status = unscramble(&b, model, v, err);
        free(b.word);
        free(b.row);
    }
    onet_model_free(model);
    return status;
}

static const option options[] = {
    OPTION_WORDS_MODEL(offsetof(unscramble_values, model)),
    {.name = "top",
     .kind = OPTION_INT,
     .argument = "N",
     .field = offsetof(unscramble_values, top),
     .low = 1,
     .high = 1000,
     .help = "Orders shown, the most probable first."},
    {.name = "beam",
     .kind = OPTION_INT,
     .argument = "N",
     .field = offsetof(unscramble_values, beam),
     .low = 1,
     .high = 100000,
     .help = "Width of the beam; 120 covers all orders of five words."},
    OPTION_THREADS(offsetof(unscramble_values, threads)),
    OPTION_KERNELS(offsetof(unscramble_values, kernels)),
    {0},
};

const command cmd_unscramble = {
    .name = "unscramble",
    .summary = "Put scrambled words back in order",
    .operands = "[WORD ...]",
    .most = -1,
    .about = "Shows the most probable orders of the words with their probabilities, as written by the user. "
             "Without words it reads lines from standard input.",
    .examples = "ordernet unscramble this an is example sentence\n"
                "echo 'the of city is capital' | ordernet unscramble --top 1",
    .options = options,
    .size = sizeof(unscramble_values),
    .defaults = defaults,
    .run = run,
};
