/* Registers the task of reading orders: the commands `ordernet pages ...` and the endpoint /v1/pages. */
#include "app/task.h"

extern const command cmd_pages_order, cmd_pages_train, cmd_pages_eval, cmd_pages_check, cmd_pages_draw,
    cmd_pages_generate;
extern const endpoint pages_endpoint;

const task layout_task = {
    .commands = (const command *const[]){&cmd_pages_order, &cmd_pages_train, &cmd_pages_eval,
                                         &cmd_pages_check, &cmd_pages_draw, &cmd_pages_generate, NULL},
    .endpoints = (const endpoint *const[]){&pages_endpoint, NULL},
    .model_file = "pages.safetensors",
    .model_name = "pages",
};
