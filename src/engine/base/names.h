/* Gives each distinct name a number, in the order in which the names were first seen: of sets, columns or
 * categories while a file is read. */
#ifndef BASE_NAMES_H
#define BASE_NAMES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct names {
    size_t count;
    size_t *at; /* [count + 1]: name k is text[at[k]] .. text[at[k+1] - 1] */
    char *text;
    size_t *table; /* [slots], a power of two: number + 1, or 0 where empty */
    size_t slots, at_room, text_room;
} names;

/* Sets *number to the number of the name, which is added if it is new: *number is then the count before. A
 * struct of zeros is empty. Returns false when memory is short. */
bool names_add(names *n, const char *text, size_t length, size_t *number);
void names_free(names *n);

#endif
