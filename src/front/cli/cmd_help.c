/* ordernet help [COMMAND [all]]: prints the help pages, or with --man the man page. */
#include "front/cli/help.h"

#include <string.h>

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
    if (!c) return ONET_USAGE;
    return help_command(stdout, c, count > words && !strcmp(operands[words], "all"), err);
}

static const option options[] = {
    OPTION(FLAG, "man", offsetof(help_values, man),
           .help = "Print the man page of the whole program, for man -l or troff -man."),
    {0},
};

const command cmd_help = {
    .name = "help",
    .summary = "Show the help page of a command",
    .operands = "[COMMAND [all]]",
    .most = 3,
    .about = "Shows the list of commands, or the help page of one of them. 'ordernet help COMMAND all' lists "
             "every "
             "option where the page shows only the common ones.",
    .options = options,
    .size = sizeof(help_values),
    .run = run,
};
