/* ordernet pages eval: measures how well the orders of the network and of the rules agree with those that the
 * files give, prints tables by source and size of page, says what orders the pages best, and can write all
 * orders that the network scored. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/command.h"
#include "app/report.h"
#include "engine/base/choice.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/shown.h"
#include "tasks/layout/commands.h"
#include "tasks/layout/order/features.h"
#include "tasks/layout/usual_way.h"

typedef struct eval_values {
    pages_values pages;
    int rules_only, ceiling;
    const char *alternatives;
} eval_values;

static void defaults(void *values) {
    eval_values *v = values;
    pages_defaults(&v->pages);
}

/* The network, the rules, and the ceiling. */
enum { CEILING = 1 + PAGE_RULES, METHODS, SIZES = 5 };

typedef struct evaluation {
    page **pages;
    size_t count;
    onet_set_measure *each[METHODS]; /* [count] */
} evaluation;

/* Measures the found orders, which are those of a method. */
static onet_status measure(evaluation *e, int method, onet_error *err) {
    onet_sets *sets = NULL;
    size_t most = 1;
    onet_status status = ONET_OK;
    e->each[method] = array_new(e->count + 1, sizeof **e->each);
    for (size_t i = 0; i < e->count; i++)
        if ((size_t)e->pages[i]->placed > most) most = (size_t)e->pages[i]->placed;
    int32_t *order = array_new(most, sizeof *order);
    if (!e->each[method] || !order) status = fail_memory(err, "the measures");
    for (size_t i = 0; i < e->count && !status; i++) {
        const page *p = e->pages[i];
        onet_answer answer = {.found = 1, .order = order};
        status = onet_sets_new(&sets, 0, err);
        if (!status) status = page_append(sets, p, true, err);
        int n = 0;
        for (int k = 0; k < p->count && !status; k++)
            if (p->regions[k].placed) order[p->regions[k].found] = n++;
        if (!status) status = onet_measure_each(&e->each[method][i], sets, &answer, NULL, err);
        onet_sets_free(sets);
        sets = NULL;
    }
    free(order);
    return status;
}

/* Prints a line of a table: a measure of some pages for each method. */
static void print_line(const evaluation *e, const report_measure *m, const char *name, const size_t *which,
                       size_t count) {
    char cell[25];
    /* A long path is cut at its beginning: its end says more. */
    enum { WIDTH = sizeof cell - 1, DOTS = 3 };
    size_t length = strlen(name), cut = length > WIDTH ? length - WIDTH + DOTS : 0;
    while (cut && (name[cut] & 0xC0) == 0x80) cut++;
    shown_text(cell, sizeof cell - (cut ? DOTS : 0), name + cut, length - cut);
    printf("%s%-*s %6zu", cut ? "..." : "", shown_width(cell, WIDTH - (cut ? DOTS : 0)), cell, count);
    for (int method = 0; method < METHODS; method++) {
        if (!e->each[method]) continue;
        onet_report report;
        onet_measure_mean(&report, e->each[method], which, count);
        const onet_measure *x = report_measure_of(&report, m);
        double scale = m->share ? 100 : 1;
        char text[64];
        snprintf(text, sizeof text, m->share ? "%.1f [%.1f, %.1f]" : "%.3f [%.3f, %.3f]", scale * x->mean,
                 scale * x->low, scale * x->high);
        printf("  %20s", isnan(x->mean) ? "-" : text);
    }
    printf("\n");
}

static const char *method_name(int method) {
    return !method ? "OrderNet" : method == CEILING ? "ceiling" : choice_name(page_rules(), method - 1);
}

static int by_source(const void *a, const void *b, void *context) {
    const evaluation *e = context;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    int order = strcmp(e->pages[x]->source, e->pages[y]->source);
    return order ? order : (x > y) - (x < y);
}

static onet_status print_tables(evaluation *e, onet_error *err) {
    static const struct {
        const char *name;
        int least, most;
    } sizes[SIZES] = {{"2 to 5 regions", 2, 5},
                      {"6 to 10", 6, 10},
                      {"11 to 20", 11, 20},
                      {"21 to 50", 21, 50},
                      {"51 or more", 51, 1 << 30}};
    static const char *const wanted[] = {"neighbours", "exact", "tau"};
    size_t *which = array_new(e->count + 1, sizeof *which);
    if (!which) return fail_memory(err, "the measures");
    for (size_t w = 0; w < 3; w++) {
        const report_measure *m = NULL;
        for (int k = 0; k < REPORT_MEASURES; k++)
            if (!strcmp(report_measures[k].key, wanted[w])) m = &report_measures[k];
        if (!m) continue;
        printf("\n%-24s %6s", m->name, "pages");
        for (int method = 0; method < METHODS; method++)
            if (e->each[method]) printf("  %20s", method_name(method));
        printf("\n");
        print_line(e, m, "all", NULL, e->count);
        for (size_t i = 0; i < e->count; i++) which[i] = i;
        qsort_r(which, e->count, sizeof *which, by_source, e);
        for (size_t i = 0, end; i < e->count; i = end) {
            const char *source = e->pages[which[i]]->source;
            for (end = i; end < e->count && !strcmp(e->pages[which[end]]->source, source);) end++;
            if (end - i < e->count) print_line(e, m, source, which + i, end - i);
        }
        for (int s = 0; s < SIZES; s++) {
            size_t count = 0;
            for (size_t i = 0; i < e->count; i++)
                if (e->pages[i]->placed >= sizes[s].least && e->pages[i]->placed <= sizes[s].most)
                    which[count++] = i;
            if (count) print_line(e, m, sizes[s].name, which, count);
        }
    }
    free(which);
    return ONET_OK;
}

/* Orders each page by the best of the ways among which the network chooses. */
static onet_status order_best(evaluation *e, bool rtl, onet_error *err) {
    onet_status status = ONET_OK;
    for (size_t i = 0; i < e->count && !status; i++) {
        if (rtl) page_mirror(e->pages[i]);
        status = page_best_way(e->pages[i], err);
        if (rtl) page_mirror(e->pages[i]);
    }
    return status;
}

/* Prints what orders such pages best; a model if a rule is only as good. */
static onet_status print_best(const eval_values *v, const evaluation *e, const pages_known *known,
                              onet_error *err) {
    pages_best best = {.rule = -1, .model = v->pages.model, .neighbours = -1};
    char text[PATH_MAX];
    onet_status status = ONET_OK;
    if (v->pages.model) /* the shipped one is not in the tables */
        status = pages_find_best(&best, &v->pages, known, err);
    for (int method = 0; method < CEILING && !v->pages.model; method++) {
        double mean = 0;
        for (size_t i = 0; i < e->count && e->each[method]; i++)
            mean += e->each[method][i].neighbours / (double)e->count;
        if (e->each[method] && mean > best.neighbours)
            best = (pages_best){.rule = method - 1, .neighbours = mean};
    }
    if (status) return status;
    printf("\nbest on these pages: %s\n", pages_best_text(&best, text, sizeof text));
    pages_best_warn(&best);
    return ONET_OK;
}

static onet_status evaluate(const eval_values *v, const pages_net *net, const pages_known *known,
                            onet_error *err) {
    evaluation e = {.pages = known->pages, .count = known->count};
    onet_status status = ONET_OK;
    progress line;
    progress_start(&line, v->pages.quiet);
    for (int method = v->rules_only ? 1 : 0; method < METHODS - !v->ceiling && !status; method++) {
        status = method == CEILING ? order_best(&e, v->pages.rtl, err)
                                   : pages_order(method ? NULL : net, (page_rule)(method - 1), v->pages.rtl,
                                                 e.pages, e.count, NULL, method ? NULL : &line, err);
        if (!status) status = measure(&e, method, err);
    }
    progress_end(&line);
    char text[128];
    if (!status) status = pages_describe(e.pages, e.count, text, sizeof text, err);
    if (!status) {
        printf("%s", text);
        if (known->left_out)
            printf("; %zu without an order of two regions or more left out", known->left_out);
        printf("; means with 95%% intervals\n");
        status = print_tables(&e, err);
    }
    if (!status) status = print_best(v, &e, known, err);
    for (int method = 0; method < METHODS; method++) free(e.each[method]);
    return status;
}

/* Writes a page's line of the file of alternatives. */
static void write_alternatives(void *context, const page_alternative *orders, size_t count, size_t n,
                               size_t usual) {
    output *out = context;
    output_printf(out, "{\"usual\": %zu, \"alternatives\": [", usual);
    for (size_t k = 0; k < count; k++) {
        output_printf(out, "%s{\"logprob\": %.4f, \"crosses\": %s, \"order\": [", k ? ", " : "",
                      orders[k].logprob, orders[k].crosses ? "true" : "false");
        for (size_t t = 0; t < n; t++) output_printf(out, "%s%d", t ? ", " : "", (int)orders[k].order[t]);
        output_put(out, "]}");
    }
    output_put(out, "]}\n");
}

/* Evaluates, and writes the file of --alternatives if asked for. */
static onet_status evaluate_to(const eval_values *v, pages_net *net, const pages_known *known,
                               onet_error *err) {
    if (!v->alternatives) return evaluate(v, net, known, err);
    output *out;
    for (size_t i = 0; i < known->paths.count; i++)
        if (output_replaces(v->alternatives, known->paths.path[i]))
            return fail(err, ONET_USAGE, "--alternatives %s would overwrite %s; name another file",
                        v->alternatives, known->paths.path[i]);
    onet_status status = output_open(&out, v->alternatives, err);
    if (status) return status;
    net->style.judged = write_alternatives;
    net->style.context = out;
    status = evaluate(v, net, known, err);
    if (!status) return output_commit(out, err);
    output_abort(out);
    return status;
}

static onet_status run(void *values, int count, char **operands, onet_error *err) {
    eval_values *v = values;
    pages_known known;
    pages_net net = {0};
    if (v->alternatives && v->rules_only)
        return fail(err, ONET_USAGE, "--alternatives are the network's: leave out --rules-only");
    onet_status status = pages_known_read(&known, &v->pages, count, operands, false, err);
    if (!status && !v->rules_only) status = pages_net_open(&net, &v->pages, err);
    if (!status) status = evaluate_to(v, &net, &known, err);
    if (status == ONET_BAD && known.single) {
        printf("no page has two regions or more: there is no order to measure\n");
        status = ONET_OK;
    }
    if (!status) status = pages_known_complete(&known, err);
    pages_net_close(&net);
    pages_known_free(&known);
    return status;
}

#define AT(field) offsetof(eval_values, field)

static const option options[] = {
    OPTION(FLAG, "rules-only", AT(rules_only), .help = "Measure the rules alone, without a model."),
    OPTION(FLAG, "ceiling", AT(ceiling),
           .help =
               "Also the best of the orders that the network chooses from, page by page: an upper bound."),
    OPTION(STRING, "alternatives", AT(alternatives), .argument = "FILE",
           .help = "Write a line of JSON for each page: the orders that the network chooses from, with their "
                   "log-probabilities."),
    OPTIONS_PAGES(AT(pages)),
    {0},
};

const command cmd_pages_eval = {
    .name = "pages eval",
    .summary = "Measure found reading orders against given ones",
    .operands = "FILE|DIR ...",
    .least = 1,
    .most = -1,
    .about =
        "Orders pages whose order is known, by the network and by each rule, and prints how right the orders "
        "are: "
        "neighbours (share of regions that are followed by the right one), exact (share of pages without any "
        "error) and Kendall's tau, for all pages, by source (the folder of a file, or the key source in JSON "
        "Lines) and by the number of regions.",
    .examples = "ordernet pages eval corrected\n"
                "ordernet pages eval --model mine.safetensors corrected",
    .options = options,
    .size = sizeof(eval_values),
    .defaults = defaults,
    .run = run,
};
