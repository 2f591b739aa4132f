/* Declares how the model of commands and requests that order words is loaded and checked: it must have a
 * vocabulary and no relations. Defines their option --model. */
#ifndef WORDS_MODEL_H
#define WORDS_MODEL_H

#include "ordernet.h"

/* Loads a model that orders words: from the path, or the shipped one if it is NULL. */
onet_status model_load_words(onet_model **model, const char *path, onet_error *err);
/* ONET_BAD if the model orders anything but words without relations. name: of the model, for the error
 * message. */
onet_status model_check_words(const onet_model *model, const char *name, onet_error *err);

#define OPTION_WORDS_MODEL(at)                                                                               \
    {                                                                                                        \
        .name = "model", .kind = OPTION_STRING, .argument = "FILE", .field = (at),                           \
        .default_text = "the shipped words.safetensors", .help = "A model trained on words."                 \
    }

#endif
