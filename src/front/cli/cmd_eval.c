/* ordernet eval: measures how well a model's orders agree with the right ones, overall, by size, by group and
 * per set; compares with simple baselines, and measures and draws the importance of each feature. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/canvas.h"
#include "app/chart.h"
#include "app/command.h"
#include "app/comparison.h"
#include "app/division.h"
#include "app/feature_report.h"
#include "app/json_report.h"
#include "app/ordering.h"
#include "app/processes.h"
#include "app/progress.h"
#include "app/report.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/shown.h"
#include "front/cli/eval_sets.h"
#include "ordernet_io.h"

typedef struct eval_values {
    const char *model, *per_set, *group, *draw, *train;
    onet_read_options read;
    onet_order_options order;
    int by_size, json, quiet, importance, repeats, baselines;
} eval_values;

static void defaults(void *values) {
    eval_values *v = values;
    onet_read_defaults(&v->read, sizeof v->read);
    onet_order_defaults(&v->order, sizeof v->order);
    v->order.top = 1;
    v->order.seed = 1;
    v->order.max_items = MAX_ITEMS;
    v->repeats = 5;
}

/* ---- Reports ----------------------------------------------------------------------------------------- */

/* title: heads the column of names. */
static void print_table(const eval_table *t, const char *title) {
    int width = (int)strlen(title) > 6 ? (int)strlen(title) : 6;
    for (size_t i = 0; i < t->count; i++) {
        int length = t->rows[i].name ? (int)strlen(t->rows[i].name) : 0;
        if (length > width) width = length < 40 ? length : 40;
    }
    printf("%*s %9s", width, title, "sets");
    for (int k = 0; k < REPORT_MEASURES; k++) printf("  %*s", REPORT_COLUMN, report_measures[k].name);
    putchar('\n');
    for (size_t i = 0; i < t->count; i++) {
        const char *name = t->rows[i].name ? t->rows[i].name : "all";
        char cell[41];
        shown_text(cell, sizeof cell, name, strlen(name));
        printf("%*s %9zu", shown_width(cell, width), cell, t->rows[i].report.sets);
        for (int k = 0; k < REPORT_MEASURES; k++) {
            char text[64];
            report_text(report_measure_of(&t->rows[i].report, &report_measures[k]), report_measures[k].share,
                        text);
            printf("  %*s", REPORT_COLUMN, text);
        }
        putchar('\n');
    }
}

static void json_report(json_t *object, const onet_report *report) {
    json_object_set_new(object, "sets", json_integer((json_int_t)report->sets));
    for (int k = 0; k < REPORT_MEASURES; k++)
        json_object_set_new(object, report_measures[k].key,
                            report_json(report_measure_of(report, &report_measures[k])));
}

/* Returns the number of sets with one item to place, which any model orders rightly. */
static size_t count_single(const onet_set_measure *each, size_t count) {
    size_t single = 0;
    for (size_t s = 0; s < count; s++) single += each[s].placed < 2;
    return single;
}

static void print_single(size_t single, size_t count) {
    if (single) printf("%zu of %zu sets have one item to place, and are always right\n", single, count);
}

static void warn_single(size_t single, size_t count) {
    fflush(stdout);
    if (single == count)
        fprintf(stderr, "ordernet eval: warning: all sets have one item, and are always right: is the set "
                        "column the right one (--set-column)?\n");
}

/* The rows of a table, except the last, of all sets. number: the names are sizes. */
static json_t *json_parts(const eval_table *t, const char *key, bool number) {
    json_t *list = json_array();
    for (size_t i = 0; i + 1 < t->count; i++) {
        json_t *object = json_object();
        const char *name = t->rows[i].name;
        json_object_set_new(object, key, number ? json_integer(atoi(name)) : json_string(name));
        json_report(object, &t->rows[i].report);
        json_array_append_new(list, object);
    }
    return list;
}

/* ---- Importance of the features ---------------------------------------------------------------------- */

static void print_features(const eval_importances *m, bool related, int repeats) {
    int width = 7;
    for (int j = 0; j < m->count; j++)
        if ((int)strlen(m->name[j]) > width)
            width = (int)strlen(m->name[j]) < 40 ? (int)strlen(m->name[j]) : 40;
    printf("\ndecrease of each measure when a feature%s is shuffled among the items of each set, mean of %d "
           "shuffle%s\n",
           related ? " or a relation" : "", repeats, repeats == 1 ? "" : "s");
    printf("%*s  %*s  %*s\n", width, "feature", REPORT_COLUMN, "exact match", REPORT_COLUMN,
           "log-likelihood per step");
    for (int j = 0; j < m->count; j++) {
        char exact[64], loglik[64], cell[41];
        report_text(&m->of[j].exact, true, exact);
        report_text(&m->of[j].loglik, false, loglik);
        printf("%*s  %*s  %*s\n", width, shown_text(cell, sizeof cell, m->name[j], strlen(m->name[j])),
               REPORT_COLUMN, exact, REPORT_COLUMN, loglik);
    }
}

static json_t *json_features(const eval_importances *m, const eval_values *v) {
    json_t *list = json_array();
    for (int j = 0; j < m->count; j++)
        json_array_append_new(list, json_pack("{s:s, s:o, s:o}", "feature", m->name[j], "exact",
                                              report_json(&m->of[j].exact), "loglik",
                                              report_json(&m->of[j].loglik)));
    return json_pack("{s:i, s:I, s:o}", "repeats", v->repeats, "seed", (json_int_t)v->order.seed, "features",
                     list);
}

static onet_status draw_features(const eval_importances *m, const char *path, onet_error *err) {
    onet_measure *values = array_new(2 * (size_t)m->count, sizeof *values);
    if (!values) return fail_memory(err, "a picture");
    for (int j = 0; j < m->count; j++) {
        const onet_measure *exact = &m->of[j].exact;
        values[j] = (onet_measure){100 * exact->mean, 100 * exact->low, 100 * exact->high};
        values[m->count + j] = m->of[j].loglik;
    }
    const bars_panel panel[] = {{"exact match", "%", values},
                                {"log-likelihood per step", NULL, values + m->count}};
    bars picture = {.title =
                        "Decrease of each measure when a feature is shuffled among the items of each set",
                    .count = m->count,
                    .name = m->name,
                    .panels = 2,
                    .panel = panel};
    onet_status status = bars_write(&picture, path, err);
    free(values);
    return status;
}

/* ---- All of it --------------------------------------------------------------------------------------- */

static onet_status print_json(const eval_values *v, const onet_report *all, const eval_table *sizes,
                              const eval_table *groups, const eval_importances *features,
                              const onet_comparison *compared, const onet_sets *sets, size_t single,
                              onet_error *err) {
    json_t *report = json_object();
    json_report(report, all);
    json_object_set_new(report, "single_item_sets", json_integer((json_int_t)single));
    if (sizes->count) json_object_set_new(report, "by_size", json_parts(sizes, "n", true));
    if (groups->count) json_object_set_new(report, "by_group", json_parts(groups, "group", false));
    if (features->count) json_object_set_new(report, "importance", json_features(features, v));
    if (v->baselines) json_object_set_new(report, "baselines", comparison_json(compared, sets));
    char *text;
    onet_status status = json_finish(&text, report, JSON_INDENT(2) | JSON_REAL_PRECISION(9), err);
    if (!status) puts(text);
    free(text);
    return status;
}

/* Returns how many of the sets the model was trained on: 0 unless they are from the very file of the
 * training. */
static size_t learned_from_file(const onet_model *model, const onet_sets *sets) {
    const char *hash = onet_model_record(model, "data.sha256"),
               *count = onet_model_record(model, "data.sets");
    if (!hash || !*hash || strcmp(hash, sets->hash) != 0) return 0;
    size_t learned = count ? strtoull(count, NULL, 10) : sets->count;
    return learned < sets->count ? learned : sets->count;
}

/* Compares with guessing, the best column and the linear ranker, chosen on the sets of --train. */
static onet_status compare(onet_comparison *c, const eval_values *v, const onet_model *model,
                           const onet_sets *sets, const onet_set_measure *each, onet_error *err) {
    onet_compare_options with = {.size = sizeof with,
                                 .seed = v->order.seed,
                                 .threads = v->order.threads,
                                 .is_ranker = !strcmp(onet_model_kind(model), "ranker"),
                                 .learned = learned_from_file(model, sets)};
    onet_read_options read = v->read;
    onet_sets *train = NULL;
    read.words = onet_model_words(model);
    read.columns = onet_model_columns(model);
    read.pairs = NULL; /* simple rules see no relations */
    /* A CSV file without features has only relations, which no rule can use. */
    bool rules = v->train && (sets->width || !v->read.pairs);
    onet_status status = rules ? onet_sets_read(&train, v->train, &read, err) : ONET_OK;
    if (!status && train && !train->order)
        status = fail(err, ONET_BAD,
                      "%s has no right orders to learn from; give each set an 'order', in CSV by "
                      "a column of ranks (--rank-column)",
                      v->train);
    if (!status) status = onet_compare(c, train, sets, each, &with, err);
    onet_sets_free(train);
    return status;
}

static onet_status report(const eval_values *v, const onet_model *model, onet_orderer *orderer,
                          const eval_sets *e, const onet_set_measure *each, onet_error *err) {
    eval_table sizes = {0}, groups = {0};
    eval_importances features = {0};
    onet_report all;
    size_t single = count_single(each, e->sets->count);
    onet_measure_mean(&all, each, NULL, e->sets->count);
    onet_status status = v->by_size ? eval_by_size(&sizes, each, e->sets->count, err) : ONET_OK;
    if (!status && v->group) status = eval_by_group(&groups, e, each, err);
    if (!status && v->per_set) status = eval_write_each(v->per_set, e, v->group != NULL, each, err);
    if (!status && v->importance)
        status =
            eval_importance(&features, model, orderer, e, each, v->repeats, v->order.seed, v->quiet, err);
    onet_comparison compared;
    if (!status && v->baselines) status = compare(&compared, v, model, e->sets, each, err);
    if (!status && v->draw) status = draw_features(&features, v->draw, err);
    if (!status && v->json)
        status = print_json(v, &all, &sizes, &groups, &features, &compared, e->sets, single, err);
    if (!status && v->json && v->baselines) comparison_warn(&compared, "eval");
    if (!status && !v->json) {
        if (v->by_size) print_table(&sizes, "n");
        if (v->by_size && v->group) putchar('\n');
        if (v->group) print_table(&groups, v->group);
        if (!v->by_size && !v->group) report_print(&all);
        print_single(single, e->sets->count);
        if (v->importance) print_features(&features, e->sets->pairs != NULL, v->repeats);
        if (v->baselines) putchar('\n');
        if (v->baselines) status = comparison_print(&compared, e->sets, "eval", NULL, err);
    }
    if (!status) warn_single(single, e->sets->count);
    eval_table_free(&sizes);
    eval_table_free(&groups);
    eval_importances_free(&features);
    return status;
}

/* Orders and scores 1024 sets at a time, so that the progress can be shown. */
static onet_status order_and_score(const eval_values *v, onet_orderer *orderer, const onet_sets *sets,
                                   onet_answer *answers, double *logprob, const char *path, onet_error *err) {
    enum { CHUNK = 1024 };
    progress line;
    onet_status status = ONET_OK;
    size_t constraints = 0; /* of the sets before */
    progress_start(&line, v->quiet);
    for (size_t s = 0; s < sets->count && !status; s += CHUNK) {
        onet_sets some = *sets;
        some.start = sets->start + s;
        some.count = sets->count - s < CHUNK ? sets->count - s : CHUNK;
        if (sets->constraints) some.constraints = sets->constraints + constraints;
        for (some.constraint_count = 0; constraints < sets->constraint_count &&
                                        sets->constraints[constraints].item < some.start[some.count];
             constraints++)
            some.constraint_count++;
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

/* place: of the items of its set in the right order. */
static bool kept(const onet_constraint *c, const size_t *place, size_t first, size_t placed) {
    size_t item = place[c->item - first];
    switch (c->kind) {
    case ONET_BEFORE:
        return item < place[c->other - first];
    case ONET_PLACE:
        return item == c->other;
    case ONET_LAST:
        return item == placed - 1;
    case ONET_NEXT:
        return item + 1 == place[c->other - first];
    }
    return true;
}

/* Warns of sets whose right order breaks their own constraints: no answer is right there. */
static onet_status warn_broken(const onet_sets *sets, onet_error *err) {
    size_t largest = 1, broken = 0, example = 0, k = 0;
    for (size_t s = 0; s < sets->count; s++)
        if (onet_sets_size(sets, s) > largest) largest = onet_sets_size(sets, s);
    size_t *place = sets->constraint_count ? array_new(largest, sizeof *place) : NULL;
    if (!place) return sets->constraint_count ? fail_memory(err, "the constraints") : ONET_OK;
    for (size_t s = 0; s < sets->count; s++) {
        size_t first = sets->start[s], n = onet_sets_size(sets, s), placed = 0;
        bool good = true;
        for (size_t t = 0; t < n; t++) place[sets->order[first + t]] = t;
        for (size_t i = 0; i < n; i++) placed += !sets->context || !sets->context[first + i];
        for (; k < sets->constraint_count && sets->constraints[k].item < first + n; k++)
            good = good && kept(&sets->constraints[k], place, first, placed);
        if (!good && !broken++) example = s;
    }
    free(place);
    if (broken)
        fprintf(
            stderr,
            "ordernet eval: warning: the right order of %zu of %zu sets does not keep to their constraints "
            "(set %zu is the first): answers do, and are wrong there\n",
            broken, sets->count, example + 1);
    return ONET_OK;
}

static onet_status check_sets(const eval_values *v, const onet_model *model, const onet_sets *sets,
                              const char *path, onet_error *err) {
    if (!sets->order)
        return fail(err, ONET_BAD,
                    "%s has no right orders to compare with; give each set an 'order', in CSV by "
                    "a column of ranks (--rank-column)",
                    path);
    if (v->importance && sets->word && !sets->pairs)
        return fail(err, ONET_BAD,
                    "%s: the items are words, which have no features for --importance to shuffle", path);
    return ordering_fits_sets(model, v->model, sets, path, err);
}

/* Checks before any work that the options go together and that the output files can be written. */
static onet_status check_options(const eval_values *v, const char *path, onet_error *err) {
    bool csv;
    if (v->draw && !v->importance)
        return fail(err, ONET_USAGE, "--draw is a picture of --importance; add that, or leave --draw out");
    if (v->train && !v->baselines)
        return fail(err, ONET_USAGE, "--train is for --baselines; add that, or leave --train out");
    onet_status status = v->per_set ? eval_each_format(v->per_set, &csv, err) : ONET_OK;
    if (!status && v->per_set && (output_replaces(v->per_set, v->model) || output_replaces(v->per_set, path)))
        status = fail(err, ONET_USAGE, "--per-set %s would overwrite a file that is read; name another",
                      v->per_set);
    if (!status && v->per_set) status = output_possible(v->per_set, err);
    if (!status && v->draw) status = canvas_possible(v->draw, err);
    return status;
}

static onet_status run(void *values, int count, char **operands, onet_error *err) {
    (void)count;
    const eval_values *v = values;
    onet_model *model = NULL;
    onet_orderer *orderer = NULL;
    eval_sets e = {0};
    answer_room room = {0};
    double *logprob = NULL;
    onet_set_measure *each = NULL;
    onet_status status = processes_is_rank0() ? check_options(v, operands[0], err) : ONET_OK;
    status = world_agree(processes(), status, err);
    if (!status) status = ordering_open(&model, &orderer, v->model, &v->order, err);
    if (!status && !orderer) { /* rank 0 reads the sets; this rank ordered those that it sent */
        onet_model_free(model);
        return ONET_OK;
    }
    if (!status) {
        onet_read_options read = v->read;
        read.words = onet_model_words(model);
        read.columns = onet_model_columns(model);
        read.relations = onet_model_relations(model);
        read.relation_fill = onet_model_relation_fill(model);
        if (read.pairs && !read.features && !onet_model_width(model)) read.features = ""; /* none */
        status =
            eval_sets_read(&e, operands[0], &read, v->per_set || v->group || v->importance, v->group, err);
    }
    print_lines(e.unknown, stderr, "ordernet eval: warning: ");
    if (!status) status = check_sets(v, model, e.sets, operands[0], err);
    if (!status) status = warn_broken(e.sets, err);
    if (!status) status = shuffle_right_orders(e.sets, err);
    if (!status) status = answer_room_make(&room, e.sets, 1, false, err);
    if (!status && (!(logprob = array_new(e.sets->count, sizeof *logprob)) ||
                    !(each = array_new(e.sets->count, sizeof *each))))
        status = fail_memory(err, "the measures");
    if (!status) status = order_and_score(v, orderer, e.sets, room.answers, logprob, operands[0], err);
    if (!status) status = onet_measure_each(each, e.sets, room.answers, logprob, err);
    if (!status) status = report(v, model, orderer, &e, each, err);
    free(logprob);
    free(each);
    answer_room_free(&room);
    onet_orderer_free(orderer);
    eval_sets_free(&e);
    onet_model_free(model);
    return status;
}

#define AT(field) offsetof(eval_values, field)

static const option options[] = {
    OPTION_MODEL(AT(model)),
    OPTION(FLAG, "by-size", AT(by_size), .help = "One line for each size of set."),
    OPTION(STRING, "group", AT(group), .argument = "KEY",
           .help = "One line for each value that the sets have under this key of JSON Lines or in this "
                   "column of CSV."),
    OPTION(STRING, "per-set", AT(per_set), .argument = "FILE",
           .help = "Write the measures of each set, a row per set with its line and 'id', to this file; its "
                   "name ends in .csv or .jsonl."),
    OPTION(FLAG, "json", AT(json), .help = "Print JSON."),
    OPTION_QUIET(AT(quiet)),

    {.group = "What the result is worth"},
    OPTION(FLAG, "baselines", AT(baselines),
           .help = "Compare with guessing, with the best single column and with a linear ranker, and say "
                   "which is enough."),
    OPTION(STRING, "train", AT(train), .argument = "FILE", .default_text = "none",
           .help = "With --baselines: the sets that the model was trained on, for the column and the ranker "
                   "to be chosen on. Without it they are chosen on four fifths of the sets and measured on "
                   "the fifth left."),

    {.group = "Which features matter"},
    OPTION(FLAG, "importance", AT(importance),
           .help = "Measure what exact match and log-likelihood lose when one feature is shuffled among the "
                   "items of each set; the shuffles follow from --seed."),
    OPTION(INT, "repeats", AT(repeats), .argument = "N", RANGE(1, 10000),
           .help = "Shuffles of each feature."),
    OPTION(STRING, "draw", AT(draw), .argument = "FILE",
           .help = "Draw the importance of the features as bars: a .svg or .png file, or both."),

    {.group = "Search"},
    OPTIONS_SEARCH(AT(order)),

    {.group = "Data format"},
    OPTIONS_READ(AT(read)),
    OPTIONS_PAIRS(AT(read)),

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
        "exactly the right order, the share of items at the right place, Kendall's tau, the share of "
        "right neighbours, and the log-likelihood of the right order per step, as a mean over sets and "
        "over all steps, and the probability of the answers with its expected calibration error, each with a "
        "95% interval. Items with equal features count as the same item. "
        "Context items are not counted.",
    .examples = "ordernet eval --model sets.safetensors --by-size held-out.jsonl\n"
                "ordernet eval --model sets.safetensors --group source --per-set each.csv held-out.jsonl\n"
                "ordernet eval --model sets.safetensors --baselines --train sets.jsonl held-out.jsonl\n"
                "ordernet eval --model sets.safetensors --importance --draw importance held-out.csv",
    .options = options,
    .size = sizeof(eval_values),
    .shared = true,
    .defaults = defaults,
    .run = run,
};
