/* The library's messages name fields of structs; the program's users know them as options. */
#ifndef CLI_FIELDS_H
#define CLI_FIELDS_H

#include "ordernet.h"

/* Writes "--learning-rate" for "onet_train_options.learning_rate", and so on, wherever the sentence names the
 * field of a struct of options. */
void fields_to_options(onet_error *err);

#endif
