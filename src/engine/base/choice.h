/* Looks up options that are chosen by name (onet_choice, such as a decoding method or a pool): the value for
 * a name, the name for a value, and all names as one text. */
#ifndef BASE_CHOICE_H
#define BASE_CHOICE_H

#include <stddef.h>

#include "ordernet.h"

/* Return the entry with this value or with this name of `length` bytes; NULL if there is none. The list ends
 * with a NULL name. */
const onet_choice *choice_of(const onet_choice *list, int value);
const onet_choice *choice_named(const onet_choice *list, const char *name, size_t length);

/* Returns the value's name; "unknown" for a value that is not in the list. */
const char *choice_name(const onet_choice *list, int value);

/* Writes the names into text [size], separated by ", " and before the last one by `last`, such as " or ";
 * returns text. */
const char *choice_names(const onet_choice *list, const char *last, char *text, size_t size);

#endif
