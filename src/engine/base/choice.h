/* Looks up options that are chosen by name (onet_choice, such as a decoding method or a pool): the value for
 * a name, the name for a value, and all names as one text. */
#ifndef BASE_CHOICE_H
#define BASE_CHOICE_H

#include <stddef.h>

#include "ordernet.h"

/* The entry with that value or name [length]; NULL if there is none. The list ends in a NULL name. */
const onet_choice *choice_of(const onet_choice *list, int value);
const onet_choice *choice_named(const onet_choice *list, const char *name, size_t length);

/* The value's name; "unknown" for a value that is not in the list. */
const char *choice_name(const onet_choice *list, int value);

/* Writes "a, b or c" into text [size]; returns text. */
const char *choice_names(const onet_choice *list, const char *last, char *text, size_t size);

#endif
