/* ordernet words eval: measures a word model on lines of text by greedy and beam search and, for short lines,
 * over all orders, and writes examples of right and wrong answers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/command.h"
#include "app/progress.h"
#include "engine/base/error.h"
#include "engine/base/shown.h"
#include "tasks/words/model.h"
#include "tasks/words/test_lines.h"

enum { MOST_FOR_ALL = 7 }; /* items up to which all n! orders are tried */

typedef struct eval_values {
    words_test_options test;
    const char *model, *examples, *kernels, *device;
    int beam, show, threads;
} eval_values;

static void defaults(void *values) {
    eval_values *v = values;
    v->test.first = 5;
    v->beam = 5;
    v->show = 10;
}

/* Writes a text as a cell of a Markdown table. */
static void write_cell(output *out, const char *text) {
    output_put(out, "| ");
    for (; *text; text++) {
        if (*text == '<')
            output_put(out, "&lt;");
        else
            output_printf(out, "%s%c", strchr("|*_`\\[]~#", *text) ? "\\" : "", *text);
    }
    output_put(out, " ");
}

static onet_status write_example(output *out, const words_test *t, size_t s, onet_error *err) {
    onet_status status = ONET_OK;
    for (int which = LINE_SCRAMBLED; which <= LINE_ANSWER && !status; which++) {
        char *line = words_test_line(t, s, (words_line)which), *text = line ? shown_copy(line) : NULL;
        if (text)
            write_cell(out, text);
        else
            status = fail_memory(err, "the examples");
        free(text);
        free(line);
    }
    if (status) return status;
    output_printf(out, "| %.2f |\n", exp(t->answers[s].logprob[0]));
    return output_status(out, err);
}

static bool is_right(const words_test *t, size_t s) {
    size_t from = t->same->start[s], n = onet_sets_size(t->same, s);
    const float *items = t->same->items + from;
    for (size_t k = 0; k < n; k++)
        if (items[t->same->order[from + k]] != items[t->answers[s].order[k]]) return false;
    return true;
}

/* Writes `show` lines, spread evenly over those in the right order, or over those in a wrong one. */
static onet_status write_table(output *out, const words_test *t, bool right, int show, onet_error *err) {
    size_t total = 0, seen = 0, shown = 0;
    for (size_t s = 0; s < t->same->count; s++) total += is_right(t, s) == right;
    onet_status status = ONET_OK;
    output_printf(out,
                  "\n## %s: %zu of %zu lines\n\n| scrambled | right | answer | "
                  "probability of the answer |\n| --- | --- | --- | --- |\n",
                  right ? "Put back" : "Not put back", total, t->same->count);
    for (size_t s = 0; s < t->same->count && !status; s++) {
        if (is_right(t, s) != right) continue;
        /* The line in the middle of each of `show` equal parts. */
        if (shown < (size_t)show && seen * 2 * (size_t)show >= (2 * shown + 1) * total - total % 2) {
            status = write_example(out, t, s, err);
            shown++;
        }
        seen++;
    }
    return status;
}

static onet_status write_examples(const eval_values *v, const words_test *t, onet_error *err) {
    output *out;
    onet_status status = output_open(&out, v->examples, err);
    if (status) return status;
    output_printf(out, "# Lines put back, and not\n\nBeam %d.\n", v->beam);
    status = write_table(out, t, true, v->show, err);
    if (!status) status = write_table(out, t, false, v->show, err);
    if (!status) return output_commit(out, err);
    output_abort(out);
    return status;
}

static onet_status evaluate(const eval_values *v, const onet_model *model, words_test *t, const char *how,
                            onet_decode decode, int beam, const double *scores, onet_error *err) {
    onet_order_options o = {.size = sizeof o,
                            .decode = decode,
                            .beam = beam,
                            .top = 1,
                            .threads = v->threads,
                            .kernels = v->kernels,
                            .device = v->device};
    onet_orderer *orderer;
    onet_status status = onet_orderer_new(&orderer, model, &o, err);
    if (status) return status;
    progress p;
    progress_start(&p, true);
    status = onet_orderer_run(orderer, t->made.sets, t->answers, err);
    if (!status) status = words_test_report(t, how, scores, progress_seconds(&p), err);
    onet_orderer_free(orderer);
    return status;
}

static onet_status right_scores(const eval_values *v, const onet_model *model, const words_test *t,
                                double *scores, onet_error *err) {
    onet_order_options o = {
        .size = sizeof o, .threads = v->threads, .kernels = v->kernels, .device = v->device};
    onet_orderer *orderer;
    onet_status status = onet_orderer_new(&orderer, model, &o, err);
    if (status) return status;
    status = onet_orderer_score(orderer, t->made.sets, scores, err);
    onet_orderer_free(orderer);
    return status;
}

static onet_status evaluate_all(const eval_values *v, const onet_model *model, words_test *t,
                                onet_error *err) {
    double *scores = calloc(t->made.sets->count, sizeof *scores);
    if (!scores) return fail_memory(err, "the test lines");
    onet_status status = right_scores(v, model, t, scores, err);
    if (!status) status = evaluate(v, model, t, "greedy", ONET_GREEDY, 1, scores, err);
    if (!status && t->longest <= MOST_FOR_ALL) {
        int orders = 1;
        for (int i = 2; i <= (int)t->longest; i++) orders *= i;
        char how[64];
        snprintf(how, sizeof how, "all %d orders", orders);
        status = evaluate(v, model, t, how, ONET_BEAM, orders, scores, err);
    }
    char how[64];
    snprintf(how, sizeof how, "beam %d", v->beam);
    /* Last, so that the examples are of the beam search. */
    if (!status) status = evaluate(v, model, t, how, ONET_BEAM, v->beam, scores, err);
    free(scores);
    return status;
}

static onet_status run(void *values, int count, char **operands, onet_error *err) {
    const eval_values *v = values;
    (void)count, (void)operands;
    onet_model *model;
    onet_status status = model_load_words(&model, v->model, err);
    words_test t = {.same = NULL};
    if (!status && v->examples) status = output_possible(v->examples, err);
    if (!status) status = words_test_open(&t, &v->test, onet_model_words(model), err);
    if (!status) status = evaluate_all(v, model, &t, err);
    if (!status) status = words_test_commit(&t, err);
    if (!status && v->examples) status = write_examples(v, &t, err);
    words_test_close(&t);
    onet_model_free(model);
    return status;
}

static const option options[] = {
    OPTION_WORDS_MODEL(offsetof(eval_values, model)),
    OPTIONS_WORDS_TEST(offsetof(eval_values, test)),
    OPTION(INT, "beam", offsetof(eval_values, beam), .argument = "N", RANGE(1, 1000000),
           .help = "Width of the beam."),
    OPTION(STRING, "examples", offsetof(eval_values, examples), .argument = "FILE",
           .help = "Where examples, right and wrong, are written as Markdown."),
    OPTION(INT, "show", offsetof(eval_values, show), .argument = "N", RANGE(1, 1000000),
           .help = "Examples of each sort."),
    OPTION_THREADS(offsetof(eval_values, threads)),
    OPTION_KERNELS(offsetof(eval_values, kernels)),
    OPTION_DEVICE(offsetof(eval_values, device)),
    {0},
};

const command cmd_words_eval = {
    .name = "words eval",
    .old_name = "words evaluate",
    .summary = "Measure a word model on lines of text",
    .about = "Shuffles the first K words of each line, lets the model put them back, and reports the share "
             "of lines exactly right (two equal words may change places), of words at their place, "
             "Kendall's tau and the share of right neighbours, and the expected calibration error of the "
             "answers' probabilities, "
             "each with its 95% interval: greedily, "
             "by beam search and, for up to 7 words, over all orders; for all lines, by the number of "
             "unknown words in them and by their length.",
    .examples = "ordernet words eval --text valid.txt --csv results.csv --examples examples.md\n"
                "ordernet words eval --text sentences.txt --windows whole --length 2-20",
    .options = options,
    .size = sizeof(eval_values),
    .defaults = defaults,
    .run = run,
};
