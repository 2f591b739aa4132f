/* Loads the model of the commands that order words. */
#ifndef WORDS_MODEL_H
#define WORDS_MODEL_H

#include "ordernet.h"

/* Loads a model that orders words: from the path, or where it is NULL the shipped one. */
onet_status model_load_words(onet_model **model, const char *path, onet_error *err);
/* ONET_BAD if the model orders anything but words without relations. name: what the message calls it. */
onet_status model_check_words(const onet_model *model, const char *name, onet_error *err);

#define OPTION_WORDS_MODEL(at)                                                                               \
    {                                                                                                        \
        .name = "model", .kind = OPTION_STRING, .argument = "FILE", .field = (at),                           \
        .default_text = "the shipped words.safetensors", .help = "A model trained on words."                 \
    }

#endif
