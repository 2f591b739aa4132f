/* Counts and finds the lines of a text, such as the names of a model's relations, one per line. */
#ifndef BASE_LINES_H
#define BASE_LINES_H

#include <stddef.h>
#include <string.h>

static inline int lines_count(const char *text) {
    int count = 1;
    for (; *text; text++) count += *text == '\n';
    return count;
}

/* Points *name to line k < lines_count, which is not NUL-terminated; returns its length. */
static inline size_t lines_find(const char *text, int k, const char **name) {
    for (; k > 0 && strchr(text, '\n'); k--) text = strchr(text, '\n') + 1;
    *name = text;
    return strcspn(text, "\n");
}

#endif
