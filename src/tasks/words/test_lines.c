/* Measures predicted word orders against lines of text by length and unknown words, and prints and writes the
 * results as CSV. Used by `words eval` and bench/ngram.c. */
#include "tasks/words/test_lines.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "ordernet_io.h"
#include "ordernet_measure.h"

/* Makes t->same: items are equal if the words are, as numbers of the text's distinct words. */
static onet_status make_same(words_test *t, onet_error *err) {
    const onet_sets *sets = t->made.sets;
    float *items = array_new(t->made.report.words, sizeof *items);
    if (!items) return fail_memory(err, "the test lines");
    onet_status status = onet_sets_new(&t->same, 1, err);
    for (size_t s = 0; s < sets->count && !status; s++) {
        size_t from = sets->start[s], n = onet_sets_size(sets, s);
        for (size_t k = 0; k < n; k++) items[sets->order[from + k]] = (float)t->made.word[from + k];
        status = onet_sets_append(t->same, (int)n, 1, items, sets->order + from, err);
    }
    free(items);
    return status;
}

static bool is_unknown(const words_test *t, int32_t id) {
    const onet_words *w = t->made.distinct;
    size_t length;
    const char *word = onet_words_text(w, id, &length);
    int known;
    onet_words_find(t->made.sets->words, word, length, &known);
    return !known || (length == 5 && !memcmp(word, "<unk>", 5));
}

onet_status words_test_open(words_test *t, const words_test_options *options, const onet_words *words,
                            onet_error *err) {
    *t = (words_test){.same = NULL};
    prepare_options o;
    prepare_defaults(&o);
    o.text = options->text;
    o.first = options->first;
    o.words = words;
    o.unk_share = 0;
    o.keep_words = true;
    onet_status status = ONET_OK;
    if (options->length && !options->windows)
        status = fail(err, ONET_USAGE, "--length is for --windows; --first K takes K words of each line");
    if (!status && options->windows)
        status = windows_parse(&o.windows, options->windows, options->length ? options->length : "5", err);
    if (!status) status = prepare_words(&t->made, &o, err);
    if (!status) status = make_same(t, err);
    if (status) return status;
    const onet_sets *sets = t->made.sets;
    t->unknown = array_new(sets->count, sizeof *t->unknown);
    t->answers = array_new(sets->count, sizeof *t->answers);
    t->orders = array_new(t->made.report.words, sizeof *t->orders);
    t->logprobs = array_new(sets->count, sizeof *t->logprobs);
    if (!t->unknown || !t->answers || !t->orders || !t->logprobs) return fail_memory(err, "the test lines");
    for (size_t s = 0; s < sets->count; s++) {
        size_t from = sets->start[s], n = onet_sets_size(sets, s);
        t->logprobs[s] = NAN; /* a method that is not a network has none */
        t->answers[s] = (onet_answer){.order = t->orders + from, .logprob = t->logprobs + s};
        for (size_t k = from; k < from + n; k++) t->unknown[s] += is_unknown(t, t->made.word[k]);
        if (n > t->longest) t->longest = n;
        if (!t->shortest || n < t->shortest) t->shortest = n;
    }
    if (!options->csv) return ONET_OK;
    status = output_open(&t->csv, options->csv, err);
    if (!status)
        output_put(t->csv, "how,unknown_words,words,lines,exact,exact_low,exact_high,position,position_low,"
                           "position_high,tau,tau_low,tau_high,neighbours,neighbours_low,neighbours_high,"
                           "loglik,seconds,probability,calibration,calibration_chance\n");
    return status;
}

/* All lines, or those with so many unknown words, or those of so many words. */
typedef struct group {
    const char *unknown; /* as printed */
    int least, most;     /* unknown words */
    size_t words;        /* 0: any number */
} group;

/* The measures of each line. */
typedef struct measures {
    onet_set_measure *each; /* [count] */
    size_t *which;          /* [count]: lines of a group */
} measures;

static onet_status measure(const words_test *t, measures *m, const double *scores, onet_error *err) {
    size_t count = t->same->count;
    m->each = array_new(count, sizeof *m->each);
    m->which = array_new(count, sizeof *m->which);
    onet_status status = m->each && m->which ? ONET_OK : fail_memory(err, "the measures");
    return status ? status : onet_measure_each(m->each, t->same, t->answers, scores, err);
}

static void print_measure(onet_measure m, double unit, const char *sign) {
    int digits = unit > 1 ? 1 : 3;
    char text[64];
    snprintf(text, sizeof text, "%.*f%s [%.*f, %.*f]", digits, m.mean * unit, sign, digits, m.low * unit,
             digits, m.high * unit);
    printf("  %-20s", text);
}

static void csv_measure(output *csv, onet_measure m) {
    output_printf(csv, "%.5f,%.5f,%.5f,", m.mean, m.low, m.high);
}

static onet_status report_group(words_test *t, const measures *m, const group *g, const char *how,
                                bool scored, double seconds, onet_error *err) {
    size_t count = 0;
    for (size_t s = 0; s < t->same->count; s++)
        if (t->unknown[s] >= g->least && t->unknown[s] <= g->most &&
            (!g->words || g->words == onet_sets_size(t->same, s)))
            m->which[count++] = s;
    if (!count) return ONET_OK;
    onet_report r;
    onet_measure_mean(&r, m->each, m->which, count);
    char words[16] = "all";
    if (g->words) snprintf(words, sizeof words, "%zu", g->words);
    printf("  %-7s %5s %7zu", g->unknown, words, count);
    print_measure(r.exact, 100, "%");
    print_measure(r.position, 100, "%");
    print_measure(r.tau, 1, "");
    print_measure(r.neighbours, 100, "%");
    if (!isnan(r.probability.mean)) {
        print_measure(r.calibration, 100, "%");
        printf("  %.1f%%", 100 * r.calibration_chance.mean);
    }
    printf("\n");
    if (!t->csv) return ONET_OK;
    output_printf(t->csv, "%s,%s,%s,%zu,", how, g->unknown, words, count);
    const onet_measure all[] = {r.exact, r.position, r.tau, r.neighbours};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) csv_measure(t->csv, all[k]);
    if (scored) output_printf(t->csv, "%.5f", r.loglik.mean);
    output_printf(t->csv, ",%.3f,", seconds);
    if (isnan(r.probability.mean))
        output_put(t->csv, ",,\n");
    else
        output_printf(t->csv, "%.5f,%.5f,%.5f\n", r.probability.mean, r.calibration.mean,
                      r.calibration_chance.mean);
    return output_status(t->csv, err);
}

onet_status words_test_report(words_test *t, const char *how, const double *scores, double seconds,
                              onet_error *err) {
    static const group by_unknown[] = {
        {"all", 0, INT_MAX, 0}, {"0", 0, 0, 0}, {"1", 1, 1, 0}, {"2+", 2, INT_MAX, 0}};
    measures m = {NULL, NULL};
    onet_status status = measure(t, &m, scores, err);
    if (!status)
        printf("%s, %.2f s\n  %-7s %5s %7s  %-20s  %-20s  %-20s  %-20s  %-20s  %s\n", how, seconds, "unknown",
               "words", "lines", "exact", "position", "Kendall's tau", "right neighbours",
               "calibration error", "by chance");
    for (size_t g = 0; g < sizeof by_unknown / sizeof *by_unknown && !status; g++)
        status = report_group(t, &m, &by_unknown[g], how, scores, seconds, err);
    for (size_t n = t->shortest; n <= t->longest && t->shortest < t->longest && !status; n++) {
        group of_size = {"all", 0, INT_MAX, n};
        status = report_group(t, &m, &of_size, how, scores, seconds, err);
    }
    free(m.each);
    free(m.which);
    return status;
}

onet_status words_test_commit(words_test *t, onet_error *err) {
    output *csv = t->csv;
    t->csv = NULL;
    return csv ? output_commit(csv, err) : ONET_OK;
}

void words_test_close(words_test *t) {
    output_abort(t->csv);
    prepare_free(&t->made);
    onet_sets_free(t->same);
    free(t->unknown);
    free(t->answers);
    free(t->orders);
    free(t->logprobs);
    *t = (words_test){.same = NULL};
}

char *words_test_line(const words_test *t, size_t s, words_line which) {
    const onet_words *w = t->made.distinct;
    size_t from = t->same->start[s], n = onet_sets_size(t->same, s), length = 0, size;
    for (size_t k = 0; k < n; k++) {
        onet_words_text(w, t->made.word[from + k], &size);
        length += size + 1;
    }
    char *line = malloc(length), *p = line;
    for (size_t k = 0; k < n && line; k++) {
        int32_t item = (int32_t)k;
        if (which == LINE_RIGHT) item = t->same->order[from + k];
        if (which == LINE_ANSWER) item = t->answers[s].order[k];
        int32_t id = (int32_t)t->same->items[from + (size_t)item];
        const char *word = onet_words_text(w, id, &size);
        memcpy(p, word, size);
        p += size;
        *p++ = k + 1 < n ? ' ' : '\0';
    }
    return line;
}
