/* ordernet help [COMMAND]: the help pages; with --man the man page. */
#include "front/cli/help.h"

typedef struct help_values {
    int man;
} help_values;

static onet_status run(void *values, int count, char **operands, onet_error *err) {
    const help_values *v = values;
    if (v->man) return help_man(stdout, err);
    if (!count || (count == 1 && command_family(operands[0]))) {
        help_overview(stdout, count ? operands[0] : NULL);
        return ONET_OK;
    }
    int words;
    const command *c = command_find(count, operands, &words, err);
    return c ? help_command(stdout, c, err) : ONET_USAGE;
}

static const option options[] = {
    {.name = "man",
     .kind = OPTION_FLAG,
     .field = offsetof(help_values, man),
     .help = "Print the man page of the whole program, for man -l or troff -man."},
    {0},
};

const command cmd_help = {
    .name = "help",
    .summary = "Say all about a command",
    .operands = "[COMMAND]",
    .most = 2,
    .about = "Shows the list of commands, or all about one of them.",
    .options = options,
    .size = sizeof(help_values),
    .run = run,
};
