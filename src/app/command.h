/* Defines a command of the program (its name, help texts, options and function) and declares the search for
 * the command that a command line names. Each command stands in a file cmd_NAME.c as `const command
 * cmd_NAME`; its task lists it or, if it belongs to no task, front/cli/commands.c. */
#ifndef APP_COMMAND_H
#define APP_COMMAND_H

#include "app/options.h"

typedef struct command {
    const char *name;               /* "train"; two words for a command of a family: "tsp generate" */
    const char *old_name;           /* a name of earlier versions that still works, not listed; NULL: none */
    const char *summary;            /* one line, no full stop */
    const char *operands;           /* "[FILE ...]"; NULL when it takes none */
    int least, most;                /* operands; most < 0: any number */
    const char *about;              /* paragraphs, an empty line between two */
    const char *examples;           /* command lines, one per line; may be NULL */
    const option *options;          /* ended by an entry of zeros */
    size_t size;                    /* of the values that the options fill in */
    size_t given;                   /* offset in the values of a bool[OPTIONS_MAX]: for each entry of options,
                                     * whether it was given; 0: the command does not ask */
    bool shared;                    /* several ranks may share its work: started by mpirun */
    void (*defaults)(void *values); /* fills in the defaults of zeroed values; NULL: zeros are the defaults */
    /* Returns the exit status; main prints the message in err after the command's name. */
    onet_status (*run)(void *values, int count, char **operands, onet_error *err);
} command;

/* Returns the command after c in the order of the help page, the first for NULL; NULL after the last. */
const command *command_after(const command *c);

/* Returns the command that arguments[0], or arguments[0] and arguments[1], name; *words: how many of them,
 * 1 or 2. NULL, and err filled in, if there is none. */
const command *command_find(int count, char **arguments, int *words, onet_error *err);
/* Whether `word` is the first word of two-word commands. */
bool command_family(const char *word);

/* Allocates the command's values and fills in its defaults; free them with free(). NULL when memory is
 * short. */
void *command_values(const command *c);

#endif
