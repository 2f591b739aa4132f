/* Lists all commands of the program in the order of the help page, finds the command that the first one or
 * two words of a command line name or suggests the nearest, and allocates the values of its options. */
#include "app/task.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"

extern const command cmd_bench, cmd_calibrate, cmd_completion, cmd_convert, cmd_draw, cmd_eval, cmd_help,
    cmd_inspect, cmd_merge, cmd_order, cmd_serve, cmd_train;

enum { COMMANDS = 128 };

/* The commands of the tasks stand between these two lists. */
static const command *const first[] = {&cmd_train, &cmd_order, &cmd_eval,    &cmd_inspect, &cmd_calibrate,
                                       &cmd_merge, &cmd_draw,  &cmd_convert, &cmd_bench,   NULL};
static const command *const last[] = {&cmd_serve, &cmd_help, &cmd_completion, NULL};

/* Appends a list to all commands; returns where the next one goes. */
static size_t append(const command **all, size_t count, const command *const *list) {
    for (; *list && count < COMMANDS; list++) all[count++] = *list;
    return count;
}

const command *command_after(const command *c) {
    const command *all[COMMANDS + 1] = {NULL};
    size_t count = append(all, 0, first), at = 0;
    for (const task *const *t = tasks; *t; t++) count = append(all, count, (*t)->commands);
    append(all, count, last);
    while (c && all[at] && all[at] != c) at++;
    return c && all[at] ? all[at + 1] : all[at];
}

void *command_values(const command *c) {
    void *values = calloc(1, c->size ? c->size : 1);
    if (values && c->defaults) c->defaults(values);
    return values;
}

bool command_family(const char *word) {
    size_t length = strlen(word);
    for (const command *c = command_after(NULL); c; c = command_after(c))
        if (!strncmp(c->name, word, length) && c->name[length] == ' ') return true;
    return false;
}

/* Walks over the commands, or those of a family (the first word of two). */
typedef struct command_walk {
    const command *at;
    const char *family;
} command_walk;

static const char *next_command(void *context) {
    command_walk *walk = context;
    size_t length = walk->family ? strlen(walk->family) : 0;
    while ((walk->at = command_after(walk->at))) {
        const char *name = walk->at->name;
        if (!walk->family) return name;
        if (!strncmp(name, walk->family, length) && name[length] == ' ') return name;
    }
    return NULL;
}

const command *command_find(int count, char **arguments, int *words, onet_error *err) {
    char name[64];
    bool family = command_family(arguments[0]);
    *words = family && count > 1 ? 2 : 1;
    snprintf(name, sizeof name, "%s%s%s", arguments[0], *words == 2 ? " " : "",
             *words == 2 ? arguments[1] : "");
    for (const command *c = command_after(NULL); c; c = command_after(c))
        if (!strcmp(c->name, name) || (c->old_name && !strcmp(c->old_name, name))) return c;
    if (family && *words == 1) {
        fail(err, ONET_USAGE, "%s needs a second word; 'ordernet help %s' lists them", name, name);
        return NULL;
    }
    command_walk walk = {.family = *words == 2 ? arguments[0] : NULL};
    const char *near = nearest_word(name, next_command, &walk);
    if (near)
        fail(err, ONET_USAGE, "unknown command '%s'; did you mean '%s'?", name, near);
    else
        fail(err, ONET_USAGE, "unknown command '%s'; 'ordernet help' lists the commands", name);
    return NULL;
}
