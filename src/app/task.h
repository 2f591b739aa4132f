/* A task is one folder of src/tasks: what to order, and the commands and paths of the server that it adds to
 * the program. src/tasks/tasks.c lists them. */
#ifndef APP_TASK_H
#define APP_TASK_H

#include "app/command.h"
#include "app/endpoint.h"

typedef struct task {
    const command *const *commands;   /* in the order of the help page, ended by NULL */
    const endpoint *const *endpoints; /* ended by NULL */
} task;

extern const task *const tasks[]; /* ended by NULL */

#endif
