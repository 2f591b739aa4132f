/* ordernet unscramble: puts the words given in order, or those of each line that is typed. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "cli/commands.h"
#include "cli/model_path.h"
#include "cli/progress.h"
#include "sentences/bag.h"

typedef struct unscramble_values {
    const char *model, *kernels;
    int top, beam, threads, max_words;
} unscramble_values;

static void defaults(void *values) {
    unscramble_values *v = values;
    v->top = 3;
    v->beam = 120; /* all orders of five words */
    v->max_words = BAG_WORDS;
}

/* As the user wrote them, with their probabilities. */
static onet_status print_orders(const bag *b, const onet_answer *a, int top, onet_error *err) {
    bag_reading *readings = array_new((size_t)top, sizeof *readings);
    if (!readings) return fail_memory(err, "the orders");
    int count = bag_readings(b, a, top, readings);
    for (int k = 0; k < count; k++) {
        printf("%5.1f%%  ", 100 * readings[k].probability);
        for (size_t i = 0; i < b->n; i++)
            printf("%s%s", b->word[readings[k].order[i]], i + 1 < b->n ? " " : "\n");
    }
    free(readings);
    return ONET_OK;
}

static void show_progress(void *context, size_t done, size_t steps) {
    progress_count(context, "ordering", "steps", (double)done, (double)steps);
}

static onet_status unscramble(const bag *b, const onet_model *model, const unscramble_values *v,
                              onet_error *err) {
    if (!b->n) return ONET_OK;
    const onet_words *words = onet_model_words(model);
    int beam = v->beam < v->top ? v->top : v->beam, top = bag_orders(b, v->top, beam);
    progress line;
    onet_order_options o = {.size = sizeof o,
                            .beam = beam,
                            .top = top,
                            .threads = v->threads,
                            .kernels = v->kernels,
                            .progress = show_progress,
                            .context = &line};
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
    progress_start(&line, false);
    if (!status) status = onet_orderer_run(orderer, &set, &answer, err);
    progress_end(&line);
    if (!status) status = print_orders(b, &answer, v->top, err);
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
        status = bag_add(&b, line, onet_model_words(model), v->max_words, err);
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
    bag_free(&b);
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
            status = bag_add(&b, operands[i], onet_model_words(model), v->max_words, err);
        if (!status && !b.n) status = fail(err, ONET_USAGE, "there are no words to put in order");
        if (!status) status = unscramble(&b, model, v, err);
        bag_free(&b);
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
    {.name = "max-words",
     .kind = OPTION_INT,
     .argument = "N",
     .field = offsetof(unscramble_values, max_words),
     .low = 1,
     .high = 1 << 24,
     .help = "Refuse lines of more words: time grows with the square of their number."},
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
