/* Formats an error as one line: the library's error message, followed by the names that the user knows its
 * fields by, such as command-line options. */
#ifndef APP_ERROR_LINE_H
#define APP_ERROR_LINE_H

#include <stdbool.h>

#include "ordernet.h"

enum { ERROR_LINE = sizeof(onet_error) + 64, FIELD_NAME = sizeof((onet_error *)0)->field + 2 };

/* Writes the name that a front end (CLI, server) uses for a library field such as "onet_train_options.clip";
 * returns false if it has none. */
typedef bool field_namer(const char *field, char name[FIELD_NAME]);

/* Writes "MESSAGE (NAME, NAME)" into line, the message alone if no field has a name. Returns line. */
const char *error_line(const onet_error *err, field_namer *namer, char line[ERROR_LINE]);

/* The field_namer of the commands: "--clip". */
bool field_option(const char *field, char name[FIELD_NAME]);

#endif
