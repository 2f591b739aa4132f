/* ordernet convert: converts sets from one file format to another, or the weights of a model to half
 * precision and back. */
#include "app/command.h"
#include "engine/base/error.h"

typedef struct convert_values {
    onet_read_options read;
    onet_format to;
    int half, single;
} convert_values;

static void defaults(void *values) {
    convert_values *v = values;
    onet_read_defaults(&v->read, sizeof v->read);
}

static onet_status convert_model(const convert_values *v, const char *from, const char *to, onet_error *err) {
    if (v->half && v->single) return fail(err, ONET_USAGE, "--half and --float: leave one of them out");
    if (v->to || v->read.format)
        return fail(err, ONET_USAGE,
                    "--%s converts a model, which has one format only: leave out --to and --format",
                    v->half ? "half" : "float");
    onet_model *model;
    onet_status status = onet_model_load(&model, from, err);
    if (!status) status = onet_model_set_half(model, v->half, err);
    if (!status) status = onet_model_save(model, to, err);
    onet_model_free(model);
    return status;
}

static onet_status run(void *values, int count, char **operands, onet_error *err) {
    (void)count;
    const convert_values *v = values;
    if (v->half || v->single) return convert_model(v, operands[0], operands[1], err);
    onet_write_options writing = {.size = sizeof writing,
                                  .format = v->to,
                                  .set_column = v->read.set_column,
                                  .rank_column = v->read.rank_column};
    return onet_sets_convert(operands[0], operands[1], &v->read, &writing, err);
}

#define AT(field) offsetof(convert_values, field)

static const option options[] = {
    OPTION(CHOICE, "to", AT(to), .argument = "FORMAT", .choices = onet_formats, .help = "Format to write."),
    OPTIONS_READ(AT(read)),
    OPTIONS_PAIRS(AT(read)),
    {.group = "Models"},
    OPTION(FLAG, "half", AT(half),
           .help = "IN is a model: write its weights in half precision, two bytes each instead of four."),
    OPTION(FLAG, "float", AT(single),
           .help =
               "IN is a model: write its weights in four bytes each again, with the values that they have."),
    {0},
};

const command cmd_convert = {
    .name = "convert",
    .summary = "Copy sets from one format to another, or a model with smaller weights",
    .operands = "IN OUT",
    .least = 2,
    .most = 2,
    .about =
        "Reads the sets of IN and writes them to OUT: JSON Lines, CSV, Pointer Network text, NumPy's "
        "npz, this project's safetensors, or plain text of words, each compressed where the name ends "
        "in .gz. - is standard input or output. OUT appears whole or not at all. With --half or --float, "
        "IN and OUT are models.",
    .examples =
        "ordernet convert tours.txt tours.npz\nordernet convert - --format csv --to jsonl - < table.csv\n"
        "ordernet convert --half model.safetensors small.safetensors",
    .options = options,
    .size = sizeof(convert_values),
    .defaults = defaults,
    .run = run,
};
