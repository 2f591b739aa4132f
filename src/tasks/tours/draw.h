/* Draws tours side by side as SVG or PNG, for `tsp solve` and `tsp compare`. */
#ifndef TOURS_DRAW_H
#define TOURS_DRAW_H

#include "ordernet.h"

typedef struct tour_panel {
    int n;
    const double *xy;       /* [n, 2] */
    const int32_t *tour;    /* [n] */
    const int32_t *against; /* [n] or NULL: a tour to compare with; edges that it lacks have another colour */
    char *const *names;     /* [n]: the names of the cities, NULL for one without; NULL: none has one */
    char title[80], note[80];
} tour_panel;

typedef struct tour_sheet {
    const char *title; /* NULL: none */
    double side;       /* of a panel, in points; 0: 210 */
    int columns;
    int count;
    const tour_panel *panels; /* [count], row by row */
} tour_sheet;

/* Writes path (.svg or .png), or PATH.svg and PATH.png. */
onet_status tours_write(const tour_sheet *sheet, const char *path, onet_error *err);

#endif
