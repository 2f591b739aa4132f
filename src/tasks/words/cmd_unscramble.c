/* ordernet unscramble: puts the given words, or those of each line typed, in order and prints the most
 * probable sentences. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "app/command.h"
#include "app/json_report.h"
#include "app/progress.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/shown.h"
#include "tasks/words/model.h"
#include "tasks/words/readings.h"

typedef struct unscramble_values {
    const char *model, *kernels;
    int top, beam, threads, max_words, json, quiet;
    onet_letters letters;
} unscramble_values;

static void defaults(void *values) {
    unscramble_values *v = values;
    v->top = 3;
    v->max_words = READINGS_WORDS;
}

static onet_status print_text(const reading *r, int count, onet_error *err) {
    for (int k = 0; k < count; k++) {
        char *text = shown_copy(r[k].text);
        if (!text) return fail_memory(err, "the orders");
        printf("%5.1f%%  %s\n", 100 * r[k].probability, text);
        free(text);
    }
    return ONET_OK;
}

static onet_status print_json(const onet_bag *b, const reading *r, int count, onet_error *err) {
    json_t *orders = json_array(), *unknown = json_array();
    for (int k = 0; k < count; k++) {
        json_t *words = json_array();
        for (int i = 0; i < onet_bag_count(b); i++)
            json_array_append_new(words, json_string(onet_bag_word(b, r[k].order[i], NULL)));
        json_array_append_new(orders, json_pack("{s:s, s:o, s:f}", "text", r[k].text, "words", words,
                                                "probability", r[k].probability));
    }
    for (int i = 0, known; i < onet_bag_count(b); i++) {
        const char *word = onet_bag_word(b, i, &known);
        if (!known) json_array_append_new(unknown, json_string(word));
    }
    char *text;
    onet_status status = json_finish(&text, json_pack("{s:o, s:o}", "orders", orders, "unknown", unknown),
                                     JSON_COMPACT | JSON_REAL_PRECISION(9), err);
    if (!status) puts(text);
    free(text);
    return status;
}

/* Prints one more word of a warning, with `where` and `note` before the first. */
static void add_word(const onet_bag *b, int i, const char *where, const char *note, int *count) {
    char text[SHOWN];
    if (!(*count)++)
        fprintf(stderr, "%s%s: ", where, note);
    else
        fputs(", ", stderr);
    fputs(shown(text, onet_bag_word(b, i, NULL)), stderr);
}

static void warn_of_unknown(const onet_bag *b, int n, const char *where) {
    int count = 0;
    for (int i = 0, known; i < n; i++)
        if (onet_bag_word(b, i, &known) && !known)
            add_word(b, i, where, "not in the vocabulary, ordered by their kind", &count);
    if (count) fputc('\n', stderr);
}

static void warn_of_alike(const onet_bag *b, const onet_sets *set, int n, const char *where) {
    const char *note = "the same to the network, so their order is a guess";
    for (int i = 0; i < n; i++) {
        int count = 0, first = 0;
        while (first < i && !readings_alike(b, set, first, i)) first++;
        if (first < i) continue; /* named with the first */
        for (int j = i + 1; j < n; j++) {
            if (!readings_alike(b, set, i, j)) continue;
            if (!count) add_word(b, i, where, note, &count);
            add_word(b, j, where, note, &count);
        }
        if (count) fputc('\n', stderr);
    }
}

/* Warns if the answer is less certain than it looks. */
static void warn(onet_bag *b, double logprob, const char *where) {
    int n = onet_bag_count(b);
    fflush(stdout);
    warn_of_unknown(b, n, where);
    warn_of_alike(b, onet_bag_set(b), n, where);
    if (reading_is_guess(logprob, n))
        fprintf(stderr, "%sno order is probable; the first is a guess\n", where);
}

static onet_status print_answer(onet_bag *b, const onet_answer *a, const unscramble_values *v,
                                const char *where, onet_error *err) {
    reading *readings;
    int count;
    onet_status status = readings_make(&readings, &count, b, a, v->top, v->letters, err);
    if (status) return status;
    status = v->json ? print_json(b, readings, count, err) : print_text(readings, count, err);
    /* The probability of the text: orders that differ in equal words count as one. */
    double logprob = count && readings[0].probability > 0 ? log(readings[0].probability) : -HUGE_VAL;
    readings_free(readings, count);
    if (!status && !v->quiet) warn(b, logprob, where);
    return status;
}

/* where: what begins a warning, such as the line of the input. */
static onet_status unscramble(onet_bag *b, const onet_model *model, const unscramble_values *v,
                              const char *where, onet_error *err) {
    size_t n = (size_t)onet_bag_count(b);
    if (!n) return ONET_OK;
    int beam = v->beam ? v->beam : readings_beam((int)n);
    if (beam < v->top) beam = v->top;
    int top = readings_orders(b, v->top, beam);
    progress line;
    onet_order_options o = {.size = sizeof o,
                            .beam = beam,
                            .top = top,
                            .threads = v->threads,
                            .kernels = v->kernels,
                            .progress = ordering_progress,
                            .context = &line};
    onet_answer answer = {.order = array_new((size_t)top * n, sizeof *answer.order),
                          .logprob = array_new((size_t)top, sizeof *answer.logprob)};
    onet_orderer *orderer = NULL;
    onet_status status = answer.order && answer.logprob ? onet_orderer_new(&orderer, model, &o, err)
                                                        : fail_memory(err, "the orders");
    progress_start(&line, false);
    if (!status) status = onet_orderer_run(orderer, onet_bag_set(b), &answer, err);
    progress_end(&line);
    if (!status) status = print_answer(b, &answer, v, where, err);
    onet_orderer_free(orderer);
    free(answer.order);
    free(answer.logprob);
    return status;
}

static onet_status unscramble_lines(onet_bag *b, const onet_model *model, const unscramble_values *v,
                                    onet_error *err) {
    bool terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    input *in;
    onet_status status = input_open(&in, "-", err);
    if (status) return status;
    if (terminal) printf("Words in any order, a line each; Ctrl-D ends.\n");
    for (bool blank = false; !status;) {
        char *line, where[64] = "";
        long number;
        if (terminal) printf("> ");
        if (fflush(stdout) || ferror(stdout)) break; /* main reports it; the input may have no end */
        status = input_line(in, &line, NULL, &number, err);
        if (status || !line) break;
        if (!terminal) snprintf(where, sizeof where, "line %ld: ", number);
        onet_bag_clear(b);
        status = onet_bag_add(b, line, v->max_words, err);
        /* an empty line between two answers */
        if (!status && !terminal && !v->json && onet_bag_count(b) && blank) printf("\n");
        blank |= onet_bag_count(b) > 0;
        if (!status) status = unscramble(b, model, v, where, err);
        if (status) error_prefix(err, "%s:%ld", input_name(in), number);
        if (status == ONET_BAD && terminal) { /* the next line may be better */
            fprintf(stderr, "%s\n", err->text);
            status = ONET_OK;
        }
    }
    if (terminal && !status) printf("\n");
    input_close(in);
    return status;
}

static onet_status run(void *values, int count, char **operands, onet_error *err) {
    const unscramble_values *v = values;
    onet_model *model;
    onet_bag *b = NULL;
    onet_status status = model_load_words(&model, v->model, err);
    if (!status) status = onet_bag_new(&b, onet_model_words(model), err);
    if (!status && !count) status = unscramble_lines(b, model, v, err);
    for (int i = 0; i < count && !status; i++) status = onet_bag_add(b, operands[i], v->max_words, err);
    if (!status && count && !onet_bag_count(b))
        status = fail(err, ONET_USAGE, "there are no words to put in order");
    if (!status && count) status = unscramble(b, model, v, "", err);
    onet_bag_free(b);
    onet_model_free(model);
    return status;
}

static const option options[] = {
    OPTION_WORDS_MODEL(offsetof(unscramble_values, model)),
    OPTION(INT, "top", offsetof(unscramble_values, top), .argument = "N", RANGE(1, 1000),
           .help = "Orders shown, the most probable first."),
    OPTION(INT, "beam", offsetof(unscramble_values, beam), .argument = "N", RANGE(1, 100000),
           .default_text = "120, which covers all orders of five words; less for more than 20",
           .help = "Width of the beam."),
    OPTION(CHOICE, "case", offsetof(unscramble_values, letters), .argument = "NAME",
           .choices = onet_letter_cases, .help = "Capitals."),
    OPTION(FLAG, "json", offsetof(unscramble_values, json),
           .help =
               "Print a line of JSON for each line: the orders as text and as words, and the unknown words."),
    OPTION(FLAG, "quiet", offsetof(unscramble_values, quiet),
           .help = "Do not warn of unknown words or of orders that are guesses."),
    OPTION(INT, "max-words", offsetof(unscramble_values, max_words), .argument = "N",
           RANGE(1, ONET_MAX_ITEMS),
           .help = "Refuse lines of more words: time grows with the square of their number."),
    OPTION_THREADS(offsetof(unscramble_values, threads)),
    OPTION_KERNELS(offsetof(unscramble_values, kernels)),
    {0},
};

const command cmd_unscramble = {
    .name = "unscramble",
    .summary = "Put scrambled words back in order",
    .operands = "[WORD ...]",
    .most = -1,
    .about =
        "Shows the most probable orders of the words with their probabilities, written as a sentence. Text "
        "is cut "
        "into words as the model's vocabulary has them: signs are words of their own; what was typed as one "
        "(don't, well-known, born,) stays together, and a final . ! or ? stays last. Without words it reads "
        "lines from standard input.",
    .examples = "ordernet unscramble this an is example sentence\n"
                "echo 'London was born in he .' | ordernet unscramble --top 1",
    .options = options,
    .size = sizeof(unscramble_values),
    .defaults = defaults,
    .run = run,
};
