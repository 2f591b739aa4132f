/* Writes charts as SVG or PNG. Line charts: axes with round ticks, several series with confidence bands, a
 * legend at the right. Bar charts: named values with their confidence intervals, in one or more panels side
 * by side. */
#ifndef APP_CHART_H
#define APP_CHART_H

#include <stdbool.h>

#include "ordernet.h"
#include "ordernet_measure.h"

typedef enum chart_line { LINE_SOLID, LINE_DASHED, LINE_DOTTED } chart_line;

typedef struct chart_series {
    const char *name;
    int count;
    const double *x, *y;      /* [count] */
    const double *low, *high; /* [count] or NULL: the interval, a pale band */
    int colour;               /* for palette() */
    chart_line line;
} chart_series;

typedef struct chart_axis {
    const char *title;
    bool log;
    double low, high; /* both 0: from the data */
    const char *unit; /* written after each number; NULL: none */
} chart_axis;

typedef struct chart {
    const char *title;
    chart_axis x, y;
    int count;
    const chart_series *series; /* [count], legend from top to bottom */
} chart;

/* Writes path (.svg or .png), or PATH.svg and PATH.png. Points that are not finite, or not positive on a
 * logarithmic axis, are left out; those beyond the axes are cut off. */
onet_status chart_write(const chart *c, const char *path, onet_error *err);
/* Writes several charts as one picture, row by row, `columns` per row. */
onet_status charts_write(const chart *c, int count, int columns, const char *path, onet_error *err);

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
