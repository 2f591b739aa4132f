/* Converts text in numeric columns to numbers: true and false to 1 and 0, ISO 8601 dates and times to
 * seconds since 1970. Also hashes the fractions of a second that a double rounds. */
#ifndef DATA_TEXT_VALUE_H
#define DATA_TEXT_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sets *value: 1 for true and 0 for false, in any case; of a date of ISO 8601, such as 2024-05-31 or
 * 2024-05-31T18:30:00.5+02:00, the seconds since the beginning of 1970, without an offset in UTC. False for
 * any other text. */
bool text_value(const char *text, size_t length, double *value);
/* Returns a hash of the fraction of a second in a text that text_value takes, if a double rounds it (lost.h);
 * else LOST_NOTHING. */
uint64_t text_value_lost(const char *text, size_t length);

#endif
