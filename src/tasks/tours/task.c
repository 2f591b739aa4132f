/* Registers the task of tours: the commands `ordernet tsp ...` and the endpoint /v1/tour. */
#include "app/task.h"

extern const command cmd_tsp_generate, cmd_tsp_solve, cmd_tsp_compare, cmd_tsp_eval;
extern const endpoint tour_endpoint;

const task tours_task = {
    .commands =
        (const command *const[]){&cmd_tsp_generate, &cmd_tsp_solve, &cmd_tsp_compare, &cmd_tsp_eval, NULL},
    .endpoints = (const endpoint *const[]){&tour_endpoint, NULL},
    .model_file = "tours.safetensors",
    .model_name = "tsp",
};
