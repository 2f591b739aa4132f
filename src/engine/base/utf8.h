/* Checks that text is valid UTF-8. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stddef.h>

/* Returns how many bytes at the start of text are valid UTF-8; length if all are. */
size_t utf8_valid(const char *text, size_t length);

#endif
