/* Recognises numbers, dates, times and dashes that are not written as this program reads them, such as
 * 48,85, 1,234, 5% or 31.12.2024, says how to write them, and decides whether a column consists of such
 * texts: they are measurements, not categories. */
#ifndef DATA_SPELLING_H
#define DATA_SPELLING_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/names.h"

/* Returns how to write such a text ("write the decimal point as a dot"); NULL: it is something else. */
const char *spelling(const char *text, size_t length);
/* Whether the text stands for a missing value as people write it (-, n.a.); it may mean something else. */
bool spelling_is_dash(const char *text, size_t length);
/* Whether the text is a number with commas between thousands, or anywhere: 1,234 or 1,234,567.8. */
bool spelling_has_thousands(const char *text, size_t length);

/* Whether a column of so many `texts`, of which `spelt` are spelt otherwise and `dashes` are dashes, is one
 * of numbers or dates: most of its texts are. A category with a few such words stays one. */
bool spelling_prevails(size_t texts, size_t spelt, size_t dashes);
/* Returns the first item whose text is spelt otherwise, in a column of such texts (spelling_prevails);
 * SIZE_MAX: it is not such a column. code [items]: the number of each item's text among the values; SIZE_MAX:
 * missing. */
size_t spelling_first(const names *values, const size_t *code, size_t items);

#endif
