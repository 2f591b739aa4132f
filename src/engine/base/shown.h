/* Escapes text from files before it is shown to people. A file must not move a terminal's cursor, colour its
 * text or turn its direction, so control characters and bytes that are not UTF-8 are written as \n, \x1b,
 * \xff, \u202e. Data that a command copies from its input to its output are not escaped. */
#ifndef BASE_SHOWN_H
#define BASE_SHOWN_H

#include <stddef.h>

enum { SHOWN = 1024 };

/* Writes as much of text [length] as fits into to [room], ended by NUL; returns to. A character is written
 * whole or not at all. */
char *shown_text(char *to, size_t room, const char *text, size_t length);

/* As shown_text, for text that ends in NUL. */
char *shown(char to[SHOWN], const char *text);

/* Returns the width for printf's %*s, which counts bytes, that pads text to `columns` characters. */
int shown_width(const char *text, int columns);

/* Returns a copy of the whole text, escaped, which the caller frees; NULL: out of memory. */
char *shown_copy(const char *text);

#endif
