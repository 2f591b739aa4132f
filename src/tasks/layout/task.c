/* The reading order of pages: the commands that begin with pages. */
#include "app/task.h"

extern const command cmd_pages_order, cmd_pages_train, cmd_pages_eval, cmd_pages_check, cmd_pages_draw,
    cmd_pages_generate;

const task layout_task = {
    .commands = (const command *const[]){&cmd_pages_order, &cmd_pages_train, &cmd_pages_eval,
                                         &cmd_pages_check, &cmd_pages_draw, &cmd_pages_generate, NULL},
    .endpoints = (const endpoint *const[]){NULL},
};
