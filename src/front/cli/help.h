/* Prints help pages, the list of commands and the man page, all generated from the commands' option
 * tables. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include <stdio.h>

#include "app/command.h"

/* Prints the list of commands; with a family's name only those of the family. */
void help_overview(FILE *out, const char *family);
/* Prints the help page of a command: of its options only the basic ones, if it marks any, unless `all`. */
onet_status help_command(FILE *out, const command *c, bool all, onet_error *err);
/* Prints the man page, in the man macros of troff. */
onet_status help_man(FILE *out, onet_error *err);

#endif
