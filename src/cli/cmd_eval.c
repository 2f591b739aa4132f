/* ordernet eval: how well a model's orders agree with the right ones. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "cli/commands.h"
#include "cli/ordering.h"
#include "cli/progress.h"
#include "cli/report.h"

typedef struct eval_values {
    const char *model;
    onet_read_options read;
    onet_order_options order;
    int by_size, json, quiet;
} eval_values;

static void defaults(void *values) {
    eval_values *v = values;
    onet_read_defaults(&v->read, sizeof v->read);
    onet_order_defaults(&v->order, sizeof v->order);
    v->order.top = 1;
    v->order.seed = 1;
}

/* A report, for all sets (n = 0) or those of one size. */
typedef struct row {
    int n;
    onet_report report;
} row;

enum { COLUMN = 26 };

static void print_table(const row *rows, size_t count) {
    printf("%6s %9s", "n", "sets");
    for (int k = 0; k < REPORT_MEASURES; k++) printf("  %*s", COLUMN, report_measures[k].name);
    putchar('\n');
    for (size_t i = 0; i < count; i++) {
        if (rows[i].n)
            printf("%6d", rows[i].n);
        else
            printf("%6s", "all");
        printf(" %9zu", rows[i].report.sets);
        for (int k = 0; k < REPORT_MEASURES; k++) {
            const onet_measure *m = report_measure_of(&rows[i].report, &report_measures[k]);
            double scale = report_measures[k].share ? 100 : 1;
            int digits = report_measures[k].share ? 2 : 4;
            char text[64] = "-";
            if (!isnan(m->mean))
                snprintf(text, sizeof text, "%.*f [%.*f, %.*f]", digits, scale * m->mean, digits,
                         scale * m->low, digits, scale * m->high);
            printf("  %*s", COLUMN, text);
        }
        putchar('\n');
    }
}

static json_t *json_number(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *json_report(const row *r) {
    json_t *object = json_object();
    if (r->n) json_object_set_new(object, "n", json_integer(r->n));
    json_object_set_new(object, "sets", json_integer((json_int_t)r->report.sets));
    for (int k = 0; k < REPORT_MEASURES; k++) {
        const onet_measure *m = report_measure_of(&r->report, &report_measures[k]);
        json_object_set_new(object, report_measures[k].key,
                            json_pack("{s:o, s:o, s:o}", "mean", json_number(m->mean), "low",
                                      json_number(m->low), "high", json_number(m->high)));
    }
    return object;
}

static onet_status print_json(const row *rows, size_t count, onet_error *err) {
    json_t *report = json_report(&rows[count - 1]);
    if (count > 1) {
        json_t *sizes = json_array();
        for (size_t i = 0; i + 1 < count; i++) json_array_append_new(sizes, json_report(&rows[i]));
        json_object_set_new(report, "by_size", sizes);
    }
    char *text = json_dumps(report, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    json_decref(report);
    if (!text) return fail_memory(err, "the report");
    puts(text);
    free(text);
    return ONET_OK;
}

static int compare_ints(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* The sizes of the sets, each once, smallest first. */
static onet_status find_sizes(const onet_sets *sets, int **result, size_t *count, onet_error *err) {
    int *size = array_new(sets->count, sizeof *size);
    if (!size) return fail_memory(err, "the sizes of the sets");
    for (size_t s = 0; s < sets->count; s++) size[s] = (int)(sets->start[s + 1] - sets->start[s]);
    qsort(size, sets->count, sizeof *size, compare_ints);
    *count = 0;
    for (size_t s = 0; s < sets->count; s++)
        if (!s || size[s] != size[*count - 1]) size[(*count)++] = size[s];
    *result = size;
    return ONET_OK;
}

static onet_status report(const eval_values *v, const onet_sets *sets, const onet_answer *answers,
                          const double *logprob, onet_error *err) {
    int *size = NULL;
    size_t sizes = 0;
    onet_status status = v->by_size ? find_sizes(sets, &size, &sizes, err) : ONET_OK;
    row *rows = status ? NULL : array_new(sizes + 1, sizeof *rows);
    if (!status && !rows) status = fail_memory(err, "the report");
    for (size_t i = 0; i <= sizes && !status; i++) {
        rows[i].n = i < sizes ? size[i] : 0;
        status = onet_measure_sets(&rows[i].report, sets, answers, logprob, rows[i].n, err);
    }
    if (!status && v->json)
        status = print_json(rows, sizes + 1, err);
    else if (!status && v->by_size)
        print_table(rows, sizes + 1);
    else if (!status)
        report_print(&rows->report);
    free(rows);
    free(size);
    return status;
}

/* Sets are ordered and scored by the thousand, to show how far it is. */
static onet_status order_and_score(const eval_values *v, onet_orderer *orderer, const onet_sets *sets,
                                   onet_answer *answers, double *logprob, const char *path, onet_error *err) {
    enum { CHUNK = 1024 };
    progress line;
    onet_status status = ONET_OK;
    progress_start(&line, v->quiet);
    for (size_t s = 0; s < sets->count && !status; s += CHUNK) {
        onet_sets some = *sets;
        some.start = sets->start + s;
        some.count = sets->count - s < CHUNK ? sets->count - s : CHUNK;
        status = onet_orderer_run(orderer, &some, answers + s, err);
        size_t sound = answers_sound(answers + s, some.count);
        if (status == ONET_BAD && sound < some.count)
            fail(err, status, "%s: set %zu: " TOO_LARGE, path, s + sound + 1);
        if (!status) status = onet_orderer_score(orderer, &some, logprob + s, err);
        progress_count(&line, "eval", "sets", (double)(s + some.count), (double)sets->count);
    }
    progress_end(&line);
    return status;
}

static onet_status check_sets(const eval_values *v, const onet_model *model, const onet_sets *sets,
                              const char *path, onet_error *err) {
    int width = onet_model_settings(model)->width;
    if (!sets->order)
        return fail(err, ONET_BAD, "%s has no right orders to compare with; give each set an 'order'", path);
    if (onet_model_words(model) && !sets->word)
        return fail(err, ONET_BAD, "%s: the items are numbers, but %s orders words; name another model", path,
                    v->model);
    if (sets->width != width)
        return fail(
            err, ONET_BAD,
            "%s: an item has %d feature%s, but %s orders items of %d; give it such items, or another model",
            path, sets->width, sets->width == 1 ? "" : "s", v->model, width);
    return ONET_OK;
}

static onet_status run(void *values, int count, char **operands, onet_error *err) {
    (void)count;
    const eval_values *v = values;
    onet_model *model = NULL;
    onet_orderer *orderer = NULL;
    onet_sets *sets = NULL;
    answer_room room = {0};
    double *logprob = NULL;
    onet_status status = ordering_open(&model, &orderer, v->model, &v->order, err);
    if (!status && !orderer) { /* another process reads, this one has served it */
        onet_model_free(model);
        return ONET_OK;
    }
    if (!status) {
        onet_read_options read = v->read;
        read.words = onet_model_words(model);
        status = onet_sets_read(&sets, operands[0], &read, err);
    }
    if (!status) status = check_sets(v, model, sets, operands[0], err);
    if (!status) status = answer_room_make(&room, sets, 1, false, err);
    if (!status && !(logprob = array_new(sets->count, sizeof *logprob)))
        status = fail_memory(err, "the log-probabilities");
    if (!status) status = order_and_score(v, orderer, sets, room.answers, logprob, operands[0], err);
    if (!status) status = report(v, sets, room.answers, logprob, err);
    free(logprob);
    answer_room_free(&room);
    onet_orderer_free(orderer);
    onet_sets_free(sets);
    onet_model_free(model);
    return status;
}

#define AT(field) offsetof(eval_values, field)

static const option options[] = {
    OPTION_MODEL(AT(model)),
    {.name = "by-size", .kind = OPTION_FLAG, .field = AT(by_size), .help = "One line for each size of set."},
    {.name = "json", .kind = OPTION_FLAG, .field = AT(json), .help = "Print JSON."},
    OPTION_QUIET(AT(quiet)),

    {.group = "Search"},
    OPTIONS_SEARCH(AT(order)),

    {.group = "Data format"},
    OPTIONS_READ(AT(read)),

    {.group = "Machine"},
    OPTIONS_ORDER_MACHINE(AT(order)),
    {0},
};

const command cmd_eval = {
    .name = "eval",
    .summary = "Measure a model on sets whose order is known",
    .operands = "FILE",
    .least = 1,
    .most = 1,
    .about =
        "Puts the sets of the file in order and compares with their right order: the share of sets in "
        "exactly the "
        "right order, the share of items at the right place, Kendall's tau, and the mean log-likelihood of "
        "the "
        "right order a step, each with a 95% interval. Items with equal features count as the same item.",
    .examples = "ordernet eval --model sets.safetensors --by-size held-out.jsonl",
    .options = options,
    .size = sizeof(eval_values),
    .shared = true,
    .defaults = defaults,
    .run = run,
};
