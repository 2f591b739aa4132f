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
    /* The status is the exit status; the sentence in err is printed by the frame, after the command's name.
     */
    onet_status (*run)(void *values, int count, char **operands, onet_error *err);
} command;

/* The command after c in the order of the help page, the first for NULL; NULL after the last. */
const command *command_after(const command *c);

/* The command that arguments[0] (or the two words arguments[0] and arguments[1]) name, or NULL with a
 * sentence; *words is 1 or 2. */
const command *command_find(int count, char **arguments, int *words, onet_error *err);
/* Whether `word` is the first word of commands of two. */
bool command_family(const char *word);

/* Zeroed values with the command's defaults; free with free(). NULL when memory is short. */
void *command_values(const command *c);

#endif
