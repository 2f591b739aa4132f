/* ordernet convert: sets from one format to another. */
#include "cli/commands.h"

typedef struct convert_values {
    onet_read_options read;
    onet_format to;
} convert_values;

static void defaults(void *values) {
    convert_values *v = values;
    onet_read_defaults(&v->read, sizeof v->read);
}

static onet_status run(void *values, int count, char **operands, onet_error *err) {
    (void)count;
    const convert_values *v = values;
    onet_write_options writing = {.size = sizeof writing,
                                  .format = v->to,
                                  .set_column = v->read.set_column,
                                  .rank_column = v->read.rank_column};
    return onet_sets_convert(operands[0], operands[1], &v->read, &writing, err);
}

#define AT(field) offsetof(convert_values, field)

static const option options[] = {
    {.name = "to",
     .kind = OPTION_CHOICE,
     .argument = "FORMAT",
     .choices = onet_formats,
     .field = AT(to),
     .help = "Format to write."},
    OPTIONS_READ(AT(read)),
    {0},
};

const command cmd_convert = {
    .name = "convert",
    .summary = "Copy sets from one format to another",
    .operands = "IN OUT",
    .least = 2,
    .most = 2,
    .about = "Reads the sets of IN and writes them to OUT: JSON Lines, CSV, Pointer Network text, NumPy's "
             "npz, this project's safetensors, or plain text of words, each compressed where the name ends "
             "in .gz. - is standard input or output. OUT appears whole or not at all.",
    .examples =
        "ordernet convert tours.txt tours.npz\nordernet convert - --format csv --to jsonl - < table.csv",
    .options = options,
    .size = sizeof(convert_values),
    .defaults = defaults,
    .run = run,
};
