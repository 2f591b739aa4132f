/* Draws named values with their intervals as horizontal bars, in one or more panels side by side. */
#ifndef SHOW_BARS_H
#define SHOW_BARS_H

#include "ordernet_measure.h"

typedef struct bars_panel {
    const char *title;
    const char *unit;           /* after each number; NULL: none */
    const onet_measure *values; /* [count] */
} bars_panel;

typedef struct bars {
    const char *title;
    int count;
    const char *const *name; /* [count], from top to bottom */
    int panels;
    const bars_panel *panel; /* [panels] */
} bars;

/* Writes path (.svg or .png), or PATH.svg and PATH.png. Values that are not finite have no bar. */
onet_status bars_write(const bars *b, const char *path, onet_error *err);

#endif
