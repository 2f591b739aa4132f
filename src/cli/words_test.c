/* Measures orders of words against lines of text, and writes the ordered lines. */
#include "cli/words_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

static size_t size_of(const words_test *t) {
    return t->made.report.words / t->made.report.kept;
}

/* Items that are equal where the words are: the number of the word among the text's own. */
static onet_status make_same(words_test *t, onet_error *err) {
    const onet_sets *sets = t->made.sets;
    size_t n = size_of(t);
    float *items = array_new(t->made.report.words, sizeof *items);
    if (!items) return fail_memory(err, "the test lines");
    for (size_t s = 0; s < sets->count; s++)
        for (size_t k = 0; k < n; k++)
            items[s * n + (size_t)sets->order[s * n + k]] = (float)t->made.word[s * n + k];
    onet_status status = onet_sets_from(&t->same, sets->count, (int)n, 1, items, sets->order, err);
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

onet_status words_test_open(words_test *t, const char *text, int first, const onet_words *words,
                            const char *csv, onet_error *err) {
    *t = (words_test){.same = NULL};
    prepare_options o;
    prepare_defaults(&o);
    o.text = text;
    o.first = first;
    o.words = words;
    o.unk_share = 0;
    o.keep_words = true;
    onet_status status = prepare_words(&t->made, &o, err);
    if (!status) status = make_same(t, err);
    if (status) return status;
    size_t count = t->made.sets->count, n = size_of(t);
    t->unknown = array_new(count, sizeof *t->unknown);
    t->answers = array_new(count, sizeof *t->answers);
    t->orders = array_new(count * n, sizeof *t->orders);
    t->logprobs = array_new(count, sizeof *t->logprobs);
    if (!t->unknown || !t->answers || !t->orders || !t->logprobs) return fail_memory(err, "the test lines");
    for (size_t s = 0; s < count; s++) {
        t->answers[s] = (onet_answer){.order = t->orders + s * n, .logprob = t->logprobs + s};
        for (size_t k = 0; k < n; k++) t->unknown[s] += is_unknown(t, t->made.word[s * n + k]);
    }
    if (!csv) return ONET_OK;
    status = output_open(&t->csv, csv, err);
    if (!status)
        status = output_printf(t->csv, err,
                               "how,unknown_words,lines,exact,exact_low,exact_high,position,position_low,"
                               "position_high,tau,tau_low,tau_high,loglik,seconds\n");
    return status;
}

/* Measures the lines with least .. most unknown words. */
static onet_status measure(const words_test *t, int least, int most, const double *scores,
                           onet_report *report, onet_error *err) {
    const onet_sets *all = t->same;
    size_t n = size_of(t), count = 0;
    onet_sets part = {.width = 1};
    part.start = array_new(all->count + 1, sizeof *part.start);
    part.items = array_new(all->count * n, sizeof *part.items);
    part.order = array_new(all->count * n, sizeof *part.order);
    onet_answer *answers = array_new(all->count, sizeof *answers);
    double *logprob = array_new(all->count, sizeof *logprob);
    onet_status status = ONET_OK;
    if (!part.start || !part.items || !part.order || !answers || !logprob)
        status = fail_memory(err, "the measures");
    for (size_t s = 0; s < all->count && !status; s++) {
        if (t->unknown[s] < least || t->unknown[s] > most) continue;
        memcpy(part.items + count * n, all->items + s * n, n * sizeof *part.items);
        memcpy(part.order + count * n, all->order + s * n, n * sizeof *part.order);
        answers[count] = t->answers[s];
        logprob[count] = scores ? scores[s] : 0;
        count++;
        part.start[count] = count * n;
    }
    part.count = count;
    *report = (onet_report){.sets = 0};
    if (!status && count) status = onet_measure_sets(report, &part, answers, scores ? logprob : NULL, 0, err);
    report->sets = count;
    free(part.start);
    free(part.items);
    free(part.order);
    free(answers);
    free(logprob);
    return status;
}

static void print_measure(onet_measure m, double unit, const char *sign) {
    printf("  %6.*f%s [%.*f, %.*f]", unit > 1 ? 1 : 3, m.mean * unit, sign, unit > 1 ? 1 : 3, m.low * unit,
           unit > 1 ? 1 : 3, m.high * unit);
}

onet_status words_test_report(words_test *t, const char *how, const double *scores, double seconds,
                              onet_error *err) {
    static const struct {
        const char *name;
        int least, most;
    } groups[] = {{"all", 0, 1000}, {"0", 0, 0}, {"1", 1, 1}, {"2+", 2, 1000}};
    printf("%s, %.2f s\n  unknown  lines  exact                 position              Kendall's tau\n", how,
           seconds);
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
        onet_report r;
        onet_status status = measure(t, groups[g].least, groups[g].most, scores, &r, err);
        if (status) return status;
        if (!r.sets) continue;
        printf("  %-7s %6zu", groups[g].name, r.sets);
        print_measure(r.exact, 100, "%");
        print_measure(r.position, 100, "%");
        print_measure(r.tau, 1, "");
        printf("\n");
        if (t->csv) {
            status = output_printf(t->csv, err, "%s,%s,%zu,%.5f,%.5f,%.5f,%.5f,%.5f,%.5f,%.5f,%.5f,%.5f,",
                                   how, groups[g].name, r.sets, r.exact.mean, r.exact.low, r.exact.high,
                                   r.position.mean, r.position.low, r.position.high, r.tau.mean, r.tau.low,
                                   r.tau.high);
            if (!status && scores) status = output_printf(t->csv, err, "%.5f", r.loglik.mean);
            if (!status) status = output_printf(t->csv, err, ",%.3f\n", seconds);
            if (status) return status;
        }
    }
    return ONET_OK;
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
    size_t n = size_of(t), length = 0, size;
    for (size_t k = 0; k < n; k++) {
        onet_words_text(w, t->made.word[s * n + k], &size);
        length += size + 1;
    }
    char *line = malloc(length), *p = line;
    for (size_t k = 0; k < n && line; k++) {
        int32_t item = (int32_t)k;
        if (which == LINE_RIGHT) item = t->same->order[s * n + k];
        if (which == LINE_ANSWER) item = t->answers[s].order[k];
        int32_t id = (int32_t)t->same->items[s * n + (size_t)item];
        const char *word = onet_words_text(w, id, &size);
        memcpy(p, word, size);
        p += size;
        *p++ = k + 1 < n ? ' ' : '\0';
    }
    return line;
}
