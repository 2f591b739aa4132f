/* Registers the task of scrambled sentences: the commands `ordernet words ...` and unscramble, and the
 * endpoint /v1/unscramble. */
#include "app/task.h"

extern const command cmd_words_prepare, cmd_words_eval, cmd_unscramble;
extern const endpoint unscramble_endpoint;

const task words_task = {
    .commands = (const command *const[]){&cmd_words_prepare, &cmd_words_eval, &cmd_unscramble, NULL},
    .endpoints = (const endpoint *const[]){&unscramble_endpoint, NULL},
    .model_file = "words.safetensors",
    .model_name = "words",
};
