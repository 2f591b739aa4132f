/* Draws where a model would put the words of lines: for each line a table of words and positions, shaded by
 * probability, with the most probable orders below. */
#ifndef SHOW_PLACES_H
#define SHOW_PLACES_H

#include <stdbool.h>

#include "ordernet.h"

enum { PLACES_ORDERS = 3 };

typedef struct places_line {
    int n;
    char **word;     /* [n], in the right order */
    const double *p; /* [n, n]: probability of this word (row) at position t (column) */
    int orders;      /* at most PLACES_ORDERS */
    const char *order[PLACES_ORDERS];
    double probability[PLACES_ORDERS];
    bool right[PLACES_ORDERS];
} places_line;

typedef struct places {
    const char *title;
    int count;
    const places_line *line; /* [count] */
} places;

/* Writes path (.svg or .png), or PATH.svg and PATH.png. */
onet_status places_write(const places *p, const char *path, onet_error *err);

#endif
