/* Finds names in a text that has one per line, such as those of a model's relations. */
#ifndef BASE_LINES_H
#define BASE_LINES_H

#include <stddef.h>
#include <string.h>

static inline int lines_count(const char *text) {
    int count = 1;
    for (; *text; text++) count += *text == '\n';
    return count;
}

/* Name k < lines_count, which is not ended by NUL: its length. */
static inline size_t lines_find(const char *text, int k, const char **name) {
    for (; k > 0 && strchr(text, '\n'); k--) text = strchr(text, '\n') + 1;
    *name = text;
    return strcspn(text, "\n");
}

#endif
