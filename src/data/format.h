/* The names of the formats, and how a file tells which one it has. */
#ifndef DATA_FORMAT_H
#define DATA_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#include "ordernet.h"

const char *format_name(onet_format format);
/* The format that a file's name tells, .gz and .xz at its end left aside; AUTO when it does not. */
onet_format format_of_name(const char *path);
/* The same for a file to be written, where *format does not say it: ONET_USAGE when the name tells none. */
onet_status format_to_write(const char *path, onet_format *format, onet_error *err);
/* The format that a file's first bytes tell: its first line at least, or a good piece of it. AUTO when they
 * do not. */
onet_format format_of_bytes(const char *data, size_t size);

#endif
