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

/* The same for text that ends in NUL. */
char *shown(char to[SHOWN], const char *text);

/* The width for printf's %*s, which counts bytes, that gives shown text `columns` characters. */
int shown_width(const char *text, int columns);

/* All of it, however long, in memory that the caller frees; NULL: out of memory. */
char *shown_copy(const char *text);

#endif
