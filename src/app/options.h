/* Defines the options of a command by one table: for each its name, argument, help text and the field that it
 * sets; and the entries of options that several commands share, such as --threads and --format. Parsing,
 * --help, the man page and the shell completions all use this table, so that they agree. Also declares
 * parsing, writing an option back as text, and the search for the name nearest to a misspelt one. */
#ifndef APP_OPTIONS_H
#define APP_OPTIONS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/limits.h"
#include "ordernet_io.h"

typedef enum option_kind {
    OPTION_FLAG,      /* no argument; stores 1 in an int */
    OPTION_OFF,       /* no argument; stores 0 in an int: for options called no-... */
    OPTION_INT,       /* int */
    OPTION_U64,       /* uint64_t */
    OPTION_DOUBLE,    /* double */
    OPTION_STRING,    /* const char * */
    OPTION_CHARACTER, /* int: a character of ASCII */
    OPTION_CHOICE,    /* int or enum: the value of one of `choices` */
    OPTION_NAME,      /* const char *: the name of one of `choices` */
    OPTION_SIZES,     /* option_sizes: "5-20,25,50" */
    OPTION_LIST       /* option_list: may be given several times */
} option_kind;

typedef struct option_list {
    int count;
    const char *value[64];
} option_list;

typedef struct option_sizes {
    int count;
    int value[256];
} option_sizes;

typedef struct option {
    const char *group;    /* a heading for the options that follow; no other field is set then */
    const char *name;     /* without the dashes */
    const char *argument; /* what the help calls the argument: "N"; "FILE" completes file names */
    const onet_choice *(*choices)(void);
    const char *help;         /* a few sentences */
    const char *default_text; /* shown instead of the field's default; "" shows none */
    size_t field;             /* offsetof the field in the command's values */
    option_kind kind;
    bool required;
    bool basic;            /* if a command marks any, --help shows these alone; --help all shows all */
    const char *unless;    /* the option that can replace a required one; NULL: none */
    double low, high;      /* range of a number, both ends in it; both 0: any */
    const char *otherwise; /* the value if no argument is given; NULL: an argument is required */
} option;

/* An entry of a table: the kind without OPTION_, the name, the offset of the field, then other fields. */
#define OPTION(type, text, at, ...)                                                                          \
    { .kind = OPTION_##type, .name = text, .field = at, __VA_ARGS__ }
#define RANGE(least, most) .low = (least), .high = (most)

/* Options that several commands share; the argument is the offset of the field. */
#define OPTION_THREADS(at)                                                                                   \
    {                                                                                                        \
        .name = "threads", .kind = OPTION_INT, .argument = "N", .field = (at), .low = 0,                     \
        .high = MAX_THREADS, .default_text = "one per CPU",                                                  \
        .help = "Threads to work with. The result is the same for any number."                               \
    }
#define OPTION_KERNELS(at)                                                                                   \
    {                                                                                                        \
        .name = "kernels", .kind = OPTION_NAME, .argument = "SET", .choices = onet_kernel_sets,              \
        .field = (at), .default_text = "auto", .help = "Instructions to compute with."                       \
    }
#define OPTION_DEVICE(at)                                                                                    \
    {                                                                                                        \
        .name = "device", .kind = OPTION_STRING, .argument = "DEVICE", .field = (at),                        \
        .default_text = "auto", .help = "Where to compute: auto, cpu, cuda or cuda:N."                       \
    }
#define OPTION_HALF(at)                                                                                      \
    {                                                                                                        \
        .name = "half", .kind = OPTION_FLAG, .field = (at),                                                  \
        .help =                                                                                              \
            "Write the weights of the model, and of the best one, in half precision: two bytes each "        \
            "instead of four. Training and checkpoints stay in single precision; validation measures the "   \
            "rounded weights."                                                                               \
    }
#define OPTION_MODELS(at, is_basic)                                                                          \
    {                                                                                                        \
        .name = "models", .kind = OPTION_INT, .argument = "K", .low = 1, .high = ONET_MAX_MERGED,            \
        .field = (at), .basic = (is_basic),                                                                  \
        .help =                                                                                              \
            "Train K models, with the seeds N, N+1, ..., and merge them into one, as "                       \
            "'ordernet merge' does: together they are right more often than one of them. Each has its own "  \
            "model, checkpoint, log and best model: those of m.safetensors are m.1.safetensors, "            \
            "m.1.log.csv and so on. With --resume K may be larger than before."                              \
    }
#define OPTION_QUIET(at)                                                                                     \
    { .name = "quiet", .kind = OPTION_FLAG, .field = (at), .help = "Show no progress and no summary." }
#define OPTION_DATA_FORMAT(at)                                                                               \
    {                                                                                                        \
        .name = "format", .kind = OPTION_CHOICE, .argument = "FORMAT", .choices = onet_formats,              \
        .field = (at), .help = "Format of the data."                                                         \
    }
/* Options for the fields of an onet_read_options at offset `at`. */
#define OPTIONS_READ(at)                                                                                     \
    OPTION_DATA_FORMAT((at) + offsetof(onet_read_options, format)),                                          \
        {.name = "set-column",                                                                               \
         .kind = OPTION_STRING,                                                                              \
         .argument = "NAME",                                                                                 \
         .field = (at) + offsetof(onet_read_options, set_column),                                            \
         .default_text = "that of the model, else set",                                                      \
         .help = "CSV: the column that names the set of a row; '' where the whole file is one set."},        \
        {.name = "rank-column",                                                                              \
         .kind = OPTION_STRING,                                                                              \
         .argument = "NAME",                                                                                 \
         .field = (at) + offsetof(onet_read_options, rank_column),                                           \
         .default_text = "that of the model, else rank",                                                     \
         .help = "CSV: the column with a row's place in the order of its set."},                             \
        {.name = "features",                                                                                 \
         .kind = OPTION_STRING,                                                                              \
         .argument = "A,B,...",                                                                              \
         .field = (at) + offsetof(onet_read_options, features),                                              \
         .default_text = "those of the model, else numbers; in training categories and dates too",           \
         .help = "The columns of CSV, keys of JSON items or names in safetensors that are features. A "      \
                 "model takes its own by "                                                                   \
                 "their names, in any order."},                                                              \
        {.name = "delimiter",                                                                                \
         .kind = OPTION_CHARACTER,                                                                           \
         .argument = "C",                                                                                    \
         .field = (at) + offsetof(onet_read_options, delimiter),                                             \
         .default_text = "a tab for .tsv, else a comma",                                                     \
         .help = "CSV: the character between two fields, as in ';'; tab for a tab."},                        \
    {                                                                                                        \
        .name = "width", .kind = OPTION_INT, .argument = "N",                                                \
        .field = (at) + offsetof(onet_read_options, width), .low = 1, .high = MAX_WIDTH,                     \
        .default_text = "2", .help = "Pointer Network text: numbers per item."                               \
    }

/* Options for the relations of the items of a CSV file, which are in a second file. */
#define OPTIONS_PAIRS(at)                                                                                    \
    {.name = "pairs",                                                                                        \
     .kind = OPTION_STRING,                                                                                  \
     .argument = "FILE",                                                                                     \
     .field = (at) + offsetof(onet_read_options, pairs),                                                     \
     .default_text = "none",                                                                                 \
     .help = "CSV: a second file, with the relations between items: a row for each ordered pair, with the "  \
             "columns set, from and to, and one for each relation."},                                        \
    {                                                                                                        \
        .name = "name-column", .kind = OPTION_STRING, .argument = "NAME",                                    \
        .field = (at) + offsetof(onet_read_options, name_column),                                            \
        .default_text = "name, where there is one, else indices from 0",                                     \
        .help = "CSV with --pairs: the column with the items' names; '' if from and to are indices."         \
    }

enum { OPTIONS_MAX = 256 /* entries of a table */ };

/* Goes through arguments[count], fills in the fields of values and gathers the operands, which are no
 * options, at the front of arguments; *operands is their number, *help whether --help was given. given
 * [OPTIONS_MAX]: for each entry of the table whether it was given; may be NULL. A required option may be
 * missing only beside
 * --help. */
onet_status options_parse(const option *table, void *values, int count, char **arguments, int *operands,
                          bool *help, bool *given, onet_error *err);

/* Writes the default that the help shows, the value of the field in `values`; false: there is none to show.
 */
bool option_default(const option *o, const void *values, char *text, size_t size);

/* Writes the option with its value as on a command line, "--epochs 60", quoted for a shell. False if the
 * value is that of `plain`, the command's defaults, if there is no room, and for lists. */
bool option_given(const option *o, const void *values, const void *plain, char *text, size_t size);

/* Returns the candidate nearest to what was typed, NULL if none is near; next(context) returns the candidates
 * one by one and NULL at the end. */
const char *nearest_word(const char *typed, const char *(*next)(void *context), void *context);

#endif
