/* ordernet calibrate: divides a model's logits by a temperature, fitted on sets with known orders, so that
 * the probability of an answer tells how often such answers are right. */
#include <stdio.h>

#include "app/command.h"
#include "app/division.h"
#include "app/ordering.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "ordernet_io.h"
#include "ordernet_measure.h"

typedef struct calibrate_values {
    const char *model, *out;
    onet_read_options read;
    onet_order_options order;
} calibrate_values;

static void defaults(void *values) {
    calibrate_values *v = values;
    onet_read_defaults(&v->read, sizeof v->read);
    onet_order_defaults(&v->order, sizeof v->order);
    v->order.top = 1;
    v->order.seed = 1;
    v->order.max_items = MAX_ITEMS;
}

static onet_status read_sets(const calibrate_values *v, const onet_model *model, onet_sets **sets,
                             const char *path, onet_error *err) {
    onet_read_options read = v->read;
    read.words = onet_model_words(model);
    read.columns = onet_model_columns(model);
    read.relations = onet_model_relations(model);
    read.relation_fill = onet_model_relation_fill(model);
    onet_status status = onet_sets_read(sets, path, &read, err);
    if (!status && !(*sets)->order)
        status = fail(err, ONET_BAD,
                      "%s has no right orders to compare with; give each set an 'order', in CSV by "
                      "a column of ranks (--rank-column)",
                      path);
    if (!status) status = ordering_fits_sets(model, v->model, *sets, path, err);
    return status ? status : shuffle_right_orders(*sets, err);
}

static void print_error(const char *when, const onet_report *r) {
    printf("%s: probability of answers %.2f%%, right %.2f%%, calibration error %.2f%%, by chance %.2f%%\n",
           when, 100 * r->probability.mean, 100 * r->exact.mean, 100 * r->calibration.mean,
           100 * r->calibration_chance.mean);
}

/* Checks before any work that the model can be written, and not over a file that is read. */
static onet_status check_place(const calibrate_values *v, const char *path, onet_error *err) {
    const char *const read[] = {v->model, path, v->read.pairs};
    for (size_t i = 0; i < sizeof read / sizeof *read; i++)
        if (read[i] && output_replaces(v->out, read[i]))
            return fail(err, ONET_USAGE, "%s would be overwritten by --out %s; name another file", read[i],
                        v->out);
    return output_possible(v->out, err);
}

static onet_status run(void *values, int count, char **operands, onet_error *err) {
    (void)count;
    const calibrate_values *v = values;
    onet_order_options order = v->order;
    onet_model *model = NULL;
    onet_sets *sets = NULL;
    onet_calibration found;
    onet_status status = ordering_check(&order, err);
    if (!status) status = check_place(v, operands[0], err);
    if (!status) status = onet_model_load(&model, v->model, err);
    if (!status) status = read_sets(v, model, &sets, operands[0], err);
    if (!status) status = onet_model_calibrate(model, sets, &order, &found, err);
    if (!status) status = onet_model_save(model, v->out, err);
    if (!status) {
        printf("temperature %.3f, chosen on %zu set%s; measure on others (ordernet eval)\n",
               found.temperature, sets->count, sets->count == 1 ? "" : "s");
        if (found.temperature < 1.02 / 4 || found.temperature > 4 / 1.02)
            fprintf(
                stderr,
                "ordernet calibrate: warning: the best temperature may lie beyond %s, the end of those that "
                "are tried: if the sets are many, and not those of the training, calibrate %s once more\n",
                found.temperature < 1 ? "1/4" : "4", v->out);
        print_error("before", &found.before);
        print_error("after", &found.after);
    }
    onet_sets_free(sets);
    onet_model_free(model);
    return status;
}

#define AT(field) offsetof(calibrate_values, field)

static const option options[] = {
    OPTION_MODEL(AT(model)),
    OPTION(STRING, "out", AT(out), .required = true, .argument = "FILE",
           .help = "Where the calibrated model is written."),

    {.group = "Search"},
    OPTIONS_SEARCH(AT(order)),

    {.group = "Data format"},
    OPTIONS_READ(AT(read)),
    OPTIONS_PAIRS(AT(read)),

    {.group = "Machine"},
    OPTIONS_ORDER_MACHINE(AT(order)),
    {0},
};

const command cmd_calibrate = {
    .name = "calibrate",
    .summary = "Make the probabilities of a model's answers right",
    .operands = "FILE",
    .least = 1,
    .most = 1,
    .about = "A network is often too sure: of the answers to which it gives a probability of 90%, fewer than "
             "90% are right. Divides its logits by one number, the temperature at which the probabilities of "
             "its answers to the sets "
             "of the file fit best (the least Brier score), and writes the model. Take sets that it was not "
             "trained on, and measure with 'ordernet eval' on others. Greedy answers stay the same, a beam "
             "may find others; the file is an ordinary model file.",
    .examples = "ordernet calibrate --model sets.safetensors held-out.jsonl --out calibrated.safetensors",
    .options = options,
    .size = sizeof(calibrate_values),
    .defaults = defaults,
    .run = run,
};
