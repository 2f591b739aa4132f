/* Defines a task (one folder of src/tasks, such as tours) by the commands, server endpoints and model that
 * it adds to the program. src/tasks/tasks.c lists all tasks. */
#ifndef APP_TASK_H
#define APP_TASK_H

#include "app/command.h"
#include "app/endpoint.h"

typedef struct task {
    const command *const *commands;   /* in the order of the help page, ended by NULL */
    const endpoint *const *endpoints; /* ended by NULL */
    const char *model_file;           /* the model that ships with the program; NULL: none */
    const char *model_name;           /* what the server calls it */
} task;

extern const task *const tasks[]; /* ended by NULL */

#endif
